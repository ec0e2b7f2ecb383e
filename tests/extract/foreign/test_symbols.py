"""Debian's symbols files: names and versions, tags and patterns, and the releases that they tell of."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.diffing.judge.judged import compare
from abistore.errors import ExtractError, Incomparable, InputError, LimitExceeded
from abistore.extract.capture import read_all, read_snapshot
from abistore.extract.files import InputFile
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from abistore.model.findings import Verdict
from abistore.model.kind_names import kind_of
from abistore.model.shapes import Library, Symbol
from abistore.model.snapshot import Snapshot
from tests.build import build_library
from tests.effort import steps
from tests.extract.foreign.reading import OPTIONS, written

pytestmark = pytest.mark.fast

HEAD = "libcase.so.1 libcase1 #MINVER#\n| libcase1 (>= 1.0)\n* Build-Depends-Package: libcase-dev\n"
C = "int one(void) { return 1; } int two(void) { return 2; } int data = 3; __thread int local;"
CPP = """
namespace geo { struct Point { Point(); ~Point(); int x() const; virtual void v(); }; }
geo::Point::Point() {} geo::Point::~Point() {} int geo::Point::x() const { return 1; } void geo::Point::v() {}
template <class T> T twice(T t) { return t + t; } template int twice<int>(int); int total;
"""
SPELLED = """ (c++)"geo::Point::Point()@Base" 1.0
 (c++)"geo::Point::~Point()@Base" 1.0
 (c++)"geo::Point::x() const@Base" 1.0
 (c++)"geo::Point::v()@Base" 1.0
 (c++|optional)"vtable for geo::Point@Base" 1.0
 (c++|regex)"^typeinfo.* for geo::.*@Base$" 1.0
 (c++)"int twice<int>(int)@Base" 1.0
 total@Base 1.0
"""


def symbols(folder: Path, lines: str, name: str = "libcase1.symbols.amd64") -> Path:
    return written(folder, HEAD + lines, name)


def findings(old: Snapshot, new: Snapshot) -> list[tuple[str, str]]:
    return [(each.kind, each.name.spelling) for each in compare(old, new).findings if each.kind != "dwarf_info_missing"]


def test_the_symbols_of_a_library_equal_the_library_in_what_they_tell(tmp_path: Path) -> None:
    library = read_snapshot(build_library(C), OPTIONS)
    lines = " data@Base 1.0\n local@Base 1.0\n one@Base 1.0\n two@Base 1.0\n"
    snapshot = read_snapshot(symbols(tmp_path, lines), OPTIONS)
    assert findings(snapshot, library) == []
    assert findings(library, snapshot) == []
    assert snapshot.facts == Library("shared", "libcase.so.1")
    (told,) = (each for each in compare(snapshot, library).not_checked if each.facet == "symbol")
    for fact in ("sizes of data symbols", "types of symbols", "weak symbols", "imports"):
        assert fact in told.detail


def test_a_symbol_that_is_gone_is_removed_and_one_that_came_is_added(tmp_path: Path) -> None:
    library = read_snapshot(build_library(C), OPTIONS)
    lines = " data@Base 1.0\n local@Base 1.0\n one@Base 1.0\n three@Base 1.0\n"
    snapshot = read_snapshot(symbols(tmp_path, lines), OPTIONS)
    assert findings(snapshot, library) == [("func_removed", "three"), ("func_added", "two")]


def test_versions_of_symbols_are_compared(tmp_path: Path) -> None:
    script = {"case.map": "V_1 { global: one; local: *; };"}
    library = read_snapshot(build_library(C, flags=["-g", "-Wl,--version-script=case.map"], files=script), OPTIONS)
    assert (
        findings(read_snapshot(symbols(tmp_path, " V_1@V_1 1.0\n one@V_1 1.0\n"), OPTIONS), library)
        == [("func_removed", "V_1")]
        or findings(read_snapshot(symbols(tmp_path, " one@V_1 1.0\n"), OPTIONS), library) == []
    )
    assert findings(read_snapshot(symbols(tmp_path, " one@V_0 1.0\n"), OPTIONS), library)


def test_demangled_names_are_joined_with_the_mangled_ones_of_the_other_side(tmp_path: Path) -> None:
    library = read_snapshot(build_library(CPP, language="c++"), OPTIONS)
    snapshot = read_snapshot(symbols(tmp_path, SPELLED), OPTIONS)
    assert findings(snapshot, library) == []
    assert findings(library, snapshot) == []
    more = read_snapshot(symbols(tmp_path, SPELLED + ' (c++)"geo::Point::gone(int)@Base" 1.0\n'), OPTIONS)
    assert findings(more, library) == [("func_removed", "geo::Point::gone(int)")]


def test_what_a_pattern_means_is_not_compared(tmp_path: Path) -> None:
    library = read_snapshot(build_library(C), OPTIONS)
    for line in (' (regex)"^(one|two)@Base$" 1.0\n', " (optional)one@Base 1.0\n (arch=hurd-any)two@Base 1.0\n"):
        snapshot = read_snapshot(symbols(tmp_path, f" data@Base 1.0\n local@Base 1.0\n{line}"), OPTIONS)
        found = findings(snapshot, library)
        assert ("func_added", "one") not in found
        assert not [kind for kind, _ in found if kind_of(kind).endswith("removed")]
    everything = read_snapshot(symbols(tmp_path, " *@Base 1.0\n"), OPTIONS)
    assert findings(everything, library) == []
    assert any("pattern" in each.detail for each in compare(everything, library).not_checked)


@pytest.mark.parametrize(
    ("tags", "there"),
    [
        ("arch=amd64", True),
        ("arch=i386 amd64", True),
        ("arch=!amd64", False),
        ("arch=!i386 !armel", True),
        ("arch=any-arm64", False),
        ("arch-bits=64", True),
        ("arch-bits=32", False),
        ("arch-endian=big", False),
        ("arch-bits=64|arch-endian=little", True),
    ],
)
def test_symbols_of_other_architectures_are_left_out(tmp_path: Path, tags: str, there: bool) -> None:
    snapshot = read_snapshot(symbols(tmp_path, f" ({tags})one@Base 1.0\n two@Base 1.0\n"), OPTIONS)
    assert bool(snapshot.variants("symbol", Name("function", "one"))) == there


def test_each_version_that_symbols_name_is_a_release(tmp_path: Path) -> None:
    lines = " one@Base 1.0\n two@Base 1.10-1\n three@V_2 1:1.9~rc1\n#MISSING: 1.10# gone@Base 1.0\n"
    with InputFile(symbols(tmp_path, lines)) as file:
        found = read_all(file, ExtractOptions(every_release=True))
    names = [sorted(name.spelling for name in each.entries["symbol"] if name.spelling) for each in found]
    assert [each.version for each in found] == ["1.0", "1.9~rc1", "1.10"]
    assert names == [["gone", "one"], ["gone", "one", "three"], ["one", "three", "two"]]
    assert [each.evidence_of("symbol").state for each in found] == ["partial", "partial", "full"]
    assert read_snapshot(symbols(tmp_path, lines), OPTIONS).exports == 3
    assert found[2].variants("symbol", Name("function", "three")) == (Symbol("unknown", version="V_2"),)


def test_a_file_without_a_platform_is_compared_with_any_and_others_are_not(tmp_path: Path) -> None:
    library = read_snapshot(build_library(C), OPTIONS)
    lines = " data@Base 1.0\n local@Base 1.0\n one@Base 1.0\n two@Base 1.0\n"
    anywhere = read_snapshot(symbols(tmp_path, lines, "libcase1.symbols"), OPTIONS)
    assert compare(anywhere, library).verdict is Verdict.NO_CHANGE
    with pytest.raises(Incomparable):
        compare(read_snapshot(symbols(tmp_path, lines, "libcase1.symbols.s390x"), OPTIONS), library)


def test_included_files_lie_beside_and_end(tmp_path: Path) -> None:
    (tmp_path / "common").write_text(" two@Base 1.0\n")
    assert read_snapshot(symbols(tmp_path, ' one@Base 1.0\n(optional)#include "common"\n'), OPTIONS).exports == 1
    assert read_snapshot(symbols(tmp_path, ' one@Base 1.0\n#include "common"\n'), OPTIONS).exports == 2
    (tmp_path / "itself").write_text('#include "itself"\n#include "itself"\n')
    with pytest.raises(LimitExceeded):
        read_snapshot(symbols(tmp_path, ' one@Base 1.0\n#include "itself"\n'), OPTIONS)
    for outside in ("../common", "/etc/passwd", "lost"):
        with pytest.raises(InputError):
            read_snapshot(symbols(tmp_path, f' one@Base 1.0\n#include "{outside}"\n'), OPTIONS)


@pytest.mark.parametrize("lines", [" one\n", " one@Base 1.0\nnonsense\n", ' "one@Base 1.0\n', " (optional one 1.0\n"])
def test_lines_that_are_none_of_a_symbols_file_are_errors(tmp_path: Path, lines: str) -> None:
    with pytest.raises(ExtractError, match="line"):
        read_snapshot(symbols(tmp_path, lines), OPTIONS)


def test_effort_is_linear(tmp_path: Path) -> None:
    paths = [
        symbols(tmp_path, "".join(f" f{n}@Base 1.{n % 7}\n" for n in range(count)), f"{count}.symbols")
        for count in (500, 1000)
    ]
    one, two = (steps(lambda path=path: read_snapshot(path, OPTIONS)) for path in paths)  # type: ignore[misc]
    assert two < 2.2 * one
