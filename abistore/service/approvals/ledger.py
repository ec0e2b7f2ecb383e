"""The ledger of accepted breaks: what holds, what is over, and what meets no finding."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from abistore.model.judging.approvals import Approval, GatePlace, in_force, state_at
from abistore.model.judging.identity import PLACE_SIZE
from abistore.model.labels.blanks import check_not_blank
from abistore.model.names import Name
from abistore.service.approvals.approving import facts_of
from abistore.service.database import Database, using
from abistore.service.spelled import display

if TYPE_CHECKING:
    from abistore.store.store import Store

LedgerState: TypeAlias = Literal["holds", "expired", "changed", "unused", "withdrawn", "replaced"]
PAST: frozenset[LedgerState] = frozenset({"withdrawn", "replaced"})
"""What becomes only of approvals that do not stand any more."""


class LedgerEntry(msgspec.Struct, frozen=True):
    """An approval and what has become of it.

    ``expired``: no latest release may use it any more. ``changed``: stored comparisons have the finding with other
    facts only, so that it has to be approved again. ``unused``: none has a finding in its place. ``replaced``: what
    was said later of the same finding holds. ``found_in`` is the stored comparison that had the finding first.
    """

    approval: Approval
    state: LedgerState
    found_in: str = ""

    @property
    def called(self) -> str:
        """What was approved, as a programmer calls it."""
        facts = self.approval.facts
        return display(Name(facts.subject, facts.symbol), ()) if facts else ""


def approvals(
    library: str | None = None,
    *,
    past: bool = False,
    states: Collection[LedgerState] = (),
    today: date | None = None,
    database: Database = None,
) -> tuple[LedgerEntry, ...]:
    """What is approved in one library, or in all, with what that replaced; with ``past`` all that ever was.

    The past comes oldest first. ``states`` chooses those of which this has become, past ones too where it names them;
    none means all.
    """
    check_not_blank("the library", library)
    day = today or datetime.now(UTC).date()
    with using(database) as store, store.reading():
        said = [one for one in store.approvals() if library in {None, one.library}]
        standing = in_force(said)
        listed = said if past or not PAST.isdisjoint(states) else (*standing, *_replaced(said, standing))
        places = {name: tuple(_places(store, name, day)) for name in {one.library for one in listed}}
        entries = (_entry(store, one, one in standing, places[one.library]) for one in listed)
        return tuple(one for one in entries if not states or one.state in states)


def _replaced(said: Iterable[Approval], standing: Sequence[Approval]) -> Iterator[Approval]:
    """What holds no more because something else was approved of the same finding, which stands."""
    found: dict[tuple[str, ...], list[Approval]] = {}
    for one in said:
        spoken = found.setdefault(one.about, [])
        if one.withdrawn:
            spoken[:] = [each for each in spoken if one.project and each.project != one.project]
        else:
            spoken.append(one)
    for one in standing:
        yield from (each for each in found.pop(one.about, ()) if each not in standing)


def _places(store: Store, library: str, today: date) -> Iterator[GatePlace]:
    """Where the latest release of each line stands."""
    scheme = store.scheme(library)
    for line in sorted(key for key in store.lines() if key.library == library):
        latest = store.foremost(store.releases(library, line.target, line.profile))[-1:]
        for release in latest:
            yield GatePlace(today, release.version, release.soname, None, scheme, line.target, line.profile)


def _entry(store: Store, one: Approval, stands: bool, places: tuple[GatePlace, ...]) -> LedgerEntry:
    if not stands:
        return LedgerEntry(one, "withdrawn" if one.withdrawn else "replaced")
    found, _ = store.findings(one.identity, 1)
    if one.facts is None and found:
        one = msgspec.structs.replace(one, facts=facts_of(found[0]))
    found_in = f"{found[0].old.version} -> {found[0].new.version}" if found else ""
    anywhere = msgspec.structs.replace(one, scope="forever")
    if places and all(state_at(anywhere, place) == "expired" for place in places):
        return LedgerEntry(one, "expired", found_in)
    if found:
        return LedgerEntry(one, "holds", found_in)
    same_place, _ = store.findings(one.identity[: 2 * PLACE_SIZE], 1)
    return LedgerEntry(one, "changed" if same_place else "unused")
