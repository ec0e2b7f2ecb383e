"""Type references and foreign names, and how classes are passed, shared by all readers of declarations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from msgspec.structs import replace

from abistore.model.declarations import Kind, Name
from abistore.model.layout import is_open_by_parts
from abistore.model.names.qualified import primitive, qualified
from abistore.model.shapes import (
    VOID,
    Access,
    Alias,
    AnyShape,
    Array,
    Enum,
    Foreign,
    Inline,
    MemberPointer,
    Named,
    Pointer,
    Primitive,
    Procedure,
    Qualified,
    Record,
    Special,
    TypeRef,
)
from abistore.model.snapshot import MOST_INLINE, Evidence
from abistore.model.structure import TypeBudget, embedded

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


PREFIXES: Final = (
    "std::", "__gnu_cxx::", "__cxxabiv1::", "__gnu_debug::", "__gnu_parallel::", "__gnu_pbds::", "__gnu_internal::",
    "__gnu_profile::", "__pstl::",
)  # fmt: skip
BUILTINS: Final = frozenset({"__va_list_tag", "__va_list", "__builtin_va_list", "__gnuc_va_list"})
RUNTIMES: Final = ("libstdc++.", "libc++.", "libc++abi.", "libsupc++.")


def is_runtime(soname: str | None) -> bool:
    """Whether a library of this SONAME is itself the C++ runtime, so that the types of ``std`` are its own."""
    return soname is not None and soname.startswith(RUNTIMES)


def is_foreign(spelling: str, runtime: bool) -> bool:
    """Whether a type of this name is not the library's own ABI; ``runtime``: the library is the C++ runtime."""
    return spelling in BUILTINS or (not runtime and spelling.startswith(PREFIXES))


PUBLIC: Final[frozenset[Access]] = frozenset({"public"})
OPEN: Final[frozenset[Access]] = PUBLIC | {"protected"}
"""The access of members that programs can use: those of a class from which they can derive."""


class Derivability:
    """Whether programs can have a class of their own that derives from one.

    Nobody can construct an object of it where no constructor is left: all that are declared are private or deleted, and
    among them is one that copies, or else the compiler makes a public one.
    """

    def __init__(self) -> None:
        self._destroyed = True
        self._made = self._copied = False

    def add(self, usable: bool, *, destroys: bool, copies: bool) -> None:
        """Take note of a constructor or destructor that derived classes can use or not."""
        if destroys:
            self._destroyed &= usable
        else:
            self._made |= usable
            self._copied |= copies

    def __bool__(self) -> bool:
        return self._destroyed and (self._made or not self._copied)


Passing: TypeAlias = Literal["value", "reference"]


def settle_passing(entries: Mapping[Name, list[AnyShape]], producers: Iterable[str]) -> None:
    """Classes whose own members are trivial go as what they embed and derive from does; unknown where that is.

    Only where Clang, which tells it, had no part in the library: records without a convention are C structs then.
    """
    if any("clang" in each for each in producers):
        return
    settled = _SettledPassing(entries)
    for shapes in [shapes for name, shapes in entries.items() if name.kind == "record"]:
        for index, shape in enumerate(shapes):
            if isinstance(shape, Record) and shape.passing == "value":
                shapes[index] = replace(shape, passing=settled.parts(shape, 0))


class _SettledPassing:
    """How each name goes by value; worked out once."""

    def __init__(self, entries: Mapping[Name, list[AnyShape]]) -> None:
        self._entries = entries
        self._known: dict[Name, Passing | None] = {}

    def parts(self, shape: AnyShape, depth: int) -> Passing | None:
        """How ``shape`` goes as far as its parts decide."""
        found = {self._of(each, depth + 1) for each in embedded(shape)}
        return "reference" if "reference" in found else None if None in found else "value"

    def _of(self, name: Name, depth: int) -> Passing | None:
        if name not in self._known:
            self._known[name] = self._told(self._entries.get(name, []), depth) if depth < DEEPEST else None
        return self._known[name]

    def _told(self, shapes: Sequence[AnyShape], depth: int) -> Passing | None:
        match shapes:
            case [Record(passing="reference")]:
                return "reference"
            case [(Record() | Alias()) as shape]:
                return self.parts(shape, depth)
            case [Enum() | Foreign(sort="enum")]:
                return "value"
            case _:
                return None


DEEPEST: Final = 100
"""How many records deep parts are looked at."""

Tail: TypeAlias = Literal["open", "closed"]


def settle_tails(entries: Mapping[Name, list[AnyShape]], is_padded: Callable[[Name, Record], bool]) -> None:
    """Records have the tail that they and what they embed give them, and none where they have no padding there.

    Readers note ``closed`` where nobody wrote a special member.
    """
    settled = _Settled(entries)
    for name, shapes in [(name, shapes) for name, shapes in entries.items() if name.kind == "record"]:
        for index, shape in enumerate(shapes):
            if isinstance(shape, Record) and shape.tail is not None:
                padded = shape.sort != "union" and is_padded(name, shape)
                shapes[index] = replace(shape, tail=settled.of(shape, 0) if padded else None)


class _Settled:
    """How the tail of each name is; worked out once, from what readers noted."""

    def __init__(self, entries: Mapping[Name, list[AnyShape]]) -> None:
        self._noted = {name: tuple(shapes) for name, shapes in entries.items()}
        self._known: dict[Name, Tail | None] = {}

    def of(self, shape: Record, depth: int) -> Tail | None:
        """The tail of a record; ``None`` where it is not known."""
        if is_open_by_parts(shape):
            return "open"
        if shape.tail != "closed":
            return shape.tail
        found = {self._named(each, depth + 1) for each in embedded(shape)}
        return "open" if "open" in found else None if None in found else "closed"

    def _named(self, name: Name, depth: int) -> Tail | None:
        if name not in self._known:
            self._known[name] = None  # ends a type that embeds itself
            self._known[name] = self._told(name, depth) if depth < DEEPEST else None
        return self._known[name]

    def _told(self, name: Name, depth: int) -> Tail | None:
        match self._noted.get(name, ()):
            case (Record() as shape,):
                return self.of(shape, depth)
            case (Alias() as shape,):
                found = {self._named(each, depth + 1) for each in embedded(shape)}
                return "open" if "open" in found else None if None in found else "closed"
            case (Enum() | Foreign(sort="enum"),):
                return "closed"
            case _:
                return None


def with_inline(evidence: Evidence, namespaces: Iterable[str]) -> Evidence:
    """The evidence with the inline namespaces that it shows; as it is where there are none."""
    found = tuple(sorted(set(namespaces)))[:MOST_INLINE]
    return replace(evidence, inline_namespaces=found) if found else evidence
