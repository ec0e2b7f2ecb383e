"""A library compared with itself has no findings: the libraries of this machine, with debug information and without."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.findings import Verdict
from abistore.model.snapshot import Snapshot
from examples.recipes import LZ4
from tests.releases import UNOPTIMISED_JSONNET, release

pytestmark = pytest.mark.full

FOLDERS = tuple(map(Path, ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib")))
LARGEST = 4 << 20
FEWEST, MOST = 30, 60

CPP_RUNTIME = b"libstdc++.so.6\0"


def libraries() -> list[Path]:
    """Shared libraries of the system, each file once, spread over the alphabet and over C and C++."""
    found: dict[Path, None] = {}
    for folder in FOLDERS:
        for path in sorted(folder.glob("lib*.so.*")):
            real = path.resolve()
            if real.is_file() and real.stat().st_size <= LARGEST and real.read_bytes()[:4] == b"\x7fELF":
                found[real] = None
    cpp = [path for path in found if is_cpp(path)]
    c = [path for path in found if path not in cpp]
    return sorted(path for kind in (c, cpp) for path in kind[:: max(1, 2 * len(kind) // MOST)])


def is_cpp(path: Path) -> bool:
    """Whether a library needs the C++ runtime."""
    return CPP_RUNTIME in path.read_bytes()


def read(path: Path) -> Snapshot:
    return read_snapshot(path, ExtractOptions())


LIBRARIES = libraries()


def test_the_sample_is_large_enough_and_has_c_and_cpp() -> None:
    assert len(LIBRARIES) >= FEWEST
    assert 5 <= sum(map(is_cpp, LIBRARIES)) <= len(LIBRARIES) - 15


@pytest.mark.parametrize("path", LIBRARIES, ids=lambda path: path.name)
def test_a_library_of_the_system_is_no_change_to_itself(path: Path) -> None:
    assert_no_change(path)


DESCRIBED: dict[str, Callable[[], Path]] = {
    "libstdc++": lambda: Path("/usr/lib/x86_64-linux-gnu/debug/libstdc++.so.6"),
    "libc": lambda: Path("/usr/lib/x86_64-linux-gnu/libc.so.6"),
    "libm": lambda: Path("/usr/lib/x86_64-linux-gnu/libm.so.6"),
    "libpthread": lambda: Path("/usr/lib/x86_64-linux-gnu/libpthread.so.0"),
    "libresolv": lambda: Path("/usr/lib/x86_64-linux-gnu/libresolv.so.2"),
    "libjsonnet": lambda: release(UNOPTIMISED_JSONNET, "0.20.0"),
    "libjsonnet by Clang": lambda: release(UNOPTIMISED_JSONNET, "0.20.0", compiler="clang++"),
    "liblz4": lambda: release(LZ4, "1.9.4"),
    "liblz4 by Clang": lambda: release(LZ4, "1.9.4", compiler="clang"),
}
"""Libraries with debug information: distributions ship it for the first ones most often."""


@pytest.mark.parametrize("name", DESCRIBED)
def test_a_library_with_debug_information_is_no_change_to_itself(name: str) -> None:
    path = DESCRIBED[name]()
    if not path.exists():
        pytest.skip(f"{path} is not installed")
    snapshot = assert_no_change(path)
    if snapshot.evidence_of("layout").state == "missing":
        pytest.skip(f"the debug information of {path.name} is not installed")
    assert snapshot.entries["layout"]


def assert_no_change(path: Path) -> Snapshot:
    first, second = read(path), read(path)
    comparison = compare(first, second)
    assert comparison.findings == ()
    assert comparison.verdict is Verdict.NO_CHANGE
    return first
