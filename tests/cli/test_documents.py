"""The generated files that are kept are current."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.generate import WRITTEN

pytestmark = pytest.mark.fast


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.name)
def test_a_generated_file_is_current(path: Path) -> None:
    assert path.read_text() == WRITTEN[path](), "run python docs/generate.py"
