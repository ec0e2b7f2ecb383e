"""Comparing two snapshots and judging the difference, and the evidence that a gate requires.

What maintainers state of their packages: what does not work beside a release, and which exports are optional.

It is shown beside findings, and no verdict depends on it: a break is accepted by an approval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec
from msgspec.structs import replace

from abistore.errors import EvidenceMissing, UsageError
from abistore.limits import limits_for
from abistore.model.bump import FOR_SCHEME, AllowPlan, Bump, OldAndNew, bump
from abistore.model.declarations import EXPORTS, FACETS, Declared, Facet, Name
from abistore.model.findings import (
    CLASS_PERHAPS_NOT_DESCRIBED,
    EXPORT_NOT_DESCRIBED,
    HEADERS_DISAGREE,
    HEADERS_NOT_GIVEN,
    HEADERS_READ_DIFFERENTLY,
    HEADERS_SELECTED_DIFFERENTLY,
    NO_LAYOUT,
    TYPE_NOT_DESCRIBED,
    VERDICT_OF,
    VERSION_NOT_RECORDED,
    Churn,
    Comparison,
    FailOn,
    Impact,
    Verdict,
    evidence_rank,
)
from abistore.model.format_gaps import OF_COMPILERS, spelled, unrecorded_by
from abistore.model.snapshot import CLASS_NOT_DESCRIBED, Evidence, PackageRead, Provenance, Snapshot, evidence_of
from abistore.model.words import counted
from abistore.report.model import ReleaseLibrary, Report, ReportedFinding, every, verdict_of, would_fail
from abistore.report.outline import by_approval, outline
from abistore.report.wording import ChangeFacts, facts_of, in_words, is_checked
from abistore.service.kinds import kinds

if TYPE_CHECKING:
    from abistore.diffing.reuse import Differing
    from abistore.report.model import ReportedNotChecked
    from abistore.service.ruling import Ruling

MOST_NAMED = 5

WAS_DEPRECATED = "; deprecated in the previous release"
"""What is said of a removed declaration whose deprecation is known from the compared release alone."""


def stated(report: Report, old: Provenance, new: Provenance) -> Iterator[str]:
    """What the maintainers of both sides' packages state about what changed between them."""
    before, after = old.package, new.package
    known = before.breaks if isinstance(before, PackageRead) else ()
    broken = [each for each in after.breaks if each not in known] if isinstance(after, PackageRead) else []
    if isinstance(after, PackageRead) and broken:
        yield f"the maintainer states that {after.name} {after.version} breaks {_some(broken)}"
    if not isinstance(before, PackageRead) or not before.optional:
        return
    if told := sorted(_removed(report) & set(before.optional)):
        count = counted(len(told), "removed export")
        yield f"the maintainer marks {count} optional in {before.name} {before.version}: {_some(told)}"


def _removed(report: Report) -> set[str]:
    """The exports that findings say are removed."""
    kinds = {each.kind for each in report.kinds if each.action == "removed"}
    found = [each for each in every(report.changes) if each.kind in kinds and each.subject in EXPORTS]
    return {name for each in found for name in (each.symbol, *each.affected)}


def _some(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"


Filter: TypeAlias = Callable[[Report], Report]


def show_only(text: str | None) -> Filter:
    """A filter that keeps the findings which comma-separated tokens select, e.g. ``breaking,risk,functions``.

    Tokens are impacts, elements and actions. A finding must match one token of each sort that is given. Verdict, counts
    and exit code stay; a note says how many findings are hidden. Raises :class:`UsageError`.
    """
    if text is None:
        return lambda report: report
    from abistore.diffing.policy.policy import parse_show_only

    wanted = parse_show_only(text)

    def shown(report: Report) -> Report:
        findings = tuple(finding for finding in report.changes if wanted.shows(finding.kind, finding.impact))
        hidden = len(report.changes) - len(findings)
        changed = counted(len(report.changes), "change")
        remark = f"{hidden} of {changed} {'is' if hidden == 1 else 'are'} not shown: --show-only {text}"
        notes = (*report.notes, remark) if hidden else report.notes
        return msgspec.structs.replace(report, changes=findings, notes=notes)

    return shown


NO_LESS: Final = "old"
"""``--require old``: no less than the old side has seen."""


LESS_OF_SOURCE: Final = (HEADERS_NOT_GIVEN, NO_LAYOUT)
"""What the new side's headers may lack that the old side's have, though all of them were read."""
SOURCE_IN_PART: Final = (*LESS_OF_SOURCE, HEADERS_DISAGREE, HEADERS_READ_DIFFERENTLY, HEADERS_SELECTED_DIFFERENTLY)
"""Why headers that were read in full do not tell all that programs get of them."""

FULL: Final = evidence_rank(Evidence("layout", "full"))
NOT_REQUESTED: Final = "not-requested"
UNASKED: Final[dict[Facet, str]] = {
    "layout": "read it without --symbols-only",
    "source": "give the installed headers with --header",
}
"""How to get a facet that was not read."""
UNRECORDED: Final = "give the library itself, and not another tool's dump of it"
"""How to get facts that an input does not record."""


class EvidenceRequirement(msgspec.Struct, frozen=True):
    """The evidence that a verdict needs: ``facets`` in full on both sides, and ``no_less`` on the new side."""

    facets: tuple[Facet, ...] = ()
    no_less: bool = False


NOTHING: Final = EvidenceRequirement()
AS_MUCH: Final = EvidenceRequirement(no_less=True)


class EvidenceLack(msgspec.Struct, frozen=True):
    """A facet of which one side saw too little."""

    said: str
    hint: str


def usual(against: str | None, fail_on: str) -> EvidenceRequirement:
    """The default requirement: as much as the old side has, if one is named and something can fail."""
    return AS_MUCH if against is not None and fail_on != "never" else NOTHING


def requirement(text: str | None) -> EvidenceRequirement | None:
    """The meaning of ``--require``: facets and ``old``, separated by commas, or ``none``; ``None`` if it is not given.

    Raises :class:`UsageError`.
    """
    if text is None:
        return None
    words = [word.strip() for word in text.split(",")]
    unknown = [word for word in words if word not in {*FACETS, NO_LESS, "none"}]
    if unknown or (len(words) > 1 and "none" in words):
        message = f"--require {text}: {unknown[0]!r} is no facet" if unknown else f"--require {text}: none is alone"
        raise UsageError(message, f"give some of {', '.join(FACETS)} and {NO_LESS}, separated by commas, or none")
    return EvidenceRequirement(tuple(facet for facet in FACETS if facet in words), NO_LESS in words)


def lacking(report: Report, require: EvidenceRequirement) -> EvidenceMissing | None:
    """The error that says which required evidence a report lacks; ``None`` if it lacks nothing."""
    sides = (report.new, report.old)
    found = [lack for side in sides for lack in _unseen(str(side), side.evidence, require)]
    if "source" in require.facets:
        found += [
            EvidenceLack(f"{report.new}: source is required, and {item.detail}", item.hint)
            for item in report.not_checked
            if item.reason in SOURCE_IN_PART
        ]
    if "layout" in require.facets:
        found += [
            EvidenceLack(f"{report.new}: layout is required in full, and {item.detail}", item.hint)
            for item in report.not_checked
            if item.reason == CLASS_PERHAPS_NOT_DESCRIBED or _is_lost(item)
        ]
    if require.no_less:
        found += [
            EvidenceLack(f"{report.new}: {item.detail}", item.hint)
            for item in report.not_checked
            if item.facet not in require.facets and _is_less(item)
        ]
        found += [lack for facet in FACETS if facet not in require.facets for lack in _less(report, facet)]
    return _error(found)


def lacked(report: Report, lack: EvidenceMissing) -> Report:
    """The report of a verdict that does not pass for want of evidence."""
    told = {"status": "error", "code": lack.code, "error": lack.message, "hint": lack.hint}
    return msgspec.structs.replace(report, exit_code=lack.exit_code, **told)


def _is_less(item: ReportedNotChecked) -> bool:
    """Whether the new side shows less of a declaration than the old side does."""
    return (item.side == "new" and item.reason in LESS_OF_SOURCE) or _hides(item) or _is_lost(item)


def _hides(item: ReportedNotChecked) -> bool:
    """Whether the new side's headers were read so that declarations are not seen that programs may meet."""
    return item.reason == HEADERS_SELECTED_DIFFERENTLY or (item.reason == HEADERS_READ_DIFFERENTLY and bool(item.names))


def _is_lost(item: ReportedNotChecked) -> bool:
    """Whether the new side does not describe exports or types that the old side does, or not which version it shows."""
    return item.reason in (EXPORT_NOT_DESCRIBED, TYPE_NOT_DESCRIBED, VERSION_NOT_RECORDED) and item.side == "new"


def lacking_alone(library: str, evidence: Iterable[Evidence], require: EvidenceRequirement) -> EvidenceMissing | None:
    """The same for a snapshot that is compared with nothing, such as the first release of a line."""
    return _error(list(_unseen(library, tuple(evidence), require)))


def _unseen(label: str, evidence: tuple[Evidence, ...], require: EvidenceRequirement) -> Iterator[EvidenceLack]:
    for facet in require.facets:
        seen = evidence_of(evidence, facet)
        if evidence_rank(seen) < FULL:
            yield EvidenceLack(f"{label}: {facet} is required in full, and is {_told(seen)}", _hint(seen))
        elif seen.reason == CLASS_NOT_DESCRIBED:
            yield EvidenceLack(f"{label}: {facet} is required in full, and {seen.detail}", seen.hint)
        elif (facts := unrecorded_by(seen)) - OF_COMPILERS:
            yield EvidenceLack(f"{label}: {facet} is required in full, and lacks {spelled(facts)}", UNRECORDED)


def _less(report: Report, facet: Facet) -> Iterator[EvidenceLack]:
    """What the old side has seen of ``facet`` and the new side has not.

    If both saw a part, names are compared: two parts of the same size may have nothing in common.
    """
    old, new = evidence_of(report.old.evidence, facet), evidence_of(report.new.evidence, facet)
    before, after = evidence_rank(old), evidence_rank(new)
    if after < before:
        yield EvidenceLack(f"{report.new}: {facet} is {_told(new)}, and {old.state} in {report.old}", _hint(new))
    elif facts := unrecorded_by(new) - unrecorded_by(old) if before else None:
        yield EvidenceLack(f"{report.new}: its {facet} lacks {spelled(facts)}", UNRECORDED)
    elif 0 < after == before < FULL:
        items = (item for item in report.not_checked if item.facet == facet and item.side != "old")
        if lost := sorted({name for item in items for name in item.names}):
            some = counted(len(lost), "declaration")
            said = f"{facet} leaves out {some} that {report.old} describes, e.g. {', '.join(lost[:3])}"
            yield EvidenceLack(f"{report.new}: {said}", _hint(new))


def _told(seen: Evidence) -> str:
    why = seen.detail or seen.reason
    return f"{seen.state} ({why})" if why else seen.state


def _hint(seen: Evidence) -> str:
    return seen.hint or (UNASKED.get(seen.facet, "") if seen.reason == NOT_REQUESTED else "")


def _error(found: list[EvidenceLack]) -> EvidenceMissing | None:
    if not found:
        return None
    hints = dict.fromkeys(lack.hint for lack in found if lack.hint)
    hint = f"{'; '.join(hints)}; or judge without it: --require none" if hints else ""
    return EvidenceMissing("; ".join(lack.said for lack in found), hint)


def assessed(report: Report, allow: AllowPlan | None = None) -> Report:
    """The report with the answer. With ``allow``, a gate follows it; without, it is only told by the line's scheme."""
    plan = allow or FOR_SCHEME
    found = _of_libraries(report, plan) if report.libraries else _of_one(report, plan)
    return replace(report, bump=replace(found, decides=allow is not None))


def _of_one(report: Report, plan: AllowPlan) -> Bump:
    facts = replace(facts_of(report), users=plan.users, early=plan.early)
    adds = report.churn is not None and report.churn.added > 0
    return in_words(bump(facts.verdict, facts.labels, facts.sonames, plan, adds=adds), facts)


def _of_libraries(report: Report, plan: AllowPlan) -> Bump:
    """The answer for a release of several libraries: each that breaks must be allowed to."""
    labels = OldAndNew(report.old.version, report.new.version)
    checked = is_checked(report)
    found = [
        _of_library(each, labels, plan, checked) for each in report.libraries if each.state not in {"added", "moved"}
    ]
    between = [each for each in _worst(report.changes) if not each.libraries and each.kind != GONE]
    kept = all(each.kind == KEPT for each in between)
    if between:
        verdict = Verdict.BREAKING if any(each.impact == "breaking" for each in between) else Verdict.API_BREAK
        base = bump(verdict, labels, OldAndNew(None, None), replace(plan, rule="never"))
        facts = ChangeFacts(labels, OldAndNew(None, None), verdict, len(between), library="the package itself")
        found.append((replace(base, reason="package-kept" if kept else "between-libraries", rule=plan.rule), facts))
    if not found:
        return _of_one(report, plan)
    refused = [each for each in found if not each[0].allowed]
    decisive, facts = max(refused or found, key=lambda each: each[1].verdict)
    return in_words(decisive, facts)


GONE = "bundle_library_removed"
"""A library that is gone is judged by its row: its name is gone with it."""


KEPT = "soname_changed.package_kept"
"""The package kept its name, and a library in it has another SONAME."""


def _worst(changes: Sequence[ReportedFinding]) -> Iterator[ReportedFinding]:
    yield from (each for each in changes if each.impact in {"breaking", "api_break"})


def _of_library(row: ReleaseLibrary, labels: OldAndNew, plan: AllowPlan, checked: bool) -> tuple[Bump, ChangeFacts]:
    sonames = OldAndNew(row.old_soname, row.new_soname)
    verdict = Verdict[row.verdict] if row.verdict else Verdict.BREAKING
    breaks = 0
    if row.summary is not None:
        breaks = row.summary.breaking if verdict is Verdict.BREAKING else row.summary.api_breaks
    adds = (row.new_exports or 0) > (row.old_exports or 0)
    facts = ChangeFacts(labels, sonames, verdict, breaks, library=row.name, checked=checked)
    return bump(verdict, labels, sonames, plan, adds=adds), facts


def passes(report: Report) -> bool:
    """Whether a gate passes because the release is allowed to break what it breaks."""
    return report.bump is not None and report.bump.passes and verdict_of(report) >= Verdict.API_BREAK


THRESHOLD: dict[FailOn, Verdict | None] = {
    "breaking": Verdict.BREAKING,
    "api_break": Verdict.API_BREAK,
    "risk": Verdict.COMPATIBLE_WITH_RISK,
    "never": None,
}
OF_MOVES = frozenset(
    {"inline_namespace_moved", "namespace_renamed", "inline_namespace_moved.unexported", "symbol_renamed_batch"}
)
"""Where one of these kinds is found, the new side's declarations have the old side's names in findings."""

RISK_EXIT_CODE = 2
"""The exit code of COMPATIBLE_WITH_RISK with ``--fail-on risk``; without it the code is 0."""


def told_apart(old: str, new: str) -> tuple[str, str]:
    """Two paths without the folders that both begin with: ``v1/libfoo.so`` and ``v2/libfoo.so``."""
    paths = [Path(each).absolute().parts if each else () for each in (old, new)]
    shortest = min(len(each) - 1 for each in paths if each) if any(paths) else 0
    shared = next((at for at in range(shortest) if len({each[at] for each in paths if each}) > 1), shortest)
    if not all(paths):
        shared = shortest
    first, second = ("/".join(each[shared:]) for each in paths)
    return first, second


def judge(old: Snapshot, new: Snapshot, by: Ruling | None = None) -> Report:
    """The judged difference of two snapshots, by a ruling or the strict policy. Raises :class:`Incomparable`."""
    return report(*concluded(old, new, by), (old, new))


def concluded(old: Snapshot, new: Snapshot, by: Ruling | None = None) -> tuple[Comparison, Churn]:
    """The comparison of two snapshots, as verdicts are stored, and how much changed.

    Time and memory are limited by the size of the snapshots. Raises :class:`Incomparable`, :class:`LimitExceeded`.
    """
    with limits_for(old.weight + new.weight, f"judging {new.label} against {old.label}"):
        return _concluded(old, new, by)


def _concluded(old: Snapshot, new: Snapshot, by: Ruling | None) -> tuple[Comparison, Churn]:
    from abistore.diffing.judge.judged import both_record
    from abistore.diffing.judge.judged import compare as compare_snapshots
    from abistore.diffing.reuse import differing

    sides = both_record(old, new)
    names = differing(*sides)
    return compare_snapshots(old, new, by, names), churn(*sides, names)


def report(comparison: Comparison, churned: Churn, sides: tuple[Snapshot, Snapshot]) -> Report:
    """The report of a comparison, with the declarations of its findings from both snapshots."""
    from abistore.report.document import declared

    old, new = sides
    with limits_for(old.weight + new.weight, f"telling what changed from {old.label} to {new.label}"):
        if any(each.kind in OF_MOVES for each in comparison.findings):
            from abistore.diffing.scopes import aligned

            both = aligned(old, new)
            sides = both.old, both.new
        told = outline(comparison, churn=churned, kinds=kinds().values(), declarations=declared(comparison, *sides))
        return _with_deprecations(told, sides[0])


def _with_deprecations(report: Report, old: Snapshot) -> Report:
    """The report, in which removed declarations say that the old headers deprecate them."""
    removals = {name for name, card in kinds().items() if card.action == "removed"}

    def said(finding: ReportedFinding) -> ReportedFinding:
        name = Name(finding.subject, finding.symbol)
        is_whole = finding.kind in removals and not finding.part
        if not is_whole or not _is_deprecated(old, name):
            return finding
        return replace(finding, description=finding.description + WAS_DEPRECATED)

    return replace(report, changes=tuple(map(said, report.changes)))


def _is_deprecated(snapshot: Snapshot, name: Name) -> bool:
    return any(isinstance(each, Declared) and "deprecated" in each.traits for each in snapshot.variants("source", name))


def gated(
    report: Report,
    fail_on: FailOn,
    require: EvidenceRequirement = NOTHING,
    allow: AllowPlan | None = None,
) -> Report:
    """The report with the exit code of its verdict by ``fail_on``, or else of the evidence that ``require`` misses.

    A break that was found is worse than one that may have been missed. Findings that are approved do not fail it, and
    with ``allow`` no release that may break.
    """
    report, code = accepted(assessed(report, allow), fail_on)
    if passes(report):
        report, code = msgspec.structs.replace(report, passed_by=""), 0
    lack = None if code else lacking(report, require)
    if lack is None:
        return msgspec.structs.replace(report, exit_code=code, fail_on=fail_on)
    return lacked(msgspec.structs.replace(report, fail_on=fail_on), lack)


def accepted(report: Report, fail_on: FailOn) -> tuple[Report, int]:
    """The report with what is approved of it, and the exit code of the worst finding that nobody approved."""
    code = exit_code(verdict_of(report), fail_on)
    report = msgspec.structs.replace(report, fail_on=fail_on, passed_by="", approved_count=0)
    let_through = [each for each in report.changes if each.approved and would_fail(report, each)]
    if not code or not let_through:
        return report, code
    every, left = (
        max((VERDICT_OF[Impact[each.impact.upper()]] for each in found), default=Verdict.NO_CHANGE)
        for found in (report.changes, [each for each in report.changes if not each.approved])
    )
    remaining = exit_code(left, fail_on) if every is verdict_of(report) else code
    said = "" if remaining else by_approval(let_through)
    return msgspec.structs.replace(report, approved_count=len(let_through), passed_by=said), remaining


def exit_code(verdict: Verdict, fail_on: FailOn) -> int:
    """0 if the verdict is milder than ``fail_on``; else the verdict's own code, 2 for a risk."""
    threshold = THRESHOLD[fail_on]
    if threshold is None or verdict < threshold:
        return 0
    return verdict.exit_code or RISK_EXIT_CODE


def churn(old: Snapshot, new: Snapshot, names: Differing) -> Churn:
    """How many exports were added and removed, and how many names differ in a facet that saw both sides.

    ``names`` are those that differ.
    """
    before, after = (side.entries.get("symbol", {}).keys() for side in (old, new))
    exported = [name for name in names["symbol"] if name.kind in {"function", "variable"}]
    changed: set[Name] = set()
    for facet in old.entries.keys() & new.entries.keys():
        both = names[facet] & old.entries[facet].keys() & new.entries[facet].keys()
        changed |= {name for name in both if name.kind != "import"} if facet == "symbol" else both
    return Churn(
        added=sum(name not in before for name in exported),
        removed=sum(name not in after for name in exported),
        changed=len(changed),
    )
