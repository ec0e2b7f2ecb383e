"""Snapshot files of format 1, which people have kept: they are read for what they say, and with the same defences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from abistore.errors import SnapshotError
from abistore.model.snapshot import Snapshot
from abistore.model.snapshot_file.codec import from_json, to_json
from tests.compare.test_every_fact import former
from tests.editing import undigested
from tests.effort import steps

FOLDER = Path(__file__).parent / "former"
FILES = sorted(FOLDER.glob("*.json"))


def document(name: str = "c") -> dict[str, Any]:
    """A former file without its digest, to be edited."""
    found: dict[str, Any] = json.loads(undigested((FOLDER / f"{name}.json").read_text()))
    assert found["version"] == 1
    return found


def test_a_former_file_with_every_fact_says_them_all() -> None:
    found = from_json((FOLDER / "every-fact.json").read_bytes())
    facts = former()
    assert found.entries == facts.entries
    assert (found.target, found.evidence) == (facts.target, facts.evidence)
    assert found.exported
    assert found.exported.profile == "debug"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_former_file_is_written_as_a_new_one_that_says_the_same(path: Path) -> None:
    found = from_json(path.read_bytes())
    assert found.entries
    assert path.stem == "every-fact" or found.locations
    written = to_json(found)
    assert json.loads(written)["version"] == 2
    assert from_json(written) == found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_former_file_that_was_edited_is_refused(path: Path) -> None:
    edited = path.read_text().replace('"x86_64"', '"i386"')
    with pytest.raises(SnapshotError, match="was changed"):
        from_json(edited.encode())
    assert from_json(undigested(edited).encode()).target.machine == "i386"


def test_every_cut_of_a_former_file_is_an_error() -> None:
    written = (FOLDER / "c.json").read_bytes().rstrip()
    for end in range(len(written)):
        with pytest.raises(SnapshotError):
            from_json(written[:end])


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("types", ["*", 99]),
        ("types", ["*", -1]),
        ("types", ["*", True]),
        ("types", ["*", 0, "**"]),
        ("types", ["nonsense", 1]),
        ("types", [["*"], 1]),
        ("types", []),
        ("types", ["p", "int", 4, 4]),
        ("shapes", ["Function", "f", 0, 0]),
        ("shapes", ["Function", "f", [0]]),
        ("shapes", ["Record", "class", "4"]),
        ("shapes", ["Record", "class", 4, [["x", 0]]]),
        ("shapes", ["Symbol", "function", "global"]),
        ("shapes", ["Symbol", "planet", "global", "default"]),
        ("shapes", ["Library", "shared", None, [], [], [], [], [], ["half"]]),
        ("names", ["planet", "x"]),
        ("locations", [0, 99, 1]),
    ],
)
def test_a_former_row_that_makes_no_sense_is_an_error(table: str, row: list[object]) -> None:
    broken = document()
    broken[table].append(row)
    with pytest.raises(SnapshotError) as caught:
        from_json(json.dumps(broken).encode())
    assert caught.value.hint


@pytest.mark.parametrize("row", [[0], [99, 0], [0, 99], [0, -1]])
def test_a_former_entry_that_points_nowhere_is_an_error(row: list[int]) -> None:
    broken = document()
    broken["entries"]["layout"].append(row)
    with pytest.raises(SnapshotError):
        from_json(json.dumps(broken).encode())


@pytest.mark.parametrize("row", [["i", ["Record", "struct", 8, [["a", -1, 0], ["b", -1, 32]]]], ["f", -1, [-1, -1]]])
def test_a_fan_in_a_former_file_is_replaced(row: object) -> None:
    fan = document()
    for _ in range(60):
        fan["types"].append(json.loads(json.dumps(row).replace("-1", str(len(fan["types"]) - 1))))
    function = next(shape for shape in fan["shapes"] if shape[0] == "Function")
    function[2] = len(fan["types"]) - 1
    data = json.dumps(fan).encode()
    read_back: list[Snapshot] = []
    assert steps(lambda: read_back.append(from_json(data))) < 100_000
    assert read_back[0].evidence_of("layout").reason == "type-too-large"


def test_a_chain_in_a_former_file_that_nothing_mentions_does_no_harm() -> None:
    chain = document()
    chain["types"] += [["*", len(chain["types"]) - 1 + i] for i in range(100_000)]
    assert from_json(json.dumps(chain).encode()).entries == from_json((FOLDER / "c.json").read_bytes()).entries
