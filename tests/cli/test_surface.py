"""``export --format surface`` and ``gate --surface``: the public surface as text that people review in git."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from abistore.service.surface import check_surface, surface
from tests.build import build_library
from tests.cli.conftest import ADDED, OLD, Call

HEADER = """
#define GEO_LIMIT 8
#define GEO_MAX(a, b) ((a) > (b) ? (a) : (b))
struct hidden;
typedef struct point { int x, y; } point_t;
enum mode { FAST, EXACT = 4 };
int norm(const point_t *p, enum mode mode);
struct hidden *make(void);
extern int count;
static inline int twice(int n) { return 2 * n; }
"""
SOURCE = (
    HEADER
    + """
struct hidden { long secret; };
int norm(const point_t *p, enum mode mode) { return p->x; }
struct hidden *make(void) { static struct hidden one; return &one; }
int count = 1;
int undeclared(void) { return 1; }
"""
)


def test_the_surface_lists_exports_types_and_what_it_rests_on() -> None:
    lines = surface(build_library(SOURCE)).text.splitlines()
    assert lines[0] == "// Public surface of libcase, written by `abistore export --format surface`."
    assert "// SONAME: libcase.so.1" in lines
    assert "// Types: from debug information" in lines
    assert "// Declarations: not given" in lines
    assert "    EXACT = 4," in lines
    assert any(line.startswith("int norm(const point_t*, ") for line in lines)
    assert "int count;  // global object count, 4 bytes" in lines
    assert any(line.startswith("    int y;") and line.endswith("// 4") for line in lines)
    assert any(line.startswith("int undeclared(") for line in lines)


def test_two_builds_in_other_folders_give_the_same_bytes(tmp_path: Path) -> None:
    texts = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "case.c").write_text(SOURCE)
        command = ["gcc", "-g", "-shared", "-fPIC", "-Wl,-soname,libcase.so.1", "case.c", "-o", "libcase.so"]
        subprocess.run(command, cwd=folder, check=True)
        texts.append(surface(folder / "libcase.so").text)
    assert texts[0] == texts[1]
    assert str(tmp_path) not in texts[0]


def test_a_stored_release_and_its_file_have_one_surface(abistore: Call, old: Path, tmp_path: Path) -> None:
    assert abistore("ingest", old, "--version", "1.0", "--set-baseline").code == 0
    file = tmp_path / "libcase.h"
    assert abistore("export", old, "--format", "surface", "-o", file).code == 0
    for reference in ("libcase@1.0", "libcase@baseline", "libcase"):
        assert abistore("export", reference, "--format", "surface").out == file.read_text()
    shown = abistore("export", old, "--format", "surface", "--json").json["surface"]
    assert (shown["library"], shown["text"]) == ("libcase", file.read_text())


def test_headers_show_macros_private_types_and_undeclared_exports(abistore: Call, tmp_path: Path) -> None:
    header = tmp_path / "case.h"
    header.write_text(HEADER)
    done = abistore("export", build_library(SOURCE), "--header", header, "--format", "surface")
    lines = done.out.splitlines()
    assert "#define GEO_LIMIT 8" in lines
    assert any(line.startswith("#define GEO_MAX(p1, p2)  // tokens ") for line in lines)
    assert "struct hidden;" in lines
    assert "secret" not in done.out
    assert "const" in next(line for line in lines if line.startswith("int norm("))
    unexported = lines.index("// --- Declared in headers, not exported ---")
    assert any("inline int twice(int n)" in line for line in lines[unexported:])
    assert "// global function undeclared" in lines[lines.index("// --- Exported, declared in no header ---") :]


def test_a_gate_passes_while_the_reviewed_file_is_current(abistore: Call, old: Path, tmp_path: Path) -> None:
    assert abistore("ingest", old, "--version", "1.0", "--set-baseline").code == 0
    file = tmp_path / "libcase.h"
    assert abistore("export", old, "--format", "surface", "-o", file).code == 0
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))  # as git checks it out on Windows
    assert abistore("gate", old, "--version", "1.1", "--surface", file).code == 0


def test_a_gate_fails_for_another_surface_and_says_how_to_accept_it(
    abistore: Call, old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert abistore("ingest", old, "--version", "1.0", "--set-baseline").code == 0
    assert abistore("export", old, "--format", "surface", "-o", "libcase.h").code == 0
    shutil.copy(build_library(ADDED), "libcase.so")
    done = abistore("gate", "libcase.so", "--version", "1.1", "--surface", "libcase.h")
    assert done.code == 69
    assert done.out.startswith("FAIL: libcase.h: is not the public surface of this build; ")
    assert any(line.startswith("+int ") for line in done.out.splitlines())
    (command,) = (part for part in done.err.split("`") if part.startswith("abistore export"))
    assert abistore(*command.split()[1:]).code == 0
    assert abistore("gate", "libcase.so", "--version", "1.1", "--surface", "libcase.h").code == 0


def test_a_missing_file_fails_and_a_break_keeps_its_own_code(
    abistore: Call, old: Path, new: Path, tmp_path: Path
) -> None:
    assert abistore("ingest", old, "--version", "1.0", "--set-baseline").code == 0
    done = abistore("gate", old, "--version", "1.1", "--surface", tmp_path / "absent.h", "--json")
    assert done.code == 69
    envelope = json.loads(done.out)
    assert envelope["error"]["code"] == "surface-differs"
    assert envelope["data"]["files"][0]["surface"]["state"] == "missing"
    broken = abistore("gate", new, "--version", "1.1", "--surface", tmp_path / "absent.h")
    assert broken.code == 4
    assert "to accept it: abistore export" in broken.out


def test_several_builds_have_no_common_surface(abistore: Call, old: Path, new: Path, tmp_path: Path) -> None:
    assert abistore("ingest", old, "--version", "1.0", "--set-baseline").code == 0
    assert abistore("gate", old, new, "--surface", tmp_path / "x.h").code == 64


def test_the_check_is_there_for_python(tmp_path: Path) -> None:
    library, file = build_library(OLD), tmp_path / "libcase.h"
    assert check_surface(library, file).state == "missing"
    file.write_text(surface(library).text)
    assert check_surface(library, file).state == "same"
    found = check_surface(build_library(ADDED), file)
    assert found.state == "differs"
    assert found.difference[0] == f"--- {file}"


def test_members_of_templates_and_libraries_without_types_are_told_as_they_are(abistore: Call, tmp_path: Path) -> None:
    header = tmp_path / "case.hpp"
    header.write_text("template <class T> struct Box { T value; };\nint open(Box<int> *);\n")
    library = build_library(
        "template <class T> struct Box { T value; }; int open(Box<int> *) { return 1; }", language="c++"
    )
    shown = abistore("export", library, "--header", header, "--format", "surface").out
    assert "template <class T> Box;" in shown
    assert "static" not in shown
    stripped = build_library("int open(int a) { return a; }", flags=("-s",))
    lines = abistore("export", stripped, "--format", "surface").out.splitlines()
    assert "// Types: none (no-debug-info)" in lines
    assert not any(line.startswith("// All types") for line in lines)
    assert lines[-1] == "// global function open"
