"""Names: what a declaration is called, and which evidence saw it."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import msgspec

Kind: TypeAlias = Literal["alias", "enum", "function", "import", "library", "record", "variable"]
"""What a name names. ``import`` is an undefined symbol that the library expects from elsewhere."""

Facet: TypeAlias = Literal["symbol", "layout", "source"]
"""Which evidence saw a shape: the binary's tables, its debug information, or the public headers."""

FACETS: tuple[Facet, ...] = ("symbol", "layout", "source")


class Name(msgspec.Struct, frozen=True, array_like=True, order=True, cache_hash=True, gc=False):
    """A declaration's identity across releases: its kind and its normal spelling.

    Functions and variables are spelled as the linker sees them (the mangled name, without a symbol version);
    records, enums and aliases by their qualified source name in normal form
    (see :mod:`abistore.model.cpp_names.normal`), without the ``struct``, ``class``, ``union`` or ``enum`` keyword.
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
