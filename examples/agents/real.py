"""The store of real histories that agents are asked about: those of three case studies, a build, programs, all offline.

``python -m examples.agents.real FOLDER`` makes it. The programs are linked with stand-ins that export what the releases
of their day exported, for the store keeps no library.
"""

from __future__ import annotations

import sys
from pathlib import Path

from examples.agents.store import command
from examples.case_studies.case import case
from examples.case_studies.storing import bundle
from examples.obtain import require, run

CASES = ("htslib", "openexr", "wcslib")
BUILDS = ("libhts@1.13", "libOpenEXR@3.4.0", "libwcs@5.19.1")
"""Releases that are judged as if somebody had just built them."""

PROGRAMS = {
    "sampler": ("libhts.so.3", "double hts_lrand48(void) { return 0; }", "hts_lrand48() > 0.5"),
    "header": ("libhts.so.3", "void sam_hdr_destroy(void *header) {}", "(sam_hdr_destroy(0), 0)"),
    "veteran": ("libhts.so.2", "void bam_hdr_destroy(void *header) {}", "(bam_hdr_destroy(0), 0)"),
}
"""The SONAME that a program was linked with, the function of that library, and how the program calls it."""


def make(folder: Path) -> Path:
    """The store in a folder, beside ``builds`` and ``programs``; what is there is left alone."""
    database = folder / "real.db"
    if database.exists():
        return database
    for each in ("builds", "programs"):
        (folder / each).mkdir(parents=True, exist_ok=True)
    command(database, "import", *(bundle(case(name)) for name in CASES))
    for reference in BUILDS:
        line = ("--target", "elf-x86_64-64-little") if reference.startswith("libwcs") else ()
        command(database, "export", reference, *line, "-o", folder / "builds" / f"{reference.replace('@', '-')}.json")
    command(database, "consumers", "add", *(_program(folder / "programs", name) for name in PROGRAMS))
    return database


def _program(folder: Path, name: str) -> Path:
    soname, function, used = PROGRAMS[name]
    (folder / "library.c").write_text(f"{function}\n")
    (folder / f"{name}.c").write_text(f"{function.partition(' {')[0]};\nint main(void) {{ return {used}; }}\n")
    compiler = require("gcc", "gcc")
    run([compiler, "-shared", "-fPIC", f"-Wl,-soname,{soname}", "library.c", "-o", "libhts.so"], folder)
    run([compiler, "-g", f"-ffile-prefix-map={folder}=.", f"{name}.c", "libhts.so", "-o", name], folder)
    return folder / name


if __name__ == "__main__":
    print(make(Path(sys.argv[1])))
