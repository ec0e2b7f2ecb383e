"""How C is spelled: prototypes without parameters, tags with their keywords; and what is demangled with a hyphen."""

from __future__ import annotations

from typing import Literal

import pytest

from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions, HeaderOptions
from abistore.model.declarations import Name
from abistore.model.names.qualified import demangle
from abistore.model.names.spelling import declaration, mention_of
from abistore.model.shapes import Function
from abistore.model.snapshot import Provenance, Snapshot, Tags
from abistore.service.snapshots import capture
from tests.build import build_library

KNOWN = "int known(void) { return 1; }\nint open() { return 2; }\n"
CPP = 'extern "C" int known() { return 1; }\nint mangled() { return 2; }\nnamespace n { int inside() { return 3; } }\n'


def spelled(source: str, symbol: str, language: str = "c", flags: tuple[str, ...] = ("-g",)) -> str:
    snapshot = capture(build_library(source, language=language, flags=flags))
    name = Name("function", symbol)
    (shape,) = snapshot.variants("layout", name)
    return declaration(name, shape, snapshot)


@pytest.mark.parametrize("standard", ["c89", "c99", "c11", "c17"])
def test_a_c_prototype_without_parameters_has_void(standard: str) -> None:
    assert spelled(KNOWN, "known", flags=("-g", f"-std={standard}")) == "int known(void);"


def test_a_c_function_without_a_prototype_leaves_its_parameters_open() -> None:
    assert spelled(KNOWN, "open", flags=("-g", "-std=c99")) == "int open();"


@pytest.mark.parametrize(("language", "head"), [("c", "enum status {"), ("c++", "enum status : unsigned int {")])
def test_an_enumeration_of_c_has_no_underlying_type(language: str, head: str) -> None:
    source = "enum status { GOOD, BAD };\nenum status ask(enum status of) { return of; }\n"
    snapshot = capture(build_library(source, language=language, flags=("-g",)))
    name = Name("enum", "status")
    (shape,) = snapshot.variants("layout", name)
    assert declaration(name, shape, snapshot).splitlines()[0] == head


@pytest.mark.parametrize(
    ("symbol", "text"),
    [("known", "int known();"), ("_Z7mangledv", "int mangled();"), ("_ZN1n6insideEv", "int n::inside();")],
)
def test_cpp_needs_no_void(symbol: str, text: str) -> None:
    assert spelled(CPP, symbol, "c++") == text


@pytest.mark.parametrize(
    ("symbol", "text"),
    [
        ("_ZThn16_N7Derived3getEv", "non-virtual thunk to Derived::get()"),
        ("_ZThn16_NK7DerivedcviEv", "non-virtual thunk to Derived::operator int() const"),
        ("_ZTv0_n24_N1B1fEv", "virtual thunk to B::f()"),
        ("_ZTC1D0_1B", "construction vtable for B-in-D"),
        ("_ZN1AmiERKS_", "A::operator-(const A&)"),
    ],
)
def test_the_hyphens_of_thunks_and_construction_tables_are_no_operators(symbol: str, text: str) -> None:
    assert demangle(symbol) == text


TYPES = """
struct point { int x; };
typedef struct { int x; } plain;
typedef struct both { int x; } both;
typedef struct _hidden hidden;
enum mode { OFF, ON };
typedef enum { LOW, HIGH } level;
union word { int whole; char part[4]; };
struct opaque;
struct pair { struct point p; plain q; union { enum mode m; level l; }; struct point *(*next)(struct point *); };
"""

DECLARED = {
    "tag": "int tag(struct point*);",
    "alone": "int alone(plain*);",
    "by_typedef": "int by_typedef(both*);",
    "by_tag": "int by_tag(struct both*);",
    "mode": "enum mode mode(level);",
    "word": "int word(union word*);",
    "opaque": "int opaque(const struct opaque*, hidden*);",
    "nested": "int nested(int (*)(struct point**, plain), struct pair);",
}
SOURCES = {
    **{"tag": "int tag(struct point *p) { return !p; }", "alone": "int alone(plain *p) { return !p; }"},
    **{"by_typedef": "int by_typedef(both *p) { return !p; }", "by_tag": "int by_tag(struct both *p) { return !p; }"},
    **{"mode": "enum mode mode(level l) { return l == LOW; }", "word": "int word(union word *w) { return !w; }"},
    "opaque": "int opaque(const struct opaque *o, hidden *h) { return !o + !h; }",
    "nested": "int nested(int (*f)(struct point **, plain), struct pair p) { return !f + p.q.x; }",
}


HEADER = "".join(["#pragma once", TYPES, *(f"{text.partition('{')[0].strip()};\n" for text in SOURCES.values())])
SOURCE = "\n".join(['#include "types.h"', *SOURCES.values()])


@pytest.fixture(scope="module")
def of_c(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """A library of C with its header."""
    header = tmp_path_factory.mktemp("include") / "types.h"
    header.write_text(HEADER)
    library = build_library(SOURCE, files={"types.h": HEADER}, flags=("-g",))
    return read_snapshot(library, ExtractOptions(headers=HeaderOptions((header,))))


@pytest.mark.parametrize("facet", ["layout", "source"])
@pytest.mark.parametrize("symbol", sorted(DECLARED))
def test_c_mentions_a_type_by_the_keyword_of_its_tag(
    of_c: Snapshot, symbol: str, facet: Literal["layout", "source"]
) -> None:
    name = Name("function", symbol)
    shape = next(each for each in of_c.variants(facet, name) if isinstance(each, Function))
    assert declaration(name, shape, of_c) == DECLARED[symbol]


def test_fields_of_c_have_the_keywords_of_tags(of_c: Snapshot) -> None:
    name = Name("record", "pair")
    (shape,) = of_c.variants("layout", name)
    fields = [line.partition("//")[0].strip() for line in declaration(name, shape, of_c).splitlines()[1:-1]]
    assert fields == [
        *("struct point p;", "plain q;", "union { enum mode m; level l; };", "/* 4 bytes hole */"),
        "struct point*(*next)(struct point*);",
    ]


def test_debug_information_and_headers_tell_the_same_tags(of_c: Snapshot) -> None:
    library = build_library(SOURCE, files={"types.h": HEADER}, flags=("-g",))
    assert capture(library).provenance.tags == of_c.provenance.tags == Tags(("level", "plain"), ("word",))


def test_a_typedef_tells_its_target_by_the_tag(of_c: Snapshot) -> None:
    alias = Name("alias", "hidden")
    (shape,) = of_c.variants("layout", alias)
    assert declaration(alias, shape, of_c) == "typedef struct _hidden hidden;"
    twin = Name("alias", "both")
    (shape,) = of_c.variants("layout", twin)
    assert declaration(twin, shape, of_c) == "typedef struct both both;"


def test_cpp_mentions_types_by_their_names() -> None:
    source = 'struct point { int x; };\nextern "C" int norm(const struct point *p) { return p->x; }\n'
    assert spelled(source, "norm", "c++") == "int norm(const point*);"


def test_a_library_of_both_languages_mentions_types_of_its_cpp_by_their_names() -> None:
    assert mention_of(Provenance(tags=Tags(bare=("widget",))))(Name("record", "widget")) == "widget"
    assert mention_of(Provenance())(Name("record", "point")) == "point"
