"""What public headers cost: ``abistore ingest --header`` against ``abicheck dump -H``, whole processes.

``python -m benchmarks.headers [--rounds N]`` prints a Markdown table of medians of paired runs: 48 headers of CasADi
with its stripped library (a wheel, by pip), and a C++ library of 300 classes in 30 headers, built here by g++ with
``-g``. abistore runs with nothing kept of earlier readings, and from the fourth reading on with what it keeps. abicheck
gets an environment of its own, and reads with the Clang of this machine; ``--alone`` leaves it out. ``--floor``
measures what libclang's parse takes of that by itself, with the bodies of functions and without. ``--folder`` reads
the headers of folders instead, in this process: CPU seconds of the first parse and of the whole reading, the parses,
and the headers that do not parse.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any
from unittest.mock import patch

from abistore.extract.capture import read_snapshot
from abistore.extract.headers import clang
from abistore.extract.headers.given import find_headers
from abistore.extract.headers.invocation import UMBRELLA, CommonFlags, Invocation, Reading, include_folders, umbrella
from abistore.extract.headers.reader import work
from abistore.extract.headers.subprocess import HeaderLimits
from abistore.extract.headers.toolchain import toolchain
from abistore.extract.reader import ExtractOptions, HeaderOptions, HeaderRequest
from abistore.model.snapshot import Target
from benchmarks.accuracy.unseen.building import release
from benchmarks.against_peers import ABISTORE, install_abicheck
from benchmarks.measure import Cost, machine, measure
from benchmarks.store import table
from examples.obtain import require, run

LIMIT = 600
MEGABYTE = 1_000_000
BEFORE = 3
"""Readings until abistore has kept what it keeps."""

COUNT = 48
CLASSES = 10
"""In each of the headers of the library that is made here."""

HEADERS = 30

CLASS = """/// Number {number} of its kind.
class Shape{number} : public {base} {{
  public:
    enum class Kind {{ round, square, other{number} }};
    explicit Shape{number}(std::string name, double size = {number}.5);
    ~Shape{number}() override;
    void draw(const std::vector<Point> &points, int depth = {number}) const override;
    virtual std::map<std::string, int> kinds() const;
    std::unique_ptr<{base}> copy(Kind kind) const;
    double size() const noexcept {{ return size_ * {number}; }}
    template <typename T> T scaled(T factor) const {{ return factor * static_cast<T>(size_); }}
    static int count;

  protected:
    virtual void changed(Kind kind, std::vector<int> &where);

  private:
    void forget();
    std::string name_;
    double size_;
    std::vector<{base} *> parts_;
    Kind kind_ = Kind::round;
}};
"""

CODE = """Shape{number}::Shape{number}(std::string name, double size) : {start}name_(name), size_(size) {{ forget(); }}
Shape{number}::~Shape{number}() = default;
void Shape{number}::draw(const std::vector<Point> &points, int depth) const {{ (void)points; (void)depth; }}
std::map<std::string, int> Shape{number}::kinds() const {{ return {{ {{name_, {number}}} }}; }}
std::unique_ptr<{base}> Shape{number}::copy(Kind) const {{ return nullptr; }}
void Shape{number}::changed(Kind kind, std::vector<int> &where) {{ kind_ = kind; where.clear(); }}
void Shape{number}::forget() {{ parts_.clear(); }}
int Shape{number}::count = {number};
"""

COMMON = """#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>
namespace shapes {
#define SHAPES_MOST 300
struct Point { double x, y, z; };
class Base {
  public:
    virtual ~Base();
    virtual void draw(const std::vector<Point> &points, int depth) const = 0;
};
}
"""


@dataclass(frozen=True)
class Case:
    """A library, its public headers, and what tells a compiler to find and read them."""

    name: str
    library: Path
    headers: Sequence[Path]
    include: Path
    defines: Sequence[str] = ()

    def abistore(self, folder: Path) -> list[str | Path]:
        """Ingest into a new database."""
        words: list[str | Path] = [ABISTORE, "--db", folder / "new.db", "ingest", self.library, "--version", "1"]
        words += ["--language", "c++", "--include-dir", self.include]
        words += [word for path in self.headers for word in ("--header", path)]
        return [*words, *(word for each in self.defines for word in ("--define", each))]

    def abicheck(self, folder: Path) -> list[str | Path]:
        """A snapshot as JSON."""
        (folder / ".abicheck.yml").write_text("compile:\n  frontend: clang\n  lang: c++\n")
        words: list[str | Path] = [install_abicheck(), "dump", self.library, "-o", folder / "abicheck.json"]
        words += ["--config", folder / ".abicheck.yml", "-I", self.include]
        words += [word for path in self.headers for word in ("-H", path)]
        return [*words, *(word for each in self.defines for word in ("-D", each))]


def casadi() -> Case:
    """The first 48 headers by name of CasADi's core, but for one that does not compile alone."""
    built = release("libcasadi", "3.6.7")
    core = [path for path in built.headers if path.parent.name == "core" and path.name != "calculus.hpp"]
    headers = sorted(core)[:COUNT]
    return Case(f"CasADi 3.6.7, {COUNT} headers", built.binary, headers, built.include[0], built.defines)


def made(folder: Path) -> Case:
    """300 classes with their code."""
    headers = []
    (folder / "common.hpp").write_text(COMMON)
    for part in range(HEADERS):
        numbers = range(part * CLASSES, (part + 1) * CLASSES)
        base = "common" if not part else f"part{part - 1}"
        bases = {number: "Base" if not number % CLASSES else f"Shape{number - 1}" for number in numbers}
        starts = {number: "" if base == "Base" else f"{base}(name, size), " for number, base in bases.items()}
        for suffix, text, top in (
            ("hpp", CLASS, f'#pragma once\n#include "{base}.hpp"\n'),
            ("cpp", CODE, f'#include "part{part}.hpp"\n' + ("shapes::Base::~Base() = default;\n" if not part else "")),
        ):
            body = "".join(text.format(number=number, base=bases[number], start=starts[number]) for number in numbers)
            (folder / f"part{part}.{suffix}").write_text(f"{top}namespace shapes {{\n{body}}}\n")
        headers.append(folder / f"part{part}.hpp")
    (folder / "all.cpp").write_text("".join(f'#include "part{part}.cpp"\n' for part in range(HEADERS)))
    library = folder / "libshapes.so"
    run([require("g++", "g++"), "-shared", "-fPIC", "-g", "-O1", "all.cpp", "-o", library], folder)
    return Case(f"{CLASSES * HEADERS} classes, {HEADERS} headers", library, [folder / "common.hpp", *headers], folder)


def costs(case: Case, folder: Path, rounds: int, *, alone: bool) -> dict[str, list[Cost]]:
    """All once a round; one that needs over a tenth of the limit runs once."""
    ways: dict[str, tuple[Callable[[Path], list[str | Path]], str]] = {
        "anew": (case.abistore, "off"),
        "kept": (case.abistore, str(folder / "kept")),
        "abicheck": (case.abicheck, "off"),
    }
    if alone:
        del ways["abicheck"]
    found: dict[str, list[Cost]] = {way: [] for way in ways}
    for turn in range(-BEFORE, rounds):
        for way, (words, kept) in ways.items():
            if (turn < 0 and way != "kept") or (turn > 0 and found[way][0].seconds > LIMIT / 10):
                continue
            (folder / "new.db").unlink(missing_ok=True)
            cost = measure(words(folder), LIMIT, {"ABISTORE_HEADER_CACHE": kept})
            found[way] += [cost] * (turn >= 0)
    return found


def floor(case: Case) -> tuple[float, float]:
    """CPU seconds of one parse of all headers by libclang, with the bodies of functions and without."""
    options = HeaderOptions(
        headers=tuple(case.headers), include_dirs=(case.include,), defines=tuple(case.defines), language="c++"
    )
    given = find_headers(options)
    tools = toolchain(options, read_snapshot(case.library, ExtractOptions()).target, clang.major_version())
    invocation = Invocation(tools, options, CommonFlags(), include_folders(given, []))
    text, arguments = umbrella(given.headers), invocation.arguments(Reading("c++", "gnu++17"))
    found = []
    for bodies in (True, False):
        begun = process_time()
        if clang.parsed(UMBRELLA["c++"], text, arguments, tools.replaced, bodies=bodies) is None:
            raise SystemExit(f"{case.name}: libclang gave up")
        found.append(process_time() - begun)
    return found[0], found[1]


def floors(cases: Sequence[Case], rounds: int) -> Iterator[Sequence[str]]:
    """Medians of :func:`floor` for each library."""
    for case in cases:
        found = [floor(case) for _ in range(rounds)]
        yield case.name, *(f"{median(each):.2f}" for each in zip(*found, strict=True))


def folders(given: Sequence[str], rounds: int) -> Iterator[Sequence[str]]:
    """Medians of reading each folder, with nothing kept of earlier readings."""
    os.environ["ABISTORE_HEADER_CACHE"] = "off"
    for each in given:
        language, _, name = each.rpartition(":")
        found = [read_folder(Path(name), cpp=language == "c++") for _ in range(rounds)]
        first, whole = (median(each) for each in zip(*(one[1:3] for one in found), strict=True))
        count, _, _, parses, aside = found[0]
        yield Path(name).name, str(count), f"{first:.2f}", f"{whole:.2f}", str(parses), str(aside)


def read_folder(folder: Path, *, cpp: bool) -> tuple[int, float, float, int, int]:
    """How many headers it has, CPU seconds of their first parse and of reading them, the parses, those set aside."""
    spent: list[float] = []
    parse = clang.parsed

    def noted(*given: Any, **how: Any) -> clang.TranslationUnit | None:
        begun = process_time()
        unit = parse(*given, **how)
        spent.append(process_time() - begun)
        return unit

    limits, target = HeaderLimits(), Target("elf", "x86_64", 64, "little")
    options = HeaderOptions((folder,), language="c++" if cpp else None)
    request = HeaderRequest(options, target, cpp, False, None, limits.seconds, limits.memory, limits.silence)
    begun = process_time()
    with patch.object(clang, "parsed", noted):
        found = work(request).read
    return len(found.files), spent[0], process_time() - begun, len(spent), len(found.set_aside)


def rows(cases: Sequence[Case], folder: Path, rounds: int, *, alone: bool) -> Iterator[Sequence[str]]:
    """A line of the table for each library."""
    for case in cases:
        found = costs(case, folder, rounds, alone=alone)
        told = [word for runs in found.values() for word in _told(runs)]
        pairs = [zip(found[way], found.get("abicheck", ()), strict=False) for way in ("anew", "kept")]
        ratios = [[slow.seconds / quick.seconds for quick, slow in each] for each in pairs]
        yield case.name, *told, *(f"{median(each):.1f}" for each in ratios if each)


def _told(runs: Sequence[Cost]) -> tuple[str, str]:
    failed = {cost.status for cost in runs} - {0}
    seconds = f"{median(cost.seconds for cost in runs):.2f}"
    remark = f" (exit {', '.join(map(str, sorted(failed)))})" if failed else ""
    return seconds + remark, f"{median(cost.peak for cost in runs) / MEGABYTE:.0f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="*", metavar="CASE", help="casadi or made only")
    parser.add_argument("--rounds", type=int, default=5, help="paired runs of each command")
    parser.add_argument("--alone", action="store_true", help="without abicheck")
    parser.add_argument("--folder", action="append", default=[], metavar="[c++:]FOLDER", help="headers of C, or of C++")
    parser.add_argument("--floor", action="store_true", help="libclang's parse by itself")
    asked = parser.parse_args()
    print(f"{machine()}; CPU seconds of the whole process, medians of {asked.rounds} paired runs.\n")
    if asked.folder:
        head = ["folder", "headers", "libclang's first parse, CPU s", "reading, CPU s", "parses", "do not parse"]
        print(table(head, folders(asked.folder, asked.rounds)))
        return
    head = ["headers", "abistore anew, CPU s", "peak MB", "kept, CPU s", "peak MB"]
    head += [] if asked.alone else ["abicheck, CPU s", "peak MB", "times anew", "times kept"]
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "made").mkdir()
        makers: dict[str, Callable[[], Case]] = {"casadi": casadi, "made": lambda: made(folder / "made")}
        cases = [maker() for each, maker in makers.items() if not asked.case or each in asked.case]
        if asked.floor:
            print(table(["headers", "libclang's parse, CPU s", "without bodies"], floors(cases, asked.rounds)))
            return
        print(table(head, rows(cases, folder, asked.rounds, alone=asked.alone)))


if __name__ == "__main__":
    main()
