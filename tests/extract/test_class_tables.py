"""What vtables and type information point to, read through dynamic relocations of any machine."""

from __future__ import annotations

import random
import shutil
import struct
from pathlib import Path

import pytest

from abistore.errors import InputError
from abistore.extract.capture import read_snapshot
from abistore.extract.class_tables import MOST_WORDS
from abistore.extract.elf.class_tables import CHUNK
from abistore.extract.elf.container import DT_RELR, DynamicSection, ElfFile
from abistore.extract.reader import ExtractOptions
from abistore.model.shapes import Symbol
from tests.build import build_library

SOURCE = """
struct Base { virtual int a(); virtual int b() = 0; int x; };
struct Derived : Base { int b() override; };
int Base::a() { return 1; }
int Derived::b() { return 2; }
extern "C" void __cxa_pure_virtual() {}
namespace __cxxabiv1 {
struct __class_type_info { virtual int one(); };
struct __si_class_type_info { virtual int two(); };
int __class_type_info::one() { return 1; }
int __si_class_type_info::two() { return 2; }
}
"""
FREE = ("-O1", "-nostdlib", "-Wl,--hash-style=both")
BUILDS = [
    ("g++", FREE),
    ("g++", (*FREE, "-Wl,-z,pack-relative-relocs")),
    ("g++", (*FREE, "-Wl,-Bsymbolic")),
    ("clang++", FREE),
    *((f"{machine}-linux-gnu-g++", FREE) for machine in ("i686", "aarch64", "s390x", "arm", "riscv64", "powerpc64le")),
    *((f"{machine}-linux-gnu-g++", (*FREE, "-Wl,-Bsymbolic")) for machine in ("i686", "aarch64", "s390x")),
]
BUILT = [each for each in BUILDS if shutil.which(each[0])]
TABLES = {
    "_ZTV4Base": ("", "", "_ZN4Base1aEv", "__cxa_pure_virtual"),
    "_ZTV7Derived": ("", "", "_ZN4Base1aEv", "_ZN7Derived1bEv"),
    "_ZTI7Derived": ("", "", "_ZTI4Base"),
}


def built(compiler: str = "g++", flags: tuple[str, ...] = FREE) -> Path:
    return build_library(SOURCE, language="c++", compiler=compiler, flags=flags)


def tables(path: Path) -> dict[str, tuple[str, ...]]:
    entries = read_snapshot(path, ExtractOptions(layout=False)).entries["symbol"]
    return {
        name.spelling: shape.table
        for name, shapes in entries.items()
        for shape in shapes
        if isinstance(shape, Symbol) and shape.table
    }


@pytest.mark.parametrize(("compiler", "flags"), BUILT)
def test_tables_tell_the_functions_and_the_bases_of_a_class(compiler: str, flags: tuple[str, ...]) -> None:
    found = tables(built(compiler, flags))
    assert {name: found[name] for name in TABLES} == TABLES
    assert "_ZTI4Base" not in found


def test_functions_that_are_not_exported_have_no_name() -> None:
    hidden = {"case.map": "{ global: _ZTV*; local: *; };"}
    flags = (*FREE, "-Wl,--version-script=case.map")
    path = build_library(SOURCE, language="c++", flags=flags, files=hidden)
    assert tables(path) == {}


def damaged(path: Path, tmp_path: Path, change: bytearray) -> Path:
    copy = tmp_path / path.name
    copy.write_bytes(change)
    return copy


def test_relocations_that_point_anywhere_give_a_snapshot_or_an_error(tmp_path: Path) -> None:
    for number, (compiler, flags) in enumerate(BUILT[:2]):
        path = built(compiler, flags)
        whole = path.read_bytes()
        elf = ElfFile(path)
        dynamic = DynamicSection.of(elf)
        assert dynamic is not None
        places = [elf.section(name) for name in (".rela.dyn", ".relr.dyn", ".rel.dyn")]
        starts = [whole.find(data) for data in places if data]
        chance = random.Random(number)
        for _ in range(60):
            change = bytearray(whole)
            for start in starts:
                for _ in range(4):
                    change[start + chance.randrange(48)] = chance.choice((0, 1, 0x7F, 0x80, 0xFF))
            try:
                tables(damaged(path, tmp_path, change))
            except InputError:
                continue


@pytest.mark.parametrize("size", [1 << 62, MOST_WORDS * 8 + 8, 7, 0])
def test_a_table_of_any_size_costs_what_a_large_one_costs(size: int, tmp_path: Path) -> None:
    path = built()
    change = bytearray(path.read_bytes())
    elf = ElfFile(path)
    (section,) = [each for each in elf.sections if each.name == ".dynsym"]
    for start in range(section.offset, section.offset + section.size, 24):
        if change[start + 4] & 15 == 1:  # an object
            change[start + 16 : start + 24] = struct.pack("<Q", size)
    found = tables(damaged(path, tmp_path, change))
    assert all(len(table) <= MOST_WORDS for table in found.values())


def test_a_relocation_table_of_any_size_is_one_that_is_not_there(tmp_path: Path) -> None:
    path = built("g++", (*FREE, "-Wl,-z,pack-relative-relocs"))
    change = bytearray(path.read_bytes())
    elf = ElfFile(path)
    (section,) = [each for each in elf.sections if each.name == ".dynamic"]
    for start in range(section.offset, section.offset + section.size, 16):
        tag, _ = struct.unpack_from("<qQ", change, start)
        if tag in (8, 35):  # the sizes of DT_RELA and DT_RELR
            struct.pack_into("<Q", change, start + 8, CHUNK << 40)
    assert tables(damaged(path, tmp_path, change)) == {}
    assert DT_RELR == 36
