"""Releases of a library that grows old: snapshots as the reader makes them, without a compiler."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from abistore.model.declarations import SELF, Name
from abistore.model.shapes import (
    Alias,
    AnyShape,
    Field,
    Function,
    Library,
    Named,
    Pointer,
    Primitive,
    Record,
    Symbol,
    TypeRef,
)
from abistore.model.snapshot import Evidence, Location, Provenance, Snapshot, Target

INT, LONG, KEY = Primitive("int", 4), Primitive("long", 8), Primitive("unsigned long", 8)
CONTEXT, STATUS = Name("record", "context"), Name("alias", "status_t")
CHAIN = 10
"""So many records of a joined library point to each other in a row."""

Declaration = tuple[Name, AnyShape, Location]


def made(number: int, declarations: int, *, joined: bool = False) -> Snapshot:
    """Release ``number`` of a C library of so many declarations; one in a hundred differs from the release before.

    All of it stands some lines lower than before, as in real releases. Half are functions that each take a record of
    their own; where they are ``joined``, all take one context too, records point to others, and public headers,
    private headers and source files define a third each.
    """
    width = (INT, LONG)
    layout: dict[Name, tuple[AnyShape, ...]] = {}
    places: dict[Name, Location] = {}
    for index in range(declarations // 2):
        changed = width[(number + index) // 100 % 2]
        for name, shape, place in _pair(index, changed, 3 * number, joined):
            layout[name], places[name] = (shape,), place
    for name, shape, place in _shared(number) if joined else ():
        layout[name], places[name] = (shape,), place
    code = Symbol("function")
    exported = {name: (code,) for name in layout if name.kind == "function"}
    file = hashlib.sha256(f"{number} {declarations} {joined}".encode()).hexdigest()
    return Snapshot(
        "growing",
        None,
        Target("elf", "x86_64", 64, "little"),
        {"symbol": {**exported, SELF: (Library("shared", "libgrowing.so.1"),)}, "layout": layout},
        (Evidence("symbol", "full"), Evidence("layout", "full")),
        Provenance("libgrowing.so.1", file, 1 << 20, file[:40], "elf", compilers=("GNU C17 12.2.0 -g -O0 -fPIC",)),
        places,
    )


def _pair(index: int, changed: Primitive, lines: int, joined: bool) -> Iterator[Declaration]:
    """A record and the function that takes it; both hold a value of the type that changes."""
    record = Name("record", f"record_{index}")
    before = Name("record", f"record_{index - 1}") if joined and index % CHAIN else record
    fields = (
        Field("next", Pointer(Named(before)), 0),
        Field(f"key_{index}", KEY, 64),
        Field("value", changed, 128),
    )
    files = ("include/growing.h", "src/internal.h", f"src/part_{index % 40}.c")
    file = files[index // CHAIN % 3] if joined else "growing.c"
    yield record, Record("struct", 24, fields), Location(file, lines + 2 * index + 1)
    taken: tuple[TypeRef, ...] = (Pointer(Named(record)),)
    if joined:
        taken = (Pointer(Named(CONTEXT)), *taken)
    function = Function(f"call_{index}", changed, taken)
    place = "include/growing.h" if joined else file
    yield Name("function", f"call_{index}"), function, Location(place, lines + 2 * index + 2)


def _shared(number: int) -> Iterator[Declaration]:
    """What all functions of a joined library have to do with."""
    fields = (Field("status", Named(STATUS), 0), Field("first", Pointer(Named(Name("record", "record_9"))), 64))
    yield CONTEXT, Record("struct", 16, fields), Location("src/context.h", 3 * number + 1)
    yield STATUS, Alias(INT), Location("include/growing.h", 3 * number + 1)
