"""The store that agents are asked about: two libraries, built with a real compiler and stored by real commands.

``python -m examples.agents.store FOLDER`` makes it. libgeo breaks under its SONAME in 1.2 and 2.0, lost its debug
information in 1.3, and has a candidate that failed its gate; two people moved its baseline. libnet changes its SONAME
where it breaks.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from examples.obtain import Missing, require, run

ABISTORE = Path(sys.executable).with_name("abistore")
VERDICTS = (0, 2, 4)

POINT = "struct point { int x, y; };\n"
GROWN = "struct point { int x, y, z; };\n"
COLORS = "enum color { RED, GREEN };\nenum color mixed(enum color one) { return one; }\n"
NORM = "int norm(const struct point *p) { return p->x + p->y; }\nint area(struct point p) { return p.x * p.y; }\n"
RESET = "void reset(void) {}\n"
SCALE = "double scale(double by) { return by; }\n"
GEO = {
    "1.0": POINT + NORM + RESET,
    "1.1": POINT + NORM + RESET + COLORS,
    "1.2": POINT + NORM + COLORS,
    "1.3": POINT + NORM + RESET + COLORS,
    "1.4": POINT + NORM + RESET + COLORS + SCALE,
    "2.0": GROWN + NORM + RESET + COLORS + SCALE,
    "2.1": GROWN + NORM + RESET + COLORS + SCALE + "int depth(const struct point *p) { return p->z; }\n",
}
STRIPPED = {"1.3"}
NET = {
    "1.0": ("libnet.so.1", "int dial(const char *to) { return to != 0; }\nint hang_up(int line) { return line; }\n"),
    "2.0": ("libnet.so.2", "int dial(const char *to, int wait) { return to != 0 && wait; }\n"),
}
FAILED = POINT + NORM
"""What was to be libgeo 2.2: it takes much back that 2.1 had."""

BUILD = GROWN.replace("z;", "z; double weight;") + GEO["2.1"].removeprefix(GROWN)
"""What somebody works on: a struct has one field more."""

SUPPRESSIONS = """\
suppressions:
  - symbol: reset
    change_kind: func_removed
    reason: reset was never documented
"""


def make(folder: Path) -> Path:
    """The store in a folder, beside ``build/libgeo.so`` and ``accepted.yaml``; what is there is left alone."""
    database = folder / "abi.db"
    if database.exists():
        return database
    for day, (version, source) in enumerate(GEO.items(), 1):
        _store(database, _built(folder / "geo" / version, "libgeo.so.1", source, version in STRIPPED), version, day)
    for day, (version, (soname, source)) in enumerate(NET.items(), 1):
        _store(database, _built(folder / "net" / version, soname, source), version, day)
    command(database, "db", "baseline", "set", "libgeo@1.0", "--actor", "ada", "--reason", "the first stable release")
    command(
        database,
        "db",
        "baseline",
        "set",
        "libgeo@1.4",
        "--actor",
        "grace",
        "--reason",
        "1.4 has long-term support",
    )
    command(database, "db", "baseline", "set", "libnet@2.0", "--actor", "ada", "--reason", "2.0 is what we ship")
    failed = _built(folder / "geo" / "2.2", "libgeo.so.1", FAILED)
    command(database, "ingest", failed, "--version", "2.2", "--against", "prev", "--keep-failed", "--released", _day(9))
    for library in ("libgeo", "libnet"):
        command(database, "history", library)
    _built(folder / "build", "libgeo.so.1", BUILD)
    (folder / "accepted.yaml").write_text(SUPPRESSIONS)
    return database


def _built(folder: Path, soname: str, source: str, stripped: bool = False) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "library.c").write_text(source)
    library = folder / f"{soname.partition('.')[0]}.so"
    debug = ["-s"] if stripped else ["-g"]
    flags = ["-shared", "-fPIC", *debug, f"-ffile-prefix-map={folder}=.", f"-Wl,-soname,{soname}"]
    run([require("gcc", "gcc"), *flags, "library.c", "-o", library], folder)
    return library


def _store(database: Path, library: Path, version: str, day: int) -> None:
    command(database, "ingest", library, "--version", version, "--released", _day(day))


def _day(number: int) -> str:
    return f"2026-03-{number:02}"


def command(database: Path, *words: str | Path) -> None:
    """Ask abistore about a database. Raises :class:`Missing` where it does not give a verdict."""
    done = subprocess.run([ABISTORE, "--db", database, *words], capture_output=True, text=True)
    if done.returncode not in VERDICTS:
        raise Missing(f"abistore {' '.join(map(str, words))}: exit {done.returncode}\n{done.stderr}")


if __name__ == "__main__":
    print(make(Path(sys.argv[1])))
