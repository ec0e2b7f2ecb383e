"""The official conformance suite of MCP, run against our server with fixtures of its own, in both eras."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from abistore.mcp.listening import add
from tests.mcp.clients.installed import node
from tests.mcp.over_http import served

pytestmark = pytest.mark.full

FOLDER = Path(__file__).parent
EXPECTED: dict[str, dict[str, str]] = yaml.safe_load((FOLDER / "expected-failures.yml").read_text())
SCENARIOS = {"2025-11-25": 33, "2026-07-28": 40}
"""How many the suite runs. One that is left out would be noticed by nobody."""


@pytest.fixture(scope="module")
def url(stored: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the server is that has the suite's fixtures too."""
    node()
    folder = tmp_path_factory.mktemp("conformance")
    add(folder / "tokens", "suite", write=False)
    token = (folder / "tokens").read_text().split()[0]
    launch = ["-W", "ignore", "-m", "tests.mcp.conformance.server"]
    with served(folder, stored, launch=launch, CONFORMANCE_TOKEN=token, PYTHONPATH=str(FOLDER.parents[2])) as found:
        yield found.url


@pytest.mark.parametrize("revision", list(EXPECTED))
def test_the_conformance_suite_finds_nothing_but_what_is_expected(revision: str, url: str, tmp_path: Path) -> None:
    program, packages = node()
    baseline = tmp_path / "expected.yml"
    baseline.write_text(yaml.safe_dump({"server": list(EXPECTED[revision])}))
    suite = packages / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    asked = ["--suite", "all", "--spec-version", revision, "--expected-failures", str(baseline)]
    done = subprocess.run(
        [program, str(suite), "server", "--url", url, *asked], capture_output=True, text=True, cwd=tmp_path, timeout=300
    )
    told = done.stdout.partition("=== SUMMARY ===")[2]
    assert done.returncode == 0, told + done.stderr
    assert len(re.findall(r"^[✓✗] \S+: \d+ passed", told, re.MULTILINE)) == SCENARIOS[revision], told


def test_every_expected_failure_has_its_reason() -> None:
    for revision, expected in EXPECTED.items():
        assert revision in SCENARIOS
        assert all(len(reason) > 40 for reason in expected.values())
