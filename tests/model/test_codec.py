"""Snapshots as JSON: what is refused, what the schema says, and what real libraries give."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from abistore.errors import SnapshotError
from abistore.extract.capture import read
from abistore.extract.reader import ExtractOptions
from abistore.model.names import SELF, Name
from abistore.model.shapes import Alias, Function, Library, Pointer, Primitive, Record, Symbol
from abistore.model.snapshot import Location, Snapshot, Target
from abistore.model.snapshot_file.codec import FORMAT_VERSION, from_json, to_json
from abistore.model.snapshot_file.schema import schema
from abistore.model.snapshot_file.wire import MAX_DEPTH
from tests.build import build_library
from tests.editing import undigested

SCHEMA = Path(__file__).parents[2] / "docs" / "snapshot-schema.json"

TARGET = Target("elf", "x86_64", 64, "little")
INT = Primitive("int", 4)
SMALL = Snapshot(
    "libsmall",
    "1.0",
    TARGET,
    {
        "symbol": {SELF: (Library("shared"),), Name("function", "f"): (Symbol("function", "global", "default"),)},
        "layout": {Name("function", "f"): (Function("f", INT, (Pointer(INT), Pointer(INT))),)},
    },
    locations={Name("function", "f"): Location("f.c", 3)},
)


def real(language: str = "c++") -> Snapshot:
    source = {
        "c": """struct s { int a : 3; struct { int n; char c[]; } u; }; enum e { A, B };
            struct s *f(enum e x, int (*g)(char)) { return 0; }""",
        "c++": """namespace geo { struct B { virtual ~B(); virtual int area() const; int x; };
            enum class E : char { A = -1 };
            template<class T> struct V : B { T t; mutable int m; static int s; }; typedef V<int> VI;
            struct { int q; } anonymous; VI make(E, const B&, int V<int>::*) { return {}; }
            B::~B() {} int B::area() const { return 0; } }""",
    }[language]
    return read(build_library(source, language=language), ExtractOptions())


@pytest.mark.parametrize("language", ["c", "c++"])
def test_a_real_snapshot_survives_and_follows_the_schema(language):
    snapshot = real(language)
    written = to_json(snapshot)
    jsonschema.Draft202012Validator(schema()).validate(json.loads(written))
    assert from_json(written) == snapshot
    assert to_json(from_json(written)) == written
    assert len(snapshot.entries["layout"]) >= 3


def test_the_published_schema_is_current():
    assert json.loads(SCHEMA.read_text()) == json.loads(json.dumps(schema())), (
        "python -m abistore.model.snapshot_file.schema > docs/snapshot-schema.json"
    )


def test_the_schema_refuses_what_the_reader_refuses():
    broken = json.loads(undigested(to_json(SMALL).decode()))
    broken["types"].append(["*"])
    validator = jsonschema.Draft202012Validator(schema())
    assert not validator.is_valid(broken)
    with pytest.raises(SnapshotError):
        from_json(json.dumps(broken).encode())


def test_what_is_repeated_is_written_once():
    pointer = Pointer(Primitive("a rather long spelling", 4))
    layout = {Name("function", f"f{i}"): (Function("f", pointer, (pointer,)),) for i in range(100)}
    written = to_json(msgspec.structs.replace(SMALL, entries={"layout": layout}))
    assert written.count(b"a rather long spelling") == 1
    assert written.count(b'"Function"') == 1


def test_every_cut_of_a_snapshot_is_an_error():
    written = to_json(SMALL).rstrip()
    for end in range(len(written)):
        with pytest.raises(SnapshotError):
            from_json(written[:end])


@pytest.mark.parametrize(
    "data", [b"", b"\0\1", b"\xff\xfe", b"[]", b"{}", b'{"format":"other"}', b"[" * 100_000, b'"x"']
)
def test_foreign_data_is_an_error_with_a_hint(data):
    with pytest.raises(SnapshotError) as caught:
        from_json(data)
    assert caught.value.hint


def test_a_newer_format_says_to_upgrade():
    newer = json.loads(to_json(SMALL)) | {"version": FORMAT_VERSION + 1, "more": 1}
    with pytest.raises(SnapshotError, match=str(FORMAT_VERSION + 1)) as caught:
        from_json(json.dumps(newer).encode())
    assert "upgrade" in caught.value.hint


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
        ("names", ["planet", "x"]),
        ("locations", [0, 99, 1]),
    ],
)
def test_a_row_that_makes_no_sense_is_an_error(table, row):
    broken = json.loads(undigested(to_json(SMALL).decode()))
    broken[table].append(row)
    with pytest.raises(SnapshotError) as caught:
        from_json(json.dumps(broken).encode())
    assert caught.value.hint


@pytest.mark.parametrize("row", [[0], [99, 0], [0, 99], [0, -1]])
def test_an_entry_that_points_nowhere_is_an_error(row):
    broken = json.loads(undigested(to_json(SMALL).decode()))
    broken["entries"]["layout"].append(row)
    with pytest.raises(SnapshotError):
        from_json(json.dumps(broken).encode())


def test_a_shape_under_a_name_of_another_kind_is_an_error():
    wrong = msgspec.structs.replace(SMALL, entries={"layout": {Name("function", "f"): (Record("struct", 4),)}})
    with pytest.raises(SnapshotError, match="Record"):
        from_json(to_json(wrong))


def test_types_nested_too_deeply_are_not_written_and_replaced_when_read():
    deep = INT
    for _ in range(MAX_DEPTH + 1):
        deep = Pointer(deep)
    with pytest.raises(SnapshotError):
        to_json(msgspec.structs.replace(SMALL, entries={"layout": {Name("alias", "a"): (Alias(deep),)}}))
    chain = json.loads(undigested(to_json(SMALL).decode()))
    chain["types"] += [["*", len(chain["types"]) - 1 + i] for i in range(100_000)]
    assert from_json(json.dumps(chain).encode()) == SMALL


@pytest.mark.parametrize(
    ("old", "new"),
    [("libsmall", "libsmell"), ('"x86_64"', '"i386"'), ('"int",4', '"int",8'), ('["Symbol"', '["Symbol" ')],
)
def test_a_snapshot_that_was_edited_is_refused_with_what_to_do(old, new):
    written = to_json(SMALL).decode()
    edited = written.replace(old, new)
    assert edited != written
    if edited.replace(" ", "") == written.replace(" ", ""):
        assert from_json(edited.encode()) == SMALL
        return
    with pytest.raises(SnapshotError, match="was changed") as caught:
        from_json(edited.encode())
    assert "take its digest out and write it anew with `abistore dump`" in caught.value.hint
    assert from_json(undigested(edited).encode()) != SMALL


def test_a_snapshot_may_be_laid_out_anew_and_be_without_a_digest():
    written = to_json(SMALL)
    for said in (json.loads(written), dict(reversed(json.loads(written).items()))):
        assert from_json(json.dumps(said, indent=3).encode()) == SMALL
    assert from_json(undigested(written.decode()).encode()) == SMALL


def test_every_byte_of_a_snapshot_counts():
    written = to_json(SMALL)
    for place in range(len(written)):
        for bit in (1, 32):
            flipped = bytearray(written)
            flipped[place] ^= bit
            with contextlib.suppress(SnapshotError):
                assert from_json(bytes(flipped)) == SMALL, place
