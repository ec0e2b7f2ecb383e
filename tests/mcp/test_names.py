"""Names that the command line refuses are refused by tools, with the store as it was; what one takes both take."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from abistore.cli.main import run
from abistore.interface import OpenStore, db_audit, open_store, releases
from abistore.mcp.jobs import Jobs
from abistore.mcp.settings import Settings
from tests.cli.test_names import BAD, CHANNELS, LIBRARIES, PROFILES, REFUSED, VERSIONS
from tests.mcp.conftest import Agent, fill

BUILD: dict[str, Any] = {"library": "libgeo", "version": "3.0", "library_path": "FILE", "dry_run": True}
APPROVAL: dict[str, Any] = {"finding_ids": ["a" * 20], "reason": "x"}
MOVE: dict[str, Any] = {"library": "libgeo", "version": "1.1", "reason": "x"}
TAG: dict[str, Any] = {"library": "libgeo", "version": "1.1"}
INGEST = ("ingest", "FILE", "--version=3.0", "--dry-run")

PLACES: dict[str, tuple[str, str, dict[str, Any], tuple[str, ...]]] = {
    "library": ("library", "abi_ingest", {**BUILD, "library": "{}"}, (*INGEST, "--library={}")),
    "version": ("version", "abi_ingest", {**BUILD, "version": "{}"}, ("ingest", "FILE", "--dry-run", "--version={}")),
    "profile": ("profile", "abi_ingest", {**BUILD, "profile": "{}"}, (*INGEST, "--profile={}")),
    "gate": ("channel", "abi_ingest", {**BUILD, "against": "baseline:{}"}, (*INGEST, "--against=baseline:{}")),
    "channel": (
        "channel",
        "abi_baseline",
        {**MOVE, "channel": "{}"},
        ("db", "baseline", "set", "libgeo@1.1", "--channel={}"),
    ),
    "tag": ("tag", "abi_tag", {**TAG, "tag": "{}"}, ("db", "release", "tag", "--", "libgeo@1.1", "{}")),
    "tags": ("tag", "abi_ingest", {**BUILD, "tags": ["{}"]}, (*INGEST, "--tag={}")),
}
"""By place: what is named there, the tool with its arguments, and the command that says the same."""

NAMES = {
    "library": (*REFUSED["library"], *LIBRARIES),
    "version": (*REFUSED["version"], *VERSIONS),
    "profile": (*REFUSED["profile"], *PROFILES),
    "channel": (*REFUSED["channel"], *CHANNELS),
    "tag": (*BAD, "lts", "ä", "a b", "a,b"),
}


@pytest.fixture
def store(tmp_path: Path, libraries: dict[str, Path]) -> Iterator[OpenStore]:
    with open_store(str(tmp_path / "abi.db"), create=True) as made:
        fill(made, {version: libraries[version] for version in ("1.0", "1.1")})
        yield made


@pytest.fixture
def writer(store: OpenStore, jobs: Jobs) -> Agent:
    return Agent(Settings(database=store.where, allow_write=True, approvals="auto"), jobs, "2026-07-28")


def filled(given: Any, name: str, file: Path) -> Any:
    """Arguments with a name in its place."""
    match given:
        case str():
            return str(file) if given == "FILE" else given.replace("{}", name)
        case list():
            return [filled(each, name, file) for each in given]
        case dict():
            return {key: filled(value, name, file) for key, value in given.items()}
        case _:
            return given


def answers(agent: Agent, tool: str, given: list[dict[str, Any]]) -> list[tuple[bool, str]]:
    """Of each call whether it was refused, and the whole answer."""

    async def asked(client: Client) -> list[tuple[bool, str]]:
        called = [await client.call_tool(tool, each) for each in given]
        return [(bool(one.is_error), "".join(getattr(part, "text", "") for part in one.content)) for one in called]

    found: list[tuple[bool, str]] = agent.ask(asked)
    return found


@pytest.mark.parametrize("place", PLACES)
def test_a_tool_refuses_the_names_that_the_command_refuses_and_no_other(
    writer: Agent, store: OpenStore, libraries: dict[str, Path], capsys: pytest.CaptureFixture[str], place: str
) -> None:
    what, tool, given, words = PLACES[place]
    before = releases("libgeo", database=store)
    calls = answers(writer, tool, [filled(given, name, libraries["2.0"]) for name in NAMES[what]])
    for name, (refused, text) in zip(NAMES[what], calls, strict=True):
        assert ("INVALID_ARGUMENT" in text or "NOT_FOUND" in text) == refused, (name, text)
        assert not any(ord(letter) < 32 for letter in text), (name, text)
        code = run(["--db", store.where, *filled(list(words), name, libraries["2.0"])])
        capsys.readouterr()
        assert refused == (code in {64, 67}), (name, code, text)
    assert [(one.version, one.digest) for one in releases("libgeo", database=store)] == [
        (o.version, o.digest) for o in before
    ]


@pytest.mark.parametrize("scope", ["release:{}", "branch:{}"])
def test_an_approval_is_for_no_place_that_nobody_could_name(writer: Agent, store: OpenStore, scope: str) -> None:
    what = "version" if scope.startswith("release") else "channel"
    names = [name for name in REFUSED[what] if name and name == name.strip()]
    calls = [{**APPROVAL, "scope": scope.format(name)} for name in names]
    assert [
        name for name, (refused, _) in zip(names, answers(writer, "abi_approve", calls), strict=True) if not refused
    ] == []
    assert not [one for one in db_audit(database=store) if one.action == "approval"]
