"""What headers add to a declaration stands beside it, and may be missing on a side."""

from __future__ import annotations

from collections.abc import Mapping

from abistore.diffing.judge.judged import compare
from abistore.model.declarations import SELF, Declared, Facet, Name
from abistore.model.findings import Comparison
from abistore.model.shapes import AnyShape, Function, Library, Named, Pointer, Primitive, Record, Symbol
from abistore.model.snapshot import Evidence, Snapshot, Variants
from tests.diffing.model import TARGET

USE, SHAPE = Name("function", "use"), Name("record", "Shape")
USES = Function("use", Primitive("void", 0), (Pointer(Named(SHAPE)),))
RECORD = Record("class", 8)


def headers(declared: Mapping[Name, tuple[AnyShape, ...]], *, layout: bool = False) -> Snapshot:
    """A library that exports ``use``, with what its headers declare and, if asked, the same debug information."""
    symbols: dict[Name, Variants] = {USE: (Symbol("function"),), SELF: (Library("shared"),)}
    declared = {
        name: held if any(isinstance(each, Declared) for each in held) else (Declared(), *held)
        for name, held in declared.items()
    }
    described = {
        name: tuple(each for each in held if not isinstance(each, Declared)) for name, held in declared.items()
    }
    entries: dict[Facet, Mapping[Name, Variants]] = {"symbol": symbols, "source": declared}
    if layout:
        entries["layout"] = described
    evidence = (Evidence("symbol", "full"), Evidence("layout", "full"), Evidence("source", "full"))
    return Snapshot("lib", None, TARGET, entries, evidence)


def told(comparison: Comparison) -> list[tuple[str, str]]:
    return [(each.kind, each.name.spelling) for each in comparison.findings]


def test_a_fact_that_only_the_new_headers_add_is_no_further_shape() -> None:
    old = headers({USE: (USES,), SHAPE: (Declared(), RECORD)})
    new = headers({USE: (USES,), SHAPE: (Declared(("final",)), RECORD)})
    assert told(compare(old, new)) == [("type_became_final", "Shape")]


def test_a_type_that_headers_drop_is_removed_as_a_type() -> None:
    old = headers({USE: (USES,), SHAPE: (Declared(("final",)), RECORD)})
    new = headers({USE: (Function("use", Primitive("void", 0), (Pointer(Primitive("void", 0)),)),)})
    assert ("type_removed", "Shape") in [
        (each.kind, each.name.spelling)
        for finding in compare(old, new).findings
        for each in (finding, *finding.consequences)
    ]


def test_what_debug_information_and_headers_both_show_is_told_once() -> None:
    old = headers({USE: (USES,), SHAPE: (RECORD,)}, layout=True)
    grown = Record("class", 16)
    new = headers({USE: (USES,), SHAPE: (grown,)}, layout=True)
    found = told(compare(old, new))
    assert len(found) == len(set(found)) > 0


def test_a_function_that_only_old_headers_declare_is_no_longer_declared() -> None:
    old, new = headers({USE: (USES,), SHAPE: (RECORD,)}), headers({SHAPE: (RECORD,)})
    assert ("declaration_removed", "use") in told(compare(old, new))
