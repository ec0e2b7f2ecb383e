"""Where two readers of one library differ: its debug information, and its headers."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from clang import cindex

from abistore.extract.capture import read_snapshot
from abistore.extract.headers.walk import Walked, declarations
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from abistore.model.snapshot import Snapshot
from benchmarks.agreement import Difference, differences
from tests.build import build_library

HEADER = "api.h"


class Platform(NamedTuple):
    """A target, by its C and C++ compilers and by its triple."""

    triple: str
    c: str
    cpp: str
    flags: tuple[str, ...] = ()


X86_64 = Platform("x86_64-linux-gnu", "gcc", "g++")
I386 = Platform("i686-linux-gnu", "i686-linux-gnu-gcc", "i686-linux-gnu-g++")
ARM = Platform("arm-linux-gnueabihf", "arm-linux-gnueabihf-gcc", "", ("-nostdlib",))


class OneHeader(NamedTuple):
    """One header that is public, and none beside it."""

    path: Path
    name: str

    def public(self, path: str, /) -> str | None:
        return self.name if Path(path) == self.path else None

    def beside(self, path: str, /, *, system: bool) -> None:
        return None

    def surrounds(self, path: str, /) -> bool:
        return False

    def lent(self, path: str, /) -> bool:
        return False


def walked(header: str, folder: Path, arguments: Sequence[str], *, sound: bool = True, name: str = HEADER) -> Walked:
    """What a header with this text declares."""
    path = folder / name
    path.write_text(header)
    options = cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
    unit = cindex.Index.create().parse(str(path), list(arguments), options=options)
    errors = [each for each in unit.diagnostics if each.severity >= cindex.Diagnostic.Error]
    assert bool(errors) != sound, errors
    return declarations(unit, OneHeader(path, name), cpp="-xc++" in arguments)


class BothReaders(NamedTuple):
    """What the two readers say of one library."""

    layout: Snapshot
    source: Walked

    @property
    def shared(self) -> set[Name]:
        """The names that both have."""
        return self.layout.entries["layout"].keys() & self.source.entries.keys()

    @property
    def differences(self) -> list[Difference]:
        """The names that they describe differently."""
        return list(differences(self.layout.entries["layout"], self.source.entries))


def both_readers(header: str, body: str, folder: Path, language: str, platform: Platform) -> BothReaders:
    """Builds a library of ``header`` and ``body``, and reads both."""
    standard = "-std=gnu11" if language == "c" else "-std=c++20"
    library = build_library(
        f'#include "{HEADER}"\n{body}',
        language=language,
        compiler=platform.c if language == "c" else platform.cpp,
        flags=("-g", "-O0", "-w", "-fno-eliminate-unused-debug-types", standard, *platform.flags),
        files={HEADER: header},
    )
    arguments = [f"-x{language}", standard, f"--target={platform.triple}", *builtin_headers(platform, language)]
    return BothReaders(read_snapshot(library, ExtractOptions()), walked(header, folder, arguments))


@cache
def builtin_headers(platform: Platform, language: str) -> list[str]:
    """The folders that the compiler of a platform searches."""
    command = [platform.c if language == "c" else platform.cpp, f"-x{language}", "-E", "-v", "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    listed = done.stderr.partition("#include <...> search starts here:")[2].partition("End of search list")[0]
    return [word for line in listed.split("\n") if line.strip() for word in ("-isystem", line.strip())]
