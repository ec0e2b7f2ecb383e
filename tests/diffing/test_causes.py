"""What made tools answer wrongly on real releases: for each cause a pair that breaks and one that does not."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.findings import Verdict
from abistore.model.snapshot import Snapshot
from examples.obtain import PROJECT
from tests.build import build_library
from tests.cases import RULES, cases

CAUSES = PROJECT / "benchmarks" / "accuracy" / "causes.md"


class Pair(NamedTuple):
    """The sources of two releases, and whether the second breaks programs of the first."""

    label: str
    breaks: bool
    old: str
    new: str
    language: str = "c"
    old_flags: str = "-g -O1"
    new_flags: str = "-g -O1"


S, T = "struct s { int a; }; ", "struct s { int a, b; }; "
NORM = "int norm(struct s *p) { return p->a; }"
MAKE = "struct s *make(void) { return 0; } "
A = "struct A { int x; "
PAIRS = (
    Pair("soname-only", False, S + NORM, S + NORM, "c", "-g -O1 -Wl,-soname,liba.so.1", "-g -O1 -Wl,-soname,liba.so.2"),
    Pair("result-added", False, "void f(int *p) { *p = 1; }", "int f(int *p) { return *p = 1; }"),
    Pair("result-removed", True, "int f(int *p) { return *p = 1; }", "void f(int *p) { *p = 1; }"),
    Pair("void-pointer-typed", False, S + "int f(void *p) { return !p; }", S + "int f(struct s *p) { return !p; }"),
    Pair("pointee-const", False, "int f(char *p) { return *p; }", "int f(const char *p) { return *p; }"),
    Pair(
        "typedef-renamed", False, "typedef int a; int f(a n) { return n; }", "typedef int b; int f(b n) { return n; }"
    ),
    Pair("integer-to-enum", False, "int f(int n) { return n; }", "enum e { ON }; int f(enum e n) { return n; }"),
    Pair("integer-wider", True, "int f(int n) { return n; }", "int f(long n) { return n; }"),
    Pair(
        "reserve-used",
        False,
        "struct s { int a, reserved[4]; }; " + NORM,
        "struct s { int a, b, reserved[3]; }; " + NORM,
    ),
    Pair("data-used", True, "struct s { int a, data[4]; }; " + NORM, "struct s { int a, b, data[3]; }; " + NORM),
    Pair("library-allocates", False, S + MAKE + NORM, T + MAKE + NORM),
    Pair("callers-allocate", True, S + NORM, T + NORM),
    Pair(
        "array-of-one",
        False,
        S + "struct t { struct s x; int n; }; int f(struct t *p) { return p->n; }",
        S + "struct t { struct s x[1]; int n; }; int f(struct t *p) { return p->n; }",
    ),
    Pair(
        "pointers-to-struct",
        False,
        "struct t { void *q[2]; int n; }; int f(struct t *p) { return p->n; }",
        "struct q { void *a, *b; }; struct t { struct q q; int n; }; int f(struct t *p) { return p->n; }",
    ),
    Pair(
        "members-swapped",
        True,
        "struct s { int x, y; }; int f(struct s *p) { return p->x; }",
        "struct s { int y, x; }; int f(struct s *p) { return p->x; }",
    ),
    Pair(
        "inner-members-swapped",
        True,
        "struct t { union { struct { int x, y; } a; long b; } u; }; int f(struct t *p) { return p->u.a.x; }",
        "struct t { union { struct { int y, x; } a; long b; } u; }; int f(struct t *p) { return p->u.a.x; }",
    ),
    Pair(
        "nameless-swapped",
        True,
        "struct t { struct { int a, b; } *q; }; int f(struct t *p) { return p->q->a; }",
        "struct t { struct { int b, a; } *q; }; int f(struct t *p) { return p->q->a; }",
    ),
    Pair(
        "c-guarded",
        False,
        "int f(int n) { return n; }",
        '#ifdef __cplusplus\nextern "C"\n#endif\nint f(int n);\nint f(int n) { return n; }',
    ),
    Pair("c-linkage-added", True, "int f(int n) { return n; }", 'extern "C" int f(int n) { return n; }', "c++"),
    Pair(
        "inline-default-added",
        False,
        A + "int g(); int h(int a) { return a + x; } }; int A::g() { return h(1); }",
        A + "int g(); int h(int a, int b = 0) { return a + b + x; } }; int A::g() { return h(1); }",
        *("c++", "-g -O0", "-g -O0"),
    ),
    Pair(
        "unnamed-class-gone",
        False,
        A + "int g(); }; namespace { struct I { virtual int h(); int a; }; int I::h() { return a; } }"
        " int A::g() { I i; i.a = x; I &own = i; return own.h(); }",
        A + "int g(); }; int A::g() { return x; }",
        "c++",
    ),
    Pair(
        "function-virtual",
        True,
        A + "virtual int g(); int h(); }; int A::g() { return 1; } int A::h() { return 2; }",
        A + "virtual int g(); virtual int h(); }; int A::g() { return 1; } int A::h() { return 2; }",
        "c++",
    ),
    Pair(
        "pure-defined-with-data",
        True,
        "struct A { virtual int g() = 0; virtual int h(); }; int A::h() { return 2; }",
        A + "virtual int g(); virtual int h(); }; int A::h() { return 2; } int A::g() { return x; }",
        "c++",
    ),
    Pair(
        "error-inserted",
        True,
        "enum e { OK, BAD, WORSE }; enum e f(int n) { return n ? BAD : OK; }",
        "enum e { OK, NEW, BAD, WORSE }; enum e f(int n) { return n ? BAD : OK; }",
    ),
    Pair(
        "error-appended",
        False,
        "enum e { OK, BAD, WORSE }; enum e f(int n) { return n ? BAD : OK; }",
        "enum e { OK, BAD, WORSE, WORST }; enum e f(int n) { return n ? BAD : OK; }",
    ),
    Pair(
        "method-inline",
        True,
        A + "int g(); int h(); }; int A::g() { return h(); } int A::h() { return x; }",
        A + "int g(); int h() { return x; } }; int A::g() { return h(); }",
        "c++",
    ),
    Pair(
        "hidden-result",
        True,
        "struct R { long a, b, c; }; struct A { R g(); }; R A::g() { return R(); }",
        "struct R { long a, b, c; }; struct A { void g(); }; void A::g() {}",
        "c++",
    ),
    Pair(
        "callback-takes-more",
        True,
        "typedef int (*call)(int); int f(call c) { return c(1); }",
        "typedef int (*call)(int, long); int f(call c) { return c(1, 2); }",
    ),
    Pair(
        "callback-const",
        False,
        "typedef int (*call)(char *); int f(call c) { return c(0); }",
        "typedef int (*call)(const char *); int f(call c) { return c(0); }",
    ),
)


def side(source: str, language: str, flags: str) -> Snapshot:
    """A release without headers."""
    path = build_library(source, language=language, flags=tuple(flags.split()), soname=None)
    return read_snapshot(path, ExtractOptions(library="libcase"))


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.label)
def test_no_cause_of_wrong_answers_makes_one(pair: Pair) -> None:
    old, new = side(pair.old, pair.language, pair.old_flags), side(pair.new, pair.language, pair.new_flags)
    comparison = compare(old, new)
    assert (comparison.verdict is Verdict.BREAKING) == pair.breaks, comparison.findings


def test_each_pair_that_the_table_of_causes_names_is_there() -> None:
    known = {case.label for path in RULES.glob("*.md") for case in cases(path)}
    named = set(re.findall(r"`(\w[\w-]*-[\w-]+)`", CAUSES.read_text()))
    labels = {pair.label for pair in PAIRS}
    assert named - labels <= known
    assert labels <= named
