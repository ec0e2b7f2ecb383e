"""Two libraries, of which one uses the other, and programs of both: real builds for tests of environments."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.build import build_library

BASE_HEADER = "struct point { int x, y; };\nint norm(const struct point *p);\nint gone(void);\nint kept(int value);\n"
BASE = BASE_HEADER + (
    "int norm(const struct point *p) { return p->x + p->y; }\n"
    "int gone(void) { return 1; }\nint kept(int value) { return value; }\n"
)
GROWN = BASE.replace("int x, y;", "long x, y;").replace("return p", "return (int)p")
REMOVED = BASE.replace("int gone(void) { return 1; }\n", "").replace("int gone(void);\n", "")
ADDED = BASE + "int fresh(void) { return 2; }\n"
MID = BASE_HEADER + (
    "int total(int x) { struct point p = {x, x}; return norm(&p) + gone(); }\nint twice(int x) { return x + x; }\n"
)
FRESH_MID = BASE_HEADER + "int fresh(void);\nint total(int x) { return x + fresh(); }\nint twice(int x) { return x; }\n"

RELEASES = {"1.0": BASE, "1.1": ADDED, "2.0": GROWN, "3.0": REMOVED}
"""Versions of the library below: 1.1 adds, 2.0 breaks by its struct, 3.0 by a removed function."""


def base(source: str = BASE, *, soname: str = "libbase.so.1", debug: bool = True) -> Path:
    """The library that the other one uses."""
    flags = ("-g", "-O1") if debug else ("-O1", "-s")
    return build_library(source, soname=soname, name="libbase.so", flags=flags)


def mid(source: str = MID, below: str = BASE) -> Path:
    """The library that uses the other one."""
    linked = ("-g", "-O1", "-Wl,--no-as-needed", str(base(below)))
    return build_library(source, soname="libmid.so.1", name="libmid.so", flags=linked)


def program(folder: Path, name: str, text: str, *libraries: Path) -> Path:
    """A program that is linked with these libraries."""
    folder.mkdir(exist_ok=True)
    source, built = folder / f"{name}.c", folder / name
    source.write_text(text)
    linked = ["-Wl,--allow-shlib-undefined", *map(str, libraries)]
    subprocess.run(["gcc", "-w", "-g", str(source), "-o", str(built), *linked], check=True, cwd=folder)
    return built


def user_of_mid(folder: Path) -> Path:
    """A program that uses the upper library alone."""
    return program(folder, "app", "int total(int); int main(void) { return total(1); }\n", mid())


def user_of_base(folder: Path) -> Path:
    """A program that uses a function of the lower library that no release changes."""
    return program(folder, "keeper", "int kept(int); int main(void) { return kept(1); }\n", base())
