"""Files of some kilobytes that are made to keep abistore busy: every command answers soon and with little memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.extract.elf.container import ElfFile
from abistore.report.model import formats
from tests.bounds import abistore
from tests.build import build_library
from tests.cli.conftest import OLD, Done
from tests.model.test_mangled import BOMBS

pytestmark = pytest.mark.full

VERDICTS = frozenset({0, 2, 4})


def named(*symbols: str) -> Path:
    """A library that exports functions of these names."""
    text = "".join(f'.globl "{name}"\n.type "{name}", @function\n"{name}": ret\n' for name in symbols)
    return build_library("", flags=("more.s",), files={"more.s": f'.text\n{text}.section .note.GNU-stack,""\n'})


@pytest.fixture(scope="module")
def bombs() -> tuple[Path, Path]:
    """Two libraries with names that would become endless; the second has others too."""
    names = [symbol for symbol in BOMBS.values() if len(symbol) < 4_000]
    return named(*names), named(*names[1:], *(symbol.replace("_Z1f", "_Z1g") for symbol in names))


def tried(*words: str | Path, database: Path) -> Done:
    done = abistore(*words, ABISTORE_DB=str(database))
    assert "Traceback" not in done.err
    return done


@pytest.mark.parametrize("format", formats())
def test_names_that_would_become_endless_are_compared(format: str, bombs: tuple[Path, Path], database: Path) -> None:
    done = tried("compare", *bombs, "--format", format, "--full", database=database)
    assert done.code in VERDICTS


def test_names_that_would_become_endless_leave_the_log_of_other_libraries(
    bombs: tuple[Path, Path], old: Path, database: Path
) -> None:
    for version, library in enumerate(bombs):
        stored = tried("ingest", library, "--library", "bomb", "--version", f"1.{version}", database=database)
        assert stored.code == 0
    assert tried("ingest", old, "--library", "case", "--version", "1.0", database=database).code == 0
    assert "first stored" in tried("log", "norm", database=database).out
    assert tried("log", "no_such_function", database=database).code == 67
    assert tried("log", next(iter(BOMBS.values())), database=database).code == 0
    assert tried("history", "bomb", database=database).code == 0
    assert tried("show", "bomb@1.0", "f", database=database).code in (0, 67)
    assert tried("export", bombs[0], database=database).code == 0


def test_a_library_with_an_absurd_build_id_is_read_compared_and_stored(old: Path, database: Path) -> None:
    note = '.section .note.absurd,"a",@note\n.long 4, 65536, 3\n.asciz "GNU"\n.fill 65536, 1, 0xab\n'
    flags = ("more.s", "-Wl,--build-id=none")
    long = build_library(OLD, flags=flags, files={"more.s": f'{note}.section .note.GNU-stack,""\n'})
    assert ElfFile(long).build_id == "ab" * 65536
    servers = {"DEBUGINFOD_URLS": "http://127.0.0.1:1", "DEBUGINFOD_CACHE_PATH": str(database.parent / "cache")}
    for words in (
        *(("export", long, *more) for more in ((), ("--debuginfod",))),
        *(("compare", old, long, "--format", format, "--full") for format in formats()),
        *(("ingest", long, "--version", version, *more) for version, more in (("1", ()), ("2", ("--debuginfod",)))),
        ("show", "libcase@1"),
        ("list", "libcase"),
        ("history", "libcase"),
    ):
        done = abistore(*words, ABISTORE_DB=str(database), **servers)
        assert done.code in VERDICTS, (words, done.err)
        assert "Traceback" not in done.err
