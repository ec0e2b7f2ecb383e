"""Which functions headers define for those who include them."""

from __future__ import annotations

import pytest

from abistore.extract.headers.tokens import EVERYTHING, instantiated
from abistore.extract.reader import Language
from abistore.model.declarations import Declared, Trait
from tests.public_headers import read_texts


def defined(language: Language = "c++", trait: Trait = "defined", **texts: str) -> set[str]:
    """What the headers with these texts define, by symbol or signature."""
    files = tuple((f"{name}.h", text) for name, text in texts.items())
    told = read_texts(files, language).entries.items()
    shapes = ((name.spelling, shape) for name, variants in told for shape in variants if isinstance(shape, Declared))
    return {spelling for spelling, shape in shapes if trait in shape.traits}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("int f(int n) { return n; }", {"_Z1fi"}),
        ("int f(int n); int f(int n) { return n; }", {"_Z1fi"}),
        ("struct A { int f(); }; int A::f() { return 1; }", {"_ZN1A1fEv"}),
        ("static inline int f() { return 1; }", {"_Z1fv"}),
        ("inline int f() { return 1; }", set()),
        ("int f(int n);", set()),
        ("static int f();", set()),
        ("template <class T> T f(T n) { return n; }", {"f<typename>(#0)"}),
        ("template <class T> T f(T n);", set()),
        ("template <class T> T f(T n) { return n; } template <> int f<int>(int);", {"f<typename>(#0)"}),
        ("template <class T> T f(T n) { return n; } extern template int f<int>(int);", set()),
    ],
)
def test_a_function_is_defined_where_its_body_is(text: str, names: set[str]) -> None:
    assert defined(a=text) == names


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("template <class T> struct Box { T get() { return {}; } };", True),
        ("template <class T> struct Box { T get(); }; template <class T> T Box<T>::get() { return {}; }", True),
        ("template <class T> struct Box { T get() { return {}; } private: void put(T); };", False),
        ("template <class T> struct Box { Box(const Box &) = delete; ~Box() = default; };", True),
        ("template <class T> struct Box { T get() { return {}; } }; extern template struct Box<int>;", False),
        ("template <class T> struct Box;", False),
    ],
)
def test_a_class_template_is_defined_where_all_its_functions_are(text: str, told: bool) -> None:
    assert ("Box" in defined(a=text)) is told


ROWS = "template <class T> struct Box { struct Rows { int count(); }; };"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("template <class T> struct Box { struct Rows { int count() { return 1; } }; };", True),
        (f"{ROWS} template <class T> int Box<T>::Rows::count() {{ return 1; }}", True),
        (ROWS, False),
        ("template <class T> struct Box { struct Rows; };", False),
        (
            "template <class T> struct Box { struct Rows; }; template <class T> struct Box<T>::Rows { void f() {} };",
            True,
        ),
        ("template <class T> struct Box { template <class U> struct Rows { void f() {} }; };", True),
        ("template <class T> struct Box { struct Rows { struct Row { void f(); }; }; };", False),
        ("template <class T> struct Box { struct Rows { void f() {} }; }; extern template struct Box<int>;", False),
        ("template <class T> struct Box { int count() { return 1; } };", False),
    ],
)
def test_classes_in_a_class_template_are_defined_where_all_their_functions_are(text: str, told: bool) -> None:
    assert ("Box" in defined("c++", "defined_within", a=text)) is told


@pytest.mark.parametrize(
    ("declaring", "defining", "names"),
    [
        ('int f();\n#include "b.h"', "#pragma once\nint f() { return 1; }", {"_Z1fv"}),
        ('int f();\n#include "c.h"', "#pragma once\nint f() { return 1; }", {"_Z1fv"}),
        ("int f();", '#include "a.h"\nint f() { return 1; }', set()),
    ],
    ids=["included", "included by another", "not included"],
)
def test_a_definition_counts_where_it_comes_with_the_declaration(
    declaring: str, defining: str, names: set[str]
) -> None:
    assert defined(a=f"#pragma once\n{declaring}", b=defining, c='#pragma once\n#include "b.h"') == names


def test_in_c_what_is_inline_without_static_may_be_left_to_another_unit() -> None:
    text = "inline int f(void) { return 1; } static inline int g(void) { return 1; } int h(void) { return 1; }"
    assert defined("c", a=text) == {"g", "h"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"extern template int Box<int>::get() const;", {"int", "Box", "get", "const"}),
        (b"template class Box<int>; int other;", {"class", "Box", "int"}),
        (b"template <class T> T f(); // template class Box<int>;", set()),
        (b"int n = a.template get<int>() + b->template get<int>() + T::template get<int>();", set()),
        (b"#define LEFT(T) \\\n  extern template struct Box<T>\nint n;", {EVERYTHING}),
        (b"#  define LEFT /* one */ template\ntemplate <class T> T f();", {EVERYTHING}),
        (b"#define N 1\ntemplate struct Box<int>;", {"struct", "Box", "int"}),
    ],
)
def test_explicit_instantiations_are_found_in_the_text(text: bytes, words: set[str]) -> None:
    assert set(instantiated(text)) == words
