"""The ledger of a release, and all lines of a version. Missing verdicts are given and stored."""

from __future__ import annotations

from datetime import date
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from abistore.model.cycles import with_cycle_collection
from abistore.model.judging.standing import FoldedRelease, Ledger, MissingLine
from abistore.service.database import Database, line_target, using
from abistore.service.history.verdicts import VerdictKeeper
from abistore.service.inventory.inventory import in_line
from abistore.service.ledger.lines import folded, lines_at
from abistore.service.ledger.standings import ledger_of

if TYPE_CHECKING:
    from abistore.model.labels.windows import DeprecationWindow
    from abistore.service.judging.ruling import Ruling


def ledger(
    reference: str,
    *,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
    by: Ruling | None = None,
    today: date | None = None,
    deprecation: DeprecationWindow | None = None,
) -> tuple[Ledger, ...]:
    """Where a release stands, or the latest one of a library: against all baselines that it is measured by.

    ``deprecation`` says for how long what a release removes must have been deprecated. A library with several lines
    gives one answer each, and each tells the lines that lack this version. Verdicts that are missing are given now and
    stored. Raises :class:`SnapshotNotFound`.
    """
    with using(database) as store, VerdictKeeper(database) as keeper, with_cycle_collection():
        meant = lines_at(store, reference, target, profile)
        releases = [each for each in meant.releases if each is not None]
        stands = partial(ledger_of, store, by=by, keep=keeper.keep, today=today, deprecation=deprecation)
        if not releases:
            return (stands(in_line(store, reference, target, profile)[0]),)
        missing = tuple(
            MissingLine(key, why)
            for key, found, why in zip(meant.keys, meant.releases, meant.why, strict=True)
            if not found
        )
        return tuple(replace(stands(each), missing=missing) for each in releases)


def lines_of_release(
    reference: str,
    *,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
    by: Ruling | None = None,
    today: date | None = None,
) -> FoldedRelease:
    """All lines of a version of a library, and of the libraries that came with it in one package: one verdict.

    A line without such a release is a hole, and then nothing is called compatible. Raises :class:`SnapshotNotFound`.
    """
    with using(database) as store, VerdictKeeper(database) as keeper, with_cycle_collection():
        target = line_target(store, target)
        return folded(store, lines_at(store, reference, target, profile), by, keep=keeper.keep, today=today)
