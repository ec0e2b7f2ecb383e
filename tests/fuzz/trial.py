"""One damaged file through ``abistore compare`` in every format, in a process that can be measured and killed."""

from __future__ import annotations

import io
import json
import os
import re
import resource
import signal
import traceback
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from abistore.cli.main import run
from abistore.report.model import MODES, formats

SECONDS, BYTES = 10, 1 << 30
"""What one comparison may take in each format: processor time, and memory at its peak."""

KILL_AFTER = 60
"""Processor seconds after which a file that has not been compared in all formats is given up."""

ASLEEP = 10 * KILL_AFTER
"""Seconds of the clock after which it is given up: it may wait for something, and on a busy machine for its turn."""

VERDICTS = frozenset({0, 2, 4})
BUG = 70
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
COMMAND = re.compile(r"^\s*::", re.MULTILINE)


class Outcome(NamedTuple):
    """What became of one file: the exit codes that occurred, what is wrong, and the worst format's cost."""

    codes: tuple[int, ...]
    problems: tuple[str, ...]
    seconds: float
    bytes: int


def renderings() -> tuple[tuple[str, ...], ...]:
    """The options of every format, and of every mode of text."""
    modes = (("--format", "text", "--mode", mode, "--full") for mode in MODES)
    return (*modes, *(("--format", name) for name in formats() if name != "text"))


def trial(old: Path, new: Path) -> Outcome:
    """Compare ``old`` with ``new`` in every format, in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(old, new, writing)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    _, status, used = os.wait4(child, 0)
    if not said:
        how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"status {status}"
        return Outcome((), (f"the process ended by {how}",), used.ru_utime + used.ru_stime, used.ru_maxrss << 10)
    codes, problems, seconds = json.loads(said)
    peak = used.ru_maxrss << 10
    if peak > BYTES:
        problems.append(f"took {peak >> 20} MiB")
    return Outcome(tuple(codes), tuple(problems), seconds, peak)


def _work(old: Path, new: Path, writing: int) -> None:
    signal.alarm(ASLEEP)
    resource.setrlimit(resource.RLIMIT_CPU, (KILL_AFTER, KILL_AFTER))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    codes: set[int] = set()
    problems: list[str] = []
    worst = 0.0
    try:
        for options in renderings():
            before = sum(os.times()[:2])
            code, out, err = _called(("compare", str(old), str(new), *options))
            seconds = sum(os.times()[:2]) - before
            worst = max(worst, seconds)
            codes.add(code)
            problems += (f"{' '.join(options)}: {problem}" for problem in _problems(options, code, out, err))
            if seconds > SECONDS:
                problems.append(f"{' '.join(options)}: took {seconds:.1f} s")
    except BaseException:
        problems.append(traceback.format_exc())
    os.write(writing, json.dumps((sorted(codes), problems, worst)).encode())
    os._exit(0)


def _called(words: Sequence[str]) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(words)
    return code, out.getvalue(), err.getvalue()


def _problems(options: Sequence[str], code: int, out: str, err: str) -> Iterator[str]:
    if code == BUG or "Traceback" in out + err:
        yield f"a bug: {err[-800:]}"
    if code not in VERDICTS and not err.startswith("error: ") and '"error": {' not in out:
        yield f"code {code} without an error: {err[:200]}"
    for name, text in (("output", out), ("errors", err)):
        if found := CONTROL.search(text):
            yield f"{found[0]!r} in its {name}: {text[max(0, found.start() - 60) : found.end() + 20]!r}"
    if "github" not in options and (found := COMMAND.search(out + err)):
        yield f"a workflow command: {(out + err)[found.start() : found.end() + 60]!r}"
    if code in VERDICTS:
        yield from _malformed(options, out)


def _malformed(options: Sequence[str], out: str) -> Iterator[str]:
    try:
        if options[1] in {"json", "sarif"}:
            json.loads(out)
        elif options[1] == "junit":
            ElementTree.fromstring(out)
    except (ValueError, ElementTree.ParseError) as error:
        yield f"not well formed: {error}"


def prepare(old: Path, new: Path) -> None:
    """Import what every trial needs, so that no fork has to: by comparing sound libraries that differ."""
    for options in renderings():
        code, _, err = _called(("compare", str(old), str(new), *options))
        assert code in VERDICTS, err
