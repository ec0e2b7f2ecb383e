"""The verdict ledger: each release against all its baselines, over all its lines, under another policy."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import date
from functools import cache, partial
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from abistore.errors import DamagedStore, Incomparable, InputError, SnapshotNotFound, UsageError
from abistore.limits import limits_for
from abistore.model.decision import Decision, best_decision, outcome_over, worst_decision
from abistore.model.declarations import EXPORTS, Name
from abistore.model.findings import ENGINE, Comparison, Finding, Impact, Verdict, identified
from abistore.model.history import LineKey, Release, StoredVerdict
from abistore.model.names.qualified import demangle
from abistore.model.snapshot import PackageRead
from abistore.model.statements import (
    BaselineRole,
    Evaluation,
    FoldedRelease,
    Ledger,
    LineDifference,
    LineOfRelease,
    MissingLine,
    MovedFinding,
    MovedVerdict,
    Standing,
    worst_of,
)
from abistore.model.structure import with_cycle_collection
from abistore.model.versions import position
from abistore.model.words import counted, of_all
from abistore.report.outline import evidence_gap
from abistore.report.wording import named
from abistore.service.approved_gates import day, of_library
from abistore.service.binding import names_for, rule_for, ruled
from abistore.service.bisect import Broken, StepJudge, broken_by, broken_names, steps_at_once
from abistore.service.blame import AskedRelease, DepartureFinder, Departures, lacks, last_with, needed
from abistore.service.database import Database, line_target, using
from abistore.service.history import Measure, StoredDecisions, first_decision, measures_of, standing_here
from abistore.service.judging import concluded
from abistore.service.listing import in_line, lines_of, releases_of
from abistore.service.predecessors import before, earlier_of_soname
from abistore.service.verdicts import (
    VerdictKeeper,
    given_now,
    key_of,
    listed,
    restores,
    returns,
    shown_by,
    whole_breaks,
)

if TYPE_CHECKING:
    from abistore.model.history import Progress
    from abistore.model.rules import BoundRule
    from abistore.model.versions import DeprecationWindow
    from abistore.service.ruling import Ruling
    from abistore.store.store import Store
    from abistore.store.timeline import ReturnedExport

Ask: TypeAlias = Callable[[Release, Release], StoredVerdict | str]
"""Asks for the verdict about two releases, or why there is none."""


def remarks(
    store: Store, asked: AskedRelease, measures: Sequence[Measure], departures: Departures, ask: Ask
) -> Iterator[str]:
    """The sentences about a release: exports that come back, and what it is to each baseline beside the previous one.

    The previous release is the middle one of three: one that is compatible with both neighbours may hide that the
    third breaks the first, and one that breaks the first may be mended by the third. A release that was passed over
    comes after the previous one, which is no middle then. What came or changed between and is gone or another is told
    by itself.
    """
    release = asked.release
    previous = next((each.against for each in measures if each.roles[0].role == "previous"), None)
    if previous is None:
        return
    back = returned_by(store, release)
    yield from returns(back)
    told = {each.name for each in back}
    places = {each.sequence: place for place, each in enumerate(releases_of(store, release.line))}
    for each in measures:
        if places[each.against.sequence] < places[previous.sequence]:
            verdicts = ask(each.against, previous), ask(previous, release), ask(each.against, release)
            yield from _of_three((each.against, previous, release), verdicts, told)
    yield from _nameless(release, measures)
    yield from lacks(asked, departures, lambda old, new: _compared(ask(old, new)))


def _nameless(release: Release, measures: Sequence[Measure]) -> Iterator[str]:
    """That no earlier release stands for the programs of a library without SONAME."""
    if release.soname is None and not any(role.role == "file_name" for each in measures for role in each.roles):
        name = release.recorded_name or "which is not known"
        yield f"{release.version} has no SONAME: programs record its file name, {name}, which no earlier release has"


def returned_by(store: Store, release: Release) -> list[ReturnedExport]:
    """The exports that a release has again."""
    every = store.returned_exports(release.line, releases_of(store, release.line))
    return [each for each in every if each.back.sequence == release.sequence]


def _of_three(
    releases: tuple[Release, Release, Release], verdicts: tuple[StoredVerdict | str, ...], told: Collection[Name]
) -> Iterator[str]:
    base, middle, last = releases
    first, step, whole = map(_compared, verdicts)
    if first is None or step is None or whole is None:
        return
    steps = max(first.verdict, step.verdict)
    unseen = broken_names(whole.findings) - broken_names(first.findings) - broken_names(step.findings)
    if whole.verdict >= Verdict.API_BREAK and whole.verdict > steps:
        why = _unseen_because(base, middle, last)
        yield f"{whole_breaks((base.version, last.version), whole.verdict, steps)}: {_spelled(unseen, whole)}{why}"
    elif unseen:
        yield (
            f"{last.version} breaks {_spelled(unseen, whole)} for programs built against {base.version}, and neither "
            f"{base.version} -> {middle.version} nor {middle.version} -> {last.version} does"
        )
    restored = broken_names(first.findings, shown_by(middle, last)) - broken_names(whole.findings) - set(told)
    if restored:
        what = _spelled(restored, first)
        yield restores(what, middle.version, (base.version, last.version))


def _compared(given: StoredVerdict | str) -> Comparison | None:
    return None if isinstance(given, str) else given.comparison


def _unseen_because(base: Release, middle: Release, last: Release) -> str:
    """Why a step shows nothing, where the release between shows less than both others."""
    gap = evidence_gap(base.evidence, middle.evidence) and evidence_gap(middle.evidence, last.evidence)
    return f" ({middle.version} shows less than both: {gap})" if gap else ""


def _spelled(names: Collection[Name], comparison: Comparison) -> str:
    """Some names as a programmer calls them: those of the findings themselves before those of consequences."""
    own = [each.name for each in comparison.findings if each.name in names]
    return listed([named(each.spelling) for each in dict.fromkeys(own or sorted(names))])


MOST_JUDGED = 500_000
"""Releases of so many declarations are judged for what they broke of the one before, where no verdict is stored."""

Keep: TypeAlias = Callable[[StoredVerdict], None]
"""What stores a verdict that was given now."""


def ledger_of(
    store: Store,
    release: Release,
    by: Ruling | None = None,
    *,
    keep: Keep | None = None,
    today: date | None = None,
    deprecation: DeprecationWindow | None = None,
) -> Ledger:
    """A release compared with every baseline: the previous release, the first with its SONAME, and each channel.

    Also with each release just before a break that these baselines miss. Stored verdicts are used again; new ones are
    passed to ``keep``. ``today`` decides which approvals apply, and ``deprecation`` how long a removed declaration must
    have been deprecated.
    """
    rule = rule_for(store, names_for(release.line.library, release.soname))
    by = ruled(rule, by, today)
    asked = PairJudge(store, by, keep)
    earlier = before(store, release)
    moves = [move for move in store.baseline_history(release.line.library) if move.line == release.line]
    most = steps_at_once(release.declarations, MOST_JUDGED)
    steps = StepJudge(store, release.line, by, most=most, keep=keep)
    measures = measures_of(release, earlier, moves)
    sought = AskedRelease(release, [each.against for each in measures], cache(partial(asked.broken, release, measures)))
    departures = DepartureFinder(store.walk(), (*earlier, release), steps).before(sought)
    left = (each for each in last_with(departures.found) if _is_needed(departures, asked(each, release), each, sought))
    found = [*measures, *(Measure(each, (BaselineRole("last_with"),)) for each in left)]
    terms = (release, day(today)), deprecation, rule
    standings = tuple(_standing(asked, each, *terms) for each in found)
    if rule is not None and rule.since_soname:
        known = {each.against for each in standings}
        kept = earlier_of_soname(store, release.line, release.version, release.soname, release)
        bound = (
            _standing(asked, Measure(each, (BaselineRole("bound"),)), *terms) for each in kept if each not in known
        )
        standings += tuple(each for each in bound if each.decision.exit_code)
    return Ledger(
        release,
        standings,
        worst_of(each.verdict for each in standings if each.supported),
        _decisive(release, standings, rule),
        (*remarks(store, sought, measures, departures, asked), *_unjudged(release, steps)),
        standing_here(release, moves),
    )


def _decisive(release: Release, standings: Sequence[Standing], rule: BoundRule | None) -> Decision:
    """The decision that asks most of a release; that about a first one where no supported baseline is there."""
    asked = [each.decision for each in standings if each.supported or each.roles == (BaselineRole("bound"),)]
    if asked:
        return worst_decision(asked)
    return first_decision(release, rule)


class PairJudge:
    """Verdicts about pairs of stored releases: remembered ones, or given now and kept. Each is looked for once."""

    def __init__(self, store: Store, by: Ruling | None, keep: Keep | None = None) -> None:
        self.store = store
        self.by = by
        self._keep = keep
        self._given: dict[tuple[Release, Release], StoredVerdict | str] = {}

    def __call__(self, old: Release, new: Release) -> StoredVerdict | str:
        """The verdict, or why there is none."""
        pair = old, new
        if pair not in self._given:
            found = self.store.find_verdict(old, new, key_of(self.by, old, new), str(ENGINE))
            self._given[pair] = found or self._judged(old, new)
        return self._given[pair]

    def broken(self, release: Release, measures: Sequence[Measure]) -> Broken:
        """What a release breaks of those that are supported, each name with the worst impact."""
        found: dict[Name, Impact] = {}
        for each in measures:
            given = self(each.against, release) if each.supported else ""
            for name, impact in broken_by(given.comparison).items() if not isinstance(given, str) else ():
                found[name] = max(impact, found.get(name, impact))
        return found

    def forget(self) -> None:
        """Let go of what was given: a long history has more than memory holds."""
        self._given.clear()

    def _judged(self, old: Release, new: Release) -> StoredVerdict | str:
        try:
            before, after = self.store.load_many([old, new])
            given = given_now(old, new, *concluded(before, after, self.by))
        except (InputError, Incomparable, DamagedStore) as error:
            return error.message
        if self._keep:
            self._keep(given)
        return given


def _is_needed(departures: Departures, given: StoredVerdict | str, last: Release, sought: AskedRelease) -> bool:
    """Whether the asked release breaks what departed with ``last``, as far as anybody can tell."""
    return isinstance(given, str) or bool(needed(departures.found, last, given.comparison, sought.known()))


def _unjudged(release: Release, steps: StepJudge) -> Iterator[str]:
    if steps.left:
        judges = f"`abistore history {release.line.library}` judges them"
        yield f"{counted(len(steps.left), 'step')} between earlier releases not judged: {judges}"


def _standing(
    asked: PairJudge,
    measure: Measure,
    at: tuple[Release, date],
    deprecation: DeprecationWindow | None,
    rule: BoundRule | None,
) -> Standing:
    (release, today), old, store = at, measure.against, asked.store
    given = asked(old, release)
    approvals = of_library(store.approvals(), release.line.library)
    decisions = StoredDecisions(store, approvals, today, deprecation, rule)
    found = given if isinstance(given, str) else store.summary_of(given)
    whole = None if isinstance(given, str) else given
    asked_as = _words(measure.roles, old)
    decision = best_decision(decisions.beside(old, release, found, lambda: whole, each) for each in asked_as)
    if isinstance(found, str):
        return Standing(measure.roles, old, None, decision, found, measure.supported)
    gap = evidence_gap(old.evidence, release.evidence)
    return Standing(measure.roles, old, found, decision, supported=measure.supported, evidence_gap=gap)


def _words(roles: Sequence[BaselineRole], old: Release) -> Sequence[str | None]:
    """What ``verdict --against`` names the baseline by: the channels there, else the previous one, or a version.

    What passes at one channel may ship there.
    """
    if channels := [each.channel for each in roles if each.channel is not None]:
        return [f"baseline:{channel}" for channel in channels]
    return [None if roles[0].role == "previous" else old.version]


def differences(store: Store, releases: Sequence[Release]) -> tuple[LineDifference, ...]:
    """Exports that only some lines of a library have, sorted.

    Names are compared without parameters: ``size_t`` is spelled ``m`` in symbols on one machine and ``j`` on another.
    """
    found: list[LineDifference] = []
    by_library = sorted(releases, key=lambda each: each.line)
    for library, group in groupby(by_library, key=lambda each: each.line.library):
        lines = {each.line: _exports(store, each) for each in group}
        if len(lines) > 1:
            found.extend(_between(library, lines))
    return tuple(found)


def _between(library: str, lines: dict[LineKey, dict[str, list[str]]]) -> Iterator[LineDifference]:
    for name in sorted({name for exports in lines.values() for name in exports}):
        having = tuple(line for line, exports in lines.items() if name in exports)
        if len(having) < len(lines):
            symbols = sorted({symbol for line in having for symbol in lines[line][name]})
            lacking = tuple(line for line in lines if line not in having)
            yield LineDifference(library, name, tuple(symbols), having, lacking)


def _exports(store: Store, release: Release) -> dict[str, list[str]]:
    """The exported symbols of a release by the name that a programmer gives them, without parameters."""
    with limits_for(release.declarations << 10, f"reading the exports of {release.reference}"):
        entries = store.load(release).entries.get("symbol", {})
        found: dict[str, list[str]] = {}
        for name in sorted(each for each in entries if each.kind in EXPORTS):
            found.setdefault(called(name.spelling), []).append(name.spelling)
        return found


def called(symbol: str) -> str:
    """A symbol as it is called on every machine: demangled, and without its parameters.

    ``geo::area`` of ``_ZN3geo4areaEm`` and of ``_ZN3geo4areaEj``; ``area`` of a C function.
    """
    text = demangle(symbol)
    if text == symbol:
        return symbol
    depth = 0
    for at, letter in enumerate(text):
        if letter == "<":
            depth += 1
        elif letter == ">":
            depth -= 1
        elif letter == "(" and depth == 0 and at and not text.startswith("(anonymous", at):
            if text.endswith("operator", 0, at):
                continue
            return text[:at]
    return text


class LinesAtVersion(NamedTuple):
    """The lines of some libraries, each with its release of one version; ``None`` is a hole.

    ``why`` says of each hole since when, or until when, the line has releases.
    """

    library: str
    version: str
    keys: tuple[LineKey, ...]
    releases: tuple[Release | None, ...]
    why: tuple[str, ...]


def lines_at(store: Store, reference: str, target: str | None = None, profile: str | None = None) -> LinesAtVersion:
    """The lines that a library, or ``library@version``, means: by default its latest version over all lines.

    Libraries that came in one package or folder with this version, or with the one before it in a line, belong to it.
    Raises :class:`SnapshotNotFound`.
    """
    library, _, version = reference.partition("@")
    keys = lines_of(store, library, target, profile)
    ordered = {key: releases_of(store, key) for key in keys}
    if version in {"", "latest"}:
        version = _latest(store, library, ordered)
    elif not any(each.version == version for releases in ordered.values() for each in releases):
        found = store.resolve(reference, target=line_target(store, target), profile=profile)
        version = found.version
    names = sorted({library, *_companions(store, ordered, version)})
    for name in names[:]:
        if name != library:
            ordered |= {key: releases_of(store, key) for key in lines_of(store, name, target, profile)}
    every = tuple(sorted(ordered))
    releases = tuple(next((each for each in ordered[key] if each.version == version), None) for key in every)
    why = tuple("" if found else _hole(ordered[key], version) for key, found in zip(every, releases, strict=True))
    return LinesAtVersion(library, version, every, releases, why)


def _latest(store: Store, library: str, ordered: dict[LineKey, tuple[Release, ...]]) -> str:
    ends = [store.foremost(each)[-1] for each in ordered.values() if each]
    if not ends:
        raise SnapshotNotFound(f"{library} has no releases yet, only candidates", f"`abistore list {library}`")
    scheme = store.scheme(library)
    return max(ends, key=lambda each: position(each.version, each.sequence, scheme)).version


def _hole(releases: Sequence[Release], version: str) -> str:
    if not releases:
        return "has candidates only"
    if len(releases) == 1:
        return f"no release {version}: its only release is {releases[0].version}"
    return f"no release {version}: its releases are {releases[0].version} to {releases[-1].version}"


def _companions(store: Store, ordered: dict[LineKey, tuple[Release, ...]], version: str) -> Iterator[str]:
    """The libraries that came in a package with this version of a line, or with the release before it."""
    for key, releases in ordered.items():
        at = next((place for place, each in enumerate(releases) if each.version == version), None)
        near = releases[-1:] if at is None else releases[max(0, at - 1) : at + 1]
        for each in near:
            package = each.provenance.package
            if isinstance(package, PackageRead) and package.sha256 and package.libraries > 1:
                yield from (one.line.library for one in store.of_package(package.sha256, each.version, key.profile))


def folded(
    store: Store,
    meant: LinesAtVersion,
    by: Ruling | None = None,
    *,
    keep: Keep | None = None,
    today: date | None = None,
    deprecation: DeprecationWindow | None = None,
) -> FoldedRelease:
    """The lines of a version with their ledgers, folded: the worst verdict, and nothing compatible beside a hole."""
    ledger = partial(ledger_of, store, by=by, keep=keep, today=today, deprecation=deprecation)
    rows = tuple(
        LineOfRelease(key, ledger(found) if found else None, why)
        for key, found, why in zip(meant.keys, meant.releases, meant.why, strict=True)
    )
    holes = sum(row.ledger is None for row in rows)
    begun = [row for row in rows if row.ledger is None or row.ledger.standings]  # a new line has no users to break
    verdicts = [row.ledger.worst if row.ledger else None for row in begun]
    return FoldedRelease(
        meant.library,
        meant.version,
        tuple(sorted({key.library for key in meant.keys})),
        rows,
        worst_of(verdicts),
        *outcome_over((row.ledger.decision for row in rows if row.ledger), holes),
        holes,
        differences(store, [found for found in meant.releases if found is not None]),
        tuple(_remarks(rows, holes)),
    )


def _remarks(rows: Sequence[LineOfRelease], holes: int) -> Iterator[str]:
    """Sentences about several lines: those that break and those that do not, and holes."""
    known = {row.line: row.ledger.worst for row in rows if row.ledger and row.ledger.worst is not None}
    if len(set(known.values())) > 1:
        parts = ", ".join(f"{verdict.name} on {_line(line, rows)}" for line, verdict in known.items())
        yield f"the lines differ: {parts}"
    if holes:
        yield f"{of_all(holes, len(rows), 'line')} missing: nothing is known to be compatible there"


def _line(line: LineKey, rows: Sequence[LineOfRelease]) -> str:
    several = len({row.line.library for row in rows}) > 1
    profiles = len({row.line.profile for row in rows}) > 1
    return " ".join(filter(None, (line.library if several else "", line.target, line.profile if profiles else "")))


def ledger(
    reference: str,
    *,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
    by: Ruling | None = None,
    today: date | None = None,
    deprecation: DeprecationWindow | None = None,
) -> tuple[Ledger, ...]:
    """Where a release stands, or the latest one of a library: against all baselines that it is measured by.

    ``deprecation`` says for how long what a release removes must have been deprecated. A library with several lines
    gives one answer each, and each tells the lines that lack this version. Verdicts that are missing are given now and
    stored. Raises :class:`SnapshotNotFound`.
    """
    with using(database) as store, VerdictKeeper(database) as keeper, with_cycle_collection():
        meant = lines_at(store, reference, target, profile)
        releases = [each for each in meant.releases if each is not None]
        stands = partial(ledger_of, store, by=by, keep=keeper.keep, today=today, deprecation=deprecation)
        if not releases:
            return (stands(in_line(store, reference, target, profile)[0]),)
        missing = tuple(
            MissingLine(key, why)
            for key, found, why in zip(meant.keys, meant.releases, meant.why, strict=True)
            if not found
        )
        return tuple(replace(stands(each), missing=missing) for each in releases)


def lines_of_release(
    reference: str,
    *,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
    by: Ruling | None = None,
    today: date | None = None,
) -> FoldedRelease:
    """All lines of a version of a library, and of the libraries that came with it in one package: one verdict.

    A line without such a release is a hole, and then nothing is called compatible. Raises :class:`SnapshotNotFound`.
    """
    with using(database) as store, VerdictKeeper(database) as keeper, with_cycle_collection():
        target = line_target(store, target)
        return folded(store, lines_at(store, reference, target, profile), by, keep=keeper.keep, today=today)


def evaluate(
    library: str,
    by: Ruling,
    *,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
    progress: Progress | None = None,
) -> tuple[Evaluation, ...]:
    """Each line of a library, judged by a ruling beside the strict policy: the verdicts that move, and why.

    No binary is read. The verdicts by the ruling are stored in rows of their own. Raises :class:`SnapshotNotFound`.
    """
    if by is None:
        raise UsageError("nothing to evaluate by", "give a policy or suppressions")
    with using(database) as store, VerdictKeeper(database) as keeper, with_cycle_collection():
        judges = PairJudge(store, None, keeper.keep), PairJudge(store, by, keeper.keep)
        keys = lines_of(store, library, target, profile)
        return tuple(_evaluated(store, key, judges, progress) for key in keys)


Judges: TypeAlias = tuple[PairJudge, PairJudge]
"""What judges by the strict policy, and by the other one."""


def _evaluated(store: Store, key: LineKey, judges: Judges, progress: Progress | None) -> Evaluation:
    pairs, unjudged = 0, list[str]()
    moved = list[MovedVerdict]()
    releases = releases_of(store, key)
    moves = [move for move in store.baseline_history(key.library) if move.line == key]
    steps = StepJudge(store, key, None, most=steps_at_once(max(each.declarations for each in releases), MOST_JUDGED))
    finder = DepartureFinder(store.walk(), releases, steps)
    for place, release in enumerate(releases):
        if progress:
            progress(f"{key.library} {release.version}", place / len(releases))
        for measure in _measures(finder, release, measures_of(release, releases[:place], moves), judges[0]):
            pairs += 1
            found = _beside(judges, measure.against, release)
            if isinstance(found, str):
                unjudged.append(f"{release.version} against {measure.against.version}: {found}")
            elif found.before is not found.after or found.findings:
                moved.append(msgspec.structs.replace(found, roles=measure.roles))
    by = judges[1].by
    assert by is not None
    return Evaluation(key, by.policy.name, pairs, tuple(moved), by.suppressions.files, tuple(unjudged))


def _measures(
    finder: DepartureFinder, release: Release, measures: Sequence[Measure], strict: PairJudge
) -> Iterator[Measure]:
    """The measures of a release, and the last releases before breaks that these do not show."""
    yield from measures
    covered = [each.against for each in measures]
    gone = finder.before(AskedRelease(release, covered, partial(strict.broken, release, measures))).found
    yield from (Measure(each, (BaselineRole("last_with"),)) for each in last_with(gone))


def _beside(judges: Judges, old: Release, new: Release) -> MovedVerdict | str:
    before, after = (judge(old, new) for judge in judges)
    for judge in judges:
        judge.forget()
    if isinstance(before, str) or isinstance(after, str):
        return before if isinstance(before, str) else str(after)
    return MovedVerdict(
        (),
        old.version,
        new.version,
        before.comparison.verdict,
        after.comparison.verdict,
        tuple(_moved(before, after)),
    )


def _moved(before: StoredVerdict, after: StoredVerdict) -> Iterator[MovedFinding]:
    first, last = (_counted(each.comparison) for each in (before, after))
    for called in sorted(first.keys() | last.keys()):
        was, now = first.get(called), last.get(called)
        finding, impacts = (now or was), (_impact(was), _impact(now))
        if finding is not None and impacts[0] != impacts[1]:
            reason = (now.reason or now.suppressed_by) if now is not None else ""
            yield MovedFinding(called, finding.kind, finding.name.spelling, finding.part, *impacts, reason or "")


def _counted(comparison: Comparison) -> dict[str, Finding]:
    """All findings by their identity; suppressed ones too, which say by what."""
    return dict(identified((*comparison.findings, *comparison.suppressed)))


def _impact(finding: Finding | None) -> str:
    if finding is None:
        return ""
    return "suppressed" if finding.suppressed_by else finding.impact.name.lower()
