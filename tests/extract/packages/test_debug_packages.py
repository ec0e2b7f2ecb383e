"""Debug packages of DLLs and dylibs: PDB files, split DWARF and ``.dSYM`` bundles, each proven by its identity."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from abistore.extract.capture import read_all
from abistore.extract.files import open_input
from abistore.extract.reader import ExtractOptions
from abistore.model.snapshot import PackageRead, Snapshot
from tests import packages
from tests.extract.macho_fixtures import build_with_dsym
from tests.extract.pe_fixtures import ENTRY, MINGW, msvc

pytestmark = pytest.mark.full

SOURCE = 'struct point { int x, y; };\nextern "C" __declspec(dllexport) int case_x(struct point *p) { return p->x; }\n'


def snapshot(path: Path, **options: object) -> Snapshot:
    with open_input(path) as file:
        (found,) = read_all(file, ExtractOptions(**options))  # type: ignore[arg-type]
    return found


def check(package: Path, symbols: Path) -> None:
    """That the debug package alone tells the types, and is not taken for a library."""
    assert snapshot(package).evidence_of("layout").state == "missing"
    told = snapshot(package, debug_packages=(symbols,)).evidence_of("layout")
    assert (told.state, told.source) == ("full", "debug-package")


def wheel(place: Path, version: str, files: dict[str, Path | bytes | str]) -> Path:
    place.mkdir(exist_ok=True)
    return packages.wheel(place, files, version=version)


def test_a_pdb_file_comes_from_a_debug_package_whatever_the_case_of_its_name(tmp_path: Path) -> None:
    dll = msvc(SOURCE)
    package = wheel(tmp_path / "1", "1.0", {"case/bin/case.dll": dll})
    check(package, wheel(tmp_path / "2", "1.0", {"symbols/Case.PDB": dll.with_suffix(".pdb")}))


def test_a_pdb_file_of_another_build_is_not_taken(tmp_path: Path) -> None:
    package = wheel(tmp_path / "1", "1.0", {"case/bin/case.dll": msvc(SOURCE)})
    other = msvc(SOURCE.replace("int x, y;", "int x, y, z;")).with_suffix(".pdb")
    told = snapshot(package, debug_packages=(wheel(tmp_path / "2", "1.0", {"symbols/case.pdb": other}),))
    assert (told.evidence_of("layout").state, told.evidence_of("layout").reason) == ("missing", "stale-debug-file")


def test_the_split_dwarf_of_a_dll_comes_from_a_debug_package(tmp_path: Path) -> None:
    (tmp_path / "case.cc").write_text(f'{SOURCE}extern "C" {ENTRY}')
    for command in (
        [f"{MINGW}-g++", "-g", "-shared", "-nostdlib", "-e", "DllMainCRTStartup", "case.cc", "-o", "case.dll"],
        ["objcopy", "--only-keep-debug", "case.dll", "case.dll.debug"],
        ["objcopy", "--strip-debug", "--add-gnu-debuglink=case.dll.debug", "case.dll", "bare.dll"],
    ):
        subprocess.run([command[0].replace("objcopy", f"{MINGW}-objcopy"), *command[1:]], cwd=tmp_path, check=True)
    package = wheel(tmp_path / "1", "1.0", {"case/case.dll": tmp_path / "bare.dll"})
    check(package, wheel(tmp_path / "2", "1.0", {"debug/case.dll.debug": tmp_path / "case.dll.debug"}))


@pytest.fixture(scope="module")
def dylib(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = "struct point { int x, y; };\nint case_x(struct point *p) { return p->x; }\n"
    return build_with_dsym(source, tmp_path_factory.mktemp("dylib"))


def bundled(dylib: Path) -> Path:
    return dylib.with_name(f"{dylib.name}.dSYM") / "Contents" / "Resources" / "DWARF" / dylib.name


INSIDE = "libcase.1.dylib.dSYM/Contents/Resources/DWARF/libcase.1.dylib"


def test_a_bundle_comes_from_a_debug_package(dylib: Path, tmp_path: Path) -> None:
    package = wheel(tmp_path / "1", "1.0", {"case/.dylibs/libcase.1.dylib": dylib})
    check(package, wheel(tmp_path / "2", "1.0", {f"case/{INSIDE}": bundled(dylib)}))


def test_a_bundle_beside_its_library_is_no_second_library(dylib: Path, tmp_path: Path) -> None:
    package = wheel(tmp_path, "1.0", {"a/libcase.1.dylib": dylib, f"a/{INSIDE}": bundled(dylib)})
    about = snapshot(package).provenance.package
    assert isinstance(about, PackageRead)
    assert about.left_out == (f"a/{INSIDE} (debug information)",)
    assert snapshot(package, debug_packages=(package,)).evidence_of("layout").state == "full"
