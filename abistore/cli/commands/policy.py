"""``changes``, ``explain`` and ``policy``: the kinds of change, and what moves their impact."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import msgspec

from abistore.arguments import Actor, Described, ExplainedName, KindElement, KindImpact, Operand, Output, Reason
from abistore.cli.options import SharedSettings
from abistore.cli.output import answer, is_file, note, progress, table, width, write_file
from abistore.cli.reading_options import JudgingOptions, LineOptions, ReadingOptions, SideOptions
from abistore.cli.verbs import group, verb
from abistore.model.words import counted

if TYPE_CHECKING:
    from abistore.report.model import ChangeKind
    from abistore.service.kinds import ExplainedKind
    from abistore.service.ruling import PolicyCard

IDENTITY = re.compile(r"[0-9a-f]{6,20}(-\d+)?")
"""A finding's identity, or the beginning of one, such as its place. No kind is spelled like this."""

FACETS = ("symbol", "layout", "source")

Paths: TypeAlias = Annotated[tuple[str, ...], Described(metavar="FILE...", complete="file")]


@verb(
    "changes",
    gives=(
        {"count": "builtins:int", "changes": "service.kinds:changes"},
        {"count": "builtins:int", "established": "service.kinds:established"},
    ),
    store=False,
)
def changes_command(
    settings: SharedSettings,
    *,
    impact: KindImpact = None,
    element: KindElement = None,
    evidence: Annotated[
        str | None, Described("Show only kinds that need this evidence.", choices=lambda: FACETS)
    ] = None,
    established: Annotated[
        bool,
        Described("List the names of other tools, each with the kinds and cases that cover it."),
    ] = False,
) -> None:
    """List all kinds of change with their default impact, worst first, and the variants that have another one.

    `abistore explain func_removed` explains a kind, `abistore explain func_removed.dispatched` a variant.
    """
    if established:
        _established(settings)
        return
    from abistore.service.kinds import by_kind, changes

    cards = changes(impact=impact, element=element, evidence=evidence)
    kinds = by_kind(cards)
    heads = ("kind", "impact", "element", "evidence", "title", "variants")
    rows = [_row(kind, every) for kind, every in kinds.items()]
    total = f"{counted(len(kinds), 'kind')}, {counted(len(cards), 'variant')}"
    answer(settings, {"count": len(cards), "changes": cards}, lambda: f"{table(heads, rows)}\n{total}")


def _row(kind: str, cards: tuple[ChangeKind, ...]) -> tuple[str, ...]:
    """A kind with the facts of its plain variant; of several others, those of the worst one without its title."""
    first, variants = cards[0], ", ".join(each.variant for each in cards if each.variant)
    title = "" if first.variant and len(cards) > 1 else first.title
    return kind, first.impact, first.element, first.evidence, title, variants


def _established(settings: SharedSettings) -> None:
    from abistore.service.kinds import established

    names = established()
    rows = [
        (one.name, ", ".join(one.kinds) or "none", str(one.cases), str(one.near_misses), one.reason) for one in names
    ]
    heads = ("established name", "kinds", "cases", "near-misses", "why none")
    told = sum(bool(one.kinds) for one in names)
    answer(
        settings,
        {"count": len(names), "established": names},
        lambda: table(heads, rows, right=frozenset({2, 3})) + f"\n{told} of {len(names)} names have a kind",
    )


@verb(
    "explain",
    gives=(
        "service.kinds:explain",
        {
            "findings": "service.log:StoredFindings.findings",
            "more": "builtins:int",
            "kinds": "service.kinds:ExplainedKind[]",
        },
    ),
)
def explain_command(settings: SharedSettings, what: ExplainedName) -> None:
    """Explain a KIND of change, or a FINDING of a stored comparison by its identity or place.

    Shows what happens to programs built with the old release, how to avoid it, and an example: two sources and what is
    found. With -v, also similar sources that give no such finding.

    KIND may also be KIND.VARIANT, a name that other tools use, or one from an earlier release.
    """
    if IDENTITY.fullmatch(what):
        _explain_finding(settings, what)
        return
    from abistore.service.kinds import explain

    found = explain(what)
    answer(settings, found, lambda: "\n\n".join(_explained(found, settings.verbosity > 0)))


def _explain_finding(settings: SharedSettings, identity: str) -> None:
    from abistore.cli.rendering import style_of
    from abistore.report.formats.text import one_finding
    from abistore.service.kinds import changes, explain
    from abistore.service.log import findings

    found = findings(identity, database=settings.database)
    known = {kind.kind for kind in changes()}
    kinds = [explain(kind) for kind in sorted({one.change.kind for one in found.findings} & known)]

    def text() -> str:
        style = style_of(settings, full=True)
        blocks = [
            "\n".join((f"{one.old} -> {one.new}", *one_finding(one.change, one.declared, style)))
            for one in found.findings
        ]
        if found.more:
            blocks.append(f"{counted(found.more, 'older finding')} of this identity or place: not shown")
        return "\n\n".join((*dict.fromkeys(blocks), *(part for kind in kinds for part in _explained(kind, False))))

    answer(settings, {"findings": found.findings, "more": found.more, "kinds": kinds}, text)


def _explained(one: ExplainedKind, near_misses: bool) -> Iterator[str]:
    from abistore.report.plain import labelled

    paragraphs = [
        f"{one.kind}: {one.title}",
        f"Impact: {one.impact}. Evidence: {one.evidence}. About: {one.element}, {one.action}.",
        *one.why.split("\n\n"),
        f"Fix: {one.fix}",
        *([f"Also called: {', '.join(one.aliases)}"] if one.aliases else []),
    ]
    yield from (textwrap.fill(paragraph, min(width(), 100)) for paragraph in paragraphs)
    if one.variants:
        rows = [(each.kind, each.impact, each.title) for each in one.variants]
        yield f"Other variants:\n{table(('kind', 'impact', 'title'), rows)}"
    if one.example:
        yield f"Example. {labelled(one.example, min(width(), 100))}"
    if one.near_misses and near_misses:
        yield f"Stays silent. {labelled(one.near_misses, min(width(), 100))}"


POLICY_HEADS = ("impact", "selects", "where", "expires", "reason")
HEADS = ("state", "selects", "expires", "where", "label", "reason")

policy_command = group("policy", "Show and check policies and suppressions; bind libraries to rules.")


@verb("show", inside=policy_command, store=False, gives={"policy": "service.ruling:policy_card"})
def show_command(
    settings: SharedSettings,
    policy: Annotated[str, Described(metavar="[NAME|FILE]", complete="policy")] = "strict_abi",
) -> None:
    """Show the overrides of a policy in order; the first that applies decides."""
    from abistore.service.ruling import policy_card

    card = policy_card(policy)
    answer(settings, {"policy": card}, lambda: _text(card))


def _text(card: PolicyCard) -> str:
    head = f"{card.name}: base {card.base}, versions ordered as {card.versioning}"
    if not card.overrides:
        return f"{head}\nevery kind has its own impact; see `abistore changes`"
    rows = [
        (
            one.impact.label,
            one.selects,
            one.where,
            f"{one.expires}{' (expired)' if one.expired else ''}" if one.expires else "",
            one.reason,
        )
        for one in card.overrides
    ]
    return f"{head}\n{table(POLICY_HEADS, rows)}"


class CheckedPolicy(msgspec.Struct, frozen=True):
    """A policy that is sound: how many overrides it has, and how many of them have expired."""

    name: str
    digest: str
    overrides: int
    expired: int


@verb("check", inside=policy_command, store=False, gives={"policy": "cli.commands.policy:CheckedPolicy"})
def policy_check_command(settings: SharedSettings, file: Annotated[str, Described(complete="file")]) -> None:
    """Check a policy FILE. Exits with 64 and names the first error, if there is one."""
    from abistore.service.ruling import policy_card

    card = policy_card(file)
    expired = sum(one.expired for one in card.overrides)
    checked = CheckedPolicy(card.name, card.digest, len(card.overrides), expired)
    answer(
        settings,
        {"policy": checked},
        lambda: (
            f"{card.name}: sound, {counted(len(card.overrides), 'override')}{f', {expired} expired' if expired else ''}"
        ),
    )


Pattern: TypeAlias = Annotated[str, Described(metavar="LIBRARY|PATTERN", complete="library")]

BOUND_HEADS = ("libraries", "demands", "since", "by", "reason", "stored libraries")


@verb("bind", inside=policy_command, gives={"bound": "service.binding:bind"})
def bind_command(
    settings: SharedSettings,
    pattern: Pattern,
    *,
    policy: Annotated[
        str | None,
        Described("Judge by this policy alone; the text of a file is stored.", metavar="NAME|FILE", complete="policy"),
    ] = None,
    scheme: Annotated[
        Literal["pep440", "semver", "debian", "plain"] | None,
        Described("Decide by this version scheme which releases may break."),
    ] = None,
    require: Annotated[
        str | None,
        Described(
            "Evidence that both sides must have completely: some of symbol,layout,source.", metavar="FACETS", main=True
        ),
    ] = None,
    since_soname: Annotated[
        bool, Described("Judge against every earlier release with the same SONAME, too.", main=True)
    ] = False,
    reason: Reason = "",
    actor: Actor = "",
) -> None:
    """Bind a library, or those that PATTERN matches, to a rule that their gates obey whatever they are asked.

    `gate`, `ingest`, `verdict`, `history`, `compare` with a stored release, Python and MCP obey it. Options that let
    more pass are an error (64, rule-bound): --fail-on breaking or never, --allow other than scheme and never,
    --require none, --suppress, --introduced-only and another --policy. What the rule leaves out is as gates do it by
    default. Several rules hold together.

    On PostgreSQL, who may bind is decided by privileges on the table bound_rule (docs/questions/policies.md).

    \b
    abistore policy bind 'lib*' --require layout --reason 'shipped to customers'
    abistore policy bind libfoo --policy sdk.yaml --since-soname --reason LIB-7
    """
    from abistore.service.binding import BindingPlan, bind

    plan = BindingPlan(reason, policy, scheme or "", require, since_soname, actor)
    done = bind(pattern, plan, database=settings.database)
    before = f"; was {done.replaced.words}" if done.replaced else ""
    libraries = counted(len(done.libraries), "stored library", "stored libraries")
    word = "bound" if done.changed else "bound already"
    line = f"{word}: {pattern} to {done.rule.words}{before}; {libraries}"
    answer(settings, {"bound": done}, lambda: line)


@verb("bound", inside=policy_command, gives={"bound": "service.binding:bound"})
def bound_command(
    settings: SharedSettings,
    library: Annotated[str | None, Described("The rules of this library.", complete="library")] = None,
) -> None:
    """List the rules that are bound in the store, or those of one LIBRARY, with who bound them and why."""
    from abistore.service.binding import bound

    found = bound(library, database=settings.database)
    rows = [
        (
            *(each.rule.pattern, each.rule.words, f"{each.rule.bound:%Y-%m-%d}", each.rule.actor, each.rule.reason),
            str(len(each.libraries)),
        )
        for each in found
    ]
    answer(settings, {"bound": found}, lambda: table(BOUND_HEADS, rows) if rows else "nothing is bound")


@verb("unbind", inside=policy_command, gives={"unbound": "service.binding:unbind"})
def unbind_command(settings: SharedSettings, pattern: Pattern, *, reason: Reason = "", actor: Actor = "") -> None:
    """Remove the rules that are bound to a library or PATTERN. The audit keeps who did it, and why."""
    from abistore.service.binding import unbind

    done = unbind(pattern, reason=reason, actor=actor, database=settings.database)
    was = done.replaced.words if done.replaced else ""
    answer(settings, {"unbound": done}, lambda: f"unbound: {pattern}; was {was}")


suppress_group = group("suppress", "Suggest, check and list suppressions.", inside=policy_command)


@verb(
    "suggest",
    inside=suppress_group,
    gives=(
        {"candidates": "builtins:int", "suppressions": "builtins:str"},
        {"candidates": "builtins:int", "output": "builtins:str"},
    ),
)
def suggest_command(
    settings: SharedSettings,
    old: Operand,
    new: Operand,
    *,
    least: Annotated[
        Literal["compatible", "risk", "api_break", "breaking"],
        Described("The lowest impact for which a suppression is written."),
    ] = "api_break",
    output: Output = None,
    judging: JudgingOptions,
    reading: ReadingOptions,
    line: LineOptions,
) -> None:
    """Compare OLD with NEW and write a suppression for each finding, for a person to review.

    The reasons are empty: the file is invalid until they are filled in.
    """
    from abistore.model.findings import Impact
    from abistore.service.comparing import compare
    from abistore.service.ruling import suggest

    with progress(settings) as advance:
        selection = reading.selection(SideOptions(), line, advance)
        report = compare(old, new, database=settings.database, selection=selection, by=judging.ruling())
    made = suggest(report, least=Impact[least.upper()])
    if is_file(output):
        write_file(output, made.yaml.encode())
        next_step = "review each one, and write its reason" if made.count else f"no change is {least} or worse"
        note(settings, f"{output}: {counted(made.count, 'candidate')}; {next_step}")
        if settings.json:
            answer(settings, {"output": str(output), "candidates": made.count}, str)
        return
    answer(settings, {"candidates": made.count, "suppressions": made.yaml}, made.yaml.rstrip)


@verb(
    "check",
    inside=suppress_group,
    store=False,
    gives=dict.fromkeys(("suppressions", "holds", "expired", "unexplained"), "builtins:int"),
)
def check_command(
    settings: SharedSettings,
    files: Paths,
    *,
    strict_suppressions: Annotated[
        bool, Described("Reject suppressions that have expired or select no declaration.")
    ] = False,
) -> None:
    """Check suppression files. Exits with 64 and names the first error, if there is one."""
    from abistore.service.ruling import suppressions

    found = suppressions(files, strict=strict_suppressions)
    counts = {state: sum(one.state == state for one in found) for state in ("holds", "expired", "unexplained")}
    answer(
        settings,
        {"suppressions": len(found), **counts},
        lambda: (
            f"sound: {counted(len(found), 'suppression')}, {counts['expired']} expired,"
            f" {counts['unexplained']} without a reason"
        ),
    )


@verb("list", inside=suppress_group, store=False, gives={"suppressions": "service.ruling:suppressions"})
def list_command(settings: SharedSettings, files: Paths) -> None:
    """List the suppressions in files: what each selects, why, and whether it holds today."""
    from abistore.service.ruling import suppressions

    found = suppressions(files)
    rows = [(one.state, one.selects, str(one.expires or ""), one.where, one.label, one.reason) for one in found]
    answer(settings, {"suppressions": found}, lambda: table(HEADS, rows) if rows else "no suppressions")
