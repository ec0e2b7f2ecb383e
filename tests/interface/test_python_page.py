"""The examples of the page about Python are run, print what the page says, and satisfy a strict type checker."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.build import build_library

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "python.md"
LONGEST = 14
"""Lines of one example."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the two releases that the page speaks of."""
    folder = tmp_path_factory.mktemp("workshop")
    for release, fields in (("old", "int x, y;"), ("new", "int x, z, y;")):
        source = f"struct point {{ {fields} }};\nint norm(const struct point *p) {{ return p->x; }}\n"
        (folder / release).mkdir()
        shutil.copy(build_library(source, soname="libfoo.so.1", name="libfoo.so"), folder / release)
    return folder


def test_every_example_prints_what_the_page_says(workshop: Path) -> None:
    environment = {**os.environ, "ABISTORE_DB": "abi.db"}
    environment.pop("ABISTORE_BUSY_SECONDS", None)
    assert len(blocks("python")) == len(blocks("text")) > 5
    for number, (code, printed) in enumerate(zip(blocks("python"), blocks("text"), strict=True)):
        if number == 1:
            subprocess.run([sys.executable, "-m", "abistore", "db", "init"], cwd=workshop, env=environment, check=True)
        call = [sys.executable, "-W", "error", "-c", code]
        done = subprocess.run(call, cwd=workshop, env=environment, capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, printed, ""), code


def test_examples_are_short() -> None:
    assert max(len(code.strip().splitlines()) for code in blocks("python")) <= LONGEST
