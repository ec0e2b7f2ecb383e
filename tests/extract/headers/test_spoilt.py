"""An error in a header makes what it lies in unknown, and never changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions, HeaderOptions, Language
from abistore.model.snapshot import Snapshot
from tests.build import build_library

BASE = """#pragma once
#define BASE_PACKED __attribute__((packed))
#define BASE_MOST 5
#define BASE_WIDE 1
#define BASE_VERSION(a, b) 1
#define BASE_PACK 1
#define BASE_VERSION_OF(A, b) typedef struct A##_ A;
typedef unsigned char base_int;
"""
CPP = "struct base_object { virtual ~base_object() {} int u; };\n"
PLAIN = "int plain(int a) { return a; }"


def side(tmp_path: Path, header: str, *, base: str, language: Language, found: bool) -> Snapshot:
    """A library whose header is read with or without the file that it includes."""
    place = tmp_path / ("with" if found else "without")
    (place / "include").mkdir(parents=True)
    (place / "base").mkdir()
    (place / "include" / "f.h").write_text(f"#pragma once\n#include <base.h>\n{header}\n")
    (place / "include" / "all.h").write_text('#include "f.h"\nint plain(int a);\n')
    if found:
        (place / "base" / "base.h").write_text(base)
    options = HeaderOptions((place / "include",), include_dirs=(place / "base",), language=language)
    return read_snapshot(build_library(PLAIN, language=language, flags=("-O1",)), ExtractOptions(headers=options))


C = {
    "typedef": "typedef base_int flag; struct S { flag f; int b; }; flag get(struct S *);",
    "attribute": "struct T { char c; int d; } BASE_PACKED; void take(struct T *);",
    "attribute of a typedef": "typedef struct { char c; int d; } BASE_PACKED T; void take(T *);",
    "alignment": "struct T { int a; } __attribute__((aligned(BASE_MOST + 3))); struct U { struct T t; };",
    "enumerator": "enum E { EA = BASE_MOST, EB }; enum { UA = BASE_MOST, UB };",
    "array": "struct N { char name[BASE_MOST]; int z; }; struct H { struct N n; int q; };",
    "constant": "static const int most = BASE_MOST;",
    "condition that fails": "#if BASE_VERSION(2, 3)\nstruct A { int a; int b; };\n#else\nstruct A { int a; };\n#endif",
    "condition": "#ifdef BASE_WIDE\ntypedef long wide;\n#else\ntypedef int wide;\n#endif\nwide widest(wide *);",
    "pragma": "#pragma pack(push, BASE_PACK)\nstruct P { char c; int d; };\n#pragma pack(pop)\nvoid take(struct P *);",
    "unnamed": "typedef struct { base_int a; } In; typedef struct { In in; int b; } Out; void take(In *, Out *);",
    "macro like a call": "#define OWN 1\nBASE_VERSION_OF(Foo, foo)\nint behind(int);",
    "callback": "typedef int (*callback)(base_int, void *); struct Ops { int (*open)(base_int); callback c; };",
}
IN_CPP = {
    "base class": "class K : public base_object { public: int z; virtual int w(); }; struct D : K { int e; };",
    "virtual function": "struct V { virtual int a(base_int); virtual int b(); int c; }; struct W { V v; int q; };",
    "template": "template <class T> struct Box { T t; base_int n; }; struct U { Box<int> b; int q; };",
    "scoped": "namespace n { enum class E : base_int { A, B }; struct X { base_int a[BASE_MOST]; }; void f(X *, E); }",
    "mangled name": "typedef base_int flag; void take(flag); struct M { void set(flag); int get(); flag f; };",
}


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    ("language", "header"),
    [*(("c", each) for each in C.values()), *(("c++", each) for each in (*C.values(), *IN_CPP.values()))],
)
def test_identical_headers_are_no_break_where_one_side_lacks_a_file(
    tmp_path: Path, language: Language, header: str, *, first: bool
) -> None:
    base = BASE + (CPP if language == "c++" else "")
    whole, part = (side(tmp_path, header, base=base, language=language, found=each) for each in (True, False))
    assert (whole.evidence_of("source").state, part.evidence_of("source").state) == ("full", "partial")
    found = compare(*((whole, part) if first else (part, whole)))
    assert [each.kind for each in found.findings if each.kind != "evidence_narrowed"] == []


def test_what_no_error_touches_is_compared(tmp_path: Path) -> None:
    texts = ("struct S { int a; }; typedef base_int flag;", "struct S { int a; int b; }; typedef base_int flag;")
    old, new = (
        side(tmp_path / str(number), f"{text} int size(struct S s);", base="", language="c", found=False)
        for number, text in enumerate(texts)
    )
    assert "type_private_changed.unreached" in {each.kind for each in compare(old, new).findings}


def test_errors_in_bodies_of_methods_leave_the_class(tmp_path: Path) -> None:
    texts = (
        "struct S { int a; int f() { return unknown(1); } };",
        "struct S { int a, b; int f() { return unknown(1); } };",
    )
    old, new = (
        side(tmp_path / str(number), f"{text} int size(S s);", base="", language="c++", found=False)
        for number, text in enumerate(texts)
    )
    assert "type_private_changed.unreached" in {each.kind for each in compare(old, new).findings}
