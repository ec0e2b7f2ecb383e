"""Of which types code in headers has objects, and which members it uses, through any chain of includes."""

from __future__ import annotations

import pytest

from abistore.model.declarations import Declared, Name
from tests.public_headers import read_texts

INSIDE = """
namespace detail {
    enum Mode { SLOW, FAST };
    struct P { int first; int last; };
    int imp(const P &);
    P *held();
    inline int deep(int i) { P p{}; p.last = i; return imp(p); }
    inline int helper(int i) { return deep(i); }
}
"""
P, LAST = Name("record", "detail::P"), "detail::P::last"


def code(text: str, spelling: str) -> tuple[set[Name], tuple[str, ...]]:
    """The objects and members of one declaration's code in a header that includes one which was not given."""
    found = read_texts((("w.h", f'#include "inside.h"\nint keep(int);\n{text}\n'),), included=(("inside.h", INSIDE),))
    told = [
        each
        for name, shapes in found.entries.items()
        if name.spelling.startswith(spelling)
        for shape in shapes
        if isinstance(shape, Declared)
        for each in (shape.body, shape.uses)
        if each is not None
    ]
    return {each for one in told for each in one.objects}, tuple(each for one in told for each in one.fields)


@pytest.mark.parametrize(
    "text",
    [
        "inline int run() { detail::P p{}; return imp(p); }",
        "inline int run() { return helper(2); }",
        "inline unsigned run() { return sizeof(detail::P); }",
        "inline unsigned run(detail::P *p) { return sizeof(*p); }",
        "inline auto run() { return new detail::P; }",
        "inline auto run(int i) { return detail::held() + i; }",
        "inline int run() { return detail::imp({}); }",
        "inline int run() { auto inner = [] { return detail::imp(detail::P{}); }; return inner(); }",
        "template <class T> int run(T) { detail::P p{}; return imp(p); }",
        "int run(int n = detail::imp(detail::P{}));",
        "inline int run = detail::imp(detail::P{});",
        "struct run { int n = detail::imp(detail::P{}); };",
        "#define run(i) detail::imp(detail::P{i})",
        "#define inner(i) detail::helper(i)\n#define run(i) inner(i)",
    ],
)
def test_code_has_objects_of_types_that_only_its_text_names(text: str) -> None:
    text = text.replace("return imp", "return detail::imp").replace("return helper", "return detail::helper")
    names = {"_Z3runv", "_Z3runi", "run", "_Z3runPN6detail1PE", "run<typename>"}
    assert P in set().union(*(code(text, each)[0] for each in names))


@pytest.mark.parametrize(
    "text",
    [
        "inline int run() { return detail::imp(*detail::held()); }",
        "inline auto run(detail::P *p) { return p; }",
        "#define run(p) detail::imp(*(detail::P *)(p))",
    ],
)
def test_what_code_hands_on_by_address_is_no_object_of_it(text: str) -> None:
    assert P not in code(text, "")[0]


def test_members_are_told_in_the_order_in_which_code_names_them() -> None:
    text = "inline int run(detail::P *p) { return p->last + p->first + p->last; }"
    assert code(text, "_Z3run")[1] == (LAST, "detail::P::first")


def test_a_macro_that_names_a_member_uses_it() -> None:
    assert code("#define last_of(p) ((p)->last)", "last_of")[1] == (LAST,)
    assert code("#define last_of(last) (last)", "last_of")[1] == ()


def test_an_enumerator_that_code_names_makes_the_enumeration_an_object() -> None:
    assert Name("enum", "detail::Mode") in code("inline int run() { return detail::FAST; }", "_Z3run")[0]
