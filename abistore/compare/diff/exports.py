"""Pairs the export tables: what vanished, what came, and what is now exported in another way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import Any, TypeVar, assert_never

import msgspec

from abistore.compare.consumers.consumers import Concealment, Consumers, Owner
from abistore.compare.consumers.runtime_symbols import is_runtime_symbol
from abistore.compare.context import Context
from abistore.compare.diff.parts import (
    DefaultVersion,
    Dependency,
    ExportCounts,
    ExportList,
    Feature,
    ForeignExports,
    Imports,
    InlineExports,
    Instantiation,
    InstructionSetVariants,
    InternalExports,
    NodeMove,
    OmittedExports,
    PrivateMemberExports,
    Provider,
    SymbolVersion,
    UndeclaredExports,
    VersionDefinition,
    VersionRequirement,
)
from abistore.compare.diff.patterns import renamed_exports as patterns
from abistore.compare.diff.patterns.moved_names import moved_exports
from abistore.compare.diff.unnamed import unnamed, unused
from abistore.compare.diff.version_tags import RUNTIME_FAMILIES, parsed, raises_floor
from abistore.compare.side import SideFacts
from abistore.compare.types.object_sizes import least, sized
from abistore.model.deltas import Added, Changed, Delta, Removed, Subject
from abistore.model.labels.sonames import library_name
from abistore.model.names import EXPORTS, SELF, Name
from abistore.model.shapes import ElfSymbol, Import, Library, MachoLibrary, MachoSymbol, PeSymbol, Symbol
from abistore.model.snapshot import Variants
from abistore.model.words.elf_symbols import is_read_only

BATCH = 3
"""So many exports that move between the same two version nodes are one move."""


class ExportTables:
    """Both export tables by spelling, and the spellings that only one side has."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.old = context.old.exports.names
        self.new = context.new.exports.names
        names = (name for name in context.differing["symbol"] if name.kind in EXPORTS)
        self.differing = sorted({name.spelling for name in names})

    @property
    def removed(self) -> list[str]:
        """What only the old side exports, sorted."""
        return [each for each in self.differing if each in self.old and each not in self.new]

    @property
    def added(self) -> list[str]:
        """What only the new side exports, sorted."""
        return [each for each in self.differing if each in self.new and each not in self.old]

    def lost(self, spelling: str) -> Owner:
        """Whose an export is that only the old side has."""
        context = self.context
        return context.old.consumers.owner(self.old[spelling], context.new.exporting, gone=True)

    def gained(self, spelling: str) -> Owner:
        """Whose an export is that only the new side has."""
        context = self.context
        return context.new.consumers.owner(self.new[spelling], context.old.exporting, gone=False)


def export_deltas(context: Context) -> Iterator[Delta[Any]]:
    """All deltas of the symbol facet."""
    yield from moved_exports(context)
    if not context.differing["symbol"]:
        return
    tables = ExportTables(context)
    yield from _shared(tables)
    yield from _one_sided(tables)
    yield from _imports(context)
    yield from _library(tables)


# --- exports that both sides have ---------------------------------------------------------------------------------


def _shared(tables: ExportTables) -> Iterator[Delta[Any]]:
    moves: dict[tuple[str, str], list[Delta[Any]]] = {}
    before, after = (side.snapshot.entries.get("symbol", {}) for side in (tables.context.old, tables.context.new))
    both = [each for each in tables.differing if each in tables.old and each in tables.new]
    foreign = {each for each in both if is_runtime_symbol(each) and tables.lost(each) == "foreign"}
    told = {each for each in foreign if _differ(_symbols(before[tables.old[each]]), _symbols(after[tables.new[each]]))}
    shared = [(tables.old[each], tables.new[each]) for each in both if each not in foreign]
    if told:
        copies = ForeignExports(tuple(sorted(told)))
        yield Changed(Subject(SELF, "foreign exports"), copies, copies)
    for name, other in shared:
        old, new = _symbols(before[name]), _symbols(after[other])
        if old == new:
            continue
        yield from _same_versions(tables.context, name, old, new)
        for delta in _versions(name, old, new):
            nodes = _moved(delta)
            if nodes is not None:
                moves.setdefault(nodes, []).append(delta)
            else:
                yield delta
    for (before_node, after_node), found in sorted(moves.items()):
        if len(found) < BATCH:
            yield from found
        else:
            spellings = tuple(delta.subject.name.spelling for delta in found)
            batch = NodeMove(tuple((each, each) for each in spellings), before_node, after_node)
            yield Changed(Subject(SELF, f"{before_node} -> {after_node}"), batch, batch)


def _same_versions(context: Context, name: Name, old: Iterable[Symbol], new: Iterable[Symbol]) -> Iterator[Delta[Any]]:
    """What differs in each version that both sides have; one that vanished is compared with what a new link gets."""
    after = {symbol.version: symbol for symbol in new}
    default = bound(new)
    for symbol in sorted(old, key=lambda each: (not each.default, each.version or "")):
        other = after.get(symbol.version, default)
        symbol, other = both_known(symbol, other)
        if _unversioned(symbol) == _unversioned(other):
            continue
        if not context.old.consumers.can_name(name):
            yield unnamed(context.old.consumers, name, symbol, other)
        elif context.old.consumers.out_of_reach(name):
            yield unused(name, symbol, other)
        else:
            yield Changed(Subject(name, "" if symbol.default else f"version {symbol.version}"), symbol, other)


def _differ(old: tuple[Symbol, ...], new: tuple[Symbol, ...]) -> bool:
    """Whether the versions of a symbol differ in what both sides tell."""
    return len(old) != len(new) or any(before != after for before, after in map(both_known, old, new))


def both_known(old: Symbol, new: Symbol) -> tuple[Symbol, Symbol]:
    """Both without what one does not tell: older snapshots and other formats.

    That is what memory they lie in, their sizes (of which some formats tell bounds alone), and the words of tables.
    """
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
    macho, pe = _less(symbol.macho, padding=0), _less(symbol.pe, padding=0)
    return msgspec.structs.replace(symbol, size=0, macho=macho, pe=pe)


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


def _symbols(variants: Variants) -> tuple[Symbol, ...]:
    return tuple(shape for shape in variants if isinstance(shape, Symbol))


def bound(symbols: Iterable[Symbol]) -> Symbol:
    """The one of a symbol's versions that a new link binds to."""
    return max(symbols, key=lambda symbol: (symbol.default, symbol.version or ""))


def _versions(name: Name, old: Iterable[Symbol], new: Iterable[Symbol]) -> Iterator[Delta[Any]]:
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
    for version in sorted(come, key=lambda each: each or ""):
        yield Added(Subject(name, f"version {version}"), after[version])
    kept = first.version in after if first else second is not None and second.version in before
    was, now = (DefaultVersion(each.version if each else None) for each in (first, second))
    if kept and was != now:
        yield Changed(Subject(name), was, now)


# --- exports that one side has ------------------------------------------------------------------------------------


def _one_sided(tables: ExportTables) -> Iterator[Delta[Any]]:
    gone, come = set(tables.removed), set(tables.added)
    for title, hidden in _gone_unnamed(tables, gone):
        gone -= set(hidden.symbols)
        yield Removed(Subject(SELF, title), hidden)
    for title, variants in _by_instruction_set(tables, gone) if gone else ():
        gone -= set(variants.symbols)
        yield Removed(Subject(SELF, title), variants)
    own = [each for each in sorted(gone) if tables.lost(each) != "foreign"]  # copies of the runtime tell of no renaming
    for part, batch in patterns.find(own, sorted(come)):
        if all(tables.lost(old) == "inline" for old, _ in batch.pairs):
            continue  # programs have their own copies, and ask for none of these names
        yield Changed(Subject(SELF, part), batch, batch)
        gone -= {old for old, _ in batch.pairs}
        come -= {new for _, new in batch.pairs}
    private = tables.context.old.consumers.out_of_reach
    if unused_members := _taken(gone, [each for each in gone if private(tables.old[each])]):
        yield Removed(Subject(SELF, "private members"), PrivateMemberExports(unused_members))
    for part, owner, shape in COPIES:
        if removed := _taken(gone, [each for each in gone if tables.lost(each) == owner]):
            yield Removed(Subject(SELF, part), shape(removed))
        if added := _taken(come, [each for each in come if tables.gained(each) == owner]):
            yield Added(Subject(SELF, part), shape(added))
    for title, leaked in _come_unnamed(tables, come):
        come -= set(leaked.symbols)
        yield Added(Subject(SELF, title), leaked)
    yield from _single(tables, gone, come)


def _by_instruction_set(tables: ExportTables, gone: Set[str]) -> Iterator[tuple[str, InstructionSetVariants]]:
    """Variants of one function for several processors that are gone, with a title."""
    from abistore.compare.diff.patterns.instruction_sets import families  # few releases lose exports

    for base, variants in families(gone, tables.old):
        declared = any(tables.context.old.variants("source", tables.old[each]) for each in variants)
        dispatched = base in tables.old and base in tables.new and not declared
        yield f"{base} by instruction set", InstructionSetVariants(variants, dispatched)


def _taken(spellings: set[str], some: Iterable[str]) -> tuple[str, ...]:
    """Some of the ``spellings``, sorted, which are taken out of these."""
    found = tuple(sorted(some))
    spellings.difference_update(found)
    return found


def _gone_unnamed(tables: ExportTables, gone: Iterable[str]) -> Iterator[tuple[str, ExportList]]:
    """Those of ``gone`` that no consumer can name. They say nothing about how those are renamed that consumers can."""
    consumers = tables.context.old.consumers
    for reason, symbols in _concealed(consumers, tables.old, gone, tables.lost).items():
        match reason:
            case "header":
                headers = sorted({consumers.private_header(tables.old[each]) for each in symbols})
                yield "undeclared exports", UndeclaredExports(symbols, tuple(headers))
            case "internal":
                yield "internal exports", InternalExports(symbols)
            case "undeclared":
                yield "undeclared exports", OmittedExports(symbols)
            case _:
                assert_never(reason)


def _come_unnamed(tables: ExportTables, come: Iterable[str]) -> Iterator[tuple[str, ExportList]]:
    """Those of ``come`` that no consumer can name."""
    found = _concealed(tables.context.new.consumers, tables.new, come, tables.gained)
    if internal := tuple(sorted(found.get("internal", ()) + found.get("header", ()))):
        yield "internal exports", InternalExports(internal)
    if omitted := found.get("undeclared"):
        yield "undeclared exports", OmittedExports(omitted)


def _concealed(
    consumers: Consumers, names: Mapping[str, Name], spellings: Iterable[str], owner: Callable[[str], Owner]
) -> Mapping[Concealment, tuple[str, ...]]:
    """Those of the ``spellings`` that no consumer can name, sorted, by the reason.

    Headers do not declare what belongs to others, nor all that inline functions and templates make.
    """
    found: dict[Concealment, tuple[str, ...]] = {}
    for each in sorted(spellings):
        if not consumers.can_name(names[each]):
            reason = consumers.concealment(names[each])
            if reason in ("header", "internal") or owner(each) in ("own", "instantiation"):
                found[reason] = (*found.get(reason, ()), each)
    return found


COPIES: tuple[tuple[str, Owner, type[ExportList]], ...] = (
    ("foreign exports", "foreign", ForeignExports),
    ("inline exports", "inline", InlineExports),
)


def _single(tables: ExportTables, gone: set[str], come: set[str]) -> Iterator[Delta[Any]]:
    context = tables.context
    for old, new, shape in patterns.single(context, sorted(gone), sorted(come)):
        gone.discard(old)
        come.discard(new)
        yield Changed(Subject(tables.old[old]), shape(old), shape(new))
    for spelling in sorted(gone):
        name = tables.old[spelling]
        symbol = bound(_symbols(context.old.variants("symbol", name)))
        instantiation = tables.lost(spelling) == "instantiation"
        yield Removed(Subject(name), Instantiation(symbol) if instantiation else symbol)
    for spelling in sorted(come):
        name = tables.new[spelling]
        yield Added(Subject(name), bound(_symbols(context.new.variants("symbol", name))))


def _imports(context: Context) -> Iterator[Delta[Any]]:
    if any(side.library and side.library.on_macho.stub for side in (context.old, context.new)):
        return  # a text stub tells no imports
    names = [name for name in context.differing["symbol"] if name.kind == "import"]
    old, new = _imported(context.old, names), _imported(context.new, names)
    gone = tuple((name.spelling, old[name]) for name in sorted(old.keys() - new.keys()))
    come = tuple((name.spelling, new[name]) for name in sorted(new.keys() - old.keys()))
    if gone:
        yield Removed(Subject(SELF, "imports"), Imports(gone))
    if come:
        yield Added(Subject(SELF, "imports"), Imports(come))
    for name in sorted(old.keys() & new.keys()):
        if old[name] != new[name]:
            yield Changed(Subject(name), old[name], new[name])
    yield from _providers(old, new)


def _providers(old: Mapping[Name, Import], new: Mapping[Name, Import]) -> Iterator[Delta[Any]]:
    """The imports that another library is to provide, together for each two libraries."""
    moved: dict[tuple[str, str], list[str]] = {}
    for name in sorted(old.keys() & new.keys()):
        before, after = old[name].library, new[name].library
        if before and after and library_name(before) != library_name(after):
            moved.setdefault((before, after), []).append(name.spelling)
    for (before, after), symbols in sorted(moved.items()):
        subject = Subject(SELF, f"imports from {before}")
        yield Changed(subject, Provider(before, tuple(symbols)), Provider(after, tuple(symbols)))


def _imported(side: SideFacts, names: Iterable[Name]) -> dict[Name, Import]:
    """The imports of these ``names``, each as one of its variants tells."""
    found = ((name, [one for one in side.variants("symbol", name) if isinstance(one, Import)]) for name in names)
    return {name: max(shapes, key=_need) for name, shapes in found if shapes}


def _need(shape: Import) -> tuple[bool, bool, str, bool, str]:
    return shape.weak, shape.version is None, shape.version or "", shape.library is None, shape.library or ""


# --- the library itself -------------------------------------------------------------------------------------------


def _library(tables: ExportTables) -> Iterator[Delta[Any]]:
    context = tables.context
    old, new = context.old.library, context.new.library
    sides = context.old, context.new
    before, after = (ExportCounts(len(side.exports.names), side.exports.versioned) for side in sides)
    if before != after:
        yield Changed(Subject(SELF, "exports"), before, after)
    if old is None or new is None:
        return
    if old.on_macho.stub != new.on_macho.stub:
        old, new = _as_in_stub(old), _as_in_stub(new)
    if old == new:
        return
    yield Changed(Subject(SELF), old, new)
    yield from _each(old.needed, new.needed, "needs {}", Dependency)
    yield from _each(old.features, new.features, "feature {}", Feature)
    yield from _nodes(context, tables.old, tables.new, old, new)
    yield from _requirements(old, new, context.new.snapshot.target.machine)


def _as_in_stub(library: Library) -> Library:
    """What a text stub could say of the file."""
    apple = library.on_macho
    told = MachoLibrary(reexports=apple.reexports, clients=apple.clients, stub=True)
    return Library("shared", library.name, compatibility_version=library.compatibility_version, macho=told)


def _each(old: Iterable[str], new: Iterable[str], part: str, shape: type[Any]) -> Iterator[Delta[Any]]:
    before, after = set(old), set(new)
    for value in sorted(before - after):
        yield Removed(Subject(SELF, part.format(value)), shape(value))
    for value in sorted(after - before):
        yield Added(Subject(SELF, part.format(value)), shape(value))


def _nodes(
    context: Context, exported: Mapping[str, Name], exporting: Mapping[str, Name], old: Library, new: Library
) -> Iterator[Delta[Any]]:
    before = set(old.on_elf.version_definitions) - {old.name}
    after = set(new.on_elf.version_definitions) - {new.name}
    for version, symbols in _living_in(context.old, exported, before - after):
        yield Removed(Subject(SELF, f"version {version}"), VersionDefinition(version, symbols))
    for version, symbols in _living_in(context.new, exporting, after - before):
        yield Added(Subject(SELF, f"version {version}"), VersionDefinition(version, symbols))


def _living_in(
    side: SideFacts, exported: Mapping[str, Name], versions: Set[str]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each of the version nodes, sorted, with the exports that live in it."""
    living: dict[str, set[str]] = {version: set() for version in sorted(versions)}
    for spelling, name in exported.items() if living else ():
        for symbol in _symbols(side.variants("symbol", name)):
            if symbol.version in living:
                living[symbol.version].add(spelling)
    return ((version, tuple(sorted(found))) for version, found in living.items())


def _requirements(old: Library, new: Library, machine: str) -> Iterator[Delta[Any]]:
    before, after = _required(old, new), _required(new, old)
    both = _of_any_soname(before) & _of_any_soname(after)
    before, after = (
        {each for each in side if each in kept or (library_name(each[0]), each[1]) not in both}
        for side, kept in ((before, after), (after, before))
    )
    for library, version in sorted(before - after):
        subject = Subject(SELF, f"requires {version} of {library}")
        yield Removed(subject, VersionRequirement(library, version, False))
    for library, version in sorted(after - before):
        runtime = parsed(version)[0] in RUNTIME_FAMILIES
        known = [each for owner, each in before if runtime or owner == library]
        others = [each for owner, each in after if (runtime or owner == library) and each != version]
        higher = version not in known and raises_floor(version, known + others, machine)
        subject = Subject(SELF, f"requires {version} of {library}")
        yield Added(subject, VersionRequirement(library, version, higher))


def _required(library: Library, other: Library) -> set[tuple[str, str]]:
    """The versions that a library needs of others. That a dylib is needed at all is told by itself."""
    dylibs = {each for each in library.on_macho.requirements if each[0] in other.needed}
    return {*library.on_elf.version_requirements, *dylibs}


def _of_any_soname(requirements: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """The versions that are needed of each library, whatever its SONAME is: that differing is a matter of its own."""
    return {(library_name(library), version) for library, version in requirements}
