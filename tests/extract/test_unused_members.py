"""Members of template instances that the library itself never uses: those of explicit instantiations."""

from __future__ import annotations

import pytest

from abistore.diffing.surface import export_table
from abistore.diffing.surface.export_table import ExportTable
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from abistore.model.names.qualified import demangle, entity, template_of
from abistore.model.names.symbols import is_mangled
from abistore.model.shapes import ElfSymbol, Symbol
from tests.build import build_library

BOX = """
template <class T> struct Box { T v; Box(T x); ~Box(); T get() const; void put(T); virtual int act(); };
template <class T> Box<T>::Box(T x) : v(x) {}
template <class T> Box<T>::~Box() {}
template <class T> T Box<T>::get() const { return v; }
template <class T> void Box<T>::put(T x) { for (int i = 0; i < 100; ++i) { v = v * x + i; if (v > 3) v -= 7; } }
template <class T> int Box<T>::act() { return (int)v; }
int one() { return 1; }
int two() { return 2 * one(); }
"""
EXPLICIT = "template struct Box<int>;"
IMPLICIT = """
int use(int n) { Box<int> b(n); b.put(n); Box<int> *q = new Box<int>(n); q->put(3); return b.get() + q->act(); }
int more(int n) { Box<int> b(n + 1); b.put(n); return b.get(); }
"""


def unused(tail: str, compiler: str, *flags: str) -> set[str]:
    """The instances of which the library ``BOX`` with ``tail`` uses none of several members."""
    library = build_library(BOX + tail, language="c++", compiler=compiler, flags=flags)
    table = ExportTable(read_snapshot(library, ExtractOptions()).entries["symbol"])
    asked = (each for each in table.names if is_mangled(each))
    return {"".join(template_of(entity(demangle(each)))) for each in asked if len(table.unused_members(each)) > 1}


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_an_explicit_instance_has_members_that_nothing_uses(compiler: str, level: str) -> None:
    assert unused(EXPLICIT, compiler, level) == {"Box<int>"}
    assert unused(IMPLICIT, compiler, level) == set()


def test_nothing_is_known_where_the_linker_binds_the_library_s_own_calls() -> None:
    assert unused(EXPLICIT, "g++", "-O2", "-fno-inline", "-Wl,-Bsymbolic-functions") == set()


@pytest.mark.parametrize("member", ["cl", "C1"])
def test_each_member_is_looked_at_once_however_many_instances_ask(member: str, monkeypatch: pytest.MonkeyPatch) -> None:
    symbols = [f"_ZN3geo3BoxILi{number}EE{each}Ev" for number in range(100) for each in (member, "3getv")]
    weak = Symbol("function", weak=True, elf=ElfSymbol(unused=True))
    table = ExportTable({Name("function", each): (weak,) for each in symbols})
    looked: list[str] = []

    def counted(name: str) -> tuple[str, str]:
        looked.append(name)
        return template_of(name)

    monkeypatch.setattr(export_table, "template_of", counted)
    assert all(table.unused_members(each) for each in symbols if f"E{member}E" in each)
    assert len(looked) <= 2 * len(symbols)
