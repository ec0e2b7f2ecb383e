"""What a command costs: processor seconds and peak memory of the whole process tree, and medians of paired runs."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

ONE_RUN = Path(__file__).with_name("one_run.py")


@dataclass(frozen=True)
class Cost:
    """One run: user and system seconds with all descendants, peak resident set in bytes of the largest of them.

    ``elapsed`` are the seconds that the caller waited.
    """

    seconds: float
    peak: int
    status: int
    elapsed: float = 0.0

    @property
    def exceeded(self) -> bool:
        """Whether the run was stopped by a signal: its processor limit, usually."""
        return self.status < 0


def measure(command: Sequence[str | Path], limit: int, environment: Mapping[str, str] | None = None) -> Cost:
    """Run ``command`` silently; it is stopped after ``limit`` processor seconds."""
    variables = {**os.environ, **(environment or {})}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed tool has its bytecode
    words = [sys.executable, "-I", "-S", ONE_RUN, str(limit), *map(str, command)]
    told = subprocess.run(words, env=variables, capture_output=True, text=True, check=True).stdout
    seconds, peak, status, elapsed = told.split()
    return Cost(float(seconds), int(peak), int(status), float(elapsed))


@dataclass(frozen=True)
class Series:
    """Runs of one command that were interleaved with its rivals' runs."""

    costs: tuple[Cost, ...]
    good: frozenset[int] = frozenset({0})
    """Exit codes of this command that are no failure."""

    @property
    def failed(self) -> bool:
        """Whether it ended by itself with an error: its cost then says nothing. A stopped run did take its limit."""
        return self.costs[0].status not in self.good and not self.costs[0].exceeded

    @property
    def seconds(self) -> float:
        """Median processor seconds."""
        return statistics.median(cost.seconds for cost in self.costs)

    @property
    def peak(self) -> int:
        """Median peak resident set in bytes."""
        return round(statistics.median(cost.peak for cost in self.costs))

    def times_slower(self, other: Series) -> float:
        """The median over paired runs of how many times the processor seconds of ``other`` this took."""
        return statistics.median(a.seconds / b.seconds for a, b in zip(self.costs, other.costs, strict=False))


def interleaved(
    commands: Mapping[str, Sequence[str | Path]],
    rounds: int,
    limit: int,
    good: Mapping[str, frozenset[int]] | None = None,
) -> dict[str, Series]:
    """Every command once a round, ``rounds`` times.

    A command that fails, exceeds ``limit`` or takes over a tenth of it runs once: its cost is in no doubt, and the
    others need the machine. ``good`` are the exit codes that are no failure, 0 unless named.
    """
    codes = good or {}
    found = {name: Series((), codes.get(name, frozenset({0}))) for name in commands}
    for turn in range(rounds):
        for name, command in commands.items():
            series = found[name]
            if not turn or not (series.failed or series.costs[0].seconds > limit / 10):
                found[name] = replace(series, costs=(*series.costs, measure(command, limit)))
    return found


def machine() -> str:
    """The processor, its number of cores and pace, memory and operating system, for the table's heading."""
    model = next(line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name"))
    memory = int(next(line.split()[1] for line in _lines("/proc/meminfo") if line.startswith("MemTotal")))
    system = next(line.split("=")[1].strip('"') for line in _lines("/etc/os-release") if line.startswith("PRETTY_NAME"))
    return (
        f"{model}, {os.cpu_count()} cores, {memory / (1 << 20):.0f} GiB, {system}; a million additions: {pace():.3f} s"
    )


def pace() -> float:
    """CPU seconds that Python takes for a million additions: a core that others share takes several times as long."""
    adding = "t = time.process_time(); sum(n + n for n in range(10**6)); print(time.process_time() - t)"
    command = [sys.executable, "-c", f"import time; {adding}"]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(5)]
    return statistics.median(float(run.stdout) for run in runs)


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines()
