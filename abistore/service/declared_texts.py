"""Declarations as agents read them: one text each, what differs between two sides, and since when each is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from abistore.errors import Incomparable, SnapshotNotFound
from abistore.limits import limits_for
from abistore.model.declarations import EXPORTS, SELF, TYPES, Facet, Kind, Name
from abistore.model.history import LogEvent
from abistore.model.names.spelling import spelled_out
from abistore.model.shapes import AnyShape
from abistore.model.snapshot import Location, Snapshot, Variants
from abistore.model.structure import references
from abistore.report.model import ComparedDeclaration
from abistore.report.wording import differing, lengthened
from abistore.service.database import Database, using
from abistore.service.declarations import TypeUsers, declarations, display, find
from abistore.service.inventory import in_line
from abistore.service.snapshots import OperandPair, Selection, is_reference, operands

OF_TYPES: Final[tuple[Facet, ...]] = ("layout", "source", "symbol")
OF_OTHERS: Final[tuple[Facet, ...]] = ("source", "layout", "symbol")
"""The facets whose text says most: headers name parameters, debug information has the layout of what they hide."""

DifferenceState: TypeAlias = Literal["same", "changed", "added", "removed"]


class DeclarationLife(msgspec.Struct, frozen=True):
    """Where a declaration of a release appears in its line, changed last, and is gone (empty: it is not).

    ``first_stored``: ``since`` is the oldest release of the line, so that nobody knows whether it was there before.
    """

    since: str
    changed: str = ""
    until: str = ""
    first_stored: bool = False


class ShownDeclaration(msgspec.Struct, frozen=True):
    """One declaration in C or C++, with offsets, as the ``facet`` that says most has it; ``life`` of a stored one."""

    name: Name
    display: str
    facet: Facet
    location: Location | None
    text: str
    used: TypeUsers | None
    life: DeclarationLife | None = None


class DeclarationDifference(msgspec.Struct, frozen=True):
    """What differs in a declaration between two sides, line by line behind ``-``, ``+``, or ``!`` where only the place.

    ``said`` tells what the texts do not show, such as a name that is meant as another kind of type.
    """

    name: Name
    display: str
    facet: Facet
    state: DifferenceState
    lines: tuple[str, ...] = ()
    said: tuple[str, ...] = ()


class DeclaredName(msgspec.Struct, frozen=True):
    """A declaration in a list, with its text where that is one line."""

    name: Name
    display: str
    text: str = ""


def shown_declarations(
    operand: str | Path, name: str, *, database: Database = None, selection: Selection | None = None
) -> tuple[ShownDeclaration, ...]:
    """Each declaration called ``name`` once, with its life where it is stored. Raises :class:`SnapshotNotFound`."""
    found = declarations(operand, name, database=database, selection=selection)
    by_name = {(each.name, each.facet): each for each in found}
    lives = _lives(operand, name, database, selection) if is_reference(operand) else {}
    texts = [by_name[one, _facet(one, {facet for other, facet in by_name if other == one})] for one in _names(by_name)]
    return tuple(
        ShownDeclaration(
            each.name, each.display, each.facet, each.location, "\n".join(each.texts), each.used, lives.get(each.name)
        )
        for each in texts
    )


def _names(keys: Iterable[tuple[Name, Facet]]) -> tuple[Name, ...]:
    return tuple(dict.fromkeys(name for name, _ in keys))


def _facet(name: Name, facets: Iterable[Facet]) -> Facet:
    order = OF_TYPES if name.kind in TYPES else OF_OTHERS
    return min(facets, key=order.index)


# --- two sides ----------------------------------------------------------------------------------------------------


def declaration_differences(
    old: str | Path, new: str | Path, name: str, *, database: Database = None, selection: Selection | None = None
) -> tuple[DeclarationDifference, ...]:
    """What differs in each declaration called ``name``. Raises :class:`SnapshotNotFound` where no side has it."""
    with operands(database, selection) as reader:
        pair = reader.pair(old, new)
    if not isinstance(pair, OperandPair):
        raise Incomparable("a side holds several libraries", "choose one of them")
    sides = pair.old.snapshot, pair.new.snapshot
    with limits_for(sum(each.weight for each in sides), f"comparing declarations of {sides[1].label}"):
        return tuple(_difference(one, sides) for one in _named(sides, name))


def _named(sides: Sequence[Snapshot], name: str) -> tuple[Name, ...]:
    found = set[Name]()
    missing = []
    for side in sides:
        try:
            found |= set(find(side, name))
        except SnapshotNotFound as error:
            missing.append(error)
    if not found:
        raise missing[-1]
    return tuple(sorted(found))


def _difference(name: Name, sides: tuple[Snapshot, Snapshot]) -> DeclarationDifference:
    facet = _shared_facet(name, sides)
    before, after = (each.variants(facet, name) for each in sides)
    state: DifferenceState = "same" if before == after else "changed"
    if not before or not after:
        state = "added" if after else "removed"
    texts = _text(name, before, sides[0]), _text(name, after, sides[1])
    told = display(name, (*before, *after))
    return DeclarationDifference(name, told, facet, state, differing_lines(name, *texts), spelled_alike(before, after))


def differing_lines(name: Name, before: str | None, after: str | None) -> tuple[str, ...]:
    """What differs between two texts of a declaration, with lines around it; nothing where they are alike."""
    if before == after:
        return ()
    return tuple(differing(ComparedDeclaration(name.spelling, name.kind, before, after)))


def _shared_facet(name: Name, sides: tuple[Snapshot, Snapshot]) -> Facet:
    """The facet by which both sides show it; of one that a side lacks, the facet by which the other one shows it."""
    old, new = ({facet for facet in OF_TYPES if side.variants(facet, name)} for side in sides)
    return _facet(name, old & new or old | new)


def _text(name: Name, shapes: Variants, side: Snapshot) -> str | None:
    return "\n".join(spelled_out(name, shapes, side)) if shapes else None


def spelled_alike(before: Variants, after: Variants) -> tuple[str, ...]:
    """What differs in declarations where their texts do not: a type of one name that is of another kind."""
    old, new = _kinds(before), _kinds(after)
    differs = [each for each in sorted(old.keys() & new.keys()) if old[each] != new[each]]
    return tuple(f"{each} is meant as {_listed(new[each])}, and was as {_listed(old[each])}" for each in differs)


WORDS: Final[Mapping[str, str]] = {"alias": "a typedef", "record": "a struct, class or union", "enum": "an enum"}


def _kinds(shapes: Iterable[AnyShape]) -> dict[str, frozenset[Kind]]:
    found: dict[str, set[Kind]] = {}
    for shape in shapes:
        for name, _ in references(shape):
            found.setdefault(name.spelling, set()).add(name.kind)
    return {spelling: frozenset(kinds) for spelling, kinds in found.items()}


def _listed(kinds: frozenset[Kind]) -> str:
    return " and ".join(WORDS.get(each, each) for each in sorted(kinds))


# --- lists --------------------------------------------------------------------------------------------------------


def declared_like(
    operand: str | Path,
    pattern: str,
    kinds: Sequence[Kind] = (*EXPORTS, *TYPES),
    *,
    database: Database = None,
    selection: Selection | None = None,
) -> tuple[DeclaredName, ...]:
    """The declarations whose name in the source, or whose symbol, a glob fits (``LZ4F_*``), by name."""
    with operands(database, selection) as reader:
        snapshot = reader.read(operand).snapshot
    with limits_for(snapshot.weight, f"listing declarations of {snapshot.label}"):
        found = [_listed_name(snapshot, name) for name in _of_kinds(snapshot, kinds)]
        fitting = (
            each for each in found if fnmatchcase(each.display, pattern) or fnmatchcase(each.name.spelling, pattern)
        )
        return tuple(sorted(fitting, key=lambda each: (each.display, each.name)))


def _of_kinds(snapshot: Snapshot, kinds: Sequence[Kind]) -> set[Name]:
    return {name for entries in snapshot.entries.values() for name in entries if name.kind in kinds} - {SELF}


def _listed_name(snapshot: Snapshot, name: Name) -> DeclaredName:
    facet = _facet(name, [each for each in OF_TYPES if snapshot.variants(each, name)])
    text = _text(name, snapshot.variants(facet, name), snapshot) or ""
    return DeclaredName(name, display(name, snapshot.described(name)), "" if "\n" in text else text)


# --- lives --------------------------------------------------------------------------------------------------------


def _lives(
    reference: str, name: str, database: Database, selection: Selection | None
) -> Mapping[Name, DeclarationLife]:
    chosen = selection or Selection()
    with using(database) as store, store.reading():
        release, ordered = in_line(store, reference, chosen.target, chosen.profile)
        if release.candidate:
            return {}
        places = {each.version: number for number, each in enumerate(ordered)}
        events = store.logs(lengthened(name), release.line.library).get(release.line, ())
        return dict(_each_life(events, places, places[release.version]))


def _each_life(
    events: Sequence[LogEvent], places: Mapping[str, int], here: int
) -> Iterator[tuple[Name, DeclarationLife]]:
    for name in sorted({event.name for event in events}):
        own = [event for event in events if event.name == name]
        facet = _life_facet(name, {event.facet for event in own})
        life = _life([event for event in own if event.facet == facet and event.release.version in places], places, here)
        if life is not None:
            yield name, life


def _life_facet(name: Name, facets: Iterable[Facet]) -> Facet:
    """Exports live in the table of symbols; types where they are described."""
    order: tuple[Facet, ...] = ("symbol", "layout", "source") if name.kind in EXPORTS else OF_TYPES
    return min(facets, key=order.index)


def _life(events: Iterable[LogEvent], places: Mapping[str, int], here: int) -> DeclarationLife | None:
    life: DeclarationLife | None = None
    for event in events:
        version, is_past = event.release.version, places[event.release.version] <= here
        if is_past and event.action == "appeared":
            life = DeclarationLife(version, first_stored=event.first_stored)
        elif is_past and event.action == "changed" and life is not None:
            life = msgspec.structs.replace(life, changed=version)
        elif not is_past and event.action == "vanished" and life is not None:
            return msgspec.structs.replace(life, until=version)
    return life
