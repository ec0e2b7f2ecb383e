"""Releases of several libraries: what changed between their libraries, beside what changed in each."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import msgspec

from abistore.diffing.context import Context
from abistore.diffing.judge.judged import AppliedRuling, concluded, findings_of, worst_of
from abistore.diffing.parts import (
    DoubleExports,
    PackagedLibrary,
    PackagedSoname,
    ReleasedLibrary,
    SharedRecord,
    SiblingNeed,
    SiblingSymbol,
    SiblingVersion,
)
from abistore.diffing.side import SideFacts
from abistore.model.declarations import EXPORTS, SELF, TYPES, Added, Changed, Delta, Facet, Name, Removed, Subject
from abistore.model.findings import Comparison, Side, order
from abistore.model.labels import library_name, unmarked
from abistore.model.shapes import Import, Library, Record, Symbol
from abistore.model.snapshot import (
    PackageRead,
    Snapshot,
    Variants,
    distributed,
    given,
    loaded_as,
    snapshot_digest,
    sort_variants,
    symbols_of,
)
from abistore.model.structure import references

if TYPE_CHECKING:
    from abistore.diffing.judge.judged import Ruling

_VERSIONED = re.compile(r"(?P<name>.+?)\.so\.(?P<version>.+)|(?P<whole>.+-[\d.]+)\.so")


def moved_to(library: Snapshot, release: Iterable[Snapshot]) -> str | None:
    """What the packages of ``release`` depend on, as they say it, that has a library which is in none of them.

    RPM's dependencies name the SONAME. Those of Debian name a package, which is called by it (Policy, 8.1); symbols
    of a transition may follow: ``libfoo1t64``.
    """
    soname = library.facts.name if library.facts else None
    before = library.provenance.package
    if not soname or not isinstance(before, PackageRead) or not before.is_distributed:
        return None
    packages = {each.provenance.package for each in release}
    found = {depended for each in packages if isinstance(each, PackageRead) for depended in each.depends}
    return next((each for each in sorted(found) if _has(each, soname, before.name)), None)


def _has(depended: str, soname: str, before: str) -> bool:
    if depended.partition("(")[0] == soname:
        return True
    return depended != before and is_called_by(depended, soname)


def is_called_by(package: str, soname: str) -> bool:
    """Whether a Debian package is called by a SONAME: ``libfoo1`` by ``libfoo.so.1``, ``libv4-1`` by ``libv4.so.1``."""
    match = _VERSIONED.fullmatch(soname)
    if match is None:
        return False
    name, version = (match["whole"], "") if match["whole"] else (match["name"], match["version"])
    between = "-" if version and name[-1:].isdigit() else ""
    called = re.escape(f"{name}{between}{version}".lower().replace("_", "-"))
    called = re.sub(r"(?<=[a-z])\\-(?=\d)", "-?", called)  # libglib2.0-0 has libglib-2.0.so.0
    return re.fullmatch(rf"{called}([a-z]\w*)?", package) is not None


class MemberLibrary:
    """One library of a release."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.name = snapshot.library
        self.facts = snapshot.facts or Library("shared")

    @property
    def soname(self) -> str | None:
        """What others ask for it by, without folders, and without the mark of a copy in a wheel, new in each build."""
        return asked_for(self.facts.name) if self.facts.name else None

    @property
    def needed(self) -> tuple[str, ...]:
        """The SONAMEs that it asks for, in the same form."""
        return tuple(map(asked_for, self.facts.needed))

    @cached_property
    def imports(self) -> Mapping[str, frozenset[str | None]]:
        """The symbols that it cannot do without, each with the versions that it must have (``None``: any)."""
        found = dict[str, frozenset[str | None]]()
        for name, shapes in self.snapshot.entries.get("symbol", {}).items():
            if name.kind == "import":
                versions = {each.version for each in shapes if isinstance(each, Import) and not each.weak}
                found |= {name.spelling: frozenset(versions)} if versions else {}
        return found

    @cached_property
    def exports(self) -> Mapping[str, tuple[Symbol, ...]]:
        """The symbols that it exports, each with its versions."""
        return {
            name.spelling: tuple(each for each in shapes if isinstance(each, Symbol))
            for name, shapes in self.snapshot.entries.get("symbol", {}).items()
            if name.kind in ("function", "variable")
        }

    def provides(self, symbol: str, version: str | None) -> bool:
        """Whether the loader takes its symbol for one of this version; a library without versions has all."""
        found = self.exports.get(symbol, ())
        return any(version is None or each.version in (None, version) for each in found)

    def records(self) -> Iterator[tuple[Name, tuple[Record, ...]]]:
        """The records that debug information describes in full, each in one way."""
        for name, shapes in self.snapshot.entries.get("layout", {}).items():
            if name.kind == "record" and len(shapes) == 1 and isinstance(shapes[0], Record):
                yield name, (shapes[0],)


def asked_for(soname: str) -> str:
    """``libfoo.1.dylib`` of ``@rpath/libfoo.1.dylib``, which libraries of a release find each other by."""
    return unmarked(soname.rpartition("/")[2])


class ReleaseLibraries:
    """All libraries of a release for one platform, by their names."""

    def __init__(self, snapshots: Sequence[Snapshot]) -> None:
        self.by_name = {each.library: MemberLibrary(each) for each in sorted(snapshots, key=lambda one: one.library)}
        self.by_soname = {each.soname: each for each in self.by_name.values() if each.soname}

    def needs(self, library: MemberLibrary) -> Iterator[MemberLibrary]:
        """The libraries of the release that are loaded with ``library``, nearest first."""
        return self._led_to(library, lambda each: each.needed)

    def reexported(self, library: MemberLibrary) -> Iterator[MemberLibrary]:
        """The libraries of the release whose exports count as those of ``library``, nearest first."""
        return self._led_to(library, lambda each: tuple(map(asked_for, each.facts.on_macho.reexports)))

    def _led_to(
        self, library: MemberLibrary, names: Callable[[MemberLibrary], Sequence[str]]
    ) -> Iterator[MemberLibrary]:
        pending, seen = [library], {library.name}
        while pending:
            for soname in names(pending.pop(0)):
                found = self.by_soname.get(soname)
                if found is not None and found.name not in seen:
                    seen.add(found.name)
                    pending.append(found)
                    yield found

    def provider(self, library: MemberLibrary, symbol: str, version: str | None) -> MemberLibrary | None:
        """The library of the release that gives ``library`` a symbol; of those that are loaded with it, the nearest."""
        return next((each for each in self.needs(library) if each.provides(symbol, version)), None)


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


def without_read(after: Snapshot, before: Snapshot, release: Sequence[Snapshot]) -> Snapshot:
    """``after`` without the further re-exports that are at hand: what programs find in them is known."""
    if _exports(before) <= _exports(after):
        return after
    found, left = _further(after, before, release)
    return _with_reexports(after, found, left) if found else after


def merged_back(before: Snapshot, after: Snapshot, release: Sequence[Snapshot]) -> Snapshot:
    """``before`` with all that programs found through libraries that ``after`` re-exports no longer, symbol by symbol.

    This is so where ``after`` has some of it itself. Otherwise the re-export is gone as a whole.
    """
    found, left = _further(before, after, release)
    won = _exports(after) - _exports(before)
    lent = {name: one for library in reversed(found.values()) for name, one in _all_of(library).items()}
    lent = {name: one for name, one in lent.items() if name.spelling not in _exports(before)}
    if not any(name.spelling in won for name in lent):
        return before
    return _with_reexports(joined(before, lent), found, left)


def _all_of(library: MemberLibrary) -> dict[Name, tuple[MemberLibrary, Variants]]:
    entries = library.snapshot.entries.get("symbol", {})
    return {
        name: (library, lent_as(library, name, symbols_of(shapes)))
        for name, shapes in entries.items()
        if name.kind in EXPORTS
    }


def _exports(snapshot: Snapshot) -> frozenset[str]:
    return frozenset(name.spelling for name in snapshot.entries.get("symbol", {}) if name.kind in EXPORTS)


def _reexports(snapshot: Snapshot) -> tuple[str, ...]:
    return snapshot.facts.on_macho.reexports if snapshot.facts else ()


def _further(
    side: Snapshot, other: Snapshot, release: Sequence[Snapshot]
) -> tuple[dict[str, MemberLibrary], list[str]]:
    """The libraries at hand, by path, that one side alone re-exports, itself or through others; and the others."""
    known = {library_name(each) for each in _reexports(other)}
    libraries = ReleaseLibraries([each for each in release if str(each.target) == str(side.target)])
    found: dict[str, MemberLibrary] = {}
    left: list[str] = []
    pending = [each for each in _reexports(side) if library_name(each) not in known]
    while pending:
        path = pending.pop(0)
        library = libraries.by_soname.get(asked_for(path))
        if library is None:
            left.append(path)
        elif path not in found and library.name != side.library:
            found[path] = library
            pending += _reexports(library.snapshot)
    return found, left


def _with_reexports(side: Snapshot, read: Container[str], left: Sequence[str]) -> Snapshot:
    """The side that re-exports what was not ``read``, and what is ``left`` of that."""
    facts = side.facts
    assert facts is not None
    kept = tuple(sorted({*(each for each in _reexports(side) if each not in read), *left}))
    library: Library = msgspec.structs.replace(facts, macho=msgspec.structs.replace(facts.on_macho, reexports=kept))
    entries = {**side.entries, "symbol": {**side.entries["symbol"], SELF: (library,)}}
    return msgspec.structs.replace(side, entries=entries)


class ComparedRelease(msgspec.Struct, frozen=True):
    """A release: its name and version, as the package has them, and its libraries."""

    name: str
    version: str | None
    libraries: Sequence[Snapshot]


def compare_releases(old: ComparedRelease, new: ComparedRelease, by: Ruling | None = None) -> Comparison:
    """What changed between the libraries of two releases: not what changed in each, which ``compare`` tells."""
    context = Context(SideFacts(_whole(old)), SideFacts(_whole(new)), cards=(_card(old), _card(new)))
    ruling = AppliedRuling(context, by and by.between(old.version, new.version))
    both = {each.library for each in old.libraries} & {each.library for each in new.libraries}
    deltas = (each for sides in _by_platform(old, new) for each in release_deltas(*sides, both))
    told = dict.fromkeys(each for facet, delta in deltas for each in findings_of(delta, facet, context))
    found = sorted(told, key=order)
    return concluded(context, ruling, sorted(ruling.judge(found), key=order), worst_of(found), ())


def _by_platform(old: ComparedRelease, new: ComparedRelease) -> Iterator[tuple[ReleaseLibraries, ReleaseLibraries]]:
    """Both sides for each platform: a library for another one stands for none that is gone."""
    for target in sorted({str(each.target) for side in (old, new) for each in side.libraries}):
        libraries = ([each for each in side.libraries if str(each.target) == target] for side in (old, new))
        before, after = map(ReleaseLibraries, libraries)
        yield before, after


def _whole(release: ComparedRelease) -> Snapshot:
    """The release as a snapshot that declares nothing: what policies and suppressions ask of either side."""
    return Snapshot(release.name, release.version, release.libraries[0].target, {"symbol": {}})


def _card(release: ComparedRelease) -> Side:
    digests = sorted(snapshot_digest(each) for each in release.libraries)
    return Side(
        library=release.name,
        version=release.version,
        digest=blake2b(b"".join(digests), digest_size=16).hexdigest(),
        target=", ".join(sorted({str(each.target) for each in release.libraries})),
        soname=None,
        evidence=(),
        exports=sum(each.exports for each in release.libraries),
    )
