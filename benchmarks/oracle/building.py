"""The library of a seed: its pieces, drawn and edited, built on both sides by GCC and Clang."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from benchmarks.oracle.drawing import drawn
from benchmarks.oracle.edits import edited
from benchmarks.oracle.facts import facts
from benchmarks.oracle.pieces import Language, Piece
from benchmarks.oracle.probe import TOP, probe, tables
from benchmarks.oracle.text import header, internals, source
from examples.obtain import Missing, require

SONAME: Final = "libcase.so.1"
STANDARD: Final[Mapping[Language, str]] = {"c": "c11", "c++": "c++17"}
MOST_TRIES: Final = 400
"""How many pieces are drawn for a library. About half do not compile, or have nothing that the edit fits."""

WORDS: Final = (
    "amber",
    "brook",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "heath",
    "islet",
    "jetty",
    "knoll",
    "ledge",
)
SINK: Final = "static void *volatile sink;\n"

COMPILERS: Final[Mapping[str, Mapping[Language, Sequence[str]]]] = {
    "gcc": {"c": ("gcc",), "c++": ("g++",)},
    "clang": {"c": ("clang", "-fstandalone-debug"), "c++": ("clang++", "-fstandalone-debug")},
}


@dataclass(frozen=True)
class Edited:
    """A piece on both sides, and what was done to it."""

    old: Piece
    new: Piece
    edit: str


@dataclass(frozen=True)
class Side:
    """One side: the folder of its headers, and each library by who made it: ``gcc``, ``clang``, or ``stripped``."""

    headers: Path
    libraries: Mapping[str, Path]
    printed: Mapping[str, str]

    def facts(self, piece: Piece, maker: str) -> dict[str, dict[str, str]]:
        """What a compiler says of a piece, and of the library that it made."""
        return facts(self.printed[maker], self.libraries[maker], piece)


@dataclass(frozen=True)
class Library:
    """All pieces of a seed in one library, before and after."""

    seed: int
    language: Language
    pieces: Sequence[Edited]
    old: Side
    new: Side


def built(seed: int, count: int, language: Language, folder: Path) -> Library:
    """The library of a seed, made in an empty folder. Raises :class:`examples.obtain.Missing` without compilers."""
    random, pieces = Random(f"{language} {seed}"), list[Edited]()
    for _ in range(MOST_TRIES):
        if len(pieces) == count:
            break
        old = drawn(f"{random.choice(WORDS)}{len(pieces)}q", language, random)
        changed = edited(old, random)
        if changed and all(_compiles(each, folder) for each in (old, changed[0])):
            pieces.append(Edited(old, *changed))
    sides = []
    for name, piece in (("old", lambda each: each.old), ("new", lambda each: each.new)):
        sides.append(_side(folder / name, pieces, piece, language))
    return Library(seed, language, pieces, *sides)


def _compiles(piece: Piece, folder: Path) -> bool:
    path = folder / ("try.c" if piece.language == "c" else "try.cpp")
    path.write_text(header(piece) + SINK + source(piece))
    words = [*_compiler("gcc", piece.language), "-fsyntax-only", path.name]
    return subprocess.run(words, cwd=folder, capture_output=True).returncode == 0


def _side(folder: Path, pieces: Sequence[Edited], side: Callable[[Edited], Piece], language: Language) -> Side:
    include = folder / "include"
    include.mkdir(parents=True)
    declared = _linked_as(language, "".join(header(side(each)) for each in pieces))
    (include / "case.h").write_text(f"#pragma once\n{declared}")
    code = folder / ("case.c" if language == "c" else "case.cpp")
    code.write_text('#include "include/case.h"\n' + SINK + "".join(source(side(each)) for each in pieces))
    libraries = {}
    for maker in COMPILERS:
        libraries[maker] = folder / maker / SONAME
        libraries[maker].parent.mkdir()
        made: list[str | Path] = [
            "-g",
            "-O1",
            "-shared",
            "-fPIC",
            f"-Wl,-soname,{SONAME}",
            "-o",
            libraries[maker],
            code.name,
        ]
        _run([*_compiler(maker, language), *made], folder)
    libraries["stripped"] = folder / "stripped" / SONAME
    libraries["stripped"].parent.mkdir()
    _run([require("strip", "binutils"), "-s", "-o", libraries["stripped"], libraries["gcc"]], folder)
    asked = "\n".join(probe(side(each), each.old) for each in pieces)
    hidden = _linked_as(language, "".join(internals(side(each)) for each in pieces))
    (folder / "probe.cpp").write_text(f'{TOP}#include "include/case.h"\n{hidden}int main() {{\n{asked}\n}}\n')
    written = _tables(folder) if language == "c++" else ""
    return Side(include, libraries, {maker: _printed(folder, maker, libraries[maker]) + written for maker in COMPILERS})


def _linked_as(language: Language, text: str) -> str:
    """Declarations for C++ too."""
    if language == "c++":
        return text
    return f'#ifdef __cplusplus\nextern "C" {{\n#endif\n{text}#ifdef __cplusplus\n}}\n#endif\n'


def _tables(folder: Path) -> str:
    """What GCC writes of vtables: nothing that a program can ask tells the slot of a destructor."""
    words = [*_compiler("gcc", "c++"), "-fsyntax-only", "-fdump-lang-class=classes.txt", "case.cpp"]
    _run(words, folder)
    return tables((folder / "classes.txt").read_text())


def _printed(folder: Path, maker: str, library: Path) -> str:
    """What the program says that a compiler made with the header."""
    words: list[str | Path] = [*_compiler(maker, "c++"), "-fno-access-control", "probe.cpp", "-o", "probe", library]
    _run([*words, f"-Wl,-rpath,{library.parent}"], folder)
    return _run([folder / "probe"], folder)


def _compiler(maker: str, language: Language) -> list[str]:
    name, *options = COMPILERS[maker][language]
    return [require(name, name), *options, "-w", f"-std={STANDARD[language]}"]


def _run(words: Sequence[str | Path], folder: Path) -> str:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise Missing(f"{words[0]} ended with {done.returncode} in {folder}: {done.stderr[:1000]}")
    return done.stdout
