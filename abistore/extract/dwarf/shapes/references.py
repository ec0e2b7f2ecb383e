"""Type references, each made once: equal references of one reading are the same object."""

from __future__ import annotations

from typing import Literal

from abistore.model.budget import TypeBudget
from abistore.model.cpp_names.normal import primitive, qualified
from abistore.model.names import Kind, Name
from abistore.model.shapes import (
    VOID,
    Array,
    Inline,
    MemberPointer,
    Named,
    Pointer,
    Primitive,
    Procedure,
    Qualified,
    Special,
    TypeRef,
)

Declarator = Literal["*", "&", "&&"]


class References:
    """Factories that return the same object for the same arguments.

    The tables are keyed by the identity of the parts, which this object keeps alive: no reference is hashed deeply.
    What is too large to be spelled out is replaced by what the ``budget`` has for it.
    """

    def __init__(self) -> None:
        self.budget = TypeBudget()
        self.named_types: dict[tuple[Kind, str], Named] = {}
        self._primitives: dict[tuple[str, int], TypeRef] = {("void", 0): VOID}
        self._pointers: dict[tuple[int, Declarator], TypeRef] = {}
        self._qualified: dict[tuple[int, str], TypeRef] = {}
        self._arrays: dict[tuple[int, int | None, bool], TypeRef] = {}
        self._procedures: dict[tuple[int, ...], TypeRef] = {}
        self._member_pointers: dict[tuple[int, int], TypeRef] = {}
        self._specials: dict[str, Special] = {}
        self._interned: dict[TypeRef, TypeRef] = {}

    def named(self, kind: Kind, spelling: str) -> Named:
        """The mention of a record, enum or alias."""
        found = self.named_types.get((kind, spelling))
        if found is None:
            found = self.named_types[kind, spelling] = Named(Name(kind, spelling))
        return found

    def primitive(self, spelling: str, size: int) -> TypeRef:
        """A built-in type of ``size`` bytes, by its normal spelling."""
        found = self._primitives.get((spelling, size))
        if found is None:
            found = self._primitives[spelling, size] = self._intern(primitive(spelling, size))
        return found

    def pointer(self, target: TypeRef, sort: Declarator = "*") -> TypeRef:
        """A pointer or reference to ``target``."""
        found = self._pointers.get((id(target), sort))
        if found is None:
            found = self._pointers[id(target), sort] = self.budget.within(Pointer(target, sort))
        return found

    def qualified(self, target: TypeRef, qualifier: str) -> TypeRef:
        """``target`` with one more qualifier, in normal form."""
        found = self._qualified.get((id(target), qualifier))
        if found is None:
            found = self._qualified[id(target), qualifier] = self._intern(
                self.budget.within(qualified(target, (qualifier,)))
            )
        return found

    def array(self, element: TypeRef, count: int | None, vector: bool = False) -> TypeRef:
        """``count`` elements, ``None`` where the bound is not known."""
        found = self._arrays.get((id(element), count, vector))
        if found is None:
            found = self._arrays[id(element), count, vector] = self.budget.within(Array(element, count, vector))
        return found

    def procedure(self, result: TypeRef, parameters: tuple[TypeRef, ...], variadic: bool) -> TypeRef:
        """A function type."""
        key = (variadic, id(result), *map(id, parameters))
        found = self._procedures.get(key)
        if found is None:
            found = self._procedures[key] = self.budget.within(Procedure(result, parameters, variadic))
        return found

    def member_pointer(self, owner: TypeRef, target: TypeRef) -> TypeRef:
        """A pointer to a member of ``owner``."""
        found = self._member_pointers.get((id(owner), id(target)))
        if found is None:
            found = self._member_pointers[id(owner), id(target)] = self.budget.within(MemberPointer(owner, target))
        return found

    def special(self, spelling: str) -> Special:
        """What the evidence mentions and does not describe."""
        found = self._specials.get(spelling)
        if found is None:
            found = self._specials[spelling] = Special(spelling)
        return found

    def inline(self, shape: Inline) -> TypeRef:
        """A type without a name, spelled out."""
        return self._intern(self.budget.within(shape))

    def _intern(self, reference: TypeRef) -> TypeRef:
        """One object per value, for what is not made from parts alone: found by deep hash, so for rare kinds only."""
        match reference:
            case Primitive() | Qualified() | Array() | Inline():
                return self._interned.setdefault(reference, reference)
        return reference
