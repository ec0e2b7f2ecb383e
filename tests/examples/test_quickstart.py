"""Every command that the quickstart and README show gives an answer, in the order in which they are shown."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.build import build_library

PROJECT = Path(__file__).parents[2]
PAGES = ("docs/quickstart.md", "README.md")
ANSWERS = (0, 2, 4)
FIELDS = {"1.2.0": 1, "1.3.0": 1, "1.4.0": 2, "1.5.0": 2, "1.6.0-rc1": 3, "1.6.0": 3}
"""How many coordinates a point has in each release."""


def shown(page: str) -> list[str]:
    """The calls of ``abistore`` in a page's console blocks, without the remarks behind them."""
    blocks = re.findall(r"^```console\n(.*?)^```$", (PROJECT / page).read_text(), re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [line.removeprefix("$ ").partition("  #")[0].strip() for line in lines if line.startswith("$ abistore")]


def release(version: str) -> Path:
    names = ", ".join("xyz"[: FIELDS[version]])
    return build_library(
        f"struct point {{ int {names}; }};\nint norm(const struct point *p) {{ return p->x; }}\n",
        soname="libfoo.so.1",
        name="libfoo.so",
    )


@pytest.fixture
def workshop(tmp_path: Path) -> Path:
    """A checkout as the pages have it in mind."""
    for folder, version in (("old/1.2.0", "1.2.0"), ("old/1.3.0", "1.3.0"), ("old", "1.5.0"), ("new", "1.6.0")):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        shutil.copy(release(version), tmp_path / folder)
    (tmp_path / "build").mkdir()
    as_somebody = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], [*as_somebody, "commit", "-q", "--allow-empty", "-m", "empty"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    return tmp_path


def test_every_command_that_the_pages_show_gives_an_answer(workshop: Path) -> None:
    environment = {**os.environ, "ABISTORE_DB": str(workshop / "abi.db"), "PYTHON": sys.executable}
    commands = [command for page in PAGES for command in shown(page)]
    assert len(commands) > 20
    built = "1.6.0-rc1"
    for command in commands:
        if named := re.search(r"ingest build/libfoo\.so --version (\S+)", command):
            built = named[1]
        shutil.copy(release(built), workshop / "build")
        script = f'abistore() {{ "$PYTHON" -m abistore "$@"; }}\n{command}'
        done = subprocess.run(["bash", "-c", script], cwd=workshop, env=environment, capture_output=True, text=True)
        assert done.returncode in ANSWERS, f"{command}\n{done.stdout}{done.stderr}"
