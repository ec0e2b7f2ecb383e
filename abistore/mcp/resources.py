"""Resources read by their address: answers of the store, and pages of documentation.

``abistore://libraries/...`` and ``abistore://symbols/...``: since when, until when, and what is in releases.

Verdicts are read from the store, or else judged when they are read, by the strict policy; nothing is stored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from hashlib import sha256
from inspect import cleandoc
from itertools import pairwise
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import msgspec

from abistore import interface
from abistore.interface import (
    History,
    HistoryRow,
    Judgement,
    OpenStore,
    ReleaseRange,
    Report,
    Style,
    UsageError,
    render,
    ruling,
)
from abistore.mcp.answers import as_text, change_item, encoded, gaps, headline, output_schema
from abistore.mcp.operands import Call, findings_of, one_finding, report_of
from abistore.mcp.settings import Refusal
from abistore.mcp.tools.all import tools_of
from abistore.mcp.tools.stored import SURFACE
from abistore.model.versions import window as read_window
from abistore.model.words import in_line
from abistore.report.plain import plain

MOST_BYTES = 1 << 20
"""The longest text that is sent at once, and the length of a page of a longer one."""

PART = "part"
"""What a request to read calls the page that it asks for."""

DIGITS = 12
INDEX = '{"status":"index",'
"""How the list of pages begins: no other text does."""


class Part(msgspec.Struct, frozen=True):
    """Which part of the text at ``uri`` is asked for; ``digest`` is the beginning of that of the text it belongs to.

    ``limit`` is how many items of each list are wanted; ``None``: all.
    """

    uri: str
    offset: int | None = None
    digest: str = ""
    limit: int | None = None


def document(value: Mapping[str, Any]) -> str:
    """What the command prints with ``--json``, in one line."""
    return as_text({"status": "ok", **_without_readings(plain(value))})


READING = "headers"
"""What a provenance says of how headers were read: most of a release, and the same in each."""


def _without_readings(value: Any) -> Any:
    """A document whose releases say which headers they were read with, and not how."""
    if isinstance(value, list | tuple):
        return [_without_readings(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {name: _without_readings(each) for name, each in value.items()}
    if isinstance(found.get("provenance"), dict) and found["provenance"].get(READING):
        headers = found["provenance"][READING]
        found["provenance"] = {**found["provenance"], READING: {"given": headers["given"]}}
    return found


def limited(text: str, limit: int | None) -> str:
    """A document of which each list has at most ``limit`` items; ``left_out`` says how many are missing."""
    if limit is None:
        return text
    found = json.loads(text)
    left_out = 0

    def first(value: Any) -> Any:
        nonlocal left_out
        if isinstance(value, list):
            left_out += max(0, len(value) - limit)
            return [first(each) for each in value[:limit]]
        return {name: first(each) for name, each in value.items()} if isinstance(value, dict) else value

    return as_text({**first(found), **({"left_out": left_out} if left_out else {})})


def paged(text: str, part: Part) -> str:
    """A text; of a long one the list of its pages, or one of them. Raises :class:`Refusal`.

    The pages together are the text, byte for byte.
    """
    data = limited(text, part.limit).encode()
    if part.offset is None and len(data) <= MOST_BYTES:
        return data.decode()
    digest = sha256(data).hexdigest()
    offsets = _offsets(data)
    if part.offset is None:
        return _index(part.uri, data, digest, offsets)
    if not digest.startswith(part.digest):
        raise Refusal("NOT_FOUND", "the resource has changed since its pages were listed", f"read {part.uri} again")
    if part.offset not in offsets[:-1]:
        raise Refusal("NOT_FOUND", f"no page begins at {part.offset}", f"read {part.uri}: it lists its pages")
    return data[part.offset : offsets[offsets.index(part.offset) + 1]].decode()


def _offsets(data: bytes) -> list[int]:
    """Where pages begin, and where the last one ends. No page begins within a letter."""
    found = [0]
    while found[-1] < len(data):
        end = min(found[-1] + MOST_BYTES, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        found.append(end)
    return found


def _index(uri: str, data: bytes, digest: str, offsets: list[int]) -> str:
    pages = [
        {"uri": f"{uri}{'&' if '?' in uri else '?'}offset={begin}&digest={digest[:DIGITS]}", "bytes": end - begin}
        for begin, end in pairwise(offsets)
    ]
    told = {
        "status": "index",
        "headline": f"{len(data):,} bytes in {len(pages)} pages: read them in order, and join their texts",
        "bytes": len(data),
        "sha256": digest,
        "pages": pages,
    }
    return as_text(told)


Read = Callable[..., str]
Ask = Callable[..., object]

JSON, MARKDOWN = "application/json", "text/markdown"


@dataclass(frozen=True, slots=True)
class ReadableResource:
    """A resource, or all those whose addresses fit ``uri``, an RFC 6570 template.

    ``priority`` is how much a client should want it, from 0 to 1. What ``lasts`` always has the same text: its address
    has a digest, or it comes with the package.
    """

    read: Read
    uri: str
    mime: str
    priority: float = 0.5
    lasts: bool = False

    @property
    def name(self) -> str:
        """What it is called in a list."""
        return self.read.__name__

    @property
    def description(self) -> str:
        """What clients are told of it."""
        return cleandoc(self.read.__doc__ or "")

    @property
    def is_template(self) -> bool:
        """Whether its address has variables."""
        return "{" in self.uri

    def __call__(self, call: Call, **arguments: str) -> str:
        """Its text."""
        return self.read(call, **arguments)


def resource(
    uri: str, mime: str = JSON, *, priority: float = 0.5, lasts: bool = False
) -> Callable[[Read], ReadableResource]:
    """Declare a function as a resource, whose docstring is what clients are told."""
    return lambda read: ReadableResource(read, uri, mime, priority, lasts)


def answer(uri: str, word: str, *, priority: float = 0.5) -> Callable[[Ask], ReadableResource]:
    """Declare a question to the store as a resource: the JSON of the command line, which has the answer at ``word``."""

    def declared(ask: Ask) -> ReadableResource:
        @wraps(ask)
        def read(call: Call, **arguments: str) -> str:
            with call.store() as store:
                return document({word: ask(store, **arguments)})

        return ReadableResource(read, uri, JSON, priority)

    return declared


HEAD = "| version | date | against previous | against baseline | not checked |\n|---|---|---|---|---|"


@answer("abistore://libraries", "lines", priority=0.9)
def libraries(store: OpenStore) -> object:
    """All lines that are stored, as `abistore list --json`."""
    return interface.lines_with_outcomes(database=store)


@answer("abistore://libraries/{library}", "releases")
def releases(store: OpenStore, *, library: str) -> object:
    """The releases of a library, as `abistore list LIBRARY --json`."""
    return interface.releases_with_outcomes(library, database=store)


@answer("abistore://libraries/{library}/history", "histories")
def history(store: OpenStore, *, library: str) -> object:
    """The releases of a library with the verdicts that were given, as `abistore history --json`."""
    return interface.history(library, judge=False, database=store)


@resource("abistore://libraries/{library}/history.md", MARKDOWN, priority=0.8)
def history_page(call: Call, *, library: str) -> str:
    """The same as a page."""
    with call.store() as store:
        return "\n\n".join(map(_timeline, interface.history(library, judge=False, database=store)))


@answer("abistore://libraries/{library}/baseline", "baselines")
def baseline(store: OpenStore, *, library: str) -> object:
    """Where the baselines of a library stood, with who moved them and why, as `abistore db baseline history --json`."""
    return interface.baseline_history(library, database=store)


@resource("abistore://libraries/{library}/scheme")
def scheme(call: Call, *, library: str) -> str:
    """How the versions of a library are ordered, as `abistore db scheme --json`."""
    with call.store() as store:
        return document(plain(interface.db_scheme(library, database=store)))


@answer("abistore://audit", "audit")
def audit(store: OpenStore) -> object:
    """Who changed what in the database, the newest 50, as `abistore db audit --json`."""
    return interface.db_audit(limit=50, database=store)


@resource("abistore://policies/{policy}", lasts=True)
def policy(call: Call, *, policy: str) -> str:
    """The overrides of a built-in policy, as `abistore policy show --json`."""
    if policy not in interface.policies():
        raise Refusal("NOT_FOUND", f"no policy is called {policy[:40]}", ", ".join(sorted(interface.policies())))
    return document({"policy": interface.policy_card(policy)})


@answer("abistore://libraries/{library}/approvals", "approvals")
def library_approvals(store: OpenStore, *, library: str) -> object:
    """The accepted breaks of a library: who, why, until when, and whether that holds, as `abistore approve list`."""
    return interface.approvals(library, database=store)


@answer("abistore://libraries/{library}/consumers", "consumers")
def library_consumers(store: OpenStore, *, library: str) -> object:
    """The stored programs that use a library, as `abistore consumers list LIBRARY --json`."""
    return interface.consumers(library, database=store)


@answer("abistore://libraries/{library}/consumers/{name}", "use")
def using(store: OpenStore, *, library: str, name: str) -> object:
    """The stored programs that use a symbol or a type of a library, as `abistore consumers using --json`."""
    return interface.consumers_using(library, name, database=store)


@answer("abistore://consumers/{consumer}", "consumer")
def consumer(store: OpenStore, *, consumer: str) -> object:
    """What a stored program imports, and the types it was built with, as `abistore consumers show --json`."""
    return interface.show_consumer(consumer, database=store)


@answer("abistore://libraries/{library}/releases/{version}/consumers", "release")
def hurt(store: OpenStore, *, library: str, version: str) -> object:
    """The stored programs that a release breaks, and by what, as `abistore consumers broken --json`."""
    return interface.consumers_broken(f"{library}@{version}", database=store)


@answer("abistore://environments", "environments")
def environments(store: OpenStore) -> object:
    """What production, suites and products have and had, as `abistore env list --json`."""
    return interface.env_list(database=store)


@answer("abistore://environments/{environment}", "environments")
def environment(store: OpenStore, *, environment: str) -> object:
    """What one environment has and had, as `abistore env list ENV --json`."""
    return interface.env_list(environment, database=store)


@answer("abistore://environments/{environment}/differences/{other}", "difference")
def environment_differences(store: OpenStore, *, environment: str, other: str) -> object:
    """What two environments do not have in common, as `abistore env diff --json`."""
    return interface.env_diff(environment, other, database=store)


@answer("abistore://libraries/{library}/releases/{version}/ships/{environment}", "shipping")
def ships(store: OpenStore, *, library: str, version: str, environment: str) -> object:
    """Whether a release may ship to an environment, and what breaks there, as `abistore env can-ship --json`."""
    return interface.env_can_ship(f"{library}@{version}", environment, database=store)


@resource("abistore://libraries/{library}/releases/{version}/verdict")
def verdict(call: Call, *, library: str, version: str) -> str:
    """The verdict about a release against the one before."""
    return render(_judged(call, library, version).report, "json", Style())


@resource("abistore://libraries/{library}/releases/{version}/verdict.md", MARKDOWN)
def verdict_page(call: Call, *, library: str, version: str) -> str:
    """The same as a page."""
    return render(_judged(call, library, version).report, "markdown", Style())


@resource("abistore://libraries/{library}/releases/{version}/summary")
def summary(call: Call, *, library: str, version: str) -> str:
    """The same in a few words: the verdict and counts."""
    return _summary(_judged(call, library, version))


@resource("abistore://libraries/{library}/releases/{version}/snapshot.json")
def snapshot(call: Call, *, library: str, version: str) -> str:
    """The snapshot of a release, as `abistore export` writes it."""
    with call.store() as store:
        return interface.export(f"{library}@{version}", database=store).json.decode()


@resource("abistore://latest/summary", priority=1.0)
def latest_summary(call: Call) -> str:
    """The verdict about the release that was stored last, in a few words."""
    return _summary(_judged_last(call))


@resource("abistore://latest/report.json")
def latest_report(call: Call) -> str:
    """The verdict about the release that was stored last."""
    return render(_judged_last(call).report, "json", Style())


@resource("abistore://latest/gates")
def latest_gates(call: Call) -> str:
    """What abi_gate answered last in this server."""
    if call.kept is None:
        raise Refusal("NOT_FOUND", "no gate was asked for in this server", "call abi_gate")
    return call.kept.decode()


@resource("abistore://dumps/{digest}/snapshot.json", lasts=True)
def dumped(call: Call, *, digest: str) -> str:
    """The snapshot of a file that abi_dump read in this server."""
    if call.kept is None:
        raise Refusal("NOT_FOUND", f"no dump {digest[:32]} is kept", "call abi_dump again")
    return call.kept.decode()


def _judged_last(call: Call) -> Judgement:
    """The verdict about the release that was stored last, in its own line."""
    with call.store() as store:
        names = sorted({listed.line.library for listed in interface.lines(database=store)})
        every = [
            release for name in names for release in interface.releases(name, database=store) if not release.candidate
        ]
        last = max(every, key=lambda release: (release.ingested, release.line, release.sequence), default=None)
        if last is None:
            raise Refusal("NOT_FOUND", "nothing is stored yet", "abi_ingest stores releases, where the server writes")
        return interface.verdict(last.reference, target=last.line.target, profile=last.line.profile, database=store)


def _judged(call: Call, library: str, version: str) -> Judgement:
    """The verdict about a release against the one before, as it is stored or else judged now."""
    with call.store() as store:
        return interface.verdict(f"{library}@{version}", database=store)


def _summary(judged: Judgement) -> str:
    report = judged.report
    told = {
        "status": "ok",
        "headline": headline(report),
        "verdict": report.verdict,
        "exit_code": report.exit_code,
        "outcome": report.decision.outcome if report.decision is not None else None,
        "summary": report.summary,
        "old": judged.given.old.reference,
        "new": judged.given.new.reference,
        "judged": judged.given.judged if judged.remembered else None,
        "evidence_gap": report.evidence_gap,
    }
    return as_text(told)


def _timeline(history: History) -> str:
    rows = "\n".join(map(_row, history.rows))
    return f"## {_cell(str(history.line))}\n\nBaseline: {_cell(history.baseline or 'none')}\n\n{HEAD}\n{rows}\n"


def _row(row: HistoryRow) -> str:
    verdicts = (row.verdict, row.against_baseline)
    decisions = (row.decision, row.baseline_decision)
    accepted = [f", {one.outcome}" if one is not None else "" for one in decisions]
    told = [
        f"{one.name}{said}" if one is not None else reason
        for one, said, reason in zip(verdicts, accepted, _reasons(row), strict=True)
    ]
    date = f"{row.release.released or row.release.ingested:%Y-%m-%d}"
    return f"| {' | '.join(map(_cell, (row.release.version, date, *told, row.evidence_gap)))} |"


def _reasons(row: HistoryRow) -> tuple[str, str]:
    return row.unjudged, row.unjudged_baseline


def _cell(text: str) -> str:
    """A label may hold anything."""
    return in_line(text, 200).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


LAST = 100
"""A matrix is of so many releases: more would take an agent's call too long."""


@answer("abistore://libraries/{library}/blame", "blames")
def blame(store: OpenStore, *, library: str) -> object:
    """Each break of the latest release with the release that introduced it, as `abistore blame --json`."""
    return interface.blame(library, database=store)


@answer("abistore://libraries/{library}/matrix", "matrices")
def matrix(store: OpenStore, *, library: str) -> object:
    """Which of the last 100 releases can replace which, as `abistore matrix --json`."""
    return interface.matrix(library, within=ReleaseRange(last=LAST), database=store)


@answer("abistore://libraries/{library}/releases/{version}/ledger", "ledgers")
def ledger(store: OpenStore, *, library: str, version: str) -> object:
    """The verdict about a release against every baseline, as `abistore verdict --all-baselines --json`."""
    return interface.ledger(f"{library}@{version}", database=store)


@answer("abistore://libraries/{library}/releases/{version}/statement", "statement")
def statement(store: OpenStore, *, library: str, version: str) -> object:
    """Whether a release may ship, and what that rests on, as `abistore verdict --statement --json`."""
    return interface.statement(f"{library}@{version}", database=store)


@answer("abistore://libraries/{library}/releases/{version}/statement/{window}", "statement")
def statement_within(store: OpenStore, *, library: str, version: str, window: str) -> object:
    """Whether a release may ship by a deprecation window, `2 minor`, as `verdict --statement --deprecation`."""
    return interface.statement(f"{library}@{version}", deprecation=read_window(window), database=store)


@answer("abistore://libraries/{library}/deprecations", "deprecations")
def deprecations(store: OpenStore, *, library: str) -> object:
    """What is deprecated since when, and what was removed, as `abistore show --deprecated --json`."""
    return interface.deprecations(library, database=store)


@answer("abistore://libraries/{library}/releases/{version}/lines", "lines")
def lines(store: OpenStore, *, library: str, version: str) -> object:
    """All targets and profiles of a release with one verdict, as `abistore verdict --all-targets --json`."""
    return interface.lines_of_release(f"{library}@{version}", database=store)


@answer("abistore://libraries/{library}/policies/{policy}/evaluation", "evaluations")
def evaluation(store: OpenStore, *, library: str, policy: str) -> object:
    """The verdicts that move under a built-in policy, as `abistore history --compare-with-strict --policy --json`."""
    by = ruling(policy) if policy in interface.policies() else None
    if by is None:
        raise Refusal("NOT_FOUND", f"no policy beside strict_abi is called {policy[:40]}", "abistore://docs/policies")
    return interface.evaluate(library, by, database=store)


@answer("abistore://libraries/{library}/releases/{version}/range", "range")
def compatible_range(store: OpenStore, *, library: str, version: str) -> object:
    """The releases that a program built against this one can run on, as `abistore matrix --json`."""
    return interface.compatible_range(f"{library}@{version}", database=store)


@answer("abistore://libraries/{library}/releases/{version}/exports", "inventory")
def exports(store: OpenStore, *, library: str, version: str) -> object:
    """The exports of a release, with since when they are there and as they are, as `abistore show --exports --json`."""
    return interface.exports(f"{library}@{version}", database=store)


@answer("abistore://libraries/{library}/releases/{version}/types", "inventory")
def types(store: OpenStore, *, library: str, version: str) -> object:
    """The types of a release in the same way, as `abistore show --types --json`."""
    return interface.types(f"{library}@{version}", database=store)


@answer("abistore://libraries/{library}/releases/{version}/types/{type}/users", "types")
def users(store: OpenStore, *, library: str, version: str, type: str) -> object:
    """The exports of a release that use a type, as `abistore show REFERENCE --users TYPE --json`."""
    return interface.who_uses(type, reference=f"{library}@{version}", database=store)


@answer("abistore://symbols/{symbol}/providers", "providers")
def providers(store: OpenStore, *, symbol: str) -> object:
    """The libraries that export a symbol or once did, as `abistore list --provides --json`."""
    return interface.provides(symbol, database=store)


@answer("abistore://symbols/{symbol}/first-broken", "found")
def first_broken(store: OpenStore, *, symbol: str) -> object:
    """The first release that breaks a symbol, type or finding, and the last good one, as `abistore blame`."""
    return interface.first_broken(symbol, database=store)


@resource("abistore://comparisons/{comparison_id}/summary", lasts=True)
def comparison_summary(call: Call, *, comparison_id: str) -> str:
    """The verdict of a comparison, counts, and what was not checked."""
    report = _report(call, comparison_id)
    told = {
        "status": "ok",
        "headline": headline(report),
        "verdict": report.verdict,
        "exit_code": report.exit_code,
        "outcome": report.decision.outcome if report.decision is not None else None,
        "summary": report.summary,
        "not_checked": gaps(report),
    }
    return as_text(told)


@resource("abistore://comparisons/{comparison_id}/report.json", lasts=True)
def comparison_report(call: Call, *, comparison_id: str) -> str:
    """The whole report of a comparison, as `abistore compare --json`."""
    return _written(call, comparison_id, "json")


@resource("abistore://comparisons/{comparison_id}/report.md", MARKDOWN, lasts=True)
def comparison_page(call: Call, *, comparison_id: str) -> str:
    """The same as a page."""
    return _written(call, comparison_id, "markdown")


@resource("abistore://comparisons/{comparison_id}/report.sarif", "application/sarif+json", lasts=True)
def comparison_sarif(call: Call, *, comparison_id: str) -> str:
    """The same as SARIF."""
    return _written(call, comparison_id, "sarif")


@resource("abistore://comparisons/{comparison_id}/report.html", "text/html", lasts=True)
def comparison_html(call: Call, *, comparison_id: str) -> str:
    """The same as HTML."""
    return _written(call, comparison_id, "html")


@resource("abistore://comparisons/{comparison_id}/findings/{finding_id}", lasts=True)
def comparison_finding(call: Call, *, comparison_id: str, finding_id: str) -> str:
    """One finding of a comparison."""
    report = _report(call, comparison_id)
    cards = {card.kind: card for card in report.kinds}
    change = one_finding(findings_of(report), finding_id)
    return as_text({"status": "ok", "finding": change_item(change, "full", cards.get(change.kind))})


def _report(call: Call, comparison_id: str) -> Report:
    return report_of(call, comparison_id, judge=False)


def _written(call: Call, comparison_id: str, format: str) -> str:
    return render(_report(call, comparison_id), format, Style())


PAGES = {
    "approvals": "questions/approvals.md",
    "configuration": "reference/configuration.md",
    "exit-codes": "reference/exit-codes.md",
    "headers": "reference/headers.md",
    "history": "questions/history.md",
    "mapping": "reference/mcp.md",
    "policies": "questions/policies.md",
    "reference": "start/concepts.md",
    "suppressions": "questions/suppressions.md",
    "tools": "reference/mcp.md",
    "verdicts": "start/concepts.md",
}
"""Each page, and the file that it is."""

MADE_PAGES = {"cli": "abistore.cli.reference:command_line"}
"""Pages that are made when they are read, and by what: the command line is above this layer, so that it has a name."""


def page_names() -> list[str]:
    """What ``abistore://docs`` has."""
    return sorted({*PAGES, *MADE_PAGES})


def folder() -> Path:
    """The folder of the pages: in the package where it was installed, beside it in a checkout."""
    package = Path(__file__).parents[1]
    installed = package / "docs"
    return installed if installed.is_dir() else package.parent / "docs"


@resource("abistore://schema", priority=0.2, lasts=True)
def schema(call: Call) -> str:
    """The version of this surface, and the whole schema of each tool's answers."""
    answers = {name: output_schema(tool.answer_type()) for name, tool in tools_of(call.settings).items()}
    return encoded({"status": "ok", "surface_version": SURFACE, "answers": answers}).decode()


@resource("abistore://docs/{page}", MARKDOWN, priority=0.2, lasts=True)
def docs(call: Call, *, page: str) -> str:
    """A page: policies, suppressions, approvals, headers, history, exit-codes, verdicts, tools, cli, configuration."""
    if page in MADE_PAGES:
        make: Callable[[], str] = resolve_name(MADE_PAGES[page])
        return make()
    if page not in PAGES:
        raise Refusal("NOT_FOUND", f"there is no page {page[:40]}", f"one of: {', '.join(page_names())}")
    return (folder() / PAGES[page]).read_text()


@resource("abistore://docs/kinds/{kind}", MARKDOWN, priority=0.2, lasts=True)
def kind(call: Call, *, kind: str) -> str:
    """A kind of change: what happens, why, how to avoid it, and an example."""
    try:
        found = interface.explain(kind)
    except UsageError as error:
        raise Refusal("NOT_FOUND", error.message, error.hint) from error
    about = f"Impact: {found.impact}. Evidence: {found.evidence}. About: {found.element}, {found.action}."
    aliases = f"Also called: {', '.join(found.aliases)}." if found.aliases else ""
    example = f"## Example\n\n{found.example}" if found.example else ""
    variants = "\n".join(f"- `{each.kind}` ({each.impact}): {each.title}" for each in found.variants)
    parts = (f"# {found.kind}", found.title, about, found.why, f"**Fix:** {found.fix}", aliases, variants, example)
    return "\n\n".join(part for part in parts if part) + "\n"


RESOURCES: Mapping[str, ReadableResource] = {
    found.name: found for found in globals().copy().values() if isinstance(found, ReadableResource)
}
