"""By which scheme the releases of a library are ordered, and what declaring another one moves."""

from __future__ import annotations

from collections.abc import Sequence

from abistore.model.history import LineKey, LineOrder, Release
from abistore.model.labels.steps import AUTO
from abistore.model.labels.versions import LabelOrder, check_version, position
from abistore.store.database.audit import record
from abistore.store.database.database import Database
from abistore.store.releases.holding import hold_stored
from abistore.store.releases.lines import of_library, scheme
from abistore.store.releases.lines import set_scheme as write_scheme
from abistore.store.releases.releases import by_line, foremost, no_library, releases, scheme_of, schemes_of


def orders(database: Database, library: str) -> tuple[LineOrder, ...]:
    """How each line of ``library`` is ordered."""
    return tuple(_order(database, line, ordered) for line, ordered in by_line(releases(database, library)).items())


def set_scheme(database: Database, library: str, chosen: str, actor: str = "") -> tuple[LineOrder, ...]:
    """Declare how the versions of ``library`` are ordered: how each line is ordered then, and what moved in it.

    Raises :class:`UsageError` where the scheme is unknown or does not read a stored version.
    """
    check_version("1.0.0", chosen)
    with database.transaction():
        for line in of_library(database, library):
            hold_stored(database, line.key)
        before = by_line(releases(database, library))
        if not before:
            raise no_library(database, library)
        declared = scheme(database, library)
        if chosen != AUTO:
            for ordered in before.values():
                for release in ordered:
                    check_version(release.version, chosen)
        latest = {line: foremost(database, ordered)[-1].version for line, ordered in before.items()}
        if {declared, *schemes_of(database, library).values()} == {chosen}:
            return orders(database, library)
        write_scheme(database, library, chosen)
        after = by_line(releases(database, library))
        told = tuple(_order(database, line, after[line], before[line], latest[line]) for line in before)
        detail = [f"{chosen}; was {declared}", *(_moved(one) for one in told if one.moved)]
        record(database, actor, "scheme", library, "; ".join(detail))
    return told


def _order(
    database: Database,
    line: LineKey,
    ordered: Sequence[Release],
    before: Sequence[Release] = (),
    latest_before: str | None = None,
) -> LineOrder:
    chosen = scheme_of(database, line)
    latest = foremost(database, ordered)[-1].version
    return LineOrder(
        line=line,
        scheme=chosen,
        latest=latest,
        latest_before=latest if latest_before is None else latest_before,
        moved=tuple(now.version for was, now in zip(before, ordered, strict=False) if was != now),
        unordered=tuple(
            one.version
            for one in ordered
            if position(one.version, one.sequence, chosen).standing is LabelOrder.UNORDERED
        ),
    )


def _moved(order: LineOrder) -> str:
    return f"{order.line}: {len(order.moved)} moved, latest {order.latest}, was {order.latest_before}"
