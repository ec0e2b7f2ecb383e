"""DLLs of Visual C++ are judged by the letters of their names and by their tables, without a PDB file."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.diffing.judge.judged import compare
from abistore.diffing.types.sameness import TypeSide
from abistore.diffing.types.vtables import VirtualTables
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from abistore.model.findings import Comparison, Impact
from abistore.model.names.microsoft import decoration, described_class, is_private
from abistore.model.shapes import Record
from tests.extract.pe_fixtures import msvc

pytestmark = pytest.mark.full

RUNTIME = """
extern "C" { int _fltused = 0; __declspec(dllexport) int _purecall() { return 0; } }
void *vftable_of_type_info[4] __asm__("??_7type_info@@6B@") = {};
void operator delete(void *, unsigned long long) {}
void operator delete(void *) {}
"""
BASE = """
struct __declspec(dllexport) Base { virtual int a(); virtual int b(); };
int Base::a() { return 1; }
int Base::b() { return 2; }
struct __declspec(dllexport) Other { virtual int c(); };
int Other::c() { return 3; }
"""
SHAPE = """
class __declspec(dllexport) Shape : public Base {
public: int a() override; virtual int d(); int plain(int x); static int made(); static int count;
protected: int kept();
private: int own(); virtual int hook(); static int number;
};
int Shape::a() { return 4; }
int Shape::d() { return 5; }
int Shape::plain(int x) { return x; }
int Shape::made() { return 6; }
int Shape::kept() { return 7; }
int Shape::own() { return 8; }
int Shape::hook() { return 9; }
int Shape::count = 1;
int Shape::number = 2;
"""
WHOLE = BASE + SHAPE


def built(source: str, *flags: str) -> Path:
    return msvc(RUNTIME + source, *(flags or ("-O1",)))


def compared(old: str, new: str) -> Comparison:
    options = ExtractOptions(library="case", layout=False)
    return compare(read_snapshot(built(old), options), read_snapshot(built(new), options))


def told(comparison: Comparison) -> dict[str, Impact]:
    """The findings by kind; those that follow from others too."""
    every = [each for one in comparison.findings for each in (one, *one.consequences)]
    return {each.kind: each.impact for each in every}


def without(*lines: str) -> str:
    text = WHOLE
    for line in lines:
        assert line in text
        text = text.replace(line, "")
    return text


CHANGES = {
    "a private function goes": (
        without("int own(); ", "int Shape::own() { return 8; }"),
        "symbols_removed.inaccessible",
    ),
    "a protected function goes": (without("int kept();", "int Shape::kept() { return 7; }"), "func_removed"),
    "a private variable goes": (
        without(" static int number;", "int Shape::number = 2;"),
        "symbols_removed.inaccessible",
    ),
    "a function becomes virtual": (
        WHOLE.replace("int plain(int x);", "virtual int plain(int x);"),
        "symbol_decoration_changed",
    ),
    "a function becomes static": (
        WHOLE.replace("int plain(int x);", "static int plain(int x);"),
        "symbol_decoration_changed",
    ),
    "a function becomes constant": (
        WHOLE.replace("int plain(int x);", "int plain(int x) const;").replace("::plain(int x)", "::plain(int x) const"),
        "func_cv_changed",
    ),
    "a function returns another type": (
        WHOLE.replace("int plain(int x);", "double plain(int x);").replace("int Shape::plain", "double Shape::plain"),
        "symbol_decoration_changed",
    ),
    "a slot contains another function": (
        WHOLE.replace("virtual int a(); virtual int b();", "virtual int b(); virtual int a();"),
        "vtable_slot_changed",
    ),
    "a table grows": (
        WHOLE.replace("virtual int d();", "virtual int d(); virtual int e();") + "int Shape::e() { return 0; }",
        "vtable_slot_count_changed",
    ),
    "a function becomes pure": (
        without("int Base::b() { return 2; }").replace("virtual int b();", "virtual int b() = 0;"),
        "vtable_slot_changed.pure_added",
    ),
    "another base": (
        WHOLE.replace(": public Base", ": public Other").replace("a() override", "a()"),
        "rtti_inheritance_changed",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_tables_of_a_dll_tell(change: str) -> None:
    source, kind = CHANGES[change]
    assert kind in told(compared(WHOLE, source))


def test_what_is_private_is_a_risk_and_what_is_protected_a_break() -> None:
    private = told(compared(WHOLE, CHANGES["a private function goes"][0]))
    protected = told(compared(WHOLE, CHANGES["a protected function goes"][0]))
    assert max(private.values()) == Impact.RISK
    assert protected["func_removed"] == Impact.BREAKING


def test_one_function_with_other_letters_is_neither_removed_nor_added() -> None:
    for change in ("a function becomes virtual", "a function becomes static", "a function becomes constant"):
        assert not {"func_removed", "func_added"} & told(compared(WHOLE, CHANGES[change][0])).keys()


def test_a_table_that_goes_is_that_of_a_class_and_no_variable() -> None:
    found = told(compared(WHOLE, WHOLE.replace("class __declspec(dllexport) Shape", "class Shape")))
    assert found["type_symbols_removed"] == Impact.BREAKING
    assert found["var_removed"] == Impact.BREAKING  # Shape::count
    other = WHOLE.replace("struct __declspec(dllexport) Other", "struct Other")
    assert "var_removed" not in told(compared(WHOLE, other))
    assert "type_symbols_removed" in told(compared(WHOLE, other))


def test_a_destructor_has_one_slot() -> None:
    source = "struct __declspec(dllexport) D { virtual int f(); virtual ~D(); virtual int g(); };\n"
    source += "int D::f() { return 1; } D::~D() {} int D::g() { return 2; }\n"
    snapshot = read_snapshot(built(source, "-g", "-gcodeview", "-O1"), ExtractOptions(library="case"))
    (record,) = snapshot.variants("layout", Name("record", "D"))
    assert isinstance(record, Record)
    tables = VirtualTables(TypeSide(snapshot))
    assert {slot: method.display for slot, method in tables.slots(record).items()} == {0: "f", 1: "~D", 2: "g"}


@pytest.mark.parametrize(
    ("symbol", "access", "text"),
    [
        ("?f@A@@AEAAXXZ", "private", "private: void __cdecl A::f()"),
        ("?f@A@@MEBAHH@Z", "protected", "protected: virtual int __cdecl A::f(int) const"),
        ("?f@A@@SAXXZ", "public", "public: static void __cdecl A::f()"),
        ("?x@A@@0HA", "private", "private: static int A::x"),
        ("?x@@3HB", None, "int const x"),
        ("?f@@YGHXZ", None, "int __stdcall f()"),
        ("?f@@YAXPEBQEAUP@@@Z", None, "void __cdecl f(P* const*)"),
        ("??1A@@UEAA@XZ", "public", "public: virtual __cdecl A::~A()"),
    ],
)
def test_letters_are_read(symbol: str, access: str | None, text: str) -> None:
    found = decoration(symbol)
    assert found
    assert (found.access, str(found)) == (access, text)


def test_class_keys_are_spelled_where_they_are_asked_for() -> None:
    found = decoration("?f@@YAPEAUP@@AEAV1@V?$Box@UP@@@@W4Kind@@@Z", class_keys=True)
    assert str(found) == "struct P* __cdecl f(class P&, class Box<struct P>, Kind)"


def test_private_virtual_functions_are_open_to_derived_classes() -> None:
    assert is_private("?f@A@@AEAAXXZ")
    assert not is_private("?f@A@@EEAAXXZ")


def test_type_descriptors_name_their_class() -> None:
    assert described_class("??_R0?AVWidget@ui@@@8") == "ui::Widget"
    assert described_class("??_R0?AV?$Box@H@ui@@@8") == "ui::Box<int>"
