"""Pairs the export tables: what vanished, what came, and what is now exported in another way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import msgspec

from abistore.compare.consumers.export_table import least, sized
from abistore.compare.consumers.runtime_symbols import is_runtime_symbol
from abistore.compare.context import Context
from abistore.compare.diff.exported.library import import_deltas, own_deltas
from abistore.compare.diff.exported.tables import ExportTables
from abistore.compare.diff.parts import DefaultVersion, ForeignExports, NodeMove, SymbolVersion, VersionCode
from abistore.compare.diff.unnamed import concealed, unnamed, unused
from abistore.compare.side import SideFacts
from abistore.model.deltas import Added, Changed, Delta, Removed, Subject
from abistore.model.names import SELF, Name
from abistore.model.symbol_versions import bound, given, symbols_of
from abistore.model.tables import ElfSymbol, MachoSymbol, PeSymbol, Symbol
from abistore.model.words.elf_symbols import is_read_only
from abistore.model.words.telling import is_private_node

BATCH = 3
"""So many exports that move between the same two version nodes are one move."""


def export_deltas(context: Context) -> Iterator[Delta[Any]]:
    """All deltas of the symbol facet."""
    if context.moves:
        from abistore.compare.diff.patterns.moved_names import moved_exports  # few scopes move

        yield from moved_exports(context)
    if not context.differing["symbol"]:
        return
    tables = ExportTables(context)
    yield from _shared(tables)
    if tables.removed or tables.added or SELF in context.differing["symbol"]:
        from abistore.compare.diff.exported.one_sided import one_sided

        yield from one_sided(tables)
    yield from import_deltas(context)
    yield from own_deltas(tables)


def _shared(tables: ExportTables) -> Iterator[Delta[Any]]:
    moves: dict[tuple[str, str], list[Delta[Any]]] = {}
    before, after = (side.snapshot.entries.get("symbol", {}) for side in (tables.context.old, tables.context.new))
    both = [each for each in tables.differing if each in tables.old and each in tables.new]
    foreign = {each for each in both if is_runtime_symbol(each) and tables.lost(each) == "foreign"}
    told = {
        each for each in foreign if _differ(symbols_of(before[tables.old[each]]), symbols_of(after[tables.new[each]]))
    }
    shared = [(tables.old[each], tables.new[each]) for each in both if each not in foreign]
    if told:
        copies = ForeignExports(tuple(sorted(told)))
        yield Changed(Subject(SELF, "foreign exports"), copies, copies)
    for name, other in shared:
        old, new = symbols_of(before[name]), symbols_of(after[other])
        if old == new:
            continue
        yield from _same_versions(tables.context, name, old, new)
        for version, former in _joined(old, new, tables.context.new):
            yield Changed(Subject(name, f"version {version}"), VersionCode(version), VersionCode(former))
        for delta in _versions(name, old, new, tables.context.new.first_version):
            nodes = _moved(delta)
            if nodes is None:
                yield delta
            elif is_private_node(nodes[0]) or tables.context.old.consumers.can_name(name):
                moves.setdefault(nodes, []).append(delta)
            else:
                yield _moved_unseen(
                    tables.context, name, next(each for each in old if each.version == nodes[0]), nodes[1]
                )
    for (before_node, after_node), found in sorted(moves.items()):
        if len(found) < BATCH:
            yield from found
        else:
            spellings = tuple(delta.subject.name.spelling for delta in found)
            batch = NodeMove(tuple((each, each) for each in spellings), before_node, after_node)
            yield Changed(Subject(SELF, f"{before_node} -> {after_node}"), batch, batch)


def _moved_unseen(context: Context, name: Name, symbol: Symbol, node: str) -> Delta[Any]:
    """The delta of an export that no consumer can name, and that moved to another version node."""
    return concealed(context.old.consumers, name, symbol, msgspec.structs.replace(symbol, version=node))


def _same_versions(context: Context, name: Name, old: Iterable[Symbol], new: Iterable[Symbol]) -> Iterator[Delta[Any]]:
    """What differs in each version that both sides have; one that vanished is compared with what a new link gets."""
    default = bound(new)
    for symbol in sorted(old, key=lambda each: (not each.default, each.version or "")):
        got = given(new, symbol.version, context.new.first_version)
        symbol, other = both_known(symbol, got or default)
        if _unversioned(symbol) == _unversioned(other):
            continue
        if not context.old.consumers.can_name(name):
            yield unnamed(context.old.consumers, name, symbol, other)
        elif context.old.consumers.out_of_reach(name):
            yield unused(name, symbol, other)
        else:
            yield Changed(Subject(name, "" if symbol.default else f"version {symbol.version}"), symbol, other)


def _joined(old: Iterable[Symbol], new: Iterable[Symbol], side: SideFacts) -> Iterator[tuple[str, str | None]]:
    """The versions that had a place of their own, and share one with the former default now, each with that one."""
    default = bound(old)
    other = given(new, default.version, side.first_version)
    for symbol in old:
        got = given(new, symbol.version, side.first_version)
        apart = symbol.elf is not None and symbol.elf.own_place and not is_private_node(symbol.version)
        lost = got is not None and got.version != symbol.version and side.version_definitions  # a finding of its own
        if apart and symbol.version and got is not None and other is not None and not lost and _is_one(got, other):
            yield symbol.version, default.version


def _is_one(symbol: Symbol, other: Symbol) -> bool:
    """Whether two versions of one side are at one place."""
    places = [each.elf.own_place if each.elf else None for each in (symbol, other)]
    return symbol is other or sorted(places, key=str) == [False, None] or places == [False, False]


def _differ(old: tuple[Symbol, ...], new: tuple[Symbol, ...]) -> bool:
    """Whether the versions of a symbol differ in what both sides tell."""
    return len(old) != len(new) or any(before != after for before, after in map(both_known, old, new))


def both_known(old: Symbol, new: Symbol) -> tuple[Symbol, Symbol]:
    """Both without their numbers, and without what one does not tell: older snapshots and other formats.

    Not compared are the memory that they lie in, their sizes (some formats have bounds alone), and the words of tables.
    Which versions share a place is compared by itself, and so are the numbers of a DLL's exports.
    """
    old, new = (msgspec.structs.replace(each, elf=_less(each.elf, own_place=None), ordinal=None) for each in (old, new))
    if None in (is_read_only(old), is_read_only(new)):
        old, new = _without_memory(old), _without_memory(new)
    if (old.size, least(old)) != (new.size, least(new)) and not sized(old, new):
        old, new = _without_size(old), _without_size(new)
    if () in (old.table, new.table):
        old, new = (msgspec.structs.replace(each, table=()) for each in (old, new))
    return old, new


def _without_memory(symbol: Symbol) -> Symbol:
    if is_read_only(symbol) is None:
        return symbol
    return msgspec.structs.replace(
        symbol,
        elf=_less(symbol.elf, read_only=None),
        macho=_less(symbol.macho, read_only=None),
        pe=_less(symbol.pe, read_only=None),
    )


def _without_size(symbol: Symbol) -> Symbol:
    elf, macho, pe = _less(symbol.elf, empty=False), _less(symbol.macho, padding=0), _less(symbol.pe, padding=0)
    return msgspec.structs.replace(symbol, size=0, elf=elf, macho=macho, pe=pe)


Facts = TypeVar("Facts", ElfSymbol, MachoSymbol, PeSymbol)


def _less(facts: Facts | None, **unknown: Any) -> Facts | None:
    """``facts`` without some of them; ``None`` where nothing is left."""
    left = msgspec.structs.replace(facts, **unknown) if facts is not None else None
    return left if left is not None and left != type(left)() else None


def _unversioned(symbol: Symbol) -> Symbol:
    return msgspec.structs.replace(symbol, version=None, default=True)


def _moved(delta: Delta[Any]) -> tuple[str, str] | None:
    """The version nodes that a symbol moved between, if that is what ``delta`` says."""
    if isinstance(delta, Changed) and isinstance(delta.old, SymbolVersion):
        nodes = delta.old.version, delta.new.version
        if nodes[0] is not None and nodes[1] is not None:
            return nodes[0], nodes[1]
    return None


def _versions(name: Name, old: Iterable[Symbol], new: Iterable[Symbol], first_version: str) -> Iterator[Delta[Any]]:
    """A consumer asks for the version it was linked with; each that vanished is moved, or else removed."""
    before, after = ({each.version: SymbolVersion(each.version, each.default) for each in side} for side in (old, new))
    first, second = (next((each for each in side.values() if each.default), None) for side in (before, after))
    come = [version for version in after if version not in before]
    for version, asked in sorted(before.items(), key=lambda item: item[0] or ""):
        if version in after:
            continue
        if asked.default and second is not None and second.version in come:
            come.remove(second.version)
            yield Changed(Subject(name), asked, second)
        elif version is not None:
            yield Removed(Subject(name, f"version {version}"), asked)
        elif first_version and given(new, None, first_version) is None:
            yield Removed(Subject(name), asked)
    for version in sorted(come, key=lambda each: each or ""):
        yield Added(Subject(name, f"version {version}"), after[version])
    got = given(new, first.version, first_version) if first else None
    kept = got is not None if first else second is not None and second.version in before
    was, now = (DefaultVersion(each.version if each else None) for each in (got, second))
    if kept and was != now:
        yield Changed(Subject(name), was, now)
