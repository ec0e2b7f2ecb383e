"""The known consumers that the breaks of a report hurt."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from abistore.model.findings import Impact
from abistore.model.judging.consumers import Consumer
from abistore.model.names import Name
from abistore.model.snapshot import Snapshot
from abistore.model.words.counting import counted, listed
from abistore.report.model import Report, ReportedFinding
from abistore.service.consumers.fitting import ReleaseNeeds, unseen
from abistore.service.consumers.keeping import consumers_of

if TYPE_CHECKING:
    from abistore.store.store import Store


def with_consumers(store: Store, report: Report, sides: tuple[Snapshot, Snapshot]) -> Report:
    """The report with the stored consumers that each break hurts, and notes on all of them.

    A break hurts a consumer that meets it through what it imports, if the loader takes the new side for what the
    consumer asks for, and if it was not built with the type as the new side has it. ``sides`` are those compared.
    """
    new = sides[1]
    releases = store.releases(report.old.library)
    named = (report.old.soname, report.new.soname, *(each.soname for each in releases))
    sonames = {each for each in named if each}
    known = consumers_of(store, report.old.library, str(new.target), sonames)
    needs = ReleaseNeeds(new, sonames, {name for side in sides for name in _names(side)})
    loading = [each for each in known if needs.loads(each.details)]
    changes = _named(report.changes, loading, needs)
    hurt = {name for each in changes for name in each.consumers}
    notes = tuple(_notes(report.old.library, known, loading, hurt))
    return replace(report, changes=changes, notes=(*report.notes, *notes))


def _names(side: Snapshot) -> Iterator[Name]:
    for facet in ("symbol", "layout"):
        yield from side.entries.get(facet, {})


def _named(
    findings: Sequence[ReportedFinding], consumers: Sequence[Consumer], needs: ReleaseNeeds
) -> tuple[ReportedFinding, ...]:
    """The findings, each break with the consumers that it hurts."""
    met = [(each, frozenset(one.symbol for one in needs.own(each.imports))) for each in consumers]

    def hurt(finding: ReportedFinding) -> tuple[str, ...]:
        if Impact[finding.impact.upper()] is not Impact.BREAKING:
            return ()
        return tuple(one.details.name for one, imports in met if needs.hurts(finding, one.types, imports))

    return tuple(replace(each, consumers=hurt(each)) for each in findings)


def _notes(
    library: str, known: Sequence[Consumer], loading: Sequence[Consumer], hurt: Collection[str]
) -> Iterator[str]:
    if not known:
        yield f"no known consumer of {library}: `abistore consumers add` stores what programs use"
        return
    which = f": {listed(hurt)}" if hurt else ""
    yield f"hurts {len(hurt)} of {counted(len(known), 'known consumer')} of {library}{which}"
    others = {each.details.name for each in known} - {each.details.name for each in loading}
    if others:
        have = counted(len(others), "known consumer has", "known consumers have")
        yield f"{have} to be built again, for another SONAME: {listed(others)}"
    unsure = {each.details.name for each in loading if each.details.unseen} - set(hurt)
    if unsure:
        why = sorted({word for each in loading if each.details.name in unsure for word in unseen(each.details)})
        yield f"not checked of {counted(len(unsure), 'known consumer')} ({listed(unsure)}): {'; '.join(why)}"
