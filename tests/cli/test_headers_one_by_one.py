"""A header that was given by itself, and that the next release has no more, is gone: the same as from a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.build import build_library
from tests.cli.conftest import Call

SOURCE = "int area(int x) { return x; } int other(int x) { return x; }"
AREA = "int area(int);\n"
OTHER = "#define OTHER 1\nint other(int);\n"
GONE = {"header_removed", "declaration_removed", "constant_removed"}
COME = {"header_added", "declaration_added", "constant_added"}


def releases(tmp_path: Path) -> tuple[Path, Path]:
    """The folders of a release with two headers, and of one that has one of them."""
    old, new = tmp_path / "old", tmp_path / "new"
    for folder in (old, new):
        folder.mkdir()
        (folder / "area.h").write_text(AREA)
    (old / "other.h").write_text(OTHER)
    return old, new


def words(side: str, folder: Path, *names: str) -> list[str]:
    return [word for name in names for word in (f"--{side}header", str(folder / name))]


def compared(abistore: Call, *arguments: object) -> dict[str, Any]:
    done = abistore("compare", *arguments, "--json")
    answer = json.loads(done.out)
    assert isinstance(answer, dict)
    return answer


def kinds(answer: dict[str, Any]) -> set[str]:
    return {each["kind"] for each in answer["changes"]}


def reasons(answer: dict[str, Any]) -> set[str]:
    return {each["reason"] for each in answer["not_checked"]}


@pytest.mark.parametrize(("gone", "verdict", "expected"), [(True, "API_BREAK", GONE), (False, "COMPATIBLE", COME)])
def test_a_header_that_lies_there_no_more_is_gone(
    abistore: Call, tmp_path: Path, gone: bool, verdict: str, expected: set[str]
) -> None:
    full, less = releases(tmp_path)
    built = build_library(SOURCE, flags=("-g",))
    sides = ("old-", "new-") if gone else ("new-", "old-")
    both, one = words(sides[0], full, "area.h", "other.h"), words(sides[1], less, "area.h")
    answer = compared(abistore, built, built, *both, *one)
    assert (answer["verdict"], kinds(answer)) == (verdict, expected)
    assert "headers-not-given" not in reasons(answer)


def test_a_header_that_lies_there_and_was_not_given_is_no_removal(abistore: Call, tmp_path: Path) -> None:
    old, new = releases(tmp_path)
    (new / "other.h").write_text(OTHER)
    built = build_library(SOURCE, flags=("-g",))
    answer = compared(abistore, built, built, *words("old-", old, "area.h", "other.h"), *words("new-", new, "area.h"))
    assert kinds(answer) == set()
    (missed,) = (each for each in answer["not_checked"] if each["reason"] == "headers-not-given")
    assert "other.h lies beside those that were" in missed["hint"]


def test_a_header_of_a_folder_of_which_none_is_given_any_more_is_no_removal(abistore: Call, tmp_path: Path) -> None:
    old, new = releases(tmp_path)
    (old / "inner").mkdir()
    (old / "inner" / "deep.h").write_text("int deep(int);\n")
    built = build_library(f"{SOURCE} int deep(int x) {{ return x; }}", flags=("-g",))
    both = words("old-", old, "area.h", "inner/deep.h")
    answer = compared(abistore, built, built, *both, *words("new-", new, "area.h"))
    assert kinds(answer) == set()
    assert "headers-not-given" in reasons(answer)


def test_a_gate_stops_at_a_header_that_is_gone_from_stored_releases(abistore: Call, tmp_path: Path) -> None:
    old, new = releases(tmp_path)
    built, next_one = (build_library(f"{SOURCE}{more}", flags=("-g",)) for more in ("", " int newer;"))
    said = ("--library", "libcase", "--version")
    ingested = abistore("ingest", built, *said, "1.0", *words("", old, "area.h", "other.h"), "--set-baseline")
    assert ingested.code == 0, ingested.err
    stopped = abistore("gate", next_one, *said, "1.1", *words("", new, "area.h"))
    assert stopped.code == 2, stopped.out + stopped.err
    assert "OTHER" in stopped.out
    assert abistore("ingest", next_one, *said, "1.1", *words("", new, "area.h")).code == 0
    (new / "other.h").write_text(OTHER)  # what lies there later is of no matter
    answer = compared(abistore, "libcase@1.0", "libcase@1.1")
    assert kinds(answer) >= GONE


def test_a_gate_does_not_pass_where_the_header_was_not_given(abistore: Call, tmp_path: Path) -> None:
    old, new = releases(tmp_path)
    (new / "other.h").write_text(OTHER)
    built, next_one = (build_library(f"{SOURCE}{more}", flags=("-g",)) for more in ("", " int newer;"))
    said = ("--library", "libcase", "--version")
    abistore("ingest", built, *said, "1.0", *words("", old, "area.h", "other.h"), "--set-baseline")
    assert abistore("gate", next_one, *said, "1.1", *words("", new, "area.h")).code == 72
