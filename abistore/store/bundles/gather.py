"""Gathering what a store holds, or a part of it, as the records of a bundle."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

import msgspec

from abistore.errors import DamagedStore
from abistore.model.digest import encode
from abistore.model.judging.consumers import asks_for
from abistore.store.bundles.records import (
    FORMAT,
    AnyRecord,
    ApprovalRecord,
    AuditLine,
    ConsumerRecord,
    FindingRecord,
    LibraryRecord,
    MoveRecord,
    Opening,
    ReviewRecord,
    TypeRecord,
    VerdictRecord,
)
from abistore.store.bundles.selection import EVERYTHING, BundleSelection
from abistore.store.bundles.shown import ShownLines
from abistore.store.consumers import stored
from abistore.store.database import audit
from abistore.store.database.audit import stamp
from abistore.store.database.database import Database
from abistore.store.database.schema import HEAD
from abistore.store.history import approvals, findings, reviews, verdicts
from abistore.store.releases import baselines, lines, releases
from abistore.store.snapshots.memory import RowMemory


def gather(database: Database, selection: BundleSelection = EVERYTHING) -> Iterator[AnyRecord]:
    """The records of what ``selection`` means, of one moment. Raises :class:`StoreError` where it is damaged."""
    try:
        with database.reading():
            yield from _gather(database, selection)
    except (msgspec.MsgspecError, zlib.error) as error:
        raise DamagedStore(f"{database.where}: what is stored is damaged ({error})") from error


def _gather(database: Database, selection: BundleSelection) -> Iterator[AnyRecord]:
    yield Opening(FORMAT, HEAD)
    shown = ShownLines(database, selection)
    libraries = sorted({line.key.library for line in shown.lines})
    for library in libraries:
        yield LibraryRecord(library, lines.scheme(database, library))
    yield from shown.names
    yield from shown.shapes
    for line in shown.lines:
        yield line.record
    yield from shown.entries()
    yield from shown.snapshots()
    yield from _moves(database, shown, selection)
    yield from _verdicts(database, shown)
    yield from (ReviewRecord(one) for one in reviews.every(database) if one.library in libraries)
    yield from (ApprovalRecord(one) for one in approvals.every(database) if one.library in libraries)
    yield from _consumers(database, libraries, selection)
    yield from _audit(database, shown, selection)


def _moves(database: Database, shown: ShownLines, selection: BundleSelection) -> Iterator[AnyRecord]:
    """The moves of the baselines; of a part of a line, those of channels that stand at what is meant of it."""
    for number, line in enumerate(shown.lines):
        versions = {row[3] for row, _ in line.snapshots.values()}
        moves = [one for one in baselines.history(database, line.key.library) if one.line == line.key]
        standing = {one.channel: one.version for one in moves}
        for one in moves:
            if selection.meant(line.key) is None or standing[one.channel] in versions:
                moved = stamp(one.moved)
                yield MoveRecord(number, one.channel, one.version, moved, one.actor, one.reason, one.digest)


def _verdicts(database: Database, shown: ShownLines) -> Iterator[AnyRecord]:
    """The judgements of what is shown, each finding before the first that has it."""
    numbers: dict[int, int] = {}
    for verdict in verdicts.every(database):
        if verdict.old not in shown.order or verdict.new not in shown.order:
            continue
        wanted = {row for rows in verdict.lists.values() for row in rows}
        new = findings.bodies(database, sorted(wanted - numbers.keys()))
        for row, (key, body) in sorted(new.items(), key=lambda item: item[1]):
            numbers[row] = len(numbers)
            yield FindingRecord(key.hex(), msgspec.Raw(body))
        lists = [tuple(sorted(numbers[row] for row in verdict.lists.get(part, ()))) for part in verdicts.LISTS]
        remarks = msgspec.Raw(verdict.remarks) if verdict.remarks else msgspec.UNSET
        sides = (shown.order[verdict.old][0], shown.order[verdict.new][0])
        yield VerdictRecord(*sides, verdict.values, lists[0], lists[1], lists[2], remarks)


def _consumers(database: Database, libraries: Sequence[str], selection: BundleSelection) -> Iterator[AnyRecord]:
    """The consumers; for a part of a store those that ask the loader for a library of it."""
    sonames = {name: {one.soname for one in releases.releases(database, name) if one.soname} for name in libraries}
    imports, types = stored.imports(database), stored.types(database, RowMemory())
    for one in stored.every(database):
        told = one.details
        if selection.whole or any(asks_for(told, library, names) for library, names in sonames.items()):
            built = sorted(types[told.key].items())
            yield ConsumerRecord(
                **msgspec.structs.asdict(told),
                added=stamp(one.added),
                actor=one.actor,
                imports=imports[told.key],
                types=tuple(
                    TypeRecord(name, one.file, tuple(msgspec.Raw(encode(shape)) for shape in one.shapes))
                    for name, one in built
                ),
            )


def _audit(database: Database, shown: ShownLines, selection: BundleSelection) -> Iterator[AnyRecord]:
    """The records of the audit; for a part of a store those that name a library of it, or the content of a snapshot."""
    libraries = {line.key.library for line in shown.lines}
    digests = {bytes(row[5]).hex() for line in shown.lines for row, _ in line.snapshots.values()}
    for origin, said in audit.every(database):
        at, actor, action, subject, detail = said
        if selection.whole or audit.concerns(subject, libraries, digests):
            yield AuditLine(origin, at, actor, action, subject, detail)
