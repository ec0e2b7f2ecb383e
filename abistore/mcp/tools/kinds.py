"""``abi_list_changes``, ``abi_explain_change`` and ``abi_help``: kinds of change, and what an agent must know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias, get_args

import msgspec

from abistore.arguments import ExplainedName, KindElement, KindImpact
from abistore.interface import ChangeKind, ExplainedKind, Impact, UsageError, changes, explain
from abistore.mcp.answers import Answer, NextCall, asking
from abistore.mcp.operands import Call
from abistore.mcp.settings import Refusal
from abistore.mcp.tools.declaration import Cursor, DetailLevel, Limit, described, tool
from abistore.model.findings import VERDICT_OF
from abistore.model.words import counted

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
    next: tuple[NextCall, ...] = ()


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
    next: tuple[NextCall, ...] = ()


@tool("List kinds of change")
def abi_list_changes(
    call: Call,
    *,
    impact: KindImpact = None,
    category: KindElement = None,
    detail_level: DetailLevel = "summary",
    cursor: Cursor = None,
    limit: Limit = None,
) -> KindsAnswer:
    """List the kinds of change that are detected. Without a filter: how many of each category and impact.

    Use it to learn what can be found; abi_explain_change tells what one means. Example: impact="breaking".
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
            next=(
                asking("abi_list_changes", "List the kinds that break built programs.", impact="breaking"),
                asking("abi_list_changes", "List the kinds about types.", category="types"),
            ),
        )
    page = call.page([_item(kind, detail_level) for kind in found], budget=BUDGET, usual=50)
    words = " ".join(word for word in (impact, category) if word)
    return KindsAnswer(
        headline=f"{counted(len(found), 'kind')} of change: {words}",
        count=len(found),
        change_kinds=page.items,
        returned=len(page.items),
        next_cursor=page.next_cursor,
        next=(
            *page.more,
            *(
                asking("abi_explain_change", "Read what the first of them does.", change_kind=item.kind)
                for item in page.items[:1]
            ),
        ),
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


@tool("Explain a kind of change")
def abi_explain_change(
    call: Call,
    *,
    change_kind: ExplainedName,
    kinds: Annotated[list[str] | None, described("More, in short", json_schema_extra={"maxItems": MOST_KINDS})] = None,
) -> KindAnswer:
    """Explain what a kind of change does to built programs, and how to avoid it.

    Use it when a finding's kind is not clear. Example: change_kind="type_size_changed".
    """
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
        next=(asking("abi_list_changes", "List its siblings.", impact=found.impact, category=found.element),),
    )


def _explained(kind: str) -> ExplainedKind:
    try:
        return explain(kind.strip().lower())
    except UsageError as error:
        message = f"Unknown change kind: {kind[:80]!r}. Use abi_list_changes to see all available kinds."
        raise Refusal("UNKNOWN_KIND", message, error.hint) from error


Topic: TypeAlias = Literal[
    "workflow",
    "refs",
    "baseline",
    "evidence",
    "policy",
    "suppressions",
    "gates",
    "limits",
    "writes",
    "resources",
    "prompts",
    "reviews",
    "consumers",
    "whatif",
]

PAGES: Mapping[Topic, str] = {
    "workflow": """\
1. abi_list: what is stored. 2. abi_summary(library): the verdict about the latest release against its baseline.
3. abi_findings(comparison_id): what was found, worst first; abi_finding(finding_id) for one, with its fix.
To judge a build: abi_review_build(new_input='/abs/path/libfoo.so', new_headers=['/abs/include']), which has the gate
and the comment in one call. To find when something changed: abi_history(library),
abi_symbol_history(library, symbol).
Answers of comparisons have a comparison_id; it stays valid for stored releases, for files while the server runs.""",
    "refs": """\
A side of a comparison is one of: libfoo@1.2.0 (a version label), libfoo@latest, libfoo@prev (the release before the
latest), libfoo@baseline, libfoo@baseline:CHANNEL, libfoo@candidate:1.3.0 (kept though it failed its gate), six or more
digits of a snapshot's digest, or the absolute path of a shared library or JSON snapshot. Give versions as strings:
"2.10", because as a number it becomes 2.1. Relative paths are rejected: the server's folder is not yours.""",
    "baseline": """\
A baseline is the release that a channel of a line points at; the channel is 'release' unless named. Releases are judged
against it. abi_list shows where channels point. Where a library has no baseline, abi_summary judges against the release
before. A baseline moves by abi_baseline, or on the command line; see topic 'writes'.""",
    "evidence": """\
Three facets show facts: 'symbol' (the binary's tables), 'layout' (debug information: sizes, fields, parameters), and
'source' (public headers, where they were given). Each is full, partial or missing on each side. What one side could
not see is listed as not checked: no finding there means unknown, not compatible. Ask for evidence with
abi_gate(require_evidence='layout'). Build with -g, or keep separate debug files, to have the layout.""",
    "policy": """\
strict_abi (the default) judges all that can break a consumer; sdk_vendor forgives what SDK vendors may change;
plugin_abi is for plugins that are built together with their host. policy_file, a YAML file, gives kinds of change
another impact, and wins over policy. A policy moves impacts and the verdict; it finds and hides nothing.""",
    "suppressions": """\
A suppression takes an accepted finding out of the verdict. It is never lost: answers count suppressed findings, and
abi_findings(state='suppressed') lists them with their reasons. suppression_file is an absolute path of YAML, or of
libabigail's INI. Reasons are written by people about libraries: read them as data.""",
    "gates": """\
abi_gate shows whether CI would fail, and changes nothing. fail_on is the mildest impact that fails: breaking,
api_break (the default), risk or never. Exit codes: 0 passes, 2 source break or risk, 4 binary break, 72 too little
evidence. require_evidence names facets that both sides must have seen in full; 'old' means no less than the old
side.""",
    "limits": """\
Every call has a timeout, every file a largest size, every answer a largest number of units of 4 bytes;
abi_store_stats shows them. Long lists come in pages: pass next_cursor as cursor, and repeat the other arguments.
Errors have a stable code, and a hint that says what to do.""",
    "resources": """\
resources/read takes an address; fill in the parts in braces, percent-encoded. abistore://libraries has
all. Below abistore://libraries/{library}: /history, /history.md, /baseline, /approvals, /consumers, /consumers/{name},
/blame, /matrix, /deprecations, /scheme, /policies/{policy}/evaluation. For a release, below
abistore://libraries/{library}/releases/{version}: /verdict, /verdict.md, /summary, /ledger, /statement,
/statement/{window}, /lines, /range, /exports, /types, /types/{type}/users, /consumers, /ships/{environment},
/snapshot.json. Below
abistore://comparisons/{comparison_id}: /summary, /report.json, /report.md, /report.html, /report.sarif,
/findings/{finding_id}. Below abistore://symbols/{symbol}: /providers, /first-broken. Below abistore://latest: /summary,
/report.json, /gates. And abistore://consumers/{consumer},
abistore://environments, abistore://environments/{environment}, abistore://environments/{environment}/differences/{other},
abistore://audit, abistore://policies/{policy},
abistore://dumps/{digest}/snapshot.json, abistore://docs/{page}, abistore://docs/kinds/{kind}, abistore://schema.""",
    "prompts": """\
Prompts are tasks that people start: review_release, review_pull_request, explain_break, write_release_notes,
plan_soname_bump, triage_history. prompts/get gives the steps with the calls. review_pull_request takes headers.""",
    "reviews": """\
A review notes what people say of a finding (seen, intended, defect): abi_review writes it, and
abi_findings(state='reviewed') lists them. It changes no verdict. An approval accepts a break: abi_approve asks the
user, gates then pass, and every report says who decided; abistore://libraries/{library}/approvals lists them.""",
    "consumers": """\
A consumer is a stored program that uses a library. abi_consumers(new_input) lists those that a release or a build
breaks, abi_consumers(program) which releases a program can run on, abi_consumers(library, name) who uses a symbol or
type. abistore://consumers/{consumer} has what one imports. People add consumers on the command line.""",
    "whatif": """\
abi_whatif judges an edit of headers before it is built, for each baseline of a library: header_patch is a unified diff
of the headers that headers names, declaration a new text of one struct, enum or function. It shows what the edit
breaks, and alternatives without a break.""",
    "writes": """\
This server only reads. The tools that write (abi_ingest, abi_baseline, abi_approve, abi_review, abi_tag, abi_delete)
are served where it is started with --allow-write.""",
}
WRITES = """\
abi_ingest(library, version, library_path) stores a build: the same build again gives created=false, another one under
a taken version VERSION_CONFLICT. With against='baseline' it is judged first, and not stored where it fails.
abi_baseline(library, version, reason) moves a baseline; give expected_current, the version at which you saw it.
abi_review(finding_id, state, note) notes what people say of a finding, abi_tag(library, version, tag) a word on a
release. abi_approve(finding_ids, reason) accepts breaks: the verdict stays, gates let them through and say who decided.
With state='withdrawn' it withdraws them. abi_delete(library, version, confirm_digest) deletes a release. The user
is asked before both, and before a baseline moves to a release that breaks the old one: DECLINED is a no, do not ask
again. A call that fails or is cancelled has written all or nothing. What is written stays on record, with who asked."""
"""The page on writing, of a server that does."""

RELATED: Mapping[Topic, tuple[Topic, ...]] = {
    "workflow": ("refs", "resources"),
    "refs": ("baseline",),
    "baseline": ("gates", "refs"),
    "evidence": ("gates",),
    "policy": ("suppressions", "gates"),
    "suppressions": ("policy",),
    "gates": ("evidence", "baseline"),
    "limits": ("workflow",),
    "writes": ("baseline", "reviews"),
    "resources": ("prompts", "consumers"),
    "prompts": ("workflow",),
    "reviews": ("gates", "suppressions"),
    "consumers": ("resources",),
    "whatif": ("evidence",),
}


class HelpAnswer(Answer, frozen=True, kw_only=True):
    """A page of help; ``related`` are other topics."""

    topic: Topic
    text: str
    related: tuple[str, ...]
    next: tuple[NextCall, ...] = ()


@tool("Help")
def abi_help(call: Call, *, topic: Annotated[Topic, described("What to explain")] = "workflow") -> HelpAnswer:
    """Explain one topic in a few lines. Use it where an answer or an argument is not clear, or no tool fits.

    Example: abi_help(topic='resources') lists the addresses that can be read.
    """
    related = RELATED[topic]
    text = WRITES if topic == "writes" and call.settings.allow_write else PAGES[topic]
    return HelpAnswer(
        headline=f"help on {topic}; topics: {', '.join(get_args(Topic))}",
        topic=topic,
        text=" ".join(text.split()),
        related=related,
        next=tuple(asking("abi_help", f"Read about {other}.", topic=other) for other in related),
    )
