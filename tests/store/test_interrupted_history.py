"""A long history keeps the verdicts that it gave before it is interrupted, and goes on from there."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import make_url

from abistore.model.findings import ENGINE
from abistore.model.history import IngestRequest
from abistore.service.administration import set_baseline
from abistore.store.store import Store
from benchmarks.releases import made

pytestmark = pytest.mark.full

RELEASES = 60
VERDICTS = 2 * (RELEASES - 1) - 1
"""Each release is judged against the one before and against the first, which is the baseline; the second only once."""

INTERRUPTED = """
import os, signal, sys
from abistore.diffing.judge import judged as judge

def counted(findings):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGINT)
    return verdict_of(findings)

left, verdict_of, judge.verdict_of = int(sys.argv.pop(1)), judge.verdict_of, counted
from abistore.cli.entry import main
main()
"""


def fill(address: str) -> None:
    """A store of many releases of one library."""
    with Store.open(address, write=True) as store:
        for number in range(1, RELEASES + 1):
            store.ingest(made(number, 40), IngestRequest(f"1.{number}"))
    set_baseline("growing@1.1", database=address)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A filled store in a file, to be copied."""
    path = tmp_path_factory.mktemp("filled") / "store.db"
    fill(str(path))
    return path


@pytest.fixture(scope="module")
def template(empty_postgres: Callable[[], str]) -> str:
    """The name of a server's filled store, to be copied."""
    url = empty_postgres()
    fill(url)
    return make_url(url).database or ""


@pytest.fixture(params=["sqlite", "postgresql"])
def filled(request: pytest.FixtureRequest, path: Path) -> str:
    """A copy of a filled store; its address."""
    if request.param == "postgresql":
        copied: str = request.getfixturevalue("copied_postgres")(request.getfixturevalue("template"))
        return copied
    return str(shutil.copy(request.getfixturevalue("file"), path))


def history_of(address: str, verdicts: int) -> subprocess.CompletedProcess[str]:
    """``abistore history``, interrupted when it gives more than so many verdicts."""
    call = [sys.executable, "-c", INTERRUPTED, str(verdicts), "--db", address, "history", "growing"]
    return subprocess.run(call, capture_output=True, text=True)


def kept(address: str) -> int:
    with Store.open(address, write=False) as store:
        (line,) = store.lines()
        return len(store.verdict_summaries(line, str(ENGINE)))


@pytest.mark.parametrize("given", [0, 1, 37, 101])
def test_an_interrupted_history_keeps_all_verdicts_that_it_gave(filled: str, given: int) -> None:
    done = history_of(filled, given)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
    assert kept(filled) == given


def test_the_next_call_judges_what_is_left_and_the_one_after_nothing(filled: str) -> None:
    assert history_of(filled, 101).returncode == 130
    resumed = history_of(filled, VERDICTS - 101)
    assert (resumed.returncode, resumed.stderr) == (0, "")
    assert kept(filled) == VERDICTS
    again = history_of(filled, 0)
    assert (again.returncode, again.stdout) == (0, resumed.stdout)
