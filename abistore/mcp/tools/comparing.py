"""``abi_compare``: two sides in, a verdict out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from abistore.interface import (
    ExtractOptions,
    HeaderOptions,
    Incomparable,
    OpenStore,
    Report,
    Ruling,
    Selection,
    Style,
    Summary,
    UsageError,
    compare,
)
from abistore.interface import show_only as showing
from abistore.mcp.answers.answer import Answer, asking, brief
from abistore.mcp.answers.changes import ChangeItem, change_item
from abistore.mcp.answers.compared import ComparedSide, Gap, advice, gaps, headline, next_calls, side
from abistore.mcp.answers.written import address, check_format, written
from abistore.mcp.call import Call
from abistore.mcp.handles import keep
from abistore.mcp.operands import check_include_dirs, headers_of, operand, ruling_of
from abistore.mcp.refusals import Refusal
from abistore.mcp.tools.declaration import tool
from abistore.mcp.tools.parameters import (
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
    SuppressionFile,
    described,
)
from abistore.report.heading import passing
from abistore.report.model import VerdictName

BUDGET = 1_200


class ComparisonAnswer(Answer, frozen=True, kw_only=True):
    """The verdict about two sides, and a page of the changes; ``verdict`` is null where none can be true.

    ``approved`` says who accepted what breaks, if a gate passes for that: ``exit_code`` is 0 then, the verdict stays.
    """

    verdict: VerdictName | None
    exit_code: int | None
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
    next: tuple[str, ...] = ()


@tool()
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
    show_impact: Annotated[bool, described("Tell affected exports")] = False,
    stat: Annotated[bool, described("Verdict and counts only")] = False,
    include_report: Annotated[bool, described("Send the whole report too")] = False,
    detail_level: DetailLevel = "summary",
    cursor: Cursor = None,
    limit: Limit = 20,
) -> ComparisonAnswer:
    """Judge whether programs built with the old library go on working with the new one.

    Each side is a stored release, a binary, a package or a JSON snapshot. Tells the verdict (exit codes: NO_CHANGE,
    COMPATIBLE, COMPATIBLE_WITH_RISK 0, API_BREAK 2, BREAKING 4), what was not checked, and a page of the changes,
    worst first.
    Give its comparison_id to abi_findings, abi_finding, abi_gate, abi_pr_summary.
    """
    check_format(output_format)
    shown = _filter(show_only)
    sides = [operand(call.settings, text, name) for text, name in ((old_input, "old_input"), (new_input, "new_input"))]
    given = {"headers": headers, "old_headers": old_headers, "new_headers": new_headers}
    named = _named(call, given, include_dirs, language)
    by = ruling_of(call.settings, policy, policy_file, suppression_file)
    try:
        report = _compared(call, sides, (line, named), by)
    except Incomparable as error:
        return _incomparable(error)
    answer = _answer(call, report)
    if stat:
        reasons = tuple(msgspec.structs.replace(gap, detail="", hint="") for gap in answer.not_checked)
        return msgspec.structs.replace(answer, old=None, new=None, not_checked=reasons, next=answer.next[:1])
    level = "normal" if show_impact and detail_level == "summary" else detail_level
    found = _with_changes(call, answer, shown(report), level, report_mode)
    if output_format == "json" and not include_report:  # it would say the changes again
        return msgspec.structs.replace(found, report_uri=address(answer.comparison_id, "json"))
    most = call.settings.max_response_units
    told = written(shown(report), output_format, Style(mode=report_mode), show_impact=show_impact, most=most)
    warnings = (*answer.warnings, *told.warnings)
    uri = address(answer.comparison_id, told.suffix)
    return msgspec.structs.replace(found, report=told.inline, report_uri=uri, warnings=warnings)


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


def _named(
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
        exit_code=None,
        comparable=False,
        reason=brief(error.message),
        comparison_id=None,
        summary=None,
        changes=(),
        suppressed_count=0,
        returned=0,
        total=0,
        warnings=(error.hint,),
        next=(asking("abi_list"),),
    )


def _answer(call: Call, report: Report) -> ComparisonAnswer:
    """The verdict, without changes."""
    comparison_id = keep(call, report)
    return ComparisonAnswer(
        headline=headline(report),
        verdict=report.verdict,
        exit_code=report.exit_code,
        comparable=True,
        reason=None,
        comparison_id=comparison_id,
        summary=report.summary,
        changes=(),
        suppressed_count=report.suppressed_count,
        returned=0,
        total=len(report.changes),
        approved=brief(passing(report)),
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
        next=next_calls(report, identity, listed=True) if identity else answer.next,
    )
