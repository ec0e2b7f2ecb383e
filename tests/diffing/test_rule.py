"""What the registry takes from a rule's function."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

import pytest
from msgspec.structs import replace

from abistore.diffing.context import Note, Rule, load, rule, rules_for, subscriptions
from abistore.diffing.types.sameness import InnerField
from abistore.model.declarations import Added
from abistore.model.findings import Impact
from abistore.model.shapes import Field
from tests.subjects import assert_each

ADDED = load()["union_field_added"]


def test_a_kind_says_what_happened_why_it_matters_and_how_to_avoid_it() -> None:
    def law(kind: Rule) -> None:
        assert kind.title
        assert kind.why
        assert kind.fix

    assert_each(load().values(), law, named=attrgetter("kind"))


def test_a_docstring_without_a_remedy_is_refused() -> None:
    def wordless() -> None:
        """Something happened."""

    with pytest.raises(ValueError, match="wordless: the docstring needs a title"):
        print(replace(ADDED, check=wordless).title)


def test_a_rule_looks_at_each_delta_that_its_annotation_names() -> None:
    assert ADDED.subjects == ((Added, Field), (Added, InnerField))


def test_each_delta_that_rules_look_at_has_a_name_of_its_own() -> None:
    assert len(subscriptions()) == len({subject for each in load().values() for subject in each.subjects})


def test_rules_for_what_headers_show_are_not_asked_about_debug_information() -> None:
    headers = set(rules_for("source", (Added, Field)))
    assert set(rules_for("layout", (Added, Field))) == {each for each in headers if each.evidence != "source"}
    assert {each.kind for each in headers} == {each.kind for each in load().values() if (Added, Field) in each.subjects}


def test_a_rule_whose_parameter_is_of_a_type_that_is_not_imported_is_refused_by_its_module() -> None:
    with pytest.raises(ValueError, match=r"test_rule: the parameter of a rule is Added\[Vtable\], and 'Vtable' is not"):

        @rule(Impact.NOTICE, evidence="layout", element="types", action="added")
        def unimported(field: Added[Vtable]) -> Iterator[Note]:  # type: ignore[name-defined]  # noqa: F821
            """A title.

            Why.

            Fix: nothing.
            """
