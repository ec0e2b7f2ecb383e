"""The generated page of each kind: one a kind, none left over, with its case."""

from __future__ import annotations

import re
from pathlib import Path

from abistore.compare.rule import load
from abistore.report.case import labelled

PAGES = Path(__file__).parents[2] / "docs" / "kinds"


def test_each_kind_has_a_page_and_no_page_is_left_over() -> None:
    assert {page.stem for page in PAGES.glob("*.md")} == {*load(), "index"}, "run python docs/generate.py"


def test_the_index_links_every_page() -> None:
    links = re.findall(r"\]\((\w+)\.md\)", (PAGES / "index.md").read_text())
    assert sorted(links) == sorted(load())


def test_a_page_tells_what_happens_and_how_to_mend_it() -> None:
    page = (PAGES / "func_removed.md").read_text()
    for part in (
        "# func_removed",
        "breaking · evidence: symbol",
        "**Fix:** ",
        "## Example",
        "Before:",
        "## Stays silent",
    ):
        assert part in page


def test_blocks_of_a_case_are_labelled() -> None:
    text = '```cpp old flags="-g -O2" soname=x\nint a;\n```\n\n```map new\nV1 { };\n```\n\n```findings\nnone\n```'
    assert labelled(text) == (
        "Before (`-g -O2`):\n\n```cpp\nint a;\n```\n\nAfter (the version script):\n\n```text\nV1 { };\n```\n\n"
        "What abistore finds:\n\n```text\nnone\n```"
    )


def test_findings_are_wrapped_and_long_lists_of_them_cut() -> None:
    long = "notice  kind  " + ", ".join(f"name{number}" for number in range(200))
    source = "int " + "a" * 200 + ";"
    shown = labelled(f"```c old\n{source}\n```\n\n```findings\nnone\n{long}\n```", 80).splitlines()
    assert source in shown
    findings = shown[shown.index("```text") + 1 : -1]
    assert findings[0] == "none"
    assert len(findings) == 4
    assert max(map(len, findings)) <= 80
    assert findings[-1].endswith(", ...")
