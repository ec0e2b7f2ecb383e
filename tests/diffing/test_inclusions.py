"""What sources miss that begin with one public header, by what headers include on both sides."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from abistore.diffing.judge.judged import compare
from abistore.model.findings import Comparison
from abistore.model.snapshot import INCLUDES, HeadersRead, Snapshot
from tests.public_headers import implementing

pytestmark = pytest.mark.fast

POINT = "#pragma once\nstruct Point { int x, y; };\n"


def found(comparison: Comparison) -> set[tuple[str, str, str | None]]:
    return {(each.kind, each.part, each.old_value) for each in comparison.findings if "include" in each.kind}


def as_before(snapshot: Snapshot) -> Snapshot:
    """The snapshot as a former version read it."""
    read = snapshot.provenance.headers
    assert isinstance(read, HeadersRead)
    facts = tuple(each for each in read.facts if each != INCLUDES)
    return replace(snapshot, provenance=replace(snapshot.provenance, headers=replace(read, facts=facts, outlines=())))


def test_a_header_that_reaches_another_by_itself_keeps_it_from_sources_of_all_that_include_it() -> None:
    files = {"case.h": '#include "mid.h"\n', "mid.h": '#pragma once\n#include "point.h"\nint mid(int);\n'}
    old = implementing({**files, "point.h": POINT})
    new = implementing({**files, "mid.h": "#pragma once\nint mid(int);\n", "point.h": POINT})
    assert found(compare(old, new)) == {("header_include_removed", "mid.h", "point.h")}


def test_nothing_is_told_where_a_former_version_read_one_side() -> None:
    old = implementing({"case.h": '#include "point.h"\nint area(Point);\n', "point.h": POINT})
    new = implementing({"case.h": "struct Point;\nint area(Point);\n", "point.h": POINT})
    assert found(compare(old, new)) == {("header_include_removed", "case.h", "point.h")}
    for sides, place in (((as_before(old), new), "old"), ((old, as_before(new)), "new")):
        comparison = compare(*sides)
        assert found(comparison) == set()
        told = [each for each in comparison.not_checked if "the includes between headers" in each.detail]
        assert [each.side for each in told] == [place]
    both = compare(as_before(old), as_before(new))
    assert found(both) == set()
    assert not [each for each in both.not_checked if "the includes between headers" in each.detail]


def test_headers_that_include_each_other_are_one_beginning() -> None:
    old = {
        "case.h": '#pragma once\n#include "other.h"\nint area(int);\n',
        "other.h": '#pragma once\n#include "case.h"\n#include "point.h"\nint other(int);\n',
    }
    new = {**old, "other.h": '#pragma once\n#include "case.h"\nint other(int);\n'}
    comparison = compare(implementing({**old, "point.h": POINT}), implementing({**new, "point.h": POINT}))
    assert found(comparison) == {("header_include_removed", "other.h", "point.h")}


def test_a_header_that_went_is_told_as_gone_alone() -> None:
    old = implementing({"case.h": '#include "point.h"\nint area(Point);\n', "point.h": POINT, "a.h": "int a(int);\n"})
    new = implementing({"case.h": f"{POINT}int area(Point);\n", "a.h": "int a(int);\n"})
    assert found(compare(old, new)) == set()


def test_an_include_that_another_standard_leaves_out_is_not_told() -> None:
    files = {"case.h": '#if __cplusplus > 201703\n#include "point.h"\n#endif\nint area(int);\n', "point.h": POINT}
    comparison = compare(implementing(files, "c++", "c++20"), implementing(files, "c++", "c++17"))
    assert found(comparison) == set()
    assert [each.reason for each in comparison.not_checked] == ["headers-selected-differently"]
