"""Declarations in headers of the same text are unknown where errors hide what they depend on, and never changed."""

from __future__ import annotations

import pytest

from abistore.diffing.judge.judged import compare
from abistore.model.snapshot import Snapshot
from tests.public_headers import beside, implementing

OWN = "#pragma once\n#include <others.h>\n#include <more.h>\nstruct S { first f; second s; };\nvoid take(struct S *);\n"
LACKING = {"more.h": "typedef int second;"}
LIBRARY = implementing({"case.h": "struct S; void take(struct S *); int plain(int);"}, "c")


def side(included: dict[str, str], own: str = OWN, more: str = "") -> Snapshot:
    """A library of which nothing is known but what its headers declare."""
    files = {"case.h": own, "all.h": f'#include "case.h"\nint plain(int);\n{more}', "lone.h": "#define LONE 1\n"}
    return beside(LIBRARY, files, "c", included=included)


def found(old: Snapshot, new: Snapshot) -> list[str]:
    return sorted({each.kind for each in compare(old, new).findings} - {"evidence_narrowed"})


WHOLE = side({"others.h": "typedef int first;", **LACKING})
PART = side({"others.h": "typedef int first;"})


@pytest.mark.parametrize(("old", "new"), [(WHOLE, PART), (PART, WHOLE)])
def test_what_errors_hide_in_identical_headers_is_no_change(old: Snapshot, new: Snapshot) -> None:
    assert "partial" in (old.evidence_of("source").state, new.evidence_of("source").state)
    assert found(old, new) == []


def test_what_changed_in_headers_of_others_that_both_sides_read_is_a_change() -> None:
    text = "#pragma once\n#include <others.h>\n#include <more.h>\nstruct T { first f; };\nvoid take(struct T *);\n"
    old, new = (side({"others.h": f"typedef {type} first;"}, text) for type in ("int", "long"))
    assert found(old, new) != []


def test_what_changed_in_an_own_header_is_a_change() -> None:
    new = side({"others.h": "typedef int first;"}, more="int added(int);")
    old = side({"others.h": "typedef int first;"}, more="int added(long);")
    assert found(old, new) != []


def test_identical_headers_beside_changed_ones_are_no_change() -> None:
    new = side({}, more="struct more { int a; };")
    assert [each for each in found(WHOLE, new) if "added" not in each] == []


def test_a_mode_in_which_headers_with_errors_do_not_parse_is_unknown() -> None:
    own = "#pragma once\n#include <others.h>\n#ifdef _FILE_OFFSET_BITS\nint wide(first);\n#endif\nint plain(int);\n"
    assert found(side({"others.h": "typedef int first;"}, own), side({}, own)) == []


def test_what_a_condition_or_a_namespace_of_others_hides_is_unknown() -> None:
    own = '#pragma once\n#include <others.h>\n#ifdef FIRST\n#include "lone.h"\n#endif\nvoid take(struct S *);\n'
    assert found(side({"others.h": "#define FIRST 1"}, own), side({}, own)) == []
