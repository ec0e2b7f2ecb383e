"""``whatif``: edits of headers judged against stored releases, with real compilers and nothing built anew."""

from __future__ import annotations

import difflib
import hashlib
from pathlib import Path
from typing import Any

import pytest

from tests.build import build_library
from tests.cli.conftest import Call, Done

HEADER = """\
#ifndef GEO_H
#define GEO_H
struct point { long id; int x; };
struct line { struct point from, to; };
enum colour { RED, GREEN };
int length(struct line line);
void paint(struct point *point, enum colour colour);
#endif
"""
SOURCE = """\
#include "geo.h"
int length(struct line line) { return line.to.x - line.from.x; }
void paint(struct point *point, enum colour colour) { point->x = colour; }
"""
INSERTED = HEADER.replace("long id; int x;", "int y; long id; int x;")


@pytest.fixture
def headers(tmp_path: Path) -> Path:
    folder = tmp_path / "include"
    folder.mkdir()
    (folder / "geo.h").write_text(HEADER)
    return folder


@pytest.fixture
def stored(abistore: Call) -> Call:
    """A store with a baseline, read with debug information and without headers."""
    library = build_library(SOURCE, files={"geo.h": HEADER})
    assert abistore("ingest", library, "--version", "1.0", "--library", "libgeo").code == 0
    assert abistore("db", "baseline", "set", "libgeo@1.0").code == 0
    return abistore


def patch(folder: Path, new: str, old: str = HEADER) -> Path:
    lines = difflib.unified_diff(old.splitlines(True), new.splitlines(True), "a/include/geo.h", "b/include/geo.h")
    found = folder / "edit.diff"
    found.write_text("".join(lines))
    return found


def asked(call: Call, headers: Path, new: str, operand: str = "libgeo") -> dict[str, Any]:
    done = call("whatif", operand, "--header", headers, "--header-patch", patch(headers.parent, new), "--json")
    assert done.code in (0, 2, 4), done.out
    answer = done.json["what_if"]
    assert answer["exit_code"] == done.code
    assert isinstance(answer, dict)
    return answer


def refused(done: Done, code: int, said: str) -> str:
    """The hint of an error."""
    assert done.code == code, done.out
    error, _, hint = done.err.partition("hint: ")
    assert said in error
    return hint


def test_a_larger_struct_breaks_and_its_padding_is_offered(stored: Call, headers: Path) -> None:
    found = asked(stored, headers, INSERTED)
    (judged,) = found["judged"]
    assert (found["verdict"], judged["channels"]) == ("BREAKING", ["release"])
    assert found["edited"] == ["line", "point"]
    assert {room["symbol"]: room["rooms"] for room in judged["rooms"]}["point"] == ["4 bytes of padding at offset 12"]
    offered = {way["title"]: way for way in judged["ways"]}["put y into the padding, at offset 12"]
    assert offered["verdict"] in ("COMPATIBLE", "COMPATIBLE_WITH_RISK", "NO_CHANGE")
    assert "int y;" in offered["declaration"]


def test_the_offered_way_is_as_good_when_it_is_built(stored: Call, headers: Path) -> None:
    """What was offered for an edit that breaks is itself an edit, and then a library."""
    better = HEADER.replace("long id; int x;", "long id; int x, y;")
    found = asked(stored, headers, better)
    built = build_library(SOURCE, files={"geo.h": better})
    done = stored("compare", "libgeo@1.0", built, "--json")
    assert found["exit_code"] == done.code == 0
    assert found["verdict"] == done.json["verdict"]


def test_the_edit_is_no_release(stored: Call, headers: Path) -> None:
    """Two sides of one name would be compared, and one of them break the other."""
    done = stored("whatif", "libgeo", "--declare", "struct point { long id; int x; int y[2]; };")
    assert "libgeo 1.0 -> libgeo 1.0 with the edit: BREAKING" in done.out
    (judged,) = asked(stored, headers, INSERTED)["judged"]
    assert judged["report"]["decision"]["headline"].startswith("FAIL: 1.0 with the edit breaks 1.0 in ")


def test_a_comment_changes_nothing(stored: Call, headers: Path) -> None:
    found = asked(stored, headers, HEADER.replace("#define GEO_H", "#define GEO_H /* geometry */"))
    assert (found["verdict"], found["edited"]) == ("NO_CHANGE", [])


def test_every_baseline_is_asked(stored: Call, headers: Path) -> None:
    """The edit is what 1.1 has already: it breaks who is at 1.0, and nobody at 1.1."""
    library = build_library(SOURCE, files={"geo.h": INSERTED})
    stored("ingest", library, "--version", "1.1", "--library", "libgeo", "--fail-on", "never")
    stored("db", "baseline", "set", "libgeo@1.1", "--channel", "next")
    stored("db", "baseline", "set", "libgeo@1.1", "--channel", "edge")
    found = asked(stored, headers, INSERTED, "libgeo@baseline")
    assert {(each["reference"], *each["channels"]): each["report"]["verdict"] for each in found["judged"]} == {
        ("libgeo@1.0", "release"): "BREAKING",
        ("libgeo@1.1", "edge", "next"): "NO_CHANGE",
    }
    assert found["verdict"] == "BREAKING"


def test_one_release_or_a_file_may_be_asked(stored: Call, headers: Path) -> None:
    library = build_library(SOURCE, files={"geo.h": HEADER})
    for operand in ("libgeo@1.0", str(library)):
        (judged,) = asked(stored, headers, INSERTED, operand)["judged"]
        assert judged["report"]["verdict"] == "BREAKING"
        assert judged["channels"] == []


def test_a_declaration_takes_the_place_of_its_namesake_in_the_headers(stored: Call, headers: Path) -> None:
    text = "struct point { int y; long id; int x; };"
    done = stored("whatif", "libgeo", "--header", headers, "--declare", text, "--json")
    assert done.code == 4
    assert done.json["what_if"] == asked(stored, headers, INSERTED)


@pytest.mark.parametrize(
    ("text", "verdict", "edited"),
    [
        ("struct point { int y; long id; int x; };", "BREAKING", ["point"]),
        ("struct point { long id; int x, y; };", "COMPATIBLE_WITH_RISK", ["point"]),
        ("struct line { struct point from, to; enum colour ink; };", "BREAKING", ["line"]),
        ("enum colour { RED, GREEN, BLUE };", "COMPATIBLE", ["colour"]),
        ("enum colour { BLUE, RED, GREEN };", "BREAKING", ["colour"]),
        ("int length(struct line *line);", "BREAKING", ["length"]),
        ("int area(struct line line, uint32_t unit);", "COMPATIBLE", ["area"]),
        ("struct point { long id; int x; };", "NO_CHANGE", []),
    ],
)
def test_a_declaration_is_judged_without_headers(stored: Call, text: str, verdict: str, edited: list[str]) -> None:
    """Stored types stand for the headers, as large and as aligned as they are."""
    found = stored("whatif", "libgeo", "--declare", text, "--json").json["what_if"]
    assert (found["verdict"], found["edited"]) == (verdict, edited)


def test_a_typedef_stands_for_the_struct_that_it_names(abistore: Call) -> None:
    header = "typedef struct _text { long size; char *at; } text;\nint length(const text *text);\n"
    source = '#include "geo.h"\nint length(const text *text) { return (int)text->size; }\n'
    abistore("ingest", build_library(source, files={"geo.h": header}), "--version", "1.0", "--library", "libgeo")
    words = ("--declare", "struct text { int flags; long size; char *at; };", "--json")
    found = abistore("whatif", "libgeo@1.0", *words).json["what_if"]
    assert (found["verdict"], found["edited"]) == ("BREAKING", ["_text"])


def test_nothing_is_stored(stored: Call, headers: Path, database: Path) -> None:
    before = hashlib.sha256(database.read_bytes()).digest()
    asked(stored, headers, INSERTED)
    assert hashlib.sha256(database.read_bytes()).digest() == before


def test_the_text_tells_whom_it_breaks_and_what_to_do_instead(stored: Call, headers: Path) -> None:
    done = stored("whatif", "libgeo", "--header", headers, "--header-patch", patch(headers.parent, INSERTED))
    assert done.code == 4
    first, *lines = done.out.splitlines()
    assert first.startswith("libgeo@1.0") and first.endswith("baseline release")
    assert any("BREAKING" in line for line in lines)
    assert "Room in point: 4 bytes of padding at offset 12" in lines
    assert any(line.startswith("  - put y into the padding, at offset 12") for line in lines)


def test_an_edit_must_be_given_and_baselines_set(abistore: Call, headers: Path) -> None:
    library = build_library(SOURCE, files={"geo.h": HEADER})
    abistore("ingest", library, "--version", "1.0", "--library", "libgeo")
    assert "--declare" in refused(abistore("whatif", "libgeo@1.0"), 64, "no edit")
    assert "baseline set" in refused(abistore("whatif", "libgeo", "--declare", "int f(void);"), 67, "no baseline")


def test_a_patch_needs_its_headers_and_must_apply(stored: Call, headers: Path) -> None:
    edit = patch(headers.parent, INSERTED)
    assert "--header" in refused(stored("whatif", "libgeo", "--header-patch", edit), 64, "needs the headers")
    (headers / "geo.h").write_text(HEADER.replace("long id", "long number"))
    words = ["whatif", "libgeo", "--header", headers, "--header-patch", edit]
    refused(stored(*words), 65, "does not apply to geo.h")
    assert stored(*words, "--json").error["code"] == "patch"


def test_an_edit_that_does_not_compile_is_an_error_with_its_place(stored: Call, headers: Path) -> None:
    words = ["whatif", "libgeo", "--header", headers, "--header-patch"]
    broken = patch(headers.parent, HEADER.replace("int x;", "vec3 x;"))
    assert "geo.h:3" in (done := stored(*words, broken)).err
    assert done.code == 65
    done = stored("whatif", "libgeo", "--declare", "struct point { vec3 x; };")
    assert done.code == 65 and "vec3" in done.err


def test_a_stripped_release_is_judged_by_the_headers(abistore: Call, headers: Path) -> None:
    library = build_library(SOURCE, files={"geo.h": HEADER}, flags=("-O1",))
    abistore("ingest", library, "--version", "1.0", "--library", "libgeo")
    (judged,) = asked(abistore, headers, INSERTED, "libgeo@1.0")["judged"]
    assert judged["report"]["verdict"] == "BREAKING"
    assert "--header" in refused(
        abistore("whatif", "libgeo@1.0", "--declare", "struct point { int x; };"), 65, "without debug information"
    )
