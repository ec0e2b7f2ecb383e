"""Type references, each made once: equal references of one reading are the same object."""

from __future__ import annotations

from typing import Final, Literal

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

NULLPTR: Final = frozenset({"decltype(nullptr)", "nullptr_t", "std::nullptr_t"})
"""What compilers and tools call the type of the null pointer."""


class References:
    """Factories that return the same object for the same arguments.

    The tables are keyed by the identity of the parts, which this object keeps alive: no reference is hashed deeply.
    What is too large to be spelled out is replaced by what the ``budget`` has for it.
    """

    def __init__(self) -> None:
        self.budget = TypeBudget()
        self.named_types: dict[tuple[Kind, str], Named] = {}
        self._made: dict[tuple[object, ...], TypeRef] = {("void", 0): VOID}
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
        key = spelling, size
        return self._made.get(key) or self._keep(key, primitive(spelling, size))

    def pointer(self, target: TypeRef, sort: Declarator = "*") -> TypeRef:
        """A pointer or reference to ``target``."""
        key = Pointer, id(target), sort
        return self._made.get(key) or self._keep(key, Pointer(target, sort))

    def qualified(self, target: TypeRef, qualifier: str) -> TypeRef:
        """``target`` with one more qualifier, in normal form."""
        key = Qualified, id(target), qualifier
        return self._made.get(key) or self._keep(key, qualified(target, (qualifier,)))

    def array(self, element: TypeRef, count: int | None, vector: bool = False) -> TypeRef:
        """``count`` elements, ``None`` where the bound is not known."""
        key = Array, id(element), count, vector
        return self._made.get(key) or self._keep(key, Array(element, count, vector))

    def procedure(self, result: TypeRef, parameters: tuple[TypeRef, ...], variadic: bool) -> TypeRef:
        """A function type."""
        key = (Procedure, variadic, id(result), *map(id, parameters))
        return self._made.get(key) or self._keep(key, Procedure(result, parameters, variadic))

    def member_pointer(self, owner: TypeRef, target: TypeRef) -> TypeRef:
        """A pointer to a member of ``owner``."""
        key = MemberPointer, id(owner), id(target)
        return self._made.get(key) or self._keep(key, MemberPointer(owner, target))

    def special(self, spelling: str) -> Special:
        """What the evidence mentions and does not describe."""
        return self._specials.setdefault(spelling, Special(spelling))

    def inline(self, shape: Inline) -> TypeRef:
        """A type without a name, spelled out."""
        return self._intern(self.budget.within(shape))

    def _keep(self, key: tuple[object, ...], made: TypeRef) -> TypeRef:
        """Remembers what was made of the parts in ``key``, or what stands for it where it is too large."""
        found = self._made[key] = self._intern(self.budget.within(made))
        return found

    def _intern(self, reference: TypeRef) -> TypeRef:
        """One object per value, for what is not made from parts alone: found by deep hash, so for rare kinds only."""
        match reference:
            case Primitive() | Qualified() | Array() | Inline():
                return self._interned.setdefault(reference, reference)
        return reference
