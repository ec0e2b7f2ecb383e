"""Pairs the export tables: what was removed, added, or is exported differently."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import msgspec

from abistore.diffing.context import Context
from abistore.diffing.evidence_gaps import comparable
from abistore.diffing.parts import (
    Batch,
    DeclaredMove,
    DeclaredRenaming,
    DefaultVersion,
    ForeignExports,
    InternalExport,
    NamespaceMove,
    NodeMove,
    OmittedExport,
    PrivateMemberExport,
    Renaming,
    SymbolVersion,
    UncallableExport,
    UndeclaredExport,
    VersionCode,
)
from abistore.diffing.side import SideFacts
from abistore.diffing.surface.consumers import Consumers, Owner
from abistore.diffing.surface.export_table import is_runtime_symbol, least, sized
from abistore.diffing.tables import ExportTables, import_deltas, own_deltas
from abistore.model.declarations import EXPORTS, SELF, TYPES, Added, Changed, Delta, Facet, Name, Removed, Subject
from abistore.model.hints import is_private_node
from abistore.model.names.symbols import primary
from abistore.model.shapes import (
    Access,
    AnyShape,
    ElfSymbol,
    Function,
    MachoSymbol,
    Method,
    PeSymbol,
    Symbol,
    Variable,
    is_read_only,
)
from abistore.model.snapshot import bound, given, symbols_of

if TYPE_CHECKING:
    from abistore.diffing.scopes import Move


def unnamed(consumers: Consumers, export: Name, old: AnyShape, new: AnyShape) -> Changed[Any]:
    """The delta of an export that no consumer can name; it says so, unless it tells of its binding alone."""
    told = isinstance(old, Symbol) and isinstance(new, Symbol) and _alike(old, new)
    if told and consumers.concealment(export) == "undeclared":
        return Changed(Subject(export), old, new)
    return concealed(consumers, export, old, new)


def concealed(consumers: Consumers, export: Name, old: AnyShape, new: AnyShape) -> Changed[Any]:
    """The delta of an export that no consumer can name; it says so, and which private header declares it."""
    subject = Subject(export)
    if consumers.concealment(export) == "internal":
        return Changed(subject, InternalExport(export, old), InternalExport(export, new))
    if consumers.prove_private(export):
        return Changed(subject, OmittedExport(export, old), OmittedExport(export, new))
    header = consumers.private_header(export)
    return Changed(subject, UndeclaredExport(export, old, header), UndeclaredExport(export, new, header))


def _alike(old: Symbol, new: Symbol) -> bool:
    """Whether programs that use the symbol notice no difference: only how it is bound differs."""
    return (old.type, old.size) == (new.type, new.size) and not any(refilled(old, new))


def refilled(old: Symbol, new: Symbol) -> Iterator[tuple[str, str]]:
    """The words of a vtable or of type information that point to another symbol, as far as both sides know them."""
    for before, after in zip(old.table, new.table, strict=False):
        if before and after and before != after:
            yield before, after


def unused(export: Name, old: AnyShape, new: AnyShape) -> Changed[Any]:
    """The delta of a private member that programs do not use."""
    return Changed(Subject(export), PrivateMemberExport(export, old), PrivateMemberExport(export, new))


def uncalled(export: Name, old: AnyShape, new: AnyShape) -> Changed[Any]:
    """The delta of a function that programs can name, and cannot call."""
    return Changed(Subject(export), UncallableExport(export, old), UncallableExport(export, new))


def differs_in_access(old: AnyShape, new: AnyShape) -> bool:
    """Whether a member of a class is accessible from other places than before: that is a change of its own."""
    return _access(old) != _access(new)


def _access(shape: AnyShape) -> Access | None:
    match shape:
        case Function(method=Method(access=access)) | Variable(access=access):
            return access
        case _:
            return None


Pairs: TypeAlias = tuple[tuple[str, str], ...]
Called: TypeAlias = tuple[str, str, str, bool]
"""What is called otherwise, its names before and after, and whether these are versions that programs do not write."""

Together: TypeAlias = dict[Called, list[tuple[Name, Name]]]
Asked: TypeAlias = Mapping[Called, Pairs]


def moved_exports(context: Context) -> Iterator[Changed[Batch]]:
    """One delta for each name that scopes changed, however many scopes it is a part of."""
    yield from _exports(context, context.once(_asked_for))


def surely_moved_exports(context: Context) -> Iterator[Changed[Batch]]:
    """Those of them of which the old release tells enough: nothing need be known under the old names."""
    return _exports(context, _asked(context, frozenset({"own"})))


def _exports(context: Context, asked_for: Asked) -> Iterator[Changed[Batch]]:
    for what, before, after, versioned in sorted(_together(context.moves)):
        if asked := asked_for[what, before, after, versioned]:
            shape = NamespaceMove if versioned and what == "namespace" else Renaming
            yield _delta(what, shape(asked, before, after))


def moved_declarations(context: Context) -> Iterator[tuple[Facet, Changed[Batch]]]:
    """The same of what programs write, each with the facet that shows it: exports of versions say it already."""
    for (what, before, after, versioned), pairs in sorted(_together(context.moves).items()):
        exported = bool(context.once(_asked_for)[what, before, after, versioned])
        for facet in () if versioned and exported else _showing(context, exported):
            if written := _written(context, facet, pairs):
                yield facet, _delta(what, (DeclaredMove if versioned else DeclaredRenaming)(written, before, after))
                break


def _together(moves: Iterable[Move]) -> Together:
    found: Together = {}
    for move in (each for each in moves if each.sort != "number"):
        shortened = move.versioned and move.sort == "namespace"
        before, after = move.differing if shortened else (move.before, move.after)
        found.setdefault((move.sort, before, after, move.versioned), []).extend(move.pairs)
    return found


def _delta(what: str, batch: Batch) -> Changed[Batch]:
    part = f"{what} {batch.before or '(none)'} -> {batch.after or '(none)'}"
    return Changed(Subject(SELF, part), batch, batch)


def _asked_for(context: Context) -> Asked:
    """The exports that programs ask this library for. None where they have copies of all that moved together."""
    return _asked(context, frozenset({"own", "instantiation"}))


def _asked(context: Context, found_here: Container[Owner]) -> Asked:
    found: dict[Called, Pairs] = {}
    for called, moved in _together(context.moves).items():
        exported = [pair for pair in moved if _is_exported(context, *pair)]
        owners = [context.old.consumers.owner(old, context.new.exporting, gone=True) for old, _ in exported]
        pairs = zip(exported, owners, strict=True)
        asked = tuple(sorted((old.spelling, new.spelling) for (old, new), owner in pairs if owner != "foreign"))
        found[called] = asked if any(owner in found_here for owner in owners) else ()
    return found


def _is_exported(context: Context, old: Name, new: Name) -> bool:
    after = any(context.new.variants("symbol", each) for each in (old, new))
    before = old.kind in EXPORTS and bool(context.old.variants("symbol", old))
    return before and after and context.old.consumers.can_name(old)


def _showing(context: Context, exported: bool) -> Iterator[Facet]:
    """The facets that show what programs write, best first. Exports stand for what debug information tells."""
    if comparable(context, "source"):
        yield "source"
    elif not exported and comparable(context, "layout"):
        yield "layout"


def _written(context: Context, facet: Facet, moved: Iterable[tuple[Name, Name]]) -> Pairs:
    """The declarations of the facet that programs can name: a constructor is one, with all its symbols."""
    held = context.old.snapshot.entries[facet]
    named = ((old, new) for old, new in moved if old in held and (facet == "source" or old.kind in TYPES))
    found = {primary(old.spelling): primary(new.spelling) for old, new in named if _can_name(context, facet, old)}
    return tuple(sorted(found.items()))


def _can_name(context: Context, facet: Facet, name: Name) -> bool:
    return facet == "source" or (context.concerns(name) and context.old.consumers.can_see(name))


BATCH = 3
"""So many exports that move between the same two version nodes are one move."""


def export_deltas(context: Context) -> Iterator[Delta[Any]]:
    """All deltas of the symbol facet."""
    if context.moves:
        yield from moved_exports(context)
    if not context.differing["symbol"]:
        return
    tables = ExportTables(context)
    yield from _shared(tables)
    if tables.removed or tables.added or SELF in context.differing["symbol"]:
        from abistore.diffing.tables import one_sided

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
