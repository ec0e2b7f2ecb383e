"""``show`` draws declarations as they were written, whatever compiler wrote the debug information."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from abistore.model.declarations import SELF
from abistore.model.shapes import Library
from abistore.model.snapshot import Snapshot, Target
from abistore.model.snapshot_files import to_json
from tests.build import build_library
from tests.cli.conftest import Call

pytestmark = pytest.mark.fast

CLASSES = """
namespace geo {
struct Base {
    virtual ~Base();
    virtual int area() const;
    virtual void move(int) &;
    virtual void take() &&;
    virtual int left() const = 0;
};
struct Middle : Base { virtual int middle(); };
struct Box : Middle {
    ~Box() override;
    int area() const override;
    virtual int area();
    virtual void fresh(int) volatile;
    virtual int (*handler() const)(int);
    int left() const override;
};
Base::~Base() {}
int Base::area() const { return 1; }
void Base::move(int) & {}
void Base::take() && {}
int Middle::middle() { return 1; }
Box::~Box() {}
int Box::area() const { return 2; }
int Box::area() { return 3; }
void Box::fresh(int) volatile {}
int (*Box::handler() const)(int) { return nullptr; }
int Box::left() const { return 3; }
int use(const Box &box) { return box.area(); }
}
"""
TAGS = """
typedef struct box box;
typedef union any any;
typedef enum colour { RED } colour;
typedef struct hidden *hidden;
typedef struct box crate;
struct box { int w; box *next; };
union any { int i; float f; };
int area(const box *b, any a, colour c, hidden h, crate *d) { return b->w; }
"""


def members(text: str) -> list[str]:
    """The functions that a drawn class has, without their places."""
    return [line.partition(" //")[0].strip() for line in text.splitlines() if "(" in line and line.startswith("    ")]


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_a_class_is_drawn_with_qualifiers_and_overrides(abistore: Call, compiler: str) -> None:
    library = build_library(CLASSES, language="c++", compiler=compiler)
    assert sorted(members(abistore("show", library, "geo::Box").out)) == [
        "int area() const override;",
        "int left() const override;",
        "virtual int (*handler() const)(int);",
        "virtual int area();",
        "virtual void fresh(int) volatile;",
        "~Box() override;",
    ]
    base = members(abistore("show", library, "geo::Base").out)
    assert "virtual int area() const;" in base
    assert "virtual void move(int) &;" in base
    assert "virtual void take() &&;" in base


@pytest.mark.full
def test_a_pure_method_is_drawn_as_pure(abistore: Call) -> None:
    library = build_library(CLASSES, language="c++", compiler="clang++")
    assert "virtual int left() const = 0;" in members(abistore("show", library, "geo::Base").out)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("box", "typedef struct box box;"),
        ("any", "typedef union any any;"),
        ("colour", "typedef enum colour colour;"),
        ("hidden", "typedef struct hidden* hidden;"),
        ("crate", "typedef struct box crate;"),
    ],
)
def test_an_alias_of_the_spelling_of_its_tag_is_written_with_the_tag(
    abistore: Call, compiler: str, name: str, written: str
) -> None:
    library = build_library(TAGS, compiler=compiler)
    assert written in abistore("show", library, name).out.splitlines()


@pytest.mark.parametrize(("format", "told"), [("elf", True), ("pe", False)])
def test_only_of_an_elf_file_its_hardening_is_told(
    abistore: Call, tmp_path: Path, format: Literal["elf", "pe"], told: bool
) -> None:
    target = Target(format, "x86_64", 64, "little")
    entries = {"symbol": {SELF: (Library("shared", name="libcase"),)}}
    snapshot = Snapshot(library="libcase", version="1", target=target, entries=entries)
    (tmp_path / "case.json").write_bytes(to_json(snapshot))
    assert ("RELRO" in abistore("show", tmp_path / "case.json").out) == told
    found = abistore("show", tmp_path / "case.json", "--json").json["snapshot"]["facts"]["hardening"]
    assert (found is not None) == told
