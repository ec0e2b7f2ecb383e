"""The command that stands for ``python -m abistore``."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

REAL = (sys.executable, "-m", "abistore")
FOLDER = Path(__file__).parent


def abistore(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The words before those of a command: the real ones where its ``environment`` tells Python how to start."""
    address, of_python = _parent()
    if environment is not None and _of_python(environment) != of_python:
        return REAL
    return sys.executable, "-IS", str(FOLDER / "call.py"), address


def _of_python(environment: Mapping[str, str]) -> dict[str, str]:
    """What Python reads when it starts: its own variables, and what says in which encoding it writes."""
    return {name: value for name, value in environment.items() if name.startswith(("PYTHON", "LC_", "LANG"))}


@cache
def _parent() -> tuple[str, dict[str, str]]:
    """The socket of this process's parent of commands, which ends with it; and what told that how to start."""
    folder = tempfile.TemporaryDirectory(prefix="abistore-warm-", dir="/tmp")  # a socket's path must be short
    address = f"{folder.name}/s"
    words = [sys.executable, "-m", "tests.warm.parent", address]
    parent = subprocess.Popen(words, cwd=FOLDER.parents[1], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    assert parent.stdout.readline() == "ready\n"

    def end() -> None:
        parent.communicate()
        folder.cleanup()

    atexit.register(end)
    return address, _of_python(os.environ)
