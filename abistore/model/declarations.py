"""Names of declarations, facts that only headers show of them, and differences between two snapshots."""

from __future__ import annotations

from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar, Union

import msgspec

try:
    from _blake2 import blake2b as blake2b
except ImportError:  # an interpreter that keeps it elsewhere
    from hashlib import blake2b as blake2b

TAG: Final = "is"
SHORT: Final = {
    **{"name": "n", "spelling": "s", "size": "z", "target": "to", "sort": "k", "element": "of", "count": "c"},
    **{"qualifiers": "q", "result": "r", "parameters": "p", "owner": "in", "shape": "sh", "display": "d", "type": "t"},
    **{"method": "m", "access": "a", "fields": "f", "offset": "o", "bit_size": "w", "bases": "b", "virtuals": "v"},
    **{"symbol": "y", "slot": "i", "arguments": "g", "alignment": "al", "enumerators": "e", "value": "x"},
}
"""How frequent fields are called in canonical JSON; others have their own names. None may ever change."""


class Encoded(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, rename=SHORT.get, gc=False):
    """What shapes consist of. Canonical JSON has one object each, without the fields that have their default.

    So a further field with a default changes no digest of what does not use it. Where a default is met is asked by
    identity: it is ``None``, a truth value, a small number, an empty text or tuple, or a word of a ``Literal``.
    """


class Shape(Encoded, frozen=True, tag_field=TAG):
    """What all shapes share: immutable, hashable, told apart by their tags."""


Kind: TypeAlias = Literal["alias", "enum", "function", "import", "library", "record", "variable"]
"""What a name names. ``import`` is an undefined symbol that the library expects from elsewhere."""

Facet: TypeAlias = Literal["symbol", "layout", "source"]
"""Which evidence saw a shape: the binary's tables, its debug information, or the public headers."""

FACETS: tuple[Facet, ...] = ("symbol", "layout", "source")


class Name(msgspec.Struct, frozen=True, array_like=True, order=True, cache_hash=True, gc=False):
    """A declaration's identity across releases: its kind and its normal spelling.

    Functions and variables are spelled as the linker sees them (the mangled name, without a symbol version);
    records, enums and aliases by their qualified source name in normal form
    (see :mod:`abistore.model.names.qualified`), without the ``struct``, ``class``, ``union`` or ``enum`` keyword.
    """

    kind: Kind
    spelling: str

    def __str__(self) -> str:
        return f"{self.kind} {self.spelling}"


def unnamed_enum(first: str) -> Name:
    """What an enumeration without a name is called: by its first enumerator, qualified, ``geo::RED``."""
    scope, separator, name = first.rpartition("::")
    return Name("enum", f"{scope}{separator}{UNNAMED_ENUM}{name})")


def is_number(name: Name) -> bool:
    """Whether ``name`` is an export of a DLL that has a number and no name: ``#5``."""
    return name.spelling[:1] == "#" and name.spelling[1:].isdecimal() and name.kind in EXPORTS


def is_unnamed_enum(name: Name) -> bool:
    """Whether an enumeration has no name of its own."""
    return name.kind == "enum" and UNNAMED_ENUM in name.spelling


def by_name(item: tuple[Name, object]) -> str:
    """The key that sorts the items of a table by name: as names compare, and several times as fast."""
    name = item[0]
    return f"{name.kind}\0{name.spelling}"  # texts compare sooner than pairs


UNNAMED_ENUM: Final = "(anonymous enum "

EXPORTS: Final = ("function", "variable")
"""The kinds of names that libraries export."""

TYPES: Final[tuple[Kind, ...]] = ("record", "enum", "alias")
"""The kinds of names that stand for types."""

SELF = Name("library", "")
"""The library itself: its one entry carries SONAME, dependencies and other facts of the whole file."""

Trait: TypeAlias = Literal[
    "abstract",
    "befriends",
    "concept",
    "constant",
    "constexpr",
    "defined",
    "defined_within",
    "deprecated",
    "dummy",
    "final",
    "friend",
    "inline",
    "macro",
    "nodiscard",
    "noexcept",
    "refused",
    "standard_layout",
    "template",
    "undefined",
    "unresolved",
    "using",
]
"""What the text of a declaration says in a word. ``befriends``: a class with friends. ``constant``: a macro,
``constexpr`` or ``const`` object whose value compilers put into consumers; ``macro`` tells the first from the
others. ``defined``: who includes a header that declares the function compiles it, or all those of the class
template; not told of what is ``inline`` in C++. ``defined_within``: so it is with all functions of the classes in a
class template. ``dummy``: a definition that only gives a handle a type. ``friend``: declared in a class only, and
found through its arguments. ``refused``: compilers stop at whatever uses it, as an attribute, a macro or a pragma
says. ``undefined``: a function template, or a function of a class template, of which headers have no body.
``unresolved``: a macro names what no header has that the library's include: it compiles nowhere.
``using``: brings in what is declared elsewhere. Former versions told ``standard_layout`` here."""

COPIED: Final = frozenset({"constexpr", "inline", "template"})
"""What is said of functions that every program compiles for itself."""

NOT_EXPORTED: Final[frozenset[Trait]] = frozenset(
    {"concept", "constant", "constexpr", "defined", "friend", "inline", "macro", "template", "using"}
)
"""Traits of declarations that consumers use without an export of the library."""


class Argument(Encoded, frozen=True):
    """One parameter as a header writes it: its name, empty without one, and its default argument.

    ``length`` is of an array that it is written as (``char out[16]``), which is a pointer to callers; else 0.
    So are template parameters, of which the name is written with what introduces it (``typename T``, ``int N``).
    """

    name: str = ""
    default: str | None = None
    length: int = 0


EMPTY_BODY: Final = blake2b(b"{\0}", digest_size=16).hexdigest()
"""The digest of a body without statements; a constructor's initialises no member either."""


class InlineBody(Encoded, frozen=True):
    """What programs get a copy of when they use an inline function: its body.

    ``digest`` is of the body's tokens, without white space and comments. ``members`` are the private and protected
    members that it uses, and those whose names forbid it, qualified; ``types`` the private and protected types that it
    names, which former versions did not tell; ``calls`` the functions and variables of the library that it uses, as the
    linker sees them. All are sorted: what an inline body uses is part of the ABI, even where no consumer can name it.
    ``objects`` are the types of which it defines, copies or passes objects, so that it has their sizes; ``fields`` the
    data members whose places it has, qualified and in the order in which it names them first. Both include those of the
    functions that it calls and that only headers define which were not given. Macros name members of classes that no
    header defines (``::size``), and functions of which they are given a part (``foo_*_of``).
    """

    digest: str
    members: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    objects: tuple[Name, ...] = ()
    fields: tuple[str, ...] = ()


class Uses(Encoded, frozen=True):
    """What programs compile of a declaration beside an inline body uses of the library's inside.

    That is the body of a template, and with it all that stands in a class template; a default argument, and what a
    member is initialised with; of a macro, what its text names. All are as those of an :class:`InlineBody`. What
    depends on the arguments of a template is not in there, but each function is that such a call may choose.
    """

    members: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    objects: tuple[Name, ...] = ()
    fields: tuple[str, ...] = ()


class Meaning(Encoded, frozen=True):
    """What a macro stands for that names others: the value that its users get in the end, in one spelling.

    ``borrowed``: by way of a macro that is not the library's (``INT8_MIN``), which other systems may define otherwise.
    """

    value: str
    borrowed: bool = False


Use: TypeAlias = Literal["asked", "declaration", "inside", "macro"]
"""Where headers use a macro: in conditions (``#ifdef``), in their declarations, in other macros.

It is ``inside`` of others where all that use it are used by headers themselves, and have another first word.

One that is written as an expression is used by the bodies in headers as programs use it: no declaration has it.
"""


class Replacement(Encoded, frozen=True):
    """What a macro that stands for no value puts in its place: one with parameters, a piece of declarations, nothing.

    ``digest`` is of its tokens, in which parameters have numbers; empty where there are none. ``parameters`` counts
    those with a name; ``None`` for a macro without a list of them. A ``variadic`` one takes further arguments.
    ``used`` tells where the headers use it themselves, sorted.
    """

    digest: str = ""
    parameters: int | None = None
    variadic: bool = False
    used: tuple[Use, ...] = ()


class WrittenBase(Encoded, frozen=True):
    """One direct base class of a class template, as a header spells it: parameters of the template are numbers.

    ``geo::Shape<#0>`` is a base with the first argument.
    """

    type: str
    virtual: bool = False
    access: Literal["public", "protected", "private"] = "public"


Ability: TypeAlias = Literal[
    "aggregate",
    "assign",
    "cast",
    "copy",
    "copy_bytes",
    "default",
    "default_implicitly",
    "derive",
    "derived_assign",
    "derived_copy",
    "derived_default",
    "derived_destroy",
    "derived_move",
    "derived_move_assign",
    "destroy",
    "instantiate",
    "list_members",
    "literal",
    "move",
    "move_assign",
    "standard_layout",
]
"""What programs may do with a class. ``aggregate``: initialise its members by a list; ``list_members``: by one that
begins with a member, and not with a base; ``cast``: ask what an object is (``dynamic_cast``); ``copy_bytes``: copy it
as bytes; ``default_implicitly``: write ``{}`` for an object; ``instantiate``: have objects of this very class;
``literal``: have ``constexpr`` objects; ``derive``: have a class that derives from it and declares nothing. What begins
with ``derived_`` is what such a class can do."""


class Abilities(Encoded, frozen=True):
    """What a compiler answered when it was asked what programs can do with a class, and how it lies.

    ``lacking`` is what they cannot do, sorted. ``data_size`` is the size without padding at the end in which members of
    derived classes may lie, in bytes.
    """

    lacking: tuple[Ability, ...] = ()
    data_size: int = 0


class Instance(Encoded, frozen=True):
    """What programs can do with one instance of a class template, by its name."""

    spelling: str
    abilities: Abilities


class Declared(Shape, frozen=True, tag="D"):
    """What only the text of a public declaration tells. A further shape of the name says the rest, as elsewhere.

    ``traits`` are sorted; ``value`` is the spelling of a constant's or variable's value where the header has it.
    ``template`` are the parameters of a template, ``requires`` its constraint. ``expressions`` pairs enumerators with
    what their values are written as, and data members with how they are initialised. ``availability`` are platforms
    with what they say (``macos introduced=10.15``). A macro has a ``meaning`` where it names others and is a constant;
    headers have it ``handed`` to functions. ``within`` is an enumeration without a name, called by its first constant.
    ``promises`` are attributes by which compilers leave something out of callers: ``pure``, ``returns_nonnull``. All
    are sorted. ``uses`` are those of code that is no inline body. A macro that is no constant has a ``replacement``.
    ``bases`` are those of a class template, in their order. ``shown`` are what a template, or the friends of a class,
    let users have of namespaces that say that they are internal, by qualified names. ``abilities`` are those of a class
    that is complete; ``None`` where the compiler was not asked, or could not answer. A class template has those of the
    ``instances`` that the headers use, sorted.
    """

    traits: tuple[Trait, ...] = ()
    parameters: tuple[Argument, ...] = ()
    value: str | None = None
    body: InlineBody | None = None
    template: tuple[Argument, ...] = ()
    requires: str | None = None
    expressions: tuple[tuple[str, str], ...] = ()
    availability: tuple[str, ...] = ()
    meaning: Meaning | None = None
    within: str | None = None
    handed: tuple[str, ...] = ()
    promises: tuple[str, ...] = ()
    uses: Uses | None = None
    replacement: Replacement | None = None
    bases: tuple[WrittenBase, ...] = ()
    shown: tuple[str, ...] = ()
    abilities: Abilities | None = None
    instances: tuple[Instance, ...] = ()


T = TypeVar("T", covariant=True)


class Subject(msgspec.Struct, frozen=True):
    """What a delta is about: a declaration, or one part of it (a field, an enumerator, a base, a parameter).

    ``part`` is spelled for people and stable between runs: ``x``, ``parameter 2``, ``base geo::Shape``; empty for the
    declaration itself.
    """

    name: Name
    part: str = ""


class Added(msgspec.Struct, Generic[T], frozen=True):
    """Only the new side has it. ``within`` is the delta of the declaration whose part this is."""

    subject: Subject
    new: T
    within: Changed[Any] | None = None


class Removed(msgspec.Struct, Generic[T], frozen=True):
    """Only the old side has it, and the new side could have seen it."""

    subject: Subject
    old: T
    within: Changed[Any] | None = None


class Changed(msgspec.Struct, Generic[T], frozen=True):
    """Both sides have it, and it differs."""

    subject: Subject
    old: T
    new: T
    within: Changed[Any] | None = None


Delta: TypeAlias = Union[Added[T], Removed[T], Changed[T]]
