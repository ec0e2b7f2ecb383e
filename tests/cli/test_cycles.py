"""Commands leave the collection of reference cycles as they found it."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from abistore.cli.main import run
from tests.build import build_library

pytestmark = pytest.mark.fast


@pytest.mark.parametrize("command", ["export", "compare"])
def test_a_command_leaves_the_collection_of_cycles_on(command: str, tmp_path: Path) -> None:
    library = str(build_library("int answer(void) { return 42; }"))
    last = ["-o", str(tmp_path / "answer.json")] if command == "export" else [library]
    assert run([command, library, *last]) == 0
    assert gc.isenabled()
