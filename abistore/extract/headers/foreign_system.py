"""The standard headers of systems that this machine does not run: how those at hand are read, and what is missing."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from abistore.errors import HeaderError

_MINGW: Final = ("-fno-ms-compatibility", "-fgnuc-version=4.2.1", "-U_MSC_VER", "-U_MSC_FULL_VER", "-U_MSC_BUILD")
_MINGW_MACROS: Final = ("__MINGW32__=1", "__MSVCRT__=1", "__declspec=__declspec")
_MINGW_MACHINES: Final = {
    "i686": ("__i386__=1", "__i386=1", "_X86_=1"),
    "x86_64": ("__MINGW64__=1",),
    "aarch64": ("__MINGW64__=1",),
}

_FLOAT128: Final = re.compile(r"^[ \t]*__float128 [^;]*;", re.MULTILINE)


def is_of_visual_cpp(folders: Iterable[Path]) -> bool:
    """Whether the caller names the headers of Visual C++."""
    return any((folder / "vcruntime.h").is_file() for folder in folders)


def as_mingw(triple: str) -> list[str]:
    """The arguments to read MinGW's C headers for a DLL of Visual C++: names and layouts stay those of Visual C++.

    MinGW's headers take a compiler for Visual C++ if it says ``_MSC_VER``, and do not parse then.
    """
    machine = triple.partition("-")[0]
    return [*_MINGW, *(f"-D{each}" for each in (*_MINGW_MACROS, *_MINGW_MACHINES.get(machine, ())))]


def sdk(triple: str, said: Callable[..., str]) -> Path | None:
    """The SDK that a Mac has for its programs, as its tools tell."""
    if "-apple-macosx" not in triple:
        return None
    place = os.environ.get("SDKROOT") or ""
    if not place and (where := shutil.which("xcrun")):
        place = said(where, "--sdk", "macosx", "--show-sdk-path").strip()
    return Path(place) if place and Path(place).is_dir() else None


def alone(folder: Path, triple: str, *, hosted: bool) -> Mapping[str, str]:
    """GCC's own headers as they are read for another system, by path.

    They leave ``stdint.h`` and a part of ``limits.h`` to the C library, unless none is there (not ``hosted``), and use
    a type that Clang has on few systems.
    """
    found = dict[str, str]()
    if not hosted and (folder / "stdint-gcc.h").is_file():
        found[str(folder / "stdint.h")] = '#include "stdint-gcc.h"\n'
        limits = folder / "limits.h"
        if limits.is_file():
            found[str(limits)] = f"#define _LIBC_LIMITS_H_ 1\n{_text(limits)}"
    definitions = folder / "stddef.h"
    if ("-apple-" in triple or "-msvc" in triple) and definitions.is_file():
        found[str(definitions)] = _FLOAT128.sub("", _text(definitions))
    return found


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def missing(triple: str) -> tuple[str, str]:
    """What the system of a target is called whose standard headers are missing, and how to have them."""
    if "-apple-" in triple:
        how = "name its SDK with --sysroot, or install the Python package ziglang, which brings its headers"
        return "macOS" if "macosx" in triple else "Apple's systems", how
    if "-msvc" in triple:
        how = "name the folders of its headers and of the Windows SDK, each with --include-dir"
        return "Visual C++", f"{how}; headers of C need MinGW's compiler or the Python package ziglang alone"
    how = "install MinGW's compiler (g++-mingw-w64), or name its folder with --sysroot"
    return "Windows", f"{how}; headers of C need the Python package ziglang alone"


class StandardHeadersMissing(HeaderError):
    """The headers need standard headers of their system that are not on this machine: what they declare is unknown."""
