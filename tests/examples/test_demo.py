"""What README shows of the demo, and of an agent that asks about it, is what they print, but for digests."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from examples import histories
from examples.agents.exchange import exchange
from examples.obtain import source
from examples.recipes import LZ4
from tests.releases import obtained

pytestmark = pytest.mark.full

PROJECT = Path(__file__).parents[2]
DIGITS = re.compile(r"\b[0-9a-f]{8,}\b")
JUDGED = "1.9.1"


def shown() -> tuple[list[str], list[str], str]:
    """The timeline, the beginning of the verdict and its last line, as README has them."""
    block = re.search(r"^examples/demo --install$.*?^```text\n(.*?)^```$", _prompts_removed(), re.MULTILINE | re.DOTALL)
    assert block, "README has no block of the demo's output"
    timeline, verdict = block[1].split("\n\n", 1)
    beginning, last = verdict.split("\n...\n")
    return timeline.splitlines(), beginning.splitlines(), last.strip()


def shown_exchange() -> list[str]:
    """The exchange of an agent with the history, as README has it."""
    block = re.search(r"^```text\n(person .*?)^```$", (PROJECT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert block, "README has no exchange"
    return DIGITS.sub("DIGITS", block[1]).splitlines()


def _prompts_removed() -> str:
    return (PROJECT / "README.md").read_text().replace("$ examples/demo", "examples/demo")


def test_readme_shows_what_the_demo_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(histories, "DATABASE", tmp_path / "history.db")
    for version in LZ4.version_numbers():
        obtained(LZ4, version)
    histories.ingest(LZ4)
    timeline, beginning, last = shown()
    printed = histories.abistore("--db", histories.DATABASE, "history", LZ4.library)
    assert printed.strip().splitlines() == timeline
    verdict = histories.abistore("--db", histories.DATABASE, "verdict", f"{LZ4.library}@{JUDGED}").strip().splitlines()
    assert verdict[: len(beginning)] == beginning
    assert verdict[-1] == last
    assert shown_exchange() == [DIGITS.sub("DIGITS", line) for line in exchange(histories.DATABASE)]


def test_the_day_of_a_release_is_that_of_its_sdist() -> None:
    for version, carrier in LZ4.releases:
        obtained(LZ4, version)
        made = (source(LZ4.origin, LZ4.package, carrier) / "PKG-INFO").stat().st_mtime
        assert datetime.fromtimestamp(made, UTC).date().isoformat() == dict(LZ4.released)[version]


def test_the_demo_asks_for_what_readme_shows() -> None:
    script = (PROJECT / "examples" / "demo").read_text()
    assert f"abistore history {LZ4.library}" in script
    assert f"abistore verdict {LZ4.library}@{JUDGED}" in script
