"""Laws of the profiles, over all cases: what is milder under one is listed here, and no break of a layout is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pytest

from abistore.diffing.judge.judged import Ruling, compare
from abistore.diffing.policy import PROFILES, profile
from abistore.model.findings import Finding, Impact, Verdict
from abistore.model.shapes import Field, Record
from tests.cases import RULES, cases, snapshot_of
from tests.diffing.model import INT, function, record, snapshot, to, uses

MILDER: Mapping[tuple[str, str], tuple[Impact, str]] = {
    ("sdk_vendor", "enum_member_renamed"): (Impact.RISK, "the value stays; sources are adapted; it may mean another"),
    ("sdk_vendor", "field_renamed"): (Impact.RISK, "the storage stays; sources are adapted; it may mean another"),
    ("sdk_vendor", "field_access_changed"): (Impact.COMPATIBLE, "no layout or call depends on access"),
    ("sdk_vendor", "method_access_changed"): (Impact.COMPATIBLE, "no layout or call depends on access"),
    ("sdk_vendor", "param_default_value_removed"): (Impact.COMPATIBLE, "callers have compiled the value in"),
    ("sdk_vendor", "removed_const_overload"): (Impact.COMPATIBLE, "the symbol that went has a finding of its own"),
    ("plugin_abi", "calling_convention_changed"): (Impact.RISK, "the toolchain's doing: plugins are built by it too"),
}
"""What a profile may do to a finding, and why that hides nothing from its users."""

LENIENT = [each for each in PROFILES if each != "strict_abi"]


def every(findings: Iterable[Finding]) -> Iterator[Finding]:
    for finding in findings:
        yield finding
        yield from every(finding.consequences)


@pytest.mark.parametrize("name", LENIENT)
def test_a_profile_makes_nothing_milder_that_is_not_listed(name: str) -> None:
    ruling, seen = Ruling(profile(name)), set()
    for path in sorted(RULES.glob("*.md")):
        for case in cases(path):
            sides = snapshot_of(case, "old"), snapshot_of(case, "new")
            strict, judged = compare(*sides), compare(*sides, ruling)
            moved = {each.kind: each.impact for each in every(judged.findings) if each.default_impact is not None}
            assert all(MILDER[name, kind][0] is impact for kind, impact in moved.items()), case.label
            if strict.verdict is Verdict.BREAKING and judged.verdict is not Verdict.BREAKING:
                assert "calling_convention_changed" in moved, f"{case.label} breaks, and {name} hides it"
            seen |= moved.keys()
    assert {kind for listed, kind in MILDER if listed == name} == seen


def pair(first: str, second: str) -> Record:
    return Record("struct", 8, (Field(first, INT, 0), Field(second, INT, 32)))


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("after", [("height", "width"), ("depth", "width"), ("height", "depth")])
def test_fields_that_change_places_break_under_every_profile(name: str, after: tuple[str, str]) -> None:
    use, size = function("use"), record("size")
    old = snapshot({use: uses(to(size)), size: pair("width", "height")})
    new = snapshot({use: uses(to(size)), size: pair(*after)})
    assert compare(old, new, Ruling(profile(name))).verdict is Verdict.BREAKING


@pytest.mark.parametrize("name", PROFILES)
def test_fields_that_may_have_changed_places_under_other_names_are_never_compatible(name: str) -> None:
    use, size = function("use"), record("size")
    old = snapshot({use: uses(to(size)), size: pair("width", "height")})
    new = snapshot({use: uses(to(size)), size: pair("rows", "columns")})
    assert compare(old, new, Ruling(profile(name))).verdict >= Verdict.COMPATIBLE_WITH_RISK
