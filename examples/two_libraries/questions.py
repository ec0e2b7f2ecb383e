"""Twelve questions of a release manager about both libraries, asked on the command line.

::

    python -m examples.two_libraries.questions      # builds the libraries, asks, writes docs/lab/twelve-questions.md
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from examples.obtain import PROJECT
from examples.two_libraries.__main__ import store
from examples.two_libraries.sources import PROJECTS

PAGE = PROJECT / "docs" / "lab" / "twelve-questions.md"
HEAD = """# Twelve questions about two libraries

`python -m examples.two_libraries.questions` builds a C and a C++ library with eight releases each, asks these
questions, and writes this page (`tests/examples/test_twelve_questions.py`). The releases show growth, an accident, an
allowed major release, a rename, a private change, a deprecated removal and a waived break. Every release was stored
with its public header and debug information.
"""
WIDTH = 100


class Question(NamedTuple):
    """A question with the arguments of ``abistore`` that answer it, and how to read the answer."""

    title: str
    commands: tuple[str, ...]
    reading: str


QUESTIONS = (
    Question(
        "Which libraries do we keep?",
        ("list",),
        "The baseline is the release that new builds are compared with.",
    ),
    Question(
        "Which releases broke the ABI, and which of them were not allowed to?",
        ("history libtally",),
        "1.2.0 is an accident. 2.0.0 has a new SONAME and may break. 2.1.0 and 2.2.0 need one. 2.3.0 was approved.",
    ),
    Question(
        "What did 1.2.0 break?",
        ("verdict libshapes@1.2.0",),
        "A virtual function was inserted before `move`: programs built with 1.1.0 that call `move` get `perimeter`.",
    ),
    Question(
        "Since when is `tally_options` broken, and by which commit?",
        ("blame tally_options",),
        "The revision is the one that the pipeline stored with `ingest --revision`.",
    ),
    Question(
        "Why may 2.0.0 break?",
        ("verdict libtally@2.0.0",),
        "The verdict stays BREAKING. The outcome is PASS, because the SONAME and the major version changed.",
    ),
    Question(
        "Was `tally_each` removed or renamed?",
        ("verdict libtally@2.1.0",),
        "Renamed: one function was added and one removed, with one signature. Programs break unless an alias remains.",
    ),
    Question(
        "Is a change inside the library safe?",
        ("verdict libshapes@2.1.1",),
        "`Canvas::Impl` is defined in no public header. Without headers this would be a risk.",
    ),
    Question(
        "Was every removed function deprecated first?",
        ("show libtally --deprecated", "verdict libtally@2.2.0 --mode stat"),
        "`tally_total` was. Its removal still needs a new SONAME: built programs do not read headers.",
    ),
    Question(
        "Who accepted which break, and until when?",
        ("approve list libtally",),
        "From release 2.9 on, the break fails the gate again.",
    ),
    Question(
        "Which release can replace which?",
        ("matrix libtally", "matrix libtally@2.1.0"),
        "Read a row: programs built against 2.1.0 run on 2.1.0 and 2.1.1.",
    ),
    Question(
        "Which functions depend on the layout of `shapes::Point`?",
        ("show libshapes@latest --users shapes::Point",),
        "`by value`: a larger `Point` breaks callers. `by pointer`: callers pass an address.",
    ),
    Question(
        "May I add an enumerator?",
        ("whatif libtally --declare 'enum tally_status { TALLY_OK, TALLY_BUSY, TALLY_FULL };'",),
        "Not in the middle: `TALLY_FULL` would get another value. At the end, nothing breaks.",
    ),
)


def printed(command: str, database: Path) -> str:
    """What ``abistore`` prints for a command. Raises ``RuntimeError`` where it is no answer."""
    words = (sys.executable, "-m", "abistore", *shlex.split(command))
    environment = {**os.environ, "ABISTORE_DB": str(database), "COLUMNS": str(WIDTH)}
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    if done.returncode not in (0, 2, 4):
        raise RuntimeError(f"{command}: {done.stderr}")
    return done.stdout.rstrip()


def answered(database: Path) -> Iterator[str]:
    """The page, in parts."""
    yield HEAD
    for number, question in enumerate(QUESTIONS, 1):
        yield f"## {number}. {question.title}\n"
        answers = (f"$ abistore {command}\n{printed(command, database)}" for command in question.commands)
        yield "\n".join(("```console", *answers, "```\n"))
        yield f"{question.reading}\n"


def page() -> str:
    """Build both libraries, ask all questions, and return the page."""
    with TemporaryDirectory() as folder:
        database = Path(folder) / "abi.db"
        for project in PROJECTS:
            store(project, database)
        return "\n".join(answered(database))


if __name__ == "__main__":
    PAGE.write_text(page())
