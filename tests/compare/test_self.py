"""A library compared with itself has no findings: the libraries of this machine, with debug information where it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.compare.comparison import compare
from abistore.errors import InputError
from abistore.extract.reader import HEAD_BYTES, ExtractOptions, reader_for
from abistore.model.findings import Verdict
from abistore.model.snapshot import Snapshot

FOLDERS = tuple(map(Path, ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib")))
LARGEST = 4 << 20
FEWEST, MOST = 30, 60

DESCRIBED = ("libc.so.6", "libm.so.6", "libresolv.so.2", "libthread_db.so.1")
"""Libraries whose debug information distributions ship most often."""


def libraries() -> list[Path]:
    """Shared libraries of the system, each file once, spread over the alphabet; no debug files."""
    found: dict[Path, None] = {}
    for folder in FOLDERS:
        for path in sorted(folder.glob("lib*.so.*")):
            real = path.resolve()
            if real.is_file() and real.stat().st_size <= LARGEST:
                found[real] = None
    names = list(found)
    described = [path for path in names if path.name in DESCRIBED]
    return sorted({*names[:: max(1, len(names) // MOST)], *described})


def read(path: Path) -> Snapshot:
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    return reader_for(head, path).read(path, ExtractOptions())


LIBRARIES = libraries()


@pytest.mark.skipif(len(LIBRARIES) < FEWEST, reason="this machine has too few shared libraries")
def test_the_sample_is_large_enough() -> None:
    assert len(LIBRARIES) >= FEWEST


@pytest.mark.parametrize("path", LIBRARIES, ids=lambda path: path.name)
def test_a_library_of_the_system_is_no_change_to_itself(path: Path) -> None:
    try:
        first, second = read(path), read(path)
    except InputError as error:
        pytest.skip(f"not a library that abistore reads: {error.message}")
    comparison = compare(first, second)
    assert comparison.findings == ()
    assert comparison.verdict is Verdict.NO_CHANGE
