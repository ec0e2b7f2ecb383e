"""Exports that the dynamic linker finds, and those that stand in the symbol table for nothing."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

import pytest

from abistore.errors import ExtractError
from abistore.extract.capture import read_snapshot
from abistore.extract.elf.container import DT_GNU_HASH, DT_HASH
from abistore.extract.elf.machines import elf_hash, gnu_hash
from abistore.extract.reader import ExtractOptions
from abistore.model.snapshot import NOT_FOUND_BY_LINKER, Evidence
from examples.obtain import require
from tests.build import build_library
from tests.extract.elf_fixtures import MACHINES, every_sort_of_symbol, without_section_headers
from tests.extract.unfindable import (
    ALL,
    SOURCE,
    Change,
    a_section,
    another_hash,
    another_name,
    another_version_hash,
    chains_of_one,
    changed,
    no_buckets,
    no_filter,
    no_old_buckets,
    nowhere,
    without,
)

pytestmark = pytest.mark.fast

TABLES_ONLY = ExtractOptions(layout=False)
STYLES = ("gnu", "sysv", "both")
VERSIONED = {"versions.map": "V1 { global: kept; lost; variable; local: *; };"}


def symbols(path: Path) -> Evidence:
    return read_snapshot(path, TABLES_ONLY).evidence_of("symbol")


def exports(path: Path) -> set[str]:
    entries = read_snapshot(path, TABLES_ONLY).entries["symbol"]
    return {name.spelling for name in entries if name.kind in ("function", "variable")}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("machine", MACHINES)
def test_all_exports_of_a_linked_library_are_found(machine: str, style: str) -> None:
    assert symbols(every_sort_of_symbol(machine, f"-Wl,--hash-style={style}")).state == "full"


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("linker", ["bfd", "gold", "lld"])
def test_so_they_are_whichever_linker_wrote_the_tables(linker: str, style: str) -> None:
    require(f"ld.{linker}", "lld" if linker == "lld" else "binutils")
    many = "".join(f"int function_{number}(void) {{ return {number}; }}\n" for number in range(300))
    flags = ("-O1", f"-fuse-ld={linker}", f"-Wl,--hash-style={style}")
    assert symbols(build_library(many, flags=flags)).state == "full"


@pytest.mark.parametrize("target", ["x86_64-linux-musl", "powerpc64-linux-musl", "mips-linux-musl"])
def test_so_they_are_with_musl_and_in_the_other_byte_order(target: str) -> None:
    built = build_library(SOURCE, compiler=f"zig cc -target {target}", flags=("-O1", "-nostdlib"))
    assert symbols(built).state == "full"


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("source", ["extern int needed(void);\n", "extern int needed(void); int f(void);\n"])
def test_a_library_without_exports_lacks_nothing(source: str, style: str) -> None:
    caller = source + "static int call(void) { return needed(); }\nint (*hidden)(void) __attribute__((visibility"
    built = build_library(f'{caller}("hidden"))) = call;\n', flags=("-O1", f"-Wl,--hash-style={style}"))
    assert symbols(built).state == "full"


@pytest.mark.parametrize("length", [0, 1, 7, 255, 256, 257, 5000])
def test_the_hash_is_that_of_the_loop_in_the_specification(length: int) -> None:
    name = bytes((index * 89 + length) % 255 + 1 for index in range(length))
    expected, expected_elf = 5381, 0
    for byte in name:
        expected = (expected * 33 + byte) & 0xFFFFFFFF
        expected_elf = ((expected_elf << 4) + byte) & 0xFFFFFFFF
        top = expected_elf & 0xF0000000
        expected_elf = (expected_elf ^ top >> 24) & ~top
    assert gnu_hash(name) == expected
    assert elf_hash(name) == expected_elf


# --- tables that lead elsewhere ---------------------------------------------------------------------------------------

ASK = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
ask = ctypes.CDLL(None).dlvsym
ask.restype, ask.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
print(*(name for name in sys.argv[2:] if ask(library._handle, name.encode(), b"V1")))
"""


def found_by_the_linker(path: Path, *names: str) -> set[str]:
    """What the dynamic linker of this system finds, of version V1."""
    asked = [sys.executable, "-c", ASK, path, *names]
    return set(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split())


CHANGES: dict[str, tuple[Change, str, set[str]]] = {
    "no bucket leads anywhere": (no_buckets, "gnu", set()),
    "the Bloom filter lets nothing pass": (no_filter, "gnu", set()),
    "one symbol has another hash": (another_hash, "gnu", {"kept", "variable"}),
    "one symbol has another name": (another_name, "gnu", {"kept", "variable"}),
    "no bucket of the only table of the old sort leads anywhere": (no_old_buckets, "sysv", set()),
    "one symbol has another name, in a table of the old sort": (another_name, "sysv", {"kept", "variable"}),
    "the table that linkers use leads nowhere, and another one does not": (no_buckets, "both", set()),
    "the version has another hash": (another_version_hash, "gnu", set()),
}


@pytest.mark.parametrize("sectionless", [False, True], ids=["", "sectionless"])
@pytest.mark.parametrize("what", CHANGES)
def test_what_the_dynamic_linker_does_not_find_is_no_export_and_is_told(
    what: str, sectionless: bool, tmp_path: Path
) -> None:
    change, style, expected = CHANGES[what]
    made = changed(change, style, tmp_path)
    assert found_by_the_linker(made, *ALL, "last") == expected
    if sectionless and what != "no bucket leads anywhere":
        made.write_bytes(without_section_headers(made.read_bytes()))
    assert exports(made) == expected
    evidence = symbols(made)
    assert (evidence.state, evidence.reason) == ("partial", NOT_FOUND_BY_LINKER)
    assert (evidence.described, evidence.expected) == (len(expected), 3)


def test_a_chain_that_ends_early_leads_to_no_more(tmp_path: Path) -> None:
    made = changed(chains_of_one, "gnu", tmp_path)
    found = found_by_the_linker(made, *ALL)
    assert 0 < len(found) < len(ALL)
    assert exports(made) == found


@pytest.mark.parametrize("change", [nowhere, a_section])
def test_what_the_dynamic_linker_passes_over_is_no_export(change: Change, tmp_path: Path) -> None:
    """Such symbols are ordinary: Rust has one in each library, for data that is not loaded."""
    made = changed(change, "gnu", tmp_path)
    assert found_by_the_linker(made, *ALL) == {"kept", "variable"} == exports(made)
    assert symbols(made).state == "full"


def test_a_library_without_a_hash_table_exports_nothing(tmp_path: Path) -> None:
    made = changed(without(DT_GNU_HASH), "gnu", tmp_path)
    assert found_by_the_linker(made, *ALL) == set() == exports(made)
    assert (
        symbols(made).detail
        == "3 symbols of the symbol table are not found by the dynamic linker: kept, lost, variable"
    )


def test_another_table_that_lacks_an_export_is_told(tmp_path: Path) -> None:
    made = changed(no_old_buckets, "both", tmp_path)
    assert found_by_the_linker(made, *ALL) == ALL == exports(made)
    evidence = symbols(made)
    assert (evidence.state, evidence.described, evidence.expected) == ("partial", 0, 3)
    assert (
        evidence.detail
        == "3 symbols of the symbol table are found by one of two hash tables only: kept, lost, variable"
    )


def test_the_table_of_the_old_sort_is_used_where_it_is_the_only_one(tmp_path: Path) -> None:
    made = changed(without(DT_GNU_HASH), "both", tmp_path)
    assert found_by_the_linker(made, *ALL) == ALL == exports(made)
    assert symbols(made).state == "full"
    made = changed(without(DT_HASH), "both", tmp_path)
    assert symbols(made).state == "full"


def test_a_segment_that_lies_over_another_one_is_refused(tmp_path: Path) -> None:
    """The loader lays it over the tables that are read here."""
    built = build_library(SOURCE, flags=("-O1", "-Wl,-z,separate-code"))
    data = bytearray(built.read_bytes())
    start, size = struct.unpack_from("<Q", data, 0x20)[0], 56
    loads = [at for at in range(start, start + size * data[0x38], size) if struct.unpack_from("<I", data, at)[0] == 1]
    made = tmp_path / built.name
    made.write_bytes(data)
    assert symbols(made).state == "full"
    struct.pack_into("<QQ", data, loads[2] + 16, 0x200, 0x200)
    made.write_bytes(data)
    with pytest.raises(ExtractError, match="two loaded segments overlap"):
        read_snapshot(made, TABLES_ONLY)
