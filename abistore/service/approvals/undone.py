"""Whether what somebody approved happened since, and was taken back: then it needs another approval."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

from abistore.errors import Incomparable
from abistore.model.findings import with_consequences
from abistore.model.history import LineKey, Release
from abistore.model.judging.approvals import Approval, called_by_facts, never_undone, no_later
from abistore.model.judging.identity import identity, parts_of
from abistore.model.labels.naming import EVERY_PROFILE
from abistore.service.judging.judging import concluded

if TYPE_CHECKING:
    from abistore.store.store import Store

MOST_SEEN = 20
"""So many stored judgements are looked at for what was reported with a finding."""


def stood_at(store: Store, library: str, target: str, profile: str) -> str:
    """The version that the lines of a library end with now, on one target and in one profile or in all."""
    last = ""
    lines = (key for key in store.lines() if key.library == library and target in {"", key.target})
    for line in sorted(key for key in lines if profile in {EVERY_PROFILE, key.profile}):
        latest = store.foremost(store.releases(library, line.target, line.profile))[-1].version
        if not last or no_later(last, latest, store.scheme(library)):
            last = latest
    return last


def undone_before(store: Store, old: Release | None) -> Callable[[Approval], bool]:
    """Tells of an approval whether its finding happened since it was given, and is undone in ``old``.

    A release has a finding where ``old``, judged as if that release came after it, shows it. Only releases beside
    which the declaration changed are judged.
    """
    if old is None or old.candidate:
        return never_undone

    @cache
    def found(earlier: Release) -> frozenset[str]:
        try:
            after, before = store.load_many([old, earlier])
            comparison, _ = concluded(after, before)
        except Incomparable:
            return frozenset()
        return frozenset(
            called
            for each in with_consequences((*comparison.findings, *comparison.suppressed))
            for called in (identity(each).hex(), *parts_of(each))
        )

    def undone(one: Approval) -> bool:
        wanted = {one.identity.partition("-")[0], *_alone(one)}
        return any(not wanted.isdisjoint(found(each)) for each in _since(store, one, old))

    return undone


def _alone(one: Approval) -> Iterator[str]:
    """The identity of what was approved without what it covers, which may have happened by itself."""
    if one.facts is not None and one.facts.covers:
        yield called_by_facts(one.facts, ())


def seen_with(store: Store) -> Callable[[Approval], frozenset[str]]:
    """Tells what was reported with a finding when it was approved, for approvals whose identity covers none of that.

    That is what stored judgements of before then have as its consequences.
    """

    @cache
    def seen(identity: str, until: datetime) -> frozenset[str]:
        found, _ = store.findings(identity, MOST_SEEN)
        told = [each.finding for each in found if each.identity == identity and each.judged <= until]
        return frozenset(called for each in with_consequences(told) for called in parts_of(each))

    return lambda one: frozenset() if one.facts and one.facts.covers is not None else seen(one.identity, one.approved)


def _since(store: Store, one: Approval, old: Release) -> Iterator[Release]:
    """The releases from where the line stood when something was approved up to ``old``, where it may have happened."""
    line, scheme = old.line, store.scheme(old.line.library)
    if not one.stood_at or one.stood_at == old.version:
        return
    ordered = store.releases(line.library, line.target, line.profile)
    versions = [each.version for each in ordered]
    if one.stood_at in versions:
        between = ordered[versions.index(one.stood_at) : versions.index(old.version)]
    else:
        before = ordered[: versions.index(old.version)]
        between = tuple(each for each in before if no_later(one.stood_at, each.version, scheme))
    changed = _changed(store, one, line)
    yield from (
        each for number, each in enumerate(between) if number == 0 or changed is None or each.version in changed
    )


def _changed(store: Store, one: Approval, line: LineKey) -> frozenset[str] | None:
    """The versions in which a declaration changed; ``None`` where the line has none of this name."""
    if one.facts is None:
        return None
    events = store.logs([one.facts.symbol], line.library).get(line, ())
    return frozenset(event.release.version for event in events) or None
