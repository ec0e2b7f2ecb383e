"""What the library needs of others, and what it says of itself."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from typing import Any

import msgspec

from abistore.compare.context import Context
from abistore.compare.diff.exported.tables import ExportTables
from abistore.compare.diff.parts import (
    Dependency,
    ExportCounts,
    Feature,
    Imports,
    Provider,
    Unprovided,
    VersionDefinition,
    VersionRequirement,
)
from abistore.compare.side import SideFacts
from abistore.model.deltas import Added, Changed, Delta, Removed, Subject
from abistore.model.labels.sonames import family, library_name
from abistore.model.names import SELF, Name
from abistore.model.symbol_versions import symbols_of
from abistore.model.tables import ElfLibrary, Import, Library, MachoLibrary


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
    from abistore.compare.diff.exported.unprovided import come_unprovided  # most releases need the same

    return come_unprovided(context, names)


def _providers(old: Mapping[Name, Import], new: Mapping[Name, Import]) -> Iterator[Delta[Any]]:
    """The imports that another library is to provide, together for each two libraries."""
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
    """What a text stub could say of the file."""
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
    """Each of the version nodes, sorted, with the exports that live in it."""
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
    from abistore.compare.diff.version_tags import RUNTIME_FAMILIES, parsed, raises_floor  # few releases need more

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
