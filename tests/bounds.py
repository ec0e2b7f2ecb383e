"""Running what must not take much, in a process that the kernel ends where it does."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

from tests.cli.conftest import Done

SECONDS, BYTES = 10, 1 << 30
"""What no command may take for a file of 64 kB."""


def bounded(*words: str | Path, seconds: int = SECONDS, bytes: int = BYTES, **environment: str) -> Done:
    """What a Python process prints and returns within ``seconds`` of processor time and ``bytes`` of address space."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (bytes, bytes))

    done = subprocess.run(
        [sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
        preexec_fn=limit,
        env={**os.environ, **environment},
    )
    return Done(done.returncode, done.stdout, done.stderr)


def abistore(*words: str | Path, **environment: str) -> Done:
    """The command line within these bounds."""
    return bounded("-m", "abistore", *words, **environment)
