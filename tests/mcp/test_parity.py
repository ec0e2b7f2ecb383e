"""The command line, the server and Python give the same facts: there is no second engine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

import abistore
from abistore.cli.main import run
from abistore.interface import open_store
from abistore.report.plain import plain
from tests.mcp.conftest import Agent, fill
from tests.mcp.test_resources import read

Asked = Callable[[Agent], Any]
Python = Callable[[abistore.OpenStore], Any]


@pytest.fixture
def judged(libraries: dict[str, Path], tmp_path: Path) -> Path:
    database = tmp_path / "judged.db"
    with open_store(database, create=True) as store:
        fill(store, libraries)
        store.history("libgeo")
    return database


def report(agent: Agent) -> Any:
    return agent("abi_compare", old_input="libgeo@1.0", new_input="libgeo@2.0", include_report=True)["report"]


def at(uri: str) -> Asked:
    return lambda agent: json.loads(read(agent, f"abistore://{uri}"))


def shown(key: str, verb: Callable[[abistore.OpenStore], Any]) -> Python:
    return lambda store: {"status": "ok", key: plain(verb(store))}


def encoded(report: abistore.Report) -> Any:
    return json.loads(msgspec.json.encode(report))


VERBS: dict[str, tuple[list[str], Asked, Python]] = {
    "compare": (
        ["compare", "libgeo@1.0", "libgeo@2.0"],
        report,
        lambda store: encoded(store.compare("libgeo@1.0", "libgeo@2.0")),
    ),
    "verdict": (
        ["verdict", "libgeo@2.0"],
        at("libraries/libgeo/releases/2.0/verdict"),
        lambda store: encoded(store.verdict("libgeo@2.0").report),
    ),
    "lines": (["list"], at("libraries"), shown("lines", lambda store: store.lines())),
    "releases": (["list", "libgeo"], at("libraries/libgeo"), shown("releases", lambda store: store.releases("libgeo"))),
    "history": (
        ["history", "libgeo"],
        at("libraries/libgeo/history"),
        shown("histories", lambda store: store.history("libgeo")),
    ),
    "baseline_history": (
        ["baseline", "history", "libgeo"],
        at("libraries/libgeo/baseline"),
        shown("baselines", lambda store: abistore.baseline_history("libgeo", database=store)),
    ),
    "export": (
        ["export", "libgeo@2.0"],
        at("libraries/libgeo/releases/2.0/snapshot.json"),
        lambda store: json.loads(store.export("libgeo@2.0").json),
    ),
    "stats": (
        ["db", "stats"],
        lambda agent: {"status": "ok", "stats": agent("abi_store_stats")["store"]},
        shown("stats", lambda store: abistore.db_stats(database=store)),
    ),
}


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_a_verb_gives_the_same_json_to_all(
    verb: str, judged: Path, modern: Agent, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words, asked, python = VERBS[verb]
    monkeypatch.setenv("ABISTORE_DB", str(judged))
    capsys.readouterr()
    run([*words] if verb == "export" else [*words, "--json"])
    printed = json.loads(capsys.readouterr().out)
    assert asked(modern.set(database=str(judged))) == printed
    with open_store(judged, read_only=True) as store:
        assert python(store) == printed


def test_the_tools_tell_the_facts_of_the_verbs(judged: Path, modern: Agent) -> None:
    agent = modern.set(database=str(judged))
    with open_store(judged, read_only=True) as store:
        (history,) = store.history("libgeo")
        whole = store.compare("libgeo@1.0", "libgeo@2.0")
        events = store.log("point")
        verdict = store.verdict("libgeo@2.0", against="baseline")
    rows = agent("abi_history", library="libgeo")["rows"]
    assert [(row["version"], row["verdict"]) for row in rows] == [
        (row.release.version, row.verdict.name if row.verdict else None) for row in history.rows
    ]
    answer = agent("abi_compare", old_input="libgeo@1.0", new_input="libgeo@2.0")
    assert [change["id"] for change in answer["changes"]] == [change.id for change in whole.changes]
    assert answer["summary"] == msgspec.to_builtins(whole.summary)
    told = agent("abi_symbol_history", symbol="point")["events"]
    assert [(event["version"], event["action"]) for event in told] == [(one.version, one.action) for one in events]
    summary = agent("abi_summary", library="libgeo")
    assert (summary["verdict"], summary["exit_code"]) == (verdict.report.verdict, verdict.report.exit_code)
    gate = agent("abi_gate", library="libgeo")
    assert (gate["verdict"], gate["exit_code"]) == (verdict.report.verdict, verdict.report.exit_code)


def test_the_kinds_are_those_of_the_verbs(modern: Agent) -> None:
    assert modern("abi_list_changes")["count"] == len(abistore.changes())
    explained = abistore.explain("func_removed")
    answer = modern("abi_explain_change", change_kind="func_removed")
    assert (answer["description"], answer["fix_guidance"]) == (explained.title, explained.fix)


def test_a_finding_has_one_id_everywhere(modern: Agent, judged: Path) -> None:
    agent = modern.set(database=str(judged))
    answer = agent("abi_compare", old_input="libgeo@1.0", new_input="libgeo@2.0")
    comparison = answer["comparison_id"]
    ids = [change["id"] for change in answer["changes"]]
    assert [item["id"] for item in agent("abi_findings", comparison_id=comparison)["items"]] == ids
    assert [item["id"] for item in agent("abi_summary", library="libgeo")["top"]] == ids
    for identity in ids:
        one = agent("abi_finding", finding_id=identity, comparison_id=comparison)["finding"]
        assert one["id"] == identity
        assert one["kind"] == next(change["kind"] for change in answer["changes"] if change["id"] == identity)
