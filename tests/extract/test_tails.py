"""Whether other data may lie in the tail padding of a class is what its compiler makes of it."""

from __future__ import annotations

import pytest

from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from abistore.model.layout import is_open_by_parts
from abistore.model.shapes import Record
from tests.build import build_library

CLASSES = (
    "struct B { int i; char c; };",
    "struct B { int i; char c; B() = default; };",
    "struct B { int i; char c; B(int) = delete; };",
    "struct B { int i; char c; B(const B &) = default; };",
    "struct B { int i; char c; B(const B &) = delete; B() = default; };",
    "struct B { int i; char c; B &operator=(const B &) = default; };",
    "struct B { int i; char c; B &operator=(const B &) = delete; };",
    "struct B { int i; char c; ~B() = default; };",
    "struct B { int i; char c; B() {} };",
    "struct B { int i; char c; explicit B(int n) : i(n) {} };",
    "struct B { int i; char c; ~B() {} };",
    "struct B { int i; char c; B &operator=(const B &) { return *this; } };",
    "struct B { int i; char c; B &operator=(int) { return *this; } };",
    "struct B { int i; char c; operator int(); static int s; static int f(); };",
    "struct B { int i; char c; private: static int q(); typedef int z; };",
    "struct B { int i; protected: char c; };",
    "class B { int i; char c; };",
    "struct E {}; struct B : E { int i; char c; };",
    "struct B { int &r; char c; };",
    "struct B { int *p; char c; };",
    "struct N { N(); int i; }; struct B { N n; char c; };",
    "struct N { int i; }; typedef N M; struct B { M n[2]; char c; };",
    "struct N { int i; private: int j; }; typedef N M; struct B { M n[2]; char c; };",
    "union N { int i; float f; }; struct B { N n; char c; };",
    "enum class N { A }; struct B { N n; char c; };",
    "struct B { struct { int x; int y; }; char c; };",
)
TOLD = {"open": True, "closed": False}


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_the_tail_is_as_the_compiler_has_it(compiler: str, standard: str) -> None:
    spaces = (f"namespace n{place} {{ {each} struct D : B {{ char x; }}; }}" for place, each in enumerate(CLASSES))
    uses = (f"int f{place}(n{place}::B *, n{place}::D *) {{ return 0; }}" for place, _ in enumerate(CLASSES))
    source = "\n".join([*spaces, *uses])
    flags = ("-g", f"-std={standard}", "-w", "-fno-eliminate-unused-debug-types")
    snapshot = read_snapshot(build_library(source, language="c++", compiler=compiler, flags=flags), ExtractOptions())
    wrong = []
    for place, text in enumerate(CLASSES):
        own, derived = (_record(snapshot.variants("layout", Name("record", f"n{place}::{name}"))) for name in "BD")
        lies_within = derived.fields[0].offset < 8 * own.size
        told = True if is_open_by_parts(own) else TOLD.get(own.tail or "")
        if told is not lies_within:
            wrong.append((text, told, lies_within))
    assert not wrong


def _record(shapes: tuple[object, ...]) -> Record:
    (shape,) = shapes
    assert isinstance(shape, Record)
    return shape


def test_a_record_without_padding_at_its_end_notes_nothing() -> None:
    source = "struct B { int i; int j; B() {} }; int f(B *b) { return b->i; }"
    snapshot = read_snapshot(build_library(source, language="c++", flags=("-g",)), ExtractOptions())
    assert _record(snapshot.variants("layout", Name("record", "B"))).tail is None


def test_a_record_of_c_notes_nothing() -> None:
    source = "struct B { int i; char j; }; int f(struct B *b) { return b->i; }"
    snapshot = read_snapshot(build_library(source, language="c", flags=("-g",)), ExtractOptions())
    assert _record(snapshot.variants("layout", Name("record", "B"))).tail is None


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_a_constructor_that_compilers_make_shows_that_members_begin_with_values(compiler: str) -> None:
    classes = "struct B { int i = 1; char c; }; struct P { int i; char c; };"
    source = f"{classes} B *b() {{ return new B; }} P *p() {{ return new P; }}"
    snapshot = read_snapshot(build_library(source, language="c++", compiler=compiler, flags=("-g",)), ExtractOptions())
    told = {name: _record(snapshot.variants("layout", Name("record", name))).tail for name in "BP"}
    assert told == {"B": "open", "P": "closed"}
