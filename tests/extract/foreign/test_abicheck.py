"""Snapshots of abicheck 0.2 to 0.7: read as debug information of the same library is, as far as their texts go."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from abistore.diffing.judge.judged import compare
from abistore.errors import ExtractError
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from abistore.model.findings import Verdict
from abistore.model.shapes import Enum, Record, Symbol
from benchmarks.dumps import told
from tests.build import build_library
from tests.extract.foreign.reading import OPTIONS, REAL, assert_no_change, real_library, written

RELEASES = ("0.2.0", "0.5.0", "0.7.0")
PLAIN = (REAL / "plain" / "plain.c").read_text()


def kept(name: str) -> Path:
    return REAL / f"{name}.abicheck.json.gz"


def plain(source: str = PLAIN) -> Path:
    return build_library(source, flags=("-g", "-Og"), soname="libplain.so.1")


@pytest.mark.parametrize("release", RELEASES)
def test_a_snapshot_of_a_library_equals_the_library(release: str) -> None:
    options = ExtractOptions(library="libcase", platform="x86_64")  # early snapshots do not name their machine
    assert_no_change(read_snapshot(kept(f"plain-{release}"), options), read_snapshot(plain(), OPTIONS))


@pytest.mark.parametrize("release", RELEASES)
def test_a_member_added_since_the_snapshot_breaks(release: str) -> None:
    options = ExtractOptions(library="libcase", platform="x86_64")
    new = read_snapshot(plain(PLAIN.replace("int x, y; } point_t", "int x, z, y; } point_t")), OPTIONS)
    found = compare(read_snapshot(kept(f"plain-{release}"), options), new)
    assert found.verdict is Verdict.BREAKING
    assert any(each.kind.startswith("type_") and each.name.spelling == "point" for each in found.findings)


def test_members_enumerators_and_symbols_are_read() -> None:
    snapshot = read_snapshot(kept("plain-0.7.0"), OPTIONS)
    assert (snapshot.version, str(snapshot.target)) == ("1.0", "elf-x86_64-64-little")
    (bits,) = snapshot.variants("layout", Name("record", "bits"))
    assert isinstance(bits, Record)
    assert [(each.name, each.offset, each.bit_size) for each in bits.fields] == [("a", 0, 3), ("b", 3, 5), ("c", 8, 4)]
    (big,) = snapshot.variants("layout", Name("enum", "big"))
    assert isinstance(big, Enum)
    assert (big.size, big.enumerators[0].value) == (8, 1 << 32)
    assert snapshot.variants("symbol", Name("function", "weak")) == (Symbol("function", weak=True),)
    assert snapshot.variants("symbol", Name("variable", "local")) == (Symbol("thread_local", size=4),)


def test_of_cpp_only_the_symbols_are_read_and_compared() -> None:
    snapshot = read_snapshot(kept("rich-0.7.0"), OPTIONS)
    symbols = snapshot.variants("symbol", Name("function", "rich_new"))
    assert {(each.version, each.default) for each in symbols if isinstance(each, Symbol)} == {
        ("RICH_1.0", False),
        ("RICH_2.0", True),
    }
    assert snapshot.evidence_of("layout").state == "missing"
    assert not told(compare(snapshot, read_snapshot(real_library("rich"), OPTIONS)))


def test_a_snapshot_without_compression_is_recognised(tmp_path: Path) -> None:
    path = written(tmp_path, gzip.decompress(kept("plain-0.5.0").read_bytes()), "libplain.abicheck.json")
    assert read_snapshot(path, OPTIONS).entries == read_snapshot(kept("plain-0.5.0"), OPTIONS).entries


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"elf": None}, "no symbols of an ELF library"),
        ({"platform": "pe"}, "no symbols of an ELF library"),
        ({"functions": 3}, "not a snapshot of abicheck that can be read"),
        ({"types": [{"fields": [{"offset_bits": "4"}]}]}, "not a snapshot of abicheck that can be read"),
    ],
)
def test_what_is_no_snapshot_is_an_error(change: dict[str, object], said: str, tmp_path: Path) -> None:
    document = json.loads(gzip.decompress(kept("plain-0.5.0").read_bytes()))
    path = written(tmp_path, json.dumps({**document, **change}), "libplain.json")
    with pytest.raises(ExtractError, match=said):
        read_snapshot(path, OPTIONS)


def test_nested_objects_without_end_are_an_error(tmp_path: Path) -> None:
    text = '{"schema_version": 60, "sections": ' + '{"a": ' * 100_000
    with pytest.raises(ExtractError, match="not a snapshot of abicheck"):
        read_snapshot(written(tmp_path, text, "deep.json"), OPTIONS)


def test_typedefs_that_lead_to_each_other_end(tmp_path: Path) -> None:
    document = json.loads(gzip.decompress(kept("plain-0.5.0").read_bytes()))
    document["typedefs"] |= {"size_type": "other *", "other": "size_type *"}
    path = written(tmp_path, json.dumps(document), "libplain.json")
    found = compare(read_snapshot(path, OPTIONS), read_snapshot(plain(), OPTIONS))
    assert found.verdict is not Verdict.NO_CHANGE
