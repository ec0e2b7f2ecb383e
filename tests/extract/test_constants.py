"""Enumerations and constants of the library's own headers, which no exported declaration names."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from abistore.model.shapes import Enum
from abistore.model.snapshot import Snapshot
from tests.build import build_library

COMPILERS = ["gcc", "gcc -gdwarf-4", "clang", "clang -gdwarf-4"]


def library(header: str, source: str, compiler: str = "gcc", **more: str) -> Path:
    files = {"include/lib.h": header, **{name.replace("_", "."): text for name, text in more.items()}}
    plus = {"gcc": "g++", "clang": "clang++"}[compiler.split()[0]]
    if "namespace" in header or "class" in header:
        compiler = compiler.replace(compiler.split()[0], plus)
    language = "c++" if "++" in compiler else "c"
    flags = ("-g", *compiler.split()[1:], "-O1", "-I.", "-Iinclude", *[each for each in files if each.endswith(".c")])
    text = f'#include "lib.h"\n{source}\n'
    return build_library(text, language=language, compiler=compiler.split()[0], flags=flags, files=files)


def read(path: Path) -> Snapshot:
    return read_snapshot(path, ExtractOptions(library="libcase"))


def constants(path: Path) -> dict[str, dict[str, int]]:
    found = read(path).entries["layout"]
    return {
        name.spelling: {each.name: each.value for each in shape.enumerators}
        for name, shapes in found.items()
        for shape in shapes
        if isinstance(shape, Enum)
    }


@pytest.mark.parametrize("compiler", COMPILERS)
def test_constants_are_read_where_no_export_names_them(compiler: str) -> None:
    header = "enum { LOW = 1, HIGH = 2 };\nenum mode { SLOW = -1, FAST };\nint act(int);"
    path = library(header, "int act(int n) { return n == HIGH ? FAST : SLOW; }", compiler)
    assert constants(path) == {"(anonymous enum LOW)": {"LOW": 1, "HIGH": 2}, "mode": {"SLOW": -1, "FAST": 0}}
    assert str(read(path).locations[Name("enum", "mode")]) == "include/lib.h:2"


@pytest.mark.parametrize("compiler", COMPILERS)
def test_constant_objects_are_enumerations_of_one_value(compiler: str) -> None:
    header = "namespace geo { constexpr unsigned char most = 200; const int least = -3; constexpr double half = 0.5; }"
    source = "int act(int n) { return n > geo::most ? geo::least : n * geo::half; }"
    assert constants(library(header, source, compiler)) == {
        "geo::(anonymous enum most)": {"most": 200},
        "geo::(anonymous enum least)": {"least": -3},
    }


def test_only_what_consumers_can_name_is_read() -> None:
    header = """class Tank {
public: enum Kind { BIG }; static const int room = 7; int act(int) const;
private: enum Secret { HIDDEN }; static const int key = 9; };
namespace { enum Own { MINE }; }"""
    source = """enum { LOCAL = 5 };
#include <cstdio>
int Tank::act(int n) const {
    return n == BIG ? room : n == HIDDEN ? key : n == MINE ? LOCAL : std::printf("");
}"""
    assert constants(library(header, source)) == {
        "Tank::(anonymous enum room)": {"room": 7},
        "Tank::Kind": {"BIG": 0},
    }


def test_an_enumeration_that_is_spelled_out_is_no_second_declaration() -> None:
    header = "struct lamp { enum { OFF, ON } state; };\nint act(struct lamp *);"
    assert constants(library(header, "int act(struct lamp *lamp) { return lamp->state == ON; }")) == {}


def test_units_that_include_a_header_repeat_its_constants() -> None:
    header = "enum { LOW = 1, HIGH = 2 };\nint act(int);\nint more(int);"
    more = '#include "lib.h"\nint more(int n) { return n == LOW; }\n'
    path = library(header, "int act(int n) { return n == HIGH; }", more_c=more)
    assert constants(path) == {"(anonymous enum LOW)": {"LOW": 1, "HIGH": 2}}


def test_equal_enumerations_of_two_namespaces_are_two() -> None:
    header = "namespace a { enum Kind { NONE, SOME }; }\nnamespace b { enum Kind { NONE, SOME }; }"
    found = constants(library(header, "int act(int n) { return n == a::SOME ? 1 : n == b::SOME; }"))
    assert found == {"a::Kind": {"NONE": 0, "SOME": 1}, "b::Kind": {"NONE": 0, "SOME": 1}}


def compared(old: str, new: str, source: str = "int act(int n) { return n == HIGH; }") -> list[str]:
    found = compare(read(library(old, source)), read(library(new, source)))
    return [f"{each.kind} {each.part}" for each in found.findings]


def test_constants_are_the_same_when_another_one_stands_first() -> None:
    assert compared("enum { LOW = 1, HIGH = 2 };", "enum { NONE, LOW, HIGH = 3 };") == [
        "enum_member_value_changed HIGH",
        "enum_member_added NONE",
    ]


def test_constants_are_the_same_when_they_get_a_name() -> None:
    assert compared("enum { LOW = 1, HIGH = 2 };", "enum level { LOW = 1, HIGH = 2 };") == []
    assert compared("enum level { LOW = 1, HIGH = 2 };", "enum { HIGH = 4 };") == [
        "enum_member_value_changed HIGH",
        "enum_member_removed LOW",
    ]


def test_a_constant_is_the_same_as_an_object_and_as_an_enumerator() -> None:
    source = "int act(int n) { return n == HIGH; }"
    header = "namespace level {{ {} }} using namespace level;"
    old, new = header.format("enum { HIGH = 2 };"), header.format("constexpr unsigned HIGH = 3;")
    assert compared(old, new, source) == ["enum_member_value_changed HIGH"]


def test_an_enumeration_that_the_library_uses_no_more_is_not_checked() -> None:
    header = "enum { LOW = 1, HIGH = 2 };"
    sources = "int act(int n) { return n == HIGH; }", "int act(int n) { return n == 2; }"
    found = compare(*(read(library(header, source)) for source in sources))
    assert found.findings == ()
    assert [(each.reason, each.names) for each in found.not_checked] == [
        ("constants-not-recorded", (Name("enum", "(anonymous enum LOW)"),))
    ]
    assert compare(*(read(library(header, source)) for source in reversed(sources))).not_checked == ()
