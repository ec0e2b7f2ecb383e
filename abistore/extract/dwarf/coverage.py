"""How much of what a library exports its debug information describes, and what made it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, Literal

from abistore.model.snapshot import Evidence

if TYPE_CHECKING:
    from abistore.extract.dwarf.units import Unit
    from abistore.extract.elf.symbols import Exports

COMPILER_MADE: Final = re.compile(r"_ZT[VISTCvhcHW]|_ZG(?:[VR]|Tt)")
"""Virtual tables, type information, thunks, guards and the like (Itanium C++ ABI, 5.1.4): no source declares them."""

HINTS: Final = {
    "split-debug-missing": "keep the .dwo files where the build left them, or make a .dwp beside the library",
    "alternate-file-missing": "install the file that dwz moved common parts to, or name its folder with --debug-dir",
    "corrupt-debug-info": "rebuild the library, or its debug file",
}

LANGUAGES: Final = {
    0x01: "C89", 0x02: "C", 0x0C: "C99", 0x1D: "C11", 0x2C: "C17", 0x3E: "C23", 0x8001: "assembly",
    0x04: "C++", 0x18: "C++03", 0x1A: "C++11", 0x21: "C++14", 0x2B: "C++17", 0x2E: "C++20",
    0x07: "Fortran 77", 0x08: "Fortran 90", 0x0E: "Fortran 95", 0x22: "Fortran 2003", 0x23: "Fortran 2008",
    0x0D: "Ada 95", 0x10: "Objective-C", 0x11: "Objective-C++", 0x13: "D", 0x16: "Go", 0x1C: "Rust", 0x1E: "Swift",
    0x27: "Zig",
}  # fmt: skip


def is_expected(symbol: str) -> bool:
    """Whether an exported symbol has a declaration in some source, so that debug information can describe it."""
    return COMPILER_MADE.match(symbol) is None


def expected_places(exports: Exports) -> tuple[list[int], list[int]]:
    """The addresses and the TLS offsets where debug information can be expected to describe something."""
    return (
        [address for address, symbols in exports.by_address.items() if any(map(is_expected, symbols))],
        [offset for offset, symbols in exports.tls_by_offset.items() if any(map(is_expected, symbols))],
    )


def coverage(exports: Exports, described: set[str], problems: Iterable[tuple[str, str]]) -> Evidence:
    """The evidence of the layout facet, given the symbols whose places have a DIE."""
    expected = {symbol for symbol in exports.kinds if is_expected(symbol)}
    absent = sorted(expected - described)
    count = len(expected) - len(absent)
    reasons = sorted(set(problems))
    if not reasons and not absent:
        return Evidence("layout", "full", described=count, expected=len(expected))
    reason = reasons[0][0] if reasons else "partial-debug-info" if count else "no-debug-info"
    details = [f"{code}: {text}" for code, text in reasons[:5]]
    if len(reasons) > 5:
        details.append(f"and {len(reasons) - 5} more")
    if absent:
        details.append(f"{len(absent)} exports are not described, e.g. {', '.join(absent[:3])}")
    state: Literal["partial", "missing"] = "partial" if count else "missing"
    hint = HINTS.get(reason, "build all of the library with -g")
    return Evidence("layout", state, reason, "; ".join(details), hint, described=count, expected=len(expected))


def compilers(units: Iterable[Unit]) -> tuple[str, ...]:
    """The producers of the units that were read, without arguments that hold paths of the build machine."""
    producers = {unit.producer for unit in units if unit.is_loaded and unit.producer}
    return tuple(sorted({" ".join(word for word in text.split() if "/" not in word) for text in producers}))


def languages(units: Iterable[Unit]) -> tuple[str, ...]:
    """The source languages of the units that were read."""
    codes = {unit.language for unit in units if unit.is_loaded and unit.language is not None}
    return tuple(sorted(LANGUAGES.get(code, f"language {code:#x}") for code in codes))
