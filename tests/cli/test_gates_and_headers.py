"""Gates beside headers that were read so that less of them is seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.build import build_library
from tests.cli.conftest import Call

HEADER = "int norm(int);\n#ifndef LESS\n#define SIZE 10\nint more(int);\n#endif\n"
OTHER = "int other(int);\n"
SOURCE = "int norm(int x) { return x; } int more(int x) { return x; } int other(int x) { return x; }"


def library(tmp_path: Path, abistore: Call, header: str = HEADER) -> tuple[Path, Path]:
    """A library whose baseline was read with a folder of two headers, and that folder as it is now."""
    built = build_library(SOURCE, flags=("-g",))
    include = tmp_path / "include"
    include.mkdir()
    (include / "api.h").write_text(HEADER)
    (include / "other.h").write_text(OTHER)
    done = abistore("ingest", built, "--library", "libcase", "--version", "1.0", "--header", include, "--set-baseline")
    assert done.code == 0, done.err
    (include / "api.h").write_text(header)
    return build_library(f"{SOURCE} int newer;", flags=("-g",)), include


HIDING = [("--private-header", "api.h"), ("--define", "LESS")]


@pytest.mark.parametrize("words", HIDING)
@pytest.mark.parametrize("header", [HEADER, HEADER.replace("10", "20"), OTHER])
def test_a_gate_needs_what_headers_hide_that_the_release_showed(
    abistore: Call, tmp_path: Path, words: tuple[str, str], header: str
) -> None:
    new, include = library(tmp_path, abistore, header)
    done = abistore("gate", new, "--library", "libcase", "--version", "1.1", "--header", include, *words)
    assert done.code in (2, 72), done.out
    assert "passes" not in done.out.splitlines()[0]


def test_other_options_that_hide_nothing_pass(abistore: Call, tmp_path: Path) -> None:
    new, include = library(tmp_path, abistore)
    words = ("--library", "libcase", "--version", "1.1", "--header", include, "--define", "UNUSED")
    done = abistore("gate", new, *words)
    assert done.code == 0, done.out


def test_what_is_hidden_passes_only_where_that_is_said(abistore: Call, tmp_path: Path) -> None:
    new, include = library(tmp_path, abistore)
    words = ("--library", "libcase", "--version", "1.1", "--header", include, "--define", "LESS")
    done = abistore("gate", new, *words)
    assert done.code == 72
    assert "what only one side declares is not told" in done.err
    assert abistore("gate", new, *words, "--require", "symbol,layout").code == 0


CHOSEN = "#ifdef FORMER\n#define SIZE 10\n#else\n#define SIZE 20\n#endif\n"
"""The break is there, and one macro shows what was before it."""

CHOOSING = [
    ("--define", "FORMER"),
    ("--clang-arg", "-DFORMER"),
    ("--clang-arg", "-DFORMER=/x"),
    ("--clang-arg", "-imacros", "--clang-arg", "FOLDER/former.h"),
]


@pytest.mark.parametrize("words", CHOOSING)
def test_a_gate_needs_headers_that_are_read_as_those_of_the_release_were(
    abistore: Call, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """A macro that headers ask for may hide what broke behind a declaration of the same name."""
    (tmp_path / "former.h").write_text("#define FORMER\n")
    new, include = library(tmp_path, abistore, HEADER.replace("#define SIZE 10\n", CHOSEN))
    asked = ("gate", new, "--library", "libcase", "--version", "1.1", "--header", include)
    assert abistore(*asked).code == 2
    done = abistore(*asked, *(word.replace("FOLDER", str(tmp_path)) for word in words))
    assert (done.code, "the headers were read with " in done.err) == (72, True)


def test_a_macro_that_no_condition_asks_for_hides_nothing(abistore: Call, tmp_path: Path) -> None:
    """What is gone is told as gone, and nothing is left unchecked."""
    header = HEADER.replace("int norm(int);", "CASE_API int norm(int);").replace("int more(int);", "")
    new, include = library(tmp_path, abistore, header)
    asked = ("gate", new, "--library", "libcase", "--version", "1.1", "--header", include)
    done = abistore(*asked, "--define", "CASE_API=", "--define", "UNUSED", "--json")
    (file,) = done.json["files"]
    report = file["judged"]["verdict"]
    assert (done.code, [one["reason"] for one in report["not_checked"] if one["facet"] == "source"]) == (2, [])
    kinds = {one["kind"]: one["symbol"] for one in report["changes"]}
    assert "more" in kinds.values()


BROKEN = "#error not by itself\n"


@pytest.mark.parametrize(
    ("api", "other", "code"),
    [
        (HEADER.replace("#define SIZE 10\n", ""), BROKEN, 72),
        (BROKEN + HEADER.replace("10", "20"), OTHER, 72),
        (HEADER.replace("10", "20"), BROKEN, 2),
        (HEADER, BROKEN, 0),
    ],
)
def test_a_header_that_never_parsed_hides_nothing_of_the_others(
    abistore: Call, tmp_path: Path, api: str, other: str, code: int
) -> None:
    """Headers that were read in part on both sides may lack different ones."""
    include = tmp_path / "include"
    include.mkdir()

    def write(api: str, other: str) -> None:
        (include / "api.h").write_text(api)
        (include / "other.h").write_text(other)
        (include / "third.h").write_text("int third;\n")

    write(HEADER, BROKEN)
    words = ("--library", "libcase", "--header", include)
    built = build_library(SOURCE, flags=("-g",))
    assert abistore("ingest", built, *words, "--version", "1.0", "--set-baseline").code == 0
    write(api, other)
    done = abistore("gate", build_library(f"{SOURCE} int newer;", flags=("-g",)), *words, "--version", "1.1")
    assert done.code == code, done.out + done.err
