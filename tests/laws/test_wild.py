"""Whatever is let in can be spelled, drawn, compared, stored, and judged as part of a history; the rest is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from abistore.errors import SnapshotError
from abistore.extract.capture import read
from abistore.extract.reader import ExtractOptions
from abistore.model.cpp_names.spelling import declaration
from abistore.model.history import IngestRequest
from abistore.model.snapshot import Snapshot
from abistore.model.snapshot_file.codec import from_json, to_json
from abistore.report import render
from abistore.report.registry import formats, formats_with_modes
from abistore.report.style import MODES, Style
from abistore.service.history.history import history
from abistore.service.judging.judging import judge
from abistore.store.store import Store
from tests.build import build_library
from tests.editing import undigested
from tests.laws.wild import Wild

SENSIBLE = (0.5, 0.9, 0.97, 0.99, 0.995, 1.0)
SEEDS = range(12)


def let_in(seed: int, count: int) -> Iterator[Snapshot]:
    """Of so many snapshots those that the reader takes; refused ones say where they are wrong."""
    for number in range(count):
        drawn = Wild(Random(f"{seed} {number}"), SENSIBLE[number % len(SENSIBLE)]).snapshot()
        try:
            yield from_json(to_json(drawn))
        except SnapshotError as error:
            assert error.message.startswith("malformed snapshot: ")
            assert any(word in error.message for word in ("row ", "evidence of", "provenance", "location"))


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


@pytest.mark.parametrize(
    ("table", "row", "words"),
    [
        ("names", ["function", ""], "row {} of names: function without a name"),
        ("types", ["q", 0, []], "row {} of types: qualifiers has 'nothing'"),
        ("types", ["q", 0, [""]], "row {} of types: qualifiers has"),
        ("types", ["q", 0, ["const", "constant"]], "row {} of types: qualifiers has 'constant'"),
        ("types", ["p", "int", -4], "row {} of types: size is not a number from 0"),
        ("types", ["a", 0, -1], "row {} of types: count is not a number from 0"),
        ("types", ["*", 0, "**"], "row {} of types: Invalid enum value '**'"),
        ("types", ["i", ["Record", "struct", 8, [["x", 0, -8]]]], "row {} of types: shape: fields: offset is not"),
        ("shapes", ["Record", "module", 8], "row {} of shapes: Invalid enum value 'module'"),
        ("shapes", ["Record", "struct", 1 << 80], "row {} of shapes: size is not a number from 0"),
        ("shapes", ["Enum", -1], "row {} of shapes: size is not a number from 0"),
        ("shapes", ["Record", "struct", 8, [["x", 0, 0, -1]]], "row {} of shapes: fields: bit_size is not"),
        ("shapes", ["Macro", 1], "row {} of shapes: not a known row"),
    ],
)
def test_what_nothing_can_say_is_refused_with_its_place(table: str, row: list[object], words: str) -> None:

    written = to_json(read(build_library("int v0;"), ExtractOptions())).decode()
    document = json.loads(undigested(written))
    document[table].append(row)
    with pytest.raises(SnapshotError) as caught:
        from_json(json.dumps(document).encode())
    assert words.format(len(document[table]) - 1) in caught.value.message
