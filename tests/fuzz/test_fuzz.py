"""A minute of damaged files; the nightly tier and ``python -m tests.fuzz`` try thousands."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.draws import draws
from tests.fuzz.__main__ import BUILDS, intact

pytestmark = pytest.mark.full


def test_damaged_libraries_and_snapshots_give_a_verdict_or_an_error_in_every_format() -> None:
    for build in BUILDS:
        intact(build)  # here, where a missing compiler is noticed
    # in a process of its own: it forks, which must not happen beside the threads of a test runner
    counts = ("--libraries", str(draws(100)), "--snapshots", str(draws(120)), "--jobs", "1")
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *counts], capture_output=True, text=True, timeout=draws(900)
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "files with a problem: 0" in done.stdout
    assert "exit 65" in done.stdout
    assert "exit 0" in done.stdout
