"""Laws of judging: a policy moves impacts only, a suppression moves findings aside, nothing is lost or invented."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from abistore.diffing.context import Context, load
from abistore.diffing.judge.judged import Ruling, compare, verdict_of
from abistore.diffing.policy import (
    CATEGORIES,
    Condition,
    Expression,
    FindingFacts,
    InNamespace,
    Internal,
    OfCategory,
    OfKind,
    Override,
    Policy,
    SymbolMatches,
    TypeMatches,
    Weighty,
)
from abistore.diffing.side import SideFacts
from abistore.diffing.suppression import Suppression, Suppressions
from abistore.model.declarations import SELF
from abistore.model.findings import Comparison, Finding, Impact, RulingFile
from abistore.model.names.symbols import primary
from abistore.model.snapshot import Snapshot
from abistore.report.outline import outline
from tests.draws import draws
from tests.laws.test_compare_laws import releases

CONCLUDED = {"soname_bump_recommended", "soname_bump_unnecessary", "library_version_downgraded"}
WEIGHTS = [impact for impact in Impact if impact is not Impact.ADVICE]

relaxed = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None, max_examples=draws(25)
)
expressions = st.sampled_from([Expression(pattern) for pattern in (".*", "o.*", "_Z.*", "P|lib.*", "[a-m].*", "none")])
patterns = st.tuples(expressions)
conditions: st.SearchStrategy[Condition] = st.one_of(
    st.builds(OfKind, st.lists(st.sampled_from(sorted(load())), min_size=1, max_size=40).map(tuple)),
    st.builds(OfCategory, st.sampled_from(CATEGORIES)),
    st.builds(SymbolMatches, patterns),
    st.builds(TypeMatches, patterns),
    st.builds(InNamespace, patterns),
    st.builds(Internal, patterns),
    st.just(Weighty()),
)
several = st.lists(conditions, min_size=1, max_size=2).map(tuple)
policies = st.builds(
    lambda overrides: Policy("law", overrides=tuple(overrides), file=RulingFile("law.yaml", "0" * 64)),
    st.lists(st.builds(Override, several, st.sampled_from(WEIGHTS), st.just("why"), st.just("where")), max_size=5),
)
suppressions = st.lists(several, max_size=4).map(
    lambda entries: Suppressions(tuple(Suppression(f"entry {number}", each) for number, each in enumerate(entries)))
)


def every(findings: Iterable[Finding]) -> Iterator[Finding]:
    for finding in findings:
        yield finding
        yield from every(finding.consequences)


def told(*groups: Iterable[Finding]) -> Counter[tuple[object, ...]]:
    """What is said, whatever it weighs and wherever it is folded."""
    return Counter(
        (each.kind, each.name, each.part, each.description, each.old_value, each.new_value)
        for group in groups
        for each in every(group)
        if each.kind not in CONCLUDED
    )


@relaxed
@given(releases(), policies, suppressions)
def test_no_policy_or_suppression_loses_or_invents_a_finding(
    sides: tuple[Snapshot, Snapshot], policy: Policy, accepted: Suppressions
) -> None:
    plain = compare(*sides)
    judged = compare(*sides, Ruling(policy, accepted))
    assert told(judged.findings, judged.suppressed) == told(plain.findings)
    concluded = {each.kind for each in (*judged.findings, *judged.suppressed, *judged.advice)} & CONCLUDED
    assert concluded <= {each.kind for each in (*plain.findings, *plain.advice)}
    assert judged.not_checked == plain.not_checked


@relaxed
@given(releases(), policies)
def test_verdict_counts_and_labels_follow_from_one_effective_impact(
    sides: tuple[Snapshot, Snapshot], policy: Policy
) -> None:
    judged = compare(*sides, Ruling(policy))
    rules = load()
    for finding in every(judged.findings):
        default = rules[finding.kind].impact
        moved = finding.default_impact is not None
        assert (finding.default_impact if moved else finding.impact) is default
        assert moved == (finding.reason != "") == (finding.impact is not default)
        assert all(each.impact <= finding.impact for each in finding.consequences)
    assert judged.verdict is verdict_of(judged.findings)
    report = outline(judged)
    assert report.exit_code == judged.verdict.exit_code
    labels = Counter(change.impact for change in report.changes)
    summary = report.summary
    weighty = [summary.compatible, summary.risk_changes, summary.api_breaks, summary.breaking]
    assert [labels[impact.label] for impact in WEIGHTS] == [summary.total_changes - sum(weighty), *weighty]


@relaxed
@given(releases(), suppressions)
def test_what_is_suppressed_only_makes_the_verdict_milder_and_names_its_entry(
    sides: tuple[Snapshot, Snapshot], accepted: Suppressions
) -> None:
    judged = compare(*sides, Ruling(suppressions=accepted))
    assert judged.verdict <= compare(*sides).verdict
    assert judged.verdict is verdict_of(judged.findings)
    entries = {str(entry) for entry in accepted.entries}
    assert all(each.suppressed_by in entries for each in every(judged.suppressed))
    assert all(each.suppressed_by == "" for each in every(judged.findings))


@relaxed
@given(releases(), suppressions)
def test_what_an_entry_is_not_about_stays_unless_it_follows_from_what_it_is_about(
    sides: tuple[Snapshot, Snapshot], accepted: Suppressions
) -> None:
    context, rules = Context(*map(SideFacts, sides)), load()
    judged: Comparison = compare(*sides, Ruling(suppressions=accepted))
    direct = set()
    followers = []
    for finding in every(judged.suppressed):
        facts = FindingFacts(finding, rules[finding.kind], context)
        if any(entry.matches(facts) for entry in accepted.entries):
            direct.add((finding.kind, finding.name))
        else:
            followers.append(facts)
    names = {name for _, name in direct}
    for facts in followers:
        symbol = primary(facts.finding.name.spelling)
        companions = symbol != facts.finding.name.spelling and any(
            (kind, name.spelling) == (facts.finding.kind, symbol) for kind, name in direct
        )
        own = {facts.finding.name, *(name for name in names if name.spelling in facts.types)}
        assert companions or (facts.rule.effect and own & names) or is_accepted_piece_by_piece(facts, accepted)


def is_accepted_piece_by_piece(facts: FindingFacts, accepted: Suppressions) -> bool:
    """Whether one finding about many exports has an entry for each of them."""
    exports = facts.finding.affected if facts.finding.name == SELF else ()
    each = [
        FindingFacts(msgspec.structs.replace(facts.finding, name=name), facts.rule, facts.context) for name in exports
    ]
    return bool(each) and all(any(entry.matches(one) for entry in accepted.entries) for one in each)


@relaxed
@given(releases())
def test_an_entry_for_everything_leaves_nothing(sides: tuple[Snapshot, Snapshot]) -> None:
    kinds = OfKind(tuple(load()))
    comparison = compare(*sides, Ruling(suppressions=Suppressions((Suppression("all", (kinds,)),))))
    assert comparison.findings == ()
    assert told(comparison.suppressed) == told(compare(*sides).findings)
