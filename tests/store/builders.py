"""Small snapshots, built from the model directly."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Literal, TypeAlias

from abistore.model.declarations import FACETS, SELF, Facet, Name
from abistore.model.shapes import AnyShape, Field, Function, Library, Pointer, Primitive, Record, Symbol
from abistore.model.snapshot import Evidence, Location, Provenance, Snapshot, Target, Variants, sort_variants

State: TypeAlias = Literal["full", "partial", "missing"]

INT = Primitive("int", 4)
X86 = Target("elf", "x86_64", 64, "little")
ARM = Target("elf", "aarch64", 64, "little")

EXPORTED = Symbol("function")


def function(spelling: str) -> Name:
    return Name("function", spelling)


def record(spelling: str) -> Name:
    return Name("record", spelling)


def struct(*fields: str) -> Record:
    return Record("struct", 4 * len(fields), tuple(Field(name, INT, 32 * i) for i, name in enumerate(fields)))


def snapshot(
    marker: str = "",
    *,
    library: str = "libgeo",
    target: Target = X86,
    symbols: Mapping[Name, AnyShape] | None = None,
    layout: Mapping[Name, AnyShape | Variants] | None = None,
    states: Mapping[Facet, State] | None = None,
    locations: Mapping[Name, Location] | None = None,
) -> Snapshot:
    """A snapshot of the file whose SHA-256 is that of ``marker`` and all the rest.

    ``symbols`` and ``layout`` are observed where given; evidence is full for what is observed, unless ``states`` says.
    """
    entries: dict[Facet, dict[Name, Variants]] = {}
    if symbols is not None:
        entries["symbol"] = {SELF: (Library("shared", f"{library}.so.1"),)} | {n: (s,) for n, s in symbols.items()}
    if layout is not None:
        entries["layout"] = {n: sort_variants(s if isinstance(s, tuple) else (s,)) for n, s in layout.items()}
    observed: dict[Facet, State] = {facet: "full" if facet in entries else "missing" for facet in FACETS}
    states = observed | dict(states or {})
    bare = {name for name in symbols or () if name.kind in {"function", "variable"}} - entries.get("layout", {}).keys()
    reasons = {"layout": "assembly-or-folded"} if bare and states["layout"] == "full" else {}
    file = hashlib.sha256(repr((marker, library, target, entries, sorted(states.items()))).encode()).hexdigest()
    return Snapshot(
        library,
        None,
        target,
        entries,
        tuple(Evidence(facet, state, reasons.get(facet, "")) for facet, state in states.items()),
        Provenance(f"{library}.so.1", file, 4096, file[:40]),
        dict(locations or {}),
    )


def large(changed: int = 0, *, names: int = 200, library: str = "liblarge", step: int = 0) -> Snapshot:
    """A snapshot of ``names`` functions and records, the first ``changed`` of which carry ``step``."""
    symbols: dict[Name, AnyShape] = {}
    layout: dict[Name, AnyShape] = {}
    places: dict[Name, Location] = {}
    for number in range(names):
        symbol, owner = function(f"_ZN3geo{number}normEv"), record(f"geo::Shape{number}")
        mark = step if number < changed else 0
        symbols[symbol] = EXPORTED
        layout[symbol] = Function(f"geo::norm{number}", INT, (Pointer(INT),) * (1 + mark % 7))
        layout[owner] = Record("class", 8 + mark, tuple(Field(f"m{i}", INT, 32 * i) for i in range(1 + number % 5)))
        places[symbol] = Location(f"src/{number % 9}.cc", 10 * number + step)
        places[owner] = Location("include/geo.h", 20 * number + step)
    return snapshot(str(step), library=library, symbols=symbols, layout=layout, locations=places)
