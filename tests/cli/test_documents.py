"""The documents that derive from the command line are current."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.fast

DOCS = Path(__file__).parents[2] / "docs"
GENERATE = runpy.run_path(str(DOCS / "generate.py"))
DOCUMENTS = GENERATE["DOCUMENTS"]


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_a_generated_document_is_current(name: str) -> None:
    assert (DOCS / name).read_text() == DOCUMENTS[name](), "run python docs/generate.py"


def test_the_deltas_that_rules_look_at_are_those_that_the_package_carries() -> None:
    assert GENERATE["SUBSCRIPTIONS"].read_text() == GENERATE["subscriptions_file"](), "run python docs/generate.py"


def test_the_kinds_that_the_package_carries_are_those_of_the_rules() -> None:
    assert GENERATE["KINDS"].read_text() == GENERATE["kinds_file"](), "run python docs/generate.py"
