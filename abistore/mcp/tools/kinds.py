"""``abi_list_changes`` and ``abi_explain_change``: the kinds of change, and what each means."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal

import msgspec

from abistore.interface import ChangeKind, ExplainedKind, Impact, UsageError, changes, explain
from abistore.mcp.answers.answer import asking
from abistore.mcp.call import Call
from abistore.mcp.refusals import Refusal
from abistore.mcp.tools.declaration import tool
from abistore.mcp.tools.parameters import Cursor, DetailLevel, Limit, described
from abistore.model.findings import VERDICT_OF, Element
from abistore.model.words.counting import counted
from abistore.report.model import ImpactLabel

BUDGET = 1_300
MOST_KINDS = 10
WORST_FIRST = tuple(impact.label for impact in reversed(Impact))


class KindItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A kind of change with its default impact."""

    kind: str
    impact: str
    default_verdict: str
    description: str
    category: str = ""
    action: str = ""
    evidence: str = ""
    aliases: tuple[str, ...] = ()
    fix: str = ""


class KindsAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A page of the kinds; without a filter, how many there are of each category and impact."""

    headline: str
    count: int
    change_kinds: tuple[KindItem, ...]
    categories: dict[str, dict[str, int]] = {}
    returned: int
    next_cursor: str | None = None
    next: tuple[str, ...] = ()


class KindAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One kind of change; ``variants`` are the words of others of it, ``kinds`` were asked for beside it."""

    kind: str
    impact: str
    default_verdict: str
    severity: Literal["error", "warning"]
    description: str
    fix_guidance: str
    why: str
    category: str
    evidence: str
    aliases: tuple[str, ...] = ()
    variants: str = ""
    kinds: tuple[KindItem, ...] = ()
    next: tuple[str, ...] = ()


@tool()
def abi_list_changes(
    call: Call,
    *,
    impact: Annotated[ImpactLabel | None, described("Default impact")] = None,
    category: Annotated[Element | None, described("About these")] = None,
    detail_level: DetailLevel = "summary",
    cursor: Cursor = None,
    limit: Limit = 50,
) -> KindsAnswer:
    """List the kinds of change that are detected. Without a filter: how many of each category and impact.

    abi_explain_change tells what one means.
    """
    found = changes(impact=impact, element=category)
    headline = f"{counted(len(found), 'kind')} of change are detected"
    if impact is None and category is None and cursor is None:
        return KindsAnswer(
            headline=headline,
            count=len(found),
            change_kinds=(),
            categories=_categories(found),
            returned=0,
            next=(asking("abi_list_changes", impact="breaking"), asking("abi_list_changes", category="types")),
        )
    page = call.page([_item(kind, detail_level) for kind in found], budget=BUDGET)
    words = " ".join(word for word in (impact, category) if word)
    return KindsAnswer(
        headline=f"{counted(len(found), 'kind')} of change: {words}",
        count=len(found),
        change_kinds=page.items,
        returned=len(page.items),
        next_cursor=page.next_cursor,
        next=tuple(asking("abi_explain_change", change_kind=item.kind) for item in page.items[:1]),
    )


def _categories(found: tuple[ChangeKind, ...]) -> dict[str, dict[str, int]]:
    numbers: Counter[tuple[str, str]] = Counter((kind.element, kind.impact) for kind in found)
    elements = sorted({kind.element for kind in found})
    return {
        element: {impact: numbers[element, impact] for impact in WORST_FIRST if numbers[element, impact]}
        for element in elements
    }


def _verdict(kind: ChangeKind) -> str:
    return VERDICT_OF[Impact[kind.impact.upper()]].name


def _item(kind: ChangeKind, level: Literal["summary", "normal", "full"]) -> KindItem:
    item = KindItem(
        kind=kind.kind,
        impact=kind.impact,
        default_verdict=_verdict(kind),
        description=kind.title,
    )
    if level == "summary":
        return item
    more = {"category": kind.element, "action": kind.action, "evidence": kind.evidence}
    fix = kind.fix if level == "full" else ""
    return msgspec.structs.replace(item, **more, aliases=kind.aliases, fix=fix)


@tool()
def abi_explain_change(
    call: Call,
    *,
    change_kind: Annotated[str, described("e.g. type_size_changed")],
    kinds: Annotated[list[str] | None, described("More, in short", json_schema_extra={"maxItems": MOST_KINDS})] = None,
) -> KindAnswer:
    """Explain what a kind of change does to built programs, and how to avoid it."""
    more = kinds or []
    if len(more) > MOST_KINDS:
        raise Refusal("INVALID_ARGUMENT", f"kinds has {len(more)} kinds, at most {MOST_KINDS}", "ask in several calls")
    found = _explained(change_kind)
    verdict = _verdict(found)
    return KindAnswer(
        kind=found.kind,
        impact=found.impact,
        default_verdict=verdict,
        severity="error" if verdict == "BREAKING" else "warning",
        description=found.title,
        fix_guidance=found.fix,
        why=found.why,
        category=found.element,
        evidence=found.evidence,
        aliases=found.aliases,
        variants=" ".join(each.variant for each in found.variants if each.variant),
        kinds=tuple(_item(_explained(kind), "full") for kind in more),
        next=(asking("abi_list_changes", impact=found.impact, category=found.element),),
    )


def _explained(kind: str) -> ExplainedKind:
    try:
        return explain(kind)
    except UsageError as error:
        message = f"Unknown change kind: {kind[:80]!r}. Use abi_list_changes to see all available kinds."
        raise Refusal("UNKNOWN_KIND", message, error.hint) from error
