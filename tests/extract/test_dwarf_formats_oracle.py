from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from elftools.dwarf.die import DIE
from elftools.elf.elffile import ELFFile

from abistore.extract.dwarf import encoding as dw
from abistore.extract.dwarf.info import DebugInfo
from tests.build import build_library
from tests.extract.dwarf_samples import open_info, sample

RICH = """
#include <map>
#include <string>
#include <vector>
struct Odd { int a : 3; unsigned b : 5; alignas(32) char c; const volatile int *const d; int (*call)(int, ...); };
std::map<std::string, std::vector<Odd>> registry;
int count(const std::string &key) { return registry[key].size(); }
"""

SAMPLES = {
    "gcc-2": ("g++", "-gdwarf-2"),
    "gcc-3": ("g++", "-gdwarf-3"),
    "gcc-4": ("g++", "-gdwarf-4"),
    "gcc-5": ("g++", "-gdwarf-5"),
    "gcc-5-64": ("g++", "-gdwarf-5", "-gdwarf64"),
    "clang-4": ("clang++", "-gdwarf-4"),
    "clang-5": ("clang++", "-gdwarf-5"),
    "i686": ("i686-linux-gnu-g++", "-g"),
    "s390x": ("s390x-linux-gnu-g++", "-g"),
}

CODES = {f"dw_{name.lower()}": code for name, code in vars(dw).items() if name.startswith("AT_")}
CODES["dw_at_mips_linkage_name"] = dw.AT_LINKAGE_NAME

REFERENCES = frozenset({f"DW_FORM_{form}" for form in ("ref1", "ref2", "ref4", "ref8", "ref_udata")})
OFFSETS_OF_LISTS = frozenset({"DW_FORM_loclistx", "DW_FORM_rnglistx", "DW_FORM_sec_offset"})


@pytest.mark.parametrize("key", SAMPLES)
def test_every_entry_decodes_as_another_reader_decodes_it(key: str) -> None:
    compiler, *flags = SAMPLES[key]
    path = sample("-O2", *flags, compiler=compiler)
    assert_entries_agree(path)


def test_every_entry_of_the_standard_library_that_a_unit_includes_decodes_alike() -> None:
    """Large enough that hot abbreviations are decoded by generated code."""
    assert_entries_agree(build_library(RICH, language="c++", flags=["-g", "-O1"]))


def assert_entries_agree(path: Path) -> None:
    info = open_info(path)
    count = 0
    with path.open("rb") as stream:
        for unit in ELFFile(stream).get_dwarf_info().iter_CUs():
            for die in unit.iter_DIEs():
                if not die.is_null():
                    assert_entry_agrees(info, die)
                    count += 1
    assert count > 50


def assert_entry_agrees(info: DebugInfo, die: DIE) -> None:
    _, abbreviation, _, attributes = info.die(die.offset)
    assert abbreviation.has_children == die.has_children
    expected: dict[int, Any] = {}
    for name, value in die.attributes.items():
        code = CODES.get(name.lower()) if isinstance(name, str) else None
        if code in dw.KEPT and value.form not in OFFSETS_OF_LISTS:
            expected[code] = meaning(die, value)
    given = {code: value for code, value in attributes.items() if code in expected}
    assert given == expected, f"{die.tag} at {die.offset:#x}"
    assert set(attributes) - set(expected) <= {dw.AT_RANGES, dw.AT_LOCATION, dw.AT_IMPORT}


def meaning(die: DIE, attribute: Any) -> Any:
    value = attribute.value
    if attribute.form in REFERENCES:
        return value + die.cu.cu_offset
    if isinstance(value, list):
        return bytes(value)
    return int(value) if isinstance(value, bool) else value.decode() if isinstance(value, bytes) else value
