"""Declarations and layouts that reports carry, from real compilers."""

from __future__ import annotations

from abistore.diffing.judge import judged
from abistore.report.document import declared as compared_declarations
from abistore.report.model import ComparedDeclaration, Member, RecordLayout, Report
from abistore.service.comparing import compare
from tests.build import build_library
from tests.public_headers import implementing

OLD = """
struct Empty {};
struct Top { virtual ~Top(); };
Top::~Top() {}
struct Base : Top { char tag; };
struct Mixed : Empty, Base { int a : 3, b : 7; short s; double d; };
struct Padded { char c; int : 0; int i : 5; double d; char e; };
struct Tail { int count; char data[]; };
union Either { int i; double d; };
struct Same { int x; };
enum Mode { FAST, SLOW };
int table[2] = {1};
Mixed make() { return Mixed(); }
int pad(Padded *p) { return p->c; }
int use(Mixed *m, Tail *t, Either e, Mode mode, Same s) { return m->a + t->count + e.i + mode + s.x + table[1]; }
"""
NEW = (
    OLD.replace("b : 7;", "b : 8;")
    .replace("int count;", "long count;")
    .replace("char e;", "short e;")
    .replace("int i;", "int i; long l;")
    .replace("FAST,", "FAST, MEDIUM,")
    .replace("table[2]", "table[3]")
)


def report() -> Report:
    old, new = (build_library(source, language="c++", soname="libcase.so.1") for source in (OLD, NEW))
    return compare(str(old), str(new))


def declared(symbol: str) -> ComparedDeclaration:
    return next(each for each in report().declarations if each.symbol == symbol)


def rows(layout: RecordLayout | None) -> list[tuple[str, str, int, int]]:
    assert layout is not None
    return [(member.role, member.text, member.offset, member.length) for member in layout.members]


def test_bases_are_laid_out_up_to_what_lies_in_their_padding() -> None:
    found = declared("Mixed")
    assert found.layout_before is not None
    assert found.layout_before.size == 24
    assert rows(found.layout_before) == [
        ("base", "base Base", 0, 72),
        ("base", "base Empty", 0, 0),
        ("field", "int a : 3", 72, 3),
        ("field", "int b : 7", 75, 7),
        ("field", "short s", 96, 16),
        ("field", "double d", 128, 64),
    ]


def test_padding_is_laid_out() -> None:
    found = declared("Padded")
    assert rows(found.layout_before) == [
        ("field", "char c", 0, 8),
        ("padding", "hole", 8, 24),
        ("field", "int i : 5", 32, 5),
        ("padding", "hole", 37, 27),
        ("field", "double d", 64, 64),
        ("field", "char e", 128, 8),
        ("padding", "padding", 136, 56),
    ]


def test_an_array_without_a_bound_takes_no_room() -> None:
    found = declared("Tail")
    assert rows(found.layout_before) == [("field", "int count", 0, 32), ("field", "char data[]", 32, 0)]
    assert rows(found.layout_after)[0] == ("field", "long count", 0, 64)


def test_members_of_a_union_share_their_place() -> None:
    assert {member.offset for member in layout(declared("Either").layout_after)} == {0}


def layout(found: RecordLayout | None) -> tuple[Member, ...]:
    assert found is not None
    return found.members


def test_what_is_no_record_has_text_only() -> None:
    mode, table = declared("Mode"), declared("table")
    assert (mode.layout_before, table.layout_after) == (None, None)
    assert "MEDIUM = 1," in (mode.after or "")
    assert (table.before, table.after) == ("int table[2];", "int table[3];")


def test_what_is_the_same_on_both_sides_is_left_out() -> None:
    assert "Same" not in {each.symbol for each in report().declarations}
    assert list(report().declarations) == sorted(report().declarations, key=lambda each: (each.subject, each.symbol))


def test_a_constant_whose_values_the_finding_has_is_not_told_twice() -> None:
    old, new = (
        implementing({"geo.h": f"int geo(void);\n{macros}"}, "c")
        for macros in ("#define GEO_TOP 4\n#define GEO_OLD 1\n", "#define GEO_TOP 5\n#define GEO_NEW 2\n")
    )
    found = judged.compare(old, new)
    assert {each.name.spelling for each in found.findings} == {"GEO_TOP", "GEO_OLD", "GEO_NEW"}
    assert compared_declarations(found, old, new) == ()
