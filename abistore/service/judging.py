"""Comparing two snapshots and judging the difference, and the evidence that a gate requires.

What maintainers state of their packages: what does not work beside a release, and which exports are optional.

It is shown beside findings, and no verdict depends on it: a break is accepted by an approval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec
from msgspec.structs import replace

from abistore.errors import EvidenceMissing, UsageError
from abistore.limits import limits_for
from abistore.model.decision import MissingEvidence
from abistore.model.declarations import EXPORTS, FACETS, Declared, Facet, Name
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
    Churn,
    Comparison,
    evidence_rank,
)
from abistore.model.format_gaps import OF_COMPILERS, spelled, unrecorded_by
from abistore.model.snapshot import CLASS_NOT_DESCRIBED, Evidence, PackageRead, Provenance, Snapshot, evidence_of
from abistore.model.words import counted
from abistore.report.model import Report, ReportedFinding, every
from abistore.report.outline import outline
from abistore.service.kinds import kinds

if TYPE_CHECKING:
    from abistore.diffing.reuse import Differing
    from abistore.report.model import ReportedNotChecked
    from abistore.service.ruling import Ruling

MOST_NAMED = 5

WAS_DEPRECATED = "; deprecated in the previous release"
"""What is said of a removed declaration whose deprecation is known from the compared release alone."""


def stated(report: Report, old: Provenance, new: Provenance) -> Iterator[str]:
    """What the maintainers of both sides' packages state about what changed between them."""
    before, after = old.package, new.package
    known = before.breaks if isinstance(before, PackageRead) else ()
    broken = [each for each in after.breaks if each not in known] if isinstance(after, PackageRead) else []
    if isinstance(after, PackageRead) and broken:
        yield f"the maintainer states that {after.name} {after.version} breaks {_some(broken)}"
    if not isinstance(before, PackageRead) or not before.optional:
        return
    if told := sorted(_removed(report) & set(before.optional)):
        count = counted(len(told), "removed export")
        yield f"the maintainer marks {count} optional in {before.name} {before.version}: {_some(told)}"


def _removed(report: Report) -> set[str]:
    kinds = {each.kind for each in report.kinds if each.action == "removed"}
    found = [each for each in every(report.changes) if each.kind in kinds and each.subject in EXPORTS]
    return {name for each in found for name in (each.symbol, *each.affected)}


def _some(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"


Filter: TypeAlias = Callable[[Report], Report]


def show_only(text: str | None) -> Filter:
    """A filter that keeps the findings which comma-separated tokens select, e.g. ``breaking,risk,functions``.

    Tokens are impacts, elements and actions. A finding must match one token of each sort that is given. Verdict, counts
    and exit code stay; a note says how many findings are hidden. Raises :class:`UsageError`.
    """
    if text is None:
        return lambda report: report
    from abistore.diffing.policy import parse_show_only

    wanted = parse_show_only(text)

    def shown(report: Report) -> Report:
        findings = tuple(finding for finding in report.changes if wanted.shows(finding.kind, finding.impact))
        hidden = len(report.changes) - len(findings)
        changed = counted(len(report.changes), "change")
        remark = f"{hidden} of {changed} {'is' if hidden == 1 else 'are'} not shown: --show-only {text}"
        notes = (*report.notes, remark) if hidden else report.notes
        return replace(report, changes=findings, notes=notes)

    return shown


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
        message = f"--require {text}: {unknown[0]!r} is not a facet" if unknown else f"--require {text}: none is alone"
        raise UsageError(message, f"give some of {', '.join(FACETS)} and {NO_LESS}, separated by commas, or none")
    return EvidenceRequirement(tuple(facet for facet in FACETS if facet in words), NO_LESS in words)


def lacks(report: Report, require: EvidenceRequirement) -> tuple[MissingEvidence, ...]:
    """The required evidence that a report lacks."""
    sides = (report.new, report.old)
    found = [lack for side in sides for lack in _unseen(str(side), side.evidence, require)]
    if "source" in require.facets:
        found += [
            MissingEvidence("source", f"{report.new}: source is required, and {item.detail}", item.hint)
            for item in report.not_checked
            if item.reason in SOURCE_IN_PART
        ]
    if "layout" in require.facets:
        found += [
            MissingEvidence("layout", f"{report.new}: layout is required in full, and {item.detail}", item.hint)
            for item in report.not_checked
            if item.reason == CLASS_PERHAPS_NOT_DESCRIBED or _is_lost(item)
        ]
    if require.no_less:
        found += [
            MissingEvidence(item.facet, f"{report.new}: {item.detail}", item.hint)
            for item in report.not_checked
            if item.facet not in require.facets and _is_less(item)
        ]
        found += [lack for facet in FACETS if facet not in require.facets for lack in _less(report, facet)]
    return tuple(found)


def _is_less(item: ReportedNotChecked) -> bool:
    """Whether the new side shows less of a declaration than the old side does."""
    return (item.side == "new" and item.reason in LESS_OF_SOURCE) or _hides(item) or _is_lost(item)


def _hides(item: ReportedNotChecked) -> bool:
    """Whether the new side's headers were read so that declarations are not seen that programs may meet."""
    return item.reason == HEADERS_SELECTED_DIFFERENTLY or (item.reason == HEADERS_READ_DIFFERENTLY and bool(item.names))


def _is_lost(item: ReportedNotChecked) -> bool:
    """Whether the new side does not describe exports or types that the old side does, or not which version it shows."""
    return item.reason in (EXPORT_NOT_DESCRIBED, TYPE_NOT_DESCRIBED, VERSION_NOT_RECORDED) and item.side == "new"


def lacks_alone(
    library: str, evidence: Iterable[Evidence], require: EvidenceRequirement
) -> tuple[MissingEvidence, ...]:
    """The same of a snapshot that is compared with nothing, such as the first release of a line."""
    return tuple(_unseen(library, tuple(evidence), require))


def _unseen(label: str, evidence: tuple[Evidence, ...], require: EvidenceRequirement) -> Iterator[MissingEvidence]:
    for facet in require.facets:
        seen = evidence_of(evidence, facet)
        if evidence_rank(seen) < FULL:
            yield MissingEvidence(facet, f"{label}: {facet} is required in full, and is {_told(seen)}", _hint(seen))
        elif seen.reason == CLASS_NOT_DESCRIBED:
            yield MissingEvidence(facet, f"{label}: {facet} is required in full, and {seen.detail}", seen.hint)
        elif (facts := unrecorded_by(seen)) - OF_COMPILERS:
            yield MissingEvidence(
                facet, f"{label}: {facet} is required in full, and lacks {spelled(facts)}", UNRECORDED
            )


def _less(report: Report, facet: Facet) -> Iterator[MissingEvidence]:
    """What the old side has seen of ``facet`` and the new side has not.

    If both saw a part, names are compared: two parts of the same size may have nothing in common.
    """
    old, new = evidence_of(report.old.evidence, facet), evidence_of(report.new.evidence, facet)
    before, after = evidence_rank(old), evidence_rank(new)
    if after < before:
        yield MissingEvidence(
            facet, f"{report.new}: {facet} is {_told(new)}, and {old.state} in {report.old}", _hint(new)
        )
    elif facts := unrecorded_by(new) - unrecorded_by(old) if before else None:
        yield MissingEvidence(facet, f"{report.new}: its {facet} lacks {spelled(facts)}", UNRECORDED)
    elif 0 < after == before < FULL:
        items = (item for item in report.not_checked if item.facet == facet and item.side != "old")
        if lost := sorted({name for item in items for name in item.names}):
            some = counted(len(lost), "declaration")
            said = f"{facet} leaves out {some} that {report.old} describes, e.g. {', '.join(lost[:3])}"
            yield MissingEvidence(facet, f"{report.new}: {said}", _hint(new))


def _told(seen: Evidence) -> str:
    why = seen.detail or seen.reason
    return f"{seen.state} ({why})" if why else seen.state


def _hint(seen: Evidence) -> str:
    return seen.hint or (UNASKED.get(seen.facet, "") if seen.reason == NOT_REQUESTED else "")


def evidence_error(missing: Iterable[MissingEvidence]) -> EvidenceMissing:
    """The error that says which required evidence is missing."""
    found = tuple(missing)
    hints = dict.fromkeys(each.hint for each in found if each.hint)
    hint = f"{'; '.join(hints)}; or judge without it: --require none" if hints else ""
    return EvidenceMissing("; ".join(each.sentence for each in found), hint)


OF_MOVES = frozenset(
    {"inline_namespace_moved", "namespace_renamed", "inline_namespace_moved.unexported", "symbol_renamed_batch"}
)
"""Where one of these kinds is found, the new side's declarations have the old side's names in findings."""


def told_apart(old: str, new: str) -> tuple[str, str]:
    """Two paths without the folders that both begin with: ``v1/libfoo.so`` and ``v2/libfoo.so``."""
    paths = [Path(each).absolute().parts if each else () for each in (old, new)]
    shortest = min(len(each) - 1 for each in paths if each) if any(paths) else 0
    shared = next((at for at in range(shortest) if len({each[at] for each in paths if each}) > 1), shortest)
    if not all(paths):
        shared = shortest
    first, second = ("/".join(each[shared:]) for each in paths)
    return first, second


def judge(old: Snapshot, new: Snapshot, by: Ruling | None = None) -> Report:
    """The judged difference of two snapshots, by a ruling or the strict policy. Raises :class:`Incomparable`."""
    return report(*concluded(old, new, by), (old, new))


def concluded(old: Snapshot, new: Snapshot, by: Ruling | None = None) -> tuple[Comparison, Churn]:
    """The comparison of two snapshots, as verdicts are stored, and how much changed.

    Time and memory are limited by the size of the snapshots. Raises :class:`Incomparable`, :class:`LimitExceeded`.
    """
    with limits_for(old.weight + new.weight, f"judging {new.label} against {old.label}"):
        return _concluded(old, new, by)


def _concluded(old: Snapshot, new: Snapshot, by: Ruling | None) -> tuple[Comparison, Churn]:
    from abistore.diffing.judge.judged import both_record
    from abistore.diffing.judge.judged import compare as compare_snapshots
    from abistore.diffing.reuse import differing

    sides = both_record(old, new)
    names = differing(*sides)
    return compare_snapshots(old, new, by, names), churn(*sides, names)


def report(comparison: Comparison, churned: Churn, sides: tuple[Snapshot, Snapshot]) -> Report:
    """The report of a comparison, with the declarations of its findings from both snapshots."""
    from abistore.report.document import declared

    old, new = sides
    with limits_for(old.weight + new.weight, f"comparing declarations of {old.label} and {new.label}"):
        if any(each.kind in OF_MOVES for each in comparison.findings):
            from abistore.diffing.scopes import aligned

            both = aligned(old, new)
            sides = both.old, both.new
        told = outline(comparison, churn=churned, kinds=kinds().values(), declarations=declared(comparison, *sides))
        return _with_deprecations(told, sides[0])


def _with_deprecations(report: Report, old: Snapshot) -> Report:
    """The report, in which removed declarations say that the old headers deprecate them."""
    removals = {name for name, card in kinds().items() if card.action == "removed"}

    def said(finding: ReportedFinding) -> ReportedFinding:
        name = Name(finding.subject, finding.symbol)
        is_whole = finding.kind in removals and not finding.part
        if not is_whole or not _is_deprecated(old, name):
            return finding
        return replace(finding, description=finding.description + WAS_DEPRECATED)

    return replace(report, changes=tuple(map(said, report.changes)))


def _is_deprecated(snapshot: Snapshot, name: Name) -> bool:
    return any(isinstance(each, Declared) and "deprecated" in each.traits for each in snapshot.variants("source", name))


def churn(old: Snapshot, new: Snapshot, names: Differing) -> Churn:
    """How many exports were added and removed, and how many names differ in a facet that saw both sides.

    Where both sides' headers were read, their public declarations count as well: types, constants and macros. ``names``
    are those that differ.
    """
    added, removed = (
        {name for name in names["symbol"] if name.kind in EXPORTS and name not in side.entries.get("symbol", {})}
        for side in (old, new)
    )
    changed: set[Name] = set()
    for facet in old.entries.keys() & new.entries.keys():
        both = names[facet] & old.entries[facet].keys() & new.entries[facet].keys()
        changed |= {name for name in both if name.kind != "import"} if facet == "symbol" else both
    if "source" in old.entries.keys() & new.entries.keys():
        before, after = ({name for name in names["source"] if _is_public(side, name)} for side in (old, new))
        added |= {name for name in after - before if not _is_exported(old, name)}
        removed |= {name for name in before - after if not _is_exported(new, name)}
    return Churn(len(added), len(removed), len(changed))


def _is_public(side: Snapshot, name: Name) -> bool:
    return any(isinstance(each, Declared) for each in side.variants("source", name))


def _is_exported(side: Snapshot, name: Name) -> bool:
    return name.kind in EXPORTS and name in side.entries.get("symbol", {})
