"""Programs that ask for exports of a DLL by number: what they meet of a new release."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.extract.pe_fixtures import MINGW

pytestmark = pytest.mark.full

SOURCE = "int one(void) { return 1; }\nint two(void) { return 2; }\nint three(void) { return 3; }\n"
NUMBERS = ("one @1 NONAME", "two @2 NONAME")


def dll(folder: Path, *exports: str) -> Path:
    """``case.dll`` with these lines of a definition file, and its import library beside it."""
    folder.mkdir()
    (folder / "case.c").write_text(SOURCE)
    (folder / "case.def").write_text("\n  ".join(("LIBRARY case\nEXPORTS", *exports)))
    flags = ["-g", "-O1", "-shared", "-Wl,--out-implib,libcase.a"]
    subprocess.run([f"{MINGW}-gcc", *flags, "case.c", "case.def", "-o", "case.dll"], cwd=folder, check=True)
    return folder / "case.dll"


def program(old: Path, calls: str) -> Path:
    """A program that calls one function, linked with the import library of ``old``."""
    source, built = old.parent / f"{calls}.c", old.parent / f"{calls}.exe"
    source.write_text(f"int {calls}(void); int main(void) {{ return {calls}(); }}")
    subprocess.run([f"{MINGW}-gcc", source, "-L", old.parent, "-lcase", "-o", built], check=True)
    return built


def test_a_program_meets_what_its_number_stands_for(abistore: Call, tmp_path: Path) -> None:
    old = dll(tmp_path / "old", *NUMBERS)
    calls_one, calls_two = program(old, "one"), program(old, "two")
    other = dll(tmp_path / "other", "one @1 NONAME", "three @2 NONAME")
    assert abistore("compare", old, other, "--for", calls_two).code == 4
    assert abistore("compare", old, other, "--for", calls_one).code == 0
    named = dll(tmp_path / "named", "one @1", "two @2")
    assert abistore("compare", old, named, "--for", calls_two).code == 0
    fewer = dll(tmp_path / "fewer", "one @1")
    assert abistore("compare", named, fewer, "--for", calls_two).code == 4
    assert abistore("compare", named, fewer, "--for", calls_one).code == 0


def test_a_stored_program_finds_numbers_that_the_linker_gave_to_names(abistore: Call, tmp_path: Path) -> None:
    old = dll(tmp_path / "old", *NUMBERS)
    calls_two, named = program(old, "two"), dll(tmp_path / "named", "one @1", "two @2")
    fewer, database = dll(tmp_path / "fewer", "one @1"), ("--db", tmp_path / "abi.db")
    for version, path in (("1", old), ("2", named), ("3", fewer)):
        assert abistore("ingest", path, "--version", version, *database, "--fail-on", "never").code == 0
    assert abistore("consumers", "add", calls_two, *database).code == 0
    assert abistore("consumers", "broken", "case@2", *database).code == 0
    assert abistore("consumers", "broken", "case@3", *database).code != 0


def test_a_named_export_with_another_number_breaks_programs_that_ask_for_the_number_alone(
    abistore: Call, tmp_path: Path
) -> None:
    """The import library of a definition file without NONAME asks by name, and its programs run with any number."""
    nameless, old = dll(tmp_path / "nameless", *NUMBERS), dll(tmp_path / "old", "one @1", "two @2", "three @9")
    new, fewer = dll(tmp_path / "new", "one @1", "two @9", "three @2"), dll(tmp_path / "fewer", "one @1", "two @9")
    by_number, by_name = program(nameless, "two"), program(old, "two")
    assert abistore("compare", old, new).code == 0
    assert abistore("compare", old, new, "--for", by_name).code == 0
    broken = abistore("compare", old, new, "--for", by_number)
    assert broken.code == 4 and "three" in broken.out
    assert abistore("compare", old, fewer, "--for", by_number).code == 4
    assert abistore("compare", old, new, "--for", program(nameless, "one")).code == 0
    assert abistore("compare", tmp_path / "old", tmp_path / "new", "--for", by_number).code == 4


def test_stored_programs_that_ask_for_a_number_are_broken_by_a_release_that_gives_it_to_another_export(
    abistore: Call, tmp_path: Path
) -> None:
    nameless, old = dll(tmp_path / "nameless", *NUMBERS), dll(tmp_path / "old", "one @1", "two @2", "three @9")
    new, database = dll(tmp_path / "new", "one @1", "two @9", "three @2"), ("--db", tmp_path / "abi.db")
    for version, path in (("1", old), ("2", new)):
        assert abistore("ingest", path, "--version", version, *database, "--fail-on", "never").code == 0
    assert abistore("consumers", "add", program(old, "two"), *database).code == 0
    assert abistore("consumers", "broken", "case@2", *database).code == 0
    assert abistore("consumers", "add", program(nameless, "two"), *database).code == 0
    assert abistore("consumers", "broken", "case@2", *database).code != 0
    assert abistore("compare", "case@1", new, "--consumers", *database).code == 4


def test_words_about_a_dll_are_those_of_its_platform(abistore: Call, tmp_path: Path) -> None:
    old, new = dll(tmp_path / "old", "one", "two"), dll(tmp_path / "new", "one")
    for each in (old, new):
        subprocess.run([f"{MINGW}-strip", each], check=True)
    told = " ".join(abistore("compare", old, new).out.split())
    assert "give the DLL a new name" in told and "SONAME" not in told
    assert "/Zi" in told and "PDB" in told
    assert "| DLL name |" in abistore("compare", old, new, "--format", "markdown").out
    assert "<th>DLL name</th>" in abistore("compare", old, new, "--format", "html").out
