"""Reads thousands of damaged Mach-O files and text stubs: each gives a snapshot, or an error with a code.

``python -m benchmarks.hostile_macho [COUNT]`` (2,000 of each sort by default) prints what came out, and the most
processor time of one.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from abistore.errors import InputError
from abistore.extract.capture import read_all
from abistore.extract.files import InputFile
from abistore.extract.reader import ExtractOptions
from tests.extract import macho_fixtures as macho
from tests.extract.test_macho_hostile import SOURCE, mutated, mutated_text
from tests.extract.test_macho_stubs import FIFTH, FOURTH, THIRD


def main() -> None:
    """Build the samples, damage and read them."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    with TemporaryDirectory() as name:
        folder = Path(name)
        for sort, (original, path, read) in samples(folder).items():
            print(sort, *told(original, path, read, count))


def samples(folder: Path) -> dict[str, tuple[bytes, Path, Path]]:
    """For each sort: the intact bytes, the file to damage, and the file to read."""
    thin = [macho.build_dylib(SOURCE, target=each) for each in (macho.ARM, macho.INTEL)]
    both = macho.universal(thin, folder / "libboth.dylib")
    library = macho.build_with_dsym(SOURCE, folder / "built")
    bundle = library.parent / f"{library.name}.dSYM" / "Contents" / "Resources" / "DWARF" / library.name
    damaged, stub = folder / "libdamaged.dylib", folder / "libdamaged.tbd"
    return {
        "thin": (thin[0].read_bytes(), damaged, damaged),
        "universal": (both.read_bytes(), damaged, damaged),
        "debug information": (bundle.read_bytes(), bundle, library),
        **{f"{text.split()[1]} stub": (text.encode(), stub, stub) for text in (THIRD, FOURTH, FIFTH)},
    }


def told(original: bytes, path: Path, read: Path, count: int) -> tuple[str, str]:
    """What came out of ``count`` damaged copies, and the longest time."""
    found: Counter[str] = Counter()
    longest = 0.0
    for number in range(count):
        damage = mutated_text if path.suffix == ".tbd" else mutated
        path.write_bytes(damage(original, random.Random(f"{read.name} {number}")))
        start = process_time()
        try:
            with InputFile(read) as file:
                read_all(file, ExtractOptions())
            found["snapshot"] += 1
        except InputError as error:
            found[error.code] += 1
        longest = max(longest, process_time() - start)
    return str(dict(sorted(found.items()))), f"longest {longest:.2f} s"


if __name__ == "__main__":
    main()
