"""Access of nested types: what debug information and headers tell of it, and what makes a private type open."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions, HeaderOptions
from abistore.model.declarations import Facet
from abistore.model.findings import Impact
from abistore.model.shapes import Enum, Record
from abistore.model.snapshot import Snapshot
from tests.build import build_library

HEADER = """
#pragma once
class Outer {
  struct Hidden { int act(); int value; struct Inner { int act(); int value; } inner; };
  struct Returned { int act(); int value; };
  struct Renamed { int act(); int value; };
  struct Base { int act(); int value; };
  enum Mode { OFF, ON };
  Hidden hidden;
  Mode mode;
protected:
  struct Kept { int act(); int value; };
public:
  typedef Renamed Name;
  struct Open : Base { int act(); enum Color { RED } color; };
  Returned *given() { return 0; }
  Name name;
  int run();
};
class Sealed {
protected:
  struct Part { int act(); int value; };
private:
  explicit Sealed(int);
  Sealed(const Sealed &);
public:
  Part *part();
  int run();
};
class Copied {
protected:
  struct Part { int act(); int value; };
  Part own;
private:
  explicit Copied(int);
public:
  int run();
};
class Locked {
protected:
  struct Part { int act(); int value; };
  Part own;
  ~Locked();
private:
  explicit Locked(const Locked &) = delete;
  Locked();
public:
  static Locked *make();
  int run();
};
"""
SOURCE = """
#include "nested.h"
int Outer::Hidden::act() { return value; }
int Outer::Hidden::Inner::act() { return value; }
int Outer::Returned::act() { return value; }
int Outer::Renamed::act() { return value; }
int Outer::Base::act() { return value; }
int Outer::Kept::act() { return value; }
int Outer::Open::act() { return color; }
int Outer::run() { return mode == ON ? hidden.inner.value : given()->act(); }
int Sealed::Part::act() { return value; }
Sealed::Part *Sealed::part() { return 0; }
int Sealed::run() { return part()->act(); }
int Copied::Part::act() { return value; }
int Copied::run() { return own.act(); }
int Locked::Part::act() { return value; }
Locked::Locked() {}
Locked::~Locked() {}
Locked *Locked::make() { return new Locked; }
int Locked::run() { return own.act(); }
Outer outer;
"""
CLOSED = {
    "Outer::Hidden": "private",
    "Outer::Hidden::Inner": "private",
    "Outer::Mode": "private",
    "Locked::Part": "protected",
}


def accesses(snapshot: Snapshot, facet: Facet) -> dict[str, str]:
    """The types that ``facet`` says are closed, each with its access."""
    shapes = [(name.spelling, shape) for name, held in snapshot.entries[facet].items() for shape in held]
    return {
        name: shape.access for name, shape in shapes if isinstance(shape, Record | Enum) and shape.access != "public"
    }


def built(compiler: str, *flags: str) -> Path:
    flags = ("-g", "-O1", *flags)
    return build_library(SOURCE, language="c++", compiler=compiler, flags=flags, files={"nested.h": HEADER})


@pytest.mark.parametrize("version", [2, 3, 4, 5])
def test_gcc_tells_which_nested_types_are_closed(version: int) -> None:
    assert accesses(read_snapshot(built("g++", f"-gdwarf-{version}"), ExtractOptions()), "layout") == CLOSED


@pytest.mark.full
@pytest.mark.parametrize("version", [4, 5])
def test_clang_tells_which_nested_classes_are_closed(version: int) -> None:
    classes = {name: access for name, access in CLOSED.items() if name != "Outer::Mode"}
    assert accesses(read_snapshot(built("clang++", f"-gdwarf-{version}"), ExtractOptions()), "layout") == classes


def test_headers_tell_the_same(tmp_path: Path) -> None:
    (tmp_path / "nested.h").write_text(HEADER)
    headers = HeaderOptions((tmp_path / "nested.h",))
    assert accesses(read_snapshot(built("g++"), ExtractOptions(headers=headers)), "source") == CLOSED


@pytest.mark.full
def test_nothing_is_said_of_a_class_that_no_unit_defines() -> None:
    source = "class A { struct B { B(); int act(); int value; }; B own; public: int run(); };"
    source += "int A::B::act() { return value; } int A::run() { return own.act(); }"
    library = build_library(source, language="c++", compiler="clang++")
    assert accesses(read_snapshot(library, ExtractOptions()), "layout") == {}


GONE = ("int Outer::Hidden::act() { return value; }\n", "int Outer::Returned::act() { return value; }\n")


@pytest.mark.parametrize(("line", "kind"), [*zip(GONE, ("symbols_removed.inaccessible", "func_removed"), strict=True)])
def test_headers_alone_tell_that_a_member_of_a_closed_class_is_out_of_reach(
    tmp_path: Path, line: str, kind: str
) -> None:
    (tmp_path / "nested.h").write_text(HEADER)
    options = ExtractOptions(headers=HeaderOptions((tmp_path / "nested.h",)), layout=False)
    source = SOURCE.replace("given()->act()", "0")
    old, new = (
        read_snapshot(build_library(each, language="c++", files={"nested.h": HEADER}), options)
        for each in (source, source.replace(line, ""))
    )
    assert [each.kind for each in compare(old, new).findings if each.impact > Impact.COMPATIBLE] == [kind]
