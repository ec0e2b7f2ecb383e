"""The snapshot of the source revision that a change was made from, and what stood broken there already."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from abistore.errors import AbistoreError, SnapshotNotFound
from abistore.model.history import Release
from abistore.report.model import Report, ReportedFinding, every
from abistore.report.outline import parts_of
from abistore.service.history.verdicts import judged

if TYPE_CHECKING:
    from abistore.service.judging.ruling import Ruling
    from abistore.store.store import Store

SHORTEST = 7
"""A revision is named by so many of its first digits at least, as git shows them."""


class Inherited(NamedTuple):
    """The ids of what the merge base has against the baseline; ``untold`` says why they are not known.

    Of each finding they are its id, and those of all that it covers and causes, each by itself.
    """

    findings: frozenset[str] = frozenset()
    untold: str = ""


def merge_base(store: Store, report: Report, profile: str | None, named: str) -> Release:
    """The stored build of a revision, or of a version, in the line that a report is about; candidates count too.

    Of several builds of one revision the last one is meant. Raises :class:`SnapshotNotFound`, where several revisions
    begin so, too: a build of another one would tell what stood before.
    """
    side = report.new
    kept = (*store.releases(side.library, side.target, profile), *store.candidates(side.library, side.target, profile))
    found = [each for each in kept if _is_of(each, named)]
    if not found:
        raise SnapshotNotFound(
            f"{side.library}: no build of the merge base {named} is stored",
            "ingest each build of the main branch with --revision, or leave out --merge-base",
        )
    exact = [each for each in found if named in (each.version, each.revision)]
    several = sorted({each.revision or each.version for each in found})
    if not exact and len(several) > 1:
        raise SnapshotNotFound(
            f"{side.library}: builds of several revisions begin with {named}: {', '.join(several[:3])}",
            "give --merge-base with all digits",
        )
    return max(exact or found, key=lambda each: each.sequence)


def inherited(store: Store, base: Release, report: Report, profile: str | None, by: Ruling | None) -> Inherited:
    """What ``base`` already broke of the release that ``report`` judges against."""
    side = report.old
    olds = [each for each in store.releases(side.library, side.target, profile) if each.digest == side.digest]
    if not olds:
        return Inherited(untold=f"{side.library} {side.version} is not stored any more")
    old = next((each for each in olds if each.version == side.version), olds[-1])
    if old == base:
        return Inherited()
    try:
        stood = judged(store, old, base, by=by).report.changes
        return Inherited(frozenset(one for each in every(stood) for one in (each.id, *parts_of(each))))
    except AbistoreError as error:
        return Inherited(untold=error.message)


def introduced(report: Report, before: Inherited) -> tuple[ReportedFinding, ...]:
    """The findings of a report that the merge base did not have, or not all that they cover."""
    return tuple(each for each in report.changes if not _stood(each, before))


def _stood(finding: ReportedFinding, before: Inherited) -> bool:
    if finding.id in before.findings:
        return True
    is_further = "-" in finding.id  # one more of the same identity
    return not is_further and parts_of(finding) <= before.findings


def _is_of(release: Release, named: str) -> bool:
    revision = release.revision or ""
    return named == release.version or named == revision or (len(named) >= SHORTEST and revision.startswith(named))
