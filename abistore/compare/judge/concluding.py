"""What follows from the findings of two releases as a whole: the verdict, advice, and what the comparison says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from abistore.compare.context import Context
from abistore.compare.diff.parts import WorstImpact
from abistore.compare.judge.consequences import fold
from abistore.compare.judge.findings import findings_of, verdict_of, worst_of
from abistore.compare.judge.sorted_findings import SortedFindings
from abistore.compare.policies.applied import AppliedRuling
from abistore.compare.rule import RULES
from abistore.errors import Incomparable
from abistore.model.deltas import Changed, Subject
from abistore.model.digest import snapshot_digest
from abistore.model.findings import Comparison, Finding, Impact, NotChecked, Side, order
from abistore.model.judging.engine import ENGINE
from abistore.model.names import SELF
from abistore.model.recorded.unrecorded import VARIANT, unrecorded_by
from abistore.model.snapshot import Snapshot
from abistore.model.words.counting import counted


def refuse_strangers(old: Snapshot, new: Snapshot) -> None:
    """Raises :class:`abistore.errors.Incomparable` for snapshots of two targets.

    Where an input does not tell which ABI of its machine it is for, that is told as not checked.
    """
    told = not any(VARIANT in unrecorded_by(each.evidence_of("symbol")) for each in (old, new))
    if not old.target.fits(new.target, variants=told):
        raise Incomparable(
            f"{old.label} is for {old.target} and {new.label} for {new.target}",
            "compare builds for the same machine, word size and byte order",
        )


class IndependentFindings(msgspec.Struct, frozen=True):
    """Findings that no other finding depends on, and the suppressed ones among them; both worst first."""

    findings: SortedFindings
    suppressed: SortedFindings


PROVEN: Final = frozenset(
    {"declaration_changed.undeclared", "symbols_removed.undeclared", "type_private_changed.opaque"}
)
"""Kinds that headers prove to concern no program, as far as these are all public ones."""


def _resting_on_headers(findings: Iterable[Finding]) -> Iterator[str]:
    """What is taken for granted of the headers that were given."""
    if proven := sum(finding.kind in PROVEN for finding in findings):
        yield f"{counted(proven, 'change is', 'changes are')} private as long as the given headers are all public ones"


def concluded(
    context: Context,
    ruling: AppliedRuling,
    folded: Sequence[Finding],
    worst: Impact | None,
    skipped: Iterable[NotChecked],
    *,
    rest: IndependentFindings | None = None,
) -> Comparison:
    """The comparison that has these findings, and the ``rest``, with what follows from them as a whole.

    ``worst`` is the worst of all findings before the ``ruling`` was applied.
    """
    rest = rest or IndependentFindings(SortedFindings(), SortedFindings())
    more = ruling.judge(_conclusions(context, worst, worst_of([*folded, *rest.findings.findings[:1]])))
    findings = rest.findings.including([*folded, *(each for each in more if each.impact is not Impact.ADVICE)])
    cards = context.cards or (card(context.old.snapshot), card(context.new.snapshot))
    return Comparison(
        old=cards[0],
        new=cards[1],
        verdict=verdict_of(findings[:1]),
        findings=findings,
        not_checked=tuple(skipped),
        suppressed=rest.suppressed.including(fold(ruling.suppressed, RULES, context)),
        policy=ruling.key.policy,
        engine=str(ENGINE),
        notes=(*ruling.notes(), *_resting_on_headers(findings)),
        policy_digest=ruling.key.policy_digest,
        suppression_digest=ruling.key.suppression_digest,
        advice=tuple(sorted((each for each in more if each.impact is Impact.ADVICE), key=order)),
        policy_file=ruling.by.policy.file if ruling.by else None,
        suppression_files=ruling.by.suppressions.files if ruling.by else (),
    )


def _conclusions(context: Context, worst: Impact | None, effective: Impact | None) -> list[Finding]:
    """What follows from the findings as a whole, advice for the most part.

    It must follow from the worst of the rules' own impacts and from the worst effective one: a policy invents none.
    """
    own = _conclusion(context, worst)
    judged = _conclusion(context, effective) if own else []
    return [each for each in own if each in judged]


def _conclusion(context: Context, worst: Impact | None) -> list[Finding]:
    old, new = context.old.library, context.new.library
    if old is None or new is None:
        return []
    delta = Changed(Subject(SELF), WorstImpact(old.name, worst), WorstImpact(new.name, worst))
    return list(findings_of(delta, "symbol", context))


def card(snapshot: Snapshot) -> Side:
    """What a comparison says of one of its sides."""
    return Side(
        library=snapshot.library,
        version=snapshot.version,
        digest=snapshot_digest(snapshot).hex(),
        target=str(snapshot.target),
        soname=snapshot.facts.name if snapshot.facts else None,
        evidence=snapshot.evidence,
        exports=snapshot.exports,
    )
