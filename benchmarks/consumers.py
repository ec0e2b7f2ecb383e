"""Questions about known consumers: ``python -m benchmarks.consumers`` tells the CPU time of each whole process.

200 programs import 1,000 functions each of a library with 5,000, and were built with 20 of its types; of ten of them
one type is another. A release removes 50 functions and changes the types.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from abistore.model.approvals import BuiltType, ConsumedSymbol, Consumer, ConsumerDetails
from abistore.model.declarations import SELF, Name
from abistore.model.history import IngestRequest
from abistore.model.shapes import Field, Function, Library, Named, Pointer, Primitive, Record, Symbol
from abistore.model.snapshot import Entries, Evidence, Snapshot, Target
from abistore.store.store import Store

CONSUMERS, IMPORTS, EXPORTS, TYPES, USED_TYPES = 200, 1_000, 5_000, 200, 20
INT, LONG = Primitive("int", 4), Primitive("long", 8)
TARGET = Target("elf", "x86_64", 64, "little")
QUESTIONS = (
    ("consumers", "broken", "libbig@2.0"),
    ("consumers", "broken", "libbig@1.0"),
    ("consumers", "using", "libbig", "big_7"),
    ("matrix", "--program", "app-7", "libbig"),
    ("consumers", "list", "libbig"),
    ("show", "--exports", "libbig@1.0", "--unused"),
)


def struct(number: int, grown: bool) -> Record:
    """A type of the library: a grown one begins with a wider field."""
    first = LONG if grown else INT
    fields = [Field("first", first, 0), *(Field(f"f{at}", INT, 64 + 32 * at) for at in range(number % 7))]
    return Record("struct", 8 + 4 * (number % 7), tuple(fields))


def release(removed: int, grown: int) -> Snapshot:
    """The library without its first functions, and with so many types that have grown."""
    names = [Name("function", f"big_{number}") for number in range(removed, EXPORTS)]
    types = {Name("record", f"type_{number}"): (struct(number, number < grown),) for number in range(TYPES)}
    used = list(types)
    functions = {
        name: (Function(name.spelling, INT, (Pointer(Named(used[int(name.spelling[4:]) % TYPES])),)),) for name in names
    }
    symbols = {name: (Symbol("function"),) for name in names} | {SELF: (Library("shared", "libbig.so.1"),)}
    entries: Entries = {"symbol": symbols, "layout": {**functions, **types}}
    evidence = tuple(Evidence(facet, "full", described=EXPORTS, expected=EXPORTS) for facet in ("symbol", "layout"))
    return Snapshot("libbig", "1", TARGET, entries, evidence)


def consumer(number: int, chance: random.Random) -> Consumer:
    """A program; every twentieth was built with another first type."""
    imports = sorted(ConsumedSymbol(f"big_{each}") for each in chance.sample(range(EXPORTS), IMPORTS))
    types = {
        Name("record", f"type_{each}"): BuiltType((struct(each, number % 20 == 0 and each == 0),), "")
        for each in range(USED_TYPES)
    }
    details = ConsumerDetails(f"app-{number}", str(TARGET), f"app-{number}", "", ("libbig.so.1",))
    return Consumer(details, tuple(imports), types)


def fill(path: Path) -> None:
    """A store with two releases and the consumers."""
    chance = random.Random(13)
    with Store.open(path, write=True) as store:
        store.ingest(release(0, 0), IngestRequest("1.0"))
        store.ingest(release(50, 20), IngestRequest("2.0"))
        store.add_consumers([consumer(number, chance) for number in range(CONSUMERS)])


def seconds(words: tuple[str, ...], path: Path) -> float:
    """The processor time of a command, start-up included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call = [sys.executable, "-m", "abistore", *words, "--json"]
    environment = {**os.environ, "ABISTORE_DB": str(path)}
    done = subprocess.run(call, env=environment, capture_output=True, check=False)
    if done.returncode not in (0, 4):
        raise SystemExit(done.stderr.decode())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print a row for each question: the best of three."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        fill(path)
        print(f"{path.stat().st_size / 1e6:.1f} MB")
        for words in QUESTIONS:
            print(f"{min(seconds(words, path) for _ in range(3)):.2f} s  {' '.join(words)}")


if __name__ == "__main__":
    main()
