"""The table of a release's libraries, worst first, and those without a change in one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from abistore.model.findings import Verdict
from abistore.model.words.counting import counted
from abistore.report.model import ReleaseLibrary, Report
from abistore.report.wording import numbers

NAMES_SHOWN = 5

_ONE_SIDED = {"added": Verdict.COMPATIBLE, "removed": Verdict.BREAKING, "moved": Verdict.COMPATIBLE_WITH_RISK}


class LibraryRow(NamedTuple):
    """A library of a release; ``tone`` is the colour of its ``verdict``."""

    name: str
    soname: str
    exports: str
    verdict: str
    tone: str
    counts: str


class LibraryTable(NamedTuple):
    """The libraries that changed, and in words those that did not; empty where all did."""

    rows: tuple[LibraryRow, ...]
    unchanged: str


def library_table(report: Report) -> LibraryTable:
    """The libraries of a report about releases; no rows for a report about one library."""
    changed = [each for each in report.libraries if each.verdict != "NO_CHANGE" or each.evidence_gap]
    others = [each.name for each in report.libraries if each not in changed]
    changed.sort(key=lambda each: (-_weight(each), each.name))
    several = len({each.target for each in report.libraries}) > 1
    return LibraryTable(tuple(_row(each, several) for each in changed), _unchanged(others))


def _weight(library: ReleaseLibrary) -> Verdict:
    return Verdict[library.verdict] if library.verdict else _ONE_SIDED[library.state]


def _row(library: ReleaseLibrary, several: bool) -> LibraryRow:
    partly = f" in what could be checked: {library.evidence_gap}" if library.evidence_gap else ""
    tone = {"no_change": "compatible", "compatible_with_risk": "risk"}
    colour = _weight(library).name.lower()
    return LibraryRow(
        name=f"{library.name} ({library.target})" if several else library.name,
        soname=_both(library.old_soname, library.new_soname),
        exports=_both(library.old_exports, library.new_exports),
        verdict=f"{library.verdict}{partly}" if library.verdict else library.state,
        tone="unchecked" if partly and _weight(library) <= Verdict.COMPATIBLE else tone.get(colour, colour),
        counts=numbers(library.summary) if library.summary else "",
    )


def _both(old: str | int | None, new: str | int | None) -> str:
    """One value, or both where both are there and differ."""
    known = dict.fromkeys(str(each) for each in (old, new) if each is not None)
    return " -> ".join(known) or "none"


def _unchanged(names: Sequence[str]) -> str:
    if not names:
        return ""
    shown, more = ", ".join(names[:NAMES_SHOWN]), len(names) - NAMES_SHOWN
    rest = f" and {more} more" if more > 0 else ""
    return f"{counted(len(names), 'library', 'libraries')} without a change: {shown}{rest}"
