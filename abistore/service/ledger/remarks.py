"""Remarks about several releases: breaks that no single step shows, and exports that a release restores."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from abistore.model.findings import Comparison, Verdict
from abistore.model.history import Release, StoredVerdict
from abistore.model.names import Name
from abistore.report.heading import evidence_gap
from abistore.report.wording import named
from abistore.service.history.several import listed, restores, returns, shown_by, whole_breaks
from abistore.service.ledger.measures import Measure
from abistore.service.listing import releases_of
from abistore.service.since.departed import AskedRelease, Departures, lacks
from abistore.service.since.probing import broken_names

if TYPE_CHECKING:
    from abistore.store.history.returning import ReturnedExport
    from abistore.store.store import Store

Ask: TypeAlias = Callable[[Release, Release], StoredVerdict | str]
"""Asks for the verdict about two releases, or why there is none."""


def remarks(
    store: Store, asked: AskedRelease, measures: Sequence[Measure], departures: Departures, ask: Ask
) -> Iterator[str]:
    """The sentences about a release: exports that come back, and what it is to each baseline beside the previous one.

    The previous release is the middle one of three: one that is compatible with both neighbours may hide that the
    third breaks the first, and one that breaks the first may be mended by the third. A release that was passed over
    comes after the previous one, which is no middle then. What came or changed between and is gone or another is told
    by itself.
    """
    release = asked.release
    previous = next((each.against for each in measures if each.roles[0].role == "previous"), None)
    if previous is None:
        return
    back = returned_by(store, release)
    yield from returns(back)
    told = {each.name for each in back}
    places = {each.sequence: place for place, each in enumerate(releases_of(store, release.line))}
    for each in measures:
        if places[each.against.sequence] < places[previous.sequence]:
            verdicts = ask(each.against, previous), ask(previous, release), ask(each.against, release)
            yield from _of_three((each.against, previous, release), verdicts, told)
    yield from _nameless(release, measures)
    yield from lacks(asked, departures, lambda old, new: _compared(ask(old, new)))


def _nameless(release: Release, measures: Sequence[Measure]) -> Iterator[str]:
    """That no earlier release stands for the programs of a library without SONAME."""
    if release.soname is None and not any(role.role == "file_name" for each in measures for role in each.roles):
        name = release.recorded_name or "which is not known"
        yield f"{release.version} has no SONAME: programs record its file name, {name}, which no earlier release has"


def returned_by(store: Store, release: Release) -> list[ReturnedExport]:
    """The exports that a release has again."""
    every = store.returned_exports(release.line, releases_of(store, release.line))
    return [each for each in every if each.back.sequence == release.sequence]


def _of_three(
    releases: tuple[Release, Release, Release], verdicts: tuple[StoredVerdict | str, ...], told: Collection[Name]
) -> Iterator[str]:
    base, middle, last = releases
    first, step, whole = map(_compared, verdicts)
    if first is None or step is None or whole is None:
        return
    steps = max(first.verdict, step.verdict)
    unseen = broken_names(whole.findings) - broken_names(first.findings) - broken_names(step.findings)
    if whole.verdict >= Verdict.API_BREAK and whole.verdict > steps:
        why = _unseen_because(base, middle, last)
        yield f"{whole_breaks((base.version, last.version), whole.verdict, steps)}: {_spelled(unseen, whole)}{why}"
    elif unseen:
        yield (
            f"{last.version} breaks {_spelled(unseen, whole)} for programs built against {base.version}, and neither "
            f"{base.version} -> {middle.version} nor {middle.version} -> {last.version} does"
        )
    restored = broken_names(first.findings, shown_by(middle, last)) - broken_names(whole.findings) - set(told)
    if restored:
        what = _spelled(restored, first)
        yield restores(what, middle.version, (base.version, last.version))


def _compared(given: StoredVerdict | str) -> Comparison | None:
    return None if isinstance(given, str) else given.comparison


def _unseen_because(base: Release, middle: Release, last: Release) -> str:
    """Why a step shows nothing, where the release between shows less than both others."""
    gap = evidence_gap(base.evidence, middle.evidence) and evidence_gap(middle.evidence, last.evidence)
    return f" ({middle.version} shows less than both: {gap})" if gap else ""


def _spelled(names: Collection[Name], comparison: Comparison) -> str:
    """Some names as a programmer calls them: those of the findings themselves before those of consequences."""
    own = [each.name for each in comparison.findings if each.name in names]
    return listed([named(each.spelling) for each in dict.fromkeys(own or sorted(names))])
