"""Keep a tiny database of the schema of today: ``python -m tests.store.schemas.build``.

Run it when a migration has made a new schema. It writes ``<revision>.db``, and beside it what the database must still
say after any later upgrade. Those of older schemas are never written again.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from abistore.model.approvals import Approval, ApprovedFacts, BuiltType, ConsumedSymbol, Consumer, ConsumerDetails
from abistore.model.declarations import Name
from abistore.model.environments import EnvironmentMember
from abistore.model.findings import Churn, Comparison, Finding, Impact, Verdict
from abistore.model.history import DEFAULT_PROFILE, FindingReview, IngestRequest, StoredVerdict
from abistore.model.rules import Binding
from abistore.model.snapshot import ReleaseTag
from abistore.store.database import HEAD
from abistore.store.store import Store
from tests.diffing.test_every_fact import FACETS
from tests.diffing.test_every_fact import snapshot as every_fact
from tests.store.builders import EXPORTED, function, large, snapshot, struct

FOLDER = Path(__file__).parent


def fill(store: Store) -> None:
    """A few releases of two libraries, with everything that a store can hold about them."""
    for step, version in enumerate(("1.0", "1.1", "1.2")):
        request = IngestRequest(version, revision=f"rev{step}", url="https://ci/1", actor="ana")
        store.ingest(large(2, names=6, step=step), request)
    store.ingest(large(3, names=6, step=9), IngestRequest("1.1", replace=True, actor="ben"))
    store.ingest(snapshot("stripped", library="liblarge", symbols={function("f"): EXPORTED}), IngestRequest("1.3"))
    store.ingest(snapshot(symbols={function("geo_norm"): EXPORTED}, layout={}), IngestRequest("R_1"))
    store.ingest(large(3, names=6, step=5), IngestRequest("2.0", candidate=True))
    store.set_scheme("liblarge", "pep440", "ana")
    old, new = store.resolve("liblarge@1.0"), store.resolve("liblarge@1.1")
    store.set_baseline(old.line, "release", "1.0", "ana", "shipped")
    finding = Finding("func_removed", function("f"), "", "gone", Impact.BREAKING, "symbol", "f", gone=True)
    comparison = Comparison(old.side, new.side, Verdict.BREAKING, (finding,), engine="e")
    store.save_verdicts([StoredVerdict(old, new, comparison, Churn(1, 2, 3), datetime(2026, 5, 1, tzinfo=UTC))])
    store.tag(old, [ReleaseTag("lts", "until 2028"), ReleaseTag("shipped")], "ana")
    for state, note in (("seen", ""), ("intended", "gone for good")):
        said = FindingReview("liblarge", "0123456789abcdef0123", state, note, "ben", datetime(2026, 5, 2, tzinfo=UTC))
        store.review(said)
    facts = ApprovedFacts("func_removed", "function", "f", "", "f")
    accepted = Approval(
        *("liblarge", "0123456789abcdef0123", facts, "branch:main", "version:2.0", "unused", "LIB-7", "ana", "ben"),
        datetime(2026, 5, 3, tzinfo=UTC),
        "file approvals.yaml",
    )
    store.approve([accepted, msgspec.structs.replace(accepted, scope="forever", until="", facts=None)])
    store.approve([msgspec.structs.replace(accepted, actor="eva", withdrawn=True)])
    store.approve([msgspec.structs.replace(accepted, target="elf-x86_64-64-little", stood_at="1.1")])
    store.approve([msgspec.structs.replace(accepted, profile="debug", stood_at="1.1")])
    store.add_consumers([consumer("app", "geo::Shape0"), consumer("other"), consumer("gone")], "ana")
    store.remove_consumers([("gone", "elf-x86_64-64-little")], "ben")
    record_environment(store)
    bind_rules(store)


def bind_rules(store: Store) -> None:
    """A rule of a pattern, and one that was bound twice and then taken back."""
    first = Binding("liblarge", "shipped", "ana", datetime(2026, 5, 5, tzinfo=UTC), "sdk_vendor", require=("layout",))
    store.bind(first)
    store.bind(msgspec.structs.replace(first, actor="ben", scheme="semver"))
    store.bind(msgspec.structs.replace(first, actor="eva", reason="a mistake", withdrawn=True))
    whole = Binding("lib*", "ours", "ana", datetime(2026, 5, 6, tzinfo=UTC), "own", "name: own\n", since_soname=True)
    store.bind(whole)
    store.bind(msgspec.structs.replace(whole, pattern="other"))


def record_environment(store: Store) -> None:
    """A library that was replaced by two versions beside each other, and a program that was removed."""
    moment = datetime(2026, 5, 4, tzinfo=UTC)
    target, digest = "elf-x86_64-64-little", "0123456789abcdef0123456789abcdef"
    first, second, third = (
        EnvironmentMember(
            *("library", "liblarge", target, moment, "ana", "default", version, digest),
            soname="liblarge.so.1",
            sha256="ab" * 32,
            file="liblarge.so",
        )
        for version in ("1.0", "1.1", "1.2")
    )
    app = EnvironmentMember("program", "app", target, moment, "ana", sha256="cd" * 32, file="app.bin")
    store.record_members("production", [first, app], beside=False, actor="ana")
    store.record_members("production", [second], beside=False, actor="ben")
    store.record_members("production", [third], beside=True, actor="ben")
    store.remove_members("production", lambda each: each.name == "app", moment, "eva")


def consumer(name: str, *types: str) -> Consumer:
    """A program that imports two symbols, and was built with some types."""
    details = ConsumerDetails(
        *(name, "elf-x86_64-64-little", f"{name}.bin", "ab" * 32, ("liblarge.so.1", "libc.so.6")),
        ("asks-at-run-time",),
        "tools.deb",
    )
    imports = (ConsumedSymbol("counter", copied=8), ConsumedSymbol("geo_norm", "V1", "liblarge.so.1", weak=True))
    shapes = {Name("record", each): BuiltType((struct("x", "y"),), "geo.h") for each in types}
    return Consumer(details, imports, shapes)


def fill_with_every_fact(store: Store) -> None:
    """Two releases of a library that has every class of shape, and each fact of it."""
    source = {**FACETS["source"], **dict(list(FACETS["layout"].items())[:3])}
    for version, held in (("1.0", FACETS), ("1.1", {**FACETS, "source": source}), ("1.2", FACETS)):
        store.ingest(every_fact(held), IngestRequest(version))


def summary(store: Store) -> dict[str, object]:
    """What must survive every upgrade."""
    libraries = sorted({line.library for line in store.lines()})
    said = {
        "tags": [
            [release.reference, [[tag.name, tag.note] for tag in release.tags]]
            for library in libraries
            for release in store.releases(library)
            if release.tags
        ],
        "reviews": [[one.library, one.identity, one.state, one.note, one.actor] for one in store.reviews()],
        "consumers": [
            [
                *one.details.key,
                list(one.details.needed),
                one.actor,
                [str(name) for name in store.consumer_types()[one.details.key]],
            ]
            for one in store.consumers()
        ],
        "approvals": [_said(one) for one in store.approvals()],
        "environments": [
            [one.name, one.actor, *([each.label, each.actor, each.ended_by] for each in (*one.members, *one.earlier))]
            for one in store.environments()
        ],
        "rules": [
            [one.pattern, one.words, one.policy_text, one.reason, one.actor, "withdrawn" if one.withdrawn else ""]
            for one in store.rules()
        ],
    }
    return {
        **{what: rows for what, rows in said.items() if rows},  # older schemas had none
        "releases": [
            [library, release.version, release.sequence, release.digest, release.provenance.sha256, release.revision]
            for library in libraries
            for release in store.releases(library)
        ],
        "candidates": [one.version for library in libraries for one in store.candidates(library)],
        "baselines": [[str(move.line), move.channel, move.version, move.reason] for move in store.baselines()],
        "verdicts": store.stats().verdicts,
        "findings": sorted(one.finding.kind for one in store.findings("", 100)[0]),
        "log": [
            [event.release.version, event.action, str(event.name), event.facet]
            for events in store.logs(["geo::Shape0"]).values()
            for event in events
        ],
        "audit": [[record.actor, record.action, record.subject] for record in store.audit()],
    }


def _said(one: Approval) -> list[object]:
    terms = (one.library, one.identity, one.scope, one.until, one.reason, one.ticket, one.approver, one.origin)
    added = filter(None, (one.target, one.stood_at, one.profile.removeprefix(DEFAULT_PROFILE)))
    return [*terms, "withdrawn" * one.withdrawn, one.actor, one.facts and one.facts.symbol, *added]


def main() -> None:
    """Write the database small: little pages, and no log beside it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        with Store.open(path, write=True) as store:
            fill(store)
            fill_with_every_fact(store)
            (FOLDER / f"{HEAD}.json").write_text(json.dumps(summary(store), indent=1) + "\n")
        with closing(sqlite3.connect(path)) as connection:
            for statement in ("PRAGMA journal_mode = DELETE", "PRAGMA page_size = 512", "VACUUM"):
                connection.execute(statement)
        (FOLDER / f"{HEAD}.db").write_bytes(path.read_bytes())


if __name__ == "__main__":
    main()
