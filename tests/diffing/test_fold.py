"""A cause is one finding, its consequences are under it, and no weight gets lost."""

from __future__ import annotations

from msgspec.structs import replace

from abistore.diffing.context import Context, Rule, load
from abistore.diffing.judge.consequences import fold
from abistore.diffing.side import SideFacts
from abistore.model.declarations import Name
from abistore.model.findings import Finding, Impact, with_consequences
from abistore.model.shapes import Alias, Array, Field, Named, Record
from tests.diffing.model import INT, LONG, alias, function, record, snapshot, struct, to, uses

INNER, OUTER, OUTERMOST, NICK = record("Inner"), record("Outer"), record("Outermost"), alias("nick")
USE = function("use")
SOME = replace(next(iter(load().values())), action="changed")
RULES: dict[str, Rule] = {
    "cause": replace(SOME, kind="cause", effect=""),
    "mild": replace(SOME, kind="mild", effect=""),
    "came": replace(SOME, kind="came", effect="", action="added"),
    "went": replace(SOME, kind="went", effect="", action="removed"),
    "effect": replace(SOME, kind="effect", effect="size"),
}


def found(kind: str, name: Name, impact: Impact = Impact.BREAKING, part: str = "") -> Finding:
    return Finding(kind, name, part, "", impact, "layout", affected=(USE,))


def embedding(inner: Record, size: int) -> Context:
    """Two releases in which Outer embeds an array of Inner by an alias, and Outermost embeds Outer."""
    sides = []
    for each, width in ((struct(INT), 4), (inner, size)):
        outer = Record("struct", 2 * width + 8, (Field("i", Array(Named(NICK), 2), 0), Field("l", LONG, 16 * width)))
        outermost = Record("struct", 2 * width + 16, (Field("o", Named(OUTER), 0),))
        layout = {NICK: Alias(Named(INNER)), INNER: each, OUTER: outer, OUTERMOST: outermost}
        sides.append(snapshot({USE: uses(to(OUTERMOST)), **layout}))
    return Context(*map(SideFacts, sides))


def names(findings: list[Finding]) -> list[tuple[str, str, list[str]]]:
    return [(each.kind, each.name.spelling, [inner.name.spelling for inner in each.consequences]) for each in findings]


def test_an_effect_is_folded_under_the_cause_of_its_own_record() -> None:
    context = embedding(struct(INT, INT), 8)
    findings = [found("effect", INNER), found("cause", INNER, part="b")]
    assert names(fold(findings, RULES, context)) == [("cause", "Inner", ["Inner"])]


def test_what_grows_because_it_embeds_what_grew_is_folded_under_the_root_cause() -> None:
    context = embedding(struct(INT, INT), 8)
    findings = [
        found("effect", OUTERMOST),
        found("effect", OUTER),
        found("effect", INNER),
        found("cause", INNER, part="b"),
    ]
    assert names(fold(findings, RULES, context)) == [("cause", "Inner", ["Inner", "Outer", "Outermost"])]


def test_a_record_with_a_cause_of_its_own_is_not_blamed_on_what_it_embeds() -> None:
    context = embedding(struct(INT, INT), 8)
    findings = [found("effect", OUTER), found("cause", OUTER, part="x"), found("cause", INNER, part="b")]
    assert names(fold(findings, RULES, context)) == [("cause", "Outer", ["Outer"]), ("cause", "Inner", [])]


def test_an_effect_is_not_folded_under_a_record_that_kept_its_size() -> None:
    context = embedding(struct(INT, names="z"), 4)
    findings = [found("effect", OUTER), found("cause", INNER, part="a")]
    assert len(fold(findings, RULES, context)) == 2


def test_a_cause_that_weighs_less_does_not_hide_its_effect() -> None:
    context = embedding(struct(INT, INT), 8)
    findings = [found("effect", INNER), found("mild", INNER, Impact.COMPATIBLE, "b")]
    assert {each.kind for each in fold(findings, RULES, context)} == {"effect", "mild"}


def test_of_several_effects_without_a_cause_the_one_about_the_whole_record_stands_for_the_others() -> None:
    context = embedding(struct(INT, INT), 8)
    findings = [found("effect", INNER, part="a"), found("effect", INNER)]
    (only,) = fold(findings, RULES, context)
    assert only.part == ""
    assert [each.part for each in only.consequences] == ["a"]


def test_the_exports_that_a_consequence_affects_are_affected_by_its_cause() -> None:
    context = embedding(struct(INT, INT), 8)
    other = function("other")
    findings = [replace(found("effect", OUTER), affected=(other,)), found("cause", INNER, part="b")]
    (only,) = fold(findings, RULES, context)
    assert only.affected == (other, USE)


def test_constructors_of_one_class_and_its_tables_are_one_finding() -> None:
    context = Context(SideFacts(snapshot({})), SideFacts(snapshot({})))
    spellings = ["_ZN1PC1Ev", "_ZN1PC2Ev", "_ZTV1P", "_ZTI1P", "_ZTS1P"]
    names_of = {each: Name("variable" if each.startswith("_ZT") else "function", each) for each in spellings}
    result = fold([found("cause", name) for name in names_of.values()], RULES, context)
    assert names(result) == [("cause", "_ZN1PC1Ev", ["_ZN1PC2Ev"]), ("cause", "_ZTV1P", ["_ZTI1P", "_ZTS1P"])]


def test_records_that_embed_each_other_lose_no_finding() -> None:
    sides = []
    for size in (8, 16):
        layout = {
            INNER: Record("struct", size, (Field("o", Named(OUTER), 0),)),
            OUTER: Record("struct", size, (Field("i", Named(INNER), 0),)),
        }
        sides.append(snapshot({USE: uses(to(OUTER)), **layout}))
    findings = fold([found("effect", INNER), found("effect", OUTER)], RULES, Context(*map(SideFacts, sides)))
    assert sorted(each.name for each in with_consequences(findings)) == [INNER, OUTER]


def test_a_type_that_came_with_what_uses_it_is_folded_under_that() -> None:
    old = snapshot({USE: uses(INT)})
    new = snapshot({USE: uses(INT), function("other"): uses(to(INNER)), INNER: struct(INT)})
    findings = [found("came", INNER, Impact.COMPATIBLE), found("came", function("other"), Impact.COMPATIBLE)]
    assert names(fold(findings, RULES, Context(SideFacts(old), SideFacts(new)))) == [("came", "other", ["Inner"])]


def test_a_type_that_went_is_not_hidden_under_a_user_that_weighs_less() -> None:
    old = snapshot({USE: uses(to(INNER)), INNER: struct(INT)})
    new = snapshot({USE: uses(to(INT))})
    findings = [found("went", INNER, Impact.API_BREAK), found("mild", USE, Impact.COMPATIBLE)]
    assert len(fold(findings, RULES, Context(SideFacts(old), SideFacts(new)))) == 2
