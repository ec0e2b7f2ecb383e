"""Headers of a package for several libraries: each library has those of its exports, and what these need."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.diffing.judge.judged import compare
from abistore.model.snapshot import HEADERS_OF_OTHERS, HeadersRead, Snapshot
from tests import packages
from tests.build import build_library
from tests.extract.packages.test_packages import CASE, snapshots

OWN = b'#pragma once\n#include "shared.h"\nint case_add(int a, int b);\nstruct own { shared_int a; };\n'
SHARED = b"#pragma once\ntypedef int shared_int;\n"
OTHER = b'#pragma once\n#include "shared.h"\n#include "other_types.h"\nint other(struct other *);\n'
OTHER_TYPES = b"#pragma once\nstruct other { int a; };\n"
HELPERS = (
    b'#pragma once\n#include "case.h"\nstruct helper { struct own a; };\nstatic inline int twice(int a) { return a; }\n'
)
CONSTANTS = b"#pragma once\nenum constants { ONE, TWO };\n"
HEADERS = {
    "case.h": OWN,
    "shared.h": SHARED,
    "other.h": OTHER,
    "other_types.h": OTHER_TYPES,
    "helpers.h": HELPERS,
    "constants.h": CONSTANTS,
}
LINKS: packages.Files = {"usr/lib/libcase.so": "libcase.so.1", "usr/lib/libother.so": "libother.so.1"}


def library(tmp_path: Path, links: packages.Files = LINKS, **changed: bytes) -> Snapshot:
    """A library of a package with the headers of two."""
    tmp_path.mkdir(exist_ok=True)
    package = packages.deb(tmp_path, {"usr/lib/libcase.so.1": build_library(CASE, soname="libcase.so.1")})
    texts = {**HEADERS, **{f"{name}.h": text for name, text in changed.items()}}
    held = {f"usr/include/{name}": text for name, text in texts.items()}
    (found,) = snapshots(package, devel_packages=(packages.deb(tmp_path, {**held, **links}, name="libcase-dev"),))
    return found


def declared(snapshot: Snapshot) -> set[str]:
    return {name.spelling for name in snapshot.entries["source"]}


def test_what_headers_of_another_library_declare_is_left_out(tmp_path: Path) -> None:
    case = library(tmp_path)
    assert declared(case) == {"case_add", "own", "shared_int", "helper", "twice", "constants"}
    evidence = case.evidence_of("source")
    assert (evidence.state, evidence.reason) == ("full", HEADERS_OF_OTHERS)
    assert "2 headers of other libraries of the package: other.h, other_types.h" in evidence.detail
    assert isinstance(case.provenance.headers, HeadersRead)
    assert case.provenance.headers.others == ("other.h", "other_types.h")


@pytest.mark.parametrize(
    "links",
    [
        {"usr/lib/libcase.so": "libcase.so.1"},
        {"usr/lib/libcase.so": "libcase.so.1", "usr/lib/libcase.a": b"!<arch>\n"},
        {"usr/lib/libcases.so": "libcase.so.1", "usr/lib/libcases.a": b"!<arch>\n"},
    ],
)
def test_all_headers_of_a_package_for_one_library_are_its_own(tmp_path: Path, links: packages.Files) -> None:
    assert declared(library(tmp_path, links)) >= {"other", "helper", "constants"}


def test_an_archive_of_another_name_is_another_library(tmp_path: Path) -> None:
    links: packages.Files = {"usr/lib/libcase.so": "libcase.so.1", "usr/lib/libother.a": b"!<arch>\n"}
    assert "other" not in declared(library(tmp_path, links))


def test_what_a_library_s_own_headers_include_or_use_is_its_own(tmp_path: Path) -> None:
    own = OWN.replace(b'"shared.h"', b'"shared.h"\n#include "other_types.h"')
    assert "other" in declared(library(tmp_path / "included", case=own))
    used = OWN + b"struct other;\nint case_other(const struct other *);\n"
    assert "other" in {name.spelling for name in library(tmp_path / "used", case=used).entries["source"]}


def test_changes_in_headers_of_another_library_are_none_of_this_one(tmp_path: Path) -> None:
    old = library(tmp_path / "old")
    new = library(
        tmp_path / "new", other_types=b"#pragma once\nstruct other { long a, b; };\n", other=b"#pragma once\n"
    )
    assert compare(old, new).findings == ()


@pytest.mark.parametrize("first", [True, False])
def test_headers_that_one_side_leaves_to_another_library_are_no_change(tmp_path: Path, *, first: bool) -> None:
    alone = library(tmp_path / "alone", {"usr/lib/libcase.so": "libcase.so.1"})
    several = library(tmp_path / "several")
    assert compare(*((alone, several) if first else (several, alone))).findings == ()


def test_a_change_of_the_library_s_own_types_is_one(tmp_path: Path) -> None:
    new = library(tmp_path / "new", shared=b"#pragma once\ntypedef long shared_int;\n")
    assert compare(library(tmp_path / "old"), new).findings != ()


BROKEN = b"#pragma once\nunknown_type broken(int);\n#define PASTED(a) int case_##a(int)\n"


@pytest.mark.parametrize(
    ("own", "left"), [(OWN, True), (b"int unlike(int);\n" + OWN.replace(b"case_add", b"x"), False)]
)
def test_headers_that_do_not_parse_matter_where_they_may_declare_an_export(
    tmp_path: Path, own: bytes, *, left: bool
) -> None:
    case = library(tmp_path, case=own + b"extern int case_count;\n", broken=BROKEN)
    assert case.evidence_of("source").state in ("partial", "missing")
    assert ("source" in case.entries and "other" not in declared(case)) == left
