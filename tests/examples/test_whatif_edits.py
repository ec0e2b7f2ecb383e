"""The edits that what-if is measured by: each applies to the released headers and says what it is."""

from __future__ import annotations

import pytest

from benchmarks.whatif import HEADERS, SOURCES, edits

pytestmark = pytest.mark.full


def test_every_edit_names_a_library_and_changes_its_header() -> None:
    found = edits()
    assert len(found) >= 20
    assert {each.library for each in found} == HEADERS.keys() == SOURCES.keys()
    assert len({(each.library, each.title) for each in found}) == len(found)
    assert all(old != new for each in found for old, new in (*each.header, *each.sources))
