"""``compare --for PROGRAM``: what a built program meets of a new release, told by what it imports."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.build import build_library
from tests.cli.conftest import Call

pytestmark = pytest.mark.fast

OLD = """
struct point { int x, y; };
int norm(const struct point *p) { return p->x + p->y; }
int gone(void) { return 1; }
int kept(int value) { return value; }
"""
NEW = """
struct point { long x, y; };
int norm(const struct point *p) { return (int)(p->x + p->y); }
int kept(int value) { return value; }
int more(void) { return 2; }
"""


@pytest.fixture(scope="module")
def sides() -> tuple[Path, Path]:
    return build_library(OLD), build_library(NEW)


def program(folder: Path, text: str, old: Path, name: str) -> Path:
    """A program that is linked with the old release."""
    source, built = folder / f"{name}.c", folder / name
    source.write_text(text)
    subprocess.run(["gcc", "-w", str(source), "-o", str(built), str(old)], check=True)
    return built


def test_a_program_meets_only_what_it_imports(abistore: Call, tmp_path: Path, sides: tuple[Path, Path]) -> None:
    old, new = sides

    def found(*programs: Path) -> set[str]:
        options = [word for each in programs for word in ("--for", each)]
        done = abistore("compare", old, new, *options, "--json")
        assert done.code == 4
        aside = {each["suppressed_by"] for each in done.json["suppressed"]}
        assert aside == {f"--for {', '.join(each.name for each in programs)}"}
        return {each["kind"] for each in done.json["changes"]}

    keeps = program(tmp_path, "int kept(int); int main(void) { return kept(0); }", old, "keeps")
    asks = program(tmp_path, "int gone(void); int main(void) { return gone(); }", old, "asks")
    measures = program(tmp_path, "int norm(void *); int main(void) { return norm(0); }", old, "measures")
    assert abistore("compare", old, new).code == 4
    assert "policy strict_abi, no suppressions\n" in abistore("compare", old, new).out
    assert "policy strict_abi, no suppression files\n" in abistore("compare", old, new, "--for", keeps).out

    untouched = abistore("compare", old, new, "--for", keeps, "--json")
    assert (untouched.code, untouched.json["verdict"]) == (0, "NO_CHANGE")
    assert "judged for keeps, which imports 1 of 3 exports" in untouched.json["notes"]

    assert found(asks) == {"func_removed"}
    assert found(measures) == {"type_field_type_changed"}
    assert found(keeps, asks) == {"func_removed"}


def test_what_breaks_sources_only_does_not_concern_what_is_built(abistore: Call, tmp_path: Path) -> None:
    (tmp_path / "old.h").write_text("int kept(int value);\n#define MOST 8\n")
    (tmp_path / "new.h").write_text("int kept(int value);\n")
    library = build_library("int kept(int value) { return value; }")
    keeps = program(tmp_path, "int kept(int); int main(void) { return kept(0); }", library, "keeps")
    headers = ("--old-header", tmp_path / "old.h", "--new-header", tmp_path / "new.h")
    assert abistore("compare", library, library, *headers).code == 2
    assert abistore("compare", library, library, *headers, "--for", keeps).code == 0


def test_a_program_that_imports_nothing_of_the_library_opens_no_gate(
    abistore: Call, tmp_path: Path, sides: tuple[Path, Path]
) -> None:
    old, new = sides
    stranger = program(tmp_path, 'int puts(const char *); int main(void) { return puts(""); }', old, "stranger")
    done = abistore("compare", old, new, "--for", stranger)
    assert done.code == 64
    assert "stranger: imports nothing that libcase exports" in done.err


def test_what_is_no_program_is_an_error(abistore: Call, tmp_path: Path, sides: tuple[Path, Path]) -> None:
    (tmp_path / "notes.txt").write_text("no program")
    done = abistore("compare", *sides, "--for", tmp_path / "notes.txt")
    assert done.code == 65
    assert abistore("compare", *sides, "--for", tmp_path / "absent").code == 65


def test_a_program_meets_data_of_which_it_has_a_copy(abistore: Call, tmp_path: Path) -> None:
    old = build_library("int counter[2] = {1}; int kept(void) { return 0; }")
    new = build_library("int kept(void) { return 0; }")
    text = "extern int counter[2]; int main(void) { return counter[0]; }"
    copies = program(tmp_path, text, old, "copies")
    done = abistore("compare", old, new, "--for", copies, "--json")
    assert (done.code, [each["kind"] for each in done.json["changes"]]) == (4, ["var_removed"])
