"""Releases of several DLLs on the command line: names whose case means nothing, and marks of copies in wheels."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests import packages
from tests.cli.conftest import Call
from tests.extract.pe_fixtures import ENTRY, MINGW

pytestmark = pytest.mark.full

ADD = "__declspec(dllexport) int case_add(int a, int b) { return a + b; }\n"
SUM = "__declspec(dllexport) int case_sum(int a, int b) { return a + b; }\n"
USE = "int case_add(int, int);\n__declspec(dllexport) int user_sum(int a) { return case_add(a, 1); }\n"
ONE, TWO = "0123456789abcdef" * 2, "fedcba9876543210" * 2


def dll(folder: Path, name: str, source: str, *linked: Path) -> Path:
    """A DLL by MinGW, which records the file names of those that it is linked with."""
    folder.mkdir(exist_ok=True)
    (folder / "case.c").write_text(source + ENTRY)
    command = [f"{MINGW}-gcc", "-shared", "-nostdlib", "-e", "DllMainCRTStartup", "case.c", *linked, "-o", name]
    subprocess.run([*map(str, command)], cwd=folder, check=True)
    return folder / name


def wheel(folder: Path, version: str, *dlls: Path) -> Path:
    return packages.wheel(folder, {f"case.libs/{each.name}": each for each in dlls}, version=version)


def test_a_dll_finds_its_sibling_whatever_the_case_of_its_name(tmp_path: Path, abistore: Call) -> None:
    """The loader of Windows takes ``CASE.DLL`` for ``Case.dll``."""
    old, new = dll(tmp_path / "1", "Case.dll", ADD), dll(tmp_path / "2", "Case.dll", SUM)
    user = dll(tmp_path / "4", "user.dll", USE, dll(tmp_path / "3", "CASE.DLL", ADD))
    done = abistore("compare", str(wheel(tmp_path, "1.0", old, user)), str(wheel(tmp_path, "2.0", new, user)))
    assert "bundle_intra_dep_removed" in done.out
    assert "bundle_unresolved_intra_dependency" not in done.out
    assert "bundle_library_removed" not in done.out


def test_a_new_mark_of_a_copied_dll_breaks_nothing_between_siblings(tmp_path: Path, abistore: Call) -> None:
    """``delvewheel`` writes a hash of the content into the names of copies, and into what asks for them."""
    releases = []
    for version, mark in (("1.0", ONE), ("2.0", TWO)):
        held = dll(tmp_path / mark, f"case-{mark}.dll", ADD)
        releases.append(str(wheel(tmp_path, version, held, dll(tmp_path / mark, "user.dll", USE, held))))
    done = abistore("compare", *releases)
    assert (done.code, "bundle_" in done.out, "removed" in done.out) == (0, False, False), done.out


def test_a_function_of_a_copied_dll_is_missed_by_its_sibling(tmp_path: Path, abistore: Call) -> None:
    old = dll(tmp_path / "1", f"case-{ONE}.dll", ADD)
    new = dll(tmp_path / "2", f"case-{TWO}.dll", SUM)
    asks = dll(tmp_path / "3", "user.dll", USE, dll(tmp_path / "3", f"case-{TWO}.dll", ADD))
    before = wheel(tmp_path, "1.0", old, dll(tmp_path / "1", "user.dll", USE, old))
    done = abistore("compare", str(before), str(wheel(tmp_path, "2.0", new, asks)))
    assert done.code == 4
    assert "bundle_intra_dep_removed: needs a symbol that case no longer exports" in done.out


def test_a_dll_that_asks_for_a_copy_of_before_finds_none(tmp_path: Path, abistore: Call) -> None:
    """Its mark is a part of the name by which Windows loads it; here the copy itself is gone."""
    old = dll(tmp_path / "1", f"case-{ONE}.dll", ADD)
    user = dll(tmp_path / "2", "user.dll", USE, old)
    done = abistore("compare", str(wheel(tmp_path, "1.0", old, user)), str(wheel(tmp_path, "2.0", user)))
    assert done.code == 4
    assert "bundle_library_removed" in done.out
    assert "bundle_unresolved_intra_dependency" in done.out
