"""Judging builds of a pipeline, which are not stored: against a channel, the merge base, and as the next release."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from abistore.errors import (
    AbistoreError,
    DamagedStore,
    Incomparable,
    NotVerified,
    RuleBound,
    SnapshotNotFound,
    SurfaceDiffers,
    Unsigned,
    UsageError,
)
from abistore.limits import limits_for
from abistore.model.decision import FOR_SCHEME
from abistore.model.findings import FailOn
from abistore.model.history import DEFAULT_CHANNEL, Progress, Release
from abistore.model.labels import Given, check_not_blank
from abistore.model.words import counted
from abistore.report.model import Report, ReportedFinding, every, fails
from abistore.report.outline import parts_of_report, verdict
from abistore.service import verdicts
from abistore.service.administration import check_contents
from abistore.service.binding import names_for, rule_for, ruled
from abistore.service.comparing import compare
from abistore.service.consumer_verdicts import JudgedConsumer, consumers_broken, hurt_first, judged_consumer, with_moved
from abistore.service.consumers import ReleaseNeeds, consumers_of, names_of, with_consumers
from abistore.service.database import Database, using
from abistore.service.decision import DecisionRequest, decided
from abistore.service.ingest import ingest
from abistore.service.ingest_gates import AS_IT_SAYS, Gate, Ingested, IngestPlan
from abistore.service.judging import judge, usual
from abistore.service.signatures import Trust, signer_of
from abistore.service.snapshots import ExtractOptions, OperandPair, Selection, capture, is_path, is_reference, operands
from abistore.service.surface import SurfaceCheck, check_surface
from abistore.service.verdicts import judged

if TYPE_CHECKING:
    from abistore.model.rules import BoundRule
    from abistore.service.ruling import Ruling
    from abistore.store.store import Store

SHORTEST = 7
"""A revision is named by so many of its first digits at least, as git shows them."""


class Inherited(NamedTuple):
    """The ids of what the merge base has against the baseline; ``untold`` says why they are not known.

    Of each finding they are its id, and those of all that it covers and causes, each by itself.
    """

    findings: frozenset[str] = frozenset()
    untold: str = ""


def merge_base(store: Store, report: Report, profile: str | None, named: str) -> Release:
    """The stored build of a revision, or of a version, in the line that a report is about; candidates count too.

    Of several builds of one revision the last one is meant. Raises :class:`SnapshotNotFound`, where several revisions
    begin so, too: a build of another one would tell what stood before.
    """
    side = report.new
    kept = (*store.releases(side.library, side.target, profile), *store.candidates(side.library, side.target, profile))
    found = [each for each in kept if _is_of(each, named)]
    if not found:
        raise SnapshotNotFound(
            f"{side.library}: no build of the merge base {named} is stored",
            "ingest each build of the main branch with --revision, or omit --merge-base",
        )
    exact = [each for each in found if named in (each.version, each.revision)]
    several = sorted({each.revision or each.version for each in found})
    if not exact and len(several) > 1:
        raise SnapshotNotFound(
            f"{side.library}: builds of several revisions begin with {named}: {', '.join(several[:3])}",
            "pass --merge-base with all digits",
        )
    return max(exact or found, key=lambda each: each.sequence)


def inherited(store: Store, base: Release, report: Report, profile: str | None, by: Ruling | None) -> Inherited:
    """What ``base`` already broke of the release that ``report`` judges against."""
    try:
        return _known(_changes_at(store, base, report, profile, by))
    except AbistoreError as error:
        return Inherited(untold=error.message)


def _known(changes: Sequence[ReportedFinding]) -> Inherited:
    return Inherited(frozenset(one for each in every(changes) for one in (each.id, *parts_of_report(each))))


def _changes_at(
    store: Store, base: Release, report: Report, profile: str | None, by: Ruling | None
) -> tuple[ReportedFinding, ...]:
    """The findings of ``base`` beside the old side of a report. Raises :class:`AbistoreError` where none can be."""
    side = report.old
    olds = [each for each in store.releases(side.library, side.target, profile) if each.digest == side.digest]
    if not olds:
        raise SnapshotNotFound(f"{side.library} {side.version} is no longer stored", "")
    old = next((each for each in olds if each.version == side.version), olds[-1])
    return () if old == base else judged(store, old, base, by=by).report.changes


def introduced(report: Report, before: Inherited) -> tuple[ReportedFinding, ...]:
    """The findings of a report that the merge base did not have, or not all that they cover."""
    return tuple(each for each in report.changes if not _stood(each, before))


class Novelty(msgspec.Struct, frozen=True):
    """Two comparisons with one old side, beside each other: ids of findings that are ``new``, and findings now gone.

    ``beside`` is what the earlier one is about.
    """

    beside: str
    new: frozenset[str]
    gone: tuple[ReportedFinding, ...]


def beside_comparison(report: Report, earlier: Report) -> Novelty:
    """What a report has that an earlier one had not, as of two rounds of one pull request, and the reverse."""
    return _beside(report, earlier.changes, str(earlier.new))


def beside_build(
    report: Report, named: str, *, profile: str | None = None, by: Ruling | None = None, database: Database = None
) -> Novelty:
    """The same beside a stored build: ``named`` is its version, its revision, or ``baseline``.

    Raises :class:`SnapshotNotFound` where it, or the old side of the report, is not stored.
    """
    check_not_blank("the profile", profile)
    with using(database) as store, store.reading():
        by = ruled(rule_for(store, names_for(report.new.library, report.new.soname)), by)
        if named == "baseline":
            base = store.resolve(f"{report.new.library}@baseline", target=report.new.target, profile=profile)
        else:
            base = merge_base(store, report, profile, named)
        return _beside(report, _changes_at(store, base, report, profile, by), base.reference)


def _beside(report: Report, earlier: Sequence[ReportedFinding], label: str) -> Novelty:
    new = frozenset(each.id for each in introduced(report, _known(earlier)))
    now = _known(report.changes)
    return Novelty(label, new, tuple(each for each in earlier if not _stood(each, now)))


def _stood(finding: ReportedFinding, before: Inherited) -> bool:
    if finding.id in before.findings:
        return True
    is_further = "-" in finding.id  # one more of the same identity
    return not is_further and parts_of_report(finding) <= before.findings


def _is_of(release: Release, named: str) -> bool:
    revision = release.revision or ""
    return named == release.version or named == revision or (len(named) >= SHORTEST and revision.startswith(named))


BREAKS = frozenset({"breaking", "api_break"})


def sentence(judged: Ingested, channel: str, told: tuple[Sequence[str], Sequence[str]] = ((), ())) -> str:
    """The decision, what was compared, and what the change brought: ``FAIL: ...; this change adds 1 of 2 breaks``.

    ``told`` are the findings that fail: those that the change brought, and those that existed before.
    """
    report, (introduced, inherited) = judged.verdict, told
    if report is None or report.decision is None:
        headline = f"{judged.decision.headline}; " if judged.decision is not None else ""
        first = judged.error or f"{headline}not judged: {judged.unjudged}"
        return first if first.startswith(f"{judged.path}: ") else f"{judged.path}: {first}"
    compared = f"{report.new} compared with {report.old} ({channel}): {verdict(report)}"
    said = "; ".join(filter(None, (report.decision.headline, compared, ruled_out(report))))
    if introduced and inherited:
        return f"{said}; this change adds {len(introduced)} of {len(introduced) + len(inherited)} breaks"
    if introduced:
        return f"{said}; introduced by this change"
    return f"{said}; not introduced by this change" if inherited else said


def ruled_out(report: Report) -> str:
    """The breaks that a suppression or the policy keeps from failing: "2 breaks are suppressed by known.yaml"."""
    suppressed = sum(each.impact in BREAKS for each in report.suppressed)
    milder = sum(each.default_impact in BREAKS and each.impact not in BREAKS for each in report.changes)
    files = ", ".join(each.name for each in report.suppression_files)
    said = ((suppressed, f"suppressed by {files}"), (milder, f"no break by policy {report.policy}"))
    return "; ".join(
        f"{counted(count, 'break')} {'is' if count == 1 else 'are'} {what}" for count, what in said if count
    )


class GatePlan(Given, frozen=True):
    """What a pipeline asks: ``files`` says how files are read and by what they are judged.

    ``channel`` is the baseline that they are judged against. ``merge_base`` names the source revision, or the version,
    that the change was made from. With ``introduced_only`` what stood there already does not fail the gate. Without a
    baseline the gate fails, unless ``bootstrap`` says that this is the first build; a line that ever had a baseline is
    refused then (:class:`BaselineLost`). ``surface`` is a reviewed file that the build's public surface must equal.
    With ``trust``, the baseline must have a tag that a trusted key signed.
    """

    files: IngestPlan = AS_IT_SAYS
    channel: str = DEFAULT_CHANNEL
    merge_base: str | None = None
    introduced_only: bool = False
    bootstrap: bool = False
    surface: Path | None = None
    trust: Trust | None = None


class GateResult(msgspec.Struct, frozen=True):
    """What a gate says of one file, in one ``sentence``, and the ``ways`` to make it pass.

    ``judged`` is what an ingest would do. ``merge_base`` is the stored build that the change was made from; where it is
    known, ``introduced`` and ``inherited`` are the ids of the findings that would fail, by whether the change brought
    them. ``untold`` says why the two are not told apart. ``surface`` compares the build with a reviewed file.
    """

    judged: Ingested
    exit_code: int
    sentence: str
    merge_base: str = ""
    introduced: tuple[str, ...] = ()
    inherited: tuple[str, ...] = ()
    untold: str = ""
    ways: tuple[str, ...] = ()
    surface: SurfaceCheck | None = None


class SinceMergeBase(msgspec.Struct, frozen=True):
    """What a change brought: the ids of the findings that fail, as in :class:`GateResult`."""

    merge_base: str = ""
    introduced: tuple[str, ...] = ()
    inherited: tuple[str, ...] = ()
    untold: str = ""


USUAL = GatePlan()

JUDGED = "a gate judges only"

FIRST_INGEST = ": --set-baseline-if-none"
"""What an ingest hints at for the first build of a line; a gate sets no baseline."""


def gate(
    paths: str | Path | Sequence[str | Path],
    plan: GatePlan = USUAL,
    *,
    database: Database = None,
    progress: Progress | None = None,
) -> tuple[GateResult, ...]:
    """Say of each file whether it may be merged and released. Nothing is stored.

    It is judged against the release at ``plan.channel``, as :func:`ingest` would with ``against``. Raises
    :class:`UsageError` where the call is wrong.
    """
    against = msgspec.structs.replace(
        plan.files.gate,
        against=f"baseline:{plan.channel}",
        channel=plan.channel if plan.bootstrap else None,
        if_unset=plan.bootstrap,
        bootstrap=plan.bootstrap,
    )
    # a build may have the label of a stored one, as a second build of a tag has: nothing is replaced here
    files = msgspec.structs.replace(plan.files, gate=against, dry_run=True, replace=True, replace_baseline=JUDGED)
    if plan.surface is not None and not isinstance(paths, str | Path) and len(paths) != 1:
        raise UsageError("--surface is about one build", "name one FILE")
    results = ingest(paths, files, database=database, progress=progress)
    with using(database) as store:
        found = tuple(_signed(store, _result(store, each, plan), plan.trust) for each in results)
    return found if plan.surface is None else tuple(_with_surface(each, plan, plan.surface) for each in found)


def _signed(store: Store, result: GateResult, trust: Trust | None) -> GateResult:
    """The result, which fails if the baseline that it compares with is not signed by a trusted key."""
    report = result.judged.verdict
    if trust is None or report is None:
        return result
    try:
        _check_signed(store, report, trust)
    except (NotVerified, DamagedStore) as error:
        told = {"code": error.code, "error": error.message, "hint": error.hint, "exit_code": error.exit_code}
        judged = msgspec.structs.replace(result.judged, status="failed", **told)
        return GateResult(judged, error.exit_code, f"FAIL: the baseline does not count: {error.message}")
    return result


def _check_signed(store: Store, report: Report, trust: Trust) -> None:
    if report.libraries:
        several = "the baselines of a package with several libraries are not checked for signatures"
        raise Unsigned(several, "gate each library by itself: --only LIBRARY")
    old = report.old
    profile = report.decision.profile if report.decision is not None else None
    known = store.releases(old.library, old.target, profile or None)
    found = [each for each in known if (each.version, each.digest) == (old.version, old.digest)]
    if not found:
        raise Unsigned(f"{old.library} {old.version}: the release is no longer stored")
    for release in found:
        signer_of(release, trust)
        check_contents(store, release)


def _with_surface(result: GateResult, plan: GatePlan, file: Path) -> GateResult:
    """The result, which fails if its build has another surface than ``file``; what failed before keeps its code."""
    if result.judged.code and result.judged.verdict is None:
        return result
    options = msgspec.structs.replace(plan.files.options, library=plan.files.library, version=plan.files.version)
    selection = Selection(plan.files.target, plan.files.profile, options)
    found = check_surface(Path(result.judged.path), file, selection=selection)
    result = msgspec.structs.replace(result, surface=found)
    if found.state == "same" or result.exit_code:
        return result
    what = "does not exist" if found.state == "missing" else "is not the public surface of this build"
    error = SurfaceDiffers(f"{found.file}: {what}", f"review the difference, and write it with `{found.refresh}`")
    told = {"code": error.code, "error": error.message, "hint": error.hint, "exit_code": error.exit_code}
    judged = msgspec.structs.replace(result.judged, status="failed", **told)
    said = f"FAIL: {error.message}; {result.sentence.removeprefix('PASS: ')}"
    return msgspec.structs.replace(result, judged=judged, exit_code=error.exit_code, sentence=said)


def _result(store: Store, judged: Ingested, plan: GatePlan) -> GateResult:
    report = judged.verdict
    if FIRST_INGEST in judged.hint:
        judged = msgspec.structs.replace(judged, hint=f"{judged.hint.partition(FIRST_INGEST)[0]}: --bootstrap")
    if report is None or report.decision is None:
        return GateResult(judged, judged.exit_code, sentence(judged, plan.channel))
    since = _since(store, report, plan) if plan.merge_base is not None else SinceMergeBase()
    told = since.introduced, since.inherited
    if plan.introduced_only and (rule := rule_for(store, names_for(report.new.library, report.new.soname))):
        return _refused_by(rule, judged)
    if plan.introduced_only and since.inherited:
        asked = DecisionRequest(
            *("baseline", plan.channel, plan.files.gate.fail_on),
            require=plan.files.gate.required,
            allow=FOR_SCHEME,
            inherited=frozenset(since.inherited),
            profile=report.decision.profile,
            promise=report.decision.promise,
        )
        report = decided(report, asked)
        judged = msgspec.structs.replace(judged, verdict=report, exit_code=report.exit_code)
    assert report.decision is not None
    return GateResult(
        judged,
        judged.exit_code,
        sentence(judged, plan.channel, told),
        since.merge_base,
        *told,
        untold=since.untold,
        ways=tuple(each.sentence for each in report.decision.ways),
    )


def _refused_by(rule: BoundRule, judged: Ingested) -> GateResult:
    """What a gate says that is asked to pass over breaks of before, where the store does not let it."""
    error = RuleBound(f"--introduced-only does not apply: {rule.sentence}", "leave it out: every break counts")
    told = {"code": error.code, "error": error.message, "hint": error.hint, "exit_code": error.exit_code}
    failed = msgspec.structs.replace(judged, status="failed", **told)
    return GateResult(failed, error.exit_code, f"{judged.path}: {error.message}")


def since_merge_base(
    report: Report,
    merge_base: str,
    *,
    profile: str | None = None,
    by: Ruling | None = None,
    database: Database = None,
) -> SinceMergeBase:
    """Tell what fails in a gated report by whether it stood at ``merge_base`` already: a revision, or a version."""
    with using(database) as store:
        plan = GatePlan(IngestPlan(profile=profile, gate=Gate(by=by)), merge_base=merge_base)
        return _since(store, report, plan)


def _since(store: Store, report: Report, plan: GatePlan) -> SinceMergeBase:
    base, before = _before(store, report, plan)
    if before.untold:
        return SinceMergeBase(base, untold=before.untold)
    new, failing = {each.id for each in introduced(report, before)}, _failing(report)
    brought, stood = (tuple(each.id for each in failing if (each.id in new) is word) for word in (True, False))
    return SinceMergeBase(base, brought, stood)


def _failing(report: Report) -> tuple[ReportedFinding, ...]:
    return tuple(each for each in report.changes if fails(report, each)) if report.exit_code else ()


def _before(store: Store, report: Report, plan: GatePlan) -> tuple[str, Inherited]:
    assert plan.merge_base is not None
    if report.libraries:
        return "", Inherited(untold="a package of several libraries is judged as a whole")
    try:
        base = merge_base(store, report, plan.files.profile, plan.merge_base)
    except SnapshotNotFound as error:
        return "", Inherited(untold=error.message)
    by = ruled(rule_for(store, names_for(report.new.library, report.new.soname)), plan.files.gate.by)
    return base.reference, inherited(store, base, report, plan.files.profile, by)


class BuildReviewPlan(Given, frozen=True):
    """What is asked about a build.

    ``library`` is the one whose baseline it is judged against, where the build does not tell; ``merge_base`` the
    revision, or the version, that the change was made from. With ``consumers``, each break has the stored programs that
    it hurts.
    """

    library: str | None = None
    merge_base: str | None = None
    consumers: bool = True
    fail_on: FailOn = "api_break"
    by: Ruling | None = None
    selection: Selection = Selection()


class ReviewedBuild(msgspec.Struct, frozen=True):
    """A build that was judged as a release; ``since`` tells what the change brought, where its merge base is named."""

    report: Report
    since: SinceMergeBase | None = None


AS_IT_IS = BuildReviewPlan()


def review_build(
    new: str | Path, old: str | Path | None = None, plan: BuildReviewPlan = AS_IT_IS, *, database: Database = None
) -> ReviewedBuild:
    """Judge a build, or a stored release, as the next release: beside ``old``, by default its library's baseline.

    ``old`` may be a version alone, which is then one of that library. What is approved does not fail, a release may
    break what its line lets it break, and no less evidence than the old side has is needed. Nothing is stored.
    Raises :class:`SnapshotNotFound`, :class:`InputError`, :class:`Incomparable`.
    """
    against = old_of(new, old, plan, database)
    report = compare(
        against,
        new,
        database=database,
        selection=plan.selection,
        fail_on=plan.fail_on,
        require=usual(str(against) if is_reference(against) else None, plan.fail_on),
        by=plan.by,
        allow="scheme",
        consumers=plan.consumers,
    )
    if plan.merge_base is None:
        return ReviewedBuild(report)
    profile = report.decision.profile if report.decision is not None else None
    since = since_merge_base(report, plan.merge_base, profile=profile or None, by=plan.by, database=database)
    return ReviewedBuild(report, since)


def old_of(new: str | Path, old: str | Path | None, plan: BuildReviewPlan, database: Database) -> str | Path:
    """What a build is judged against: a version alone is one of its library."""
    if old is None:
        return usual_old(new, plan, database)
    if is_reference(old) or is_path(old):
        return old
    return f"{plan.library or _library(new, plan.selection)}@{old}"


def usual_old(new: str | Path, plan: BuildReviewPlan, database: Database) -> str:
    """What a build is judged against: the baseline of its library; a stored release, as in its usual verdict."""
    if is_reference(new) and "@" in new:
        line = {"target": plan.selection.target, "profile": plan.selection.profile}
        meant = verdicts.usual_verdict(new, database=database, **line).meant
        if meant.word == "prev":
            return meant.reference
    return f"{plan.library or _library(new, plan.selection)}@baseline"


def _library(new: str | Path, selection: Selection) -> str:
    """The library that a build says it is; of a stored release the one that its reference names."""
    if is_reference(new):
        library, at, _ = new.partition("@")
        if at:
            return library
        raise UsageError(f"{new}: a digest does not select a baseline", "name the library, or the old side")
    options = ExtractOptions(layout=False, max_bytes=selection.options.max_bytes, only=selection.options.only)
    return capture(new, options=options, target=selection.target).library


class ConsumersOfBuild(msgspec.Struct, frozen=True):
    """What a build, or a stored release, means for the known programs of its library, those that break first.

    ``against`` is the other side of the ``report``, in which each break names the programs that it hurts; both are
    empty for the first release of a line.
    """

    label: str
    against: str
    consumers: tuple[JudgedConsumer, ...]
    report: Report | None = None


def consumers_of_build(
    new: str | Path, old: str | Path | None = None, plan: BuildReviewPlan = AS_IT_IS, *, database: Database = None
) -> ConsumersOfBuild:
    """Which stored programs break, and by what: each is checked for what it imports and was built with.

    What changed since ``old`` counts too, by default since the release before, and of a file since its library's
    baseline. Raises as :func:`review_build` does.
    """
    if is_reference(new):
        return _of_release(new, old, plan, database)
    with operands(database, plan.selection) as reader:
        pair = reader.pair(old_of(new, old, plan, database), new)
        if not isinstance(pair, OperandPair):
            raise Incomparable("a side holds several libraries", "choose one of them")
        return _of_file(reader.store, pair, plan)


def _of_release(new: str, old: str | Path | None, plan: BuildReviewPlan, database: Database) -> ConsumersOfBuild:
    if isinstance(old, Path):
        raise UsageError(
            "a stored release is judged against another one of its line", "name a release, or leave it out"
        )
    target, profile = plan.selection.target, plan.selection.profile
    found = consumers_broken(new, against=old, database=database, by=plan.by, target=target, profile=profile)
    meant, against = found.release.reference, found.against
    if not against:
        return ConsumersOfBuild(meant, "", found.consumers)
    judgement = verdicts.verdict(
        new, against=against, database=database, by=plan.by, consumers=True, target=target, profile=profile
    )
    return ConsumersOfBuild(meant, against, found.consumers, judgement.report)


def _of_file(store: Store, pair: OperandPair, plan: BuildReviewPlan) -> ConsumersOfBuild:
    sides = pair.old.snapshot, pair.new.snapshot
    new = sides[1]
    releases = store.releases(sides[0].library)
    sonames_known = (*(each.soname for each in releases), *(each.facts.name for each in sides if each.facts))
    sonames = {each for each in sonames_known if each}
    known = consumers_of(store, sides[0].library, str(new.target), sonames)
    with limits_for(new.weight, f"asking what {new.label} means for its consumers"):
        report = with_consumers(store, judge(*sides, plan.by), sides)
        ever = store.ever_named(pair.old.release.line) if pair.old.release else ()
        needs = ReleaseNeeds(new, sonames, {*ever, *(name for side in sides for name in names_of(side))})
        breaks = [each for each in report.changes if each.impact == "breaking"]
        found = [judged_consumer(each, needs, breaks, True, sides[0]) for each in known]
        found = with_moved(store, found, known, new)
    return ConsumersOfBuild(new.label, sides[0].label, hurt_first(found), report)
