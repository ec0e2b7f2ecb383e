"""``python -m tests.fuzz --libraries 5000 --snapshots 3000 --jobs 4``: how many damaged files gave what.

Exits with 1 where a file gave a traceback, a raw control character, malformed output, or took more than 10 s or 1 GiB
in any format; such files are kept in ``--keep``.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from abistore.errors import AbistoreError
from abistore.extract.reader import ExtractOptions
from abistore.model.snapshot_files import from_json, to_json
from abistore.service.snapshots import capture
from tests.build import build_library
from tests.editing import undigested
from tests.fuzz.mutations import damaged_library, damaged_snapshot, places_of
from tests.fuzz.trial import BYTES, SECONDS, Outcome, prepare, trial

SOURCE_C = """
typedef unsigned int u32;
enum colour { RED, GREEN = 7, BLUE };
union number { int i; double d; char text[12]; };
struct node { struct node *next; unsigned low : 3, high : 29; union number value; enum colour colour; };
typedef int (*visitor)(const struct node *, void *);
struct table { struct { u32 used, size; } count; struct node *items[4]; visitor visit; };
struct table shared;
int walk(struct table *table, visitor visit, void *user) { return visit(table->items[0], user); }
struct node first(struct table table) { return *table.items[0]; }
int format(const char *text, ...) { return text != 0; }
__asm__(".symver format_old, format@V1");
int format_old(const char *text) { return text == 0; }
"""
SOURCE_CXX = """
namespace geo {
struct Point { double x, y; virtual ~Point(); virtual double norm() const; };
struct Named { virtual const char *name() const = 0; int id; protected: int mark : 5; };
template <class T, int N> struct Box { T items[N]; T *begin() { return items; } };
class Shape : public Point, virtual public Named {
public:
    Shape(); const char *name() const override; double norm() const override;
    Box<Point *, 3> corners; enum class Kind : short { Round, Flat } kind; int Shape::*member;
private:
    static int count;
};
int Shape::count;
Point::~Point() {} double Point::norm() const { return x + y; }
Shape::Shape() {} const char *Shape::name() const { return ""; } double Shape::norm() const { return 0; }
double area(const Shape &shape, Box<int, 2> box, int (*use)(Shape &&)) { return shape.x + box.items[0]; }
template struct Box<long, 4>;
}
"""
SCRIPT = "V1 { global: format; }; V2 { global: *; } V1;\n"
BUILDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "c": ("c", ("-g", "-O1", "-Wl,--version-script=case.map")),
    "c-dwarf4-compressed": ("c", ("-g", "-gdwarf-4", "-gz=zlib", "-Wl,--version-script=case.map")),
    "c-stripped": ("c", ("-s", "-Wl,--version-script=case.map")),
    "c++": ("c++", ("-g", "-O1")),
    "c++-type-units": ("c++", ("-g", "-gdwarf-4", "-fdebug-types-section", "-O0")),
}


class Task(NamedTuple):
    """One file to make and to try. ``seed`` makes it the same in every run."""

    form: str
    build: str
    seed: int
    keep: str


@cache
def intact(build: str) -> Path:
    """The library that the damaged ones are made of."""
    language, flags = BUILDS[build]
    if language == "c":
        return build_library(SOURCE_C, flags=flags, files={"case.map": SCRIPT})
    return build_library(SOURCE_CXX, language="c++", flags=flags)


@cache
def _document(build: str) -> str:
    return undigested(to_json(capture(intact(build), options=ExtractOptions(version="1"))).decode())


@cache
def _bytes(build: str) -> tuple[bytes, list[range]]:
    return intact(build).read_bytes(), places_of(intact(build))


def attempt(task: Task) -> tuple[Task, Outcome]:
    """Make the file of a task and try it; a file that shows a problem is kept."""
    source = random.Random(f"{task.form} {task.build} {task.seed}")
    with TemporaryDirectory(prefix="fuzz-") as folder:
        if task.form == "library":
            data, places = _bytes(task.build)
            path, old = Path(folder) / "libcase.so", intact(task.build)
            path.write_bytes(damaged_library(data, places, source))
        else:
            path, old = Path(folder) / "snapshot.json", Path(folder) / "old.json"
            old.write_text(_document(task.build))
            path.write_bytes(_readable(_document(task.build), source))
        sides = (old, path) if source.random() < 0.7 else (path, old)
        outcome = trial(*sides)
        if outcome.problems and task.keep:
            kept = Path(task.keep) / f"{task.form}-{task.build}-{task.seed}{path.suffix}"
            kept.write_bytes(path.read_bytes())
    return task, outcome


def _readable(document: str, source: random.Random) -> bytes:
    """A damaged snapshot, mostly one that still loads: the others never come as far as comparing."""
    for _ in range(40):
        damaged = damaged_snapshot(document, source)
        try:
            from_json(damaged)
            return damaged
        except AbistoreError:
            if source.random() < 0.01:
                return damaged
    return damaged


def tasks(libraries: int, snapshots: int, start: int, keep: str) -> Iterator[Task]:
    """So many tasks of each form, the builds in turn."""
    builds = tuple(BUILDS)
    for form, count in (("library", libraries), ("snapshot", snapshots)):
        for number in range(start, start + count):
            yield Task(form, builds[number % len(builds)], number, keep)


def main() -> int:
    """Run the tasks and print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--libraries", type=int, default=5000)
    parser.add_argument("--snapshots", type=int, default=3000)
    parser.add_argument("--start", type=int, default=0, help="the first seed; another one gives other files")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", default="", help="a folder for files that show a problem")
    chosen = parser.parse_args()
    if chosen.keep:
        Path(chosen.keep).mkdir(parents=True, exist_ok=True)
    libraries = [intact(build) for build in BUILDS]
    prepare(libraries[0], libraries[-1])
    codes: Counter[tuple[str, str]] = Counter()
    failed, slowest, largest = 0, 0.0, 0
    with ProcessPoolExecutor(chosen.jobs, mp_context=get_context("fork")) as pool:
        todo = tasks(chosen.libraries, chosen.snapshots, chosen.start, chosen.keep)
        for task, outcome in pool.map(attempt, todo, chunksize=8):
            codes[task.form, " ".join(map(str, outcome.codes)) or "killed"] += 1
            slowest, largest = max(slowest, outcome.seconds), max(largest, outcome.bytes)
            failed += bool(outcome.problems)
            for problem in outcome.problems:
                print(f"{task.form} {task.build} seed {task.seed}: {problem}", flush=True)
    for (form, code), count in sorted(codes.items()):
        print(f"{form:9}  exit {code:12}  {count}")
    print(f"worst: {slowest:.2f} s of {SECONDS}, {largest >> 20} MiB of {BYTES >> 20}; files with a problem: {failed}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
