"""Single fields of a library that a dynamic linker reads: what a program does with the file, and what is found."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.elf.container import DT_GNU_HASH, DT_STRSZ, DT_VERSYM, PT_DYNAMIC, PT_TLS
from abistore.extract.elf.symbols import PT_GNU_RELRO
from abistore.extract.reader import ExtractOptions
from abistore.model.findings import Verdict
from tests.extract.fields import (
    PROGRAM,
    Field,
    at,
    dynamic,
    instead_of,
    library,
    of_symbol,
    record,
    segment,
    segment_of_type,
    thread_segment,
    version_of,
    with_field,
    word,
)
from tests.running import linked, run

NO_PIE = ("-fno-pie", "-no-pie")
DT_PLTRELSZ, DT_PLTGOT, DT_RELA, DT_RELASZ, DT_INIT, DT_JMPREL = 2, 3, 7, 8, 12, 23
DT_INIT_ARRAY, DT_FINI_ARRAY, DT_INIT_ARRAYSZ = 25, 26, 27
DT_RELAENT, DT_SYMENT, DT_PLTREL, DT_DEBUG, DT_FLAGS_1 = 9, 11, 20, 21, 0x6FFFFFFB
DF_1_NODELETE, DF_1_PIE = 0x8, 0x08000000

REFUSED: dict[str, tuple[Field, int]] = {
    "EI_VERSION": (at(6), 9),
    "EI_ABIVERSION of the first extension": (at(8), 1),
    "EI_ABIVERSION": (at(8), 200),
    "EI_PAD": (at(12), 1),
    "e_version": (at(0x14, "I"), 9),
    "DF_1_PIE": (dynamic(DT_FLAGS_1), DF_1_NODELETE | DF_1_PIE),
    "DT_RELAENT": (dynamic(DT_RELAENT), 16),
    "DT_PLTREL": (dynamic(DT_PLTREL), 17),
    "DT_VERSYM": (instead_of(DT_VERSYM), DT_DEBUG),
    "vd_version": (record(".gnu.version_d"), 2),
    "vn_version": (record(".gnu.version_r"), 2),
    "vd_version of the second record": (record(".gnu.version_d", 28), 2),
}
"""The file is not loaded at all."""

AWAY = 0x900000
DAMAGED: dict[str, tuple[Field, int]] = {
    "DT_RELA away": (dynamic(DT_RELA), AWAY),
    "DT_RELASZ too large": (dynamic(DT_RELASZ), AWAY),
    "DT_JMPREL away": (dynamic(DT_JMPREL), AWAY),
    "DT_PLTRELSZ of half an entry": (dynamic(DT_PLTRELSZ), 12),
    "DT_PLTGOT away": (dynamic(DT_PLTGOT), AWAY),
    "DT_INIT away": (dynamic(DT_INIT), AWAY),
    "DT_INIT_ARRAY away": (dynamic(DT_INIT_ARRAY), AWAY),
    "DT_INIT_ARRAYSZ too large": (dynamic(DT_INIT_ARRAYSZ), AWAY),
    "DT_FINI_ARRAY away": (dynamic(DT_FINI_ARRAY), AWAY),
    "relocation away": (word(".rela.dyn"), AWAY),
    "relocation of a header": (word(".rela.dyn"), 0x10),
    "relocation of a call away": (word(".rela.plt"), AWAY),
    "PT_DYNAMIC away": (segment_of_type(PT_DYNAMIC, 16), AWAY),
    "PT_GNU_RELRO away": (segment_of_type(PT_GNU_RELRO, 16), AWAY + 0xF00),
    "PT_TLS away": (segment_of_type(PT_TLS, 16), AWAY),
    "code cut": (segment(1, 32), 0x10),
    "data cut": (segment(3, 32), 0x10),
    "data that cannot be written": (segment(3, 4, "I"), 4),
}
"""The dynamic linker goes through what is not in memory, or the program does."""

BROKEN: dict[str, tuple[Field, int]] = {
    "hidden base version": (version_of("norm"), 0x8001),
    "hidden local version": (version_of("norm"), 0x8000),
    "version that another library has": (version_of("norm"), 3),
    "version that no table has": (version_of("norm"), 9),
    "hidden symbol": (of_symbol("norm", 5, "B"), 2),
    "undefined symbol": (of_symbol("norm", 6, "H"), 0),
    "absolute function": (of_symbol("norm", 6, "H"), 0xFFF1),
    "absolute variable": (of_symbol("table", 6, "H"), 0xFFF1),
    "function beyond the file": (of_symbol("norm", 8, "Q"), 0x900000),
    "function in data": (of_symbol("norm", 8, "Q"), 0x4000),
    "function in a segment that is not executable": (segment(1, 4, "I"), 4),
    "data in a segment that cannot be read": (segment(3, 4, "I"), 0),
    "symbol of a type of processors": (of_symbol("norm", 4, "B"), 0x1D),
    "thread-local variable beyond its segment": (of_symbol("own", 8, "Q"), 0x1000),
    "thread-local variable without a segment": (thread_segment, 0),
    "data without a size": (of_symbol("table", 16, "Q"), 0),
    "no hash table": (instead_of(DT_GNU_HASH), DT_DEBUG),
}
"""The program does not find a symbol, or finds something else."""

HARMLESS: dict[str, tuple[Field, int]] = {
    "e_flags": (at(0x30, "I"), 5),
    "e_entry": (at(0x18, "Q"), 5),
    "EI_OSABI of the GNU tools": (at(7), 3),
    "base version": (version_of("norm"), 1),
    "local version": (version_of("norm"), 0),
    "former version": (version_of("norm"), 0x8002),
    "code without a size": (of_symbol("norm", 16, "Q"), 0),
    "protected symbol": (of_symbol("norm", 5, "B"), 3),
    "reserved bits of st_other": (of_symbol("norm", 5, "B"), 0x80),
    "section that is reserved": (of_symbol("norm", 6, "H"), 0xFF05),
    "section of common symbols": (of_symbol("norm", 6, "H"), 0xFFF2),
    "DT_SYMENT": (dynamic(DT_SYMENT), 16),
    "DT_STRSZ of more": (dynamic(DT_STRSZ), 0x200),
    "p_align of three pages": (segment(1, 48), 0x3000),
    "p_align of 0": (segment(1, 48), 0),
}
"""The program runs as before."""

ALL = {**REFUSED, **DAMAGED, **BROKEN, **HARMLESS}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the library is for x86-64")
@pytest.mark.parametrize("name", ALL)
def test_a_program_does_what_the_table_says(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "program"
    folder.mkdir()
    program = linked(PROGRAM, library(), folder, *NO_PIE)
    assert (run(program, with_field(*ALL[name], tmp_path)) == (0, "3 4 5 7")) is (name in HARMLESS)


@pytest.mark.parametrize("name", [*REFUSED, *DAMAGED])
def test_what_the_dynamic_linker_refuses_breaks(name: str, tmp_path: Path) -> None:
    assert "file_refusal_added" in found(name, tmp_path)


@pytest.mark.parametrize("name", BROKEN)
def test_what_programs_do_not_find_breaks(name: str, tmp_path: Path) -> None:
    assert found(name, tmp_path)


@pytest.mark.parametrize("name", HARMLESS)
def test_what_programs_do_not_meet_is_no_break(name: str, tmp_path: Path) -> None:
    assert not found(name, tmp_path)


def found(name: str, folder: Path) -> set[str]:
    """The kinds by which another value of a field breaks."""
    old, new = (read_snapshot(path, ExtractOptions()) for path in (library(), with_field(*ALL[name], folder)))
    comparison = compare(old, new)
    breaking = {each.kind for each in comparison.findings if each.impact.name == "BREAKING"}
    assert bool(breaking) is (comparison.verdict is Verdict.BREAKING)
    return breaking
