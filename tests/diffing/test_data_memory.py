"""Tests of variables that move between writable and read-only memory, in DLLs and dylibs without debug information."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.kind_names import variant_of
from abistore.model.shapes import Symbol, is_read_only
from abistore.model.snapshot import Snapshot
from tests.extract import pe_fixtures as pe
from tests.extract.macho_fixtures import ARM, INTEL, build_dylib

WRITABLE = '__attribute__((visibility("default"))) int level = 1;\n'
CONSTANT = WRITABLE.replace("int level", "const int level")
TABLE = "int one, two;\nint *steps[2] = {&one, &two};\n"
CONSTANT_TABLE = TABLE.replace("*steps", "*const steps")
ZEROS = "int level;\n"
USE = "int get(void) { return 0; }\n"


def _dylib(target: str) -> Callable[[str], Path]:
    return lambda source: build_dylib(source, target=target, flags=("-O1",))


BUILDS: dict[str, Callable[[str], Path]] = {
    "dylib-arm64": _dylib(ARM),
    "dylib-x86-64": _dylib(INTEL),
    "dll-lld": lambda source: pe.zig(source, "x86_64", "-O1", language="c"),
    "dll-mingw": lambda source: pe.mingw(source, "-O1", language="c"),
}
every_build = pytest.mark.parametrize("build", BUILDS)


def _snapshot(build: str, source: str) -> Snapshot:
    return read_snapshot(BUILDS[build](source + USE), ExtractOptions(library="libcase", layout=False))


def _told(old: Snapshot, new: Snapshot) -> list[tuple[str, str, str, str]]:
    found = compare(old, new).findings
    return [
        (each.kind, each.name.spelling, str(each.old_value), str(each.new_value))
        for each in found
        if variant_of(each.kind) == "storage"
    ]


@every_build
@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        pytest.param(WRITABLE, CONSTANT, "level", id="value"),
        pytest.param(ZEROS, CONSTANT, "level", id="zeros"),
        pytest.param(TABLE, CONSTANT_TABLE, "steps", id="addresses"),
    ],
)
def test_a_variable_that_nobody_may_write_to_any_more(build: str, before: str, after: str, name: str) -> None:
    old, new = _snapshot(build, before), _snapshot(build, after)
    assert _told(old, new) == [("var_became_const.storage", name, "writable", "read-only")]
    assert _told(new, old) == [("var_lost_const.storage", name, "read-only", "writable")]


@every_build
@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(WRITABLE, WRITABLE.replace("1", "2"), id="value"),
        pytest.param(ZEROS, WRITABLE, id="zeros"),
        pytest.param(CONSTANT, CONSTANT.replace("1", "0"), id="constant"),
        pytest.param("int one;\nint *const step = 0;\n", "int one;\nint *const step = &one;\n", id="address"),
        pytest.param("_Thread_local int level = 1;\n", "_Thread_local int level = 2;\n", id="thread"),
    ],
)
def test_another_value_moves_no_variable(build: str, before: str, after: str) -> None:
    assert _told(_snapshot(build, before), _snapshot(build, after)) == []


@every_build
def test_a_snapshot_that_does_not_tell_the_memory_is_no_change(build: str) -> None:
    """Snapshots of former versions of abistore tell none."""
    old, new = _snapshot(build, WRITABLE), _snapshot(build, CONSTANT)
    before = {
        name: tuple(msgspec.structs.replace(each, macho=None, pe=None) for each in shapes)
        if name.kind == "variable"
        else shapes
        for name, shapes in old.entries["symbol"].items()
    }
    former = msgspec.structs.replace(old, entries={**old.entries, "symbol": before})
    assert _told(former, new) == _told(new, former) == []


@pytest.mark.full
def test_constants_in_a_segment_that_stays_writable_are_constants(tmp_path: Path) -> None:
    """Linkers before 2019 left what holds addresses in ``__DATA,__const``: a newer one changes nothing for programs."""
    library = BUILDS["dylib-arm64"](CONSTANT_TABLE + USE)
    data = library.read_bytes()
    assert b"__DATA_CONST" in data
    older = tmp_path / library.name
    older.write_bytes(data.replace(b"__DATA_CONST", b"__DATA\0\0\0\0\0\0"))
    new = read_snapshot(library, ExtractOptions(library="libcase", layout=False))
    assert _told(read_snapshot(older, ExtractOptions(library="libcase", layout=False)), new) == []


@pytest.mark.full
def test_tables_of_classes_may_lie_where_the_linker_likes() -> None:
    source = "struct Point { virtual int norm(); };\nint Point::norm() { return 1; }\n"
    library = build_dylib(source, language="c++", flags=("-O1",))
    found = read_snapshot(library, ExtractOptions(library="libcase", layout=False)).entries["symbol"]
    memory = {name.spelling: is_read_only(each) for name, (each, *_) in found.items() if isinstance(each, Symbol)}
    del memory["_ZN5Point4normEv"]
    assert set(memory) == {"_ZTV5Point", "_ZTI5Point", "_ZTS5Point"} and set(memory.values()) == {None}
