"""What vtables and type information of dylibs and DLLs point to: the same as in ELF."""

from __future__ import annotations

import pytest

from tests.extract.macho_fixtures import ARM, INTEL, build_dylib
from tests.extract.pe_fixtures import mingw, msvc, zig
from tests.extract.test_class_tables import TABLES, tables

pytestmark = pytest.mark.full

SOURCE = """
struct Base { virtual int a(); virtual int b() = 0; int x; };
struct Derived : Base { int b() override; };
int Base::a() { return 1; }
int Derived::b() { return 2; }
"""


@pytest.mark.parametrize("target", [ARM, INTEL])
def test_tables_of_a_dylib_tell_the_functions_and_the_bases_of_a_class(target: str) -> None:
    found = tables(build_dylib(SOURCE, target=target, language="c++", flags=("-O1",)))
    assert {name: found.get(name) for name in TABLES} == TABLES


@pytest.mark.parametrize("flags", [("-O1",), ("-O1", "-s")])
def test_tables_of_a_dll_of_mingw_tell_them_too(flags: tuple[str, ...]) -> None:
    """The runtime has no function for pure ones there: the word is zero, as if the table ended before it."""
    found = tables(mingw(SOURCE, *flags))
    assert {name: found.get(name) for name in TABLES} == TABLES | {"_ZTV4Base": TABLES["_ZTV4Base"][:3]}


WITH_PURE = SOURCE + 'extern "C" void __cxa_pure_virtual() { for (;;); }\n'


@pytest.mark.parametrize("machine", ["x86_64", "x86", "aarch64"])
def test_tables_of_a_dll_of_zig_tell_them_too(machine: str) -> None:
    assert {name: tables(zig(WITH_PURE, machine)).get(name) for name in TABLES} == TABLES


VISUAL = """
extern "C" int _fltused = 0;
void *vftable_of_type_info[4] __asm__("??_7type_info@@6B@") = {};
extern "C" int _purecall() { return 0; }
struct __declspec(dllexport) Base { virtual int a(); virtual int b() = 0; int x; };
struct __declspec(dllexport) Derived : Base { int b() override; };
int Base::a() { return 1; }
int Derived::b() { return 2; }
"""


@pytest.mark.parametrize("machine", ["x86_64", "i386", "aarch64"])
def test_vtables_of_visual_cpp_tell_the_bases_and_the_functions_of_a_class(machine: str) -> None:
    found = tables(msvc(VISUAL, "-O1", machine=machine))
    base, derived = found["??_7Base@@6B@"], found["??_7Derived@@6B@"]
    assert [each.partition("@")[0] for each in base] == ["?a", ""]
    assert [each.partition("@")[0] for each in derived] == ["??_R0?AUBase", "?a", "?b"]
