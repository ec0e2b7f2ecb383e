"""Every rule is asked about each of its subjects, with evidence that it looks at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec
import pytest

from abistore.diffing.context import Rule, load, rules_for
from abistore.diffing.judge import judged as findings
from abistore.diffing.parts import Renaming
from abistore.model.declarations import Changed, Facet
from tests.cases import RULES, cases, judged

Subject = tuple[type, type]


def asked_in_the_cases(monkeypatch: pytest.MonkeyPatch) -> dict[Subject, set[Facet]]:
    """By the deltas of all cases, the facets that show them."""
    found: dict[Subject, set[Facet]] = {}

    def noted(facet: Facet, subject: Subject) -> tuple[Rule, ...]:
        found.setdefault(subject, set()).add(facet)
        return rules_for(facet, subject)

    monkeypatch.setattr(findings, "rules_for", noted)
    for path in sorted(RULES.glob("*.md")):
        for case in cases(path):
            judged(case)
    return found


def never_asked(rules: Mapping[str, Rule], asked: Mapping[Subject, set[Facet]]) -> Iterator[str]:
    for rule in rules.values():
        for subject in rule.subjects:
            facets = asked.get(subject, set())
            if not facets or (rule.evidence == "source" and "source" not in facets):
                delta, shape = (each.__name__ for each in subject)
                yield f"{rule.kind} is never asked about {delta}[{shape}] with the evidence {rule.evidence}"


def test_every_rule_is_asked_about_each_of_its_subjects(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = asked_in_the_cases(monkeypatch)
    assert list(never_asked(load(), asked)) == []
    of_exports = msgspec.structs.replace(load()["namespace_renamed"], subjects=((Changed, Renaming),))
    told = "namespace_renamed is never asked about Changed[Renaming] with the evidence source"
    assert list(never_asked({of_exports.kind: of_exports}, asked)) == [told]
