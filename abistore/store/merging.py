"""Bringing what a bundle holds into a store: all of it or nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import Final, NamedTuple, TypeVar

import msgspec
from sqlalchemy import bindparam, select

from abistore.errors import AbistoreError, BundleError, UsageError, VersionTaken
from abistore.model.approvals import Approval, BuiltType, Consumer, ConsumerDetails
from abistore.model.history import (
    BaselineMove,
    Came,
    FindingReview,
    IngestRequest,
    LineKey,
    Merged,
    MergedRelease,
    Release,
    Side,
)
from abistore.model.labels import AUTO
from abistore.model.versions import check_version, spellings_of
from abistore.store import consumers, environments, ingest, order, releases, rules, tables, timeline, verdicts
from abistore.store import database as audit
from abistore.store.bundle_files import (
    AnyRecord,
    ConsumerRecord,
    Contents,
    LineStates,
    SnapshotRecord,
    Unsayable,
    contents,
    leave_out,
    parts,
)
from abistore.store.database import Database, stamp
from abistore.store.gathering import MOST_TOGETHER, gather, of_none, of_slice, slices
from abistore.store.order import hold, ordered_releases
from abistore.store.snapshots import decode

_CARD: Final = tables.snapshot.c
_ROWS = (
    select(_CARD.id, _CARD.version, _CARD.digest, _CARD.sha256, _CARD.ingested, _CARD.superseded, _CARD.candidate)
    .where(_CARD.line_id == bindparam("line"))
    .order_by(_CARD.sequence)
)
FACTS: Final = ("released", "revision", "url")


class _Identity(NamedTuple):
    """What makes a snapshot of a line the same one on both sides."""

    version: str
    digest: str
    sha256: str
    ingested: str


class _Here(msgspec.Struct):
    """A snapshot of a line as it stands here."""

    row: int
    identity: _Identity
    superseded: bool
    candidate: bool


class Arriving:
    """The snapshots of a bundle on their way into a store."""

    def __init__(self, database: Database, found: Contents, prefer: Side | None, left: Unsayable) -> None:
        self._database, self._found, self._prefer, self._left = database, found, prefer, left
        self._states = LineStates(found)
        self._here: dict[int, list[_Here]] = {}
        self._theirs: dict[int, list[tuple[_Identity, SnapshotRecord]]] = defaultdict(list)
        for card in found.snapshots:
            self._theirs[card.line].append((_identity(card), card))
        self._known = {line: {identity for identity, _ in own} for line, own in self._theirs.items()}
        self.rows: dict[int, int] = {}
        """The rows here of snapshots by their number there, but those in conflict."""
        self.told: list[MergedRelease] = []
        self.replaced: list[tuple[Release, Release]] = []
        self.taken_back: set[tuple[LineKey, str]] = set()
        """The labels under which a release stands there, that was taken back here and stays so."""
        self.conflicts: list[str] = []
        self.notes: list[str] = list(left.notes)
        self.earlier = 0
        self.changed = False

    def bring(self) -> None:
        """Write what is not here, in the order in which it came there."""
        for number, card in enumerate(self._found.snapshots):
            if why := self._left.snapshots.get(number):
                if not card.superseded:
                    self._tell(card, "refused", why)
                continue
            if card.line not in self._here:
                self._here[card.line] = self._stored(card)
            self._bring(number, card)

    def _stored(self, card: SnapshotRecord) -> list[_Here]:
        key = self._found.key(card.line)
        identifier = hold(self._database, key)
        releases.by_identifier(self._database, key)  # verifies the rows
        return [
            _Here(row, _Identity(version, digest.hex(), sha256, ingested), bool(superseded), bool(candidate))
            for row, version, digest, sha256, ingested, superseded, candidate in self._database.rows(
                _ROWS, {"line": identifier}
            )
        ]

    def _bring(self, number: int, card: SnapshotRecord) -> None:
        identity = _identity(card)
        here = self._here[card.line]
        same = next((one for one in here if one.identity == identity), None)
        current = next((one for one in here if _is_current(one, card)), None) or self._spelled_otherwise(card)
        if same is None and current and not card.superseded and current.identity.digest == card.digest:
            same = current  # the same content, stored on both sides
        if same is not None:
            self.rows[number] = same.row
            self._meet(card, same)
        elif card.superseded:
            self.earlier += 1
            self._add(number, card, superseded=True)
        elif card.candidate:
            later = current is not None and current.identity.ingested > card.ingested
            self._place(number, card, None if later else current, superseded=later)
        else:
            self._bring_release(number, card, current)

    def _spelled_otherwise(self, card: SnapshotRecord) -> _Here | None:
        """What stands here alone under a label that means the same: ``1.0`` for ``v1.0``."""
        labels = spellings_of(card.version)
        return next(
            (
                one
                for one in self._here[card.line]
                if one.identity.version in labels
                and one.candidate == card.candidate
                and not one.superseded
                and one.identity not in self._known[card.line]
            ),
            None,
        )

    def _bring_release(self, number: int, card: SnapshotRecord, current: _Here | None) -> None:
        """Bring a release that is not here; ``current`` has another content under its label."""
        ours = current is not None and current.identity not in self._known[card.line]
        if current is None or not ours:
            kept = next((one for one in self._here[card.line] if _is_current(one, card, candidate=True)), None)
            if kept is not None:
                self._supersede(kept)
            self._place(number, card, current)
        elif self._prefer is None:
            why = f"another content is stored here ({current.identity.digest[:12]}, there {card.digest[:12]})"
            key = self._found.key(card.line)
            self.conflicts.append(f"{key.library}@{card.version} ({key.target}, {key.profile}): {why}")
            self._tell(card, "conflict", why)
        else:
            self._place(number, card, current, superseded=self._prefer == "here")

    def _place(self, number: int, card: SnapshotRecord, current: _Here | None, superseded: bool = False) -> None:
        """Add a snapshot: in the place of ``current``, or as one that was replaced."""
        before = None
        if current is not None and not superseded:
            before = self._release(current.row)
            self._supersede(current)
        row = self._add(number, card, superseded=superseded)
        if before is not None and not before.candidate:
            self.replaced.append((before, self._release(row)))
        if superseded:
            self._tell(card, "kept", "another content stays under this label")
        else:
            self._tell(card, "replaced" if current is not None else "added")

    def _add(self, number: int, card: SnapshotRecord, *, superseded: bool) -> int:
        """Append a snapshot to its line; its row."""
        key = self._found.key(card.line)
        request = IngestRequest(
            version=card.version,
            profile=key.profile,
            library=key.library,
            revision=card.revision,
            url=card.url,
            released=datetime.fromisoformat(card.released) if card.released else None,
            candidate=card.candidate,
            read_here=card.read_here,
            tags=card.tags,
        )
        said = {
            "superseded": int(superseded),
            "ingested": stamp(datetime.fromisoformat(card.ingested)),
            "former": bytes.fromhex(card.former) if card.former else None,
            "digest": bytes.fromhex(card.digest),
        }
        row, _ = ingest.bring(self._database, self._states.snapshot(card), request, card.sequence, said)
        if not self._here[card.line] and (scheme := self._found.lines[card.line].scheme):
            check_version("1.0.0", scheme)
            releases.set_own_scheme(self._database, key, scheme)
        self._here[card.line].append(_Here(row, _identity(card), superseded, card.candidate))
        self.rows[number] = row
        self.changed = True
        return row

    def _supersede(self, one: _Here) -> None:
        releases.amend_card(self._database, one.row, {"superseded": 1})
        one.superseded = True

    def _meet(self, card: SnapshotRecord, same: _Here) -> None:
        """Fill what is not said here of a release that both sides have."""
        if card.superseded and not same.superseded:
            if not any(_replaces(other, card) for _, other in self._theirs[card.line]):
                self.notes.append(f"{self._found.key(card.line)} {card.version} was removed there, and stays here")
            return
        if same.superseded and not card.superseded and not any(_is_current(one, card) for one in self._here[card.line]):
            self._meet_taken_back(card, same)
            return
        if card.superseded or same.superseded:
            return
        here = self._release(same.row)
        tags = {tag.name: tag for tag in (*card.tags, *here.tags)}
        changes: dict[str, object] = {
            fact: getattr(card, fact) for fact in FACTS if getattr(card, fact) and getattr(here, fact) is None
        }
        if len(tags) > len(here.tags):
            changes["tags"] = order.column(tags.values())
        if changes:
            releases.amend_card(self._database, same.row, changes)
            self.changed = True
        self._tell(card, "known")

    def _meet_taken_back(self, card: SnapshotRecord, same: _Here) -> None:
        """Let a release that was taken back here and stands there come back where that side is preferred."""
        key = self._found.key(card.line)
        if self._prefer == "there":
            releases.amend_card(self._database, same.row, {"superseded": 0})
            same.superseded = False
            self.changed = True
            self._tell(card, "added")
            return
        self.taken_back.add((key, card.version))
        self.notes.append(f"{key} {card.version} was removed here, and stays removed: --prefer there restores it")

    def _release(self, row: int) -> Release:
        return releases.find(self._database, releases.SNAPSHOT.id == row)[0]

    def _tell(self, card: SnapshotRecord, status: Came, why: str = "") -> None:
        key = self._found.key(card.line)
        self.told.append(MergedRelease(key, card.version, status, card.digest, card.candidate, why))


def _identity(card: SnapshotRecord) -> _Identity:
    return _Identity(card.version, card.digest, card.provenance.sha256, card.ingested)


def _is_current(one: _Here, card: SnapshotRecord, *, candidate: bool | None = None) -> bool:
    """Whether a snapshot here has the label of ``card`` and was neither replaced nor taken back."""
    wanted = card.candidate if candidate is None else candidate
    return one.identity.version == card.version and one.candidate == wanted and not one.superseded


def _replaces(other: SnapshotRecord, card: SnapshotRecord) -> bool:
    """Whether a snapshot there stands under the label of one that was superseded there."""
    return other.version == card.version and not other.superseded


MERGED = "the merged store moved it too; this side was preferred"


def bring(database: Database, found: Contents, prefer: Side | None, arriving: Arriving) -> tuple[int, list[str]]:
    """Write the moves that are not here: how many these are, and the conflicts."""
    theirs: dict[tuple[LineKey, str], list[BaselineMove]] = defaultdict(list)
    for one in found.moves:
        if one.line < 0 or not one.channel.strip() or not one.channel.isprintable():
            raise ValueError("a move of a baseline is none")
        line, when = found.key(one.line), datetime.fromisoformat(one.moved)
        move = BaselineMove(line, one.channel, one.version, when, one.actor, one.reason, one.digest)
        theirs[line, one.channel].append(move)
    added, conflicts = 0, []
    for (line, channel), moves in theirs.items():
        own = [move for move in order.history(database, line.library, channel) if move.line == line]
        new = [move for move in moves if move not in own]
        if not new:
            continue
        here, there = own[-1] if own else None, moves[-1]
        diverged = here is not None and here not in moves and here.version != there.version
        unheld = (line, there.version) in arriving.taken_back
        if prefer is None and (diverged or unheld):
            why = "which was removed here" if unheld else f"and at {_at(here)} here"
            conflicts.append(f"baseline {channel} of {line} is at {_at(there)} there, {why}")
            continue
        for move in new:
            order.append(database, move)
        added += len(new)
        if prefer == "here" and (diverged or unheld):
            version, digest = (here.version, here.digest) if here else (None, None)
            order.append(database, BaselineMove(line, channel, version, datetime.now(UTC), "", MERGED, digest))
    _follow(database, arriving)
    _check(database, theirs, bool(arriving.conflicts))
    return added, conflicts


def _follow(database: Database, arriving: Arriving) -> None:
    """Let channels that stand at a version whose content was replaced stand at the new content."""
    for old, new in arriving.replaced:
        standing = {move.channel: move for move in order.standing(database, old.line.library) if move.line == old.line}
        for channel, move in standing.items():
            if (move.version, move.digest) == (old.version, old.digest):
                reason, now = "its release was replaced by a merge", datetime.now(UTC)
                order.append(database, BaselineMove(old.line, channel, new.version, now, "", reason, new.digest))


def _at(move: BaselineMove | None) -> str:
    return (move and move.version) or "nothing"


def _check(database: Database, moved: dict[tuple[LineKey, str], list[BaselineMove]], unresolved: bool) -> None:
    """Raise :class:`ValueError` where a channel stands at what is not stored, unless conflicts kept that out."""
    for line, channel in moved:
        version = order.current(database, line, channel)
        stored = {one.version for one in ordered_releases(database, line.library, line.target, line.profile)}
        if version is not None and version not in stored and not unresolved:
            raise ValueError(f"baseline {channel} of {line} is at {version}, which is not stored")


Said = TypeVar("Said", FindingReview, Approval)


def bring_reviews(database: Database, told: Sequence[FindingReview]) -> int:
    """Write the reviews that are not here; how many these are."""
    here = timeline.every_review(database)
    new = _new(here, told)
    for one in _joined(here, new, _reviewed, _reviewed, lambda said: said.reviewed):
        timeline.append_review(database, one)
    return len(new)


def bring_approvals(database: Database, told: Sequence[Approval]) -> int:
    """Write what was approved and withdrawn and is not here; how much that is."""
    here = timeline.every_approval(database)
    new = _new(here, told)
    for one in _joined(here, new, lambda said: said.about, lambda said: said.key, lambda said: said.approved):
        timeline.append_approval(database, one)
    return len(new)


def _reviewed(said: FindingReview) -> tuple[str, str]:
    return said.library, said.identity


def _new(here: Sequence[Said], told: Sequence[Said]) -> list[Said]:
    known = set(map(msgspec.json.encode, here))
    return [one for one in told if msgspec.json.encode(one) not in known]


def _joined(
    here: Sequence[Said],
    new: Sequence[Said],
    about: Callable[[Said], Hashable],
    key: Callable[[Said], Hashable],
    moment: Callable[[Said], datetime],
) -> list[Said]:
    """What to append to ``here``: new entries, then again what was said here last, of the same and later.

    ``about`` is what is spoken about, and ``key`` by whom, where several may speak.
    """
    newest = {about(one): one for one in sorted(new, key=moment)}
    last = {key(one): one for one in here}
    again = [one for one in last.values() if (told := newest.get(about(one))) and moment(one) > moment(told)]
    return sorted(new, key=moment) + sorted(again, key=moment)


MOST_NAMED = 20
"""How many conflicts the message of a refusal names."""


class _NotKept(Exception):
    """Ends the transaction of a dry run."""


class MergeWish(msgspec.Struct, frozen=True):
    """How a store is to be brought into another: ``prefer`` says which side wins where both say something else."""

    source: str
    prefer: Side | None = None
    dry_run: bool = False
    actor: str = ""


class _Judged(NamedTuple):
    verdicts: int
    findings: int


class _Brought(NamedTuple):
    """What was brought, and the rows here of snapshots by their numbers there."""

    merged: Merged
    rows: dict[int, int]


class _Rows(msgspec.Struct):
    """The rows here of the snapshots that were merged, by their numbers there; ``count`` of all."""

    rows: dict[int, int] = msgspec.field(default_factory=dict)
    count: int = 0

    def add(self, rows: Mapping[int, int], count: int) -> None:
        """Add a part of ``count`` snapshots, by their numbers in it."""
        self.rows |= {self.count + number: row for number, row in rows.items()}
        self.count += count


def merge(database: Database, records: Iterable[AnyRecord], wish: MergeWish) -> Merged:
    """Bring the records of a bundle into the store, part by part in one transaction, so that memory is bounded.

    Raises :class:`VersionTaken` where both sides say something else and no side is preferred, but not for a dry run,
    which tells it; :class:`BundleError` where the contents are none of a store.
    """
    with _reported(wish):
        return _kept(database, lambda: _merge(database, parts(records, wish.source), wish), wish).merged


@contextmanager
def _reported(wish: MergeWish) -> Iterator[None]:
    """Raise :class:`BundleError` for contents that are none of a store."""
    try:
        yield
    except (ValueError, IndexError, KeyError, msgspec.MsgspecError) as error:
        raise BundleError(f"{wish.source}: {error}") from error
    except UsageError as error:
        raise BundleError(f"{wish.source}: {error.message}", error.hint) from error


def _kept(database: Database, act: Callable[[], _Brought], wish: MergeWish) -> _Brought:
    """What ``act`` brings in one transaction, which is not kept in a dry run, nor where both sides differ."""
    told: list[_Brought] = []
    try:
        with database.transaction():
            database.keep_tables_free()
            told.append(act())
            if wish.dry_run:
                raise _NotKept
            if told[0].merged.conflicts:
                raise _refusal(wish.source, told[0].merged.conflicts)
    except _NotKept:
        pass
    return told[0]


def _merge(database: Database, found: Iterable[Contents], wish: MergeWish) -> _Brought:
    arrived, known = _Rows(), cache(lambda: audit.origins(database))

    def bring_part(part: Contents) -> Merged:
        merged = _bring(database, part, wish, arrived).merged
        told = ((one.origin, _told(one)) for one in part.audit)
        taken = audit.take_over(database, told, known()) if part.audit else 0
        return msgspec.structs.replace(merged, audit_records=taken, changed=merged.changed or taken > 0)

    merged = _together(wish, list(map(bring_part, found)))  # a loop would keep a part while the next one is read
    if merged.changed:
        audit.record(database, wish.actor, "merge", wish.source, _summary(merged))
    return _Brought(merged, arrived.rows)


def _bring(database: Database, found: Contents, wish: MergeWish, arrived: _Rows) -> _Brought:
    """Bring all but the audit. The snapshots are added to those that ``arrived`` before, of which verdicts may be."""
    left = leave_out(found)
    libraries = [one.name for one in found.libraries]
    orders = _orders_before(database, found)
    arriving = Arriving(database, found, wish.prefer, left)
    arriving.bring()
    of_orders = _bring_orders(database, found, wish, orders)
    moves, of_channels = bring(database, found, wish.prefer, arriving)
    bound, of_rules = rules.bring(database, [one.said for one in found.rules], wish.prefer)
    arrived.add(arriving.rows, len(found.snapshots))
    judged = _bring_verdicts(database, found, arrived.rows, arrived.count)
    merged = Merged(
        source=wish.source,
        dry_run=wish.dry_run,
        changed=arriving.changed or orders != _orders(database, libraries),
        releases=tuple(arriving.told),
        earlier=arriving.earlier,
        baseline_moves=moves,
        verdicts=judged.verdicts,
        findings=judged.findings,
        reviews=bring_reviews(database, [one.said for one in found.reviews]),
        approvals=bring_approvals(database, [one.said for one in found.approvals]),
        consumers=_bring_consumers(database, found.consumers),
        environments=_bring_environments(database, found),
        rules=bound,
        conflicts=(*arriving.conflicts, *of_orders, *of_channels, *of_rules),
        notes=tuple(arriving.notes),
        left_out=tuple(left.told),
    )
    counts = (moves, judged.verdicts, merged.reviews, merged.approvals, merged.consumers, merged.environments, bound)
    return _Brought(msgspec.structs.replace(merged, changed=merged.changed or any(counts)), arrived.rows)


def merge_store(database: Database, source: Database, wish: MergeWish) -> Merged:
    """Bring another store in: a large one in slices, each whole libraries, so that memory is bounded.

    What differs is found before anything is written. When it is interrupted, the slices that arrived stay, and the next
    merge brings the others. Raises as :func:`merge` does.
    """
    with source.reading():
        found = slices(source, MOST_TOGETHER)
        if len(found) < 2:
            return merge(database, gather(source), wish)
        with _reported(wish):
            return _Slices(database, source, wish).bring(found)


class _Slices:
    """Brings a store slice by slice; the audit says that it was one merge."""

    def __init__(self, database: Database, source: Database, wish: MergeWish) -> None:
        self._database, self._source, self._wish = database, source, wish
        self._rows: dict[int, int] = {}
        """The rows here of the snapshots by their rows there."""

    def bring(self, parts: Sequence[Sequence[str]]) -> Merged:
        """Bring the slices, and then what belongs to none of them."""
        if self._wish.dry_run:
            arrived = [self._slice(part, self._wish) for part in parts]
            return _together(self._wish, [*arrived, _kept(self._database, self._others, self._wish).merged])
        if self._wish.prefer is None:
            self._check(parts)
        taken = self._database.retried(self._take_over)
        arrived = [taken, *(self._slice(part, self._wish) for part in parts)]
        return self._database.retried(lambda: self._finish(arrived))

    def _check(self, parts: Sequence[Sequence[str]]) -> None:
        """Raise :class:`VersionTaken` where both sides differ: only libraries that are here already can."""
        here = {line.key.library for line in releases.every(self._database)}
        known = [[name for name in part if name in here] for part in parts]
        trial = msgspec.structs.replace(self._wish, dry_run=True)
        differing = _together(trial, [self._slice(part, trial) for part in known if part]).conflicts
        differing = (*differing, *self._of_rules())
        if differing:
            raise _refusal(self._wish.source, differing)

    def _of_rules(self) -> Sequence[str]:
        """The conflicts of what both sides bind."""
        return rules.brought(rules.every(self._database), rules.every(self._source), self._wish.prefer)[1]

    def _slice(self, libraries: Sequence[str], wish: MergeWish) -> Merged:
        def act() -> Merged:
            there, records = of_slice(self._source, libraries)
            found = contents(records, wish.source)
            merged, rows = _kept(self._database, lambda: _bring(self._database, found, wish, _Rows()), wish)
            if not wish.dry_run:
                self._rows |= {there[number]: row for number, row in rows.items()}
            return merged

        return self._database.retried(act)

    def _take_over(self) -> Merged:
        with self._database.transaction():
            taken = audit.take_over(self._database, audit.every(self._source), audit.origins(self._database))
        return Merged(self._wish.source, self._wish.dry_run, taken > 0, audit_records=taken)

    def _finish(self, arrived: Sequence[Merged]) -> Merged:
        """Bring what belongs to no slice, and say in the audit what arrived in all."""
        with self._database.transaction():
            merged = _together(self._wish, [*arrived, self._others().merged])
            if merged.changed:
                audit.record(self._database, self._wish.actor, "merge", self._wish.source, _summary(merged))
        return merged

    def _others(self) -> _Brought:
        """Bring what belongs to no slice; verdicts about two libraries where their snapshots were kept."""
        numbers = {there: number for number, there in enumerate(self._rows)}
        found = contents(of_none(self._source, numbers), self._wish.source)
        return _bring(self._database, found, self._wish, _Rows(dict(enumerate(self._rows.values())), len(numbers)))


def _together(wish: MergeWish, arrived: Sequence[Merged]) -> Merged:
    """The sum of what the parts brought."""
    both = {name: tuple(said for one in arrived for said in getattr(one, name)) for name in _LISTED}
    counts = {name: sum(getattr(one, name) for one in arrived) for name in _COUNTED}
    whole = Merged(wish.source, wish.dry_run, any(one.changed for one in arrived))
    return msgspec.structs.replace(whole, **both, **counts)


_LISTED = ("releases", "conflicts", "notes", "left_out")
_COUNTED = (
    *("earlier", "baseline_moves", "verdicts", "findings"),
    *("reviews", "approvals", "consumers", "environments", "rules", "audit_records"),
)


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
        "changes of environments": merged.environments,
        "bound rules": merged.rules,
        "audit records": merged.audit_records,
    }
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "facts of releases"


def _refusal(source: str, conflicts: Sequence[str]) -> AbistoreError:
    named = "; ".join(conflicts[:MOST_NAMED]) + ("; and others" if len(conflicts) > MOST_NAMED else "")
    hint = "say which side wins with --prefer here or --prefer there; --dry-run lists all"
    return VersionTaken(f"{source}: both sides differ: {named}", hint)


def _orders(database: Database, libraries: Sequence[str]) -> dict[str, str]:
    """The schemes of those of some libraries that have a line."""
    return {name: releases.scheme(database, name) for name in libraries if releases.lines_of_library(database, name)}


def _orders_before(database: Database, found: Contents) -> dict[str, str]:
    """The scheme of each library; that of a new one is what the bundle says."""
    here = _orders(database, [one.name for one in found.libraries])
    for library in found.libraries:
        if library.name not in here and library.scheme != AUTO:
            releases.declare(database, library.name, library.scheme)
    return here


def _bring_orders(database: Database, found: Contents, wish: MergeWish, before: dict[str, str]) -> list[str]:
    """Order the libraries as the bundle says, where nothing else was declared; the conflicts."""
    conflicts = []
    stored = _orders(database, [one.name for one in found.libraries])
    for library in found.libraries:
        here = before.get(library.name)
        if here is None or library.scheme in {here, AUTO} or library.name not in stored:
            continue
        if here != AUTO and wish.prefer is None:
            conflicts.append(f"{library.name} is ordered by {here} here, and by {library.scheme} there")
        elif here == AUTO or wish.prefer == "there":
            order.set_scheme(database, library.name, library.scheme, wish.actor)
    return conflicts


def _bring_environments(database: Database, found: Contents) -> int:
    """Write what was recorded of environments there and not here; how many rows that changed."""
    return sum(environments.bring(database, one.said) for one in found.environments)


def _bring_consumers(database: Database, found: Sequence[ConsumerRecord]) -> int:
    """Write the consumers that are new, or were added there later than here; how many these are."""
    here = {one.details.key: one.added for one in consumers.every(database)}
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
        consumers.bring(database, Consumer(details, one.imports, types), one.added, one.actor)
    return len(new)


def _bring_verdicts(database: Database, found: Contents, rows: Mapping[int, int], snapshots: int) -> _Judged:
    """Write the judgements of snapshots, of which there are so many, by their rows here."""
    bodies = [(bytes.fromhex(one.key), bytes(one.body)) for one in found.findings]
    added = new = 0
    for one in found.verdicts:
        if min(one.old, one.new) < 0 or max(one.old, one.new) >= snapshots:
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
