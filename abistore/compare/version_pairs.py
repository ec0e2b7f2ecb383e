"""What programs get of symbols with several versions: what they were built for, and what is behind it now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from abistore.compare.side import SideFacts
from abistore.model.names import Name
from abistore.model.references import references
from abistore.model.shapes import Function, Variable
from abistore.model.snapshot import Variants
from abistore.model.symbol_versions import SEPARATOR, bound, declared_as, exported_as, given, symbols_of

NONE: Final[Mapping[Name, Variants]] = {}


class VersionPair(msgspec.Struct, frozen=True):
    """The declarations of an export that programs were built for, and that they get: ``part`` names an old version."""

    export: Name
    part: str
    old: Name
    new: Name


def has_versions(old: SideFacts, new: SideFacts, name: Name) -> bool:
    """Whether ``name`` is an export with several versions on one side, or the declaration of one of these."""
    if any(len(side.variants("symbol", name)) > 1 for side in (old, new)):
        return True
    return SEPARATOR in name.spelling and exported(old, new, name) != name


def exported(old: SideFacts, new: SideFacts, name: Name) -> Name:
    """The export that ``name`` is a version of, on any side; else ``name``."""
    found = exported_as(name, old.snapshot.entries.get("symbol", NONE))
    return found if found != name else exported_as(name, new.snapshot.entries.get("symbol", NONE))


def version_pairs(old: SideFacts, new: SideFacts, export: Name) -> Iterator[VersionPair]:
    """For each version of ``export`` that programs may ask for, what they get now. Versions they lose are left out."""
    before, after = (symbols_of(side.variants("symbol", export)) for side in (old, new))
    for symbol in before if after else ():
        got = given(after, symbol.version, new.first_version)
        if got is not None:
            part = "" if symbol.version == bound(before).version else f"version {symbol.version}"
            yield VersionPair(export, part, declared_as(export, before, symbol), declared_as(export, after, got))


def is_of_unknown_version(side: SideFacts, export: Name) -> bool:
    """Whether a side describes one of several versions, and not which one: snapshots of former versions do so."""
    symbols = symbols_of(side.variants("symbol", export))
    if len(symbols) < 2:
        return False
    default = bound(symbols)
    return any(each.elf is None or each.elf.own_place is None for each in symbols if each is not default)


def still_meets(old: SideFacts, new: SideFacts, declared: Name, type: Name) -> bool:
    """Whether programs that meet ``type`` through what was ``declared`` before get a declaration that uses it now."""
    export = exported(old, new, declared)
    if not has_versions(old, new, export) or not new.variants("symbol", export):
        return bool(new.variants("symbol", export))
    if is_of_unknown_version(old, export) or is_of_unknown_version(new, export):
        return True
    got = next((each.new for each in version_pairs(old, new, export) if each.old == declared), None)
    if got is None or got == declared:
        return got is not None
    return not (new.variants("layout", got) and new.snapshot.has(type)) or got in new.reach.exports_reaching(type)


def default_moved(old: SideFacts, new: SideFacts, export: Name) -> bool:
    """Whether new links get another version of ``export`` than the programs of the old release do."""
    first = next((each for each in version_pairs(old, new, export) if not each.part), None)
    return first is not None and first.new != export


def declared_differently(old: SideFacts, new: SideFacts, export: Name) -> bool:
    """Whether what new links get of ``export`` takes or returns something else than before, as far as both tell."""
    if is_of_unknown_version(old, export) or is_of_unknown_version(new, export):
        return False
    before, after = old.snapshot.described(export), new.snapshot.described(export)
    if not before or not after:
        return False
    return _anonymous(before) != _anonymous(after) or any(_differs(old, new, each) for each in _reached(new, export))


def _anonymous(shapes: Variants) -> Variants:
    """The shapes without the names of the functions that implement a version."""
    found = (each for each in shapes if isinstance(each, Function | Variable))
    return tuple(msgspec.structs.replace(each, display="") for each in found)


def _differs(old: SideFacts, new: SideFacts, type: Name) -> bool:
    before, after = old.snapshot.described(type), new.snapshot.described(type)
    return bool(before and after) and before != after


def _reached(side: SideFacts, export: Name) -> Iterator[Name]:
    """The types that ``export`` mentions, that these mention, and so on."""
    seen, pending = {export}, [export]
    while pending:
        shapes = side.snapshot.described(pending.pop())
        found = {each for shape in shapes for each, _ in references(shape)} - seen
        seen |= found
        pending += found
        yield from found
