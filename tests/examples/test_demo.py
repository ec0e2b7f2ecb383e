"""What README shows of the demo is what the demo prints, but for the dates."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from examples import histories
from examples.recipes import LZ4
from tests.releases import obtained

PROJECT = Path(__file__).parents[2]
DATE = re.compile(r"\d{4}-\d\d-\d\d")
JUDGED = "1.9.1"


def shown() -> tuple[list[str], list[str], str]:
    """The timeline, the beginning of the verdict and its last line, as README has them."""
    block = re.search(r"^examples/demo$.*?^```text\n(.*?)^```$", _prompts_removed(), re.MULTILINE | re.DOTALL)
    assert block, "README has no block of the demo's output"
    timeline, verdict = DATE.sub("DATE", block[1]).split("\n\n", 1)
    beginning, last = verdict.split("\n...\n")
    return timeline.splitlines(), beginning.splitlines(), last.strip()


def _prompts_removed() -> str:
    return (PROJECT / "README.md").read_text().replace("$ examples/demo", "examples/demo")


def test_readme_shows_what_the_demo_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histories, "DATABASE", tmp_path / "history.db")
    for version in LZ4.version_numbers():
        obtained(LZ4, version)
    histories.ingest(LZ4)
    timeline, beginning, last = shown()
    printed = histories.abistore("--db", histories.DATABASE, "history", LZ4.library)
    assert DATE.sub("DATE", printed).strip().splitlines() == timeline
    verdict = histories.abistore("--db", histories.DATABASE, "verdict", f"{LZ4.library}@{JUDGED}").strip().splitlines()
    assert verdict[: len(beginning)] == beginning
    assert verdict[-1] == last


def test_the_demo_asks_for_what_readme_shows() -> None:
    script = (PROJECT / "examples" / "demo").read_text()
    assert f"abistore history {LZ4.library}" in script
    assert f"abistore verdict {LZ4.library}@{JUDGED}" in script
