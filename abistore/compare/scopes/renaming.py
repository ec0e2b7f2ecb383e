"""Old names for what moved, wherever the new side mentions it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import is_
from typing import Any, Final

import msgspec

from abistore.compare.scopes.moves import Move
from abistore.compare.scopes.numbers import beside_names
from abistore.compare.scopes.texts import Key, marker
from abistore.model.digest import sort_variants
from abistore.model.names import Name
from abistore.model.shapes import Node
from abistore.model.snapshot import Snapshot, Variants

SORTED: Final = frozenset({"deleted", "members", "calls"})
"""Fields whose texts stand in their own order, which another name changes."""


def under_old_names(old: Snapshot, new: Snapshot, moves: Sequence[Move]) -> Snapshot:
    """The new side with the old names of what moved. What the old side lacks keeps the name that it has."""
    numbered = [pair for move in moves if move.sort == "number" for pair in move.pairs]
    scopes = [move for move in moves if move.sort != "number"]
    found = beside_names(new, numbered) if numbered else new
    return _Renamer(old, scopes).snapshot(found) if scopes else found


class _Renamer:
    """Gives what moved its old name, wherever it is mentioned. What the old side lacks keeps the name that it has."""

    def __init__(self, old: Snapshot, moves: Sequence[Move]) -> None:
        self._names = {after: before for move in moves for before, after in move.pairs}
        scopes = [move for move in moves if move.sort == "namespace"]
        self._key = marker([move.after for move in scopes])
        self._texts = _texts(old, marker([move.before for move in scopes])) if scopes else {}
        self._spellings = {after.spelling: before.spelling for after, before in self._names.items()}
        self._nodes: dict[Node, Node] = {}

    def snapshot(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot under the old names."""
        entries = {
            facet: {self._names.get(name, name): self._variants(shapes) for name, shapes in held.items()}
            for facet, held in snapshot.entries.items()
        }
        locations = {self._names.get(name, name): place for name, place in snapshot.locations.items()}
        return msgspec.structs.replace(snapshot, entries=entries, locations=locations)

    def _variants(self, variants: Variants) -> Variants:
        found = tuple(self._struct(shape) for shape in variants)
        return variants if all(map(is_, found, variants)) else sort_variants(found)

    def _struct(self, struct: Any) -> Any:
        if isinstance(struct, Name):
            return self._names.get(struct, struct)
        if not isinstance(struct, Node):
            return self._rebuilt(struct)
        if struct not in self._nodes:
            self._nodes[struct] = self._rebuilt(struct)
        return self._nodes[struct]

    def _rebuilt(self, struct: Any) -> Any:
        changed = {}
        for field in struct.__struct_fields__:
            value = getattr(struct, field)
            found = self._value(value)
            if found is not value:
                changed[field] = tuple(sorted(found)) if field in SORTED else found
        return msgspec.structs.replace(struct, **changed) if changed else struct

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, tuple):
            found = tuple(self._value(each) for each in value)
            return value if all(map(is_, found, value)) else found
        return self._struct(value) if isinstance(value, msgspec.Struct) else value

    def _text(self, text: str) -> str:
        known = self._spellings.get(text)
        return self._texts.get(self._key(text), text) if known is None else known


def _texts(old: Snapshot, key: Callable[[str], Key]) -> Mapping[Key, str]:
    """The texts of the old side that mention what moved, by their keys."""
    found: dict[Key, str] = {}
    seen: set[object] = set()
    for text in _strings(old.entries.values(), seen):
        own = key(text)
        if own[0] != text:
            found[own] = text
    return found


def _strings(value: Any, seen: set[object]) -> Iterator[str]:
    """All texts in shapes, each node looked into once."""
    match value:
        case str():
            yield value
        case Name():
            return
        case msgspec.Struct():
            if isinstance(value, Node):
                if value in seen:
                    return
                seen.add(value)
            for field in value.__struct_fields__:
                yield from _strings(getattr(value, field), seen)
        case tuple():
            yield from _each(value, seen)
        case Mapping():
            yield from _each(value.values(), seen)
        case _ if isinstance(value, Iterable):
            yield from _each(value, seen)


def _each(values: Iterable[Any], seen: set[object]) -> Iterator[str]:
    for each in values:
        yield from _strings(each, seen)
