"""Exports that move to a library that a dylib re-exports, and back: programs find them through the same library."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from abistore.diffing.judge.bundles import completed, merged_back, without_read
from abistore.diffing.judge.judged import compare
from abistore.model.declarations import SELF, Name
from abistore.model.findings import Comparison, Impact
from abistore.model.shapes import (
    AnyShape,
    Field,
    Function,
    Library,
    MachoLibrary,
    Named,
    Pointer,
    Record,
    Symbol,
    TypeRef,
)
from abistore.model.snapshot import Evidence, Snapshot, Target
from tests.diffing.model import DOUBLE, INT, function, record

pytestmark = pytest.mark.fast

ARM = Target("macho", "aarch64", 64, "little", "macos")
POINT = Pointer(Named(record("point")))


def dylib(
    name: str,
    *exports: str,
    reexports: Sequence[str] = (),
    takes: TypeRef = POINT,
    point: int = 4,
    target: Target = ARM,
) -> Snapshot:
    """A library whose functions all take a pointer to ``point``, or what else they take."""
    facts = Library("shared", f"@rpath/{name}.1.dylib", macho=MachoLibrary(reexports=tuple(map(path, reexports))))
    symbols: dict[Name, tuple[AnyShape, ...]] = {SELF: (facts,)}
    layout: dict[Name, tuple[AnyShape, ...]] = {}
    for each in exports:
        symbols[function(each)] = (Symbol("function"),)
        layout[function(each)] = (Function(each, INT, (takes,)),)
    if exports and takes == POINT:
        layout[record("point")] = (Record("struct", point, (Field("x", INT, 0),)),)
    evidence = (Evidence("symbol", "full"), Evidence("layout", "full", described=1, expected=1))
    return Snapshot(name, None, target, {"symbol": symbols, "layout": layout}, evidence)


def path(name: str) -> str:
    return f"@rpath/{name}.1.dylib"


def compared(old: Sequence[Snapshot], new: Sequence[Snapshot]) -> Comparison:
    """The first libraries of both releases, as programs load them."""
    whole = without_read(completed(old[0], new[0], new), old[0], new)
    return compare(merged_back(old[0], new[0], old), whole)


def told(comparison: Comparison) -> set[tuple[str, str]]:
    return {(each.kind, each.name.spelling) for each in comparison.findings if each.impact > Impact.COMPATIBLE}


WHOLE = [dylib("libx", "a", "b")]


def test_a_function_that_moved_to_a_library_at_hand_is_found_there() -> None:
    new = [dylib("libx", "a", reexports=["liby"]), dylib("liby", "b")]
    assert told(compared(WHOLE, new)) == {("pe_forwarder_changed.moved", "b")}
    assert not compared(WHOLE, new).not_checked


def test_it_is_found_through_several_libraries() -> None:
    new = [dylib("libx", "a", reexports=["liby"]), dylib("liby", reexports=["libz"]), dylib("libz", "b")]
    assert told(compared(WHOLE, new)) == {("pe_forwarder_changed.moved", "b")}


def test_libraries_that_re_export_each_other_are_read_once() -> None:
    new = [dylib("libx", "a", reexports=["liby"]), dylib("liby", reexports=["libz", "libx"])]
    new.append(dylib("libz", reexports=["liby"]))
    assert told(compared(WHOLE, new)) == {("func_removed", "b")}


def test_one_that_takes_something_else_there_is_a_break() -> None:
    new = [dylib("libx", "a", reexports=["liby"]), dylib("liby", "b", takes=DOUBLE)]
    assert ("func_params_changed", "b") in told(compared(WHOLE, new))


def test_a_type_that_moved_along_and_changed_is_a_break() -> None:
    old = [dylib("libx", "b")]
    new = [dylib("libx", reexports=["liby"]), dylib("liby", "b", point=8)]
    assert ("type_size_changed", "point") in told(compared(old, new))


def test_one_that_the_library_at_hand_does_not_have_is_removed() -> None:
    new = [dylib("libx", "a", reexports=["liby"]), dylib("liby", "c")]
    assert told(compared(WHOLE, new)) == {("func_removed", "b")}


@pytest.mark.parametrize("beside", [[], [dylib("liby", "b", target=Target("macho", "x86_64", 64, "little", "macos"))]])
def test_one_that_a_library_may_have_that_is_not_at_hand_is_a_risk_and_not_checked(beside: list[Snapshot]) -> None:
    found = compared(WHOLE, [dylib("libx", "a", reexports=["liby"]), *beside])
    assert {kind for kind, _ in told(found)} == {"symbols_removed.reexported"}
    assert [(each.reason, each.names) for each in found.not_checked] == [("needed-library-not-given", (function("b"),))]


def test_a_library_that_is_needed_and_not_re_exported_gives_programs_nothing() -> None:
    assert told(compared(WHOLE, [dylib("libx", "a"), dylib("liby", "b")])) == {("func_removed", "b")}


def test_a_library_that_was_merged_back_has_all_that_was_found_through_it() -> None:
    old = [dylib("libx", "a", reexports=["liby"]), dylib("liby", "b", "c")]
    assert told(compared(old, [dylib("libx", "a", "b", "c")])) == {
        ("pe_forwarder_changed.moved", "b"),
        ("pe_forwarder_changed.moved", "c"),
    }
    assert ("func_removed", "c") in told(compared(old, WHOLE))


def test_a_re_export_that_is_gone_without_its_exports_is_told_as_one() -> None:
    old = [dylib("libx", "a", reexports=["liby"]), dylib("liby", "b", "c")]
    assert {kind for kind, _ in told(compared(old, [dylib("libx", "a")]))} == {"macho_reexport_changed.removed"}


def test_a_further_re_export_adds_to_a_library_that_lost_nothing() -> None:
    new = [dylib("libx", "a", "b", reexports=["liby"]), dylib("liby", "c")]
    assert [each.kind for each in compared(WHOLE, new).findings] == ["macho_reexport_changed.added"]
