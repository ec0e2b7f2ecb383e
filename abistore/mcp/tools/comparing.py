"""``abi_compare``, ``abi_gate``, ``abi_findings`` and ``abi_finding``: two sides in, a verdict and findings out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias

import msgspec

from abistore.interface import (
    AllowPlan,
    ChangeKind,
    ComparedDeclaration,
    DecisionRequest,
    EvidenceMissing,
    EvidenceRequirement,
    ExplainedKind,
    ExtractOptions,
    HeaderOptions,
    Incomparable,
    Novelty,
    OpenStore,
    Report,
    ReportedFinding,
    Ruling,
    Selection,
    SnapshotNotFound,
    StoredFinding,
    Style,
    Summary,
    UsageError,
    beside_build,
    beside_comparison,
    compare,
    db_scheme,
    decided,
    explain,
    requirement,
    since_merge_base,
    usual_counterpart,
)
from abistore.interface import findings as stored_findings
from abistore.interface import show_only as showing
from abistore.mcp.answers import (
    Answer,
    BumpItem,
    ChangeItem,
    ComparedSide,
    Gap,
    NextCall,
    ReviewItem,
    address,
    advice,
    asking,
    brief,
    bump_item,
    change_item,
    check_format,
    counts,
    difference_lines,
    gaps,
    headline,
    next_calls,
    one_call,
    side,
    suppressed_findings,
    written,
)
from abistore.mcp.operands import (
    SHOWN,
    Call,
    allow_rule,
    check_include_dirs,
    earlier_report,
    findings_of,
    headers_of,
    identity_of,
    is_handle,
    keep,
    line_of,
    one_finding,
    operand,
    reviewed,
    ruling_of,
    told_report,
)
from abistore.mcp.settings import Refusal
from abistore.mcp.tools.declaration import (
    Allow,
    ComparisonId,
    Cursor,
    DetailLevel,
    FailOn,
    Folders,
    Headers,
    Language,
    Limit,
    Line,
    Operand,
    Policy,
    PolicyFile,
    SuppressionFile,
    described,
    tool,
)
from abistore.model.decision import AllowRule, Outcome
from abistore.model.findings import Element
from abistore.model.kind_names import is_meant
from abistore.model.versions import DeprecationWindow
from abistore.model.versions import window as read_window
from abistore.report.model import ImpactLabel, VerdictName
from abistore.report.reasons import said
from abistore.report.wording import concern

BUDGET = 1_200


class ComparisonAnswer(Answer, frozen=True, kw_only=True):
    """The verdict about two sides, and a page of the changes; ``verdict`` is null where none can be true.

    Nothing is decided about sides that cannot be compared: their ``outcome`` is undecided.

    ``approved`` says who accepted what breaks, if a gate passes for that: ``exit_code`` is 0 then, the verdict stays.
    """

    verdict: VerdictName | None
    exit_code: int
    outcome: str
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
    show_only: Annotated[
        str | list[str] | None,
        described("Display only, e.g. breaking,functions,removed"),
    ] = None,
    report_mode: Annotated[Literal["full", "leaf"], described("leaf: grouped by declaration")] = "full",
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
    return store.compare(old, new, selection=selection, by=by)


def _incomparable(error: Incomparable) -> ComparisonAnswer:
    return ComparisonAnswer(
        headline=f"NOT COMPARABLE: {brief(error.message)}",
        verdict=None,
        exit_code=EvidenceMissing.exit_code,
        outcome="undecided",
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


FINDINGS_BUDGET = 1_500
LONGEST_NAME = 1_000
"""A longer name is no argument of a call that is proposed: nobody sends it back."""

LONG = 600
"""How many characters a declaration has that is told whole, unless more is asked for."""

State: TypeAlias = Literal["active", "suppressed", "advice", "reviewed"]


class LeftOut(msgspec.Struct, frozen=True):
    """What an answer leaves out: findings that are suppressed, and those that the filters leave out."""

    suppressed: int
    filtered_out: int


class BesideItem(msgspec.Struct, frozen=True):
    """This comparison beside an earlier one: how many findings are new, known, and gone since."""

    label: str
    trend: Literal["regressed", "improved", "mixed", "unchanged"]
    new: int
    known: int
    gone: int


class FindingsAnswer(Answer, frozen=True, kw_only=True):
    """A page of findings; an empty one says why: what was left out, and what was not checked."""

    verdict: VerdictName
    comparison_id: str
    items: tuple[ChangeItem, ...]
    total: int
    returned: int
    excluded: LeftOut
    beside: BesideItem | None = None
    not_checked: tuple[Gap, ...] = ()
    next_cursor: str | None = None
    next: tuple[NextCall, ...] = ()


class FindingAnswer(Answer, frozen=True, kw_only=True):
    """One finding with its declaration before and after; ``found_in`` is a comparison that has it.

    Of long declarations ``difference`` has the lines that differ, and the level ``full`` both texts.
    """

    finding: ChangeItem
    before: str | None
    after: str | None
    difference: tuple[str, ...] = ()
    guidance: str
    found_in: str
    consequences: tuple[ChangeItem, ...] = ()
    next: tuple[NextCall, ...] = ()


class _Wanted(NamedTuple):
    """The filters of findings."""

    impact: str | None
    element: str | None
    action: str | None
    kind: str | None
    symbol: str | None
    path: str | None
    novelty: str | None

    @property
    def told(self) -> str:
        return " ".join(value for value in self if value)


@tool("List findings")
def abi_findings(
    call: Call,
    *,
    comparison_id: ComparisonId,
    impact: Annotated[ImpactLabel | None, described("Only these")] = None,
    element: Annotated[Element | None, described("Only about these")] = None,
    action: Annotated[Literal["added", "removed", "changed"] | None, described("Only these")] = None,
    kind: Annotated[str | None, described("Only this kind")] = None,
    symbol: Annotated[str | None, described("Part of a name: about, affecting or mentioning it")] = None,
    path: Annotated[str | None, described("Part of its file's path")] = None,
    beside: Annotated[str | None, described("Earlier comparison_id, version or revision")] = None,
    novelty: Annotated[Literal["new", "known", "gone"] | None, described("beside that, else the baseline")] = None,
    state: Annotated[State, described("suppressed: accepted")] = "active",
    sort_by: Annotated[Literal["priority", "symbol", "kind"], described("priority: worst first")] = "priority",
    detail_level: DetailLevel = "summary",
    cursor: Cursor = None,
    limit: Limit = None,
) -> FindingsAnswer:
    """Page through what a comparison found, worst first, filtered as you like. The verdict is of all findings.

    Use it for lists, abi_finding for one; with beside for what another round of a pull request brought or mended.
    Example: comparison_id="2835c286835ef65f", impact="breaking", limit=200.
    """
    report = told_report(call, comparison_id)
    said = reviewed(call, report.new.library)
    compared = _compared_with(call, report, beside or ("baseline" if novelty else None))
    every = compared.gone if compared and novelty == "gone" else _of_state(report, state, said)
    wanted = _Wanted(impact, element, action, kind, symbol, path, novelty)
    cards = {card.kind: card for card in kinds_of(every)}
    chosen = _sorted([each for each in every if _fits(each, cards.get(each.kind), wanted, compared)], sort_by)
    items = (change_item(one, detail_level, cards.get(one.kind)) for one in chosen)
    told = [_told_with(item, one, said, symbol, compared) for item, one in zip(items, chosen, strict=True)]
    page = call.page(told, budget=FINDINGS_BUDGET)
    short = identity_of(report)[:SHOWN]
    return FindingsAnswer(
        headline=_findings_headline(report, f"{len(chosen)} of {len(every)} {state} findings", wanted, compared),
        verdict=report.verdict,
        comparison_id=short,
        items=page.items,
        total=len(chosen),
        returned=len(page.items),
        excluded=LeftOut(0 if state == "suppressed" else report.suppressed_count, len(every) - len(chosen)),
        beside=_beside_item(report, compared) if compared else None,
        not_checked=gaps(report),
        next_cursor=page.next_cursor,
        next=(*page.more, *_next(short, [] if novelty == "gone" else chosen, report)),
    )


def kinds_of(found: Iterable[ReportedFinding]) -> Iterator[ChangeKind]:
    """What is known of the kinds of findings, each once."""
    yield from (card for name in {each.kind for each in found} if (card := _card(name)) is not None)


def _compared_with(call: Call, report: Report, beside: str | None) -> Novelty | None:
    if beside is None:
        return None
    if is_handle(beside):
        return beside_comparison(report, earlier_report(call, beside))
    with call.store() as store:
        return beside_build(report, beside, database=store)


def _beside_item(report: Report, found: Novelty) -> BesideItem:
    trend: Literal["regressed", "improved", "mixed", "unchanged"] = "unchanged"
    if found.new or found.gone:
        trend = "mixed" if found.new and found.gone else "regressed" if found.new else "improved"
    return BesideItem(
        brief(found.beside, 160), trend, len(found.new), len(report.changes) - len(found.new), len(found.gone)
    )


def _findings_headline(report: Report, told: str, wanted: _Wanted, compared: Novelty | None) -> str:
    fit = f" fit {brief(wanted.told, 80)}" if wanted.told else ""
    if compared is None:
        return f"{report.verdict}: {told}{fit}"
    item = _beside_item(report, compared)
    return f"{report.verdict}: {told}{fit}; {item.trend}: {item.new} new and {item.gone} gone beside {item.label}"


def _told_with(
    item: ChangeItem,
    change: ReportedFinding,
    said: Mapping[str, ReviewItem],
    symbol: str | None,
    compared: Novelty | None,
) -> ChangeItem:
    """An item with what people said of it, how it concerns a symbol, and whether it is new."""
    how = concern(change, symbol) if symbol else None
    novelty = ""
    if compared is not None:
        is_gone = any(each is change for each in compared.gone)
        novelty = "gone" if is_gone else "new" if change.id in compared.new else "known"
    matched = how if how and how != "name" else ""
    return msgspec.structs.replace(item, review=said.get(item.id), matched=matched, novelty=novelty)


def _of_state(report: Report, state: State, said: Mapping[str, ReviewItem]) -> Sequence[ReportedFinding]:
    if state == "reviewed":
        return [one for one in (*report.changes, *report.suppressed) if one.id in said]
    return {"active": report.changes, "suppressed": report.suppressed, "advice": report.advice}[state]


def _next(short: str, chosen: Sequence[ReportedFinding], report: Report) -> tuple[NextCall, ...]:
    if chosen:
        return (one_call(chosen[0], short),)
    if report.suppressed_count:
        return (suppressed_findings(short),)
    return (asking("abi_gate", "See whether CI would fail.", comparison_id=short),)


def _fits(change: ReportedFinding, card: ChangeKind | None, wanted: _Wanted, compared: Novelty | None) -> bool:
    if wanted.impact not in {None, change.impact} or wanted.action not in {None, card.action if card else ""}:
        return False
    if wanted.kind is not None and not is_meant(wanted.kind, change.kind):
        return False
    if wanted.symbol is not None and concern(change, wanted.symbol) is None:
        return False
    if wanted.path is not None and wanted.path not in (change.source_location or ""):
        return False
    if compared is not None and wanted.novelty in {"new", "known"}:
        return (change.id in compared.new) == (wanted.novelty == "new")
    return wanted.element is None or wanted.element in _elements(change, card)


def _elements(change: ReportedFinding, card: ChangeKind | None) -> frozenset[str]:
    """What a finding is about; one about the library that names exports is about these, too."""
    own = card.element if card else ""
    return frozenset({own, "functions", "variables"} if own == "library" and change.affected else {own})


def _sorted(changes: list[ReportedFinding], by: Literal["priority", "symbol", "kind"]) -> list[ReportedFinding]:
    if by == "priority":
        return changes
    return sorted(changes, key=lambda change: (change.symbol if by == "symbol" else change.kind, change.id))


@tool("Read one finding")
def abi_finding(
    call: Call,
    *,
    finding_id: Annotated[str, described("id of a finding, or its first digits")],
    comparison_id: Annotated[str | None, described("Else: all stored verdicts")] = None,
    detail_level: DetailLevel = "normal",
) -> FindingAnswer:
    """Tell one finding: its declaration before and after, the exports it affects, why it matters, how to avoid it.

    Use it to explain or mend a break. Example: finding_id="3b3f191f", comparison_id="2835c286835ef65f".
    """
    if comparison_id is None:
        return _from_store(call, finding_id, detail_level)
    report = told_report(call, comparison_id)
    declared = {(one.symbol, one.subject): one for one in report.declarations}
    change = one_finding(findings_of(report), finding_id)
    where = f"{report.old} -> {report.new}"
    answer = _finding(change, declared.get((change.symbol, change.subject)), where, detail_level)
    return _with_review(call, answer, report.new.library)


def _from_store(call: Call, finding_id: str, level: Literal["summary", "normal", "full"]) -> FindingAnswer:
    with call.store() as store:
        found: StoredFinding = stored_findings(finding_id, database=store).findings[-1]
    answer = _finding(found.change, found.declared, f"{found.old} -> {found.new}", level)
    return _with_review(call, answer, found.new.library)


def _with_review(call: Call, answer: FindingAnswer, library: str) -> FindingAnswer:
    said = reviewed(call, library).get(answer.finding.id)
    finding = msgspec.structs.replace(answer.finding, review=said)
    after = [*answer.next, *_earlier(call, finding.symbol, library)]
    if answer.difference:
        whole = {**call.arguments, "detail_level": "full"}
        after.insert(0, asking(call.tool, "Read the whole declarations.", **whole))
    if call.settings.allow_write:
        say, among = "Note that people have seen it.", call.arguments.get("comparison_id")
        after.append(asking("abi_review", say, finding_id=finding.id, state="seen", comparison_id=among))
    return msgspec.structs.replace(answer, finding=finding, next=tuple(after))


def _earlier(call: Call, symbol: str, library: str) -> Iterator[NextCall]:
    """The call that tells what became of a declaration, where the store knows it."""
    if call.has_no_store or not 0 < len(symbol) <= LONGEST_NAME:
        return
    with call.store() as store, suppress(SnapshotNotFound):
        store.log(symbol, library=library)
        yield asking("abi_symbol_history", "See when it changed before.", symbol=symbol, library=library)


def _finding(
    change: ReportedFinding,
    declared: ComparedDeclaration | None,
    where: str,
    level: Literal["summary", "normal", "full"],
) -> FindingAnswer:
    card = _card(change.kind)
    item = change_item(change, level, card)
    length = len(declared.before or "") + len(declared.after or "") if declared else 0
    whole = level == "full" or length <= 2 * LONG
    return FindingAnswer(
        headline=f"{change.impact}: {brief(change.display, 120)}: {brief(change.description, 160)}",
        finding=msgspec.structs.replace(item, fix=""),
        before=declared.before if whole and declared else None,
        after=declared.after if whole and declared else None,
        difference=() if whole or not declared else tuple(difference_lines(declared)),
        guidance=card.fix if card else "",
        found_in=brief(where),
        consequences=tuple(change_item(each, "summary") for each in change.consequences[:3]),
        next=(asking("abi_explain_change", "Read what this kind of change does.", change_kind=change.kind),),
    )


def _card(kind: str) -> ExplainedKind | None:
    try:
        return explain(kind)
    except UsageError:  # a stored finding may be of a kind that is gone
        return None


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
    library: Annotated[str | None, described("As stored")] = None,
    version: Annotated[str, described("Label, as a string")] = "latest",
    against: Annotated[
        str | None, described("baseline[:CHANNEL], prev or version; else the baseline, for a later release")
    ] = None,
    line: Line = None,
    fail_on: FailOn = "api_break",
    require_evidence: Annotated[str | None, described("symbol, layout, source, old or none")] = None,
    policy: Policy = "strict_abi",
    allow: Allow = "scheme",
    merge_base: Annotated[str, described("Revision")] = "",
    deprecation: Annotated[str, described("Window: 2 minor")] = "",
) -> GateAnswer:
    """Tell whether CI would fail, with the exit code and the reasons: give library, or comparison_id.

    Use it to see what fail_on, require_evidence or allow would change. Example: library="libfoo", fail_on="risk".
    """
    for name, value in (("merge_base", merge_base), ("deprecation", deprecation)):
        if value and library is None:
            raise Refusal("INVALID_ARGUMENT", f"{name} needs library", "a comparison alone has no line of builds")
    required, rule = requirement(require_evidence), allow_rule(allow)
    by = ruling_of(call.settings, policy, None, None)
    if (comparison_id is None) == (library is None):
        raise Refusal("INVALID_ARGUMENT", "give comparison_id or library", "one of them, and not both")
    if comparison_id is not None:
        if by is not None:
            hint = "compare again with abi_compare(policy=...), and give its comparison_id"
            raise Refusal("INVALID_ARGUMENT", "a comparison was judged already: policy has no effect on it", hint)
        report = gated(call, told_report(call, comparison_id), (fail_on, required, rule))
    else:
        rules = _Rules(fail_on, required, by, rule, read_window(deprecation) if deprecation else None)
        report = _stored(call, f"{library}@{version}", against, line, rules)
    since = _since(call, report, merge_base, (line, by)) if merge_base else ()
    return _gate_answer(report, keep(call, report), since)


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
        judged = store.verdict(
            reference,
            against=against or ("prev" if older else "baseline"),
            **of_line,
            fail_on=rules.fail_on,
            require=rules.required,
            by=rules.by,
            allow=rules.allow,
            deprecation=rules.deprecation,
        )
    report = judged.report
    return msgspec.structs.replace(report, notes=(older, *report.notes)) if older else report


USUAL: Final[tuple[FailOn, EvidenceRequirement | None, AllowRule]] = ("api_break", None, "scheme")
"""What a gate asks for, where nothing else is said."""


def gated(call: Call, report: Report, rules: tuple[FailOn, EvidenceRequirement | None, AllowRule] = USUAL) -> Report:
    """A comparison at the gate, by the version scheme of its library where one is stored."""
    fail_on, required, allow = rules
    plan = AllowPlan(allow)
    if not call.has_no_store:
        with call.store() as store, suppress(SnapshotNotFound):
            plan = AllowPlan(allow, db_scheme(report.new.library, database=store).scheme)
    needed = EvidenceRequirement(no_less=fail_on != "never") if required is None else required
    return decided(report, DecisionRequest("release", "", fail_on, needed, plan))


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
