"""Vtables and type information of dylibs and DLLs are judged as those of ELF libraries, without debug information."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from abistore.model.findings import Comparison
from abistore.model.shapes import Record, Symbol
from abistore.model.snapshot import Snapshot
from tests.cases import kinds
from tests.extract.macho_fixtures import build_dylib
from tests.extract.pe_fixtures import mingw, zig

pytestmark = pytest.mark.full

PURE = 'extern "C" void __cxa_pure_virtual() { for (;;); }\n'
HEAD = "struct A { virtual int a(); virtual int b(); int x; }; int A::a() { return 1; } int A::b() { return 2; }\n"
OTHER = "struct C { virtual int c(); int x; }; int C::c() { return 3; }\n"
FIRST = (
    HEAD
    + OTHER
    + "struct D : A { int a() override; virtual int e(); }; int D::a() { return 4; } int D::e() { return 5; }\n"
)

CASES = {
    "vtable_slot_changed": HEAD.replace("virtual int a(); virtual int b()", "virtual int b(); virtual int a()")
    + FIRST.removeprefix(HEAD),
    "vtable_slot_count_changed": FIRST.replace("virtual int e();", "virtual int e(); virtual int f();")
    + "int D::f() { return 6; }\n",
    "vtable_slot_changed.override": FIRST.replace("int a() override; ", "").replace("int D::a() { return 4; } ", ""),
    "vtable_slot_changed.pure_added": FIRST.replace("virtual int b();", "virtual int b() = 0;").replace(
        "int A::b() { return 2; }", ""
    ),
    "rtti_inheritance_changed": FIRST.replace("struct D : A", "struct D : C").replace("override", ""),
}


def dylib(source: str) -> Path:
    return build_dylib(PURE + source, language="c++", flags=("-O1", "-g0"))


def dll(source: str) -> Path:
    return zig(PURE + source, "x86_64", "-O1", "-g0")


def compared(old: Path, new: Path) -> Comparison:
    tables = ExtractOptions(library="case", layout=False)
    return compare(read_snapshot(old, tables), read_snapshot(new, tables))


@pytest.mark.parametrize("build", [dylib, dll])
@pytest.mark.parametrize("kind", CASES)
def test_tables_tell_what_they_tell_of_elf_libraries(kind: str, build: Callable[[str], Path]) -> None:
    assert kind in kinds(compared(build(FIRST), build(CASES[kind])))


@pytest.mark.parametrize("build", [dylib, dll])
def test_a_table_that_is_built_anew_has_not_changed(build: Callable[[str], Path]) -> None:
    """Tables stand at other places, behind other ones."""
    more = "struct Z { virtual int z(); int y; }; int Z::z() { return 9; }\n" + FIRST
    assert kinds(compared(build(FIRST), build(more))) == {"func_added", "type_symbols_added"}


def without_tables(snapshot: Snapshot) -> Snapshot:
    """As releases of abistore read it that did not know what tables hold."""

    def former(shape: object) -> object:
        if not isinstance(shape, Symbol) or not shape.table:
            return shape
        return msgspec.structs.replace(shape, table=(), size=0)

    symbols = {name: tuple(map(former, shapes)) for name, shapes in snapshot.entries["symbol"].items()}
    return msgspec.structs.replace(snapshot, entries={**snapshot.entries, "symbol": symbols})


def test_a_snapshot_from_before_tables_were_read_differs_in_nothing() -> None:
    found = read_snapshot(dll(FIRST), ExtractOptions(library="case"))
    assert not compare(without_tables(found), found).findings
    assert not compare(found, without_tables(found)).findings


def test_a_vtable_is_no_private_member_where_clang_describes_it_as_one() -> None:
    found = read_snapshot(zig(PURE + FIRST, "x86_64", "-O1", "-gdwarf-4"), ExtractOptions(library="case"))
    assert found.variants("layout", Name("record", "A"))
    assert not found.variants("layout", Name("variable", "_ZTV1A"))


@pytest.mark.parametrize("kind", ["vtable_slot_changed", "vtable_slot_changed.override"])
def test_tables_tell_what_a_pdb_file_without_slots_does_not(kind: str) -> None:
    options = ExtractOptions(library="case")
    old, new = (
        read_snapshot(zig(PURE + source, "x86_64", "-O1", "-gcodeview"), options) for source in (FIRST, CASES[kind])
    )
    (record,) = old.variants("layout", Name("record", "D"))
    assert isinstance(record, Record) and {each.slot for each in record.virtuals} == {None}
    assert kind in kinds(compare(old, new))


ABSTRACT = """
struct Base { virtual int a(); virtual int b() = 0; int x; };
struct Derived : Base { int b() override; };
int Base::a() { return 1; }
int Derived::b() { return 2; }
"""
"""Of a DLL of MinGW whose runtime is elsewhere, the slot of a pure function is zero, as what aligns the next object."""


def stripped(source: str) -> Path:
    return mingw(source, "-O1", "-s")


def test_a_table_of_which_only_bounds_are_known_grows_beyond_them() -> None:
    more = ABSTRACT.replace("int x;", "virtual int c(); int x;") + "int Base::c() { return 3; }\n"
    found = compared(stripped(ABSTRACT), stripped(more)).findings
    told = {each.name.spelling: (each.kind, each.old_value, each.new_value) for each in found}
    assert told["_ZTV4Base"] == ("vtable_slot_count_changed", "3 to 4", "5 to 6")


def test_a_table_that_may_have_grown_within_its_bounds_is_told_by_no_word() -> None:
    """What stands behind a table moved: nobody can tell a pure function from padding."""
    behind = "struct Z { virtual int z() = 0; virtual int y(); }; int Z::y() { return 9; }\n"
    found = compared(stripped(ABSTRACT), stripped(behind + ABSTRACT)).findings
    assert {each.kind for each in found} == {"func_added", "type_symbols_added"}
    pure = "struct A {{ virtual int a(); virtual int b() = 0; {} }}; int A::a() {{ return 1; }}\n"
    old, new = (stripped(pure.format(more)) for more in ("", "virtual int c() = 0;"))
    assert not compared(old, new).findings
