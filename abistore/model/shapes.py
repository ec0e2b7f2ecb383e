"""The grammar of an ABI: type references, the shapes of declarations, and the tables of a binary.

A shape holds what an already built consumer depends on and nothing else: no path, no line, no code size, no build.
A type reference is cut at names: records, enums and aliases appear in it by name only, everything else is inline.
All offsets and bit sizes are in bits, all other sizes and alignments in bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final, Literal, TypeAlias, Union

import msgspec

from abistore.model.declarations import TAG, Declared, Encoded, Kind, Name, Shape


class ElfSymbol(Encoded, frozen=True):
    """What only ELF tells of an export; an export of which all this is false or unknown has none.

    ``chosen_at_load`` is an IFUNC; ``common`` a tentative definition; ``unique`` is one in the whole process
    (``STB_GNU_UNIQUE``); ``protected`` is not replaced for the library itself (``STV_PROTECTED``). ``read_only`` tells
    whether writing to an object kills the process; ``None`` where it is not known, and for what is no object.
    ``unused`` is a weak member of a template's instance that no relocation mentions, as they do its own functions.
    ``empty`` is an object without a size, of which a program copies nothing; ``absolute`` code or data whose address is
    the same wherever the library is loaded (``SHN_ABS``).
    ``own_place`` is of versions that new links do not get: whether they have another address than the one that does.
    """

    chosen_at_load: bool = False
    common: bool = False
    unique: bool = False
    protected: bool = False
    read_only: bool | None = None
    unused: bool = False
    own_place: bool | None = None
    empty: bool = False
    absolute: bool = False


class MachoSymbol(Encoded, frozen=True):
    """What only Mach-O tells of an export: its ``size`` reaches to the next symbol, and ``padding`` may lie between."""

    padding: int = 0
    read_only: bool | None = None


class PeSymbol(Encoded, frozen=True):
    """What only PE tells of an export: as Mach-O does, but of sizes those of vtables alone.

    ``behind`` are the symbols at the address of an export that has no name or another one, sorted; none where the file
    has no symbol table.
    """

    padding: int = 0
    read_only: bool | None = None
    behind: tuple[str, ...] = ()


class Symbol(Shape, frozen=True, tag="S"):
    """One exported symbol, or one version of it; an entry holds one shape per symbol version.

    ``type`` is ``unknown`` for what assembler code exports without one. ``size`` is the object's size in bytes, and 0
    for code: a function's length is not ABI. ``version`` is the symbol version it is bound to (``None``: unversioned);
    ``default`` tells ``name@@VER`` from ``name@VER``. ``ordinal`` is the number by which consumers may ask instead of
    the name. ``forwarded_to`` is the symbol of another library that stands behind it: ``OTHER.name`` of a DLL,
    ``OTHER:name`` of a dylib. ``table`` are the words of a vtable or of type information, each as the symbol that it
    points to: empty where it points to none or none is known; no words where they were not read.
    """

    type: Literal["function", "data", "thread_local", "unknown"]
    weak: bool = False
    size: int = 0
    version: str | None = None
    default: bool = True
    ordinal: int | None = None
    forwarded_to: str | None = None
    elf: ElfSymbol | None = None
    table: tuple[str, ...] = ()
    macho: MachoSymbol | None = None
    pe: PeSymbol | None = None


class Import(Shape, frozen=True, tag="I"):
    """One undefined symbol: the version it must have (``None``: any) and the library that is to provide it."""

    weak: bool = False
    version: str | None = None
    library: str | None = None


class ElfLibrary(Encoded, frozen=True):
    """What only ELF tells of a file; a file that says none of it has none.

    ``rpath`` is ``DT_RPATH``. ``version_requirements`` pairs a needed library with a version of it, e.g.
    ``("libc.so.6", "GLIBC_2.34")``. ``first_version`` is the node that programs get which ask for no version, told
    where some version of an export is not the default. ``refusals`` are fields for which a dynamic linker does not load
    the file: ``e_version 9``.
    """

    rpath: tuple[str, ...] = ()
    version_definitions: tuple[str, ...] = ()
    version_requirements: tuple[tuple[str, str], ...] = ()
    first_version: str = ""
    refusals: tuple[str, ...] = ()


class MachoLibrary(Encoded, frozen=True):
    """What only Mach-O tells of a file. All but the words are names of libraries, as load commands spell them; sorted.

    ``minimum_os`` is the oldest release of the system that loads the file. ``reexports`` are libraries whose exports
    count as the file's own. ``linkage`` pairs a needed library with ``weak``, ``upward`` or ``lazy``;
    ``requirements`` with the compatibility version that it must have at least. ``clients`` are the only ones that may
    link to the file, where it names any. A text ``stub`` tells nothing of dependencies and protections.
    ``directives`` speak to linkers about programs for single systems (``$ld$hide$os10.15$_open``); ``None`` where they
    were not read.
    """

    file_type: Literal["dylib", "bundle", "executable"] = "dylib"
    minimum_os: str | None = None
    reexports: tuple[str, ...] = ()
    linkage: tuple[tuple[str, str], ...] = ()
    requirements: tuple[tuple[str, str], ...] = ()
    clients: tuple[str, ...] = ()
    stub: bool = False
    directives: tuple[str, ...] | None = None


class PeLibrary(Encoded, frozen=True):
    """What only PE tells of a file.

    ``minimum_system`` is the oldest version of Windows that loads it (``6.1`` is Windows 7). ``delay_loaded`` are those
    needed libraries that are loaded when one of their functions is called first, sorted.
    """

    subsystem: str = ""
    minimum_system: str = ""
    delay_loaded: tuple[str, ...] = ()


class Library(Shape, frozen=True, tag="L"):
    """The facts of the whole file. Tuples are sorted, except ``needed`` (load order) and the search paths.

    ``name`` is what consumers record to ask for the library: SONAME, install name, or name of the DLL.
    ``search_paths`` are where it has its own dependencies looked for (``DT_RUNPATH``, ``LC_RPATH``).
    ``compatibility_version`` is the lowest that consumers of this file ask for.
    ``protections`` (``full RELRO``) and ``weaknesses`` (``executable stack``) are of a process that loads it.
    ``features`` are further loader requirements, e.g. ``DT_RELR``, ``STATIC_TLS``, ``DF_1_NODELETE``.
    """

    file_kind: Literal["shared", "executable", "relocatable", "archive"]
    name: str | None = None
    needed: tuple[str, ...] = ()
    search_paths: tuple[str, ...] = ()
    compatibility_version: str | None = None
    protections: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    elf: ElfLibrary | None = None
    macho: MachoLibrary | None = None
    pe: PeLibrary | None = None

    @property
    def on_elf(self) -> ElfLibrary:
        """What only ELF tells of the file: nothing, of other files."""
        return self.elf or ElfLibrary()

    @property
    def on_macho(self) -> MachoLibrary:
        """What only Mach-O tells of the file: nothing, of other files."""
        return self.macho or MachoLibrary()

    @property
    def on_pe(self) -> PeLibrary:
        """What only PE tells of the file: nothing, of other files."""
        return self.pe or PeLibrary()


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


class AskedCompiler(msgspec.Struct, frozen=True, array_like=True, order=True):
    """A condition that asks which compiler reads the headers, and a digest of the declarations passed over for it."""

    text: str
    file: str
    unread: str


class ModeEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one name is in a mode, by its kind and spelling; without ``shapes`` it is not declared there."""

    kind: Kind
    spelling: str
    shapes: tuple[AnyShape, ...] = ()

    @property
    def name(self) -> Name:
        """The name."""
        return Name(self.kind, self.spelling)


class HeadersMode(msgspec.Struct, frozen=True, omit_defaults=True):
    """What headers show programs that are built in one mode (``NDEBUG``), where that differs from the reading of all.

    ``entries`` are those that differ, sorted. ``failure`` is the first error where the headers do not parse.
    """

    name: str
    entries: tuple[ModeEntry, ...] = ()
    failure: str = ""


class UntakenBranch(msgspec.Struct, frozen=True, array_like=True, order=True):
    """Text of public headers that was not read: what is asked before it (``#ifdef FOO_EXTENDED``), and names in it.

    These are names of exports and types of the library that headers do not declare where they were read.
    """

    condition: str
    names: tuple[str, ...]


SymbolType: TypeAlias = Literal["function", "ifunc", "object", "tls", "common", "notype"]
Binding: TypeAlias = Literal["global", "weak", "unique"]
Visibility: TypeAlias = Literal["default", "protected"]

_TYPES: Final[dict[str, SymbolType]] = {
    "function": "function",
    "data": "object",
    "thread_local": "tls",
    "unknown": "notype",
}
_COMMON: Final[dict[SymbolType, Literal["function", "data", "thread_local", "unknown"]]] = {
    **{"function": "function", "ifunc": "function", "object": "data", "common": "data"},
    **{"tls": "thread_local", "notype": "unknown"},
}


def symbol_type(symbol: Symbol) -> SymbolType:
    """The type of a symbol: ``object`` for ``STT_OBJECT``."""
    if symbol.elf and symbol.elf.chosen_at_load:
        return "ifunc"
    return "common" if symbol.elf and symbol.elf.common else _TYPES[symbol.type]


def binding(symbol: Symbol) -> Binding:
    """The binding of a symbol: ``unique`` for ``STB_GNU_UNIQUE``."""
    return "unique" if symbol.elf and symbol.elf.unique else "weak" if symbol.weak else "global"


def visibility(symbol: Symbol) -> Visibility:
    """The visibility of a symbol. ``protected``: no other library can replace it for its own library."""
    return "protected" if symbol.elf and symbol.elf.protected else "default"


def is_read_only(symbol: Symbol) -> bool | None:
    """Whether writing to the object kills the process; ``None`` where no format tells."""
    facts = symbol.elf or symbol.macho or symbol.pe
    return facts.read_only if facts else None


@cache
def elf_symbol(type: SymbolType, binding: Binding, visibility: Visibility) -> Symbol:
    """The symbol that ``readelf`` describes by these words, without size and version."""
    elf = ElfSymbol(type == "ifunc", type == "common", binding == "unique", visibility == "protected")
    return Symbol(_COMMON[type], binding == "weak", elf=elf if elf != ElfSymbol() else None)
