"""Two snapshots in, a judged comparison out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from abistore.compare.context import Context, Known
from abistore.compare.declarations import Declarations
from abistore.compare.evidence import evidence_deltas
from abistore.compare.exports import EXPORTS, export_deltas
from abistore.compare.fold import fold
from abistore.compare.judge import Dispatch, dispatch, explained, findings_of, verdict_of, worst_of
from abistore.compare.parts import Outcome
from abistore.compare.rule import Rule, load
from abistore.compare.terms import Terms
from abistore.compare.undescribed import not_described
from abistore.compare.unseen import chosen_at_load_time, comparable, marks, observed, unseen
from abistore.errors import Incomparable
from abistore.model.deltas import Changed, Delta, Subject
from abistore.model.digest import snapshot_digest
from abistore.model.findings import Comparison, Finding, Impact, NotChecked, Side, order
from abistore.model.names import FACETS, SELF, Facet
from abistore.model.snapshot import Snapshot

if TYPE_CHECKING:
    from abistore.compare.policy import Policy
    from abistore.compare.suppression import Suppressions

DECLARING: tuple[Facet, ...] = ("layout", "source")

JUDGING = ("compare", "model")
"""The folders that decide what a comparison finds: reach, layout and normal forms of types are the model's."""


def compare(
    old: Snapshot,
    new: Snapshot,
    *,
    policy: Policy | None = None,
    suppressions: Suppressions | None = None,
    known: Known | None = None,
) -> Comparison:
    """What changed from ``old`` to ``new``, and what that means for consumers built against ``old``.

    The policy gives each finding its impact, by default that of its kind; suppressed findings have no part in the
    verdict. ``known`` is what need not be worked out again.

    Raises :class:`abistore.errors.Incomparable` for snapshots of two targets.
    """
    if str(old.target) != str(new.target):
        raise Incomparable(
            f"{old.label} is for {old.target} and {new.label} for {new.target}",
            "compare builds for the same machine, word size and byte order",
        )
    context = Context(old, new, known)
    rules, terms = load(), _terms(context, policy, suppressions)
    findings, advice, skipped = _findings(context, rules, terms)
    cards = known.cards if known and known.cards else (_side(old), _side(new))
    return Comparison(
        old=cards[0],
        new=cards[1],
        verdict=verdict_of(findings),
        findings=tuple(sorted(findings, key=order)),
        not_checked=skipped,
        suppressed=tuple(sorted(fold(terms.suppressed, rules, context), key=order)),
        policy=terms.policy,
        engine=engine_digest(),
        notes=terms.notes(),
        policy_digest=terms.policy_digest,
        suppression_digest=terms.suppression_digest,
        advice=tuple(sorted(advice, key=order)),
        policy_file=terms.policy_file,
        suppression_files=terms.suppression_files,
    )


def _terms(context: Context, policy: Policy | None, suppressions: Suppressions | None) -> Terms:
    if policy is None and suppressions is None:
        return Terms()
    from abistore.compare.policies.terms import Ruled  # expressions, conditions: not always needed

    return Ruled(context, policy, suppressions)


def _findings(
    context: Context, rules: Mapping[str, Rule], terms: Terms
) -> tuple[list[Finding], list[Finding], tuple[NotChecked, ...]]:
    """The findings, what they advise as a whole, and what could not be checked."""
    tables = {facet: dispatch(rules, facet) for facet in FACETS}
    found: list[Finding] = []
    written: list[Finding] = []
    skipped: list[NotChecked] = []
    for facet, delta in deltas(context):
        if isinstance(delta, NotChecked):
            skipped.append(delta)
        elif facet == "source":
            written += explained(delta, tables[facet], context)
        else:
            found += explained(delta, tables[facet], context)
    known = set(found)
    found += [each for each in written if each not in known]
    folded = fold(terms.judge(found), rules, context)
    concluded = terms.judge(_concluded(context, found, folded, tables["symbol"]))
    folded += [each for each in concluded if each.impact is not Impact.ADVICE]
    return folded, [each for each in concluded if each.impact is Impact.ADVICE], tuple(skipped)


def deltas(context: Context) -> Iterator[tuple[Facet, Delta[Any] | NotChecked]]:
    """What differs where both sides could see, and what they could not see; each with the facet that shows it."""
    for delta in export_deltas(context):
        yield "symbol", delta
    yield from evidence_deltas(context)
    for facet in DECLARING:
        if facet != "layout" and facet not in context.old.entries and facet not in context.new.entries:
            continue
        for reason in observed(context, facet):
            yield facet, reason
        if not comparable(context, facet):
            continue
        if facet == "layout":
            for unknown in not_described(context.old_undescribed, context.new_undescribed, facet):
                yield facet, unknown
            for chosen in chosen_at_load_time(context, facet):
                yield facet, chosen
        names = sorted(context.differing[facet])
        for missing in unseen(context, facet, ((name, marks(context, facet, name)) for name in names)):
            yield facet, missing
        found = Declarations(context, facet)
        for name in names:
            for delta in found.deltas(name):
                yield facet, delta


def _concluded(context: Context, found: list[Finding], judged: list[Finding], table: Dispatch) -> list[Finding]:
    """What follows from the findings as a whole, advice for the most part.

    It must follow from the rules' own impacts and from the effective ones: a policy invents none.
    """
    own = _conclusions(context, found, table)
    effective = _conclusions(context, judged, table) if own else []
    return [each for each in own if each in effective]


def _conclusions(context: Context, findings: list[Finding], table: Dispatch) -> list[Finding]:
    old, new = context.old_library, context.new_library
    if old is None or new is None:
        return []
    worst = worst_of(findings)
    delta = Changed(Subject(SELF), Outcome(old.soname, worst), Outcome(new.soname, worst))
    return list(findings_of(delta, table, context))


def _side(snapshot: Snapshot) -> Side:
    library = next(iter(snapshot.variants("symbol", SELF)), None)
    return Side(
        library=snapshot.library,
        version=snapshot.version,
        digest=snapshot_digest(snapshot).hex(),
        target=str(snapshot.target),
        soname=getattr(library, "soname", None),
        evidence=snapshot.evidence,
        exports=sum(name.kind in EXPORTS for name in snapshot.entries.get("symbol", {})),
    )


@cache
def engine_digest() -> str:
    """What judges: the digest of the code of comparison, rules and model. Stored verdicts are kept under it."""
    state = blake2b(digest_size=8)
    package = Path(__file__).parents[1]
    for file in sorted(file for folder in JUDGING for file in (package / folder).rglob("*.py")):
        state.update(file.relative_to(package).as_posix().encode())
        state.update(file.read_bytes())
    return state.hexdigest()
