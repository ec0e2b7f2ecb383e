"""``abistore://libraries/...``: what is stored of libraries and their releases."""

from __future__ import annotations

from abistore.interface import (
    History,
    HistoryRow,
    Judgement,
    OpenStore,
    Style,
    approvals,
    baseline_history,
    consumers,
    consumers_broken,
    consumers_using,
    remembered,
    render,
)
from abistore.mcp.answers.compared import headline
from abistore.mcp.answers.units import as_text
from abistore.mcp.call import Call
from abistore.mcp.refusals import Refusal
from abistore.mcp.resources.declaration import MARKDOWN, answer, resource
from abistore.model.words.characters import in_line

HEAD = "| version | date | against previous | against baseline | not checked |\n|---|---|---|---|---|"


@answer("abistore://libraries", "lines", priority=0.9)
def libraries(store: OpenStore) -> object:
    """All lines that are stored, as `abistore list --json`."""
    return store.lines()


@answer("abistore://libraries/{library}", "releases")
def releases(store: OpenStore, *, library: str) -> object:
    """The releases of a library, as `abistore list LIBRARY --json`."""
    return store.releases(library)


@answer("abistore://libraries/{library}/history", "histories")
def history(store: OpenStore, *, library: str) -> object:
    """The releases of a library with the verdicts that were given, as `abistore history --json`."""
    return store.history(library, judge=False)


@resource("abistore://libraries/{library}/history.md", MARKDOWN, priority=0.8)
def history_page(call: Call, *, library: str) -> str:
    """The same as a page."""
    with call.store() as store:
        return "\n\n".join(map(_timeline, store.history(library, judge=False)))


@answer("abistore://libraries/{library}/baseline", "baselines")
def baseline(store: OpenStore, *, library: str) -> object:
    """Where the baselines of a library stood, with who moved them and why, as `abistore baseline history --json`."""
    return baseline_history(library, database=store)


@answer("abistore://libraries/{library}/approvals", "approvals")
def library_approvals(store: OpenStore, *, library: str) -> object:
    """The accepted breaks of a library: who, why, until when, and whether that holds, as `abistore approvals list`."""
    return approvals(library, database=store)


@answer("abistore://libraries/{library}/consumers", "consumers")
def library_consumers(store: OpenStore, *, library: str) -> object:
    """The stored programs that use a library, as `abistore consumers list LIBRARY --json`."""
    return consumers(library, database=store)


@answer("abistore://libraries/{library}/consumers/{name}", "use")
def using(store: OpenStore, *, library: str, name: str) -> object:
    """The stored programs that use a symbol or a type of a library, as `abistore consumers using --json`."""
    return consumers_using(library, name, database=store)


@answer("abistore://libraries/{library}/releases/{version}/consumers", "release")
def hurt(store: OpenStore, *, library: str, version: str) -> object:
    """The stored programs that a release breaks, and by what, as `abistore consumers broken --json`."""
    return consumers_broken(f"{library}@{version}", database=store)


@resource("abistore://libraries/{library}/releases/{version}/verdict")
def verdict(call: Call, *, library: str, version: str) -> str:
    """The verdict about a release against the one before, where it was given."""
    return render(_remembered(call, library, version).report, "json", Style())


@resource("abistore://libraries/{library}/releases/{version}/verdict.md", MARKDOWN)
def verdict_page(call: Call, *, library: str, version: str) -> str:
    """The same as a page."""
    return render(_remembered(call, library, version).report, "markdown", Style())


@resource("abistore://libraries/{library}/releases/{version}/summary")
def summary(call: Call, *, library: str, version: str) -> str:
    """The same in a few words: the verdict and counts."""
    return _summary(_remembered(call, library, version))


@resource("abistore://libraries/{library}/releases/{version}/snapshot.json")
def snapshot(call: Call, *, library: str, version: str) -> str:
    """The snapshot of a release, as `abistore export` writes it."""
    with call.store() as store:
        return store.export(f"{library}@{version}").json.decode()


@resource("abistore://latest/summary", priority=1.0)
def latest_summary(call: Call) -> str:
    """The verdict about the release that was stored last, in a few words."""
    return _summary(_remembered(call, *_latest(call)))


@resource("abistore://latest/report.json")
def latest_report(call: Call) -> str:
    """The verdict about the release that was stored last."""
    library, version = _latest(call)
    return verdict(call, library=library, version=version)


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


def _latest(call: Call) -> tuple[str, str]:
    """The library and version of the release that was stored last."""
    with call.store() as store:
        names = sorted({listed.line.library for listed in store.lines()})
        every = [release for name in names for release in store.releases(name) if not release.candidate]
    last = max(every, key=lambda release: (release.ingested, release.line, release.sequence), default=None)
    if last is None:
        raise Refusal("NOT_FOUND", "nothing is stored yet", "store a release with `abistore ingest`")
    return last.line.library, last.version


def _remembered(call: Call, library: str, version: str) -> Judgement:
    with call.store() as store:
        return remembered(f"{library}@{version}", database=store)


def _summary(judged: Judgement) -> str:
    report = judged.report
    told = {
        "status": "ok",
        "headline": headline(report),
        "verdict": report.verdict,
        "exit_code": report.exit_code,
        "summary": report.summary,
        "old": judged.given.old.reference,
        "new": judged.given.new.reference,
        "judged": judged.given.judged,
        "evidence_gap": report.evidence_gap,
    }
    return as_text(told)


def _timeline(history: History) -> str:
    rows = "\n".join(map(_row, history.rows))
    return f"## {_cell(str(history.line))}\n\nBaseline: {_cell(history.baseline or 'none')}\n\n{HEAD}\n{rows}\n"


def _row(row: HistoryRow) -> str:
    verdicts = (row.verdict, row.against_baseline)
    accepted = [", approved" if said else "" for said in (row.passed_by, row.passed_by_baseline)]
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
