from __future__ import annotations

import random
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from abistore.errors import AbistoreError, ExtractError
from abistore.extract.dwarf.encoding import malformed_is_an_error
from abistore.extract.dwarf.info import DebugInfo
from abistore.extract.dwarf.units import Unit
from abistore.extract.dwarf.walk import children
from abistore.extract.elf.container import ElfFile
from tests.draws import draws
from tests.extract.dwarf_samples import open_info, run, sample

pytestmark = pytest.mark.full

FLIPS = draws(2000)
BOUND = 5
"""Seconds of processor time that no damaged sample of a few kilobytes may take."""

BUILDS = {
    "gcc-5": ("g++", "-gdwarf-5"),
    "gcc-4-types": ("g++", "-gdwarf-4", "-fdebug-types-section"),
    "clang-5": ("clang++", "-gdwarf-5"),
    "clang-4": ("clang++", "-gdwarf-4"),
}


@contextmanager
def bounded() -> Iterator[None]:
    def late(number: int, frame: object) -> None:
        raise AssertionError("reading damaged debug information does not end")

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, BOUND)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def read_everything(path: Path) -> None:
    """Every entry of every unit with its scope and file: more than any extraction asks for."""
    with malformed_is_an_error(path.name):
        info = open_info(path)
        info.definitions("Point")
        for unit in info.units:
            with_scopes(info, unit)


def with_scopes(info: DebugInfo, unit: Unit) -> None:
    info.scan(unit)
    unit.load()
    pending = [unit.top] if unit.top < unit.limit else []
    for _ in range(2000):
        if not pending:
            return
        for handle, abbreviation, position in children(unit, pending.pop()):
            position, attributes = abbreviation.decode(unit.data, position, unit)
            info.scope(handle)
            info.file(unit, attributes.get(0x3A, 0))
            for value in attributes.values():
                if type(value) is int and value > 0 and value % 3 == 0:
                    try_reference(info, value)
            if abbreviation.has_children:
                pending.append(position)


def try_reference(info: DebugInfo, handle: int) -> None:
    try:
        with malformed_is_an_error("reference"):
            info.die(handle)
    except ExtractError:
        pass


@pytest.mark.parametrize("key", BUILDS)
def test_flipped_bits_in_debug_sections_give_a_result_or_an_error(key: str, tmp_path: Path) -> None:
    compiler, *flags = BUILDS[key]
    built = sample("-O2", *flags, compiler=compiler)
    elf = ElfFile(built)
    sections = [section for section in elf.sections if section.name.startswith(".debug_") and section.size]
    pristine = built.read_bytes()
    damaged = tmp_path / "damaged.so"
    chance = random.Random(20)
    outcomes = {"read": 0, "refused": 0}
    for number in range(FLIPS // len(BUILDS)):
        section = sections[number % len(sections)]
        data = bytearray(pristine)
        for _ in range(chance.choice((1, 1, 3))):
            data[section.offset + chance.randrange(section.size)] ^= 1 << chance.randrange(8)
        damaged.write_bytes(data)
        with bounded():
            try:
                read_everything(damaged)
                outcomes["read"] += 1
            except AbistoreError as error:
                assert error.message
                outcomes["refused"] += 1
    assert min(outcomes.values()) > 0, outcomes


@pytest.mark.parametrize("section", [".debug_info", ".debug_abbrev", ".debug_str", ".debug_aranges", ".debug_rnglists"])
@pytest.mark.parametrize("fill", [b"\0", b"\x80", b"\xff", b"\x01"])
def test_a_section_of_one_repeated_byte_gives_a_result_or_an_error(section: str, fill: bytes, tmp_path: Path) -> None:
    built = sample("-O2", "-gdwarf-5")
    found = next(candidate for candidate in ElfFile(built).sections if candidate.name == section)
    data = bytearray(built.read_bytes())
    data[found.offset : found.offset + found.size] = fill * found.size
    damaged = tmp_path / "damaged.so"
    damaged.write_bytes(data)
    with bounded():
        try_to_read(damaged)


def try_to_read(path: Path) -> None:
    try:
        read_everything(path)
    except ExtractError as error:
        assert path.name in error.message


@pytest.mark.parametrize("key", ["g++-split", "clang++-split", "package"])
def test_a_damaged_split_file_is_a_result_or_an_error(key: str, tmp_path: Path) -> None:
    compiler = "clang++" if key == "clang++-split" else "g++"
    built = sample("-O2", "-gdwarf-4", "-gsplit-dwarf", compiler=compiler)
    for file in built.parent.iterdir():
        shutil.copy(file, tmp_path)
    if key == "package":
        run("dwp", "-e", "libcase.so", "-o", "libcase.so.dwp", folder=tmp_path)
    (target,) = tmp_path.glob("*.dwp" if key == "package" else "*.dwo")
    if key == "package":
        next(tmp_path.glob("*.dwo")).unlink()
    pristine = target.read_bytes()
    chance = random.Random(7)
    for _ in range(150):
        data = bytearray(pristine)
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        target.write_bytes(data)
        with bounded():
            try_to_read(tmp_path / built.name)


def test_a_damaged_unit_does_not_hide_the_others(tmp_path: Path) -> None:
    built = sample("-O2", "-gdwarf-5", more=True)
    whole = open_info(built)
    first, second = whole.units
    section = next(candidate for candidate in ElfFile(built).sections if candidate.name == ".debug_info")
    data = bytearray(built.read_bytes())
    data[section.offset + second.position] = 0x7F
    damaged = tmp_path / "damaged.so"
    damaged.write_bytes(data)
    info = open_info(damaged)
    assert [reason for reason, _ in info.problems] == ["corrupt-debug-info"]
    assert {handle for _, _, handle in info.found} == {
        handle for _, _, handle in whole.found if first.handle <= handle < second.handle
    }
