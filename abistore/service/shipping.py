"""Whether a release may ship to an environment: what of it would break, and what that breaks in turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from abistore.errors import UsageError
from abistore.limits import allow_more, limits_for
from abistore.model.approvals import BrokenBy, ConsumedSymbol, Consumer, ConsumerDetails, asks_for, base_name
from abistore.model.decision import Outcome
from abistore.model.declarations import Facet
from abistore.model.environments import (
    CanShip,
    Environment,
    EnvironmentMember,
    HurtMember,
    HurtState,
    replaced_by,
)
from abistore.model.findings import Impact
from abistore.model.format_gaps import unrecorded_by
from abistore.model.history import LineKey, Release
from abistore.model.labels import library_name
from abistore.model.snapshot import Snapshot, evidence_of
from abistore.model.words import counted, listed
from abistore.report.model import Report, ReportedFinding
from abistore.service.binding import ruling_of_line
from abistore.service.consumer_verdicts import judged_consumer
from abistore.service.consumers import ReleaseNeeds, consumer_of
from abistore.service.database import Database, line_target, using
from abistore.service.judging import AS_MUCH, lacks
from abistore.service.listing import releases_of
from abistore.service.verdicts import judged

if TYPE_CHECKING:
    from abistore.service.ruling import Ruling
    from abistore.store.store import Store
    from abistore.store.timeline import LibraryFacts

MOST_TRIED: Final = 20
"""So many other releases, the newest first, are asked whether they would do."""

TYPED: Final[tuple[Facet, ...]] = ("layout", "source")
"""The facets that describe types."""

OF_A_DUMP: Final = "it was read from another tool's dump"

EXIT_CODES: Final[Mapping[Outcome, int]] = {"pass": 0, "fail": 4, "undecided": 72}


def env_can_ship(
    reference: str,
    environment: str,
    *,
    beside: bool = False,
    target: str | None = None,
    profile: str | None = None,
    by: Ruling | None = None,
    database: Database = None,
) -> CanShip:
    """Whether a stored release, or a candidate, may ship to an environment, and who would break there.

    It takes the place of the version that is recorded of its line, or comes ``beside`` it. What was broken before does
    not count. Raises :class:`SnapshotNotFound`.
    """
    with using(database) as store, store.reading():
        platform = line_target(store, target)
        release = store.resolve(reference, target=platform, profile=profile)
        place = _Place(store, store.environment(environment), release.line, by)
        with limits_for(release.declarations << 12, f"asking what {release.reference} means for {environment}"):
            found = place.ship(release, beside=beside)
            return place.answer(release, found, beside=beside)


def member_of(release: Release, recorded: datetime, actor: str = "") -> EnvironmentMember:
    """A release as a member of an environment."""
    line = release.line
    return EnvironmentMember(
        "library",
        line.library,
        line.target,
        recorded,
        actor,
        line.profile,
        release.version,
        release.digest,
        release.recorded_name or "",
        release.provenance.sha256,
        release.provenance.file,
    )


class _Found(NamedTuple):
    """What shipping a release would do."""

    replaces: tuple[EnvironmentMember, ...] = ()
    users: int = 0
    broken: tuple[HurtMember, ...] = ()
    unknown: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        return "fail" if self.broken else "undecided" if self.unknown else "pass"


class _Notes(NamedTuple):
    """Why nobody can know what breaks, and what else was not checked; grows while a release is judged."""

    unknown: list[str]
    not_checked: list[str]


class _Step(NamedTuple):
    """The breaking changes from one release to another, and why there may be more that built programs meet, or not."""

    breaking: tuple[ReportedFinding, ...] = ()
    unknown: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()


class _Library:
    """A release of a library, as the members of the environment meet it and as a consumer of the others."""

    def __init__(self, store: Store, member: EnvironmentMember, release: Release, sonames: set[str]) -> None:
        self._store, self._sonames = store, sonames
        self.member, self.release = member, release

    @cached_property
    def snapshot(self) -> Snapshot:
        """The release as it was read."""
        allow_more(self.release.declarations << 12)
        return self._store.load(self.release)

    @cached_property
    def needs(self) -> ReleaseNeeds:
        """The release as consumers meet it."""
        return ReleaseNeeds(self.snapshot, self._sonames, self._store.ever_named(self.release.line))

    @cached_property
    def consumer(self) -> Consumer:
        """What it asks of other libraries."""
        return consumer_of(self.snapshot, self.member.label)

    @cached_property
    def missing(self) -> frozenset[str]:
        """What its input does not record of that."""
        return unrecorded_by(evidence_of(self.release.evidence, "symbol")) & {"Import", "Library.needed"}


class _Place:
    """An environment as a release of one line meets it. What several releases share is worked out once."""

    def __init__(self, store: Store, environment: Environment, line: LineKey, by: Ruling | None) -> None:
        self._store, self._line, self._by = store, line, by
        self._name = environment.name
        members = [each for each in environment.members if each.target == line.target]
        self._own = [each for each in members if each.kind == "library" and each.line == line]
        self._others = [each for each in members if each not in self._own]
        self._lines: dict[LineKey, Sequence[Release]] = {}
        self._libraries: dict[tuple[str, ...], _Library | None] = {}
        self._changes: dict[tuple[str, str], _Step] = {}

    # --- what is stored of the members

    @cached_property
    def _stored(self) -> frozenset[LineKey]:
        """The lines of the store."""
        return frozenset(self._store.lines())

    def _ordered(self, line: LineKey) -> Sequence[Release]:
        if line not in self._lines:
            self._lines[line] = releases_of(self._store, line) if line in self._stored else ()
        return self._lines[line]

    def _sonames(self, line: LineKey) -> set[str]:
        return {each.soname for each in self._ordered(line) if each.soname}

    def _library(self, member: EnvironmentMember) -> _Library | None:
        """What is stored of a member; ``None`` where another content, or nothing, is stored under its version."""
        if member.content not in self._libraries:
            found = [one for one in self._ordered(member.line) if (one.version, one.digest) == member.content[4:6]]
            self._libraries[member.content] = self._read(member, found[0]) if found else None
        return self._libraries[member.content]

    def _read(self, member: EnvironmentMember, release: Release) -> _Library:
        own = {release.soname} if release.soname else set()
        return _Library(self._store, member, release, self._sonames(release.line) | own)

    @cached_property
    def _programs(self) -> Mapping[tuple[str, str], Consumer]:
        """The stored consumers by name and target."""
        store = self._store
        imports, types = store.consumer_imports(), store.consumer_types()
        stored = [each.details for each in store.consumers()]
        return {each.key: Consumer(each, imports[each.key], types[each.key]) for each in stored}

    @cached_property
    def _facts(self) -> Mapping[LineKey, Sequence[LibraryFacts]]:
        """What each line says of its library as a whole: loading all snapshots would take long."""
        return self._store.library_facts()

    def _details(self, member: EnvironmentMember) -> ConsumerDetails | str:
        """Which libraries a member asks for, or why nobody knows that."""
        if member.kind == "program":
            found = self._programs.get((member.name, member.target))
            if found is None:
                return f"{member.name}: what it imports is stored no longer"
            same = found.details.sha256 == member.sha256
            return found.details if same else f"{member.name}: another build was stored since it was recorded"
        library = self._library(member)
        if library is None:
            return f"{member.label}: the recorded release is stored no longer, or was replaced"
        if "Library.needed" in library.missing:
            return f"{member.label}: its dependencies are not stored: {OF_A_DUMP}"
        sequence, facts = library.release.sequence, self._facts.get(member.line, ())
        needed = next((each.facts.needed for each in facts if each.first <= sequence <= each.last), ())
        return ConsumerDetails(member.label, member.target, member.file, member.sha256, needed)

    @cached_property
    def _asking(self) -> Mapping[EnvironmentMember, ConsumerDetails | str]:
        """What each of the others asks for."""
        return {each: self._details(each) for each in self._others}

    @cached_property
    def _users(self) -> tuple[list[tuple[EnvironmentMember, Consumer]], list[str]]:
        """The members that ask the loader for the line's library, and why that is not known of others."""
        users, unknown = [], []
        for each, asks in self._asking.items():
            if isinstance(asks, str):
                unknown.append(asks)
            elif asks_for(asks, self._line.library, self._sonames(self._line)):
                library = self._library(each) if each.kind == "library" else None
                if library is not None and "Import" in library.missing:
                    unknown.append(f"{each.label}: its imports are not stored: {OF_A_DUMP}")
                else:
                    users.append((each, library.consumer if library else self._programs[each.name, each.target]))
        return users, unknown

    # --- what a release would do

    def ship(self, release: Release, *, beside: bool) -> _Found:
        """What happens where a release ships."""
        member = member_of(release, datetime.now(UTC))
        new = self._read(member, release)
        if any(each.content[:6] == member.content[:6] for each in self._own):
            return _Found(users=len(self._users[0]))
        replaced = replaced_by(self._own, member, beside=beside)
        kept = [each for each in self._own if each not in replaced]
        users, notes = self._users[0], _Notes(list(self._users[1]), [])
        notes.unknown.extend(
            f"{each.label}: it is recorded, and is stored no longer" for each in self._own if not self._library(each)
        )
        judged_users = (self._judged(user, consumer, new, kept, notes) for user, consumer in users)
        broken = [each for each in judged_users if each is not None]
        if lacks_now := self._lacks(new, replaced, notes):
            broken.append(_hurt(new.member, "breaks", lacks_now))
        broken += self._followers(broken, new.member)
        said = (tuple(dict.fromkeys(each)) for each in notes)
        return _Found(replaced, len(users), tuple(broken), *said)

    def _judged(
        self,
        user: EnvironmentMember,
        consumer: Consumer,
        new: _Library,
        kept: Sequence[EnvironmentMember],
        notes: _Notes,
    ) -> HurtMember | None:
        """What a release does to a member that asks for it, and did not do before."""
        present = (self._library(each) for each in self._own)
        old = [one for one in present if one is not None and one.needs.loads(consumer.details)]
        if not new.needs.loads(consumer.details):
            stays = any(one.member in kept for one in old)
            return None if stays or not old else _hurt(user, "asks-for-another")
        if not old:
            why = f"{user.label} uses {self._line.library}, and no version that it loads is recorded in {self._name}"
            notes.unknown.append(why)
        before, after = list[set[BrokenBy]](), set[BrokenBy]()
        for one in old:
            step = self._since(one, new)
            notes.unknown.extend(step.unknown)
            notes.not_checked.extend(step.not_checked)
            found = judged_consumer(consumer, new.needs, step.breaking, True, one.snapshot)
            before.append(set(judged_consumer(consumer, one.needs, (), True, None).broken_by))
            after |= set(found.broken_by)
            notes.not_checked.extend(f"{user.label}: {each}" for each in found.not_checked)
        after |= set() if old else set(judged_consumer(consumer, new.needs, (), False, None).broken_by)
        fresh = after - set[BrokenBy].intersection(*before) if before else after
        return _hurt(user, "breaks", tuple(sorted(fresh))) if fresh else None

    def _since(self, old: _Library, new: _Library) -> _Step:
        """The breaking changes between two releases, and why there may be more."""
        key = old.release.digest, new.release.digest
        if key[0] == key[1]:
            return _Step()
        if key not in self._changes:
            by = ruling_of_line(self._store, self._line, (new.release,), self._by)
            self._changes[key] = _step(judged(self._store, old.release, new.release, by=by).report)
        return self._changes[key]

    def _lacks(self, new: _Library, replaced: Sequence[EnvironmentMember], notes: _Notes) -> tuple[BrokenBy, ...]:
        """What the release needs that the libraries of the environment lack, if what it replaces did not lack it."""
        lines = {each.line for each in self._others if each.kind == "library"}
        if new.missing and lines:
            notes.unknown.append(f"{new.member.label}: what it needs is not stored: {OF_A_DUMP}")
            return ()
        old = [one for each in replaced if (one := self._library(each)) is not None]
        lacks_now = set[BrokenBy]()
        for line in sorted(lines):
            lacks_now |= self._lacking(new, line) - {each for one in old for each in self._lacking(one, line)}
        self._note_unrecorded(new, old, {line.library for line in lines}, notes)
        return tuple(sorted(lacks_now))

    def _lacking(self, library: _Library, line: LineKey) -> set[BrokenBy]:
        """What a library needs of another line, and the environment's releases of that do not have."""
        consumer = library.consumer
        if not asks_for(consumer.details, line.library, self._sonames(line)):
            return set()
        present = [each for each in self._others if each.kind == "library" and each.line == line]
        found = [self._library(each) for each in present]
        loaded = [one for one in found if one is not None and one.needs.loads(consumer.details)]
        if not loaded and None not in found:
            asked = ", ".join(sorted(each.soname for each in present))
            return {BrokenBy("symbol", line.library, detail=f"it loads another name than {asked}")}
        return {each for one in loaded for each in judged_consumer(consumer, one.needs, (), True, None).broken_by}

    def _note_unrecorded(self, new: _Library, old: Sequence[_Library], recorded: set[str], notes: _Notes) -> None:
        """Note the libraries that a release needs and the environment has not."""
        stored = {key.library: key for key in self._stored if key.target == self._line.target}
        before = [{base_name(each) for each in one.consumer.details.needed} for one in old]
        known = set[str].intersection(*before) if before else set()
        for needed in map(base_name, new.consumer.details.needed):
            library = library_name(needed)
            if library in recorded or library == self._line.library:
                continue
            if library not in stored and needed not in known:
                notes.not_checked.append(f"{new.member.label} needs {needed}, and no release of that is stored")
            elif library in stored and (needed not in known or self._asks_more(new, old, stored[library])):
                notes.unknown.append(f"{new.member.label} needs {needed}, which is not recorded in {self._name}")

    def _asks_more(self, new: _Library, old: Sequence[_Library], line: LineKey) -> bool:
        """Whether a release asks more of a library than each of those that it takes the place of."""
        before = set[ConsumedSymbol].intersection(*(set(one.consumer.imports) for one in old))
        more = set(new.consumer.imports) - before
        named = {name.spelling for name in self._store.ever_named(line)}
        return any(each.symbol in named for each in more)

    def _followers(self, broken: Sequence[HurtMember], new: EnvironmentMember) -> Iterator[HurtMember]:
        """The members that use a broken one, and those that use these in turn."""
        seen = {(each.kind, each.label) for each in broken}
        queue = [each for each in broken if each.kind == "library"]
        asking = [(each, asks) for each, asks in self._asking.items() if not isinstance(asks, str)]
        sonames = {each.label: each.soname for each in (*self._others, new)}
        for source in queue:
            names = {sonames[source.label]}
            for member, asks in asking:
                if (member.kind, member.label) not in seen and asks_for(asks, source.name, names):
                    seen.add((member.kind, member.label))
                    hurt = msgspec.structs.replace(_hurt(member, "uses-broken"), through=source.label)
                    queue += [hurt] if hurt.kind == "library" else []
                    yield hurt

    # --- the answer

    def answer(self, release: Release, found: _Found, *, beside: bool) -> CanShip:
        """The answer, with the other versions that would do where this one does not."""
        fitting, untried = ((), 0) if found.outcome == "pass" else self._others_that_do(release, beside)
        line = release.line
        return CanShip(
            self._name,
            line.library,
            release.version,
            line.target,
            line.profile,
            found.outcome,
            EXIT_CODES[found.outcome],
            _headline(release, self._name, found),
            tuple(each.version for each in found.replaces),
            found.users,
            found.broken,
            found.unknown,
            found.not_checked,
            fitting,
            untried,
        )

    def _others_that_do(self, release: Release, beside: bool) -> tuple[tuple[str, ...], int]:
        """The other versions of the line that may ship, in release order, and how many were not tried."""
        others = [each for each in self._ordered(release.line) if each.version != release.version]
        tried = others[-MOST_TRIED:]
        return tuple(each.version for each in tried if self._would_do(each, beside)), len(others) - len(tried)

    def _would_do(self, release: Release, beside: bool) -> bool:
        try:
            return self.ship(release, beside=beside).outcome == "pass"
        except UsageError:  # which of several names it would replace is not clear
            return False


def _hurt(member: EnvironmentMember, state: HurtState, broken_by: tuple[BrokenBy, ...] = ()) -> HurtMember:
    return HurtMember(member.kind, member.name, state, member.version, member.profile, "", broken_by)


def _step(report: Report) -> _Step:
    """What a comparison means for built programs, which headers tell less than debug information."""
    missing = lacks(report, AS_MUCH)
    return _Step(
        tuple(each for each in report.changes if Impact[each.impact.upper()] is Impact.BREAKING),
        (*_typeless(report), *(each.sentence for each in missing if each.facet != "source")),
        tuple(each.sentence for each in missing if each.facet == "source"),
    )


def _typeless(report: Report) -> Iterator[str]:
    for side in (report.old, report.new):
        if all(evidence_of(side.evidence, facet).state == "missing" for facet in TYPED):
            yield f"{side}: it has no debug information, and no headers were read: its types are not known"


def _headline(release: Release, environment: str, found: _Found) -> str:
    what = f"{release.reference} {'may' if found.outcome == 'pass' else 'may not'} ship to {environment}"
    match found.outcome:
        case "fail":
            return f"{what}: it breaks {counted(len(found.broken), 'member')}: {listed(_labels(found))}"
        case "undecided":
            return f"{what}: nobody can know what it breaks"
        case _:
            if not found.users:
                return f"{what}: no member uses it"
            users = f"{counted(found.users, 'member')} that {'uses' if found.users == 1 else 'use'} it"
            return f"{what}: it breaks none of {users}"


def _labels(found: _Found) -> list[str]:
    return [each.label for each in found.broken]
