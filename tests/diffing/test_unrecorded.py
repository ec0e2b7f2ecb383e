"""Facts that one side's input never records are no changes, and the comparison says which they are."""

from __future__ import annotations

import msgspec
import pytest

from abistore.diffing.judge.judged import compare
from abistore.model.declarations import Facet
from abistore.model.findings import NOT_RECORDED, Verdict
from abistore.model.format_gaps import WORDS, Cut, common_ground
from abistore.model.snapshot import Snapshot
from abistore.model.snapshot_files import from_json, to_json
from abistore.service.judging import EvidenceRequirement, judge, lacks
from tests.diffing.test_every_fact import FACETS, MUTANTS, mutated, snapshot
from tests.subjects import assert_each

FULL = snapshot(FACETS)
SOME = frozenset({"Function.noreturn", "Import", "Record.passing", "Symbol.size", "Field.bit_size"})


def without(facts: frozenset[str], *, facets: tuple[Facet, ...] = ("symbol", "layout")) -> Snapshot:
    """What an input that does not record ``facts`` says of the same library."""
    cut = Cut(facts)
    entries = {facet: cut.table(held) if facet in facets else held for facet, held in FULL.entries.items()}
    evidence = tuple(
        msgspec.structs.replace(each, unrecorded=tuple(sorted(facts))) if each.facet in facets else each
        for each in FULL.evidence
    )
    return msgspec.structs.replace(FULL, entries=entries, evidence=evidence)


@pytest.mark.parametrize("lacking_side", ["old", "new"])
def test_a_fact_that_one_side_does_not_record_is_no_change(lacking_side: str) -> None:
    def law(fact: str) -> None:
        less = without(frozenset({fact}))
        found = compare(less, FULL) if lacking_side == "old" else compare(FULL, less)
        assert (found.verdict, found.findings) == (Verdict.NO_CHANGE, ())
        told = [each for each in found.not_checked if each.reason == NOT_RECORDED]
        assert {each.side for each in told} == {lacking_side}
        assert not [each.detail for each in told if WORDS[fact] not in each.detail]

    assert_each(sorted(WORDS), law)


def test_what_differs_in_recorded_facts_is_told_as_before() -> None:
    less = without(SOME)

    def law(label: str) -> None:
        other = mutated(label)
        old, new = common_ground(less, other)
        found = compare(less, other).findings
        if old.entries == new.entries:
            assert not found
        else:
            assert found or not compare(FULL, other).findings

    assert_each([label for label, (facet, _, _) in MUTANTS.items() if facet != "source"], law)


def test_two_inputs_that_lack_the_same_are_compared_as_they_are() -> None:
    less = without(SOME)
    assert common_ground(less, less) == (less, less)
    told = [each for each in compare(less, less).not_checked if each.reason == NOT_RECORDED]
    assert {(each.side, each.facet) for each in told} == {("both", "symbol"), ("both", "layout")}


def test_no_evidence_gate_takes_an_input_that_lacks_facts_for_the_library_itself() -> None:
    less = without(SOME)
    report = judge(FULL, less)
    for require in (EvidenceRequirement(("layout",)), EvidenceRequirement(no_less=True)):
        assert any("imports" in lack.sentence for lack in lacks(report, require))
    assert not lacks(judge(less, less), EvidenceRequirement(no_less=True))
    assert not lacks(judge(less, FULL), EvidenceRequirement(no_less=True))


def test_a_fact_that_this_abistore_does_not_know_takes_nothing_out() -> None:
    assert (
        Cut(frozenset({"Record.colour", "Planet", "Planet.size"})).table(FULL.entries["layout"])
        == FULL.entries["layout"]
    )


def test_what_is_not_recorded_is_kept_in_files() -> None:
    less = without(SOME)
    assert from_json(to_json(less)) == less
    assert b"unrecorded" not in to_json(FULL)


def test_a_pattern_that_cannot_be_read_takes_nothing_out() -> None:
    symbols = FULL.entries["symbol"]
    assert Cut(frozenset({"exports ~("})).table(symbols) == symbols
    assert len(Cut(frozenset({"exports ~(", "exports ~.*"})).table(symbols)) < len(symbols)
