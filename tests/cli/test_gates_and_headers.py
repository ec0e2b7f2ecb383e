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
