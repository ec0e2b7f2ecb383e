"""Exports that moved to another library of the release, where programs that ask this one find them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from abistore.compare.releases.release import MemberLibrary, ReleaseLibraries
from abistore.model.digest import sort_variants
from abistore.model.names import EXPORTS, TYPES, Facet, Name
from abistore.model.references import references
from abistore.model.snapshot import Snapshot, Variants
from abistore.model.symbol_versions import given, symbols_of
from abistore.model.tables import Symbol

Entries = dict[Name, Variants]


def completed(before: Snapshot, after: Snapshot, release: Sequence[Snapshot]) -> Snapshot:
    """``after`` with the exports that it lost and that libraries of the new ``release`` have, which it brings along.

    An ELF program looks for a symbol in all libraries that are loaded with it, by the version that it was linked with;
    a Mach-O program in the library that it was linked to, and in those that this one re-exports. With other formats
    there is none.
    """
    lost = _lost(before, after)
    if not lost:
        return after
    libraries = ReleaseLibraries([each for each in release if str(each.target) == str(after.target)])
    providers = list(_providers(MemberLibrary(after), libraries))
    lent = {name: found for name in lost if (found := _lent(name, before, providers)) is not None}
    return joined(after, lent) if lent else after


def _lost(before: Snapshot, after: Snapshot) -> list[Name]:
    kept = {name.spelling for name in after.entries.get("symbol", {}) if name.kind in EXPORTS}
    names = (name for name in before.entries.get("symbol", {}) if name.kind in EXPORTS)
    return sorted(name for name in names if name.spelling not in kept)


def _providers(library: MemberLibrary, libraries: ReleaseLibraries) -> Iterator[MemberLibrary]:
    """The libraries through which programs that ask ``library`` find a symbol, nearest first."""
    if library.snapshot.target.format == "elf":
        yield from libraries.needs(library)
    elif library.snapshot.target.format == "macho":
        yield from libraries.reexported(library)


def _lent(name: Name, before: Snapshot, providers: Sequence[MemberLibrary]) -> tuple[MemberLibrary, Variants] | None:
    """The library that has an export in place of the one that lost it, and its symbols as programs ask for them."""
    asked = symbols_of(before.variants("symbol", name))
    for provider in providers:
        found = symbols_of(provider.snapshot.variants("symbol", name))
        got = [given(found, each.version, provider.facts.on_elf.first_version) for each in asked]
        shapes = [
            msgspec.structs.replace(one, version=each.version, default=each.default)
            for one, each in zip(got, asked, strict=True)
            if one is not None
        ]
        if asked and len(shapes) == len(asked):
            return provider, lent_as(provider, name, shapes)
    return None


def lent_as(provider: MemberLibrary, name: Name, symbols: Iterable[Symbol]) -> Variants:
    """The symbols of an export of ``provider``, as another library has them that leads to it."""
    leads_to = f"{provider.soname}:{name.spelling}"
    return sort_variants(msgspec.structs.replace(each, forwarded_to=leads_to) for each in symbols)


def joined(after: Snapshot, lent: Mapping[Name, tuple[MemberLibrary, Variants]]) -> Snapshot:
    """A side with these exports, and with what debug information says of them."""
    symbol: Entries = {**after.entries["symbol"], **{name: symbols for name, (_, symbols) in lent.items()}}
    entries: dict[Facet, Mapping[Name, Variants]] = {**after.entries, "symbol": symbol}
    layout: Entries = dict(after.entries.get("layout", {}))
    locations = dict(after.locations)
    for name, (provider, _) in lent.items():
        for each in _described(name, provider.snapshot):
            layout[each] = sort_variants({*layout.get(each, ()), *provider.snapshot.variants("layout", each)})
            if each in provider.snapshot.locations:
                locations.setdefault(each, provider.snapshot.locations[each])
    if "layout" in entries:
        entries["layout"] = layout
    return msgspec.structs.replace(after, entries=entries, locations=locations)


def _described(name: Name, snapshot: Snapshot) -> Iterator[Name]:
    """An export and the types that it mentions, that these mention, and so on, as far as they are described."""
    seen, pending = {name}, [name]
    while pending:
        each = pending.pop()
        shapes = snapshot.variants("layout", each)
        if shapes:
            yield each
        found = {used for shape in shapes for used, _ in references(shape) if used.kind in TYPES} - seen
        seen |= found
        pending += found
