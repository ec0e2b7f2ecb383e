"""Answers: JSON schemas, pages that fit a budget, verdicts with their findings, and whole reports."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec

from abistore.interface import (
    Bump,
    ChangeKind,
    ComparedDeclaration,
    Evidence,
    Report,
    ReportedFinding,
    Side,
    Style,
    Summary,
    render,
)
from abistore.mcp.settings import Refusal
from abistore.model.words import counted, json_text
from abistore.report.wording import approval, differing, numbers

BYTES = 4
SENT = 2
"""An answer is sent as text and as structured content."""


def units(data: bytes) -> int:
    """The units of encoded text, rounded up."""
    return -(-len(data) // BYTES)


def units_sent(answer: str) -> int:
    """The units that an answer takes as it is sent."""
    return SENT * units(answer.encode())


def fitting(items: Iterable[T], budget: int) -> Iterator[T]:
    """The items that fit into ``budget`` units together, from the first on; one always does."""
    used = 0
    for number, item in enumerate(items):
        used += len(encoded(item)) + 1
        if number and used > budget * BYTES:
            return
        yield item


def as_text(value: Any) -> str:
    """A value as compact JSON for clients. What is not seen is escaped: names and labels are made by others."""
    return json_text(encoded(value).decode())


def encoded(value: Any) -> bytes:
    """A value as compact JSON: the same value gives the same bytes."""
    return msgspec.json.encode(value)


def output_schema(answer: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON schema of an answer, in one piece, without titles and descriptions."""
    (reference,), components = msgspec.json.schema_components([answer], ref_template="#/$defs/{name}")
    schema: dict[str, Any] = _without_words(_inlined(reference, components))
    return schema


EVERYWHERE = frozenset({"status", "headline"})
"""What all answers begin with, of which the server's instructions tell."""


def shallow(schema: dict[str, Any]) -> dict[str, Any]:
    """The same as ``tools/list`` tells it, which has to be short: the JSON types of members that are always there.

    Those that may be null are left out: they have two types, and several vendors refuse a list of types.
    """
    own = {name: schema["properties"][name] for name in schema["required"] if name not in EVERYWHERE}
    types = {name: member.get("type", "string") for name, member in own.items() if "anyOf" not in member}
    # only enumerations of strings have no type
    told = {name: {"type": type} for name, type in types.items() if isinstance(type, str)}
    return {"type": "object", "properties": told}


def _inlined(schema: Any, components: dict[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_inlined(each, components) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if reference := schema.get("$ref"):
        return _inlined(components[reference.rpartition("/")[2]], components)
    return {name: _inlined(each, components) for name, each in schema.items()}


def _without_words(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_words(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("anyOf"):
        return _joined([_without_words(each) for each in schema["anyOf"]])
    found = {}
    for name, value in schema.items():
        if name == "properties":
            found[name] = {each: _without_words(inner) for each, inner in value.items()}
        elif name not in {"title", "description", "default"}:
            found[name] = _without_words(value)
    return found


def _joined(choices: list[dict[str, Any]]) -> dict[str, Any]:
    """``[{"type": "integer"}, {"type": "null"}]`` as ``{"type": ["integer", "null"]}``, where that says the same."""
    types = [choice.get("type") for choice in choices]
    if len(choices) == 2 and types[1] == "null" and isinstance(types[0], str) and "enum" not in choices[0]:
        return {**choices[0], "type": [types[0], "null"]}
    return {"anyOf": choices}


T = TypeVar("T")
_CURSOR = re.compile(r"([0-9a-f]{8})([0-9a-f]+)")


class Page(NamedTuple, Generic[T]):
    """Some items of a list; ``left`` come after them, for which ``next_cursor`` asks.

    ``more`` is the call that has them, if any.
    """

    items: tuple[T, ...]
    next_cursor: str | None
    left: int
    more: tuple[NextCall, ...] = ()


def page(items: Sequence[T], cursor: str | None, limit: int, *, question: str, budget: int) -> Page[T]:
    """At most ``limit`` items after ``cursor``, and no more than fit into ``budget`` units.

    ``question`` is a digest of what was asked: the cursor of another question is refused.
    """
    start = _start(cursor, question)
    shown = tuple(fitting(items[start : start + limit], budget))
    end = start + len(shown)
    return Page(shown, f"{question}{end:x}" if end < len(items) else None, len(items) - end)


def _start(cursor: str | None, question: str) -> int:
    if cursor is None:
        return 0
    match = _CURSOR.fullmatch(cursor)
    if match is None or match[1] != question:
        message = "the cursor is not one of this question" if match else "cursor is malformed"
        raise Refusal("INVALID_ARGUMENT", message, "repeat the other arguments, or leave cursor out to start again")
    return int(match[2], 16)


FORMATS = {"html": "html", "json": "json", "markdown": "md", "sarif": "sarif"}
"""How a report may be written, and how its address ends then."""

BESIDE = 2_000
"""The units that are left for the rest of an answer that has a report, a snapshot or a long page."""

LINKED = frozenset({"html"})
"""Formats that are for people alone, and sent as a link."""


class WrittenReport(NamedTuple):
    """A report that was asked for: ``inline`` as an object for JSON and as text else; nothing where it is too long."""

    suffix: str
    inline: Any = None
    warnings: tuple[str, ...] = ()


def check_format(format: str) -> None:
    """Raises :class:`Refusal` for a format that is not known."""
    if format not in FORMATS:
        raise Refusal("INVALID_ARGUMENT", f"Unknown output format {format!r}. Valid: {sorted(FORMATS)}")


def address(comparison_id: str | None, suffix: str) -> str:
    """Where the whole report of a comparison is read."""
    return f"abistore://comparisons/{comparison_id}/report.{suffix}"


def written(report: Report, format: str, style: Style, *, show_impact: bool, most: int) -> WrittenReport:
    """The report in a format, where it is short enough for an answer of which at most ``most`` units are sent."""
    suffix = FORMATS[format]
    if format in LINKED:
        return WrittenReport(suffix, warnings=("the report is a page for people: read report_uri",))
    text = _text(report, format, style, show_impact)
    length = units_sent(text)
    if length > most - BESIDE:
        warning = f"the report has {length:,} units and is not sent with the answer: read report_uri"
        return WrittenReport(suffix, warnings=(warning,))
    return WrittenReport(suffix, json.loads(text) if format == "json" else text)


IMPACT_TABLE = "| impact | exports affected "
"""How the table of affected exports begins, behind what every report begins with."""


def _text(report: Report, format: str, style: Style, show_impact: bool) -> str:
    if format != "markdown":
        return render(report, format, Style())
    text = render(report, format, style)
    _, head, table = render(report, format, Style(mode="impact")).partition(IMPACT_TABLE)
    return f"{text}\n\n{head}{table}" if show_impact and table else text


LONG, ROOM = 300, 32
"""How many characters a text in an answer has, where names have thousands; some say how many are left out."""


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="status", tag="ok"):
    """The answer of a tool: ``headline`` says the whole of it in one line.

    Answers end with ``warnings`` and ``next``: what to know about this one, and what to ask now.
    """

    headline: str


def brief(text: str, most: int = LONG) -> str:
    """The beginning of a text that is too long: its whole lines or words that fit, and how much is left out."""
    if len(text) <= most:
        return text
    kept = text[: most - ROOM]
    whole = kept.rpartition("\n")[0] or kept.rpartition(" ")[0] or kept
    return f"{whole}... ({len(text) - len(whole):,} more characters)"


class NextCall(msgspec.Struct, frozen=True):
    """A call to make next: what it is for, the tool, and the arguments, which are whole and can be sent as they are."""

    say: str
    tool: str
    arguments: dict[str, Any]


def asking(tool: str, say: str, /, **arguments: Any) -> NextCall:
    """A call to make next; an argument that is ``None`` is left out."""
    return NextCall(say, tool, {name: value for name, value in arguments.items() if value is not None})


def spelled(tool: str, /, **arguments: object) -> str:
    """A call as a hint spells it: ``abi_findings(comparison_id='1f3c9a02', impact='breaking')``."""
    given = ", ".join(f"{name}={value!r}" for name, value in arguments.items() if value is not None)
    return f"{tool}({given})"


Level: TypeAlias = Literal["summary", "normal", "full"]
AFFECTED: Mapping[Level, int | None] = {"summary": 0, "normal": 5, "full": None}
"""How many affected exports are named; ``None``: all."""


class ReviewItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """What people said of a finding. It has no effect on the verdict."""

    state: str
    note: str
    by: str


class ChangeItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One finding. ``affected`` names some of the exports through which consumers meet it, ``fix`` how to avoid it.

    ``matched`` says in what way it concerns the symbol that was asked for, where it is not about that; ``novelty``
    whether an earlier comparison has it.
    """

    id: str
    kind: str
    symbol: str
    description: str
    impact: str
    old_value: str | None
    new_value: str | None
    source_location: str | None
    display: str = ""
    part: str = ""
    evidence: str = ""
    affected_count: int = 0
    affected: tuple[str, ...] = ()
    consequences: int = 0
    default_impact: str = ""
    reason: str = ""
    suppressed_by: str = ""
    suppression_reason: str = ""
    why: str = ""
    fix: str = ""
    review: ReviewItem | None = None
    approved: str = ""
    unapproved: str = ""
    matched: str = ""
    novelty: str = ""


def change_item(change: ReportedFinding, level: Level, card: ChangeKind | None = None) -> ChangeItem:
    """A finding at a level of detail, whole at ``full``; ``card`` is what is known of its kind."""
    told = str if level == "full" else brief
    old, new = change.shown
    base = ChangeItem(
        id=change.id,
        kind=change.kind,
        symbol=told(change.symbol),
        description=told(change.description),
        impact=change.impact,
        old_value=None if old is None else told(old),
        new_value=None if new is None else told(new),
        source_location=_place(change.source_location),
        display=told(change.display) if change.display != change.symbol else "",
        part=told(change.part),
        suppressed_by=told(change.suppressed_by),
        suppression_reason=told(change.suppression_reason),
        approved=told(approval(change.approved)) if change.approved else "",
        unapproved=told(change.unapproved),
    )
    if level == "summary":
        return base
    return msgspec.structs.replace(
        base,
        evidence=change.facet,
        affected_count=change.affected_count,
        affected=tuple(map(told, change.affected[: AFFECTED[level]])),
        consequences=len(change.consequences),
        default_impact=change.default_impact or "",
        reason=told(change.reason),
        why=card.why if card and level == "full" else "",
        fix=card.fix if card else "",
    )


def _place(location: str | None) -> str | None:
    """Where a declaration stands: compilers may have recorded folders of the machine that built it, and no line."""
    place = location.removesuffix(":0") if location else location
    return place.rpartition("/")[2] if place and place.startswith("/") else place


MOST_GAPS = 4


class ComparedSide(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One side; ``evidence`` says how much each facet could see."""

    library: str
    version: str | None = None
    digest: str
    evidence: tuple[str, ...]


class Gap(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that was not checked: a break there would not have been seen.

    With the reason ``guessed`` it is what programs can name: what breaks may be none of their business.
    """

    facet: str
    side: str
    reason: str
    detail: str = ""
    hint: str = ""
    names: int = 0


class BumpItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whether a release is allowed: the step that its changes require, and the one that its label declares."""

    required: str
    declared: str | None = None
    allowed: bool
    reason: str
    sentence: str = ""


def bump_item(report: Report) -> BumpItem | None:
    """Whether the release of a report is allowed, in short."""
    promise = report.decision.promise if report.decision is not None else None
    return bump_of(promise) if promise is not None and promise.sentence else None


def bump_of(found: Bump) -> BumpItem:
    """The answer in short."""
    return BumpItem(
        required=found.required,
        declared=found.declared,
        allowed=found.allowed,
        reason=found.reason,
        sentence=brief(found.sentence),
    )


def counts(summary: Summary) -> str:
    """The numbers of findings, worst first, as reports have them: ``2 breaking, 28 risks``."""
    return numbers(summary) or "no changes"


def headline(report: Report) -> str:
    """The comparison in one line, the verdict first."""
    gap = " in what could be checked" if report.evidence_gap else ""
    suppressed = f"; {report.suppressed_count} suppressed" if report.suppressed_count else ""
    missing = f"; NOT CHECKED: {report.evidence_gap}" if report.evidence_gap else ""
    sides = f"{brief(str(report.old), 80)} -> {brief(str(report.new), 80)}"
    return f"{report.verdict}{gap}: {sides}: {counts(report.summary)}{suppressed}{missing}"


def side(one: Side) -> ComparedSide:
    """A side of a comparison."""
    return ComparedSide(
        library=brief(one.library, 80),
        version=one.version,
        digest=one.digest[:12],
        evidence=tuple(map(extent, one.evidence)),
    )


def extent(evidence: Evidence) -> str:
    """How much a facet could see, and whence: ``layout full (from build-id)``, ``layout missing: no-debug-info``."""
    part = f" {evidence.described} of {evidence.expected}" if evidence.state == "partial" and evidence.expected else ""
    source = f" (from {evidence.source})" if evidence.source else ""
    reason = f": {evidence.reason}" if evidence.reason else ""
    return f"{evidence.facet} {evidence.state}{part}{source}{reason}"


def gaps(report: Report) -> tuple[Gap, ...]:
    """The first few things that were not checked. Ahead of them: that it is guessed which declarations are public."""
    found = [Gap(facet="source", side="both", reason="guessed", detail=report.guessed)] if report.guessed else []
    found += [
        Gap(
            facet=item.facet,
            side=item.side,
            reason=item.reason,
            detail=brief(item.detail, 160),
            hint=brief(item.hint, 160),
            names=len(item.names),
        )
        for item in report.not_checked
    ]
    return tuple(found[:MOST_GAPS])


def advice(report: Report) -> tuple[str, ...]:
    """What to do about all findings together: ``soname_bump_recommended: breaking changes under ...``."""
    return tuple(f"{one.kind}: {brief(one.description)}" for one in report.advice)


def next_calls(report: Report, comparison_id: str, *, listed: bool) -> tuple[NextCall, ...]:
    """What usually follows a comparison; ``listed`` where its answer has all findings already."""
    gate = asking("abi_gate", "See whether CI would fail.", comparison_id=comparison_id)
    if not report.changes:
        return (suppressed_findings(comparison_id), gate) if report.suppressed_count else (gate,)
    worst = report.changes[0]
    if listed:
        return (one_call(worst, comparison_id), gate)
    say = f"List all {worst.impact} findings."
    return (asking("abi_findings", say, comparison_id=comparison_id, impact=worst.impact), gate)


def one_call(finding: ReportedFinding, comparison_id: str) -> NextCall:
    """The call that tells all of one finding."""
    say = "Read the worst finding with its fix."
    return asking("abi_finding", say, finding_id=finding.id, comparison_id=comparison_id)


def suppressed_findings(comparison_id: str) -> NextCall:
    """The call that lists what was accepted."""
    return asking("abi_findings", "List the suppressed findings.", comparison_id=comparison_id, state="suppressed")


MOST_LINES = 24
"""How many differing lines of a long declaration are shown."""


def difference_lines(declared: ComparedDeclaration) -> Iterator[str]:
    """The lines that differ, the first of many: those that only moved are counted."""
    lines = differing(declared)
    told = [line for line in lines if not line.startswith("!")] if len(lines) > MOST_LINES else lines
    yield from told[:MOST_LINES]
    if moved := len(lines) - len(told):
        yield f"{counted(moved, 'line')} moved, and did not change else"
    if left := len(told[MOST_LINES:]):
        yield f"{counted(left, 'more line')}"
