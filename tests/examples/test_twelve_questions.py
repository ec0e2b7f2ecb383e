"""The page with twelve questions has the answers that the commands give today."""

from __future__ import annotations

import pytest

from examples.two_libraries.questions import PAGE, page
from tests.examples.test_quickstart import CHANGING

pytestmark = pytest.mark.full


def test_every_question_is_answered_as_the_page_shows() -> None:
    written, asked = (CHANGING.sub("#", text) for text in (PAGE.read_text(), page()))
    assert written == asked
