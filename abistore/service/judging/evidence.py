"""The gate on evidence: whether both sides saw enough for a verdict to mean that nothing broke."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

import msgspec

from abistore.errors import EvidenceMissing, UsageError
from abistore.model.findings import (
    CLASS_PERHAPS_NOT_DESCRIBED,
    EXPORT_NOT_DESCRIBED,
    HEADERS_DISAGREE,
    HEADERS_NOT_GIVEN,
    HEADERS_READ_DIFFERENTLY,
    HEADERS_SELECTED_DIFFERENTLY,
    NO_LAYOUT,
    TYPE_NOT_DESCRIBED,
    VERSION_NOT_RECORDED,
    evidence_rank,
)
from abistore.model.names import FACETS, Facet
from abistore.model.recorded.unrecorded import OF_COMPILERS, spelled, unrecorded_by
from abistore.model.snapshot import CLASS_NOT_DESCRIBED, Evidence, evidence_of
from abistore.model.words.counting import counted

if TYPE_CHECKING:
    from abistore.report.model import Report, ReportedNotChecked

NO_LESS: Final = "old"
"""``--require old``: no less than the old side has seen."""


LESS_OF_SOURCE: Final = (HEADERS_NOT_GIVEN, NO_LAYOUT)
"""What the new side's headers may lack that the old side's have, though all of them were read."""
SOURCE_IN_PART: Final = (*LESS_OF_SOURCE, HEADERS_DISAGREE, HEADERS_READ_DIFFERENTLY, HEADERS_SELECTED_DIFFERENTLY)
"""Why headers that were read in full do not tell all that programs get of them."""

FULL: Final = evidence_rank(Evidence("layout", "full"))
NOT_REQUESTED: Final = "not-requested"
UNASKED: Final[dict[Facet, str]] = {
    "layout": "read it without --symbols-only",
    "source": "give the installed headers with --header",
}
"""How to get a facet that was not read."""
UNRECORDED: Final = "give the library itself, and not another tool's dump of it"
"""How to get facts that an input does not record."""


class EvidenceRequirement(msgspec.Struct, frozen=True):
    """The evidence that a verdict needs: ``facets`` in full on both sides, and ``no_less`` on the new side."""

    facets: tuple[Facet, ...] = ()
    no_less: bool = False


NOTHING: Final = EvidenceRequirement()
AS_MUCH: Final = EvidenceRequirement(no_less=True)


class EvidenceLack(msgspec.Struct, frozen=True):
    """A facet of which one side saw too little."""

    said: str
    hint: str


def usual(against: str | None, fail_on: str) -> EvidenceRequirement:
    """The default requirement: as much as the old side has, if one is named and something can fail."""
    return AS_MUCH if against is not None and fail_on != "never" else NOTHING


def requirement(text: str | None) -> EvidenceRequirement | None:
    """The meaning of ``--require``: facets and ``old``, separated by commas, or ``none``; ``None`` if it is not given.

    Raises :class:`UsageError`.
    """
    if text is None:
        return None
    words = [word.strip() for word in text.split(",")]
    unknown = [word for word in words if word not in {*FACETS, NO_LESS, "none"}]
    if unknown or (len(words) > 1 and "none" in words):
        message = f"--require {text}: {unknown[0]!r} is no facet" if unknown else f"--require {text}: none is alone"
        raise UsageError(message, f"give some of {', '.join(FACETS)} and {NO_LESS}, separated by commas, or none")
    return EvidenceRequirement(tuple(facet for facet in FACETS if facet in words), NO_LESS in words)


def lacking(report: Report, require: EvidenceRequirement) -> EvidenceMissing | None:
    """The error that says which required evidence a report lacks; ``None`` if it lacks nothing."""
    sides = (report.new, report.old)
    found = [lack for side in sides for lack in _unseen(str(side), side.evidence, require)]
    if "source" in require.facets:
        found += [
            EvidenceLack(f"{report.new}: source is required, and {item.detail}", item.hint)
            for item in report.not_checked
            if item.reason in SOURCE_IN_PART
        ]
    if "layout" in require.facets:
        found += [
            EvidenceLack(f"{report.new}: layout is required in full, and {item.detail}", item.hint)
            for item in report.not_checked
            if item.reason == CLASS_PERHAPS_NOT_DESCRIBED or _is_lost(item)
        ]
    if require.no_less:
        found += [
            EvidenceLack(f"{report.new}: {item.detail}", item.hint)
            for item in report.not_checked
            if item.facet not in require.facets and _is_less(item)
        ]
        found += [lack for facet in FACETS if facet not in require.facets for lack in _less(report, facet)]
    return _error(found)


def lacked(report: Report, lack: EvidenceMissing) -> Report:
    """The report of a verdict that does not pass for want of evidence."""
    told = {"status": "error", "code": lack.code, "error": lack.message, "hint": lack.hint}
    return msgspec.structs.replace(report, exit_code=lack.exit_code, **told)


def _is_less(item: ReportedNotChecked) -> bool:
    """Whether the new side shows less of a declaration than the old side does."""
    return (item.side == "new" and item.reason in LESS_OF_SOURCE) or _hides(item) or _is_lost(item)


def _hides(item: ReportedNotChecked) -> bool:
    """Whether the new side's headers were read so that declarations are not seen that programs may meet."""
    return item.reason == HEADERS_SELECTED_DIFFERENTLY or (item.reason == HEADERS_READ_DIFFERENTLY and bool(item.names))


def _is_lost(item: ReportedNotChecked) -> bool:
    """Whether the new side does not describe exports or types that the old side does, or not which version it shows."""
    return item.reason in (EXPORT_NOT_DESCRIBED, TYPE_NOT_DESCRIBED, VERSION_NOT_RECORDED) and item.side == "new"


def lacking_alone(library: str, evidence: Iterable[Evidence], require: EvidenceRequirement) -> EvidenceMissing | None:
    """The same for a snapshot that is compared with nothing, such as the first release of a line."""
    return _error(list(_unseen(library, tuple(evidence), require)))


def _unseen(label: str, evidence: tuple[Evidence, ...], require: EvidenceRequirement) -> Iterator[EvidenceLack]:
    for facet in require.facets:
        seen = evidence_of(evidence, facet)
        if evidence_rank(seen) < FULL:
            yield EvidenceLack(f"{label}: {facet} is required in full, and is {_told(seen)}", _hint(seen))
        elif seen.reason == CLASS_NOT_DESCRIBED:
            yield EvidenceLack(f"{label}: {facet} is required in full, and {seen.detail}", seen.hint)
        elif (facts := unrecorded_by(seen)) - OF_COMPILERS:
            yield EvidenceLack(f"{label}: {facet} is required in full, and lacks {spelled(facts)}", UNRECORDED)


def _less(report: Report, facet: Facet) -> Iterator[EvidenceLack]:
    """What the old side has seen of ``facet`` and the new side has not.

    If both saw a part, names are compared: two parts of the same size may have nothing in common.
    """
    old, new = evidence_of(report.old.evidence, facet), evidence_of(report.new.evidence, facet)
    before, after = evidence_rank(old), evidence_rank(new)
    if after < before:
        yield EvidenceLack(f"{report.new}: {facet} is {_told(new)}, and {old.state} in {report.old}", _hint(new))
    elif facts := unrecorded_by(new) - unrecorded_by(old) if before else None:
        yield EvidenceLack(f"{report.new}: its {facet} lacks {spelled(facts)}", UNRECORDED)
    elif 0 < after == before < FULL:
        items = (item for item in report.not_checked if item.facet == facet and item.side != "old")
        if lost := sorted({name for item in items for name in item.names}):
            some = counted(len(lost), "declaration")
            said = f"{facet} leaves out {some} that {report.old} describes, e.g. {', '.join(lost[:3])}"
            yield EvidenceLack(f"{report.new}: {said}", _hint(new))


def _told(seen: Evidence) -> str:
    why = seen.detail or seen.reason
    return f"{seen.state} ({why})" if why else seen.state


def _hint(seen: Evidence) -> str:
    return seen.hint or (UNASKED.get(seen.facet, "") if seen.reason == NOT_REQUESTED else "")


def _error(found: list[EvidenceLack]) -> EvidenceMissing | None:
    if not found:
        return None
    hints = dict.fromkeys(lack.hint for lack in found if lack.hint)
    hint = f"{'; '.join(hints)}; or judge without it: --require none" if hints else ""
    return EvidenceMissing("; ".join(lack.said for lack in found), hint)
