"""Judges an edit of headers, and offers the ways to make it that break nobody."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from abistore.compare.comparison import compare
from abistore.compare.policies.ruling import Ruling
from abistore.compare.whatif.edited import HeaderEdit, as_declared, edited, with_declarations
from abistore.compare.whatif.embedding import embedding_left
from abistore.compare.whatif.proposal import Proposal
from abistore.compare.whatif.proposing import proposals
from abistore.compare.whatif.records import Room, rooms
from abistore.model.findings import Comparison, Verdict
from abistore.model.layout.layouts import Layouts
from abistore.model.names import Name
from abistore.model.shapes import Record
from abistore.model.snapshot import Snapshot, only_described


class OfferedWay(msgspec.Struct, frozen=True):
    """Another way to make the change of a declaration, what is ``declared`` then, and how that was judged."""

    name: Name
    title: str
    declared: tuple[Name, ...]
    comparison: Comparison
    sides: tuple[Snapshot, Snapshot]


class RecordRoom(msgspec.Struct, frozen=True):
    """The room in a record that the edit changes."""

    name: Name
    rooms: tuple[Room, ...]


class JudgedEdit(msgspec.Struct, frozen=True):
    """What a release with edited headers would be against the one that is stored.

    ``rooms`` are in the records that the edit changes. ``unsettled`` are records that embed one of these, and of which
    the layout after the edit is not known.
    """

    comparison: Comparison
    sides: tuple[Snapshot, Snapshot]
    rooms: tuple[RecordRoom, ...]
    ways: tuple[OfferedWay, ...]
    unsettled: tuple[Name, ...] = ()


def judge_edit(stored: Snapshot, edit: HeaderEdit, by: Ruling | None = None) -> JudgedEdit:
    """The verdict about an edit; where it breaks, other ways that were judged by the same rules and do not.

    Raises what :func:`abistore.compare.comparison.compare` does.
    """
    declared = as_declared(stored, edit)
    after = edited(declared, edit)
    found = compare(declared, after, by)
    ways = tuple(_ways(declared, edit, by)) if found.verdict >= Verdict.API_BREAK else ()
    unsettled = embedding_left(declared, after, edit.names)
    return JudgedEdit(found, (declared, after), tuple(_rooms(declared, edit)), ways, unsettled)


def _ways(declared: Snapshot, edit: HeaderEdit, by: Ruling | None) -> Iterator[OfferedWay]:
    """The ways that break nobody, each with the rest of the release as it was."""
    for proposal in proposals(declared, edit):
        after = _made(declared, proposal, edit)
        found = compare(declared, after, by)
        if found.verdict < Verdict.API_BREAK:
            yield OfferedWay(proposal.name, proposal.title, tuple(proposal.changes), found, (declared, after))


def _made(declared: Snapshot, proposal: Proposal, edit: HeaderEdit) -> Snapshot:
    return with_declarations(declared, proposal.changes, edit.before)


def _rooms(declared: Snapshot, edit: HeaderEdit) -> Iterator[RecordRoom]:
    layouts = Layouts(declared)
    for name in edit.names:
        record = only_described(declared.variants("source", name) or edit.before.get(name, ()))
        if isinstance(record, Record) and (found := rooms(record, layouts)):
            yield RecordRoom(name, found)
