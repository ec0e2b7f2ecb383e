"""A policy moves impacts and nothing else, by its most particular override, and never hides what weighs more."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import date
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from abistore.diffing.context import load
from abistore.diffing.judge.judged import Ruling, compare
from abistore.diffing.policy import PROFILES, STRICT, OfKind, Policy, profile
from abistore.diffing.policy_documents import find_policy, read_policy
from abistore.errors import PolicyError
from abistore.model.declarations import Name
from abistore.model.findings import Comparison, Impact, Verdict
from abistore.model.shapes import Field, Library, Named, Record
from abistore.model.snapshot import Location, Snapshot
from tests.diffing.model import CODE, INT, LONG, function, record, snapshot, struct, to, uses

TODAY = date(2026, 6, 1)
USE, GONE = function("use"), function("gone")
POINT, LINE = record("geo::Point"), record("geo::Line")


def releases(*, owner: Name = POINT, by_value: bool = False) -> tuple[Snapshot, Snapshot]:
    """A record grows by a field, and a function goes."""
    use = uses(Named(owner) if by_value else to(owner))
    old = snapshot({USE: use, GONE: uses(), owner: struct(INT, INT)})
    new = snapshot({USE: use, owner: struct(INT, INT, INT)})
    return old, new


def policy(tmp_path: Path, text: str, today: date = TODAY) -> Policy:
    path = tmp_path / "ours.yaml"
    path.write_text(text)
    return read_policy(path, today)


def impacts(comparison: Comparison) -> dict[str, Impact]:
    return {finding.kind: finding.impact for finding in comparison.findings}


def test_strict_abi_is_the_default_and_moves_nothing() -> None:
    comparison = compare(*releases())
    assert comparison == compare(*releases(), Ruling(profile("strict_abi")))
    assert comparison.policy == "strict_abi"
    rules = load()
    assert all(finding.impact is rules[finding.kind].impact for finding in comparison.findings)


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_names_kinds_that_there_are_and_makes_them_milder(name: str) -> None:
    rules = load()
    for override in profile(name).overrides:
        (condition,) = override.conditions
        assert isinstance(condition, OfKind)
        assert condition.kinds
        assert all(override.impact < rules[kind].impact for kind in condition.kinds)
        assert override.reason


def test_a_kind_of_the_plugin_profile_is_a_risk_and_tells_its_default() -> None:
    old = snapshot({USE: uses(INT)})
    new = snapshot({USE: msgspec.structs.replace(uses(INT), calling_convention="vectorcall")})
    assert compare(old, new).verdict is Verdict.BREAKING
    (finding,) = compare(old, new, Ruling(profile("plugin_abi"))).findings
    assert (finding.kind, finding.impact) == ("calling_convention_changed", Impact.RISK)
    assert finding.default_impact is Impact.BREAKING
    assert "toolchain" in finding.reason
    assert replace(finding, impact=Impact.BREAKING, default_impact=None, reason="") in compare(old, new).findings


def test_an_impact_by_kind_moves_findings_of_that_kind_with_the_reason(tmp_path: Path) -> None:
    ours = policy(tmp_path, "kinds: {func-removed: {impact: api-break, reason: nobody links to it}}")
    comparison = compare(*releases(), Ruling(ours))
    (gone,) = (finding for finding in comparison.findings if finding.kind == "func_removed")
    assert (gone.impact, gone.default_impact, gone.reason) == (Impact.API_BREAK, Impact.BREAKING, "nobody links to it")
    assert comparison.policy == "ours"


def test_an_alias_stands_for_its_kinds(tmp_path: Path) -> None:
    ours = policy(tmp_path, "kinds: {func_removed_elf_only: {impact: risk, reason: r}}")
    assert impacts(compare(*releases(), Ruling(ours)))["func_removed"] is Impact.RISK


def test_a_milder_cause_does_not_hide_what_follows_from_it(tmp_path: Path) -> None:
    ours = policy(tmp_path, "kinds: {type_field_added: {impact: compatible, reason: r}}")
    found = impacts(compare(*releases(), Ruling(ours)))
    assert found["type_field_added"] is Impact.COMPATIBLE
    assert found["type_size_changed"] is Impact.BREAKING


def test_a_category_covers_the_kinds_that_no_other_override_names(tmp_path: Path) -> None:
    ours = policy(
        tmp_path,
        """
        categories: {abi_breaking: {impact: risk, reason: r}}
        kinds: {func_removed: {impact: api_break, reason: r}}
        """,
    )
    comparison = compare(*releases(), Ruling(ours))
    assert impacts(comparison) == {
        "func_removed": Impact.API_BREAK,
        "type_field_added": Impact.RISK,
    }
    assert comparison.verdict is Verdict.API_BREAK


def test_the_most_particular_override_decides(tmp_path: Path) -> None:
    ours = policy(
        tmp_path,
        """
        overrides:
          - {type_pattern: "geo::P.*", impact: risk, reason: first}
          - {type: "struct geo::Point", impact: compatible, reason: second}
        frozen_namespaces: geo
        kinds: {type_field_added: {impact: api_break, reason: r}}
        """,
    )
    (grown,) = (each for each in compare(*releases(), Ruling(ours)).findings if each.kind == "type_field_added")
    assert (grown.impact, grown.reason) == (Impact.RISK, "first")


@pytest.mark.parametrize("pattern", ["geo", "geo::", "g*", "**"])
def test_nothing_may_change_in_a_frozen_namespace(tmp_path: Path, pattern: str) -> None:
    old = snapshot({USE: uses(to(POINT)), POINT: struct(INT, names="ab")})
    new = snapshot({USE: uses(to(POINT)), POINT: struct(INT, names="xy")})
    before = compare(old, new)
    assert before.verdict < Verdict.BREAKING
    ours = policy(tmp_path, f"frozen_namespaces: ['{pattern}']")
    assert compare(old, new, Ruling(ours)).verdict is Verdict.BREAKING


def test_an_internal_type_that_consumers_hold_by_pointer_has_no_weight(tmp_path: Path) -> None:
    ours = policy(tmp_path, "internal_namespaces: ['*::detail']")
    comparison = compare(*releases(owner=record("geo::detail::Impl")), Ruling(ours))
    assert {finding.kind: finding.impact for finding in comparison.findings if finding.name.kind == "record"} == {
        "type_field_added": Impact.COMPATIBLE
    }


def test_an_internal_type_that_a_public_function_takes_by_value_keeps_its_weight(tmp_path: Path) -> None:
    ours = policy(tmp_path, "internal_namespaces: ['*::detail']")
    comparison = compare(*releases(owner=record("geo::detail::Impl"), by_value=True), Ruling(ours))
    assert impacts(comparison)["type_field_added"] is Impact.BREAKING


def test_a_public_record_that_embeds_an_internal_one_keeps_its_weight(tmp_path: Path) -> None:
    inner = record("geo::detail::Impl")

    def side(impl: Record) -> Snapshot:
        outer = Record("struct", impl.size + 8, (Field("i", Named(inner), 0), Field("l", LONG, impl.size * 8)))
        return snapshot({USE: uses(to(LINE)), LINE: outer, inner: impl})

    ours = policy(tmp_path, "internal_namespaces: geo::detail")
    comparison = compare(side(struct(INT, INT)), side(struct(INT, INT, LONG)), Ruling(ours))
    assert comparison.verdict is Verdict.BREAKING


def test_a_header_selects_what_it_declares(tmp_path: Path) -> None:
    old, new = releases()
    new = msgspec.structs.replace(new, locations={POINT: Location("src/private/point.h", 3)})
    for header, impact in (("src/private/**", Impact.RISK), ("point.h", Impact.RISK), ("other.h", Impact.BREAKING)):
        ours = policy(tmp_path, f"overrides: [{{header: '{header}', impact: risk, reason: r}}]")
        assert impacts(compare(old, new, Ruling(ours)))["type_field_added"] is impact


def test_an_override_holds_through_the_day_on_which_it_expires(tmp_path: Path) -> None:
    text = "kinds: {func_removed: {impact: risk, reason: r, expires: 2026-06-01}}"
    assert impacts(compare(*releases(), Ruling(policy(tmp_path, text))))["func_removed"] is Impact.RISK
    late = policy(tmp_path, text, date(2026, 6, 2))
    comparison = compare(*releases(), Ruling(late))
    assert impacts(comparison)["func_removed"] is Impact.BREAKING
    assert any("expired on 2026-06-01" in note for note in comparison.notes)


def test_advice_follows_the_effective_impacts_and_is_never_invented(tmp_path: Path) -> None:
    lenient = policy(tmp_path, "categories: {abi_breaking: {impact: compatible, reason: r}}")
    use = uses(to(POINT))
    library = Library("shared", name="lib.so.1")
    old = snapshot({USE: use, GONE: uses(), POINT: struct(INT)}, library=library)
    new = snapshot({USE: use, POINT: struct(INT)}, library=library)
    assert [advice.kind for advice in compare(old, new).advice] == ["soname_bump_recommended"]
    assert not compare(old, new, Ruling(lenient)).advice
    severe = policy(tmp_path, "categories: {addition: {impact: breaking, reason: r}}")
    comparison = compare(new, old, Ruling(severe))
    assert comparison.verdict is Verdict.BREAKING
    assert not comparison.advice


def test_a_policy_cannot_give_advice_a_weight(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="is advice and does not affect the verdict"):
        policy(tmp_path, "kinds: {soname_bump_recommended: {impact: risk, reason: r}}")
    with pytest.raises(PolicyError, match="is advice"):
        policy(tmp_path, "overrides: [{change_kind: soname_bump_unnecessary, impact: risk, reason: r}]")
    library = Library("shared", name="lib.so.1")
    old, new = (snapshot({USE: uses()}, library=replace(library, name=name)) for name in ("lib.so.1", "lib.so.2"))
    severe = policy(tmp_path, "categories: {notice: {impact: breaking, reason: r}}")
    judged = compare(old, new, Ruling(severe))
    assert [(advice.kind, advice.impact) for advice in judged.advice] == [("soname_bump_unnecessary", Impact.ADVICE)]
    assert judged.verdict is Verdict.COMPATIBLE_WITH_RISK


def test_a_policys_digest_tells_what_it_says(tmp_path: Path) -> None:
    one = policy(tmp_path, "kinds: {func_removed: {impact: risk, reason: r}}")
    same = policy(tmp_path, "# again\nkinds:\n  func_removed:\n    reason: r\n    impact: risk\n")
    other = policy(tmp_path, "kinds: {func_removed: {impact: risk, reason: another}}")
    assert one.digest == same.digest != other.digest
    assert STRICT.digest == ""


BAD = {
    "kinds: {func_removd: {impact: risk, reason: r}}": ("func_removd", "did you mean func_removed"),
    "kinds: {func_removed: {impact: harmless, reason: r}}": ("impact", "one of: api_break"),
    "kinds: {func_removed: {impact: riskk, reason: r}}": ("impact", "did you mean risk"),
    "kinds: {func_removed: {impact: risk}}": ("reason: missing", ""),
    "kinds: {func_removed: {impact: risk, reason: ''}}": ("reason", ""),
    "kinds: {func_removed: {impact: risk, reason: ' '}}": ("reason is empty", ""),
    "kinds: {func_removed: {impact: risk, reason: r, expire: 2027-01-01}}": ("'expire'", "did you mean expires"),
    "kinds: {func_removed: {impact: risk, reason: r, expires: soon}}": ("soon", ""),
    "kinds: {func_removed: {impact: risk, reason: r}, func_removed: {impact: risk, reason: r}}": ("twice", ""),
    "kinds: {func_removed: {impact: risk, reason: r}, func-removed: {impact: risk, reason: r}}": (
        "repeats the kind",
        "",
    ),
    "kind: {}": ("'kind'", "did you mean kinds"),
    "base: strict": ("base", "did you mean strict_abi"),
    "categories: {abi_break: {impact: risk, reason: r}}": ("abi_break", "did you mean abi_breaking"),
    "overrides: [{impact: risk, reason: r}]": ("selects nothing", ""),
    "overrides: [{symbol: '', impact: risk, reason: r}]": ("empty", ""),
    "overrides: [{symbl: a, impact: risk, reason: r}]": ("'symbl'", "did you mean symbol"),
    "overrides: [{symbol_pattern: '(', impact: risk, reason: r}]": ("regular expression", ""),
    "overrides: [{change_kind: nothing_like_it, impact: risk, reason: r}]": ("nothing_like_it", "abistore changes"),
    "versioning: roman": ("versioning", ""),
    "internal_namespaces: ['']": ("empty", ""),
    "kinds: [": ("not valid YAML", ""),
    "- a": ("not a mapping", ""),
    "": ("not a mapping", ""),
    "kinds: &a {func_removed: *a}": ("aliases are not supported", ""),
    "[" * 100: ("nested too deep", ""),
    "name: !!python/object:os.system x": ("tags are not supported", ""),
    "name: !!timestamp x": ("tags are not supported", ""),
    "name: \x07": ("not valid YAML", ""),
    "? [a]\n: b": ("key that is not a word", ""),
}


@pytest.mark.parametrize("text", BAD)
def test_a_policy_that_is_not_sound_is_refused_and_told_why(tmp_path: Path, text: str) -> None:
    with pytest.raises(PolicyError) as refused:
        policy(tmp_path, text)
    what, hint = BAD[text]
    assert what in refused.value.message
    assert "ours.yaml" in refused.value.message
    assert hint in refused.value.hint
    assert refused.value.hint


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_policy_that_is_there_and_cannot_be_read_is_not_called_missing(
    make: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make(Path("ours"))
    with pytest.raises(PolicyError, match=r"ours: (is not a regular file|cannot be read)") as refused:
        find_policy("ours", TODAY)
    assert refused.value.hint


def test_a_policy_that_is_neither_a_profile_nor_a_file_is_refused() -> None:
    with pytest.raises(PolicyError) as refused:
        find_policy("strict_aby", TODAY)
    assert "did you mean strict_abi" in refused.value.hint


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00", b"a" * ((4 << 20) + 1)])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "p.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(PolicyError, match=r"p\.yaml"):
        read_policy(path, TODAY)


def test_what_has_no_weight_gets_none_from_a_namespace_and_some_from_its_category(tmp_path: Path) -> None:
    use = Name("function", "_ZN3own4workEv")
    foreign = Name("function", "_ZNSt6vectorIiSaIiEE9push_backEOi")
    weak = msgspec.structs.replace(CODE, weak=True)
    old, new = snapshot({}, symbols={use: CODE, foreign: weak}), snapshot({}, symbols={use: CODE})
    for text, verdict in (
        ("internal_namespaces: ['**']", Verdict.NO_CHANGE),
        ("frozen_namespaces: ['**']", Verdict.NO_CHANGE),
        ("categories: {potential_breaking: {impact: breaking, reason: r}}", Verdict.NO_CHANGE),
        ("categories: {notice: {impact: risk, reason: gated}}", Verdict.COMPATIBLE_WITH_RISK),
    ):
        assert compare(old, new, Ruling(policy(tmp_path, text))).verdict is verdict, text
