"""Programs that were linked with one build of a library, and are run with another one."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.build import build_library

GLIBC: Final = platform.libc_ver()[0] == "glibc"

SONAME: Final = "libcase.so.1"


def linked(source: str, library: Path, folder: Path, *flags: str) -> Path:
    """A program of ``source`` that was linked with ``library``. Needs glibc, as what is run with it does."""
    if not GLIBC:
        pytest.skip("the dynamic linker is not glibc's")
    program, main = folder / "program", folder / "program.c"
    main.write_text(source)
    beside(library, folder)
    subprocess.run(["gcc", main, "-o", program, *flags, folder / SONAME, "-Wl,-z,now"], check=True, capture_output=True)
    return program


def beside(library: Path, folder: Path) -> None:
    """Lay ``library`` into ``folder`` under the name that programs ask for."""
    shutil.copy(library, folder / SONAME)


def run(program: Path, library: Path) -> tuple[int, str]:
    """The exit status and the output of a program with another build of the library."""
    folder = program.parent
    beside(library, folder)
    done = subprocess.run([program], env={"LD_LIBRARY_PATH": str(folder)}, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout


def versioned(source: str, script: str, *, language: str = "c", flags: tuple[str, ...] = ("-g", "-O1")) -> Path:
    """A library whose exports have the versions that a version script gives; without one, none."""
    scripted = ("-Wl,--version-script=case.map",) if script else ()
    return build_library(
        source, language=language, soname=SONAME, flags=(*flags, *scripted), files={"case.map": script}
    )
