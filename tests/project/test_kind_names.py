"""Own kinds of change are named by one table, and their former names still work wherever a user writes one."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec import structs

from abistore.diffing.context import load
from abistore.diffing.established import ESTABLISHED, LATER
from abistore.diffing.policy import OfKind, resolve_kind
from abistore.diffing.policy_documents import read_policy
from abistore.diffing.suppression_files import load as read_suppressions
from abistore.errors import PolicyError
from abistore.model.declarations import Name
from abistore.model.findings import Finding, Impact, identity, named_now, order
from abistore.model.kind_names import (
    FOLDED_NAMES,
    FORMER_NAMES,
    first_name,
    former_names,
    is_meant,
    kind_of,
    name_now,
    variant_of,
)
from abistore.service.kinds import explain
from docs.kinds import SUBJECTS, VERBS
from tests.subjects import assert_each

OWN = sorted(set(map(kind_of, load())) - {*ESTABLISHED, *LATER})


class KindName(NamedTuple):
    prefix: str
    part: str
    verb: str


def parse(kind: str) -> KindName | None:
    verb = max((each for each in VERBS if kind.endswith(f"_{each}")), key=len, default="")
    subject = kind.removesuffix(f"_{verb}")
    for prefix in sorted(SUBJECTS, key=len, reverse=True):
        rest = f"{subject}_".removeprefix(f"{prefix}_")
        part = rest.removesuffix("_")
        if rest != f"{subject}_" and part in SUBJECTS[prefix][1] and verb:
            return KindName(prefix, part, verb)
    return None


def test_an_own_kind_is_called_by_its_subject_and_a_verb() -> None:
    def law(kind: str) -> None:
        assert parse(kind) is not None, "name it by the tables in docs/kinds.py"

    assert_each(OWN, law)


def test_each_verb_is_used() -> None:
    assert {name.verb for kind in OWN if (name := parse(kind))} == set(VERBS)


def test_a_variant_is_called_by_words() -> None:
    def law(name: str) -> None:
        kind, variant = kind_of(name), variant_of(name)
        assert re.fullmatch("[a-z0-9]+(_[a-z0-9]+)*", variant)
        assert load()[name].check.__name__ == f"{kind}_{variant}"

    assert_each([name for name in load() if variant_of(name)], law)


def test_the_project_has_few_kinds_of_its_own() -> None:
    assert len(OWN) <= 90
    assert len({kind_of(name) for name in load()}) <= 320


def test_a_word_means_the_plain_variant_alone() -> None:
    assert resolve_kind("type_size_changed", "here") == ("type_size_changed",)
    assert resolve_kind("type_size_changed.handle", "here") == ("type_size_changed.handle",)
    assert resolve_kind("type-size-changed.*", "here") == ("type_size_changed", "type_size_changed.handle")


def test_a_kind_without_a_plain_variant_is_refused_with_its_variants() -> None:
    with pytest.raises(PolicyError, match="'type_ability_removed' has variants only") as raised:
        resolve_kind("type_ability_removed", "here")
    assert "type_ability_removed.copy" in raised.value.hint
    assert "type_ability_removed.copy" in resolve_kind("type_ability_removed.*", "here")


def test_a_filter_shows_what_a_policy_with_the_same_word_would_cover() -> None:
    def law(name: str) -> None:
        for word in (name, f"{kind_of(name)}.*", *former_names(name)):
            assert is_meant(word, name)
        assert not is_meant(kind_of(name), name) or not variant_of(name)

    assert_each(load(), law)


def test_a_name_that_other_tools_use_for_two_variants_means_both() -> None:
    both = ("virtual_method_added.inner", "virtual_method_added.trailing")
    assert resolve_kind("virtual_method_added", "here") == both


def test_the_table_has_no_subject_that_no_kind_is_about() -> None:
    found = {name[:2] for kind in OWN if (name := parse(kind))}
    assert found == {(prefix, part) for prefix, (_, parts) in SUBJECTS.items() for part in parts}


def test_a_name_that_the_table_does_not_make_is_refused() -> None:
    assert parse("record_size_changed") is None
    assert parse("field_trailing_appended") is None
    assert parse("field_leading_added") is None
    assert parse("added") is None


def test_a_former_name_means_the_kind_of_today() -> None:
    def law(former: str) -> None:
        kind = name_now(former)
        assert kind in load()
        assert former not in load()
        assert former in load()[kind].aliases
        assert first_name(kind) == first_name(former) == former_names(kind)[0]
        assert resolve_kind(former, "here") == (kind,)
        assert explain(former).kind == kind
        assert explain(former.replace("_", "-")).kind == kind

    assert_each(FORMER_NAMES, law)


def test_a_policy_and_a_suppression_may_say_a_former_name(tmp_path: Path) -> None:
    today, policy, known = date(2026, 6, 1), tmp_path / "ours.yaml", tmp_path / "known.yaml"

    def law(former: str) -> None:
        policy.write_text(f"kinds: {{{former}: {{impact: risk, reason: known}}}}\n")
        known.write_text(f"suppressions: [{{change_kind: {former}, reason: known}}]\n")
        (override,) = read_policy(policy, today).overrides
        (entry,) = read_suppressions([str(known)], scheme="auto", today=today, strict=False).entries
        assert override.conditions == entry.conditions == (OfKind((name_now(former),)),)

    assert_each(FORMER_NAMES, law)


def test_a_finding_of_a_former_name_is_the_finding_of_today() -> None:
    def law(former: str) -> None:
        before = Finding(former, Name("record", "geo::Point"), "x", "it differs", Impact.RISK, "layout")
        now = structs.replace(before, kind=name_now(former))
        assert named_now(before) == now
        assert identity(before) == identity(now)
        assert order(before) == order(now)
        cause = structs.replace(before, kind="type_size_changed", consequences=(before,))
        assert named_now(cause).consequences == (now,)

    assert_each(FORMER_NAMES, law)


def test_established_names_stay() -> None:
    assert not {*FORMER_NAMES, *FORMER_NAMES.values()} & {*ESTABLISHED, *LATER}


def test_no_kind_has_two_former_names_at_once() -> None:
    assert len(set(FORMER_NAMES.values())) == len(FORMER_NAMES)


def test_a_variant_that_is_no_more_leads_to_the_kind_of_its_findings() -> None:
    kinds = {*load()}
    assert not kinds & FOLDED_NAMES.keys()
    assert kinds >= set(FOLDED_NAMES.values())
    assert {name_now(each) for each in FOLDED_NAMES} == set(FOLDED_NAMES.values())
