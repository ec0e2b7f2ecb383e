"""Snapshots of whatever the decoder of rows lets pass: drawn from the annotations, and not from what is likely."""

from __future__ import annotations

import sys
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from random import Random
from typing import Any

import msgspec

from abistore.model import shapes as grammar
from abistore.model.declarations import FACETS, SELF, Facet, Kind, Name
from abistore.model.shapes import AnyShape, Library, TypeRef
from abistore.model.snapshot import Evidence, Location, Provenance, Snapshot, Target
from abistore.model.snapshot_files import ALLOWED

TEXTS = (
    *("", " ", "&", "*", "&&", "::", "const", "volatile", "final", "\n", "()", "(", ")", "<", ">", "a<b", "operator"),
    *("operator()", "operator ", "operator int", "~", "~x", "x::~x", "[", "void", "unsigned int", "_Z1fv", "_ZTV1x"),
    *("_ZN1x1fEv", "_ZThn8_N1x1fEv", "x", "y", "x::y", "x<y>::z", "{lambda()#1}", "\x1b[0m", "::error::", "\U0001f600"),
    *("x" * 3_000, "<" * 300, "(" * 300, "public", "abstract", "1", "0x10", "-1", "libc.so.6", "GLIBC_2.34"),
    *("int", "bool", "C++", "C17", "/usr/include/x.h", "x.so.1", "\u202e", "|", "`", "**kwargs"),
)
NUMBERS = (
    *(0, 1, 2, 3, 4, 7, 8, 16, 32, 63, 64, 65, 128, -1, -8, -(1 << 63), (1 << 31) - 1, 1 << 31, 1 << 32, 1 << 63),
    *(1 << 64, (1 << 64) - 1, 1 << 127, 1 << 200, -(1 << 200), 10**40),
)
SPELLINGS = ("", "x", "y", "x::y", "_Z1fv", "_ZN1x1fEv", "_ZTV1x", "z<1>")
WORDS = ("const", "volatile", "atomic", "restrict", "&", "&&")
FEW = (0, 1, 1, 2, 3)
TYPES = typing.get_args(TypeRef)
LEAVES = (grammar.Named, grammar.Primitive, grammar.Special)


@cache
def hints(struct: type[msgspec.Struct]) -> Mapping[str, Any]:
    """The annotations of a class of structs."""
    return typing.get_type_hints(struct, {**vars(sys.modules[struct.__module__]), **vars(grammar), "Facet": Facet})


class Wild:
    """Draws values; ``sensible`` is the share of numbers and texts that real files could hold."""

    def __init__(self, source: Random, sensible: float) -> None:
        self._source = source
        self._sensible = sensible
        self._simple: dict[Any, Callable[[], Any]] = {
            str: self._text,
            int: self._number,
            bool: lambda: source.random() < 0.5,
            Name: self._mentioned,
            msgspec.UnsetType: lambda: msgspec.UNSET,
        }

    def struct(self, struct: type[msgspec.Struct], depth: int = 2) -> Any:
        """A struct with any value in each field that its annotation allows."""
        return struct(**{field: self._field(field, hint, depth) for field, hint in hints(struct).items()})

    def _field(self, field: str, hint: Any, depth: int) -> Any:
        if self._source.random() < self._sensible:
            if field == "qualifiers":
                return tuple(sorted(self._source.sample(WORDS, self._source.choice((1, 1, 2)))))
            if field == "files":  # of a condition, which stands in one at least
                return tuple(self._source.choice(SPELLINGS[1:]) for _ in range(self._source.choice(FEW[1:])))
        return self.value(hint, depth)

    def value(self, hint: Any, depth: int) -> Any:
        """Any value that an annotation allows; types nest ``depth`` levels."""
        arguments, origin = typing.get_args(hint), typing.get_origin(hint)
        if hint in self._simple:
            return self._simple[hint]()
        if hint == TypeRef:
            return self.struct(self._source.choice(TYPES if depth else LEAVES), max(depth - 1, 0))
        if origin is typing.Literal:
            return self._source.choice(arguments)
        if origin is tuple and arguments[-1] is Ellipsis:
            return tuple(self.value(arguments[0], depth) for _ in range(self._source.choice(FEW)))
        if origin is tuple:
            return tuple(self.value(each, depth) for each in arguments)
        if origin in (typing.Union, types.UnionType):
            return self._one_of([each for each in arguments if each is not type(None)], depth, arguments)
        return self.struct(hint, depth)

    def _one_of(self, members: list[Any], depth: int, all: tuple[Any, ...]) -> Any:
        if len(members) < len(all) and self._source.random() < 0.3:
            return None
        return self.value(TypeRef if set(members) == set(TYPES) else self._source.choice(members), depth)

    def _text(self) -> str:
        return self._source.choice(("x", "y", "x::y", "int") if self._source.random() < self._sensible else TEXTS)

    def _number(self) -> int:
        if self._source.random() < self._sensible:
            return self._source.choice((0, 1, 4, 8, 32, 64))
        return self._source.choice(NUMBERS)

    def _mentioned(self) -> Name:
        """The name of what a declaration mentions: a type, where it is sensible."""
        if self._source.random() < self._sensible:
            return Name(self._source.choice(("record", "enum", "alias")), self._source.choice(SPELLINGS[1:]))
        return self.name()

    def name(self, kind: Kind | None = None) -> Name:
        """Any name."""
        spelling = self._source.choice(SPELLINGS[self._source.random() < self._sensible :])
        return Name(kind or self._source.choice(typing.get_args(Kind)), spelling)

    def snapshot(self) -> Snapshot:
        """A snapshot in which every field has a value of its type, and none needs to make sense."""
        source = self._source
        held = {facet: self._entries(facet) for facet in FACETS if source.random() < 0.8}
        names = {name for table in held.values() for name in table}
        return Snapshot(
            library="libwild",
            version=None,
            target=Target("elf", "x86_64", 64, "little"),
            entries=held,
            evidence=tuple(self.struct(Evidence) for _ in range(source.choice(FEW))),
            provenance=self.struct(Provenance),
            locations={name: self.struct(Location) for name in sorted(names) if source.random() < 0.3},
        )

    def _entries(self, facet: Facet) -> dict[Name, tuple[AnyShape, ...]]:
        found: dict[Name, tuple[AnyShape, ...]] = {}
        for _ in range(4):
            name = self.name()
            if classes := fitting(facet, name.kind):
                chosen = {self.struct(self._source.choice(classes)) for _ in range(self._source.choice((1, 1, 2)))}
                found[name] = tuple(chosen)
        if facet == "symbol":
            found[SELF] = (self.struct(Library),)
        return found


@cache
def fitting(facet: Facet, kind: str) -> tuple[type[msgspec.Struct], ...]:
    """The classes of shapes that an entry of this facet and kind may hold."""
    found = (each for symbol, allowed, each in ALLOWED if symbol is (facet == "symbol") and allowed == kind)
    return tuple(sorted(found, key=lambda each: each.__name__))
