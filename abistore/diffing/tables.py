"""The tables of the file: what one side alone exports, imports, and what the library says of itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, Final, assert_never

import msgspec

from abistore.diffing.context import Context
from abistore.diffing.parts import (
    Batch,
    BehindNumber,
    Dependency,
    ExportCounts,
    ExportList,
    ExportNumbers,
    Feature,
    ForeignExports,
    Imports,
    InlineExports,
    Instantiation,
    InstructionSetVariants,
    InternalExports,
    OmittedExports,
    PrivateMemberExports,
    Provider,
    ReexportedExports,
    TakenName,
    ToolkitMove,
    UncallableExports,
    UndeclaredExports,
    Unprovided,
    VersionDefinition,
    VersionRequirement,
)
from abistore.diffing.side import SideFacts
from abistore.diffing.surface.consumers import Concealment, Consumers, Owner
from abistore.diffing.surface.export_table import OWNERS, is_of_runtime
from abistore.model.declarations import EXPORTS, SELF, Added, Changed, Delta, Name, Removed, Subject, is_number
from abistore.model.labels import family, library_name
from abistore.model.names.qualified import demangle, entity
from abistore.model.names.symbols import without_stack
from abistore.model.shapes import ElfLibrary, Function, Import, Library, MachoLibrary, Symbol, Variable
from abistore.model.snapshot import Variants, bound, symbols_of


def unread_reexports(context: Context) -> tuple[str, ...]:
    """The libraries that the new release re-exports and the old one does not, sorted.

    Those that are at hand were read: :func:`abistore.diffing.judge.bundles.without_read` leaves them out.
    """
    old, new = context.old.library, context.new.library
    if old is None or new is None or not new.on_macho.reexports:
        return ()
    known = {library_name(each) for each in old.on_macho.reexports}
    return tuple(sorted(each for each in new.on_macho.reexports if library_name(each) not in known))


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


VERSIONED: Final = frozenset(
    {
        *("libc", "libm", "libpthread", "libdl", "librt", "libresolv", "libutil", "ld-linux", "ld-linux-x86-64"),
        *("ld-linux-aarch64", "ld-linux-armhf", "libstdc++", "libgcc_s", "libgomp", "libatomic", "libquadmath"),
    }
)
"""Libraries of GNU systems that give each symbol a version: the linker writes it down beside an import."""


def come_unprovided(context: Context, names: Collection[Name]) -> frozenset[Name]:
    """The imports of the new release that no library has which it needs, where the old release got along.

    It did not import them, or needed a library that may have them. ``names`` are the imports that differ.
    """
    old, new = context.old, context.new
    if not _needs_versioned_only(new) or _leaves_out_imports(old):
        return frozenset()
    if _needs_versioned_only(old):
        return frozenset(name for name in names if _has_no_version(name, new) and not _has_no_version(name, old))
    return frozenset(name for name in _symbols(new) if name.kind == "import" and _has_no_version(name, new))


def _needs_versioned_only(side: SideFacts) -> bool:
    """Whether a library needs glibc, and no library but those with versions. An import from one of these has one."""
    library = side.library
    if library is None or not all(library_name(each) in VERSIONED for each in library.needed):
        return False
    return any(library_name(each) == "libc" for each, _ in library.on_elf.version_requirements)


def _leaves_out_imports(side: SideFacts) -> bool:
    """Whether a release was stored without its imports: it asks for versions, and names no symbol that has one."""
    library = side.library
    asks = library is not None and bool(library.on_elf.version_requirements)
    return library is None or (asks and not any(name.kind == "import" for name in _symbols(side)))


def _has_no_version(name: Name, side: SideFacts) -> bool:
    shapes = side.variants("symbol", name)
    return any(isinstance(each, Import) and not each.weak and each.version is None for each in shapes)


def _symbols(side: SideFacts) -> Mapping[Name, Variants]:
    return side.snapshot.entries.get("symbol", {})


class Behind(msgspec.Struct, frozen=True):
    """What is behind a number: its ``symbols``, and its ``names`` by debug information. Empty where nothing tells."""

    symbols: Set[str]
    names: Set[str]

    @property
    def told(self) -> tuple[str, ...]:
        """The names of what is there, sorted."""
        return tuple(sorted({demangle(each) for each in self.symbols} or self.names))

    def is_another(self, new: Behind) -> bool:
        """Whether it is known to be something else than what is behind the number in the new release."""
        for old, other in ((self.symbols, new.symbols), (self.names, new.names)):
            if old and other:
                return old.isdisjoint(other)
        return bool(self.told and new.told) and self._entities.isdisjoint(new._entities)

    @property
    def _entities(self) -> Set[str]:
        return {entity(demangle(each)) for each in self.symbols | self.names}


def number_deltas(context: Context) -> Iterator[Delta[Any]]:
    """The numbers of both releases behind which something else is now, and named exports with other numbers."""
    if context.old.snapshot.target.format != "pe":
        return
    yield from _renumbered(context)
    differing = {name for facet in ("symbol", "layout") for name in context.differing[facet] if is_number(name)}
    for name in sorted(differing & shared_numbers(context)):
        old, new = behind(context.old, name), behind(context.new, name)
        if old.is_another(new):
            yield Changed(Subject(name), BehindNumber(old.told), BehindNumber(new.told))


def _renumbered(context: Context) -> Iterator[Delta[Any]]:
    """The named exports of both releases that have another number, where the authors of both chose the numbers."""
    found = [
        (name.spelling, old, new)
        for name in sorted(context.differing["symbol"])
        if name.kind in EXPORTS and not is_number(name)
        if (old := _number(context.old, name)) is not None and (new := _number(context.new, name)) is not None
        if old != new
    ]
    if found:
        before = ExportNumbers(tuple((name, old) for name, old, _ in found))
        yield Changed(Subject(SELF, "numbers"), before, ExportNumbers(tuple((name, new) for name, _, new in found)))


def _number(side: SideFacts, name: Name) -> int | None:
    return next((each.ordinal for each in side.variants("symbol", name) if isinstance(each, Symbol)), None)


def shared_numbers(context: Context) -> Set[Name]:
    """The exports by number of both releases, but for those that lead to another DLL in both."""
    both = context.old.exports.numbers & context.new.exports.numbers
    return {each for each in both if not all(_leads_away(side, each) for side in (context.old, context.new))}


def _leads_away(side: SideFacts, number: Name) -> bool:
    return any(isinstance(each, Symbol) and each.forwarded_to for each in side.variants("symbol", number))


def behind(side: SideFacts, number: Name) -> Behind:
    """What one side tells of what is behind a number."""
    symbols = {
        symbol
        for shape in side.variants("symbol", number)
        if isinstance(shape, Symbol)
        for symbol in (*(shape.pe.behind if shape.pe else ()), *_forwarded(shape))
    }
    described = side.variants("layout", number)
    names = frozenset(each.display for each in described if isinstance(each, Function | Variable))
    if side.snapshot.target.machine == "i386":
        symbols = set(map(without_stack, symbols))
    return Behind(symbols, names)


def _forwarded(symbol: Symbol) -> Iterator[str]:
    """The function of another DLL that an export leads to, unless that has a number alone as well."""
    name = (symbol.forwarded_to or "").rpartition(".")[2]
    if name and not name.startswith("#"):
        yield name


LINKED = ADD, HIDE = "add", "hide"
"""The directives that say whether programs for a system link to a symbol, whatever the exports are."""

ONE_FOR_A_SYSTEM = ("install_name", "compatibility_version")


class Directive(msgspec.Struct, frozen=True, order=True):
    """One directive; ``system`` is the one that programs are built for, empty where ``value`` says it."""

    action: str
    system: str
    value: str


def directives_of(side: SideFacts) -> tuple[Directive, ...] | None:
    """The directives of one side, sorted; ``None`` where they were not read."""
    told = side.library.on_macho.directives if side.library else None
    return tuple(sorted(map(_parsed, told))) if told is not None else None


def _parsed(text: str) -> Directive:
    """``$ld$previous`` tells its systems behind the library that programs record."""
    action, _, rest = text.removeprefix("$ld$").partition("$")
    system, _, value = rest.partition("$") if action != "previous" else ("", "", rest)
    return Directive(action, system, value)


def differently_linked(context: Context, *, lost: bool) -> Iterator[tuple[str, str]]:
    """The symbols that programs for a system could link to and no longer can, with the system; or the reverse.

    What is no longer exported at all, or is new, has findings of its own.
    """
    old, new = (directives_of(side) for side in (context.old, context.new))
    if old is None or new is None:
        return
    told, tells = (_about_symbols(each) for each in (old, new))
    for key in sorted(told.keys() | tells.keys()):
        system, symbol = key
        exported, exports = (symbol in side.exports.names for side in (context.old, context.new))
        links = _links(told.get(key, ()), exported), _links(tells.get(key, ()), exports)
        if links == (lost, not lost) and exported == exports:
            yield system, symbol


def _about_symbols(directives: Iterable[Directive]) -> Mapping[tuple[str, str], Collection[str]]:
    found: dict[tuple[str, str], set[str]] = {}
    for each in directives:
        if each.action in LINKED:
            found.setdefault((each.system, each.value.removeprefix("_")), set()).add(each.action)
    return found


def _links(actions: Collection[str], exported: bool) -> bool:
    return HIDE not in actions and (ADD in actions or exported)


def recorded_differently(context: Context) -> Iterator[tuple[str | None, str | None]]:
    """The other directives that one side alone has: they say what programs record of the library and its symbols."""
    old, new = (directives_of(side) for side in (context.old, context.new))
    if old is None or new is None:
        return
    before, after = ({each for each in told if each.action not in LINKED} for told in (old, new))
    gone, come = before - after, after - before
    heirs = {(each.action, each.system): each for each in come if each.action in ONE_FOR_A_SYSTEM}
    for each in sorted(gone):
        heir = heirs.get((each.action, each.system))
        come.discard(heir or each)
        yield _spelled(each), _spelled(heir) if heir else None
    yield from ((None, _spelled(each)) for each in sorted(come))


def _spelled(directive: Directive) -> str:
    return "$".join(filter(None, ("$ld", directive.action, directive.system, directive.value)))


COPIES: tuple[tuple[str, Owner, type[ExportList]], ...] = (
    ("foreign exports", "foreign", ForeignExports),
    ("inline exports", "inline", InlineExports),
)


def one_sided(tables: ExportTables) -> Iterator[Delta[Any]]:
    """Deltas of the exports that one side alone has."""
    yield from taken_names(tables)
    gone, come = set(tables.removed), set(tables.added)
    for title, hidden in _gone_unnamed(tables, gone):
        gone -= set(hidden.symbols)
        yield Removed(Subject(SELF, title), hidden)
    for title, variants in _by_instruction_set(tables, gone) if gone else ():
        gone -= set(variants.symbols)
        yield Removed(Subject(SELF, title), variants)
    own = [each for each in sorted(gone) if tables.lost(each) != "foreign"]  # copies of the runtime tell of no renaming
    if (toolkit := _moved_toolkit(tables, own, sorted(come))) is not None:
        yield toolkit
        gone -= {old for old, _ in toolkit.old.pairs}
        come -= {new for _, new in toolkit.old.pairs}
        own = [each for each in own if each in gone]
    for part, batch in _renamed(own, sorted(come)):
        if all(tables.lost(old) == "inline" for old, _ in batch.pairs):
            continue  # programs have their own copies, and ask for none of these names
        yield Changed(Subject(SELF, part), batch, batch)
        gone -= {old for old, _ in batch.pairs}
        come -= {new for _, new in batch.pairs}
    private = tables.context.old.consumers.out_of_reach
    if unused_members := _taken(gone, [each for each in gone if private(tables.old[each])]):
        yield Removed(Subject(SELF, "private members"), PrivateMemberExports(unused_members))
    uncallable = tables.context.old.consumers.cannot_call
    if refused := _taken(gone, [each for each in gone if uncallable(tables.old[each])]):
        yield Removed(Subject(SELF, "functions that cannot be called"), UncallableExports(refused))
    for part, owner, shape in COPIES:
        if removed := _taken(gone, [each for each in gone if tables.lost(each) == owner]):
            yield Removed(Subject(SELF, part), shape(removed))
        if added := _taken(come, [each for each in come if tables.gained(each) == owner]):
            yield Added(Subject(SELF, part), shape(added))
    for title, leaked in _come_unnamed(tables, come):
        come -= set(leaked.symbols)
        yield Added(Subject(SELF, title), leaked)
    if (libraries := unread_reexports(tables.context)) and (elsewhere := _taken(gone, gone)):
        yield Removed(Subject(SELF, "exports of re-exported libraries"), ReexportedExports(elsewhere, libraries))
    yield from _single(tables, gone, come)


def _moved_toolkit(tables: ExportTables, gone: Sequence[str], come: Sequence[str]) -> Changed[ToolkitMove] | None:
    """What follows from needed libraries that gave way to other releases of themselves."""
    old, new = tables.context.old.library, tables.context.new.library
    if old is None or new is None or old.needed == new.needed:
        return None
    from abistore.diffing.renamed_exports import toolkit_move  # few releases need other libraries

    return toolkit_move(tables.context, gone, come)


def _renamed(gone: Sequence[str], come: Sequence[str]) -> Iterable[tuple[str, Batch]]:
    """What turns some of ``gone`` into some of ``come`` in the same way."""
    if not gone or not come:
        return ()
    from abistore.diffing.renamed_exports import find  # few releases lose exports and get others

    return find(gone, come)


def _by_instruction_set(tables: ExportTables, gone: Set[str]) -> Iterator[tuple[str, InstructionSetVariants]]:
    from abistore.diffing.renamed_exports import families  # few releases lose exports

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
                yield from _gone_undeclared(consumers, tables.old, symbols)
            case _:
                assert_never(reason)


def _gone_undeclared(
    consumers: Consumers, names: Mapping[str, Name], symbols: Sequence[str]
) -> Iterator[tuple[str, ExportList]]:
    """Those of the ``symbols`` that headers prove private, and those that they only do not declare."""
    proven = tuple(each for each in symbols if consumers.prove_private(names[each]))
    if proven:
        yield "undeclared exports", OmittedExports(proven)
    if others := tuple(each for each in symbols if each not in proven):
        headers = sorted(filter(None, {consumers.private_header(names[each]) for each in others}))
        yield "undeclared exports", UndeclaredExports(others, tuple(headers))


def taken_names(tables: ExportTables) -> Iterator[Delta[TakenName]]:
    """The new exports with which programs find a library's function in place of the C or C++ library's.

    So it is with ELF, where a program looks into all its libraries in their order, and the C library is the last.
    Whether headers declare the function makes no difference.
    """
    new = tables.context.new
    if new.snapshot.target.format != "elf" or new.library is None or new.library.file_kind != "shared":
        return
    if library_name(new.library.name or "") in OWNERS:
        return
    for spelling in tables.added:
        if is_of_runtime(spelling):
            name = tables.new[spelling]
            symbol = bound(symbols_of(new.variants("symbol", name)))
            yield Added(Subject(name), TakenName(spelling, symbol.version))


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


def _single(tables: ExportTables, gone: set[str], come: set[str]) -> Iterator[Delta[Any]]:
    context = tables.context
    if gone and come:
        from abistore.diffing.renamed_exports import single  # few releases lose exports and get others

        for old, new, shape in single(context, sorted(gone), sorted(come)):
            gone.discard(old)
            come.discard(new)
            yield Changed(Subject(tables.old[old]), shape(old), shape(new))
    for spelling in sorted(gone):
        name = tables.old[spelling]
        symbol = bound(symbols_of(context.old.variants("symbol", name)))
        instantiation = tables.lost(spelling) == "instantiation"
        yield Removed(Subject(name), Instantiation(symbol) if instantiation else symbol)
    for spelling in sorted(come):
        name = tables.new[spelling]
        yield Added(Subject(name), bound(symbols_of(context.new.variants("symbol", name))))


def import_deltas(context: Context) -> Iterator[Delta[Any]]:
    """Deltas of the imports."""
    if any(side.library and side.library.on_macho.stub for side in (context.old, context.new)):
        return  # a text stub tells no imports
    names = [name for name in context.differing["symbol"] if name.kind == "import"]
    old, new = _imported(context.old, names), _imported(context.new, names)
    gone = tuple((name.spelling, old[name]) for name in sorted(old.keys() - new.keys()))
    lacking = _lacking(context, names)
    come = tuple((name.spelling, new[name]) for name in sorted(new.keys() - old.keys() - lacking))
    if gone:
        yield Removed(Subject(SELF, "imports"), Imports(gone))
    if come:
        yield Added(Subject(SELF, "imports"), Imports(come))
    if lacking:
        yield Added(Subject(SELF, "needed symbols"), Unprovided(tuple(sorted(name.spelling for name in lacking))))
    for name in sorted(old.keys() & new.keys()):
        if old[name] != new[name]:
            yield Changed(Subject(name), old[name], new[name])
    yield from _providers(old, new)


def _lacking(context: Context, names: Collection[Name]) -> frozenset[Name]:
    """The imports that no library has which the new release needs; ``names`` are those that differ."""
    old, new = context.old.library, context.new.library
    if not names and (old.needed if old else ()) == (new.needed if new else ()):
        return frozenset()

    return come_unprovided(context, names)


def _providers(old: Mapping[Name, Import], new: Mapping[Name, Import]) -> Iterator[Delta[Any]]:
    moved: dict[tuple[str, str], list[str]] = {}
    for name in sorted(old.keys() & new.keys()):
        before, after = old[name].library, new[name].library
        if before and after and family(before) != family(after):
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


def own_deltas(tables: ExportTables) -> Iterator[Delta[Any]]:
    """Deltas of the library as a whole."""
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
    old, new = _without_first_version(old), _without_first_version(new)
    if old == new:
        return
    yield Changed(Subject(SELF), old, new)
    yield from _each(old.needed, new.needed, "needs {}", Dependency)
    yield from _each(old.features, new.features, "feature {}", Feature)
    yield from _nodes(context, tables.old, tables.new, old, new)
    yield from _requirements(old, new, context.new.snapshot.target.machine)


def _without_first_version(library: Library) -> Library:
    """A library without what says only which version of its exports some programs get."""
    facts = msgspec.structs.replace(library.on_elf, first_version="")
    return msgspec.structs.replace(library, elf=facts if facts != ElfLibrary() else None)


def _as_in_stub(library: Library) -> Library:
    apple = library.on_macho
    told = MachoLibrary(reexports=apple.reexports, clients=apple.clients, stub=True, directives=apple.directives)
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
    living: dict[str, set[str]] = {version: set() for version in sorted(versions)}
    for spelling, name in exported.items() if living else ():
        for symbol in symbols_of(side.variants("symbol", name)):
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
    if before >= after:
        return
    from abistore.diffing.renamed_exports import RUNTIME_FAMILIES, parsed, raises_floor  # few releases need more

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
