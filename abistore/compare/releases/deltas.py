"""What differs between the libraries of two releases, without a judgement."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

from abistore.compare.diff.parts import (
    DoubleExports,
    PackagedLibrary,
    PackagedSoname,
    ReleasedLibrary,
    SharedRecord,
    SiblingNeed,
    SiblingSymbol,
    SiblingVersion,
)
from abistore.compare.releases.moving import moved_to
from abistore.compare.releases.release import MemberLibrary, ReleaseLibraries
from abistore.model.deltas import Added, Changed, Delta, Removed, Subject
from abistore.model.labels.sonames import library_name, unmarked
from abistore.model.names import Facet, Name
from abistore.model.snapshot import distributed, loaded_as


def release_deltas(
    old: ReleaseLibraries, new: ReleaseLibraries, elsewhere: Container[str] = ()
) -> Iterator[tuple[Facet, Delta[Any]]]:
    """Libraries that were added and removed, and what libraries of the release no longer find in each other.

    Those that are ``elsewhere``, in both releases for whatever platform, are added or removed for this one alone.
    """
    for name in old.by_name.keys() - new.by_name.keys():
        yield "symbol", _gone(old.by_name[name], new, elsewhere)
    for name in new.by_name.keys() - old.by_name.keys():
        now = _released(new.by_name[name], elsewhere)
        yield "symbol", Added(_subject(name, now.target), now)
    for library in new.by_name.values():
        before = old.by_name.get(library.name)
        yield from (("symbol", delta) for delta in _needs(library, old, new))
        yield from (("symbol", delta) for delta in _versions(library, before, old, new))
        if before is not None:
            yield from (("symbol", delta) for delta in _sonames(before, library, new))
            yield from (("symbol", delta) for delta in _symbols(before, library, old, new))
            yield from (("symbol", delta) for delta in _doubles(library, old, new))
            yield from (("layout", delta) for delta in _records(before, library, old, new))


def _gone(library: MemberLibrary, new: ReleaseLibraries, elsewhere: Container[str]) -> Delta[Any]:
    """The removal of a library, or that it moved to another package."""
    was = _released(library, elsewhere)
    subject, package = _subject(library.name, was.target), distributed(library.snapshot.provenance)
    moved = moved_to(library.snapshot, [each.snapshot for each in new.by_name.values()])
    if moved is None or package is None:
        return Removed(subject, was)
    return Changed(subject, PackagedLibrary(package), PackagedLibrary(moved))


def _released(library: MemberLibrary, elsewhere: Container[str]) -> ReleasedLibrary:
    target = str(library.snapshot.target) if library.name in elsewhere else ""
    return ReleasedLibrary(library.name, library.facts.name, target)


def _subject(library: str, part: str = "") -> Subject:
    return Subject(Name("library", library), part)


def _sonames(before: MemberLibrary, after: MemberLibrary, new: ReleaseLibraries) -> Iterator[Delta[Any]]:
    """The SONAME that a library lost although its package kept its name, and that nothing in the package has."""
    old, now = before.soname, after.soname
    package = distributed(before.snapshot.provenance)
    if not old or not now or old == now or package is None or package != distributed(after.snapshot.provenance):
        return
    linked = {unmarked(each) for one in new.by_name.values() for each in loaded_as(one.snapshot.provenance)}
    if old not in linked and old not in new.by_soname:
        yield Changed(_subject(after.name, package), PackagedSoname(package, old), PackagedSoname(package, now))


def _needs(library: MemberLibrary, old: ReleaseLibraries, new: ReleaseLibraries) -> Iterator[Delta[Any]]:
    """The SONAMEs that a library asks for, and that only the old release has, or neither of them."""
    for soname in library.needed:
        if soname in new.by_soname:
            continue
        same = new.by_name.get(library_name(soname))
        subject = _subject(library.name, soname)
        before = old.by_name.get(library.name)
        was_so = before is not None and soname in before.needed and soname not in old.by_soname
        if same is not None and same.soname and same is not library and not was_so:
            yield Changed(subject, SiblingNeed(same.name, soname), SiblingNeed(same.name, same.soname))
        elif soname in old.by_soname and not moved_to(old.by_soname[soname].snapshot, [library.snapshot]):
            yield Removed(subject, SiblingNeed(old.by_soname[soname].name, soname))


def _versions(
    library: MemberLibrary, before: MemberLibrary | None, old: ReleaseLibraries, new: ReleaseLibraries
) -> Iterator[Delta[Any]]:
    """The symbol versions that a library asks a library of the release for, which does not define them."""
    known = set(_undefined(before, old)) if before else set()
    for provider, version in _undefined(library, new):
        if (provider, version) not in known:
            yield Removed(_subject(library.name, version), SiblingVersion(version, provider))


def _undefined(library: MemberLibrary, release: ReleaseLibraries) -> Iterator[tuple[str, str]]:
    for soname, version in library.facts.on_elf.version_requirements:
        provider = release.by_soname.get(unmarked(soname))
        defined = provider.facts.on_elf.version_definitions if provider else ()
        if provider is not None and defined and version not in defined:
            yield provider.name, version


def _symbols(
    before: MemberLibrary, after: MemberLibrary, old: ReleaseLibraries, new: ReleaseLibraries
) -> Iterator[Delta[Any]]:
    """The symbols that a library of the release provided to another one, and that another one provides now, or none.

    Where the library asks for further libraries from outside, these may have what is missing.
    """
    outside = {each for each in after.needed if each not in new.by_soname} - set(before.needed)
    for symbol, versions in after.imports.items():
        for version in versions:
            provider = old.provider(before, symbol, version) if symbol in before.imports else None
            if provider is None or provider.name not in new.by_name:
                continue
            subject, was = _subject(after.name, symbol), SiblingSymbol(symbol, provider.name)
            now = new.provider(after, symbol, version)
            if now is None:
                anywhere = any(each.provides(symbol, version) for each in new.by_name.values())
                if not anywhere and not outside:
                    yield Removed(subject, was)
            elif now.name != provider.name and not new.by_name[provider.name].provides(symbol, version):
                yield Changed(subject, was, SiblingSymbol(symbol, now.name))
            break


def _doubles(library: MemberLibrary, old: ReleaseLibraries, new: ReleaseLibraries) -> Iterator[Delta[Any]]:
    """What a library of the old release exports now, too, that another one exported alone."""
    was = old.by_name[library.name]
    come = {symbol for symbol in library.exports.keys() - was.exports.keys() if _is_strong(library, symbol)}
    for other in new.by_name.values():
        before = old.by_name.get(other.name)
        if before is None or other is library or not _are_loaded_together(library, other, new):
            continue
        both = sorted(each for each in come & other.exports.keys() & before.exports.keys() if _is_strong(other, each))
        if both:
            names = tuple(Name("function", symbol) for symbol in both)
            yield Added(_subject(library.name, other.name), DoubleExports(other.name, names))


def _is_strong(library: MemberLibrary, symbol: str) -> bool:
    """Whether a symbol is one definition of its own: weak ones, as of inline functions, are in every library."""
    return any(not each.weak for each in library.exports[symbol])


def _are_loaded_together(one: MemberLibrary, other: MemberLibrary, release: ReleaseLibraries) -> bool:
    return other in release.needs(one) or one in release.needs(other)


def _records(
    before: MemberLibrary, after: MemberLibrary, old: ReleaseLibraries, new: ReleaseLibraries
) -> Iterator[Delta[Any]]:
    """The records that a library and one that it needs laid out alike, and lay out in two ways now."""
    for provider in new.needs(after):
        was = old.by_name.get(provider.name)
        if was is None:
            continue
        own, theirs, theirs_before = dict(after.records()), dict(provider.records()), dict(was.records())
        for name, shapes in before.records():
            if name not in own or name not in theirs or shapes != theirs_before.get(name) or own[name] == theirs[name]:
                continue
            subject = Subject(name, f"{after.name} and {provider.name}")
            first, second = own[name][0], theirs[name][0]
            yield Changed(subject, SharedRecord(after.name, first), SharedRecord(provider.name, second))
