"""Ctrl-C ends a call with 130 and without a word, whenever it comes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.full

INTERRUPTED = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, path, target=None):
        if name == wanted:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

wanted = sys.argv.pop(1)
sys.meta_path.insert(0, Interrupt())
from abistore.cli.entry import main
main()
"""


def interrupted_at(module: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """A call that is interrupted when it is about to import a module."""
    call = [sys.executable, "-c", INTERRUPTED, module, *map(str, words)]
    return subprocess.run(call, capture_output=True, text=True)


@pytest.mark.parametrize(
    "module",
    [
        "abistore.cli.main",
        "click",
        "abistore.errors",
        "abistore.cli.commands.compare",
        "abistore.service.judging",
        "msgspec",
        "abistore.extract.elf.reader",
        "abistore.diffing.judge.judged",
        "abistore.report.formats.text",
    ],
)
def test_an_interrupt_during_an_import_is_silent(module: str, old: Path, new: Path) -> None:
    done = interrupted_at(module, "compare", old, new)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


IN_A_CLASS = """
import functools, os, signal, sys

class Property(functools.cached_property):
    def __set_name__(self, owner, name):
        if owner.__module__ == "abistore.diffing.side":
            os.kill(os.getpid(), signal.SIGINT)
            sum(range(100))
        super().__set_name__(owner, name)

functools.cached_property = Property
from abistore.cli.entry import main
main()
"""


def test_an_interrupt_while_a_class_is_made_is_silent(old: Path, new: Path) -> None:
    """Python 3.11 raises a ``RuntimeError`` for it."""
    done = subprocess.run([sys.executable, "-c", IN_A_CLASS, "compare", old, new], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


IN_A_FINALISER = """
import functools, os, signal, sys

class Dying:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        sum(range(100))

class Property(functools.cached_property):
    def __set_name__(self, owner, name):
        if owner.__module__ == "abistore.diffing.side" and not done:
            done.append(Dying() and None)
        super().__set_name__(owner, name)

done = []
functools.cached_property = Property
from abistore.cli.entry import main
main()
"""


def test_an_interrupt_in_a_finaliser_is_silent_and_ends_the_call(old: Path, new: Path) -> None:
    """Python prints an exception there, and goes on without it."""
    done = subprocess.run([sys.executable, "-c", IN_A_FINALISER, "compare", old, new], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize("delay", [0.001, 0.01, 0.03, 0.06, 0.1, 0.2, 0.4])
def test_an_interrupt_at_any_time_after_the_start_is_silent(delay: float, old: Path, new: Path) -> None:
    call = [sys.executable, "-X", "importtime", "-m", "abistore", "compare", str(old), str(new)]
    process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if line.rstrip().endswith("abistore.cli.entry"):
            break
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    rest = "".join(line for line in process.stderr if not line.startswith("import time:"))
    process.communicate()
    assert process.returncode in {130, 4}
    assert rest == ""


def test_an_ignored_interrupt_stays_ignored(old: Path) -> None:
    call = [sys.executable, "-m", "abistore", "export", str(old)]
    process = subprocess.Popen(
        call, stdout=subprocess.DEVNULL, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)
    )
    os.kill(process.pid, signal.SIGINT)
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 0
