"""The headers of macOS and Windows that the Python package ``ziglang`` brings, for machines of another system."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

_SYSTEMS = {"apple": "any-darwin-any", "windows": "any-windows-any"}
_SITE = (
    "ABI_VERSION=1",
    "ABI_NAMESPACE=__1",
    "HAS_THREADS=1",
    "HAS_MONOTONIC_CLOCK=1",
    "HAS_TERMINAL=1",
    "HAS_MUSL_LIBC=0",
    "HAS_VENDOR_AVAILABILITY_ANNOTATIONS=0",
    "HAS_FILESYSTEM=1",
    "HAS_RANDOM_DEVICE=1",
    "HAS_LOCALIZATION=1",
    "HAS_UNICODE=1",
    "HAS_WIDE_CHARACTERS=1",
    "PSTL_BACKEND_SERIAL",
    "HARDENING_MODE=_LIBCPP_HARDENING_MODE_NONE",
    "ASSERTION_SEMANTIC_DEFAULT=_LIBCPP_ASSERTION_SEMANTIC_IGNORE",
)
"""How the system's libc++ was built: what its ``__config_site`` says, which the package leaves to its compiler."""

NEWER_CLANG = Path(__file__).with_name("newer_clang.h")
"""What a libc++ newer than libclang needs of clang."""


def folders(triple: str) -> tuple[Path, ...]:
    """The folders of the C headers of a platform, where the package is installed."""
    system = next((each for each in _SYSTEMS if f"-{each}-" in triple), None)
    places = _library() if system else ()
    return tuple(_installed(place / "libc" / "include" / _SYSTEMS[system or ""] for place in places))


class StandardLibrary(NamedTuple):
    """The folders of a library of C++, and the arguments to read its headers with."""

    folders: tuple[Path, ...]
    arguments: tuple[str, ...]


def standard_library(triple: str) -> StandardLibrary:
    """libc++, which is the library of C++ on Apple's systems alone.

    DLLs are built with the library of GCC or of Visual C++, whose types have other layouts.
    """
    places = _library() if "-apple-" in triple else ()
    found = tuple(_installed(place / name / "include" for place in places for name in ("libcxx", "libcxxabi")))
    if not found:
        return StandardLibrary((), ())
    arguments = ["-nostdinc++", *(f"-isystem{folder}" for folder in found)]
    arguments += [f"-D_LIBCPP_{each}" for each in _SITE]
    return StandardLibrary((*found, NEWER_CLANG.parent), (*arguments, "-include", str(NEWER_CLANG)))


def _library() -> Iterator[Path]:
    spec = find_spec("ziglang")
    return (Path(place) / "lib" for place in (spec.submodule_search_locations or () if spec else ()))


def _installed(found: Iterator[Path]) -> Iterator[Path]:
    return (each for each in found if each.is_dir())
