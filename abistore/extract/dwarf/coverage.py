"""How much of what a library exports its debug information describes, and what made it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec.structs import replace

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.shapes.functions import ASSEMBLY
from abistore.model.budget import HINT, REASON
from abistore.model.names import Name
from abistore.model.snapshot import Evidence
from abistore.model.words.counting import counted

if TYPE_CHECKING:
    from abistore.extract.dwarf.entries.info import DebugInfo
    from abistore.extract.dwarf.entries.units import Unit
    from abistore.extract.exports import Exports

HINTS: Final = {
    "split-debug-missing": "keep the .dwo files where the build left them, or make a .dwp beside the library",
    "types-not-recorded": "build with -g, and not with -g1 or -gline-tables-only",
    "corrupt-debug-info": "rebuild the library, or its debug file",
    REASON: HINT,
}

LANGUAGES: Final = {
    0x01: "C89", 0x02: "C", 0x0C: "C99", 0x1D: "C11", 0x2C: "C17", 0x3E: "C23", 0x8001: "assembly",
    0x04: "C++", 0x19: "C++03", 0x1A: "C++11", 0x21: "C++14", 0x2A: "C++17", 0x2B: "C++20", 0x3A: "C++23",
    0x07: "Fortran 77", 0x08: "Fortran 90", 0x0E: "Fortran 95", 0x22: "Fortran 2003", 0x23: "Fortran 2008",
    0x0D: "Ada 95", 0x10: "Objective-C", 0x11: "Objective-C++", 0x13: "D", 0x16: "Go", 0x1C: "Rust", 0x1E: "Swift",
    0x27: "Zig", 0x2E: "Ada 2005", 0x31: "assembly",
}  # fmt: skip

Losses: TypeAlias = tuple[tuple[int, tuple[str, ...]], ...]
"""Facts that are recorded from a version of DWARF on."""

CLANG: Final[Losses] = ((5, ("Method.deleted", "Record.deleted")), (4, ("Enum.scoped",)))
STRICT_GCC: Final[Losses] = (
    (5, ("Function.noreturn", "Method.deleted", "Method.reference", "Record.alignment", "Record.deleted")),
    (4, ("Enum.scoped",)),
    (3, ("Method.explicit",)),
)


def expected_places(exports: Exports, declared: Set[str]) -> tuple[list[int], list[int]]:
    """The addresses and the TLS offsets where debug information can be expected to describe something."""
    return (
        [address for address, symbols in exports.by_address.items() if not declared.isdisjoint(symbols)],
        [offset for offset, symbols in exports.tls_by_offset.items() if not declared.isdisjoint(symbols)],
    )


def coverage(exports: Exports, declared: Set[str], described: Set[str], info: DebugInfo) -> Evidence:
    """The evidence of the layout facet, given the exports that some source declares, and those that have a shape."""
    absent = sorted(declared - described)
    places = {symbol: address for address, symbols in exports.by_address.items() for symbol in symbols}
    functions = {each: places.get(each) for each in absent if exports.kinds[each] == "function"}
    _note_line_tables(functions.values(), info)
    reasons = sorted(set(info.problems))
    elsewhere = [] if reasons or not info.units else _without_declaration(absent, functions, info)
    missing = sorted(set(absent) - set(elsewhere))
    count = len(declared & described)
    evidence = Evidence("layout", "full", described=count, expected=count + len(missing))
    if not reasons and not missing:
        return replace(evidence, reason="assembly-or-folded", detail=_examples(elsewhere)) if elsewhere else evidence
    reason = reasons[0][0] if reasons else "partial-debug-info" if count else "no-debug-info"
    details = [f"{code}: {text}" for code, text in reasons[:5]]
    if len(reasons) > 5:
        details.append(f"and {len(reasons) - 5} more")
    if missing:
        some = counted(len(missing), "export is", "exports are")
        details.append(f"{some} not described, e.g. {', '.join(missing[:3])}")
    return replace(
        evidence,
        state="partial" if count else "missing",
        reason=reason,
        detail="; ".join(details),
        hint=HINTS.get(reason, "build every source file of the library with -g, those of its static libraries too"),
    )


def telling_apart(evidence: Evidence, apart: Sequence[tuple[Name, str]]) -> Evidence:
    """The evidence, with the types that object files define at different lines of one file: one object may be stale."""
    if not apart:
        return evidence
    first = ", ".join(f"{name.spelling} in {file}" for name, file in apart[:3])
    more = f" and {len(apart) - 3} more" if len(apart) > 3 else ""
    said = f"{first}{more}: object files have different definitions, from several lines of one file"
    return replace(evidence, detail="; ".join(filter(None, (evidence.detail, f"{said}; one may be stale"))))


def types_coverage(types: int, info: DebugInfo) -> Evidence:
    """The evidence of the types that a program was built with, of which so many were read."""
    if not any(each.tag == dw.TAG_BASE_TYPE for unit in info.units if unit.is_loaded for each in unit.table):
        info.problem("types-not-recorded", "no unit describes a type")
    evidence = Evidence("layout", "full", described=types, expected=types)
    if not info.problems:
        return evidence
    reason, detail = min(info.problems)
    return replace(
        evidence,
        state="partial" if types else "missing",
        reason=reason,
        detail=detail,
        hint=HINTS.get(reason, "build the program with -g"),
    )


def _note_line_tables(places: Iterable[int | None], info: DebugInfo) -> None:
    """Records the units that hold functions at ``places`` and have line tables only: ``-g1`` describes no types."""
    for unit in info.without_functions(each for each in places if each is not None):
        if unit.language != ASSEMBLY:
            info.problem(*no_types(unit))


def no_types(unit: Unit) -> tuple[str, str]:
    """The problem of a unit that was built with line tables only: reason code, and the name of its source file."""
    return "types-not-recorded", (unit.name or "a unit").rpartition("/")[2]


def _without_declaration(absent: Iterable[str], functions: Mapping[str, int | None], info: DebugInfo) -> list[str]:
    """Those of ``absent`` that debug information cannot describe, though the units that hold them have it.

    ``functions`` are those that are no data, each with its address if it has one.

    They are written in assembly, folded with equal code by compiler or linker, aliases, or chosen at load time (IFUNC).
    Units do not say which data they hold: data counts as code that is built with it does.
    """
    covered = info.covered(each for each in functions.values() if each is not None)
    found = [symbol for symbol, place in functions.items() if place is None or place in covered]
    data = [symbol for symbol in absent if symbol not in functions]
    return [*found, *data] if len(found) == len(functions) else found


def _examples(symbols: list[str]) -> str:
    some = counted(len(symbols), "export has no declaration of its own", "exports have no declaration of their own")
    return f"{some}, e.g. {', '.join(symbols[:3])}"


def compilers(units: Iterable[Unit]) -> tuple[str, ...]:
    """The producers of the units that were read, without arguments that hold paths of the build machine."""
    producers = {unit.producer for unit in units if unit.is_loaded and unit.producer}
    return tuple(sorted({" ".join(word for word in text.split() if "/" not in word) for text in producers}))


def unrecorded(units: Iterable[Unit]) -> tuple[str, ...]:
    """The facts that the compiler of one of ``units`` never records, so that their absence tells nothing.

    What each compiler records at each version of DWARF is measured by ``tests/extract/test_recorded_facts.py``.
    """
    found = set[str]()
    for unit in units:
        producer = (unit.producer or "") if unit.is_loaded else ""
        if "clang version" in producer:
            losses = CLANG
        elif producer.startswith("GNU C") and "-gstrict-dwarf" in producer:
            losses = STRICT_GCC
        else:
            continue
        for version, facts in losses:
            if unit.version < version:
                found.update(facts)
    return tuple(sorted(found))


def languages(units: Iterable[Unit]) -> tuple[str, ...]:
    """The source languages of the units that were read."""
    codes = {unit.language for unit in units if unit.is_loaded and unit.language is not None}
    return tuple(sorted(LANGUAGES.get(code, f"language {code:#x}") for code in codes))
