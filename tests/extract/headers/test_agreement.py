"""Two readers, one truth: debug information and headers of one library agree wherever both see."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.extract.headers.agreement import ARM, I386, X86_64, Platform, both_readers
from tests.extract.headers.sources import C_SOURCES, CPP_SOURCES


@pytest.mark.parametrize("platform", [X86_64, I386, ARM], ids=lambda each: each.triple)
@pytest.mark.parametrize("shows", C_SOURCES)
def test_readers_agree_on_c(shows: str, platform: Platform, tmp_path: Path) -> None:
    readers = both_readers(*C_SOURCES[shows], tmp_path, "c", platform)
    assert len(readers.shared) > 4
    assert readers.differences == []


@pytest.mark.parametrize("platform", [X86_64, I386], ids=lambda each: each.triple)
@pytest.mark.parametrize("shows", CPP_SOURCES)
def test_readers_agree_on_cpp(shows: str, platform: Platform, tmp_path: Path) -> None:
    readers = both_readers(*CPP_SOURCES[shows], tmp_path, "c++", platform)
    assert len(readers.shared) > 5
    assert readers.differences == []
