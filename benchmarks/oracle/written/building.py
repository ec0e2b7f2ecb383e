"""Both sides of a written edit, built by each compiler, and the program that shows whether the edit breaks it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.oracle.building import COMPILERS, SONAME, Library, Side
from benchmarks.oracle.written.edit import MAKERS, Edit
from examples.obtain import Missing, require

STANDARD: Final = {"c": "-std=gnu17", "c++": "-std=gnu++17"}
LONGEST: Final = 10
"""Seconds after which a program that goes on counts as one that went wrong."""


@dataclass(frozen=True)
class Built:
    """An edit, its library before and after, and the compilers whose programs go wrong."""

    edit: Edit
    library: Library
    broken: frozenset[str]


def built(edit: Edit, folder: Path) -> Built:
    """An edit, built in an empty folder. Raises :class:`examples.obtain.Missing` where something does not compile."""
    old, new = (_side(edit, name, folder / name) for name in ("old", "new"))
    broken = frozenset(maker for maker in MAKERS if _goes_wrong(edit, maker, old, new, folder))
    return Built(edit, Library(0, edit.language, (), old, new), broken)


def _side(edit: Edit, side: str, folder: Path) -> Side:
    include = folder / "include"
    include.mkdir(parents=True)
    (include / "case.h").write_text("#pragma once\n" + edit.text("header", side))
    code, map = folder / f"case.{_ending(edit)}", folder / "case.map"
    code.write_text('#include "include/case.h"\n' + edit.text("source", side))
    map.write_text(edit.text("map", side))
    words = [*edit.flags["flags"], *edit.flags[f"{side}_flags"]]
    words += [f"-Wl,--version-script={map}"] if map.stat().st_size else []
    libraries = {maker: _library(edit, maker, code, folder / maker, words) for maker in MAKERS}
    libraries["stripped"] = folder / "stripped" / SONAME
    libraries["stripped"].parent.mkdir()
    _run([require("strip", "binutils"), "-s", "-o", libraries["stripped"], libraries["gcc"]])
    return Side(include, libraries, {})


def _library(edit: Edit, maker: str, code: Path, folder: Path, words: Sequence[str]) -> Path:
    folder.mkdir()
    made = ["-g", "-O1", "-shared", "-fPIC", f"-Wl,-soname,{SONAME}", "-o", folder / SONAME, code]
    _run([*_compiler(edit, maker), *words, *made])
    return folder / SONAME


def _goes_wrong(edit: Edit, maker: str, old: Side, new: Side, folder: Path) -> bool:
    code, program = folder / f"client.{_ending(edit)}", folder / f"client.{maker}"
    code.write_text('#include "case.h"\n#include <stdio.h>\n' + edit.text("client", "old"))
    words = [*edit.flags["client_flags"], "-I", old.headers, code, "-o", program, old.libraries[maker]]
    _run([*_compiler(edit, maker), "-O2", *words])
    return _said(program, old.libraries[maker]) != _said(program, new.libraries[maker])


def _said(program: Path, library: Path) -> tuple[int, bytes]:
    """What a program prints with a library, and how it ends."""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(library.parent), "LD_BIND_NOW": "1"}
    try:
        done = subprocess.run([program], env=environment, capture_output=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return -1, b""
    return done.returncode, done.stdout


def _compiler(edit: Edit, maker: str) -> list[str]:
    name, *options = COMPILERS[maker][edit.language]
    return [require(name, name), *options, "-w", STANDARD[edit.language]]


def _ending(edit: Edit) -> str:
    return "c" if edit.language == "c" else "cpp"


def _run(words: Sequence[str | Path]) -> None:
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise Missing(f"{words[0]} ended with {done.returncode}: {done.stderr[:1500]}")
