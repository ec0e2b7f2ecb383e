"""What a decision says in words: its headline, its reasons, and the ways to pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from abistore.model.decision import Bump, Decision, Outcome, Reason, Way
from abistore.model.labels import name_word
from abistore.model.words import counted
from abistore.report.model import Report, ReportedFinding
from abistore.report.outline import CHECKED, by_approval, ruled_by, sides, verdict
from abistore.report.wording import change, counts, facts_of, numbers, soname_step

OUTCOMES: Final[dict[Outcome, str]] = {"pass": "PASS", "fail": "FAIL", "undecided": "UNDECIDED"}
LISTED = 6
"""So many names of declarations are listed."""


def headline(outcome: Outcome, reasons: Sequence[Reason]) -> str:
    """The outcome and its first reason: ``FAIL: 1.2.0 breaks 1.1.0 in 1 place under the same SONAME: ...``."""
    return f"{OUTCOMES[outcome]}: {reasons[0].sentence}"


def no_break(report: Report, promise: Bump) -> str:
    """That nothing breaks, as far as that was compared."""
    gap = f"; {CHECKED}: {report.evidence_gap}" if report.evidence_gap else ""
    return f"{promise.sentence or f'{report.new} does not break {report.old}'}{gap}"


def breaking(report: Report, promise: Bump) -> str:
    """What breaks, and what the line would allow where a comparison asks for no release."""
    if promise.sentence and not promise.allowed:
        return promise.sentence
    may = f"; a release may do this: {soname_step(facts_of(report))}" if promise.allowed and promise.sentence else ""
    return f"{_changed(report)}{may}"


def tolerated(report: Report) -> str:
    """That the gate fails from a graver verdict on."""
    return f"{_changed(report)}; --fail-on {report.fail_on} lets that pass"


def inherited(findings: Sequence[ReportedFinding], *, alone: bool) -> str:
    """That the baseline's merge base has some breaks already."""
    existing = f"{counted(len(findings), 'break')} existed before this change"
    return f"{existing}; this change adds none" if alone else existing


def waived(findings: Sequence[ReportedFinding]) -> str:
    """Who approved what would fail, why and until when."""
    return by_approval(findings)


def risky(report: Report) -> str:
    """The risks that fail a gate which fails on them."""
    return f"{report.new}: {numbers(report.summary)}; --fail-on risk fails"


def _changed(report: Report) -> str:
    facts = facts_of(report)
    return change(facts) if all(facts.labels) else f"{report.new} breaks {report.old} in {_places(report)}"


def _places(report: Report) -> str:
    return counted(facts_of(report).breaks, "place")


def restore(failing: Sequence[ReportedFinding]) -> str:
    """The way that always works: restore what broke."""
    names = ", ".join(dict.fromkeys(each.display for each in failing[:LISTED]))
    more = f" and {len(failing) - LISTED} more" if len(failing) > LISTED else ""
    return f"fix {counted(len(failing), 'finding')}: {names}{more}"


def bump_way(bump: Bump, name: str | None) -> str:
    """What a release must be called, and whether its SONAME must be another; a label that says it already stays.

    ``name`` is what the library calls itself: a SONAME, an install name, or the name of a DLL.
    """
    label = f"release it as {bump.suggested}" if bump.suggested else ""
    name_too = f"bump the {name_word(name or '')}" if bump.soname_required else ""
    return " and ".join(filter(None, (label, name_too))) or "give it a version that declares the break"


MOST_IDENTITIES = 6
"""A command that names more findings is told without them."""


def short_ways(decision: Decision) -> tuple[Way, ...]:
    """What would make a release pass; of many findings, without the command that names them all."""
    count = len(decision.failing)
    if count <= MOST_IDENTITIES:
        return decision.ways
    accept = Way("approve", f"accept {counted(count, 'finding')} with `abistore approve`")
    return tuple(accept if each.code == "approve" else each for each in decision.ways)


def bump_sentence(report: Report) -> str:
    """The label and the SONAME that a release needs, in a sentence; empty where it needs no others."""
    promise = report.decision.promise if report.decision is not None else None
    if promise is None or promise.sentence or promise.allowed:
        return promise.sentence if promise is not None else ""
    return bump_way(promise, report.new.soname or report.old.soname)


def excuse(decision: Decision) -> str:
    """Why a release passes although it breaks something, or how much of what fails is waived, in a word or two."""
    if decision.outcome == "pass":
        return decision.code if decision.code in {"allowed", "waived", "tolerated", "inherited"} else ""
    return f"{len(decision.waived)} waived" if decision.waived else ""


def outcome_words(decision: Decision) -> str:
    """The outcome, and why it passes although something breaks: ``pass, waived``."""
    return ", ".join(filter(None, (decision.outcome, excuse(decision))))


def notable_outcome(decision: Decision) -> str:
    """The same where it is more than that the release passes; else nothing."""
    words = outcome_words(decision)
    return "" if words == "pass" else words.removeprefix("pass, ")


def said(report: Report) -> tuple[str, ...]:
    """The decision of a report: its headline, then the other reasons. Nothing where the verdict says it all.

    The headline of an undecided release names all evidence that is missing.
    """
    decision = report.decision
    if decision is None or not _is_notable(decision):
        return ()
    others = (each.sentence for each in decision.reasons[1:] if each.code != "evidence-missing")
    return f"{OUTCOMES[decision.outcome]}: {report.error}" if report.error else decision.headline, *others


def _is_notable(decision: Decision) -> bool:
    """Whether there is more to say than that nothing breaks, or that files differ."""
    if decision.code == "no-break":
        return decision.promise is not None and decision.promise.notable
    told = decision.promise is not None and bool(decision.promise.sentence)
    return told or len(decision.reasons) > 1 or decision.code not in BREAKS


BREAKS: Final = frozenset({"breaking", "source-breaking"})
TONES: Final[dict[Outcome, str]] = {"pass": "compatible", "fail": "breaking", "undecided": "unchecked"}


def outcome_tone(report: Report) -> str:
    """The colour of a report's outcome."""
    return TONES[report.decision.outcome] if report.decision is not None else "unchecked"


def ways_to_pass(report: Report) -> tuple[str, ...]:
    """What would make a release pass whose findings can be approved; nothing for files that nobody stored."""
    decision = report.decision
    if decision is None or decision.outcome != "fail" or not any(each.code == "approve" for each in decision.ways):
        return ()
    return tuple(each.sentence for each in decision.ways)


def stat(report: Report) -> str:
    """The whole report in one line: operands, verdict, outcome, counts, policy, suppressions, and kinds of advice."""
    gap = f" ({report.evidence_gap})" if report.evidence_gap else ""
    why = excuse(report.decision) if report.decision is not None else ""
    line = f"{sides(report)}: {verdict(report)}{gap}{f', {why}' if why else ''}, {counts(report)}"
    waived = report.decision is not None and report.decision.code == "waived"
    told = (report.decision.headline,) if report.decision is not None and waived else ()
    return "; ".join((line, *told, ruled_by(report), *(f"advice: {each.kind}" for each in report.advice)))
