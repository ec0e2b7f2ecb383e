"""Failed tests are named at once, with the reason in a line, and not only when all tests have run."""

from __future__ import annotations

import pytest


class Naming:
    """Prints a line for each failure, among the dots; with xdist, in the process that the workers report to."""

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self._terminal = terminal

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            when = "" if report.when == "call" else f" ({report.when})"
            self._terminal.write(f"\nFAILED {report.nodeid}{when}: {reason(report)}\n", red=True)


def name_failures(plugins: pytest.PytestPluginManager) -> None:
    """Names the failures of this session, unless the process is a worker, which has no terminal."""
    terminal = plugins.get_plugin("terminalreporter")
    if terminal is not None:
        plugins.register(Naming(terminal))


def reason(report: pytest.TestReport) -> str:
    """The first line of what was raised, as the short summary has it; of a text, its last line."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        return str(crash.message).partition("\n")[0]
    return report.longreprtext.rstrip().rpartition("\n")[2]
