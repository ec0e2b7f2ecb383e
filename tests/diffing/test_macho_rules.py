"""Tests of what rules for all formats say of Mach-O files."""

from __future__ import annotations

from abistore.diffing.judge.judged import compare
from abistore.model.declarations import SELF, Name
from abistore.model.shapes import Library, MachoLibrary, MachoSymbol, Symbol
from abistore.model.snapshot import Evidence, Snapshot, Target

SYSTEM, CXX, OWN = "/usr/lib/libSystem.B.dylib", "/usr/lib/libc++.1.dylib", "@rpath/libother.1.dylib"


def dylib(needed: tuple[str, ...] = (SYSTEM,), features: tuple[str, ...] = (), table: Symbol | None = None) -> Snapshot:
    facts = Library("shared", "@rpath/libcase.1.dylib", needed, features=features, macho=MachoLibrary())
    held = {Name("variable", "table"): (table or Symbol("data"),), SELF: (facts,)}
    target = Target("macho", "aarch64", 64, "little", "macos")
    return Snapshot("libcase", None, target, {"symbol": held}, (Evidence("symbol", "full"),))


def kinds(old: Snapshot, new: Snapshot) -> set[str]:
    return {each.kind for each in compare(old, new).findings}


def test_a_library_of_the_system_is_there_wherever_macos_is() -> None:
    assert kinds(dylib(), dylib((SYSTEM, CXX))) == {"needed_added"}
    assert kinds(dylib(), dylib((SYSTEM, OWN))) == {"needed_added.library"}


def test_the_order_of_dependencies_decides_in_a_flat_namespace_only() -> None:
    assert kinds(dylib((SYSTEM, OWN)), dylib((OWN, SYSTEM))) == set()
    flat = ("flat namespace",)
    assert kinds(dylib((SYSTEM, OWN), flat), dylib((OWN, SYSTEM), flat)) == {"needed_order_changed"}


def test_a_size_that_padding_may_explain_is_no_other_size() -> None:
    def sized(size: int, padding: int) -> Snapshot:
        return dylib(table=Symbol("data", size=size, macho=MachoSymbol(padding) if padding else None))

    assert kinds(sized(16, 7), sized(12, 7)) == set()
    assert kinds(sized(16, 7), sized(40, 7)) == {"symbol_size_changed"}
    assert kinds(sized(0, 0), sized(40, 7)) == set()
