"""Whom a release breaks when it ships, and who uses a symbol or a type."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar

import msgspec

from abistore.errors import SnapshotNotFound, UsageError
from abistore.extract.reader import ExtractOptions
from abistore.limits import limits_for
from abistore.model.approvals import (
    BrokenBy,
    BuiltType,
    ConsumedSymbol,
    Consumer,
    ConsumerKey,
    StoredConsumer,
    Unseen,
    asks_for,
    base_name,
)
from abistore.model.declarations import EXPORTS, Name
from abistore.model.findings import Impact
from abistore.model.history import LineKey, Release
from abistore.model.labels import check_not_blank
from abistore.model.snapshot import Snapshot
from abistore.model.words import listed
from abistore.report.model import ReportedFinding
from abistore.report.wording import lengthened
from abistore.service.binding import ruling_of_line
from abistore.service.consumers import (
    ReleaseNeeds,
    consumers_of,
    named,
    read_consumers,
    told,
    unseen,
    users_of,
)
from abistore.service.database import Database, line_target, using
from abistore.service.declarations import declarations_near
from abistore.service.inventory import Inventory, exports
from abistore.service.listing import in_line, releases_of
from abistore.service.predecessors import counterpart
from abistore.service.verdicts import judged

if TYPE_CHECKING:
    from abistore.service.ruling import Ruling
    from abistore.store.store import Store
    from abistore.store.whole import LoadingLine

ASKING: Final[frozenset[Unseen]] = frozenset({"asks-at-run-time"})
"""What hides which exports a program uses; its types may hide in other ways."""


class ConsumerUse(msgspec.Struct, frozen=True):
    """A consumer that uses a symbol or a type: it imports ``symbols``, and was built with ``types``."""

    name: str
    target: str
    symbols: tuple[str, ...]
    types: tuple[str, ...]


class UsersOfName(msgspec.Struct, frozen=True):
    """The known consumers of a library that use a name, out of all ``consumers``.

    ``unseen`` are those that may use it besides: they ask for symbols while they run, or it is a type, and theirs are
    not known.
    """

    library: str
    names: tuple[Name, ...]
    consumers: int
    users: tuple[ConsumerUse, ...]
    unseen: tuple[str, ...]


class UnusedExports(msgspec.Struct, frozen=True):
    """The exports of a release that none of so many known ``consumers`` imports: candidates for removal.

    ``unseen`` are consumers that ask for symbols while they run: what these use is not known.
    """

    inventory: Inventory
    consumers: int
    unseen: tuple[str, ...]


def consumers_using(library: str, name: str, *, database: Database = None, target: str | None = None) -> UsersOfName:
    """The stored consumers that import a symbol of a library, or were built with a type of it.

    ``name`` is spelled as the linker does, or as the source does. Raises :class:`SnapshotNotFound`.
    """
    with using(database) as store, store.reading():
        events = store.logs(lengthened(name), library)
        names = tuple(sorted({event.name for line in events.values() for event in line}))
        if not names:
            if library not in {key.library for key in store.lines()}:
                raise store.no_library(library)
            hint = declarations_near(name, store.spellings(library))
            raise SnapshotNotFound(f"{name}: no release of {library} has it", hint)
        known = _on(users_of(store, library), line_target(store, target))
        imports, types = store.consumer_imports(), store.consumer_types()
        users = [_use(each, names, imports, types[each.details.key]) for each in known]
    found = tuple(each for each in users if each.symbols or each.types)
    seen = {(each.name, each.target) for each in found}
    lacks = ASKING if all(name.kind in EXPORTS for name in names) else None
    unseen = tuple(
        each.details.name
        for each in known
        if each.details.key not in seen and (set(each.details.unseen) & lacks if lacks else each.details.unseen)
    )
    return UsersOfName(library, names, len(known), found, unseen)


def _on(known: Collection[StoredConsumer], target: str | None) -> list[StoredConsumer]:
    return [each for each in known if target in {None, each.details.target}]


def _use(
    consumer: StoredConsumer,
    names: Collection[Name],
    imports: Mapping[ConsumerKey, Collection[ConsumedSymbol]],
    types: Collection[Name],
) -> ConsumerUse:
    asked = {each.symbol for each in imports[consumer.details.key]}
    symbols = tuple(name.spelling for name in names if name.kind in EXPORTS and name.spelling in asked)
    return ConsumerUse(*consumer.details.key, symbols, tuple(name.spelling for name in names if name in types))


def unused_exports(
    reference: str,
    pattern: str | None = None,
    *,
    regex: bool = False,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
) -> UnusedExports:
    """The exports of a release, or of the latest one of a library, that no stored consumer imports.

    Raises :class:`SnapshotNotFound`, and :class:`UsageError` where no consumer of the library is stored: then nothing
    tells what is used.
    """
    with using(database) as store, store.reading():
        release, ordered = in_line(store, reference, target, profile)
        library = release.line.library
        known = _on(users_of(store, library), release.line.target)
        if not known:
            message = f"{library}: no consumer of it is stored for {release.line.target}"
            raise UsageError(message, "store programs that use it with `abistore consumers add`")
        sonames = {each.soname for each in ordered if each.soname}
        needs = ReleaseNeeds(store.load(release), sonames, store.ever_named(release.line))
        imports = store.consumer_imports()
        used = {one.symbol for each in known for one in needs.own(imports[each.details.key])}
        found = exports(
            f"{library}@{release.version}",
            pattern,
            regex=regex,
            database=database,
            target=release.line.target,
            profile=release.line.profile,
        )
    ordinals = needs.ordinals(used)
    kept = tuple(one for one in found.items if one.name.spelling not in used | ordinals)
    unseen = tuple(each.details.name for each in known if ASKING & set(each.details.unseen))
    return UnusedExports(msgspec.structs.replace(found, items=kept), len(known), unseen)


ConsumerState: TypeAlias = Literal["breaks", "asks-for-another", "runs"]


class JudgedConsumer(msgspec.Struct, frozen=True):
    """What a release means for a consumer of its library.

    It ``breaks``, or ``asks-for-another``: the loader does not take the release for the library that it needs, until it
    is built again. Else it ``runs``, as far as was checked: ``not_checked`` says what was not.
    """

    name: str
    target: str
    state: ConsumerState
    imports: int
    broken_by: tuple[BrokenBy, ...] = ()
    not_checked: tuple[str, ...] = ()


class ReleaseForConsumers(msgspec.Struct, frozen=True):
    """What a release means for the known consumers of its library, those that it hurts first.

    ``against`` is the release whose changes were judged for them; empty where there is none. ``breaking`` counts those
    that break, ``rebuild`` those that ask for another SONAME.
    """

    release: Release
    against: str
    breaking: int
    rebuild: int
    consumers: tuple[JudgedConsumer, ...]


class SatisfyingRelease(msgspec.Struct, frozen=True):
    """A release, and what a program needs that it lacks."""

    version: str
    state: ConsumerState
    broken_by: tuple[BrokenBy, ...] = ()
    not_checked: tuple[str, ...] = ()


class ProgramRange(msgspec.Struct, frozen=True):
    """The releases of a line, in release order, and which of them satisfy a program: ``first`` to ``last`` of those."""

    program: str
    line: LineKey
    first: str | None
    last: str | None
    releases: tuple[SatisfyingRelease, ...]


def consumers_broken(
    reference: str,
    *,
    against: str | None = None,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
    by: Ruling | None = None,
) -> ReleaseForConsumers:
    """Who breaks when a release ships, and by what, among the stored consumers of its library.

    Each is checked for its symbols, their versions and the types that it was built with; and for what changed since
    ``against``, by default the release before. Raises :class:`SnapshotNotFound`.
    """
    check_not_blank("--against", against)
    with using(database) as store, store.reading():
        release, ordered = in_line(store, reference, target, profile)
        sonames = {each.soname for each in ordered if each.soname}
        known = consumers_of(store, release.line.library, release.line.target, sonames)
        with limits_for(release.declarations << 12, f"asking what {release.reference} means for its consumers"):
            needs = _needs(store, release, ordered)
            other, changes = _changes(store, release, against, by) if known else (None, ())
            by_number = any(symbol.startswith("#") for each in known for symbol in each.symbols)
            before = store.load(other) if other and by_number else None
            found = [judged_consumer(each, needs, changes, other is not None, before) for each in known]
            found = with_moved(store, found, known, needs.snapshot)
    return ReleaseForConsumers(
        release,
        other.version if other else "",
        sum(each.state == "breaks" for each in found),
        sum(each.state == "asks-for-another" for each in found),
        hurt_first(found),
    )


def hurt_first(found: Iterable[JudgedConsumer]) -> tuple[JudgedConsumer, ...]:
    """The consumers, those that break first."""
    order = ("breaks", "asks-for-another", "runs")
    return tuple(sorted(found, key=lambda each: (order.index(each.state), each.name, each.target)))


def _needs(store: Store, release: Release, ordered: Sequence[Release]) -> ReleaseNeeds:
    sonames = {each.soname for each in ordered if each.soname}
    return ReleaseNeeds(store.load(release), sonames, store.ever_named(release.line))


def _changes(
    store: Store, release: Release, against: str | None, by: Ruling | None
) -> tuple[Release | None, tuple[ReportedFinding, ...]]:
    other = counterpart(store, release, "prev" if against is None else against)
    if other is None:
        return None, ()
    by = ruling_of_line(store, release.line, (release,), by)
    changes = judged(store, other, release, by=by).report.changes
    return other, tuple(each for each in changes if Impact[each.impact.upper()] is Impact.BREAKING)


def judged_consumer(
    consumer: Consumer,
    needs: ReleaseNeeds,
    changes: Sequence[ReportedFinding],
    compared: bool,
    before: Snapshot | None,
) -> JudgedConsumer:
    """What a release, with its breaking changes since another one, means for a consumer.

    ``compared``: there is another one; ``before`` is its content, where exports by number matter.
    """
    own = needs.own(consumer.imports)
    if not needs.loads(consumer.details):
        return JudgedConsumer(*consumer.details.key, "asks-for-another", len(own), (), tuple(unseen(consumer.details)))
    symbols = frozenset(each.symbol for each in own)
    lacks = (*needs.lacking(own), *(needs.retargeted(own, before) if before else ()))
    built = tuple(needs.changed(consumer.types, symbols))
    seen = {each.symbol for each in lacks}, {(each.kind, each.symbol) for each in built}
    since = tuple(
        told("change", each)
        for each in changes
        if each.symbol not in seen[0]
        and (each.kind, each.symbol) not in seen[1]
        and needs.hurts(each, consumer.types, symbols)
    )
    broken_by = tuple(sorted({*lacks, *built, *since}))
    not_checked = (*unseen(consumer.details), *needs.unsettled(consumer.types))
    if not compared:
        not_checked += ("calls of functions: there is no previous release to compare with",)
    return JudgedConsumer(
        *consumer.details.key, "breaks" if broken_by else "runs", len(own), broken_by, tuple(not_checked)
    )


def with_moved(
    store: Store, found: Iterable[JudgedConsumer], known: Iterable[Consumer], release: Snapshot
) -> list[JudgedConsumer]:
    """What a release means for consumers, each with the libraries that export what they miss and are loaded, too.

    Which releases of these are there where a program runs is not known: it still breaks.
    """
    found = list(found)
    missing = {each.symbol for one in found for each in one.broken_by if each.sort == "symbol"}
    target, own = str(release.target), release.library
    lines = store.loading_lines(missing) if missing else ()
    others = {each: each.name for each in lines if each.key.target == target and each.key.library != own}
    also = release.facts.needed if release.facts else ()
    needed = {each.details.key: (*each.details.needed, *also) for each in known}
    return [
        _with_moved(one, loaded_with(needed[one.name, one.target], others, lambda each: each.needed)) for one in found
    ]


def _with_moved(one: JudgedConsumer, loaded: Sequence[LoadingLine]) -> JudgedConsumer:
    def told_of(each: BrokenBy) -> BrokenBy:
        has = sorted({line.key.library for line in loaded if each.symbol in line.exports})
        if each.sort != "symbol" or not has:
            return each
        are = "exports it and is" if len(has) == 1 else "export it and are"
        return msgspec.structs.replace(each, detail=f"{each.detail}; {listed(has)} {are} loaded too")

    return msgspec.structs.replace(one, broken_by=tuple(map(told_of, one.broken_by)))


Loadable = TypeVar("Loadable", bound=Hashable)


def loaded_with(
    needed: Iterable[str], sonames: Mapping[Loadable, str], asks: Callable[[Loadable], Iterable[str]]
) -> list[Loadable]:
    """The libraries that the loader loads for what is ``needed``, and for what these ask for in turn.

    They are among the keys of ``sonames``.
    """
    names, left, found = set(map(base_name, needed)), dict(sonames), list[Loadable]()
    while loaded := [each for each, soname in left.items() if base_name(soname) in names]:
        for each in loaded:
            del left[each]
            names |= set(map(base_name, asks(each)))
        found += loaded
    return found


def program_range(
    program: str | Path | StoredConsumer,
    library: str | None = None,
    *,
    options: ExtractOptions | None = None,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
) -> tuple[ProgramRange, ...]:
    """The releases that satisfy a program, which is a file or a stored consumer: for each line of what it needs.

    Raises :class:`SnapshotNotFound` where no stored library is among that, and :class:`InputError`.
    """
    with using(database) as store, store.reading():
        meant = _program(store, program, options or ExtractOptions(), target)
        found = [
            _ranged(store, meant, key, ordered)
            for key in store.lines()
            if key.target == meant.details.target and library in {None, key.library} and profile in {None, key.profile}
            if (ordered := releases_of(store, key))
            and asks_for(meant.details, key.library, {each.soname for each in ordered if each.soname})
        ]
    if not found:
        needed = ", ".join(meant.details.needed[:3]) or "no shared library"
        raise SnapshotNotFound(
            f"{meant.details.name}: no release of {library or 'what it needs'} is stored for {meant.details.target}",
            f"it needs {needed}; store a release with `abistore ingest`",
        )
    return tuple(found)


def _program(
    store: Store, program: str | Path | StoredConsumer, options: ExtractOptions, target: str | None
) -> Consumer:
    if isinstance(program, StoredConsumer):
        return _stored(store, program)
    if Path(program).exists():
        platform = line_target(store, target)
        read = [each for each in read_consumers(program, options).consumers if platform in {None, each.details.target}]
        if len(read) != 1:
            raise UsageError(f"{program}: contains {len(read)} programs", "name one of them")
        return read[0]
    found = named(store, str(program), target)
    if len(found) > 1:
        raise UsageError(f"{program}: means {len(found)} consumers", "name one, and its --target")
    return _stored(store, found[0])


def _stored(store: Store, consumer: StoredConsumer) -> Consumer:
    details = consumer.details
    return Consumer(details, store.consumer_imports()[details.key], store.consumer_types()[details.key])


def _ranged(store: Store, program: Consumer, key: LineKey, ordered: Sequence[Release]) -> ProgramRange:
    known = store.ever_named(key)
    sonames = {each.soname for each in ordered if each.soname}
    walk, found = store.walk(), list[SatisfyingRelease]()
    for release in ordered:
        step = walk.step(release)
        with limits_for(step.snapshot.weight, f"asking whether {release.reference} satisfies {program.details.name}"):
            found.append(_satisfying(program, release, ReleaseNeeds(step.snapshot, sonames, known)))
    fit = [each.version for each in found if each.state == "runs"]
    return ProgramRange(program.details.name, key, fit[0] if fit else None, fit[-1] if fit else None, tuple(found))


def _satisfying(program: Consumer, release: Release, needs: ReleaseNeeds) -> SatisfyingRelease:
    own: Collection[ConsumedSymbol] = needs.own(program.imports)
    if not needs.loads(program.details):
        return SatisfyingRelease(release.version, "asks-for-another")
    types: Mapping[Name, BuiltType] = program.types
    broken_by = (*needs.lacking(own), *needs.changed(types, frozenset(each.symbol for each in own)))
    not_checked = (*unseen(program.details), *needs.unsettled(types))
    return SatisfyingRelease(
        release.version, "breaks" if broken_by else "runs", tuple(sorted(broken_by)), tuple(not_checked)
    )
