"""Archives of small libraries, and calls of the command line on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.build import build_library
from tests.cli.conftest import abistore as abistore
from tests.cli.conftest import clean_environment as clean_environment
from tests.cli.conftest import database as database
from tests.cli.conftest import process as process

COUNT = 12


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A manifest of a dozen libraries, each of which exports a function of its own."""
    folder = tmp_path / "archive"
    folder.mkdir()
    for number in range(COUNT):
        source = f"int shared_by_all(int a) {{ return a; }}\nint own_{number}(int a) {{ return a + {number}; }}\n"
        built = build_library(source, soname=f"libn{number}.so.1", flags=("-O1",))
        (folder / f"libn{number}.so.1").write_bytes(built.read_bytes())
    lines = (f"libn{number}.so.1 1.{number}" for number in range(COUNT))
    (folder / "list").write_text("\n".join(lines))
    return folder / "list"
