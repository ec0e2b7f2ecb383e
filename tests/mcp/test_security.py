"""The page about security names tests that there are, for every threat."""

from __future__ import annotations

import re
from operator import itemgetter
from pathlib import Path

import pytest

from tests.subjects import assert_each

pytestmark = pytest.mark.fast

PROJECT = Path(__file__).parents[2]
PAGE = PROJECT / "docs" / "reference" / "mcp-security.md"
THREATS = [
    [cell.strip() for cell in line.strip("| ").split(" | ")]
    for line in PAGE.read_text().splitlines()
    if line.startswith("| ") and not line.startswith("| threat")
]


def test_every_kind_of_attacker_is_considered() -> None:
    headings = re.findall(r"^### (.+)$", PAGE.read_text(), re.MULTILINE)
    assert len(headings) == 6
    assert PAGE.read_text().count("\nOpen: ") == len(headings)
    assert len(THREATS) > 30


def test_a_threat_has_a_defence_and_the_test_that_holds_it() -> None:
    def law(threat: list[str]) -> None:
        _, defence, tests = threat
        assert defence
        named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", tests)
        assert named and len(named) == tests.count("::")
        for file, test in named:
            assert f"\ndef {test}(" in (PROJECT / file).read_text(), test

    assert_each(THREATS, law, named=itemgetter(0))
