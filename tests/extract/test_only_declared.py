"""Classes that no unit describes: what units show of them, and that handles show nothing."""

from __future__ import annotations

import pytest

from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from abistore.model.shapes import Opaque
from tests.build import build_library
from tests.extract.layout_fixtures import CPP

CLASS = "struct Item { virtual void draw(); virtual int size() const { return count; } int count; };\n"
FLAGS = ("-g", "-O2", "-fvisibility-inlines-hidden")


def opaque(source: str, name: str, compiler: str, **files: str) -> Opaque:
    units = {f"{each}.cc": text for each, text in files.items()}
    path = build_library(source, language="c++", compiler=compiler, files=units, flags=(*FLAGS, *units))
    (shape,) = read_snapshot(path, ExtractOptions()).variants("layout", Name("record", name))
    assert isinstance(shape, Opaque)
    return shape


@pytest.mark.parametrize("compiler", CPP)
def test_the_virtual_functions_that_a_unit_shows_have_their_slots(compiler: str) -> None:
    shape = opaque(f"{CLASS} int get(const Item *item) {{ return item->Item::size(); }}", "Item", compiler)
    assert shape.defined
    assert [(each.display, each.symbol, each.slot) for each in shape.virtuals] == [("size", "_ZNK4Item4sizeEv", 1)]


@pytest.mark.parametrize("compiler", CPP)
def test_each_unit_shows_other_members(compiler: str) -> None:
    both = "struct Item { virtual void a(); virtual int b() { return n; } virtual int c() { return n; } int n; };\n"
    one, other = (f"{both} int {name}_of(Item *item) {{ return item->Item::{name}(); }}" for name in "bc")
    shape = opaque(one, "Item", compiler, other=other)
    assert [(each.display, each.slot) for each in shape.virtuals] == [("b", 1), ("c", 2)]


@pytest.mark.parametrize("compiler", CPP)
@pytest.mark.parametrize(
    "source",
    [
        "struct Item; void take(Item *) {}",
        "struct Item { virtual void draw(); }; void take(Item *item) { item->draw(); }",
        "template <class T> struct Box; struct Item; void take(Item *, Box<int> *) {}",
    ],
)
def test_a_declaration_without_members_is_no_more_than_a_handle(compiler: str, source: str) -> None:
    assert opaque(source, "Item", compiler) == Opaque("struct")


@pytest.mark.parametrize("compiler", CPP)
def test_a_class_that_one_unit_describes_is_read_there(compiler: str) -> None:
    source = f"{CLASS} int get(const Item *item) {{ return item->Item::size(); }}"
    path = build_library(
        source,
        language="c++",
        compiler=compiler,
        files={"o.cc": f"{CLASS} void Item::draw() {{}}"},
        flags=(*FLAGS, "o.cc"),
    )
    (shape,) = read_snapshot(path, ExtractOptions()).variants("layout", Name("record", "Item"))
    assert not isinstance(shape, Opaque)


def test_gcc_lists_the_arguments_of_complete_template_instances_only() -> None:
    source = "template <class T> struct Box { virtual void a(); T t; }; int take(Box<int> *box) { return box->t; }\n"
    assert opaque(
        f"{source} template <class T> void Box<T>::a() {{}} extern template struct Box<int>;", "Box<int>", "g++"
    ).defined
    assert not opaque("template <class T> struct Box; void take(Box<int> *) {}", "Box<int>", "g++").defined


@pytest.mark.parametrize("compiler", CPP)
def test_an_object_of_a_class_shows_that_it_is_defined(compiler: str) -> None:
    source = "struct Item { virtual void draw(); Item(); int n; }; struct List { Item first; int size; };\n"
    assert opaque(f"{source} int get(const List *list) {{ return list->size; }}", "Item", compiler).defined


def test_the_evidence_names_what_is_only_declared() -> None:
    path = build_library(f"{CLASS} int get(Item *item) {{ return item->Item::size(); }}", language="c++", flags=FLAGS)
    (seen,) = (each for each in read_snapshot(path, ExtractOptions()).evidence if each.facet == "layout")
    assert (seen.state, seen.reason, seen.is_whole) == ("full", "class-not-described", False)
    assert seen.detail == "the debug information only declares 1 class with members or tables: Item"
