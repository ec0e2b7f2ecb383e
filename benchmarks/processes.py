"""What a running process and those that it started have cost so far, as Linux tells it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

_PAGE, _SCHEDULED = 4096, 2


def family(process: int) -> Iterator[int]:
    """A process, its children, and theirs."""
    yield process
    for task in _entries(Path(f"/proc/{process}/task")):
        for child in _text(task / "children").split():
            yield from family(int(child))


def seconds(processes: Iterator[int]) -> float:
    """Processor seconds of processes, to the nanosecond; those that have ended count nothing."""
    return sum(map(_seconds, processes))


def resident(process: int) -> int:
    """The bytes of memory that a process holds."""
    return int(_text(Path(f"/proc/{process}/statm")).split()[1]) * _PAGE


def _seconds(process: int) -> float:
    try:
        return time.clock_gettime(~process << 3 | _SCHEDULED)  # clock_getcpuclockid(3), which Python does not have
    except OSError:
        return 0.0


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:  # it ended just now
        return []


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""
