"""Named exports of a DLL that programs ask for by number: those that had a number alone, and those known otherwise."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.qualified import entity
from abistore.model.mangling.symbols import without_stack
from abistore.model.names import EXPORTS, Name, is_number
from abistore.model.shapes import AnyShape, Function, Variable
from abistore.model.snapshot import Snapshot
from abistore.model.tables import PeSymbol, Symbol

if TYPE_CHECKING:
    from abistore.compare.scopes.moves import Move


def named_numbers(old: Snapshot, new: Snapshot, gone: Iterable[Name]) -> Iterator[Move]:
    """One move of all numbers among ``gone`` that the new side gives a name."""
    numbers = sorted(name for name in gone if is_number(name)) if old.target.format == "pe" else []
    if not numbers:
        return
    from abistore.compare.scopes.moves import Move  # few exports have no name

    names = _names_by_number(new)
    pairs = tuple((each, names[int(each.spelling[1:])]) for each in numbers if int(each.spelling[1:]) in names)
    if pairs:
        yield Move("number", "", "", pairs, versioned=True)


def _names_by_number(snapshot: Snapshot) -> Mapping[int, Name]:
    """The named exports by their numbers. Linkers number them in the order of their names where no author does."""
    ordinals = {
        name: shape.ordinal
        for name, shapes in snapshot.entries.get("symbol", {}).items()
        for shape in shapes
        if name.kind in EXPORTS and isinstance(shape, Symbol) and not is_number(name)
    }
    if all(ordinal is None for ordinal in ordinals.values()):
        return dict(enumerate(sorted(ordinals, key=lambda name: name.spelling.encode()), 1))
    return {ordinal: name for name, ordinal in sorted(ordinals.items(), reverse=True) if ordinal is not None}


def exports_by_number(snapshot: Snapshot) -> Mapping[int, Name]:
    """All exports of a DLL by the numbers that programs may ask for them by, with names and without."""
    nameless = {int(name.spelling[1:]): name for name in snapshot.entries.get("symbol", {}) if is_number(name)}
    return {**nameless, **_names_by_number(snapshot)}


def asked_by_number(snapshot: Snapshot, numbers: Collection[int]) -> Snapshot:
    """The snapshot of a DLL with the named exports that programs ask for by these numbers exported by them as well."""
    names = exports_by_number(snapshot)
    named = {each: names[each] for each in sorted(numbers) if each in names and not is_number(names[each])}
    return beside_names(snapshot, [(Name(own.kind, f"#{number}"), own) for number, own in named.items()])


def beside_names(snapshot: Snapshot, pairs: Sequence[tuple[Name, Name]]) -> Snapshot:
    """The snapshot with what has a name exported by its number as well."""
    entries = dict(snapshot.entries)
    for facet in ("symbol", "layout"):
        held = entries.get(facet, {})
        more = {
            Name(own.kind, number.spelling): tuple(
                _numbered(each, number, _is_called(own, snapshot)) for each in held[own]
            )
            for number, own in pairs
            if own in held
        }
        if more:
            entries[facet] = {**held, **more}
    return msgspec.structs.replace(snapshot, entries=entries)


def _is_called(own: Name, snapshot: Snapshot) -> tuple[str, ...]:
    """The name of an export as that of what is behind it, unless debug information calls that otherwise: an alias."""
    called = {
        entity(each.display) for each in snapshot.variants("layout", own) if isinstance(each, Function | Variable)
    }
    return () if called and entity(demangle(without_stack(own.spelling))) not in called else (own.spelling,)


def _numbered(shape: AnyShape, number: Name, called: tuple[str, ...]) -> AnyShape:
    if not isinstance(shape, Symbol):
        return shape
    facts = shape.pe or PeSymbol()
    if not facts.behind:
        facts = msgspec.structs.replace(facts, behind=called)
    return msgspec.structs.replace(shape, ordinal=int(number.spelling[1:]), pe=facts)
