"""Alias templates, which GCC writes as typedefs of one name with different targets."""

from __future__ import annotations

import pytest

from abistore.model.shapes import Alias, Array, Pointer, Qualified
from tests.extract.layout_fixtures import CHAR, INT, alias, layout, pointer

SOURCE = """
namespace geo {
template<class T> using Link = T *;
template<class T> using Fixed = const Link<T>;
typedef int Plain;
struct Node { Link<int> a; Link<char> b; Fixed<int> c; Fixed<char> d[2]; Plain e; void (*f)(Link<int>, Link<char>); };
Node node = {};
}
"""


def test_a_name_with_several_meanings_is_resolved_to_each() -> None:
    found = layout(SOURCE, "g++")
    types = {field.name: field.type for field in found.record("geo::Node").fields}
    assert (types["a"], types["b"]) == (pointer(INT), pointer(CHAR))
    assert types["c"] == Qualified(Pointer(INT), ("const",))
    assert types["d"] == Array(Qualified(Pointer(CHAR), ("const",)), 2)
    assert found.variants("alias", "geo::Link") == found.variants("alias", "geo::Fixed") == ()
    assert types["e"] == alias("geo::Plain")
    assert found.shape("alias", "geo::Plain") == Alias(INT)


@pytest.mark.full
def test_where_arguments_are_part_of_the_name_the_aliases_stay() -> None:
    found = layout(SOURCE, "clang++")
    assert found.shape("alias", "geo::Link<int>") == Alias(pointer(INT))
    assert found.shape("alias", "geo::Link<char>") == Alias(pointer(CHAR))


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_two_typedefs_of_one_name_remain_variants(compiler: str) -> None:
    files = {"other.c": "typedef char item;\nstruct other { item i; }; void g(struct other *o) {}"}
    source = "\n\ntypedef int item; struct one { item i; }; void f(struct one *o) {}"
    found = layout(source, compiler, flags=["other.c"], files=files)
    assert set(found.variants("alias", "item")) == {Alias(INT), Alias(CHAR)}


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_copies_of_one_definition_that_macros_make_different_are_all_seen(compiler: str) -> None:
    header = "struct item {\n#ifdef WIDE\nfloat\n#else\nint\n#endif\nx; };\n"
    files = {"item.h": header, "other.c": '#define WIDE\n#include "item.h"\nvoid g(struct item *i) {}'}
    found = layout('#include "item.h"\nvoid f(struct item *i) {}', compiler, flags=["other.c"], files=files)
    assert len(found.variants("record", "item")) == 2
