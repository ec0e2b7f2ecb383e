"""A release that cannot be judged costs a history its own verdicts, and no other's."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from abistore.cli.main import run
from abistore.model.history import IngestRequest, Release
from abistore.model.shapes import Alias, Primitive, Qualified
from abistore.model.snapshot import Target, encode
from abistore.service.history import History, history
from abistore.store.store import Store
from abistore.store.walking import LineWalk, WalkStep
from tests.store.builders import EXPORTED, INT, function, record, snapshot, struct
from tests.store.sql import sql

ODD = record("odd")


def filled(address: str) -> list[Release]:
    """Five releases; one struct grows each time, and another is in the third only."""
    with Store.open(address, write=True) as store:
        found = []
        for number in range(5):
            layout = {record("point"): struct(*"abcdef"[: number + 1])} | ({ODD: struct("z")} if number == 2 else {})
            held = snapshot(str(number), symbols={function("norm"): EXPORTED}, layout=layout)
            found.append(store.ingest(held, IngestRequest(f"1.{number}")).release)
        return found


def told(line: History) -> list[bool]:
    return [row.verdict is not None for row in line.rows[1:]]


def test_a_damaged_release_leaves_the_others_their_verdicts(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    filled(address)
    with Store.open(address, write=True) as store:
        body = encode(struct("z")).decode()
        sql(store.database, "UPDATE shape SET body = ? WHERE body = ?", body.replace('"z"', '"q"'), body)
        (key,) = store.lines()
        store.set_baseline(key, "release", "1.1", reason="first", actor="ana")
    (line,) = history("libgeo", database=address)
    assert told(line) == [True, False, False, True]
    assert line.damaged
    assert "damaged" in line.rows[2].unjudged
    assert "damaged" in line.rows[2].unjudged_baseline
    assert [row.against_baseline is not None for row in line.rows] == [False, False, False, True, True]
    for words in ([], ["--json"]):
        assert run(["--db", address, *words, "history", "libgeo"]) == 74
        shown = capsys.readouterr().out
        assert "damaged" in shown


def test_releases_for_two_platforms_in_one_line_leave_the_others_their_verdicts(address: str) -> None:
    releases = filled(address)
    other = replace(releases[2].target, os_abi="freebsd")
    with Store.open(address, write=True):
        original = Store.walk

        def walk(store: Store) -> object:
            return _Foreign(original(store), other)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Store, "walk", walk)
            (line,) = history("libgeo", database=address)
    assert told(line) == [True, False, False, True]
    assert "elf-x86_64-64-little-freebsd" in line.rows[2].unjudged
    assert not line.damaged


class _Foreign:
    """A walk that finds the third release to be for another platform, as older versions stored it."""

    def __init__(self, walk: LineWalk, target: Target) -> None:
        self._walk, self._target = walk, target
        self.lifetimes_in, self.named = walk.lifetimes_in, walk.named

    def step(self, release: Release) -> WalkStep:
        found = self._walk.step(release)
        if release.version != "1.2":
            return found
        return found._replace(snapshot=replace(found.snapshot, target=self._target))


def test_what_no_reader_would_take_today_is_still_judged_where_it_is_stored(address: str) -> None:
    """A qualifier without letters, which snapshots could hold once."""
    alias = record("point")
    with Store.open(address, write=True) as store:
        for number, type in enumerate((INT, Qualified(INT, ("",)), Primitive("", 4))):
            layout = {replace(alias, kind="alias"): Alias(type)}
            held = snapshot(str(number), symbols={function("norm"): EXPORTED}, layout=layout)
            store.ingest(held, IngestRequest(f"1.{number}"))
    (line,) = history("libgeo", database=address)
    assert told(line) == [True, True]
