"""What happened in an archive since a day or a release: what broke, whom that hurts, which gates are red."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec

from abistore.archive.log import ArchiveTally, FailureCount, read_log
from abistore.errors import SnapshotNotFound, UsageError
from abistore.model.approvals import base_name
from abistore.model.decision import Decision, Outcome
from abistore.model.declarations import EXPORTS
from abistore.model.environments import MemberKind
from abistore.model.findings import ENGINE, Comparison, Impact, Verdict
from abistore.model.history import DEFAULT_CHANNEL, LineKey, Release, StoredVerdict, VerdictSummary
from abistore.model.labels import check_not_blank
from abistore.model.names.qualified import demangle
from abistore.patterns import pattern
from abistore.service.approved_gates import day, of_library
from abistore.service.binding import rule_of_line, ruled
from abistore.service.database import Database, using
from abistore.service.history import StoredDecisions
from abistore.service.predecessors import Predecessors
from abistore.service.verdicts import key_of

if TYPE_CHECKING:
    from abistore.store.store import Store
    from abistore.store.whole import LoadingLine, WholeLine

T = TypeVar("T")

_DAY = pattern(r"\d{4}-\d{2}-\d{2}")
_REMOVALS = frozenset({"func_removed", "var_removed"})

MOST_NAMED = 5
"""So many changed names of a release are listed."""


class BrokenRelease(msgspec.Struct, frozen=True):
    """A release that breaks the one before it.

    ``kinds`` counts what breaks by kind, the most frequent first, and ``names`` are the first names. ``programs`` and
    ``libraries`` are those of the archive that import what breaks from it, and ``through`` those that load one of these
    libraries, directly or in turn. ``moved_to`` are the SONAMEs of libraries that the release loads and that now export
    all functions and variables that break: programs still find them there. ``outcome`` says whether it may ship.
    """

    line: LineKey
    version: str
    against: str
    verdict: Verdict
    outcome: Outcome
    headline: str
    kinds: dict[str, int]
    names: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    through: tuple[str, ...] = ()
    moved_to: tuple[str, ...] = ()


class RedGate(msgspec.Struct, frozen=True):
    """A line whose latest release does not pass beside its baseline, or a build that failed its gate and was kept."""

    line: LineKey
    version: str
    against: str
    outcome: Outcome
    headline: str
    candidate: bool = False


class ArchiveReport(msgspec.Struct, frozen=True):
    """What happened in an archive since a moment.

    ``releases`` of ``lines`` lines were stored since then; of these ``unjudged`` have no stored verdict against the
    release before. ``unread`` is what a run could not read or store, by error code, the most frequent first.
    """

    since: datetime
    lines: int
    releases: int
    unjudged: int
    broken: tuple[BrokenRelease, ...] = ()
    red: tuple[RedGate, ...] = ()
    unread: tuple[FailureCount, ...] = ()


def archive_report(
    since: str,
    *,
    run: Path | None = None,
    channel: str = DEFAULT_CHANNEL,
    today: date | None = None,
    database: Database = None,
) -> ArchiveReport:
    """What broke since a day (``2026-11-29``) or since a stored release (``libfoo@1.2``), from stored verdicts alone.

    ``run`` is the log of an archive run, for what could not be read. Gates are those at ``channel``. Nothing is judged.
    Raises :class:`UsageError`, :class:`SnapshotNotFound`, :class:`InputError`.
    """
    check_not_blank("--since", since)
    with using(database) as store, store.reading():
        moment = _moment(store, since)
        made = _Report(store, moment, channel, day(today))
        broken, red = made.broken(), tuple(made.red())
        unread = _unread(run) if run is not None else ()
        return ArchiveReport(moment, len(made.lines), made.releases, made.unjudged, broken, red, unread)


def _moment(store: Store, since: str) -> datetime:
    if _DAY.fullmatch(since):
        try:
            return datetime.fromisoformat(since).replace(tzinfo=UTC)
        except ValueError as error:
            raise UsageError(f"not a date: {since}", "write it as 2027-01-31") from error
    try:
        return store.resolve(since).ingested
    except SnapshotNotFound as error:
        if "@" in since:
            raise
        hint = "write a day as 2027-01-31, or name a stored release: LIBRARY@VERSION"
        raise SnapshotNotFound(error.message, hint) from error


def _unread(run: Path) -> tuple[FailureCount, ...]:
    tally = ArchiveTally()
    tally.add(read_log(run).values())
    return tuple(tally.failures())


class _Pair(NamedTuple):
    """Two releases with what is stored about them, and the decision."""

    old: Release
    new: Release
    found: VerdictSummary
    decision: Decision
    given: StoredVerdict | None


class _Report:
    """Makes a report. What several lines need is read once."""

    def __init__(self, store: Store, moment: datetime, channel: str, today: date) -> None:
        self._store, self._moment, self._channel, self._today = store, moment, channel, today
        self.lines: Sequence[WholeLine] = store.whole_lines(str(ENGINE))
        self.releases = self.unjudged = 0
        self._approvals = store.approvals()
        self._rules = store.rules()
        moves = store.baselines()
        self._stands = {one.line: one.version for one in moves if one.channel == channel and one.version is not None}

    def _decided(self, line: WholeLine, old: Release, new: Release, against: str | None) -> _Pair | None:
        """The decision about two releases; ``None`` where no verdict is stored."""
        rule = rule_of_line(self._rules, line.key, line.releases)
        by = ruled(rule, None, self._today)

        def summary(old: Release) -> VerdictSummary | None:
            return line.judgements.get((old.sequence, new.sequence, key_of(by, old, new)))

        @cache
        def whole(old: Release) -> StoredVerdict | None:
            return self._store.find_verdict(old, new, key_of(by, old, new), str(ENGINE))

        if (found := summary(old)) is None:
            return None
        approvals = of_library(self._approvals, line.key.library)
        decisions = StoredDecisions(self._store, approvals, self._today, rule=rule)
        decision = decisions.beside(old, new, found, partial(whole, old), against)
        decision = decisions.obeying(decision, (old, new), summary, whole) or decision
        return _Pair(old, new, found, decision, whole(old) if found.verdict >= Verdict.API_BREAK else None)

    def broken(self) -> tuple[BrokenRelease, ...]:
        """The releases since then that break the one before, those that hurt most first."""
        pairs = [(line, pair) for line in self.lines for pair in self._breaks(line)]
        symbols = {id(pair): _symbols(pair.given.comparison) for _, pair in pairs if pair.given}
        users = _Users(self._store, frozenset(one for found in symbols.values() for one in found))
        broken = (_broken(line, pair, users, symbols.get(id(pair), frozenset())) for line, pair in pairs)
        return tuple(sorted(broken, key=_weight))

    def _breaks(self, line: WholeLine) -> Iterator[_Pair]:
        predecessors = Predecessors()
        for release in line.releases:
            previous = predecessors.of(release.version)
            predecessors.add(release)
            if release.ingested < self._moment:
                continue
            self.releases += 1
            if previous is None:
                continue
            found = [each for key, each in line.judgements.items() if key[:2] == (previous.sequence, release.sequence)]
            if not found:
                self.unjudged += 1
            elif max(each.verdict for each in found) >= Verdict.API_BREAK:
                pair = self._decided(line, previous, release, None)
                if pair is not None and pair.found.verdict >= Verdict.API_BREAK:
                    yield pair

    def red(self) -> Iterator[RedGate]:
        """The lines whose latest release does not pass at the channel, and what was kept of failed builds."""
        for line in self.lines:
            baseline = self._stands.get(line.key)
            old = next((each for each in line.releases if each.version == baseline), None)
            if old is not None and line.releases[-1] != old:
                pair = self._decided(line, old, line.releases[-1], f"baseline:{self._channel}")
                if pair is not None and pair.decision.outcome != "pass":
                    shown = pair.decision.outcome, pair.decision.headline
                    yield RedGate(line.key, line.releases[-1].version, old.version, *shown)
            for each in line.candidates:
                if each.ingested >= self._moment:
                    yield RedGate(line.key, each.version, "", "fail", "failed its gate, and was kept", candidate=True)


def _broken(line: WholeLine, pair: _Pair, users: _Users, symbols: frozenset[str]) -> BrokenRelease:
    findings = pair.given.comparison.findings if pair.given else ()
    heavy = [each for each in findings if each.impact >= Impact.API_BREAK]
    names = tuple(dict.fromkeys(demangle(each.name.spelling) or each.name.spelling for each in heavy))
    affected = users.of(line.key, pair.old.soname, symbols)
    is_all = all(each.kind in _REMOVALS for each in heavy) and pair.new == line.releases[-1]
    moved_to = users.moved_to(line.key, pair.new.soname, symbols) if is_all else ()
    return BrokenRelease(
        line.key,
        pair.new.version,
        pair.old.version,
        pair.found.verdict,
        pair.decision.outcome,
        pair.decision.headline,
        dict(Counter(each.kind for each in heavy).most_common()),
        names[:MOST_NAMED],
        *affected,
        moved_to,
    )


def _weight(one: BrokenRelease) -> tuple[object, ...]:
    affected = len(one.programs) + len(one.libraries)
    return one.outcome == "pass", -affected, -len(one.through), one.line, one.version


def _symbols(comparison: Comparison) -> frozenset[str]:
    """The symbols by which programs meet what breaks."""
    heavy = [each for each in comparison.findings if each.impact is Impact.BREAKING]
    own = {each.name.spelling for each in heavy if each.name.kind in EXPORTS}
    return frozenset(own | {name.spelling for each in heavy for name in each.affected})


class _User(NamedTuple):
    """A program, or the latest release of a library, as the loader meets it.

    ``names`` are those that a library is loaded by. ``imports`` are the symbols among those that break somewhere, each
    with the library that is to provide it, if the file names one.
    """

    kind: MemberKind
    name: str
    target: str
    names: frozenset[str]
    needed: tuple[str, ...]
    imports: frozenset[tuple[str, str]]


class Affected(NamedTuple):
    """Whom a break affects: programs and libraries by what they import, and those that load such a library."""

    programs: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    through: tuple[str, ...] = ()


class _Users:
    """The programs and libraries of the archive that some symbols affect."""

    def __init__(self, store: Store, symbols: frozenset[str]) -> None:
        lines: Sequence[LoadingLine] = store.loading_lines(symbols) if symbols else ()
        self._users = [*_programs(store, symbols), *map(_library, lines)] if symbols else []
        self._loading = _grouped((each.target, name, each) for each in self._users for name in each.needed)
        self._importing = _grouped((each.target, symbol, each) for each in self._users for symbol, _ in each.imports)
        self._named = _grouped((each.target, name, each) for each in self._users for name in each.names)
        exports = [(each.key.target, symbol, base_name(each.name)) for each in lines for symbol in each.exports]
        self._exporting = _grouped(exports)
        self._loaded: dict[tuple[str, tuple[str, ...]], frozenset[str]] = {}

    def of(self, line: LineKey, soname: str | None, symbols: frozenset[str]) -> Affected:
        """Who loads a library by its SONAME, itself or through others, and imports one of its symbols from it.

        Beside them, who loads such a library, directly or in turn: it is loaded broken.
        """
        if not soname:
            return Affected()
        name = base_name(soname)
        asking = [each for symbol in sorted(symbols) for each in self._importing.get((line.target, symbol), ())]
        direct = {each for each in asking if each.name != line.library and self._gets(each, name, symbols)}
        through = self._followers(direct) - direct
        programs, libraries = (
            tuple(sorted({each.name for each in direct if each.kind == kind})) for kind in ("program", "library")
        )
        return Affected(programs, libraries, tuple(sorted({each.name for each in through} - {line.library})))

    def moved_to(self, line: LineKey, soname: str | None, symbols: frozenset[str]) -> tuple[str, ...]:
        """The libraries that the latest release of a line loads and that export the symbols: all, or there are none."""
        own = next((each for each in self._users if (each.name, each.target) == (line.library, line.target)), None)
        if own is None or not soname:
            return ()
        loaded = self._all_loaded(own) - {base_name(soname)}
        found = [loaded.intersection(self._exporting.get((line.target, symbol), ())) for symbol in symbols]
        return tuple(sorted(frozenset[str]().union(*found))) if all(found) else ()

    def _gets(self, user: _User, name: str, symbols: frozenset[str]) -> bool:
        """Whether the loader gives a user one of the symbols from the library called ``name``."""
        if name not in self._all_loaded(user):
            return False
        asked = [(symbol, library) for symbol, library in user.imports if symbol in symbols]
        return any(
            library == name or self._provides(name, user, symbol) for symbol, library in asked if library in {"", name}
        )

    def _provides(self, name: str, user: _User, symbol: str) -> bool:
        """Whether a user that names no library gets a symbol there: not if it moved to another one that is loaded."""
        providers = set(self._exporting.get((user.target, symbol), ())) & self._all_loaded(user)
        return not providers - {name} or (name in providers and name in user.needed)

    def _all_loaded(self, user: _User) -> frozenset[str]:
        """The names of all libraries that are loaded with a user."""
        key = user.target, user.needed
        if key not in self._loaded:
            found, queue = set(user.needed), list(user.needed)
            for name in queue:
                more = {one for each in self._named.get((user.target, name), ()) for one in each.needed} - found
                found |= more
                queue += sorted(more)
            self._loaded[key] = frozenset(found)
        return self._loaded[key]

    def _followers(self, users: Collection[_User]) -> set[_User]:
        """Who loads one of some libraries, and who loads these in turn."""
        queue, found = [each for each in users if each.kind == "library"], set[_User]()
        for each in queue:
            for name in each.names:
                more = set(self._loading.get((each.target, name), ())) - found - {*users}
                found |= more
                queue += [one for one in more if one.kind == "library"]
        return found


def _grouped(rows: Iterable[tuple[str, str, T]]) -> Mapping[tuple[str, str], list[T]]:
    found: dict[tuple[str, str], list[T]] = {}
    for target, name, value in rows:
        found.setdefault((target, name), []).append(value)
    return found


def _programs(store: Store, symbols: frozenset[str]) -> Iterator[_User]:
    stored = store.consumers()
    imports = store.consumer_imports() if stored else {}
    for each in stored:
        details = each.details
        own = [one for one in imports.get(details.key, ()) if one.symbol in symbols]
        asked = frozenset((one.symbol, base_name(one.library)) for one in own)
        needed = tuple(map(base_name, details.needed))
        yield _User("program", details.name, details.target, frozenset(), needed, asked)


def _library(line: LoadingLine) -> _User:
    names = frozenset({base_name(line.name)} - {""})
    needed = tuple(map(base_name, line.needed))
    imports = frozenset((symbol, base_name(library)) for symbol, library in line.imports)
    return _User("library", line.key.library, line.key.target, names, needed, imports)
