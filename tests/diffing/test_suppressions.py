"""A suppression takes what it names out of the verdict, with what follows for the same declaration, and no more."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import msgspec
import pytest

from abistore.diffing.judge.judged import Ruling, compare
from abistore.diffing.suppression import Suppressions
from abistore.diffing.suppression_files import load
from abistore.errors import PolicyError
from abistore.model.declarations import Name
from abistore.model.findings import Comparison, Impact, Verdict
from abistore.model.shapes import Access, Field, Library, Named, Record, Symbol
from abistore.model.snapshot import Location, Snapshot
from tests.diffing.model import CODE, INT, LONG, function, record, snapshot, struct, to, uses

TODAY = date(2026, 6, 1)
USE, GONE, OTHER = function("use"), function("gone"), function("other")
POINT, LINE = record("geo::Point"), record("geo::Line")


def releases(access: Access = "public") -> tuple[Snapshot, Snapshot]:
    """A record grows by a field, one that embeds it grows too, and two functions go."""

    def side(point: Record, **functions: object) -> Snapshot:
        last = Field("l", LONG, point.size * 8, access=access)
        line = Record("struct", point.size + 8, (Field("p", Named(POINT), 0), last))
        gone = {Name("function", each): uses() for each in functions}
        return snapshot({USE: uses(to(LINE)), POINT: point, LINE: line, **gone})

    return side(struct(INT, INT), gone=1, other=1), side(struct(INT, INT, LONG))


def suppressions(tmp_path: Path, text: str, *, strict: bool = False, scheme: str = "auto") -> Suppressions:
    path = tmp_path / "known.yaml"
    path.write_text(text)
    return load([str(path)], scheme=scheme, today=TODAY, strict=strict)


def judged(tmp_path: Path, entries: str, sides: tuple[Snapshot, Snapshot] | None = None) -> Comparison:
    return compare(*(sides or releases()), Ruling(suppressions=suppressions(tmp_path, f"suppressions: [{entries}]")))


def kept(comparison: Comparison) -> set[tuple[str, str]]:
    return {(finding.kind, finding.name.spelling) for finding in comparison.findings}


def suppressed(comparison: Comparison) -> set[tuple[str, str]]:
    return {(finding.kind, finding.name.spelling) for finding in comparison.suppressed}


def test_a_suppressed_finding_has_no_part_in_the_verdict_and_stays_visible(tmp_path: Path) -> None:
    old, new = snapshot({USE: uses(), GONE: uses()}), snapshot({USE: uses()})
    comparison = judged(tmp_path, "{symbol: gone, label: old friend, reason: nobody calls it}", (old, new))
    assert comparison.verdict is Verdict.NO_CHANGE
    assert comparison.findings == ()
    (finding,) = comparison.suppressed
    assert (finding.kind, finding.impact) == ("func_removed", Impact.BREAKING)
    assert finding.suppressed_by == "old friend (known.yaml, entry 1)"
    assert comparison.notes == ()


def test_what_follows_for_the_same_declaration_goes_with_it_and_for_others_stays(tmp_path: Path) -> None:
    comparison = judged(tmp_path, "{type: geo::Point, change_kind: type_field_added, reason: r}")
    (grown,) = (finding for finding in comparison.suppressed if finding.name == POINT)
    assert "type_size_changed" in {each.kind for each in grown.consequences}
    assert {each.name for each in grown.consequences} == {POINT}
    assert ("type_size_changed", "geo::Line") in kept(comparison)
    assert comparison.verdict is Verdict.BREAKING
    assert not any(finding.name == POINT for finding in comparison.findings)


def test_a_size_stays_while_another_change_of_the_record_is_not_accepted(tmp_path: Path) -> None:
    old = snapshot({USE: uses(to(POINT)), POINT: struct(INT, names="a", size=4)})
    new = snapshot({USE: uses(to(POINT)), POINT: struct(INT, LONG, LONG, names="abc")})
    accepted = "{type: geo::Point, member: b, change_kind: type_field_added, reason: r}"
    comparison = judged(tmp_path, accepted, (old, new))
    found = {each.kind for finding in comparison.findings for each in (finding, *finding.consequences)}
    assert "type_size_changed" in found
    assert comparison.verdict is Verdict.BREAKING


def test_a_mild_accepted_change_does_not_take_a_heavy_effect_with_it(tmp_path: Path) -> None:
    old, _ = releases()
    _, new = releases(access="private")
    (mild,) = (finding for finding in compare(old, new).findings if finding.name == LINE)
    assert mild.impact < Impact.BREAKING
    accepted = f"{{type: geo::Line, change_kind: {mild.kind}, reason: r}}, {{type: geo::Point, reason: r}}"
    comparison = judged(tmp_path, accepted, (old, new))
    assert (mild.kind, "geo::Line") in suppressed(comparison)
    assert any(finding.name == LINE and finding.impact is Impact.BREAKING for finding in comparison.findings)


CONSTRUCTORS = ("_ZN3geo5PointC1Ev", "_ZN3geo5PointC2Ev")


def test_the_variants_of_one_constructor_go_together(tmp_path: Path) -> None:
    symbols = {Name("function", each): CODE for each in (*CONSTRUCTORS, "_ZN3geo5Point3getEv")}
    kept_symbol = {Name("function", "_ZN3geo5Point3getEv"): CODE}
    old, new = snapshot({}, symbols=symbols), snapshot({}, symbols=kept_symbol)
    assert compare(old, new).verdict is Verdict.BREAKING
    comparison = judged(tmp_path, f"{{symbol: {CONSTRUCTORS[0]}, reason: r}}", (old, new))
    assert comparison.verdict is Verdict.NO_CHANGE


@pytest.mark.parametrize(
    "selecting",
    [
        "symbol: gone",
        "symbol: [other_one, gone]",
        "symbol_pattern: 'go.*'",
        "symbol: gone, change_kind: func_removed",
        "symbol: gone, change_kind: func-removed-elf-only",
        "source_location: 'src/*.c'",
        "source_location: old.c",
    ],
)
def test_a_symbol_is_selected_by_name_pattern_kind_and_place(tmp_path: Path, selecting: str) -> None:
    old, new = releases()
    old = msgspec.structs.replace(old, locations={GONE: Location("src/old.c", 7), OTHER: Location("lib/old.h", 7)})
    comparison = judged(tmp_path, f"{{{selecting}, reason: r}}", (old, new))
    assert suppressed(comparison) == {("func_removed", "gone")}


@pytest.mark.parametrize(
    "selecting",
    [
        "symbol: use",
        "symbol: gon",
        "symbol_pattern: 'on'",
        "symbol: gone, change_kind: func_added",
        "type: gone",
        "namespace: gone",
        "source_location: gone.c",
        "symbol: gone, member: x",
    ],
)
def test_what_an_entry_does_not_fit_stays_and_the_entry_is_told_unused(tmp_path: Path, selecting: str) -> None:
    comparison = judged(tmp_path, f"{{{selecting}, reason: r}}")
    assert comparison.suppressed == ()
    assert kept(comparison) == kept(compare(*releases()))
    assert comparison.notes == ("suppression known.yaml, entry 1 matched nothing",)


@pytest.mark.parametrize(
    "selecting",
    ["type: geo::Point", "type: struct geo::Point", "type_pattern: 'geo::P.*'", "type: geo::Point, member: c"],
)
def test_a_type_is_selected_by_name_and_pattern(tmp_path: Path, selecting: str) -> None:
    comparison = judged(tmp_path, f"{{{selecting}, reason: r}}")
    assert ("type_field_added", "geo::Point") in suppressed(comparison)
    assert {name for _, name in kept(comparison)} == {"gone", "other", "geo::Line"}


def test_one_member_is_accepted_and_its_sibling_is_not(tmp_path: Path) -> None:
    old, new = (snapshot({USE: uses(to(POINT)), POINT: each}) for each in (struct(INT), struct(INT, INT, INT)))
    added = {finding.part: finding.kind for finding in compare(old, new).findings if finding.name == POINT}
    assert set(added) == {"b", "c"}
    comparison = judged(tmp_path, "{type: geo::Point, member: b, reason: r}", (old, new))
    assert {finding.part for finding in comparison.findings if finding.name == POINT} == {"c"}
    assert comparison.verdict is compare(old, new).verdict


@pytest.mark.parametrize("namespace", ["geo", "geo::", "g*", "**"])
def test_a_namespace_selects_all_that_stands_in_it(tmp_path: Path, namespace: str) -> None:
    comparison = judged(tmp_path, f"{{namespace: '{namespace}', reason: r}}")
    assert {name for _, name in kept(comparison)} == {"gone", "other"}


def test_a_mangled_member_is_selected_by_its_qualified_name_with_and_without_parameters(tmp_path: Path) -> None:
    symbol = Name("function", "_ZN3geo5Point4moveEii")
    use = Name("function", "_ZN3geo5Point3getEv")
    old, new = snapshot({}, symbols={symbol: CODE, use: CODE}), snapshot({}, symbols={use: CODE})
    for written in ("geo::Point::move", "'geo::Point::move(int, int)'", symbol.spelling):
        comparison = judged(tmp_path, f"{{symbol: {written}, reason: r}}", (old, new))
        assert suppressed(comparison) == {("func_removed", symbol.spelling)}, written


def test_the_first_entry_that_fits_takes_a_finding(tmp_path: Path) -> None:
    comparison = judged(tmp_path, "{symbol_pattern: g.*, reason: r}, {symbol: gone, reason: r}")
    (finding,) = comparison.suppressed
    assert finding.suppressed_by == "known.yaml, entry 1"
    assert "suppression known.yaml, entry 2 matched nothing" in comparison.notes


def test_an_expired_entry_holds_no_more_and_is_reported(tmp_path: Path) -> None:
    comparison = judged(tmp_path, "{symbol: gone, reason: r, expires: 2026-05-31}")
    assert comparison.suppressed == ()
    assert comparison.notes == ("suppression known.yaml, entry 1 expired on 2026-05-31 and is ignored",)
    assert judged(tmp_path, "{symbol: gone, reason: r, expires: 2026-06-01}").suppressed


def test_strict_mode_refuses_what_expired_or_gives_no_reason(tmp_path: Path) -> None:
    for entry, what in (("reason: r, expires: 2026-05-31", "expired on 2026-05-31"), ("label: l", "gives no reason")):
        with pytest.raises(PolicyError, match=what):
            suppressions(tmp_path, f"suppressions: [{{symbol: gone, {entry}}}]", strict=True)
    assert suppressions(tmp_path, "suppressions: [{symbol: gone, reason: r}]", strict=True).entries


@pytest.mark.parametrize(
    ("ranges", "applies"),
    [
        ("old_versions: '>=1.2, <1.10'", True),
        ("old_versions: '>1.9'", False),
        ("new_versions: '==2.0'", True),
        ("old_versions: '<2', new_versions: '!=2.0'", False),
    ],
)
def test_an_entry_holds_between_releases_in_its_ranges(tmp_path: Path, ranges: str, applies: bool) -> None:
    old, new = (
        msgspec.structs.replace(side, version=label) for side, label in zip(releases(), ("1.9", "2.0"), strict=True)
    )
    comparison = judged(tmp_path, f"{{symbol: gone, reason: r, {ranges}}}", (old, new))
    assert bool(comparison.suppressed) is applies
    assert not judged(tmp_path, f"{{symbol: gone, reason: r, {ranges}}}").suppressed, "no versions are known"


def test_the_digest_tells_which_entries_hold_between_two_versions(tmp_path: Path) -> None:
    held = suppressions(tmp_path, "suppressions: [{symbol: gone, reason: r, new_versions: '<2'}]")
    assert held.between("1.0", "1.1").digest == held.between("1.1", "1.2").digest
    assert held.between("1.0", "1.1").digest != held.between("1.1", "2.0").digest


def test_advice_about_accepted_breaks_is_not_given(tmp_path: Path) -> None:
    library = Library("shared", name="lib.so.1")
    old, new = snapshot({USE: uses(), GONE: uses()}, library=library), snapshot({USE: uses()}, library=library)
    assert [advice.kind for advice in compare(old, new).advice] == ["soname_bump_recommended"]
    accepted = judged(tmp_path, "{symbol: gone, reason: r}", (old, new))
    assert (accepted.findings, accepted.advice) == ((), ())


BAD = {
    "suppressions: [{}]": "selects nothing",
    "suppressions: [{reason: r, label: l}]": "selects nothing",
    "suppressions: [{symbol: a, becuase: r}]": "unknown key 'becuase'",
    "suppressions: [{symbol: a, change_kind: func_remved}]": "func_remved",
    "suppressions: [{symbol_pattern: 'a{99999}'}]": "regular expression",
    "suppressions: [{type_pattern: '[a'}]": "regular expression",
    "suppressions: [{symbol: ['']}]": "empty",
    "suppressions: [{symbol: a, expires: tomorrow}]": "tomorrow",
    "suppressions: [{symbol: a, old_versions: 1.2}]": "not a range",
    "suppressions: [{symbol: a, old_versions: '>=1.2 <2'}]": "not a range",
    "suppressions: {symbol: a}": "suppressions",
    "suppress: []": "",
    "": "not a mapping",
}


@pytest.mark.parametrize("text", BAD)
def test_suppressions_that_are_not_sound_are_refused_at_their_place(tmp_path: Path, text: str) -> None:
    with pytest.raises(PolicyError) as refused:
        suppressions(tmp_path, text)
    assert BAD[text] in refused.value.message
    assert "known.yaml" in refused.value.message
    assert refused.value.hint


def test_a_bound_must_be_a_version_of_the_policys_scheme(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="not a semver version"):
        suppressions(tmp_path, "suppressions: [{symbol: a, old_versions: '<1.2.x'}]", scheme="semver")


def test_thousands_of_names_are_looked_up_and_not_searched(tmp_path: Path) -> None:
    names = [f"f{number}" for number in range(5000)]
    path = tmp_path / "skip_symbols.txt"
    path.write_text("\n".join(names))
    held = load([str(path)], scheme="auto", today=TODAY, strict=True)
    old = snapshot({}, symbols={Name("function", name): Symbol("function") for name in [*names, "z"]})
    comparison = compare(old, snapshot({}, symbols={Name("function", "z"): CODE}), Ruling(suppressions=held))
    assert len(comparison.suppressed) == len(names)
    assert len(held._general) == 0


@pytest.mark.parametrize(("accepted", "breaks"), [(3, True), (4, False)])
def test_exports_renamed_together_are_accepted_one_by_one(accepted: int, breaks: bool, tmp_path: Path) -> None:
    names = ["u_open", "u_close", "u_read", "u_write"]
    sides = [snapshot({function(f"{each}_{number}"): uses() for each in names}) for number in (70, 71)]
    entries = ", ".join(f"{{symbol: {each}_70, reason: r}}" for each in names[:accepted])
    comparison = judged(tmp_path, entries, (sides[0], sides[1]))
    assert ("symbol_renamed_batch" in {finding.kind for finding in comparison.findings}) is breaks
    assert (comparison.verdict is Verdict.BREAKING) is breaks
