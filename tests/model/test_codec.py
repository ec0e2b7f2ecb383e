"""Snapshots as JSON: what is refused, what the schema says, and what real libraries give."""

from __future__ import annotations

import contextlib
import json

import jsonschema
import msgspec
import pytest

from abistore.cli.reference import schema
from abistore.errors import SnapshotError
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import SELF, Name
from abistore.model.shapes import Alias, Function, Library, Pointer, Primitive, Record, Symbol
from abistore.model.snapshot import Location, Snapshot, Target
from abistore.model.snapshot_files import FORMAT_VERSION, from_json, to_json
from abistore.model.structure import MOST_DEPTH, TOO_LARGE
from tests.build import build_library
from tests.editing import undigested

TARGET = Target("elf", "x86_64", 64, "little")
INT = Primitive("int", 4)
SMALL = Snapshot(
    "libsmall",
    "1.0",
    TARGET,
    {
        "symbol": {SELF: (Library("shared"),), Name("function", "f"): (Symbol("function"),)},
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
    return read_snapshot(build_library(source, language=language), ExtractOptions())


@pytest.mark.parametrize("language", ["c", "c++"])
def test_a_real_snapshot_survives_and_follows_the_schema(language):
    snapshot = real(language)
    written = to_json(snapshot)
    jsonschema.Draft202012Validator(json.loads(schema("snapshot"))).validate(json.loads(written))
    assert from_json(written) == snapshot
    assert to_json(from_json(written)) == written
    assert len(snapshot.entries["layout"]) >= 3


def test_the_schema_refuses_what_the_reader_refuses():
    broken = json.loads(undigested(to_json(SMALL).decode()))
    broken["names"].append([["alias", "a"], {"layout": [{"is": "A", "to": {"is": "*"}}]}])
    validator = jsonschema.Draft202012Validator(json.loads(schema("snapshot")))
    assert not validator.is_valid(broken)
    with pytest.raises(SnapshotError):
        from_json(json.dumps(broken).encode())


def test_a_name_comes_once_on_a_line_of_its_own():
    layout = {Name("function", f"f{i}"): (Function("f", INT),) for i in range(100)}
    places = {name: Location("f.c", 3) for name in layout}
    symbols = {name: (Symbol("function"),) for name in layout}
    entries = {"symbol": symbols, "layout": layout}
    written = to_json(msgspec.structs.replace(SMALL, entries=entries, locations=places))
    assert [line.count(b'"f7"') for line in written.splitlines() if b'"f7"' in line] == [1]


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


INT_ROW = {"is": "p", "s": "int", "z": 4}


@pytest.mark.parametrize(
    "row",
    [
        [["planet", "x"], {}],
        [["record", "x"], {"layuot": []}],
        [["record", "x"], {"source": [{"is": "D"}]}],
        [["record", "x"], {"layout": [{"is": "R", "k": "class", "z": "4"}]}],
        [["record", "x"], {"layout": [{"is": "R", "k": "class", "z": 4, "more": 1}]}],
        [["record", "x"], {"layout": [{"is": "R", "k": "class", "z": 4, "f": [{"n": "x", "o": 0}]}]}],
        [["alias", "x"], {"layout": [{"is": "A"}]}],
        [["alias", "x"], {"layout": [{"is": "A", "to": {"is": "nonsense"}}]}],
        [["alias", "x"], {"layout": [{"is": "A", "to": {"is": "*", "to": INT_ROW, "k": "**"}}]}],
        [["alias", "x"], {"layout": [{"is": "A", "to": {"is": "*", "to": True}}]}],
        [["alias", "x"], {"layout": [["A", INT_ROW]]}],
        [["alias", "x"], {"at": ["x.c", "1"]}],
        [["alias", "x"], {"at": ["x.c", -1]}],
        [["alias", ""], {"layout": [{"is": "A", "to": INT_ROW}]}],
        ["alias", "x"],
    ],
)
def test_a_row_that_makes_no_sense_is_an_error(row):
    broken = json.loads(undigested(to_json(SMALL).decode()))
    broken["names"].append(row)
    with pytest.raises(SnapshotError) as caught:
        from_json(json.dumps(broken).encode())
    assert caught.value.message.startswith("malformed snapshot: ")
    assert caught.value.hint


@pytest.mark.parametrize("condition", [["#if WIDE", True], ["#if WIDE", True, []], ["#if WIDE", "yes", ["a.h"]]])
def test_a_condition_that_stands_in_no_header_is_an_error(condition):
    broken = json.loads(undigested(to_json(SMALL).decode()))
    broken["provenance"]["headers"] = {"files": ["a.h"], "facts": ["conditions"], "conditions": [condition]}
    with pytest.raises(SnapshotError, match=r"malformed snapshot: .*conditions"):
        from_json(json.dumps(broken).encode())


def test_a_shape_under_a_name_of_another_kind_is_an_error():
    wrong = msgspec.structs.replace(SMALL, entries={"layout": {Name("function", "f"): (Record("struct", 4),)}})
    with pytest.raises(SnapshotError, match="Record"):
        from_json(to_json(wrong))


def chain(levels: int) -> Snapshot:
    deep = INT
    for _ in range(levels):
        deep = Pointer(deep)
    return msgspec.structs.replace(SMALL, entries={"layout": {Name("alias", "a"): (Alias(deep),)}})


def test_types_nested_too_deeply_are_replaced_or_refused():
    assert from_json(to_json(chain(MOST_DEPTH - 1))) == chain(MOST_DEPTH - 1)
    replaced = from_json(to_json(chain(MOST_DEPTH + 1)))
    assert deepest(replaced.entries["layout"][Name("alias", "a")][0].target) == TOO_LARGE
    with pytest.raises(SnapshotError, match="nests deeper"):
        to_json(chain(100_000))
    written = undigested(to_json(chain(1)).decode())
    pointer = '{"is":"*","to":'
    for levels in (900, 100_000):
        deep = written.replace(pointer, pointer * levels).replace("4}}", "4}" + "}" * levels)
        with pytest.raises(SnapshotError, match="nested too deeply"):
            from_json(deep.encode())


def deepest(type):
    while isinstance(type, Pointer):
        type = type.target
    return type


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("libsmall", "libsmell"),
        ('"x86_64"', '"i386"'),
        ('"z":4', '"z":8'),
        ('{"is":"S"', '{ "is":"S"'),
        ('"t":"function"', '"t":"function","weak":false'),
    ],
)
def test_a_snapshot_that_was_edited_is_refused_with_what_to_do(old, new):
    written = to_json(SMALL).decode()
    edited = written.replace(old, new)
    assert edited != written
    if "weak" in new or edited.replace(" ", "") == written.replace(" ", ""):
        assert from_json(edited.encode()) == SMALL
        return
    with pytest.raises(SnapshotError, match="was changed") as caught:
        from_json(edited.encode())
    assert "remove its digest and write it again with `abistore export`" in caught.value.hint
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


@pytest.mark.parametrize("sign", ["\x01", "\x7f", "\x9b", "\u202e", "##[error]"])
def test_what_nobody_sees_in_a_name_is_escaped_and_read_again(sign: str) -> None:
    named = msgspec.structs.replace(SMALL, library=f"lib{sign}x", version=f"1.0{sign}")
    written = to_json(named)
    assert sign.encode() not in written
    assert from_json(written) == named
