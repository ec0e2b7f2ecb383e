"""What the registry takes from a rule's function."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from abistore.compare.rule import load, rules_for, subscriptions
from abistore.compare.types.fields import InnerField
from abistore.model.deltas import Added
from abistore.model.shapes import Field

ADDED = load()["union_field_added"]


@pytest.mark.parametrize("kind", load())
def test_a_kind_says_what_happened_why_it_matters_and_how_to_avoid_it(kind: str) -> None:
    rule = load()[kind]
    assert rule.title
    assert rule.why
    assert rule.fix


def test_a_docstring_without_a_remedy_is_refused() -> None:
    def wordless() -> None:
        """Something happened."""

    with pytest.raises(ValueError, match="wordless: the docstring needs a title"):
        print(replace(ADDED, check=wordless).title)


def test_a_rule_looks_at_each_delta_that_its_annotation_names() -> None:
    assert ADDED.subjects == ((Added, Field), (Added, InnerField))


def test_each_delta_that_rules_look_at_has_a_name_of_its_own() -> None:
    assert len(subscriptions()) == len({subject for rule in load().values() for subject in rule.subjects})


def test_rules_for_what_headers_show_are_not_asked_about_debug_information() -> None:
    headers = set(rules_for("source", (Added, Field)))
    assert set(rules_for("layout", (Added, Field))) == {rule for rule in headers if rule.evidence != "source"}
    assert {rule.kind for rule in headers} == {rule.kind for rule in load().values() if (Added, Field) in rule.subjects}
