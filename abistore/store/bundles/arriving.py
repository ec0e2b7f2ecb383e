"""Snapshots of a bundle that come into a store: which are known, new, in the place of others, or in conflict."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import bindparam, select

from abistore.model.history import IngestRequest, LineKey, Release
from abistore.model.labels.versions import check_version, spellings_of
from abistore.model.stores.merging import Came, MergedRelease, Side
from abistore.store.bundles.contents import Contents, LineStates
from abistore.store.bundles.leaving_out import Unsayable
from abistore.store.bundles.records import SnapshotRecord
from abistore.store.database import tables
from abistore.store.database.audit import stamp
from abistore.store.database.database import Database
from abistore.store.releases import cards, lines, tagging
from abistore.store.releases.holding import hold
from abistore.store.snapshots import write

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


@dataclass(slots=True)
class _Here:
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
        """What is stored of a line."""
        key = self._found.key(card.line)
        identifier = hold(self._database, key)
        cards.by_identifier(self._database, key)  # verifies the rows
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
        row, _ = write.bring(self._database, self._states.snapshot(card), request, card.sequence, said)
        if not self._here[card.line] and (scheme := self._found.lines[card.line].scheme):
            check_version("1.0.0", scheme)
            lines.set_own_scheme(self._database, key, scheme)
        self._here[card.line].append(_Here(row, _identity(card), superseded, card.candidate))
        self.rows[number] = row
        self.changed = True
        return row

    def _supersede(self, one: _Here) -> None:
        cards.amend(self._database, one.row, {"superseded": 1})
        one.superseded = True

    def _meet(self, card: SnapshotRecord, same: _Here) -> None:
        """Fill what is not said here of a release that both sides have."""
        if card.superseded and not same.superseded:
            if not any(_replaces(other, card) for _, other in self._theirs[card.line]):
                self.notes.append(f"{self._found.key(card.line)} {card.version} was taken back there, and stays here")
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
            changes["tags"] = tagging.column(tags.values())
        if changes:
            cards.amend(self._database, same.row, changes)
            self.changed = True
        self._tell(card, "known")

    def _meet_taken_back(self, card: SnapshotRecord, same: _Here) -> None:
        """Let a release that was taken back here and stands there come back where that side is preferred."""
        key = self._found.key(card.line)
        if self._prefer == "there":
            cards.amend(self._database, same.row, {"superseded": 0})
            same.superseded = False
            self.changed = True
            self._tell(card, "added")
            return
        self.taken_back.add((key, card.version))
        self.notes.append(f"{key} {card.version} was taken back here, and stays so: --prefer there brings it back")

    def _release(self, row: int) -> Release:
        return cards.find(self._database, cards.SNAPSHOT.id == row)[0]

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
