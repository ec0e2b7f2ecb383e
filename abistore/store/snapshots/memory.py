"""Rows that a store has decoded, with the checksums that prove that they are unchanged."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

import msgspec
from sqlalchemy import select

from abistore.model.budget import TypeBudget
from abistore.model.digest import digest, name_digest
from abistore.model.names import Kind, Name
from abistore.model.shapes import AnyShape
from abistore.store.database import seals, tables
from abistore.store.database.database import Database
from abistore.store.database.failures import damaged

decode = msgspec.json.Decoder(AnyShape).decode
"""A shape of its canonical JSON."""


SPELLED_OUT = 1 << 18
"""Letters of a shape beyond which a type in it may be too large."""


@dataclass(slots=True)
class RowMemory:
    """Names and shapes by their row's id, shared by all snapshots that a store loads.

    The keys are of what was read, whatever digest its row has: sums over them tell whether it is what was stored.
    """

    names: dict[int, Name] = field(default_factory=dict)
    shapes: dict[int, AnyShape] = field(default_factory=dict)
    name_keys: dict[int, int] = field(default_factory=dict)
    shape_keys: dict[int, int] = field(default_factory=dict)
    refused: dict[int, int] = field(default_factory=dict)
    """How many types were replaced in a shape, by its identity."""

    def forget(self) -> None:
        """Hold nothing."""
        for held in (self.names, self.shapes, self.name_keys, self.shape_keys, self.refused):
            held.clear()

    def name(self, identifier: int, kind: Kind, spelling: str) -> Name:
        """The name of a row."""
        found = self.names.get(identifier)
        if found is None:
            found = self.names[identifier] = Name(kind, spelling)
            self.name_keys[identifier] = seals.key(name_digest(kind, spelling))
        return found

    def shape(self, identifier: int, body: str) -> AnyShape:
        """The shape of a row."""
        found = self.shapes.get(identifier)
        if found is None:
            found = decode(body)
            if len(body) > SPELLED_OUT:
                found = self._within(found)
            self.shapes[identifier] = found
            self.shape_keys[identifier] = seals.key(digest(body.encode()))
        return found

    def _within(self, shape: AnyShape) -> AnyShape:
        """``shape`` without types that are too large, which earlier versions stored."""
        budget = TypeBudget()
        found = budget.shape(shape)
        if not budget.refused:
            return shape
        self.refused[id(found)] = budget.refused
        return found

    def whole_shape(self, database: Database, identifier: int, body: str, expected: bytes) -> AnyShape:
        """The shape of a row that has the digest ``expected``. Raises :class:`StoreError` where it has another."""
        found = None
        with suppress(msgspec.MsgspecError, AttributeError, TypeError):
            found = self.shape(identifier, body)
        if found is None or self.shape_keys[identifier] != seals.key(expected):
            raise damaged(database.where, f"the shape {expected.hex()} has another digest")
        return found


def checked_name(database: Database, kind: Kind, spelling: str, expected: bytes) -> Name:
    """The name of a row that has the digest ``expected``. Raises :class:`StoreError` where it has another."""
    if name_digest(kind, spelling) != expected:
        raise damaged(database.where, f"the name {kind} {spelling} has another digest")
    return Name(kind, spelling)


def wrong_entry(database: Database, line: int, sequence: int) -> str:
    """What is wrong with the entries of a snapshot, whose sum is another than its card says."""
    name_, shape_, entry = tables.name.c, tables.shape.c, tables.entry.c
    statement = (
        select(name_.kind, name_.spelling, name_.digest, shape_.digest, shape_.body)
        .select_from(tables.entry.outerjoin(tables.name).outerjoin(tables.shape))
        .where(entry.line_id == line, entry.first_seq <= sequence, entry.last_seq >= sequence)
    )
    for kind, spelling, name, shape, body in database.rows(statement):
        if name is None or shape is None:
            return "the name of an entry is missing" if name is None else "the shape of an entry is missing"
        if name_digest(kind, spelling) != name:
            return f"the name {kind} {spelling} has another digest than its row says"
        if digest(str(body).encode()) != shape:
            return f"the shape {shape.hex()} of {kind} {spelling} has another digest than its row says"
    return "an entry is missing or was changed"
