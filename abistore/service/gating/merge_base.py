"""The snapshot of the source revision that a change was made from, and what stood broken there already."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from abistore.errors import AbistoreError, SnapshotNotFound
from abistore.model.history import Release
from abistore.report.model import Report, ReportedFinding
from abistore.service.history.verdicts import judged

if TYPE_CHECKING:
    from abistore.service.judging.ruling import Ruling
    from abistore.store.store import Store

SHORTEST = 7
"""A revision is named by so many of its first digits at least, as git shows them."""


class Inherited(NamedTuple):
    """The findings that the merge base has against the baseline; ``untold`` says why they are not known."""

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
        return Inherited(frozenset(each.id for each in judged(store, old, base, by=by).report.changes))
    except AbistoreError as error:
        return Inherited(untold=error.message)


def introduced(report: Report, before: Inherited) -> tuple[ReportedFinding, ...]:
    """The findings of a report that the merge base did not have."""
    return tuple(each for each in report.changes if each.id not in before.findings)


def _is_of(release: Release, named: str) -> bool:
    revision = release.revision or ""
    return named == release.version or named == revision or (len(named) >= SHORTEST and revision.startswith(named))
