"""The grammar of an ABI: type references, and the shapes of declarations that are made of them.

A shape holds what an already built consumer depends on and nothing else: no path, no line, no code size, no build.
A type reference is cut at names: records, enums and aliases appear in it by name only, everything else is inline.
All offsets and bit sizes are in bits, all other sizes and alignments in bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias, Union

from abistore.model.canonical.encoded import TAG, Encoded, Shape
from abistore.model.declared import Declared
from abistore.model.names import Name
from abistore.model.tables import Import, Library, Symbol

Access: TypeAlias = Literal["public", "protected", "private"]
Sort: TypeAlias = Literal["struct", "class", "union", "enum"]
"""The keyword that a type is declared with."""

WIDTH: Mapping[Access, int] = {"private": 0, "protected": 1, "public": 2}
"""From how many places a member of this access can be used: the larger, the more."""

# --- type references ----------------------------------------------------------------------------------------------


class Node(Encoded, frozen=True, tag_field=TAG, cache_hash=True):
    """What all type references share: immutable, hashable, told apart by their tags."""


class Named(Node, frozen=True, tag="n"):
    """A record, enum or alias, by name. The only place where one declaration refers to another."""

    name: Name


class Primitive(Node, frozen=True, tag="p"):
    """A built-in type by its normal spelling (``unsigned long``), ``void`` and ``std::nullptr_t`` included.

    ``size`` is in bytes; 0 for ``void``.
    """

    spelling: str
    size: int


class Pointer(Node, frozen=True, tag="*"):
    """A pointer or a reference; ``sort`` is its declarator."""

    target: TypeRef
    sort: Literal["*", "&", "&&"] = "*"


class Array(Node, frozen=True, tag="a"):
    """An array of ``count`` elements; ``None`` is an unknown bound (``T[]``, a flexible array member).

    ``vector`` marks a SIMD vector (``__attribute__((vector_size))``), which is passed and aligned otherwise.
    """

    element: TypeRef
    count: int | None
    vector: bool = False


class Qualified(Node, frozen=True, tag="q"):
    """A qualified type. ``qualifiers`` is a sorted subset of ``atomic``, ``const``, ``restrict``, ``volatile``.

    The type of a member function may also have ``&`` or ``&&``: the objects that it can be called on.
    Never nested directly: ``const (volatile T)`` is one node. Arrays carry their qualifiers on the element.
    """

    target: TypeRef
    qualifiers: tuple[str, ...]


class Procedure(Node, frozen=True, tag="f"):
    """A function type, as pointed to by a function pointer. ``variadic`` is a trailing ``...``."""

    result: TypeRef
    parameters: tuple[TypeRef, ...]
    variadic: bool = False


class MemberPointer(Node, frozen=True, tag="m"):
    """A pointer to a member of ``owner``; ``target`` is a :class:`Procedure` for member functions."""

    owner: TypeRef
    target: TypeRef


class Inline(Node, frozen=True, tag="i"):
    """A record or enum without a name, spelled out where it is used."""

    shape: Record | Enum


class Special(Node, frozen=True, tag="?"):
    """What the evidence mentions but does not describe, e.g. ``decltype(auto)`` or a type of a missing unit."""

    spelling: str


TypeRef: TypeAlias = Union[Named, Primitive, Pointer, Array, Qualified, Procedure, MemberPointer, Inline, Special]
"""A mention of a type. Match on the nine classes and close with ``assert_never``."""

VOID = Primitive("void", 0)


# --- declarations -------------------------------------------------------------------------------------------------


class Method(Encoded, frozen=True):
    """What makes a function a member: its class, and how it is called on it.

    ``slot`` is the vtable index of a virtual method; ``qualifiers`` and ``reference`` are those of ``this``.
    """

    owner: Name
    access: Access = "public"
    static: bool = False
    virtual: Literal["no", "virtual", "pure"] = "no"
    slot: int | None = None
    qualifiers: tuple[str, ...] = ()
    reference: Literal["", "&", "&&"] = ""
    explicit: bool = False
    deleted: bool = False
    defaulted: bool = False


class Function(Shape, frozen=True, tag="F"):
    """A function as its callers were compiled against it; ``this`` is not among the ``parameters``.

    ``display`` is the qualified source name without parameters. ``calling_convention`` is ``None`` where it is the
    platform's own. ``prototyped`` is false for a C declaration without a parameter list.
    """

    display: str
    result: TypeRef
    parameters: tuple[TypeRef, ...] = ()
    variadic: bool = False
    noreturn: bool = False
    prototyped: bool = True
    calling_convention: str | None = None
    method: Method | None = None

    @property
    def is_virtual(self) -> bool:
        """Whether it is called through a slot of a vtable, which derived classes may fill with their own."""
        return self.method is not None and self.method.virtual != "no"


class Variable(Shape, frozen=True, tag="V"):
    """A data object as its users were compiled against it; ``owner`` is the class of a static data member."""

    display: str
    type: TypeRef
    owner: Name | None = None
    access: Access = "public"


class Field(Encoded, frozen=True):
    """One non-static data member. ``offset`` is in bits from the record's start; ``bit_size`` only for bit-fields.

    ``name`` is empty for an anonymous member.
    """

    name: str
    type: TypeRef
    offset: int
    bit_size: int | None = None
    access: Access = "public"
    mutable: bool = False


class Base(Encoded, frozen=True):
    """One direct base class. ``offset`` is in bits, ``None`` for a virtual base (the complete object decides)."""

    type: TypeRef
    offset: int | None
    virtual: bool = False
    access: Access = "public"


class VirtualMethod(Encoded, frozen=True):
    """One virtual method that a class declares, new or overriding, in slot order.

    ``symbol`` is the mangled name where recorded, else empty. A destructor's one entry stands for its two slots.
    """

    display: str
    symbol: str
    slot: int | None
    result: TypeRef
    parameters: tuple[TypeRef, ...] = ()
    pure: bool = False
    access: Access = "public"


class Record(Shape, frozen=True, tag="R"):
    """A complete struct, class or union.

    ``alignment`` is what ``alignas`` or an attribute asks for; :mod:`abistore.model.layout` has the natural one.
    ``packed``: it is what ``packed`` or ``#pragma pack`` leaves of that, where headers say so.
    ``passing`` is how the C++ ABI passes it by value where recorded: in registers like its members (``value``), or by
    invisible reference. ``deleted`` are members declared ``= delete``; ``arguments`` the template arguments, a value as
    its spelling in a :class:`Special`. ``has_vptr``: this very class introduces the vtable pointer. ``access`` is that
    of a class within another, as far as it keeps consumers from it: a private class that a public member of the one
    around it takes, returns or renames is as good as public, and so is a protected one where anybody can derive.
    ``handle``: some unit calls exported C functions with pointers to it, and knows it by a declaration only. ``tail``:
    whether other data may lie in its tail padding, where a C++ class has any.
    """

    sort: Literal["struct", "class", "union"]
    size: int
    fields: tuple[Field, ...] = ()
    bases: tuple[Base, ...] = ()
    virtuals: tuple[VirtualMethod, ...] = ()
    alignment: int | None = None
    passing: Literal["value", "reference"] | None = None
    deleted: tuple[str, ...] = ()
    arguments: tuple[TypeRef, ...] = ()
    has_vptr: bool = False
    access: Access = "public"
    handle: bool = False
    tail: Literal["open", "closed"] | None = None
    packed: bool = False


class Opaque(Shape, frozen=True, tag="O"):
    """What is declared and never defined in the evidence: its users can only hold pointers to it.
    ``defined``: a class that has members or objects all the same; ``virtuals`` are the functions known of its vtable.
    """

    sort: Sort
    defined: bool = False
    virtuals: tuple[VirtualMethod, ...] = ()


class Foreign(Shape, frozen=True, tag="X"):
    """A type of the standard library or the compiler's runtime: not this library's own ABI.

    Recorded by size and alignment (bytes; ``None`` where only declared) and its template arguments.
    """

    sort: Sort
    size: int | None
    alignment: int | None
    arguments: tuple[TypeRef, ...] = ()


class Enumerator(Encoded, frozen=True):
    """One named value; ``value`` is exact, signed or unsigned as the underlying type is, of any width."""

    name: str
    value: int


class Enum(Shape, frozen=True, tag="E"):
    """An enumeration; enumerators in declaration order. ``underlying`` is ``None`` where not recorded.
    ``access`` is that of an enumeration within a class, as that of a :class:`Record`.
    """

    size: int
    enumerators: tuple[Enumerator, ...] = ()
    underlying: TypeRef | None = None
    scoped: bool = False
    access: Access = "public"


class Alias(Shape, frozen=True, tag="A"):
    """A ``typedef`` or ``using`` of a type that has (or needs) another name."""

    target: TypeRef


AnyShape: TypeAlias = Union[Symbol, Import, Library, Function, Variable, Record, Opaque, Foreign, Enum, Alias, Declared]
"""Every shape that an entry can hold. Match and close with ``assert_never``."""
