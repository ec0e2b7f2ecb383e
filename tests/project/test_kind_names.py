"""Own kinds of change are named by one table, and their former names still work wherever a user writes one."""

from __future__ import annotations

import runpy
from datetime import date
from pathlib import Path
from typing import NamedTuple

from msgspec import structs

from abistore.compare.established import ESTABLISHED, LATER
from abistore.compare.policies.conditions import OfKind
from abistore.compare.policies.formats.policy_file import read_policy
from abistore.compare.policies.formats.reading import load as read_suppressions
from abistore.compare.policies.vocabulary import resolve_kind
from abistore.compare.rule import load
from abistore.model.findings import Finding, Impact, named_now, order
from abistore.model.judging.identity import identity
from abistore.model.judging.kinds import FORMER_NAMES, first_name, former_names, name_now
from abistore.model.names import Name
from abistore.service.catalogue import explain
from tests.subjects import assert_each

DOCS = Path(__file__).parents[2] / "docs"
SUBJECTS, VERBS = (runpy.run_path(str(DOCS / "generate.py"))[table] for table in ("SUBJECTS", "VERBS"))
OWN = sorted(set(load()) - {*ESTABLISHED, *LATER})


class KindName(NamedTuple):
    prefix: str
    part: str
    verb: str


def parse(kind: str) -> KindName | None:
    subject, _, verb = kind.rpartition("_")
    for prefix in sorted(SUBJECTS, key=len, reverse=True):
        rest = f"{subject}_".removeprefix(f"{prefix}_")
        part = rest.removesuffix("_")
        if rest != f"{subject}_" and part in SUBJECTS[prefix][1] and verb in VERBS:
            return KindName(prefix, part, verb)
    return None


def test_an_own_kind_is_called_by_its_subject_and_a_verb() -> None:
    def law(kind: str) -> None:
        assert parse(kind) is not None, "name it by the tables in docs/generate.py"

    assert_each(OWN, law)


def test_there_are_ten_verbs_and_each_is_used() -> None:
    found = {name.verb for kind in OWN if (name := parse(kind))}
    assert len(VERBS) == 10
    assert found == set(VERBS)


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
        kind = FORMER_NAMES[former]
        assert kind in load()
        assert former not in load()
        assert former in load()[kind].aliases
        assert (name_now(former), first_name(kind), former_names(kind)) == (kind, former, (former,))
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
        assert override.conditions == entry.conditions == (OfKind((FORMER_NAMES[former],)),)

    assert_each(FORMER_NAMES, law)


def test_a_finding_of_a_former_name_is_the_finding_of_today() -> None:
    def law(former: str) -> None:
        before = Finding(former, Name("record", "geo::Point"), "x", "it differs", Impact.RISK, "layout")
        now = structs.replace(before, kind=FORMER_NAMES[former])
        assert named_now(before) == now
        assert identity(before) == identity(now)
        assert order(before) == order(now)
        cause = structs.replace(before, kind="type_size_changed", consequences=(before,))
        assert named_now(cause).consequences == (now,)

    assert_each(FORMER_NAMES, law)


def test_established_names_stay() -> None:
    assert not {*FORMER_NAMES, *FORMER_NAMES.values()} & {*ESTABLISHED, *LATER}
