"""Hand-made comparisons, with everything that a report has to show."""

from __future__ import annotations

from msgspec.structs import replace

from abistore.model.declarations import Name
from abistore.model.findings import Comparison, Finding, Impact, NotChecked, Side, Verdict
from abistore.model.snapshot import Evidence, Location

FULL = (Evidence("symbol", "full"), Evidence("layout", "full", described=3, expected=3))
OLD = Side("libgeo", "1.2.0", "aa" * 16, "elf-x86_64-64-little", "libgeo.so.1", FULL, 3)
NEW = Side("libgeo", "1.3.0", "bb" * 16, "elf-x86_64-64-little", "libgeo.so.1", FULL, 4)

AREA = Name("function", "_ZN3geo4areaERKNS_5ShapeE")
NORM = Name("function", "norm")
SHAPE = Name("record", "geo::Shape")

SIZE = Finding(
    kind="type_size_changed",
    name=SHAPE,
    part="",
    description="the size of the record changed",
    impact=Impact.BREAKING,
    facet="layout",
    old_value="8 bytes",
    new_value="12 bytes",
    affected=(AREA, NORM),
)
MOVED = Finding(
    kind="struct_field_offset_changed",
    name=SHAPE,
    part="y",
    description="the field moved",
    impact=Impact.BREAKING,
    facet="layout",
    old_value="offset 4",
    new_value="offset 8",
    location=Location("geo.h", 7),
    affected=(AREA, NORM),
    consequences=(SIZE,),
)
REMOVED = Finding("func_removed", NORM, "", "the function is no longer exported", Impact.BREAKING, "symbol", "norm")
GONE = replace(REMOVED, name=Name("function", "old_norm"), old_value="old_norm")
ADDED = Finding(
    "func_added", AREA, "", "the function is new", Impact.COMPATIBLE, "symbol", None, "geo::area(geo::Shape const&)"
)
STRIPPED = NotChecked(
    "layout", "new", "no-debug-info", "libgeo.so has no debug information", "build it with -g", (NORM, AREA)
)


def comparison(*findings: Finding, verdict: Verdict = Verdict.BREAKING, not_checked: bool = True) -> Comparison:
    """A comparison with these findings."""
    return Comparison(OLD, NEW, verdict, findings, (STRIPPED,) if not_checked else (), engine="e1")


def many(count: int) -> Comparison:
    """A comparison with ``count`` removed functions that all affect the same exports."""
    names = tuple(Name("function", f"function_{number:05}") for number in range(count))
    findings = (
        Finding("func_removed", name, "", "the function is no longer exported", Impact.BREAKING, "symbol", "x", None)
        for name in names
    )
    return comparison(*findings)
