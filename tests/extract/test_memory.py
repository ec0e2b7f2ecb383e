"""Which exported objects may be written to: what the tables say is what the loader does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from abistore.model.shapes import Symbol
from abistore.model.snapshot import Snapshot
from tests.build import build_library
from tests.extract.elf_fixtures import without_section_headers

SOURCE = """
int one;
int initialised = 1;
int zero;
const int constant = 1;
const char letters[40] = "abc";
int *pointer = &one;
int *const address = &one;
int *const addresses[600] = {&one};
_Thread_local int own = 1;
int code(void) { return own; }
"""
WRITABLE = {"initialised", "one", "pointer", "zero"}
READ_ONLY = {"address", "addresses", "constant", "letters"}
WRITE = "import ctypes, sys; ctypes.c_int.in_dll(ctypes.CDLL(sys.argv[1]), sys.argv[2]).value = 1"


def told(path: Path) -> dict[str, bool | None]:
    entries = read_snapshot(path, ExtractOptions()).entries["symbol"]
    symbols = {name.spelling: shape for name, (shape, *_) in entries.items() if isinstance(shape, Symbol)}
    return {name: symbol.elf.read_only if symbol.elf else None for name, symbol in symbols.items()}


EXPECTED = dict.fromkeys(WRITABLE, False) | dict.fromkeys(READ_ONLY, True) | {"own": None, "code": None}


@pytest.mark.parametrize("compiler", ["gcc", "clang", "i686-linux-gnu-gcc", "powerpc64le-linux-gnu-gcc"])
@pytest.mark.parametrize("flags", [(), ("-Wl,-z,norelro",), ("-Wl,-z,now",), ("-fdata-sections",)])
def test_an_object_is_read_only_where_its_section_is(compiler: str, flags: tuple[str, ...]) -> None:
    library = build_library(SOURCE, compiler=compiler, flags=("-O1", "-nostdlib", *flags))
    assert told(library) == EXPECTED


def test_without_a_section_table_the_segments_tell(tmp_path: Path) -> None:
    stripped = tmp_path / "libcase.so"
    stripped.write_bytes(without_section_headers(build_library(SOURCE, flags=("-O1",)).read_bytes()))
    assert told(stripped) == EXPECTED


@pytest.mark.parametrize("name", sorted(WRITABLE | READ_ONLY))
def test_a_process_that_writes_to_what_is_read_only_is_killed(name: str) -> None:
    library = build_library(SOURCE, flags=("-O1",))
    done = subprocess.run([sys.executable, "-c", WRITE, str(library), name], check=False, capture_output=True)
    assert (done.returncode == 0) == (name in WRITABLE)
    assert done.returncode in (0, -11)


def test_what_the_language_makes_of_a_class_tells_no_memory() -> None:
    library = build_library("struct S { virtual void f(); }; void S::f() {}", language="c++", flags=("-O1",))
    assert told(library) == {"_ZN1S1fEv": None, "_ZTI1S": None, "_ZTS1S": None, "_ZTV1S": None}


def without_memory(snapshot: Snapshot) -> Snapshot:
    def forgotten(shape: Symbol) -> Symbol:
        return replace(shape, elf=None)

    symbols = {
        name: tuple(forgotten(shape) if isinstance(shape, Symbol) else shape for shape in shapes)
        for name, shapes in snapshot.entries["symbol"].items()
    }
    return replace(snapshot, entries={**snapshot.entries, "symbol": symbols})


def test_a_snapshot_that_does_not_tell_the_memory_is_not_reported_as_changed() -> None:
    new = read_snapshot(build_library(SOURCE, flags=("-O1",)), ExtractOptions())
    old = without_memory(new)
    assert old.variants("symbol", Name("variable", "constant")) != new.variants("symbol", Name("variable", "constant"))
    for comparison in (compare(old, new), compare(new, old)):
        assert not comparison.findings
