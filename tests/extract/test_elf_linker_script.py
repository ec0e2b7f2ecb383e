"""Linker scripts lead to the library that they stand for."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from abistore.errors import ExtractError, InputError, UnknownFormat
from abistore.extract.capture import read_snapshot
from abistore.extract.elf.reader import is_linker_script, named_libraries
from abistore.extract.reader import ExtractOptions
from tests.extract.elf_fixtures import every_sort_of_symbol

pytestmark = pytest.mark.fast

TABLES_ONLY = ExtractOptions(layout=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """``usr/lib/libsorts.so.3`` below a root of its own."""
    folder = tmp_path / "usr" / "lib"
    folder.mkdir(parents=True)
    shutil.copy(every_sort_of_symbol("x86_64"), folder / "libsorts.so.3")
    return folder


@pytest.mark.parametrize(
    "script",
    [
        "INPUT(libsorts.so.3)",
        "/* GNU ld script */ INPUT ( libsorts.so.3 -lother )",
        "/* GNU ld script\n*/\nOUTPUT_FORMAT(elf64-x86-64)\n"
        "GROUP ( /usr/lib/libsorts.so.3 /usr/lib/libsorts_nonshared.a AS_NEEDED ( /lib/ld-linux-x86-64.so.2 ) )\n",
        "GROUP(AS_NEEDED(libelsewhere.so.1) =/usr/lib/libsorts.so.3)",
        "INPUT(-l:libsorts.so.3)",
        'INPUT("libsorts.so.3", libnone.so)',
        "INPUT(AS_NEEDED(libsorts.so.3))",
        "SEARCH_DIR(/nowhere); INPUT(/not/here/libsorts.so.3)",
    ],
)
def test_a_script_is_followed(script: str, folder: Path) -> None:
    (folder / "libsorts.so").write_text(script)
    assert is_linker_script(script.encode())
    snapshot = read_snapshot(folder / "libsorts.so", TABLES_ONLY)
    assert snapshot.library == "libsorts"
    assert snapshot.provenance.file == "libsorts.so.3"
    assert snapshot == read_snapshot(folder / "libsorts.so.3", TABLES_ONLY)


def test_scripts_may_lead_to_scripts_and_dash_l_names_them(folder: Path) -> None:
    (folder / "libouter.so").write_text("INPUT(-lsorts)")
    (folder / "libsorts.so").write_text("INPUT(libsorts.so.3)")
    assert read_snapshot(folder / "libouter.so", TABLES_ONLY).provenance.file == "libsorts.so.3"


@pytest.mark.parametrize("place", ["usr/lib/x86_64-linux-gnu", "usr/x86_64-linux-gnu/lib"])
def test_a_script_in_the_compilers_folder_leads_to_the_targets_libraries(place: str, tmp_path: Path) -> None:
    compiler = tmp_path / "usr/lib/gcc/x86_64-linux-gnu/12"
    compiler.mkdir(parents=True)
    (compiler / "libsorts.so").write_text("GROUP ( libsorts.so.3 -lgcc )")
    (tmp_path / place).mkdir(parents=True)
    shutil.copy(every_sort_of_symbol("x86_64"), tmp_path / place / "libsorts.so.3")
    assert read_snapshot(compiler / "libsorts.so", TABLES_ONLY).library == "libsorts"


def test_libraries_outside_as_needed_come_first() -> None:
    text = "GROUP ( AS_NEEDED ( a.so b.so ) c.so d.a ) INPUT(e.so) VERSION { f.so }"
    assert named_libraries(text) == ("c.so", "e.so", "a.so", "b.so")


def test_a_script_for_an_absent_library_is_an_error(folder: Path) -> None:
    (folder / "libgone.so").write_text("INPUT(libgone.so.1)")
    with pytest.raises(ExtractError, match=r"libgone\.so\.1"):
        read_snapshot(folder / "libgone.so", TABLES_ONLY)


def test_a_script_of_archives_only_is_an_error(folder: Path) -> None:
    (folder / "libgone.so").write_text("GROUP(libgone.a)")
    with pytest.raises(ExtractError, match="no library"):
        read_snapshot(folder / "libgone.so", TABLES_ONLY)


def test_scripts_in_a_circle_are_an_error(folder: Path) -> None:
    (folder / "libone.so").write_text("INPUT(libtwo.so)")
    (folder / "libtwo.so").write_text("INPUT(libone.so)")
    with pytest.raises(InputError):
        read_snapshot(folder / "libone.so", TABLES_ONLY)


@pytest.mark.parametrize("text", ["", "hello", "int INPUT(int);", "INPUT\0(", "/* INPUT(x) */", "INPUTS(x)"])
def test_other_texts_are_no_scripts(text: str, tmp_path: Path) -> None:
    assert not is_linker_script(text.encode())
    (tmp_path / "file").write_text(text)
    with pytest.raises(UnknownFormat if text else InputError):
        read_snapshot(tmp_path / "file", TABLES_ONLY)
