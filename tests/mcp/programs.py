"""Programs that use a library, and a store that knows them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from abistore.interface import add_consumers

HEADER = "struct point { int x, y; };\nint norm(const struct point *p);\nint gone(void);\n"
PROGRAMS = {
    "caller": "int main(void) { return gone(); }\n",
    "measurer": "int main(void) { struct point p = {1, 2}; return norm(&p); }\n",
    "idler": "int main(void) { return 0; }\n",
}


def program(folder: Path, text: str, library: Path, name: str) -> Path:
    """A program that is linked with a release, from sources that include its header."""
    source, built = folder / f"{name}.c", folder / name
    (folder / "geo.h").write_text(HEADER)
    source.write_text(f'#include "geo.h"\n{text}')
    linked = ("-Wl,--no-as-needed", str(library))
    subprocess.run(["gcc", "-w", "-g", str(source), "-o", str(built), *linked], check=True, cwd=folder)
    return built


def with_programs(database: Path, library: Path, folder: Path) -> Path:
    """A copy of a database that knows all of them, which use its library."""
    copied = Path(shutil.copy(database, folder / "used.db"))
    built = [program(folder, text, library, name) for name, text in PROGRAMS.items()]
    add_consumers(built, database=copied)
    return copied
