"""Where debug information and headers describe one declaration, each difference is found once."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest

from abistore.diffing.judge.judged import compare
from abistore.model.declarations import SELF, Argument, Declared, Name
from abistore.model.findings import Comparison, Impact
from abistore.model.shapes import (
    Alias,
    AnyShape,
    Enum,
    Enumerator,
    Field,
    Function,
    Library,
    Named,
    Primitive,
    Record,
    Symbol,
)
from abistore.model.snapshot import Evidence, Snapshot
from tests.diffing.model import INT, LONG, TARGET, UNSIGNED, VOID, alias, function, record, to

USE, POINT, COLOR = function("use"), record("point"), Name("enum", "color")
U32, U64 = alias("u32"), alias("u64")
UNSIGNED_LONG = Primitive("unsigned long", 8)
ALIASES: dict[Name, tuple[AnyShape, ...]] = {U32: (Alias(UNSIGNED),), U64: (Alias(UNSIGNED_LONG),)}

Shapes = Mapping[Name, AnyShape | tuple[AnyShape, ...]]


def both(layout: Shapes, source: Shapes) -> Snapshot:
    """A library that exports ``use``, as its debug information and as its headers show it."""
    shown = [
        {name: held if isinstance(held, tuple) else (held,) for name, held in facet.items()}
        for facet in (layout, source)
    ]
    use = (Function("use", VOID, (to(POINT), to(COLOR))),)
    symbols = {USE: (Symbol("function"),), SELF: (Library("shared"),)}
    evidence = (Evidence("symbol", "full"), Evidence("layout", "full"), Evidence("source", "full"))
    declared = {USE: use, **ALIASES, **shown[1]}
    public = {
        name: held if any(isinstance(each, Declared) for each in held) else (Declared(), *held)
        for name, held in declared.items()
    }
    entries = {"symbol": symbols, "layout": {USE: use, **shown[0]}, "source": public}
    return Snapshot("lib", None, TARGET, entries, evidence)


def without_headers(side: Snapshot) -> Snapshot:
    entries = {facet: held for facet, held in side.entries.items() if facet != "source"}
    return msgspec.structs.replace(side, entries=entries, evidence=side.evidence[:2])


def told(comparison: Comparison) -> list[tuple[str, str, str]]:
    found = [each for finding in comparison.findings for each in (finding, *finding.consequences)]
    return sorted((each.kind, each.name.spelling, each.part) for each in found)


def struct(*fields: Field, size: int = 16) -> Record:
    return Record("struct", size, fields)


def test_a_field_that_a_header_spells_by_an_alias_changes_once() -> None:
    old = both({POINT: struct(Field("x", UNSIGNED, 0))}, {POINT: struct(Field("x", Named(U32), 0))})
    new = both({POINT: struct(Field("x", UNSIGNED_LONG, 0))}, {POINT: struct(Field("x", Named(U64), 0))})
    assert told(compare(old, new)) == told(compare(without_headers(old), without_headers(new))) != []


def test_a_size_is_taken_from_debug_information() -> None:
    field = Field("x", INT, 0)
    old = both({POINT: struct(field)}, {POINT: struct(field, size=16)})
    new = both({POINT: struct(field)}, {POINT: struct(field, size=24)})
    assert told(compare(old, new)) == [("evidence_agreement_removed", "point", "")]


def test_a_member_that_only_headers_show_is_not_lost() -> None:
    field, more = Field("x", INT, 0), Field("y", INT, 32)
    old = both({POINT: struct(field)}, {POINT: struct(field, more)})
    new = both({POINT: struct(field)}, {POINT: struct(field)})
    assert ("type_field_removed", "point", "y") in told(compare(old, new))


def test_a_difference_that_only_headers_show_is_not_lost_beside_one_that_both_show() -> None:
    def shown(x: Primitive, y: Primitive) -> Record:
        return struct(Field("x", x, 0), Field("y", y, 64))

    old = both({POINT: shown(INT, INT)}, {POINT: shown(INT, INT)})
    new = both({POINT: shown(LONG, INT)}, {POINT: shown(LONG, LONG)})
    parts = {part for kind, _, part in told(compare(old, new)) if kind == "type_field_type_changed"}
    assert parts == {"x", "y"}
    assert len(told(compare(old, new))) == len(set(told(compare(old, new))))


def test_what_only_text_tells_stands_beside_what_debug_information_tells() -> None:
    def side(size: int, text: Declared) -> Snapshot:
        return both({POINT: struct(size=size)}, {POINT: (text, struct(size=size))})

    found = told(compare(side(8, Declared()), side(16, Declared(("final",)))))
    assert [kind for kind, _, _ in found] == ["type_became_final", "type_size_changed"]


def test_an_enumerator_that_both_lose_is_removed_once() -> None:
    many = Enum(4, (Enumerator("red", 0), Enumerator("blue", 1)))
    few = Enum(4, (Enumerator("red", 0),))
    found = told(compare(both({COLOR: many}, {COLOR: many}), both({COLOR: few}, {COLOR: few})))
    assert [each for each in found if each[2] == "blue"] == [("enum_member_removed", "color", "blue")]


def test_an_alias_that_both_spell_otherwise_for_the_same_type_is_no_break() -> None:
    old = both({POINT: struct(Field("x", UNSIGNED, 0))}, {POINT: struct(Field("x", Named(U32), 0))})
    new = both({POINT: struct(Field("x", UNSIGNED, 0))}, {POINT: struct(Field("x", UNSIGNED, 0))})
    assert all(each.impact <= Impact.COMPATIBLE for each in compare(old, new).findings)


@pytest.mark.parametrize("swapped", [False, True])
def test_a_type_that_both_lose_or_gain_is_told_once(swapped: bool) -> None:
    layout, source = struct(Field("x", UNSIGNED, 0)), struct(Field("x", Named(U32), 0))
    pair = both({POINT: layout}, {POINT: source}), both({}, {})
    found = told(compare(*(reversed(pair) if swapped else pair)))
    about = [each for each in found if each[1] == "point"]
    assert len(about) == len(set(about))


def test_a_finding_says_which_evidence_was_used() -> None:
    field = Field("x", INT, 0)
    arguments = Declared((), (Argument("p"), Argument("c", "0"))), Declared((), (Argument("p"), Argument("c", "1")))
    use = Function("use", VOID, (to(POINT), to(COLOR)))
    old = both({POINT: struct(field)}, {POINT: struct(field), USE: (arguments[0], use)})
    new = both({POINT: struct(Field("x", LONG, 0))}, {POINT: struct(Field("x", LONG, 0)), USE: (arguments[1], use)})
    facets = {each.kind: each.facet for each in compare(old, new).findings}
    assert facets == {"type_field_type_changed": "layout", "param_default_value_changed": "source"}


def test_a_difference_that_debug_information_does_not_show_is_said_to_be_the_headers() -> None:
    field = Field("x", INT, 0)
    old = both({POINT: struct(field)}, {POINT: struct(field)})
    new = both({POINT: struct(field)}, {POINT: struct(Field("x", LONG, 0))})
    (finding,) = compare(old, new).findings
    assert (finding.kind, finding.facet) == ("type_field_type_changed", "source")
