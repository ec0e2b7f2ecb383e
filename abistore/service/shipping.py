"""Whether releases may ship to an environment: what of it would break, and what that breaks in turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from abistore.errors import UsageError
from abistore.limits import allow_more, limits_for
from abistore.model.approvals import BrokenBy, ConsumedSymbol, Consumer, ConsumerDetails, asks_for, base_name
from abistore.model.decision import Decision, Outcome, worst_decision
from abistore.model.declarations import Facet
from abistore.model.environments import (
    CanShip,
    Environment,
    EnvironmentMember,
    HurtMember,
    HurtState,
    ShippedRelease,
    replaced_by,
)
from abistore.model.findings import Impact
from abistore.model.format_gaps import unrecorded_by
from abistore.model.history import DEFAULT_PROFILE, IngestRequest, LineKey, Release
from abistore.model.labels import check_not_blank, library_name
from abistore.model.snapshot import Snapshot, evidence_of, snapshot_digest
from abistore.model.words import counted, listed
from abistore.report.model import Report, ReportedFinding
from abistore.service.admission import Admission
from abistore.service.binding import names_for, obeyed, rule_of_line, ruled
from abistore.service.consumer_verdicts import judged_consumer, loaded_with
from abistore.service.consumers import ReleaseNeeds, consumer_of, names_of
from abistore.service.database import Database
from abistore.service.decision import needed
from abistore.service.ingest_gates import Arrival, Gate
from abistore.service.judging import AS_MUCH, judge, lacks
from abistore.service.listing import releases_of
from abistore.service.snapshots import Operand, Selection, operands
from abistore.service.verdicts import judged

if TYPE_CHECKING:
    from abistore.model.rules import BoundRule
    from abistore.service.ruling import Ruling
    from abistore.store.store import Store
    from abistore.store.timeline import LibraryFacts

MOST_TRIED: Final = 20
"""So many other releases, the newest first, are asked whether they would do."""

TYPED: Final[tuple[Facet, ...]] = ("layout", "source")
"""The facets that describe types."""

BUILD: Final = "build"
"""The version of a file that has none."""

OF_A_DUMP: Final = "it was read from another tool's dump"

JUDGED: Final = "a release is judged only"

EXIT_CODES: Final[Mapping[Outcome, int]] = {"pass": 0, "fail": 4, "undecided": 72}


def env_can_ship(
    releases: str | Path | Sequence[str | Path],
    environment: str,
    *,
    beside: bool = False,
    by: Ruling | None = None,
    database: Database = None,
    selection: Selection | None = None,
) -> CanShip:
    """Whether stored releases, candidates or files may ship to an environment together, and who would break there.

    Each takes the place of the version that is recorded of its line, or comes ``beside`` it. What was broken before
    does not count. A file is of the line that has its SONAME or name there. Raises :class:`SnapshotNotFound`,
    :class:`InputError`, and :class:`UsageError` for two releases of one line.
    """
    words = [releases] if isinstance(releases, (str, Path)) else list(releases)
    check_not_blank("a release", tuple(map(str, words)))
    chosen = selection or Selection()
    with operands(database, chosen) as reader, reader.store.reading():
        recorded = reader.store.environment(environment)
        stored = _Stored(reader.store)
        new = [_shipped(stored, recorded, each, chosen.profile) for each in reader.several(words)]
        _check_lines(new)
        size = sum(each.release.declarations for each in new) << 12
        with limits_for(size, f"asking what {listed(_references(new))} means for {environment}"):
            return _Shipment(stored, recorded, by, beside).answer(new)


def _shipped(stored: _Stored, environment: Environment, operand: Operand, profile: str | None) -> _Library:
    """A release, or a file as a release of the line that it would be stored in."""
    if operand.release is not None:
        return stored.read(member_of(operand.release, datetime.now(UTC)), operand.release)
    release = _as_release(operand.snapshot, _line_of(environment, operand.snapshot, profile))
    return stored.read(member_of(release, release.ingested), release, operand.snapshot)


def _line_of(environment: Environment, built: Snapshot, profile: str | None) -> LineKey:
    """The line of which a file is a build: the recorded one that has its name, or is loaded by its SONAME."""
    target, soname = str(built.target), built.facts.name if built.facts else None
    members = [each for each in environment.members if each.kind == "library" and each.target == target]
    fitting = [each for each in members if profile in {None, each.profile}]
    named = {each.line for each in fitting if each.name == built.library}
    found = named or {each.line for each in fitting if soname and each.soname == soname}
    if len(found) > 1:
        lines = ", ".join(sorted(f"{line.library} ({line.profile})" for line in found))
        raise UsageError(f"{built.label}: which one does it replace? recorded are {lines}", "pass --profile")
    return found.pop() if found else LineKey(built.library, target, profile or DEFAULT_PROFILE)


def _as_release(built: Snapshot, line: LineKey) -> Release:
    return Release(
        line,
        built.version or BUILD,
        -1,
        snapshot_digest(built).hex(),
        built.target,
        built.facts.name if built.facts else None,
        built.exports,
        sum(map(len, built.entries.values())),
        datetime.now(UTC),
        None,
        None,
        None,
        built.provenance,
        built.evidence,
    )


def _check_lines(new: Sequence[_Library]) -> None:
    """Raise :class:`UsageError` for two releases of one line, which cannot both take the place of one."""
    for line, same in groupby(sorted(new, key=_by_line), key=_by_line):
        versions = [each.release.version for each in same]
        if len(versions) > 1:
            raise UsageError(f"{line.library}: two releases, {' and '.join(versions)}", "name one of them")


def _by_line(library: _Library) -> LineKey:
    return library.release.line


def _references(new: Sequence[_Library]) -> list[str]:
    return [each.release.reference for each in new]


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
    """What shipping releases would do; ``users`` counts the members that ask the loader for one, by line.

    ``bound`` are the decisions of rules that do not let one pass.
    """

    replaced: tuple[EnvironmentMember, ...] = ()
    users: Mapping[LineKey, int] = {}
    broken: tuple[HurtMember, ...] = ()
    unknown: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()
    bound: tuple[Decision, ...] = ()

    @property
    def outcome(self) -> Outcome:
        if self.broken or any(each.outcome == "fail" for each in self.bound):
            return "fail"
        return "undecided" if self.unknown or self.bound else "pass"

    @property
    def exit_code(self) -> int:
        """The exit code; where a rule alone refuses a release, that of its gate."""
        return worst_decision(self.bound).exit_code if self.bound and not self.broken else EXIT_CODES[self.outcome]


class _Notes(NamedTuple):
    """Why nobody can know what breaks, and what else was not checked; grows while releases are judged."""

    unknown: list[str]
    not_checked: list[str]


class _Step(NamedTuple):
    """The breaking changes from one release to another, and why there may be more that built programs meet, or not."""

    breaking: tuple[ReportedFinding, ...] = ()
    unknown: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()


class _Library:
    """A release of a library, as the members of the environment meet it and as a consumer of the others.

    ``built`` is the content of one that is not stored.
    """

    def __init__(self, stored: _Stored, member: EnvironmentMember, release: Release, built: Snapshot | None) -> None:
        self._stored, self.built = stored, built
        self.member, self.release = member, release

    @cached_property
    def snapshot(self) -> Snapshot:
        """The release as it was read."""
        if self.built is not None:
            return self.built
        allow_more(self.release.declarations << 12)
        return self._stored.store.load(self.release)

    @cached_property
    def needs(self) -> ReleaseNeeds:
        """The release as consumers meet it."""
        line = self.release.line
        own = {self.release.soname} if self.release.soname else set()
        ever = set(self._stored.store.ever_named(line)) if line in self._stored.lines else set()
        names = ever if self.built is None else {*ever, *names_of(self.built)}
        return ReleaseNeeds(self.snapshot, self._stored.sonames(line) | own, names)

    @cached_property
    def consumer(self) -> Consumer:
        """What it asks of other libraries."""
        return consumer_of(self.snapshot, self.member.label)

    @cached_property
    def missing(self) -> frozenset[str]:
        """What its input does not record of that."""
        return unrecorded_by(evidence_of(self.release.evidence, "symbol")) & {"Import", "Library.needed"}


class _Stored:
    """What is stored of the members of an environment. Each is read once."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._ordered: dict[LineKey, Sequence[Release]] = {}
        self._libraries: dict[tuple[str, ...], _Library | None] = {}

    @cached_property
    def lines(self) -> frozenset[LineKey]:
        """The lines of the store."""
        return frozenset(self.store.lines())

    def ordered(self, line: LineKey) -> Sequence[Release]:
        """The releases of a line, in release order."""
        if line not in self._ordered:
            self._ordered[line] = releases_of(self.store, line) if line in self.lines else ()
        return self._ordered[line]

    def sonames(self, line: LineKey) -> set[str]:
        """The SONAMEs that a line ever had."""
        return {each.soname for each in self.ordered(line) if each.soname}

    def library(self, member: EnvironmentMember) -> _Library | None:
        """What is stored of a member; ``None`` where another content, or nothing, is stored under its version."""
        if member.content not in self._libraries:
            found = [one for one in self.ordered(member.line) if (one.version, one.digest) == member.content[4:6]]
            self._libraries[member.content] = _Library(self, member, found[0], None) if found else None
        return self._libraries[member.content]

    def read(self, member: EnvironmentMember, release: Release, built: Snapshot | None = None) -> _Library:
        """A release that ships: stored, or ``built``."""
        found = self._libraries[member.content] = _Library(self, member, release, built)
        return found

    @cached_property
    def programs(self) -> Mapping[tuple[str, str], Consumer]:
        """The stored consumers by name and target."""
        imports, types = self.store.consumer_imports(), self.store.consumer_types()
        stored = [each.details for each in self.store.consumers()]
        return {each.key: Consumer(each, imports[each.key], types[each.key]) for each in stored}

    @cached_property
    def _facts(self) -> Mapping[LineKey, Sequence[LibraryFacts]]:
        """What each line says of its library as a whole: loading all snapshots would take long."""
        return self.store.library_facts()

    def details(self, member: EnvironmentMember) -> ConsumerDetails | str:
        """Which libraries a member asks for, or why nobody knows that."""
        if member.kind == "program":
            found = self.programs.get((member.name, member.target))
            if found is None:
                return f"{member.name}: what it imports is stored no longer"
            same = found.details.sha256 == member.sha256
            return found.details if same else f"{member.name}: another build was stored since it was recorded"
        library = self.library(member)
        if library is None:
            return f"{member.label}: the recorded release is stored no longer, or was replaced"
        if "Library.needed" in library.missing:
            return f"{member.label}: its dependencies are not stored: {OF_A_DUMP}"
        if library.built is not None:
            return library.consumer.details
        sequence, facts = library.release.sequence, self._facts.get(member.line, ())
        needed = next((each.facts.needed for each in facts if each.first <= sequence <= each.last), ())
        return ConsumerDetails(member.label, member.target, member.file, member.sha256, needed)

    def consumer(self, member: EnvironmentMember) -> Consumer:
        """What a member asks of other libraries, of which the details are known."""
        library = self.library(member) if member.kind == "library" else None
        return library.consumer if library else self.programs[member.name, member.target]

    def lacks_imports(self, member: EnvironmentMember) -> bool:
        """Whether it is not stored what a library imports."""
        library = self.library(member) if member.kind == "library" else None
        return library is not None and "Import" in library.missing


class _Shipment:
    """An environment that releases ship to. What several questions share is worked out once."""

    def __init__(self, stored: _Stored, environment: Environment, by: Ruling | None, beside: bool) -> None:
        self._stored, self._by, self._beside = stored, by, beside
        self._name, self._recorded = environment.name, environment.members
        self._asked: dict[EnvironmentMember, ConsumerDetails | str] = {}
        self._changes: dict[tuple[str, str], _Step] = {}

    # --- who is there

    def _own(self, line: LineKey) -> list[EnvironmentMember]:
        """What is recorded of a line."""
        return [each for each in self._recorded if each.kind == "library" and each.line == line]

    def _asks(self, member: EnvironmentMember) -> ConsumerDetails | str:
        """Which libraries a member asks for, or why nobody knows that."""
        if member not in self._asked:
            self._asked[member] = self._stored.details(member)
        return self._asked[member]

    def _users(self, line: LineKey, others: Sequence[EnvironmentMember]) -> tuple[list[EnvironmentMember], list[str]]:
        """The members that ask the loader for a line's library, and why that is not known of others."""
        users, unknown = [], []
        for each in others:
            asks = self._asks(each)
            if isinstance(asks, str):
                unknown.append(asks)
            elif asks_for(asks, line.library, self._stored.sonames(line)):
                if self._stored.lacks_imports(each):
                    unknown.append(f"{each.label}: its imports are not stored: {OF_A_DUMP}")
                else:
                    users.append(each)
        return users, unknown

    # --- what releases would do

    def ship(self, new: Sequence[_Library]) -> _Found:
        """What happens where releases ship together."""
        there = {each.content[:6] for each in self._recorded}
        fresh = [each for each in new if each.member.content[:6] not in there]
        replaced = {
            each.release.line: replaced_by(self._own(each.release.line), each.member, beside=self._beside)
            for each in fresh
        }
        gone = {each for one in replaced.values() for each in one}
        kept = [each for each in self._recorded if each not in gone]
        after = [*kept, *(each.member for each in fresh)]
        notes, users, broken = _Notes([], []), dict[LineKey, int](), list[HurtMember]()
        for each in new:
            line = each.release.line
            found, unknown = self._users(line, [one for one in kept if _is_other(one, line)])
            users[line] = len(found)
            if each in fresh:
                notes.unknown.extend((*unknown, *self._unread(line)))
                judged_users = (self._judged(user, each, (kept, after), notes) for user in found)
                broken += [one for one in judged_users if one is not None]
                if lacks_now := self._lacks(each, replaced[line], after, notes):
                    broken.append(_hurt(each.member, "breaks", lacks_now))
            notes.not_checked.extend(self._must_be_rebuilt(each, fresh) if each in fresh else ())
        broken = _merged(broken)
        broken += self._followers(broken, after)
        bound = tuple(said for each in fresh for said in self._refused(each))
        said = [tuple(dict.fromkeys(each)) for each in notes]
        before = tuple(each for each in self._recorded if each in gone)
        return _Found(before, users, tuple(broken), said[0], said[1], bound)

    def _refused(self, new: _Library) -> Iterator[Decision]:
        """The decisions of the gate of a line about a release, where what is bound to it does not let it pass."""
        line, release, store = new.release.line, new.release, self._stored.store
        gate = obeyed(store, Gate(by=self._by), names_for(line.library, release.soname))
        if gate.is_open:
            return
        request = IngestRequest(release.version, line.profile, line.library, replace=True, replace_baseline=JUDGED)
        admission = Admission(store, Arrival.of(new.snapshot, request), gate)
        # another content under its label is compared as what is recorded, and not as what an ingest would replace
        outcome = admission.judge(admission.standing()._replace(replaced=None))
        said = [each.decision for each in outcome.reports] or [outcome.first]
        yield from (each for each in said if each is not None and each.outcome != "pass")

    def _unread(self, line: LineKey) -> Iterator[str]:
        for each in self._own(line):
            if not self._stored.library(each):
                yield f"{each.label}: it is recorded, and is stored no longer"

    def _judged(
        self,
        user: EnvironmentMember,
        new: _Library,
        among: tuple[Sequence[EnvironmentMember], Sequence[EnvironmentMember]],
        notes: _Notes,
    ) -> HurtMember | None:
        """What a release does to a member that asks for it, and did not do before.

        It runs ``among`` members that stay, and among all that are there afterwards.
        """
        kept, present_after = among
        consumer = self._stored.consumer(user)
        present = (self._stored.library(each) for each in self._own(new.release.line))
        old = [one for one in present if one is not None and one.needs.loads(consumer.details)]
        if not new.needs.loads(consumer.details):
            stays = any(one.member in kept for one in old)
            return None if stays or not old else _hurt(user, "asks-for-another")
        if not old:
            library = new.release.line.library
            why = f"{user.label} uses {library}, and no version that it loads is recorded in {self._name}"
            notes.unknown.append(why)
        before, after = list[set[BrokenBy]](), set[BrokenBy]()
        for one in old:
            step = self._since(one, new)
            notes.unknown.extend(step.unknown)
            notes.not_checked.extend(step.not_checked)
            found = judged_consumer(consumer, new.needs, step.breaking, True, one.snapshot)
            before.append(self._broken(consumer, one, self._recorded))
            after |= self._unless_moved(found.broken_by, consumer, new, present_after)
            notes.not_checked.extend(f"{user.label}: {each}" for each in found.not_checked)
        after |= set() if old else set(judged_consumer(consumer, new.needs, (), False, None).broken_by)
        fresh = after - set[BrokenBy].intersection(*before) if before else after
        return _hurt(user, "breaks", tuple(sorted(fresh))) if fresh else None

    def _must_be_rebuilt(self, user: _Library, fresh: Sequence[_Library]) -> Iterator[str]:
        """What a release meets of others that ship with it: its binary does not show which ones it was built with."""
        consumer = user.consumer
        imports = frozenset(each.symbol for each in consumer.imports)
        for new in fresh:
            if new is user or not new.needs.loads(consumer.details):
                continue
            recorded = (self._stored.library(each) for each in self._own(new.release.line))
            met = {
                each.symbol
                for old in recorded
                if old is not None
                for each in self._since(old, new).breaking
                if each.symbol not in imports and new.needs.hurts(each, consumer.types, imports)
            }
            if met:
                yield f"{user.member.label} meets changes of {listed(met)}: it must be built with {new.member.label}"

    def _since(self, old: _Library, new: _Library) -> _Step:
        """The breaking changes between two releases, and why there may be more."""
        key = old.release.digest, new.release.digest
        if key[0] == key[1]:
            return _Step()
        if key not in self._changes:
            store = self._stored.store
            rule = rule_of_line(store.rules(), new.release.line, (new.release,))
            by = ruled(rule, self._by)
            if new.built is None:
                report = judged(store, old.release, new.release, by=by).report
            else:
                report = judge(old.snapshot, new.built, by)
            self._changes[key] = _step(report, rule)
        return self._changes[key]

    def _lacks(
        self,
        new: _Library,
        replaced: Sequence[EnvironmentMember],
        after: Sequence[EnvironmentMember],
        notes: _Notes,
    ) -> tuple[BrokenBy, ...]:
        """What a release needs that the libraries beside it lack, if what it replaces did not lack it before."""
        own = new.release.line
        lines = {each.line for each in after if each.kind == "library" and _is_other(each, own)}
        if new.missing and lines:
            notes.unknown.append(f"{new.member.label}: what it needs is not stored: {OF_A_DUMP}")
            return ()
        old = [one for each in replaced if (one := self._stored.library(each)) is not None]
        lacks_now = set[BrokenBy]()
        for line in sorted(lines):
            before = {each for one in old for each in self._lacking(one, line, self._recorded)}
            lacks_now |= self._lacking(new, line, after) - before
        self._note_unrecorded(new, old, {line.library for line in lines}, notes)
        return tuple(sorted(lacks_now))

    def _lacking(self, library: _Library, line: LineKey, members: Sequence[EnvironmentMember]) -> set[BrokenBy]:
        """What a library needs of another line, and its releases among some members do not have."""
        consumer = library.consumer
        present = [each for each in members if each.kind == "library" and each.line == line]
        sonames = self._stored.sonames(line) | {each.soname for each in present if each.soname}
        if not present or not asks_for(consumer.details, line.library, sonames):
            return set()
        found = [self._stored.library(each) for each in present]
        loaded = [one for one in found if one is not None and one.needs.loads(consumer.details)]
        if not loaded and None not in found:
            asked = ", ".join(sorted(each.soname for each in present))
            return {BrokenBy("symbol", line.library, detail=f"it loads another name than {asked}")}
        return {each for one in loaded for each in self._broken(consumer, one, members)}

    def _broken(self, consumer: Consumer, library: _Library, members: Sequence[EnvironmentMember]) -> set[BrokenBy]:
        """What breaks a consumer of a library among some members, whatever changed before."""
        found = judged_consumer(consumer, library.needs, (), True, None).broken_by
        return self._unless_moved(found, consumer, library, members)

    def _unless_moved(
        self, found: Sequence[BrokenBy], consumer: Consumer, library: _Library, members: Sequence[EnvironmentMember]
    ) -> set[BrokenBy]:
        """What breaks a consumer, without symbols that the loader finds in another library that it loads with it."""
        missing = {each.symbol for each in found if each.sort == "symbol"}
        asked = [each for each in consumer.imports if each.symbol in missing]
        others = self._loaded_with(consumer, library, members) if asked else []
        moved = {each.symbol for each in asked for one in others if not any(one.needs.lacking((each,)))}
        return {each for each in found if each.sort != "symbol" or each.symbol not in moved}

    def _loaded_with(
        self, consumer: Consumer, library: _Library, members: Sequence[EnvironmentMember]
    ) -> list[_Library]:
        """The libraries among some members that the loader loads for a consumer of a library, but that one itself."""
        line, needed = library.release.line, (*consumer.details.needed, *library.consumer.details.needed)
        among = {each: each.soname for each in members if each.kind == "library" and _is_other(each, line)}
        loaded = loaded_with(needed, among, self._needed)
        return [one for each in loaded if (one := self._stored.library(each)) is not None]

    def _needed(self, member: EnvironmentMember) -> tuple[str, ...]:
        """The libraries that a member asks for, as far as that is known."""
        asks = self._asks(member)
        return () if isinstance(asks, str) else asks.needed

    def _note_unrecorded(self, new: _Library, old: Sequence[_Library], recorded: set[str], notes: _Notes) -> None:
        """Note the libraries that a release needs and the environment has not."""
        own = new.release.line
        stored = {key.library: key for key in self._stored.lines if key.target == own.target}
        before = [{base_name(each) for each in one.consumer.details.needed} for one in old]
        known = set[str].intersection(*before) if before else set()
        for asked in map(base_name, new.consumer.details.needed):
            library = library_name(asked)
            if library in recorded or library == own.library:
                continue
            if library not in stored and asked not in known:
                notes.not_checked.append(f"{new.member.label} needs {asked}, and no release of that is stored")
            elif library in stored and (asked not in known or self._asks_more(new, old, stored[library])):
                notes.unknown.append(f"{new.member.label} needs {asked}, which is not recorded in {self._name}")

    def _asks_more(self, new: _Library, old: Sequence[_Library], line: LineKey) -> bool:
        """Whether a release asks more of a library than each of those that it takes the place of."""
        before = set[ConsumedSymbol].intersection(*(set(one.consumer.imports) for one in old))
        more = set(new.consumer.imports) - before
        named = {name.spelling for name in self._stored.store.ever_named(line)}
        return any(each.symbol in named for each in more)

    def _followers(self, broken: Sequence[HurtMember], after: Sequence[EnvironmentMember]) -> Iterator[HurtMember]:
        """The members that use a broken one, and those that use these in turn."""
        seen = {(each.kind, each.label) for each in broken}
        queue = [each for each in broken if each.kind == "library"]
        asking = [(each, asks) for each in after if not isinstance(asks := self._asks(each), str)]
        sonames = {each.label: each.soname for each in after}
        for source in queue:
            names = {sonames[source.label]}
            for member, asks in asking:
                if (member.kind, member.label) not in seen and asks_for(asks, source.name, names):
                    seen.add((member.kind, member.label))
                    hurt = msgspec.structs.replace(_hurt(member, "uses-broken"), through=source.label)
                    queue += [hurt] if hurt.kind == "library" else []
                    yield hurt

    # --- the answer

    def answer(self, new: Sequence[_Library]) -> CanShip:
        """The answer, with the other versions that would do where a single release does not."""
        found = self.ship(new)
        alone = found.outcome != "pass" and len(new) == 1
        fitting, untried = self._others_that_do(new[0].release) if alone else ((), 0)
        return CanShip(
            self._name,
            tuple(_told(each, found) for each in new),
            found.outcome,
            found.exit_code,
            _headline(new, self._name, found),
            found.broken,
            found.unknown,
            found.not_checked,
            fitting,
            untried,
            found.bound,
        )

    def _others_that_do(self, release: Release) -> tuple[tuple[str, ...], int]:
        """The other versions of the line that may ship, in release order, and how many were not tried."""
        others = [each for each in self._stored.ordered(release.line) if each.version != release.version]
        tried = others[-MOST_TRIED:]
        return tuple(each.version for each in tried if self._would_do(each)), len(others) - len(tried)

    def _would_do(self, release: Release) -> bool:
        try:
            return self.ship([self._stored.read(member_of(release, datetime.now(UTC)), release)]).outcome == "pass"
        except UsageError:  # which of several names it would replace is not clear
            return False


def _is_other(member: EnvironmentMember, line: LineKey) -> bool:
    """Whether a member runs on the platform of a line, and is not of it."""
    return member.target == line.target and not (member.kind == "library" and member.line == line)


def _merged(broken: Sequence[HurtMember]) -> list[HurtMember]:
    """Each member once, with all that several releases break of it."""
    found: dict[tuple[str, str], HurtMember] = {}
    for each in broken:
        key = each.kind, each.label
        before = found.get(key)
        if before is not None:
            why = tuple(sorted({*before.broken_by, *each.broken_by}))
            each = msgspec.structs.replace(before if before.state == "breaks" else each, broken_by=why)
        found[key] = each
    return list(found.values())


def _told(new: _Library, found: _Found) -> ShippedRelease:
    line, release = new.release.line, new.release
    replaced = tuple(each.version for each in found.replaced if each.line == line)
    return ShippedRelease(
        line.library,
        release.version,
        line.target,
        line.profile,
        replaced,
        found.users[line],
        release.provenance.file if new.built is not None else "",
    )


def _hurt(member: EnvironmentMember, state: HurtState, broken_by: tuple[BrokenBy, ...] = ()) -> HurtMember:
    return HurtMember(member.kind, member.name, state, member.version, member.profile, "", broken_by)


def _step(report: Report, rule: BoundRule | None) -> _Step:
    """What a comparison means for built programs, which headers tell less than debug information.

    What a rule requires decides all the same.
    """
    missing = lacks(report, needed(rule, AS_MUCH))
    decisive = [each for each in missing if each.facet != "source" or (rule is not None and "source" in rule.require)]
    return _Step(
        tuple(each for each in report.changes if Impact[each.impact.upper()] is Impact.BREAKING),
        (*_typeless(report), *(each.sentence for each in decisive)),
        tuple(each.sentence for each in missing if each not in decisive),
    )


def _typeless(report: Report) -> Iterator[str]:
    for side in (report.old, report.new):
        if all(evidence_of(side.evidence, facet).state == "missing" for facet in TYPED):
            yield f"{side}: it has no debug information, and no headers were read: its types are not known"


def _headline(new: Sequence[_Library], environment: str, found: _Found) -> str:
    said = listed(_references(new))
    what = f"{said} {'may' if found.outcome == 'pass' else 'may not'} ship to {environment}"
    they, breaks = ("it", "breaks") if len(new) == 1 else ("they", "break")
    if found.bound and not found.broken:
        return f"{what}: {worst_decision(found.bound).reasons[0].sentence}"
    match found.outcome:
        case "fail":
            return f"{what}: {they} {breaks} {counted(len(found.broken), 'member')}: {listed(_labels(found))}"
        case "undecided":
            return f"{what}: nobody can know what {they} {breaks}"
        case _:
            users = sum(found.users.values())
            them = "it" if len(new) == 1 else "them"
            if not users:
                return f"{what}: no member uses {them}"
            use = "uses" if users == 1 else "use"
            return f"{what}: {they} {breaks} none of {counted(users, 'member')} that {use} {them}"


def _labels(found: _Found) -> list[str]:
    return [each.label for each in found.broken]
