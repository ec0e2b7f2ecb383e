"""The table of promises names tests that there are, and leaves no row out."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parent
PAGE = FOLDER.parents[1] / "docs" / "mcp.md"
ROWS = {"A": 69, "C": 55, "G": 14, "Z": 16, "D": 20}


def rows() -> list[tuple[list[str], str]]:
    table = PAGE.read_text().partition("## What was promised")[2]
    lines = [line.strip("| ").split(" | ") for line in table.splitlines() if re.match(r"\| [ACGZD]\d", line)]
    return [(ids.split(", "), held) for ids, _, held in lines]


def test_every_row_is_there_once() -> None:
    told = [identity for ids, _ in rows() for identity in ids]
    assert sorted(told) == sorted(f"{letter}{number + 1}" for letter, count in ROWS.items() for number in range(count))


def test_every_test_that_is_named_is_there() -> None:
    for ids, held in rows():
        if match := re.fullmatch(r"`((?:\w+/)?test_\w+\.py)::(test_\w+)`", held):
            assert re.search(rf"^def {match[2]}\(", (FOLDER / match[1]).read_text(), re.MULTILINE), ids
        else:
            assert held.startswith(("waits: ", "not wanted: ")), ids


def test_every_tool_is_described() -> None:
    from abistore.mcp.tools.all import TOOLS, WRITING

    assert all(f"`{name}`" in PAGE.read_text() for name in (*TOOLS, *WRITING))
