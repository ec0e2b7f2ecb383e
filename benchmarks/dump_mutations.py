"""Damage dumps of other tools and read them: `python -m benchmarks.dump_mutations [COUNT]` (2,000 of each format).

Every damaged dump gives a snapshot, which can be written, read back and compared, or an error with a code; within ten
seconds of processor time and 256 MiB.
"""

from __future__ import annotations

import gzip
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from abistore.diffing.judge.judged import compare
from abistore.errors import InputError
from abistore.extract.capture import read_all
from abistore.extract.files import InputFile
from abistore.extract.reader import ExtractOptions
from abistore.limits import limits
from abistore.model.snapshot import Snapshot
from abistore.model.snapshot_files import from_json, to_json

REAL = Path(__file__).parents[1] / "tests" / "extract" / "foreign" / "real"
SEEDS = {
    "abicc": "shapes-1.dump",
    "abicheck": "plain-0.7.0.abicheck.json.gz",
    "abixml": "shapes.abi",
    "symbols": "libshapes1.symbols",
}
OPTIONS = ExtractOptions(library="libcase", platform="x86_64", every_release=True)
SECONDS, BYTES = 10, 256 << 20
HUGE = (b"99999999999999999999999999", b"-1", b"0", b"18446744073709551615", b"1e999", b"")
DIGITS = frozenset(b"0123456789")


def flipped(data: bytearray, source: random.Random) -> bytes:
    """Some bits are others."""
    for _ in range(source.choice((1, 2, 8))):
        data[source.randrange(len(data))] ^= 1 << source.randrange(8)
    return bytes(data)


def cut(data: bytearray, source: random.Random) -> bytes:
    """The end is gone, or a part of it."""
    start = source.randrange(len(data))
    end = len(data) if source.random() < 0.5 else min(len(data), start + source.randrange(1, 4000))
    return bytes(data[:start] + data[end:])


def doubled(data: bytearray, source: random.Random) -> bytes:
    """A part comes again, elsewhere."""
    start, place = source.randrange(len(data)), source.randrange(len(data))
    part = data[start : start + source.randrange(1, 4000)] * source.choice((1, 1, 20))
    return bytes(data[:place] + part + data[place:])


def renumbered(data: bytearray, source: random.Random) -> bytes:
    """Numbers are others: sizes, offsets, and what refers to types."""
    for _ in range(source.choice((1, 5, 20))):
        start = source.randrange(len(data))
        while start < len(data) and data[start] not in DIGITS:
            start += 1
        end = start
        while end < len(data) and data[end] in DIGITS:
            end += 1
        data[start:end] = source.choice((*HUGE, str(source.randrange(4000)).encode()))
    return bytes(data)


def packed(data: bytearray, source: random.Random) -> bytes:
    """Compressed, and damaged then."""
    return flipped(bytearray(gzip.compress(bytes(data), 1)), source)


DAMAGES: tuple[Callable[[bytearray, random.Random], bytes], ...] = (flipped, cut, doubled, renumbered, packed)


def outcomes(form: str, count: int, folder: Path) -> Counter[str]:
    """How often a damaged dump gave a snapshot, and how often which error."""
    source = random.Random(f"{form} {count}")
    original = (REAL / SEEDS[form]).read_bytes()
    (intact, *_) = _read(REAL / SEEDS[form])
    path = folder / SEEDS[form].removesuffix(".gz")
    if SEEDS[form].endswith(".gz"):  # damage in what is compressed is only an error
        original = gzip.decompress(original)
    found: Counter[str] = Counter()
    for number in range(count):
        path.write_bytes(DAMAGES[number % len(DAMAGES)](bytearray(original), source) or b"\n")
        try:
            snapshots = _read(path)
        except InputError as error:
            assert error.message, number
            assert error.code, number
            assert "took more than" not in error.message, f"file {number}: {error.message}"
            found[error.code] += 1
            continue
        found["snapshot"] += 1
        for snapshot in snapshots:
            assert from_json(to_json(snapshot)) == snapshot, number
            if snapshot.target.fits(intact.target):
                compare(intact, snapshot)
    return found


def _read(path: Path) -> tuple[Snapshot, ...]:
    with InputFile(path) as file, limits(SECONDS, BYTES, f"reading {path.name}"):
        return read_all(file, OPTIONS)


def main(count: int) -> None:
    """Damage each format ``count`` times, and print what came of it."""
    with TemporaryDirectory() as folder:
        for form in SEEDS:
            found = outcomes(form, count, Path(folder))
            print(f"{form}: {', '.join(f'{number:,} {what}' for what, number in sorted(found.items()))}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
