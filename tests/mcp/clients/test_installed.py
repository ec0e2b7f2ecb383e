"""Clients that cannot be had are skipped, with the reason, and asked for once."""

from __future__ import annotations

from pathlib import Path

import pytest

from examples.obtain import Missing
from tests.mcp.clients import installed

pytestmark = pytest.mark.full

FAILING = "#!/bin/sh\necho asked >> {folder}/asked\necho 'npm error network unreachable' >&2\nexit 1\n"


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(installed, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(installed, "REFUSED", {})
    monkeypatch.setenv("PATH", str(tmp_path))


def test_without_npm_its_name_is_the_reason() -> None:
    with pytest.raises(Missing, match=r"^npm is not installed"):
        installed.node.__wrapped__()


def test_a_registry_that_is_not_reached_is_the_reason_and_asked_once(tmp_path: Path) -> None:
    npm = tmp_path / "npm"
    npm.write_text(FAILING.format(folder=tmp_path))
    npm.chmod(0o755)
    for _ in range(3):
        with pytest.raises(
            pytest.skip.Exception, match="packages cannot be fetched: npm: npm error network unreachable"
        ):
            installed.node.__wrapped__()
    assert (tmp_path / "asked").read_text() == "asked\n"


def test_every_version_is_locked_and_no_registry_is_named() -> None:
    lock = (installed.FOLDER / "npm" / "package-lock.json").read_text()
    assert '"resolved"' not in lock
    assert all("/" not in line for line in lock.splitlines() if '"version"' in line)
    for name in ("python1.txt", "fastmcp.txt"):
        lines = (installed.FOLDER / name).read_text().splitlines()
        assert all(line.count("==") == 1 for line in lines), name
