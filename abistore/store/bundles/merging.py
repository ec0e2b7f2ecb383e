"""Bringing the contents of a bundle into a store: all of them or nothing, and each only once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import msgspec

from abistore.errors import AbistoreError, BundleError, UsageError, VersionTaken
from abistore.model.judging.consumers import BuiltType, Consumer, ConsumerDetails
from abistore.model.labels.steps import AUTO
from abistore.model.stores.merging import Merged, Side
from abistore.store.bundles import channels, ledgers
from abistore.store.bundles.arriving import Arriving
from abistore.store.bundles.contents import Contents
from abistore.store.bundles.leaving_out import leave_out
from abistore.store.bundles.records import ConsumerRecord
from abistore.store.consumers import stored, writing
from abistore.store.database import audit
from abistore.store.database.database import Database
from abistore.store.history import verdicts
from abistore.store.releases import lines, schemes
from abistore.store.snapshots.memory import decode

MOST_NAMED = 20
"""How many conflicts the message of a refusal names."""


class _NotKept(Exception):
    """Ends the transaction of a dry run."""


@dataclass(frozen=True, slots=True)
class MergeWish:
    """How a store is to be brought into another: ``prefer`` says which side wins where both say something else."""

    source: str
    prefer: Side | None = None
    dry_run: bool = False
    actor: str = ""


class _Judged(NamedTuple):
    verdicts: int
    findings: int


def merge(database: Database, found: Contents, wish: MergeWish) -> Merged:
    """Bring ``found`` into the store, in one transaction.

    Raises :class:`VersionTaken` where both sides say something else and no side is preferred, but not for a dry run,
    which tells it; :class:`BundleError` where the contents are none of a store.
    """
    told: list[Merged] = []
    try:
        with database.transaction():
            database.keep_tables_free()
            told.append(_merge(database, found, wish))
            if wish.dry_run:
                raise _NotKept
            if told[0].conflicts:
                raise _refusal(wish.source, told[0].conflicts)
    except _NotKept:
        pass
    except (ValueError, IndexError, KeyError, msgspec.MsgspecError) as error:
        raise BundleError(f"{wish.source}: {error}") from error
    except UsageError as error:
        raise BundleError(f"{wish.source}: {error.message}", error.hint) from error
    return told[0]


def _merge(database: Database, found: Contents, wish: MergeWish) -> Merged:
    conflicts: list[str] = []
    left = leave_out(found)
    orders = _orders_before(database, found)
    arriving = Arriving(database, found, wish.prefer, left)
    arriving.bring()
    conflicts += arriving.conflicts
    conflicts += _bring_orders(database, found, wish, orders)
    moves, of_channels = channels.bring(database, found, wish.prefer, arriving)
    conflicts += of_channels
    judged = _bring_verdicts(database, found, arriving.rows)
    merged = Merged(
        source=wish.source,
        dry_run=wish.dry_run,
        changed=False,
        releases=tuple(arriving.told),
        earlier=arriving.earlier,
        baseline_moves=moves,
        verdicts=judged.verdicts,
        findings=judged.findings,
        reviews=ledgers.bring_reviews(database, [one.said for one in found.reviews]),
        approvals=ledgers.bring_approvals(database, [one.said for one in found.approvals]),
        consumers=_bring_consumers(database, found.consumers),
        audit_records=audit.take_over(database, [(one.origin, _told(one)) for one in found.audit]),
        conflicts=tuple(conflicts),
        notes=tuple(arriving.notes),
        left_out=tuple(left.told),
    )
    changed = arriving.changed or any(
        (
            *(moves, judged.verdicts, merged.reviews, merged.approvals, merged.consumers, merged.audit_records),
            orders != _orders(database),
        )
    )
    if changed:
        audit.record(database, wish.actor, "merge", wish.source, _summary(merged))
    return msgspec.structs.replace(merged, changed=changed)


def _told(one: object) -> Sequence[str]:
    return tuple(getattr(one, part) for part in ("at", "actor", "action", "subject", "detail"))


def _summary(merged: Merged) -> str:
    counts = {
        "releases": sum(one.status in {"added", "replaced"} for one in merged.releases),
        "earlier": merged.earlier,
        "baseline moves": merged.baseline_moves,
        "verdicts": merged.verdicts,
        "reviews": merged.reviews,
        "approvals": merged.approvals,
        "consumers": merged.consumers,
        "audit records": merged.audit_records,
    }
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "facts of releases"


def _refusal(source: str, conflicts: Sequence[str]) -> AbistoreError:
    named = "; ".join(conflicts[:MOST_NAMED]) + ("; and others" if len(conflicts) > MOST_NAMED else "")
    hint = "say which side wins with --prefer here or --prefer there; --dry-run lists all"
    return VersionTaken(f"{source}: both sides say something else: {named}", hint)


def _orders(database: Database) -> dict[str, str]:
    """The scheme of each library that is stored."""
    return {line.key.library: lines.scheme(database, line.key.library) for line in lines.every(database)}


def _orders_before(database: Database, found: Contents) -> dict[str, str]:
    """The scheme of each library; that of a new one is what the bundle says."""
    here = _orders(database)
    for library in found.libraries:
        if library.name not in here and library.scheme != AUTO:
            lines.declare(database, library.name, library.scheme)
    return here


def _bring_orders(database: Database, found: Contents, wish: MergeWish, before: dict[str, str]) -> list[str]:
    """Order the libraries as the bundle says, where nothing else was declared; the conflicts."""
    conflicts = []
    stored = _orders(database)
    for library in found.libraries:
        here = before.get(library.name)
        if here is None or library.scheme in {here, AUTO} or library.name not in stored:
            continue
        if here != AUTO and wish.prefer is None:
            conflicts.append(f"{library.name} is ordered by {here} here, and by {library.scheme} there")
        elif here == AUTO or wish.prefer == "there":
            schemes.set_scheme(database, library.name, library.scheme, wish.actor)
    return conflicts


def _bring_consumers(database: Database, found: Sequence[ConsumerRecord]) -> int:
    """Write the consumers that are new, or were added there later than here; how many these are."""
    here = {one.details.key: one.added for one in stored.every(database)}
    new = [
        one
        for one in found
        if (one.name, one.target) not in here or datetime.fromisoformat(one.added) > here[one.name, one.target]
    ]
    for one in new:
        details = ConsumerDetails(one.name, one.target, one.file, one.sha256, one.needed, one.unseen, one.package)
        types = {
            built.name: BuiltType(tuple(decode(bytes(body)) for body in built.shapes), built.file)
            for built in one.types
        }
        writing.bring(database, Consumer(details, one.imports, types), one.added, one.actor)
    return len(new)


def _bring_verdicts(database: Database, found: Contents, rows: dict[int, int]) -> _Judged:
    """Write the judgements whose sides are here; each once."""
    bodies = [(bytes.fromhex(one.key), bytes(one.body)) for one in found.findings]
    added = new = 0
    for one in found.verdicts:
        if min(one.old, one.new) < 0 or max(one.old, one.new) >= len(found.snapshots):
            raise ValueError("a side of a verdict is missing")
        if one.old not in rows or one.new not in rows:
            continue
        sides = (rows[one.old], rows[one.new])
        if one.values.keys() == set(verdicts.BROUGHT) and verdicts.has(database, sides, one.values):
            continue
        if any(number < 0 for part in verdicts.LISTS for number in getattr(one, part)):
            raise ValueError("a finding of a verdict is missing")
        lists = {part: dict(bodies[number] for number in getattr(one, part)) for part in verdicts.LISTS}
        new += verdicts.bring(
            database, sides, one.values, lists, bytes(one.remarks) if one.remarks is not msgspec.UNSET else b""
        )
        added += 1
    return _Judged(added, new)
