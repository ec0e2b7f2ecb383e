"""Damages packages of each kind many times, and counts what reading them gives.

``python -m tests.extract.packages.mutations --count 2000`` prints a line for each kind. A package gives snapshots, or
an error with a code, within a fraction of the limits that users have.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from abistore.errors import InputError, LimitExceeded
from abistore.extract.capture import read_all
from abistore.extract.files import open_input
from abistore.extract.reader import ExtractOptions
from abistore.limits import limits
from tests import packages
from tests.build import build_library

SECONDS, BYTES = 10, 512 << 20
"""What no damaged package of some kilobytes may take."""

REGULAR = 0o100644


class Outcomes(NamedTuple):
    """How often packages of a kind gave snapshots, and how often errors by their codes; and the slowest one."""

    counts: Counter[str]
    slowest: float


def damaged(data: bytes, source: random.Random) -> bytes:
    """``data`` with some bits flipped, some bytes set, a part repeated or gone, or its end cut."""
    changed, kind = bytearray(data), source.randrange(6)
    at = source.randrange(len(changed))
    if kind <= 1:
        for _ in range(source.choice((1, 1, 2, 8, 64))):
            changed[source.randrange(len(changed))] ^= 1 << source.randrange(8)
    elif kind == 2:
        some = changed[at : at + source.choice((1, 4, 8))]
        changed[at : at + len(some)] = source.choice((b"\0", b"\xff", b"9", b"/", b".")) * len(some)
    elif kind == 3:
        del changed[at : at + source.randrange(1, 600)]
    elif kind == 4:
        changed[at:at] = changed[at : at + source.randrange(1, 600)]
    else:
        del changed[at:]
    return bytes(changed)


def kinds(place: Path) -> Iterator[tuple[str, Callable[[random.Random], bytes]]]:
    """For each kind a function that gives a damaged package; of some the damage is below the compression."""
    library = build_library("int case_add(int a, int b) { return a + b; }", flags=("-O1", "-s"))
    held: packages.Files = {"usr/lib/libcase.so.1": library, "usr/lib/libcase.so": "libcase.so.1", "a/readme": b"text"}
    plain = {name: content for name, content in held.items() if not isinstance(content, str)}
    whole = {
        "deb": packages.deb(place, held).read_bytes(),
        "rpm": packages.RPM.read_bytes(),
        "whl": packages.wheel(place, plain).read_bytes(),
        "conda": packages.conda(place, held).read_bytes(),
        **{
            f"tar {name}".strip(): packages.tar(place, held, compression=name).read_bytes()
            for name in packages.COMPRESSIONS
        },
    }
    for name, data in whole.items():
        yield name, lambda source, data=data: damaged(data, source)
    tar, payload = packages.tar_bytes(held), [("usr/lib/libcase.so.1", REGULAR, library.read_bytes())]
    yield "tar within gz", lambda source: packages.COMPRESSIONS["gz"](damaged(tar, source))
    cpio = packages.cpio(payload)
    yield "cpio within rpm", lambda source: packages.rpm(place, damaged(cpio, source)).read_bytes()


def outcomes(make: Callable[[random.Random], bytes], count: int, place: Path) -> Outcomes:
    """Reads ``count`` damaged packages. Whatever is no :class:`InputError`, or takes too much, is raised."""
    found, slowest = Counter[str](), 0.0
    path = place / "case.package"
    for number in range(count):
        path.write_bytes(make(random.Random(number)))
        begun = time.process_time()
        try:
            with limits(SECONDS, BYTES), open_input(path) as file:
                read_all(file, ExtractOptions(layout=False))
            found["snapshots"] += 1
        except InputError as error:
            assert error.message and error.code, number
            assert not isinstance(error, LimitExceeded) or "took more than" not in error.message, (number, error)
            found[error.code] += 1
        slowest = max(slowest, time.process_time() - begun)
    return Outcomes(found, slowest)


def main() -> int:
    """Print what damaged packages of each kind gave."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    count = parser.parse_args().count
    with tempfile.TemporaryDirectory() as folder:
        for name, make in kinds(Path(folder)):
            found = outcomes(make, count, Path(folder))
            told = ", ".join(f"{code} {times}" for code, times in sorted(found.counts.items()))
            print(f"{name:16} {told}; slowest {found.slowest:.2f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
