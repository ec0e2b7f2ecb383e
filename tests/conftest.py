"""Options that all tests share."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Generator, Iterator
from functools import cache
from itertools import count
from pathlib import Path

import psycopg
import pytest
from hypothesis import settings
from sqlalchemy import make_url

from abistore.store.store import Store
from examples.browser import Browser, browser
from examples.obtain import Missing
from tests.draws import draws
from tests.failures import name_failures
from tests.sparing import collecting, compiled_once, copy_in_spite_of_xdist, spare_the_disk
from tests.store import postgres
from tests.tiers import belongs_to_full_tier, draws_inputs

ROOT = Path(__file__).parent

FAST = ("model", "report", "interface", "diffing", "service", "store", "cli", "extract", "project")
"""The folders whose tests give an answer in seconds where their modules build and start nothing.

Modules that compile a little, or draw few examples, say so themselves: ``pytestmark = pytest.mark.fast``.
"""

HIGHER_TIERS = ("full", "nightly")
"""Marks of what `tests/run` leaves to its options `--all` and `--nightly`."""

NEEDS = re.compile(
    r"tests\.(build|releases|cases|wild|torture|extract\.\w+|laws|endless|effort)|subprocess|examples|damage|postgres"
    r"|headers\.toolchain|address|old: Path|new: Path|stored: Call|hypothesis|threading|THOUSAND|generate"
)
"""What makes a test module slow: compilers, processes, servers, sources of releases, drawn examples, large inputs."""

LONGEST = (
    *("examples/test_case_studies.py", "extract/headers/test_standard.py", "cli/test_secrets.py"),
    *("fuzz/test_fuzz.py", "extract/test_elf_symbols.py", "store/test_merging_laws.py", "project/test_wheel.py"),
    "test_pairs.py",
)
"""Modules with a test that takes ten seconds or more: begun last, it would leave the other processors idle."""

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=draws(50))
settings.register_profile("explore", deadline=None)
settings.load_profile("repeatable")  # `--hypothesis-profile=explore` looks for new examples


def pytest_configure() -> None:
    """Lets processes that tests start be interrupted, which a shell forbids to what it runs in its background.

    Nothing of theirs is kept in the folder of whoever runs them, but compiled modules: there are hundreds of processes,
    and each would compile the package anew.
    """
    os.environ["ABISTORE_HEADER_CACHE"] = "off"
    spare_the_disk()
    copy_in_spite_of_xdist()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_sessionstart(session: pytest.Session) -> None:
    name_failures(session.config.pluginmanager)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    with collecting(), compiled_once(ROOT):
        return (yield)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-cases", action="store_true", help="rewrite the findings blocks of the rules' cases")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """A server for all tests of this process."""
    if postgres.programs() is None:
        pytest.skip("no PostgreSQL server is installed")
    with postgres.server() as url:
        yield url


@pytest.fixture(scope="session")
def copied_postgres(postgres_server: str) -> Callable[[str], str]:
    """Makes a database that is a copy of another one; its URL."""

    numbers = count(1)

    def make(template: str) -> str:
        name = f"store{next(numbers)}"
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} {postgres.COPY}".encode())
        return postgres_server.replace("/postgres?", f"/{name}?")

    return make


@pytest.fixture(scope="session")
def empty_postgres(copied_postgres: Callable[[str], str]) -> Callable[[], str]:
    """Makes an empty database; its URL."""
    return lambda: copied_postgres("template1")


@pytest.fixture
def postgres_url(empty_postgres: Callable[[], str]) -> Iterator[str]:
    """The URL of an empty database, which is dropped after the test."""
    with postgres.dropped(empty_postgres()) as url:
        yield url


@pytest.fixture(scope="session")
def new_store(empty_postgres: Callable[[], str]) -> str:
    """The name of a server's database that is a store without a release, of which others are copies."""
    url = empty_postgres()
    Store.open(url, write=True).close()
    return make_url(url).database or ""


@pytest.fixture
def postgres_store(copied_postgres: Callable[[str], str], new_store: str) -> Iterator[str]:
    """The URL of a store without a release, which is dropped after the test."""
    with postgres.dropped(copied_postgres(new_store)) as url:
        yield url


@cache
def is_fast(path: Path) -> bool:
    """Whether a module's tests need neither a compiler nor a server, and do little."""
    folder = path.relative_to(ROOT).parts[0]
    return folder in FAST and not NEEDS.search(path.read_text())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `tests/run --all` and `pytest -m fast` run, and begin with what takes longest."""
    for item in items:
        if draws_inputs(item.path):
            item.add_marker("drawn")
        if any(item.iter_markers("nightly")):
            continue
        if belongs_to_full_tier(item):
            item.add_marker("full")
        elif is_fast(item.path) and not any(item.iter_markers("full")):
            item.add_marker("fast")
    longest = {ROOT / name for name in LONGEST}
    items.sort(key=lambda item: item.path not in longest)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that needs a program which is not installed is skipped, and says which.

    Where ABISTORE_TEST_ALL is set, a test that cannot run fails: everything that tests need can be installed. Not so
    what a container forbids.
    """
    report = yield
    if call.excinfo is not None and (missing := missing_program(call.excinfo.value)):
        path, line, _ = item.location
        report.outcome = "skipped"
        report.longrepr = (path, line or 0, f"Skipped: {missing} is not installed")
    if report.skipped and os.environ.get("ABISTORE_TEST_ALL") and "not permitted here" not in str(report.longrepr):
        report.outcome = "failed"
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.longrepr = f"skipped, where no test may be: {reason.removeprefix('Skipped: ')}"
    return report


def missing_program(error: BaseException | None) -> str | None:
    """The program for want of which a test failed: what it, or a helper of it, tried to start and did not find."""
    while error is not None:
        if isinstance(error, FileNotFoundError) and _while_starting(error) and shutil.which(error.filename) is None:
            return str(error.filename)
        if isinstance(error, Missing) and (named := re.match(r"(\S+) is not installed", str(error))):
            return named[1]
        error = error.__cause__ or error.__context__
    return None


def _while_starting(error: FileNotFoundError) -> bool:
    """Whether a program was not found, and not a file that a test lacks."""
    frames = traceback.extract_tb(error.__traceback__)
    return frames[-1].filename == subprocess.__file__ and "/" not in str(error.filename)


@pytest.fixture(scope="module")
def running_browser() -> Iterator[Browser]:
    with browser() as shown:
        yield shown


@pytest.fixture
def shown(running_browser: Browser) -> Browser:
    """A browser, without what earlier pages complained of."""
    running_browser.errors.clear()
    return running_browser
