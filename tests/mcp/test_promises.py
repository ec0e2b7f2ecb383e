"""The checklist that the server was built from: each row has the test that holds it, or why there is none."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from abistore.mcp.tools.all import TOOLS, WRITING

FOLDER = Path(__file__).parent
PAGE = FOLDER.parents[1] / "docs" / "reference" / "mcp.md"
ROWS = {"A": 69, "C": 55, "G": 14, "Z": 16, "D": 20}
"""How many rows each of the five sources has, from which the checklist was taken."""

with (FOLDER / "seeds.csv").open(newline="") as file:
    SEEDS = list(csv.DictReader(file))


def test_every_row_is_there_once() -> None:
    assert [each["row"] for each in SEEDS] == [
        f"{letter}{n + 1}" for letter, count in ROWS.items() for n in range(count)
    ]
    assert all(each["promise"] for each in SEEDS)


@pytest.mark.parametrize("seed", SEEDS, ids=[each["row"] for each in SEEDS])
def test_every_test_that_is_named_is_there(seed: dict[str, str]) -> None:
    if match := re.fullmatch(r"((?:\w+/)?test_\w+\.py)::(test_\w+)", seed["test"]):
        assert re.search(rf"^def {match[2]}\(", (FOLDER / match[1]).read_text(), re.MULTILINE)
    else:
        assert seed["test"].startswith(("waits: ", "not wanted: "))


def test_every_tool_is_described() -> None:
    assert all(f"`{name}`" in PAGE.read_text() for name in (*TOOLS, *WRITING))


def test_the_bounds_are_one_table() -> None:
    """An empty line had split it, and its second half was no table."""
    bounds = PAGE.read_text().partition("## Bounds")[2].partition("\n## ")[0]
    tables = [block for block in bounds.split("\n\n") if block.lstrip().startswith("|")]
    assert len(tables) == 1 and tables[0].count("\n| `--") == 11
