"""How GCC's classes are passed by value follows from their special members, as Clang records it."""

from __future__ import annotations

import pytest

from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from abistore.model.shapes import Record
from tests.build import build_library

CLASSES = {
    "plain": "struct plain { int x; }",
    "destroyed": "struct destroyed { int x; ~destroyed() { x = 0; } }",
    "defaulted": "struct defaulted { int x; ~defaulted() = default; defaulted(const defaulted &) = default; }",
    "copied": "struct copied { int x; copied(const copied &o) : x(o.x) {} }",
    "moved": "struct moved { int x; moved(const moved &) = default; moved(moved &&o) : x(o.x) {} }",
    "only_moved": "struct only_moved { int x; only_moved(only_moved &&) = default; }",
    "not_moved": "struct not_moved { int x; not_moved(const not_moved &) = default;"
    " not_moved(not_moved &&) = delete; }",
    "assigned": "struct assigned { int x; assigned &operator=(const assigned &o) { x = o.x; return *this; } }",
    "converted": "struct converted { int x; explicit converted(const plain &p) : x(p.x) {} }",
    "virtual_": "struct virtual_ { virtual int f() { return 1; } } object",
    "derived": "struct derived : destroyed { int y; }",
    "holding": "struct holding { plain p; destroyed d[2]; }",
    "trivial": "struct trivial : plain { defaulted d; }",
    "renamed": "struct renamed { typedef renamed self; int x; renamed(const self &o) : x(o.x) {} }",
    "doubled": "struct doubled { int x; doubled(const doubled &o, int y) : x(o.x + y) {} }",
    "extended": "struct extended { int x; extended(const extended &o, int y = 0) : x(o.x + y) {} }",
    "box": "template <class T> struct box { T t; box(const box &o) : t(o.t) {} }",
}
SOURCE = (
    ";\n".join(CLASSES.values())
    + ";\n"
    + "\n".join(
        f"int take_{name}({'box<int>' if name == 'box' else name} *p) {{ return sizeof(*p); }}" for name in CLASSES
    )
)
VALUE = {"plain", "defaulted", "only_moved", "not_moved", "assigned", "converted", "trivial", "doubled"}
UNTOLD = {"doubled", "extended"}
"""What GCC tells nothing about: whether a second parameter has a default argument."""


def passing(source: str, *flags: str, compiler: str = "g++") -> dict[str, str | None]:
    path = build_library(source, language="c++", compiler=compiler, flags=("-g", "-O1", *flags))
    layout = read_snapshot(path, ExtractOptions()).entries["layout"]
    shapes = {name.spelling.partition("<")[0]: shape for name, held in layout.items() for shape in held}
    return {name: shape.passing for name, shape in shapes.items() if isinstance(shape, Record)}


@pytest.mark.parametrize("flags", [("-std=c++17",), ("-std=c++17", "-gdwarf-4")], ids=["dwarf5", "dwarf4"])
def test_a_class_without_a_trivial_copy_goes_by_reference(flags: tuple[str, ...]) -> None:
    told = {name: "value" if name in VALUE else "reference" for name in CLASSES}
    assert passing(SOURCE, *flags) == told | dict.fromkeys(UNTOLD)


def test_what_only_a_constructor_of_no_export_takes_is_not_read() -> None:
    source = "struct told { int x; }; struct kept { int y; kept(const told &t) : y(t.x) {} kept(told &t, int z); };"
    assert set(passing(f"{source} int take(kept *k) {{ told t{{1}}; return kept(t).y + k->y; }}")) == {"kept"}


def test_strict_debug_information_does_not_tell_which_members_are_trivial() -> None:
    told = passing(SOURCE, "-std=c++17", "-gdwarf-4", "-gstrict-dwarf")
    assert set(told) == set(CLASSES) and set(told.values()) == {None}


@pytest.mark.full
def test_clang_records_the_same() -> None:
    recorded = passing(SOURCE, "-std=c++17", "-fstandalone-debug", compiler="clang++")
    told = {name: found for name, found in recorded.items() if found is not None}
    assert told == {name: "value" if name in VALUE else "reference" for name in told}
    assert len(told) > len(CLASSES) // 2


def test_a_class_that_holds_an_object_of_the_standard_library_is_not_judged() -> None:
    source = "#include <array>\nstruct held { std::array<int, 2> a; }; int take(held *h) { return h->a[0]; }"
    assert passing(source) == {"held": None}


def test_a_struct_of_c_is_not_passed_by_the_rules_of_c_plus_plus() -> None:
    path = build_library("struct plain { int x; }; int take(struct plain p) { return p.x; }")
    shape = read_snapshot(path, ExtractOptions()).entries["layout"][Name("record", "plain")][0]
    assert isinstance(shape, Record) and shape.passing is None
