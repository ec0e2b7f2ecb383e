"""Options that all tests share."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile("repeatable")  # `--hypothesis-profile=explore` looks for new examples


def pytest_configure() -> None:
    """Lets processes that tests start be interrupted, which a shell forbids to what it runs in its background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-cases", action="store_true", help="rewrite the findings blocks of tests/rules/*.md")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where ABISTORE_TEST_ALL is set, a test that cannot run fails: everything that tests need can be installed.

    Not so what a container forbids.
    """
    report = yield
    if report.skipped and os.environ.get("ABISTORE_TEST_ALL") and "not permitted here" not in str(report.longrepr):
        report.outcome = "failed"
        report.longrepr = f"skipped, where no test may be: {report.longrepr}"
    return report
