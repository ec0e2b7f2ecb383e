"""``abi_compare`` and ``abi_gate``: two sides in, a verdict out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec

from abistore.arguments import MODE, WINDOW, Against, Allow, FailOn, MergeBase, Require, ShowOnly
from abistore.interface import (
    AllowPlan,
    DecisionRequest,
    EvidenceRequirement,
    ExtractOptions,
    HeaderOptions,
    Incomparable,
    OpenStore,
    Report,
    Ruling,
    Selection,
    SnapshotNotFound,
    Style,
    Summary,
    UsageError,
    bound_rule,
    compare,
    db_scheme,
    decided,
    evidence_for,
    requirement,
    since_merge_base,
    usual_counterpart,
    verdict,
)
from abistore.interface import show_only as showing
from abistore.mcp.answers import (
    Answer,
    BumpItem,
    ChangeItem,
    ComparedSide,
    Gap,
    NextCall,
    address,
    advice,
    asking,
    brief,
    bump_item,
    change_item,
    check_format,
    counts,
    gaps,
    headline,
    next_calls,
    side,
    written,
)
from abistore.mcp.operands import (
    SHOWN,
    Call,
    check_include_dirs,
    headers_of,
    keep,
    line_of,
    operand,
    ruling_of,
    told_report,
)
from abistore.mcp.settings import Refusal
from abistore.mcp.tools.declaration import (
    Cursor,
    DetailLevel,
    Folders,
    Headers,
    Language,
    Limit,
    Line,
    Operand,
    Policy,
    PolicyFile,
    SomeLibrary,
    SuppressionFile,
    Version,
    described,
    like,
    tool,
)
from abistore.model.decision import AllowRule, Outcome
from abistore.model.versions import DeprecationWindow
from abistore.model.versions import window as read_window
from abistore.report.model import VerdictName
from abistore.report.reasons import said

BUDGET = 1_200


class ComparisonAnswer(Answer, frozen=True, kw_only=True):
    """The verdict about two sides, and a page of the changes; ``verdict`` is null where none can be true.

    Nothing is decided about sides that cannot be compared: their ``outcome`` is undecided.

    ``approved`` says who accepted what breaks, if a gate passes for that: ``exit_code`` is 0 then, the verdict stays.
    """

    verdict: VerdictName | None
    exit_code: int
    outcome: Outcome | None
    comparable: bool
    reason: str | None
    comparison_id: str | None
    summary: Summary | None
    changes: tuple[ChangeItem, ...]
    suppressed_count: int
    returned: int
    total: int
    approved: str = ""
    advice: tuple[str, ...] = ()
    not_checked: tuple[Gap, ...] = ()
    old: ComparedSide | None = None
    new: ComparedSide | None = None
    policy: str | None = None
    report: Any = None
    report_uri: str | None = None
    next_cursor: str | None = None
    warnings: tuple[str, ...] = ()
    next: tuple[NextCall, ...] = ()


@tool("Compare two builds")
def abi_compare(
    call: Call,
    *,
    old_input: Operand,
    new_input: Operand,
    headers: Headers = None,
    old_headers: Headers = None,
    new_headers: Headers = None,
    include_dirs: Folders = None,
    line: Line = None,
    language: Language = None,
    policy: Policy = "strict_abi",
    policy_file: PolicyFile = None,
    suppression_file: SuppressionFile = None,
    output_format: Annotated[
        str, described("Format of report", json_schema_extra={"enum": ["json", "markdown", "sarif", "html"]})
    ] = "json",
    show_only: Annotated[str | list[str] | None, like(ShowOnly)] = None,
    report_mode: Annotated[Literal["full", "leaf"], MODE] = "full",
    show_impact: Annotated[bool, described("List affected exports")] = False,
    stat: Annotated[bool, described("Verdict and counts only")] = False,
    include_report: Annotated[bool, described("Send the whole report too")] = False,
    detail_level: DetailLevel = "summary",
    cursor: Cursor = None,
    limit: Limit = None,
) -> ComparisonAnswer:
    """Judge whether programs built with the old library go on working with the new one.

    Each side is a stored release, a binary, a package or a JSON snapshot. Tells the verdict, the
    outcome (exit code 0, or API_BREAK 2, BREAKING 4), what was not checked, and a page of changes, worst first.
    Use it for any two sides; abi_review_build is for a pull request. Its comparison_id is for abi_findings and others.
    Example: old_input="libfoo@baseline", new_input="/ci/libfoo.so", new_headers=["/ci/include"].
    """
    check_format(output_format)
    shown = _filter(show_only)
    sides = [operand(call.settings, text, name) for text, name in ((old_input, "old_input"), (new_input, "new_input"))]
    given = {"headers": headers, "old_headers": old_headers, "new_headers": new_headers}
    named = headers_of_sides(call, given, include_dirs, language)
    by = ruling_of(call.settings, policy, policy_file, suppression_file)
    try:
        report = _compared(call, sides, (line, named), by)
    except Incomparable as error:
        return _incomparable(error)
    answer = _answer(call, report)
    if stat:
        return _in_one_line(answer, output_format)
    level = "normal" if show_impact and detail_level == "summary" else detail_level
    found = _with_changes(call, answer, shown(report), level, report_mode)
    if output_format == "json" and not include_report:  # it would say the changes again
        return msgspec.structs.replace(found, report_uri=address(answer.comparison_id, "json"))
    most = call.settings.max_response_units
    told = written(shown(report), output_format, Style(mode=report_mode), show_impact=show_impact, most=most)
    warnings = (*answer.warnings, *told.warnings)
    uri = address(answer.comparison_id, told.suffix)
    return msgspec.structs.replace(found, report=told.inline, report_uri=uri, warnings=warnings)


def _in_one_line(answer: ComparisonAnswer, format: str) -> ComparisonAnswer:
    reasons = tuple(msgspec.structs.replace(gap, detail="", hint="") for gap in answer.not_checked)
    line = None if format == "json" else answer.headline
    short = msgspec.structs.replace(answer, old=None, new=None, not_checked=reasons, report=line)
    return msgspec.structs.replace(short, next=answer.next[:1])


def _filter(tokens: str | Sequence[str] | None) -> Any:
    """What shows some changes only."""
    if not tokens:
        return lambda report: report
    words = tokens.split(",") if isinstance(tokens, str) else list(tokens)
    for word in words:
        try:
            showing(word)
        except UsageError as error:
            if word.strip() != "elf":
                raise Refusal("INVALID_ARGUMENT", f"Invalid show_only: {word}", error.hint) from error
    return showing(",".join("library" if word.strip() == "elf" else word for word in words))


def headers_of_sides(
    call: Call, given: Mapping[str, list[str] | None], folders: list[str] | None, language: str | None
) -> dict[str, HeaderOptions | None]:
    """The headers of both sides and of each, by their arguments. Raises :class:`Refusal`."""
    named = {name: headers_of(call.settings, each, folders, language, name) for name, each in given.items()}
    check_include_dirs(folders, *given.values())
    return named


def _compared(
    call: Call, sides: list[str | Path], said: tuple[str | None, dict[str, HeaderOptions | None]], by: Ruling | None
) -> Report:
    """The report about both sides; ``said`` is their line, and the headers by their arguments."""
    line, named = said
    target, _, profile = (line or "").partition("/")
    options = ExtractOptions(max_bytes=call.settings.max_file_size, progress=call.progress, headers=named["headers"])
    selection = Selection(target or None, profile or None, options, named["old_headers"], named["new_headers"])
    if all(isinstance(each, Path) for each in sides):
        return compare(*sides, selection=selection, by=by)
    with call.store() as store:
        return _compared_by(store, sides, selection, by)


def _compared_by(store: OpenStore, sides: list[str | Path], selection: Selection, by: Ruling | None) -> Report:
    old, new = sides
    return compare(old, new, selection=selection, by=by, database=store)


def _incomparable(error: Incomparable) -> ComparisonAnswer:
    return ComparisonAnswer(
        headline=f"NOT COMPARABLE: {brief(error.message)}",
        verdict=None,
        exit_code=error.exit_code,
        outcome=None,
        comparable=False,
        reason=brief(error.message),
        comparison_id=None,
        summary=None,
        changes=(),
        suppressed_count=0,
        returned=0,
        total=0,
        warnings=(error.hint,),
        next=(asking("abi_list", "See what is stored, and for which platforms."),),
    )


def _answer(call: Call, report: Report) -> ComparisonAnswer:
    """The verdict, without changes."""
    assert report.decision is not None, "a comparison decides"
    comparison_id = keep(call, report)
    return ComparisonAnswer(
        headline=headline(report),
        verdict=report.verdict,
        exit_code=report.exit_code,
        outcome=report.decision.outcome,
        comparable=True,
        reason=None,
        comparison_id=comparison_id,
        summary=report.summary,
        changes=(),
        suppressed_count=report.suppressed_count,
        returned=0,
        total=len(report.changes),
        approved=brief(_waived(report)),
        advice=advice(report),
        not_checked=gaps(report),
        old=side(report.old),
        new=side(report.new),
        policy=report.policy,
        warnings=tuple(map(brief, report.notes)),
        next=next_calls(report, comparison_id, listed=False),
    )


def _with_changes(
    call: Call, answer: ComparisonAnswer, report: Report, level: Any, mode: Literal["full", "leaf"]
) -> ComparisonAnswer:
    cards = {card.kind: card for card in report.kinds}
    changes = report.changes
    if mode == "leaf":
        first = {change.symbol: number for number, change in reversed(list(enumerate(changes)))}
        changes = tuple(sorted(changes, key=lambda change: first[change.symbol]))
    items = [change_item(change, level, cards.get(change.kind)) for change in changes]
    page = call.page(items, budget=BUDGET)
    identity = answer.comparison_id if len(page.items) == answer.total else None
    return msgspec.structs.replace(
        answer,
        changes=page.items,
        returned=len(page.items),
        total=len(items),
        next_cursor=page.next_cursor,
        next=(*page.more, *(next_calls(report, identity, listed=True) if identity else answer.next)),
    )


NOTES = 2
"""How many remarks a gate's answer has: that nothing else was compared, or that a release was withdrawn."""


GATE_HEADS: Final[dict[Outcome, str]] = {"pass": "WOULD PASS", "fail": "WOULD FAIL", "undecided": "UNDECIDED"}


class GateAnswer(Answer, frozen=True, kw_only=True):
    """What a gate would say; ``rule_source`` is what the findings were judged by."""

    would_fail: bool
    verdict: VerdictName
    exit_code: int
    outcome: str
    reasons: tuple[str, ...]
    rule_source: str
    comparison_id: str
    bump: BumpItem | None = None
    not_checked: tuple[Gap, ...] = ()
    next: tuple[NextCall, ...] = ()


@tool("Ask the gate")
def abi_gate(
    call: Call,
    *,
    comparison_id: Annotated[str | None, described("Or give library")] = None,
    library: SomeLibrary = None,
    version: Version = "latest",
    against: Against = None,
    line: Line = None,
    fail_on: FailOn = "api_break",
    require_evidence: Require = None,
    policy: Policy = "strict_abi",
    allow: Allow = "scheme",
    merge_base: MergeBase = None,
    deprecation: Annotated[str | None, WINDOW] = None,
) -> GateAnswer:
    """Tell whether CI would fail, with the exit code and the reasons: give library, or comparison_id.

    A later release than the baseline is judged against it. Use it to see what fail_on, require_evidence or allow
    would change. Example: library="libfoo", fail_on="risk".
    """
    for name, value in (("merge_base", merge_base), ("deprecation", deprecation)):
        if value and library is None:
            raise Refusal("INVALID_ARGUMENT", f"{name} needs library", "a comparison alone has no line of builds")
    required = requirement(require_evidence)
    by = ruling_of(call.settings, policy, None, None)
    if (comparison_id is None) == (library is None):
        raise Refusal("INVALID_ARGUMENT", "give comparison_id or library", "one of them, and not both")
    if comparison_id is not None:
        if by is not None:
            hint = "compare again with abi_compare(policy=...), and give its comparison_id"
            raise Refusal("INVALID_ARGUMENT", "a comparison was judged already: policy has no effect on it", hint)
        report = gated(call, told_report(call, comparison_id), (fail_on, required, allow))
    else:
        rules = _Rules(fail_on, required, by, allow, read_window(deprecation) if deprecation else None)
        report = _stored(call, f"{library}@{version}", against, line, rules)
    since = _since(call, report, merge_base, (line, by)) if merge_base else ()
    answer = _gate_answer(report, keep(call, report), since)
    return msgspec.structs.replace(answer, next=(*_before_that(call, report), *answer.next))


def _since(call: Call, report: Report, merge_base: str, asked: tuple[str | None, Ruling | None]) -> tuple[str, ...]:
    """What the change since its merge base brought, and what stood before."""
    line, by = asked
    with call.store() as store:
        profile = line_of(store, report.new.library, line).profile
        told = since_merge_base(report, merge_base, profile=profile, by=by, database=store)
    if told.untold:
        return (brief(f"not separated: {told.untold}"),)
    return (f"since {told.merge_base}: {len(told.introduced)} that fail are new, {len(told.inherited)} existing",)


class _Rules(NamedTuple):
    """What a stored release is judged by."""

    fail_on: FailOn
    required: EvidenceRequirement | None
    by: Ruling | None
    allow: AllowRule
    deprecation: DeprecationWindow | None


def _stored(call: Call, reference: str, against: str | None, line: str | None, rules: _Rules) -> Report:
    """A release at the gate, against the baseline: one that is older, against the release before it."""
    with call.store() as store:
        chosen = line_of(store, reference.partition("@")[0], line)
        of_line = chosen.words
        older = "" if against else usual_counterpart(reference, database=store, **of_line).why
        judged = verdict(
            reference,
            against=against or ("prev" if older else "baseline"),
            **of_line,
            fail_on=rules.fail_on,
            require=rules.required,
            by=rules.by,
            allow=rules.allow,
            deprecation=rules.deprecation,
            database=store,
        )
    report = judged.report
    return msgspec.structs.replace(report, notes=(older, *report.notes)) if older else report


USUAL: Final[tuple[FailOn, EvidenceRequirement | None, AllowRule]] = ("api_break", None, "scheme")
"""What a gate asks for, where nothing else is said."""


def gated(call: Call, report: Report, rules: tuple[FailOn, EvidenceRequirement | None, AllowRule] = USUAL) -> Report:
    """A comparison at the gate, by the version scheme of its library where one is stored."""
    fail_on, required, allow = rules
    plan, bound = AllowPlan(allow), None
    if not call.has_no_store:
        with call.store() as store:
            bound = bound_rule(report.new.library, report.new.soname, database=store)
            with suppress(SnapshotNotFound):
                plan = AllowPlan(allow, db_scheme(report.new.library, database=store).scheme)
    needed = evidence_for(bound, required, EvidenceRequirement(no_less=fail_on != "never"))
    return decided(report, DecisionRequest("release", "", fail_on, needed, plan, bound=bound))


def _gate_answer(report: Report, comparison_id: str, since: tuple[str, ...]) -> GateAnswer:
    decision = report.decision
    assert decision is not None, "a gate decides"
    failing = decision.exit_code != 0
    files = ", ".join(file.name for file in report.suppression_files)
    sides = f"{report.old} -> {report.new}"
    return GateAnswer(
        headline=f"{GATE_HEADS[decision.outcome]} with {decision.exit_code}: {report.verdict}, {sides}",
        would_fail=failing,
        verdict=report.verdict,
        exit_code=decision.exit_code,
        outcome=decision.outcome,
        reasons=(*_reasons(report), *since),
        rule_source=f"policy {report.policy}; fail_on {report.fail_on}; suppressions {files or 'none'}",
        comparison_id=comparison_id[:SHOWN],
        bump=bump_item(report),
        not_checked=gaps(report),
        next=_after_gate(comparison_id[:SHOWN], failing),
    )


def _before_that(call: Call, report: Report) -> tuple[NextCall, ...]:
    """The gate against the release before, where the baseline may be broken and says nothing of what broke since."""
    decision = report.decision
    if decision is None or decision.code != "allowed" or decision.against.why != "baseline":
        return ()
    say = "It may break the baseline: ask the gate against the release before."
    return (asking("abi_gate", say, **{**call.arguments, "against": "prev"}),)


def _after_gate(short: str, failing: bool) -> tuple[NextCall, ...]:
    comment = asking("abi_pr_summary", "Write the comment for the pull request.", comparison_id=short)
    return (asking("abi_findings", "List what fails.", comparison_id=short), comment) if failing else (comment,)


def _waived(report: Report) -> str:
    """Who approved what breaks, where it passes for that."""
    decision = report.decision
    return decision.headline if decision is not None and decision.code == "waived" else ""


def _reasons(report: Report) -> tuple[str, ...]:
    found = [f"{counts(report.summary)}; the mildest impact that fails is {report.fail_on}"]
    found += map(brief, said(report))
    if report.error and report.decision is not None:
        told = " ".join(found)
        others = (each.sentence for each in report.decision.missing if each.sentence not in told)
        found.append("; ".join(map(brief, (*others, report.hint))))
    found += [brief(note) for note in report.notes[:NOTES]]
    if report.suppressed_count:
        found.append(f"{report.suppressed_count} findings are suppressed and do not count")
    return tuple(found)
