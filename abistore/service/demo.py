"""The demonstration: two releases of a small C library, of which the second breaks programs."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec

from abistore.errors import InputError, OutputError
from abistore.extract.reader import ExtractOptions, HeaderOptions
from abistore.model.history import DEFAULT_CHANNEL
from abistore.report.model import Report
from abistore.service.imports import import_
from abistore.service.ingest import ingest
from abistore.service.ingest_gates import OPEN, Gate, IngestPlan
from abistore.service.project import NextCommand
from abistore.service.verdicts import verdict

FOLDER = "abistore-demo"
LIBRARY, FIRST, SECOND = "libshelf", "1.0.0", "1.1.0"
SNAPSHOTS = Path(__file__).with_name("demo.json")
"""The snapshots of both releases by version, for machines without a compiler."""

COMPILERS = ("cc", "gcc", "clang")
FLAGS = ("-g", "-shared", "-fPIC", f"-Wl,-soname,{LIBRARY}.so.1")
SECONDS = 20

HEADER = """\
#ifndef SHELF_H
#define SHELF_H

struct book {
    int id;
    int copies;
};

int shelf_count(const struct book *books, int length);

#endif
"""
SOURCE = """\
#include "shelf.h"

int shelf_count(const struct book *books, int length)
{
    int count = 0;
    for (int i = 0; i < length; i++)
        count += books[i].copies;
    return count;
}
"""
SOURCES: dict[str, dict[str, str]] = {
    FIRST: {"shelf.h": HEADER, "shelf.c": SOURCE},
    SECOND: {
        "shelf.h": HEADER.replace("    int copies;", "    int year;\n    int copies;"),
        "shelf.c": SOURCE,
    },
}

README = f"""\
Two releases of {LIBRARY}, stored by `abistore init --demo` in abi.db: {SECOND} inserts a field into a public struct.
"""


class Demonstration(msgspec.Struct, frozen=True):
    """Two stored releases, and the report about the second. Without a compiler, ``compiled`` is false: they were read
    from snapshots. ``commands`` may be run in ``folder``.
    """

    folder: str
    database: str
    compiled: bool
    report: Report
    commands: tuple[NextCommand, ...]


def demo(folder: str | Path = FOLDER) -> Demonstration:
    """Store two releases of a small library in a database in ``folder``, and judge the second one.

    Raises :class:`InputError` where ``folder`` has files, and :class:`OutputError` where it cannot be written.
    """
    folder = Path(folder)
    database = folder / "abi.db"
    try:
        _write(folder)
        compiled = all(_compile(folder, version) for version in SOURCES)
        if not compiled:
            _write_snapshots(folder)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {error.strerror}", "name another folder") from None
    for version in SOURCES:
        _store(folder, version, database, compiled)
    report = verdict(f"{LIBRARY}@{SECOND}", database=database).report
    return Demonstration(str(folder), str(database), compiled, report, tuple(_commands(folder)))


def _write(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: exists already", "name another folder: abistore init --demo FOLDER")
    for version, files in SOURCES.items():
        (folder / version).mkdir(parents=True)
        for name, text in files.items():
            (folder / version / name).write_text(text)
    (folder / "README").write_text(README)


def _compile(folder: Path, version: str) -> bool:
    """Whether a compiler of this system has built the release."""
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        return False
    command = [compiler, *FLAGS, f"{version}/shelf.c", "-o", f"{version}/{LIBRARY}.so"]
    own = {"LC_ALL": "C.UTF-8", "SOURCE_DATE_EPOCH": "0"}
    try:
        done = subprocess.run(command, cwd=folder, env=os.environ | own, capture_output=True, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _write_snapshots(folder: Path) -> None:
    for version, snapshot in msgspec.json.decode(SNAPSHOTS.read_bytes()).items():
        (folder / version / f"{LIBRARY}.json").write_bytes(msgspec.json.encode(snapshot))


def _store(folder: Path, version: str, database: Path, compiled: bool) -> None:
    """Store a release; the first one becomes the baseline. Raises :class:`InputError`."""
    gate = Gate(channel=DEFAULT_CHANNEL) if version == FIRST else OPEN
    if compiled:
        headers = HeaderOptions((folder / version / "shelf.h",))
        plan = IngestPlan(version=version, options=ExtractOptions(headers=headers), gate=gate)
        (done,) = ingest(folder / version / f"{LIBRARY}.so", plan, database=database)
    else:
        (done,) = import_(folder / version / f"{LIBRARY}.json", IngestPlan(gate=gate), database=database)
    if done.release is None:
        raise InputError(done.error, done.hint)


def _commands(folder: Path) -> Iterator[NextCommand]:
    yield NextCommand(f"cd {shlex.quote(str(folder))} && export ABISTORE_DB=abi.db")
    yield NextCommand(f"abistore history {LIBRARY}", "which releases may ship")
    yield NextCommand("abistore explain type_field_added", "why it breaks, and the fix")
    yield NextCommand(f"abistore witness {LIBRARY}@{FIRST} {LIBRARY}@{SECOND}", "a program that it breaks")
    yield NextCommand("abistore site -o site", "all of it as web pages")
