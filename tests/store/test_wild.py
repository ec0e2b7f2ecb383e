"""What is let in is stored by each database alike."""

from __future__ import annotations

import pytest

from tests.laws.test_wild import assert_stored

pytestmark = pytest.mark.full


def test_whatever_is_let_in_can_be_stored_and_has_a_history(address: str) -> None:
    assert_stored(address, 7)
