"""Gates beside builds of which the dynamic linker does not find what their symbol table has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.build import build_library
from tests.cli.conftest import Call
from tests.extract.unfindable import SOURCE, VERSIONED, changed, no_buckets, no_old_buckets


@pytest.fixture
def based(abistore: Call) -> Call:
    """A store whose one release is the baseline."""
    flags = ("-O1", "-Wl,--version-script=versions.map")
    built = build_library(SOURCE, flags=flags, files=VERSIONED)
    assert abistore("ingest", built, "--version", "1.0", "--set-baseline").code == 0
    return abistore


def test_a_build_whose_exports_nobody_finds_removes_them(based: Call, tmp_path: Path) -> None:
    made = changed(no_buckets, "gnu", tmp_path)
    done = based("gate", made, "--version", "1.1")
    assert done.code == 4, done.out
    assert "func_removed" in done.out
    assert "BREAKING in what could be checked" in done.out
    assert based("gate", made, "--version", "1.1", "--require", "none").code == 4
    told = " ".join(based("compare", "libcase@baseline", made).out.split())
    assert "3 symbols of the symbol table are not found by the dynamic linker: kept, lost, variable" in told


@pytest.mark.parametrize("words", [(), ("--require", "symbol"), ("--require", "old")])
def test_a_build_whose_tables_disagree_passes_no_gate(based: Call, tmp_path: Path, words: tuple[str, ...]) -> None:
    made = changed(no_old_buckets, "both", tmp_path)
    done = based("gate", made, "--version", "1.1", *words)
    assert done.code == 72, done.out
    assert "found by one of two hash tables only" in done.err
    told = based("compare", "libcase@baseline", made)
    assert (told.code, "symbol compared in part" in told.out) == (0, True)


def test_a_build_with_both_tables_passes(based: Call, tmp_path: Path) -> None:
    made = changed(lambda tables, data: None, "both", tmp_path)
    assert based("gate", made, "--version", "1.1", "--require", "symbol").code == 0


def test_a_first_release_must_have_what_is_required(abistore: Call, tmp_path: Path) -> None:
    assert abistore("db", "init").code == 0
    made = changed(no_buckets, "gnu", tmp_path)
    done = abistore("gate", made, "--version", "1.0", "--bootstrap", "--require", "symbol")
    assert done.code == 72, done.out
