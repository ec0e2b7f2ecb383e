"""Whatever is let in can be spelled, drawn, compared, stored, and judged as part of a history; the rest is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from abistore.errors import SnapshotError
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.history import IngestRequest
from abistore.model.names.spelling import declaration
from abistore.model.snapshot import Snapshot
from abistore.model.snapshot_files import from_json, to_json
from abistore.report import render
from abistore.report.model import MODES, Style, formats, formats_with_modes
from abistore.service.history import history
from abistore.service.judging import judge
from abistore.store.store import Store
from tests.build import build_library
from tests.draws import draws
from tests.editing import undigested
from tests.laws.wild import Wild

pytestmark = pytest.mark.full

SENSIBLE = (0.5, 0.9, 0.97, 0.99, 0.995, 1.0)
SEEDS = range(draws(12))
PLACES = ("the symbol", "the layout", "the source", "facet", "evidence of", "provenance", "location")


def let_in(seed: int, count: int) -> Iterator[Snapshot]:
    """Of so many snapshots those that the reader takes; refused ones say where they are wrong."""
    for number in range(count):
        drawn = Wild(Random(f"{seed} {number}"), SENSIBLE[number % len(SENSIBLE)]).snapshot()
        try:
            yield from_json(to_json(drawn))
        except SnapshotError as error:
            assert error.message.startswith("malformed snapshot: ")
            assert any(
                word in error.message
                for word in ("the symbol", "the layout", "the source", "facet", "evidence of", "provenance", "location")
            )


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_is_let_in_can_be_told_compared_and_judged(seed: int) -> None:
    old: Snapshot | None = None
    told = 0
    for new in let_in(seed, 60):
        for table in new.entries.values():
            for name, shapes in table.items():
                assert all(isinstance(declaration(name, shape, new), str) for shape in shapes)
        report = judge(old or new, new)
        for format in formats():
            for mode in MODES if format in formats_with_modes() else ("full",):
                assert isinstance(render(report, format, Style(mode=mode)), str)
        old, told = new, told + 1
    assert told > 10


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_whatever_is_let_in_can_be_stored_and_has_a_history(seed: int, tmp_path: Path) -> None:
    assert_stored(str(tmp_path / "store.db"), seed)


def assert_stored(address: str, seed: int) -> None:
    with Store.open(address, write=True) as store:
        found = list(let_in(seed, 60))
        releases = [store.ingest(each, IngestRequest(f"{n}.0")).release for n, each in enumerate(found)]
        for release, each in zip(releases, found, strict=True):
            assert store.load(release).entries == each.entries
        assert store.check() == ()
    (line,) = history("libwild", database=address)
    assert [row.unjudged for row in line.rows] == [""] * len(found)


def alias(target: object) -> list[object]:
    """A name with its layout, an alias of a type."""
    return [["alias", "a"], {"layout": [{"is": "A", "to": target}]}]


def shape(kind: str, **facts: object) -> list[object]:
    """A name with its layout."""
    return [[kind, "a"], {"layout": [facts]}]


INT = {"is": "p", "s": "int", "z": 4}
NEGATIVE = {"is": "R", "k": "struct", "z": 8, "f": [{"n": "x", "t": INT, "o": -8}]}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ([["function", ""], {"layout": [{"is": "A", "to": INT}]}], "a function without a name in the layout facet"),
        (alias({"is": "q", "to": INT, "q": []}), "the layout of alias a: target: qualifiers contains 'nothing'"),
        (alias({"is": "q", "to": INT, "q": [""]}), "the layout of alias a: target: qualifiers contains ''"),
        (alias({"is": "q", "to": INT, "q": ["const", "constant"]}), "target: qualifiers contains 'constant'"),
        (alias({"is": "p", "s": "int", "z": -4}), "the layout of alias a: target: size is not a number from 0"),
        (alias({"is": "a", "of": INT, "c": -1}), "the layout of alias a: target: count is not a number from 0"),
        (alias({"is": "*", "to": INT, "k": "**"}), "Invalid enum value '**'"),
        (alias({"is": "n", "n": ["function", "f"]}), "target: name is 'function f', which is not a type"),
        (alias({"is": "i", "sh": NEGATIVE}), "the layout of alias a: target: shape: fields: offset is not"),
        (shape("record", **{"is": "R", "k": "module", "z": 8}), "Invalid enum value 'module'"),
        (shape("record", **{"is": "R", "k": "struct", "z": 1 << 80}), "the layout of record a: size is not a number"),
        (shape("enum", **{"is": "E", "z": -1}), "the layout of enum a: size is not a number from 0"),
        (shape("record", **{**NEGATIVE, "f": [{"n": "x", "t": INT, "o": 0, "w": -1}]}), "fields: bit_size is not"),
        (shape("record", **{"is": "M", "k": 1}), "Invalid value 'M'"),
    ],
)
def test_what_nothing_can_say_is_refused_with_its_place(row: list[object], words: str) -> None:
    written = to_json(read_snapshot(build_library("int v0;"), ExtractOptions())).decode()
    document = json.loads(undigested(written))
    document["names"].append(row)
    with pytest.raises(SnapshotError) as caught:
        from_json(json.dumps(document).encode())
    assert words in caught.value.message
