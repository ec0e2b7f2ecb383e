"""What programs do: old clients with the new library, and the client built anew."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from benchmarks.oracle.running.draft import LIBRARIES, Sources
from examples.obtain import Missing, require

SONAME: Final = "libx.so.1"
LONGEST: Final = 5
"""Seconds after which a program that goes on counts as one that went wrong."""

STRICT: Final = {
    ".c": [
        f"-Werror={each}"
        for each in (
            "implicit-function-declaration",
            "int-conversion",
            "incompatible-pointer-types",
            "discarded-qualifiers",
        )
    ],
    ".cpp": [],
}
"""What C does not allow, and GCC of its own accord only warns of."""

LEVELS: Final = (("-O0", "-DGUARD=0xa5"), ("-O2", "-DGUARD=0x5a"))
"""How the old clients are optimised, and what their guards hold."""


class Truth(StrEnum):
    """What an edit does to programs."""

    BREAKING = "BREAKING"
    """An old program does something else with the new library, or does not run."""
    API_BREAK = "API_BREAK"
    """Old programs run as before, and their sources do not compile or link."""
    OTHER_MEANING = "OTHER_MEANING"
    """Old programs run as before, and built anew do something else."""
    HARMLESS = "HARMLESS"
    """Old programs run as before, and so when built anew."""


class DoesNotBuild(Exception):
    """The library of an edit does not compile."""


@dataclass(frozen=True)
class Built:
    """One side: its folder of headers, its library with debug information, and a stripped copy."""

    headers: Path
    library: Path
    stripped: Path


@dataclass(frozen=True)
class Ended:
    """How a program ended, and what it printed."""

    code: int
    printed: bytes

    def told_beside(self, other: Ended) -> str:
        """The first difference from another end, on one line."""
        lines = zip(other.printed.splitlines(), self.printed.splitlines(), strict=False)
        first = next((f"{was!r} -> {now!r}" for was, now in lines if was != now), "")
        return f"exit {other.code} -> {self.code}; {first}" if self.code != other.code else first or "other lines"


def build(sources: Sources, folder: Path) -> Built:
    """Build a side in an empty folder. Raises :class:`DoesNotBuild`."""
    for name, text in sources.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    include = folder / "include"
    soname = next((each.partition(",")[2].partition(",")[2] for each in sources.options if "soname" in each), SONAME)
    library, stripped = folder / "full" / soname, folder / "stripped" / soname
    for each in (library, stripped):
        each.parent.mkdir()
    words = [*_compiler(sources.code), "-g", "-O0", "-fPIC", "-shared", "-Iinclude", f"-fdebug-prefix-map={folder}=."]
    words += [f"-Wl,-soname,{soname}", *sources.options]
    words += ["-Wl,--version-script=lib.map"] if "lib.map" in sources.files else []
    done = _run([*words, sources.code, "-o", library], folder)
    if done.returncode:
        raise DoesNotBuild(done.stderr.decode(errors="replace")[:800])
    _run([require("strip", "binutils"), "-s", "-o", stripped, library], folder)
    return Built(include, library, stripped)


def client(name: str, built: Built, program: Path, level: Sequence[str] = LEVELS[0]) -> str:
    """Build the client of a library with one side; returns what the compiler said where it refused."""
    folder = LIBRARIES / name
    options = folder / "client.options"
    code = next(each for each in folder.glob("client.c*") if each.suffix in (".c", ".cpp"))
    given = options.read_text().split() if options.exists() else []
    words: list[str | Path] = [
        *_compiler(code.name),
        *STRICT[code.suffix],
        *level,
        *given,
        f"-I{built.headers}",
        f"-I{LIBRARIES}",
        code,
        built.library,
    ]
    done = _run([*words, "-o", program], program.parent)
    return done.stderr.decode(errors="replace") or "refused" if done.returncode else ""


def ended(program: Path, built: Built) -> Ended:
    """Run a program with a side's library, every symbol bound at once."""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(built.library.parent), "LD_BIND_NOW": "1"}
    try:
        done = subprocess.run(
            [program], env=environment, capture_output=True, timeout=LONGEST, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return Ended(-1000, b"")
    return Ended(done.returncode, done.stdout)


@dataclass(frozen=True)
class Clients:
    """The old clients of a library, and what each prints with the old library."""

    name: str
    old: Built
    programs: tuple[tuple[Path, Ended], ...]

    def truth(self, new: Built, folder: Path) -> tuple[Truth, str]:
        """What the new side does to programs, with what shows it."""
        for program, before in self.programs:
            after = ended(program, new)
            if after != before:
                return Truth.BREAKING, after.told_beside(before)
        if _headers(self.old) == _headers(new):
            return Truth.HARMLESS, ""  # built anew they are the same programs
        rebuilt = folder / "rebuilt"
        if said := client(self.name, new, rebuilt):
            return Truth.API_BREAK, next(
                (line for line in said.splitlines() if "error" in line or "undefined" in line), said[:200]
            )
        again = ended(rebuilt, new)
        before = self.programs[0][1]
        return (Truth.HARMLESS, "") if again == before else (Truth.OTHER_MEANING, again.told_beside(before))


def _headers(built: Built) -> dict[str, bytes]:
    paths = built.headers.rglob("*.h")
    return {str(path.relative_to(built.headers)): path.read_bytes() for path in paths}


def clients(name: str, old: Built, folder: Path) -> Clients:
    """The clients of a library, built with its old side. Raises ``Missing`` where the compiler refuses one."""
    found = []
    for level in LEVELS:
        program = folder / f"client{level[0]}"
        if said := client(name, old, program, level):
            raise Missing(f"the client of {name} does not build: {said[:500]}")
        found.append((program, ended(program, old)))
    return Clients(name, old, tuple(found))


def emptied(folder: Path) -> Path:
    """A folder without anything in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _compiler(code: str) -> list[str]:
    name, standard = ("gcc", "-std=gnu17") if code.endswith(".c") else ("g++", "-std=gnu++17")
    return [require(name, name), "-pipe", standard]


def _run(words: Sequence[str | Path], folder: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(words, cwd=folder, capture_output=True, stdin=subprocess.DEVNULL)
