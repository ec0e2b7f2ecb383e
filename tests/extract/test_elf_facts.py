"""The facts of the whole file against pyelftools and readelf."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerDefSection, GNUVerNeedSection

from abistore.extract.capture import read_snapshot
from abistore.extract.elf.container import ElfFile
from abistore.extract.elf.machines import target_of
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import SELF
from abistore.model.shapes import Library
from abistore.service.declarations import Hardening, facts_of
from tests.build import build_library
from tests.extract.elf_fixtures import MACHINES, every_sort_of_symbol
from tests.extract.elf_oracles import run
from tests.extract.test_elf_symbols import SYSTEM, TABLES_ONLY, system_libraries


@cache
def facts(path: Path) -> Library:
    """What the library says of itself; several tests ask it of all libraries of the system."""
    (shape,) = read_snapshot(path, TABLES_ONLY).entries["symbol"][SELF]
    assert isinstance(shape, Library)
    return shape


def oracle(path: Path) -> dict[str, Any]:
    """The same facts as pyelftools reads them from the section table."""
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        found: dict[str, Any] = {
            "needed": (),
            "soname": None,
            "rpath": (),
            "runpath": (),
            "defined": (),
            "required": (),
        }
        for section in elf.iter_sections():
            if isinstance(section, DynamicSection):
                for tag in section.iter_tags():
                    match tag.entry.d_tag:
                        case "DT_NEEDED":
                            found["needed"] += (tag.needed,)
                        case "DT_SONAME":
                            found["soname"] = tag.soname
                        case "DT_RPATH":
                            found["rpath"] = tuple(tag.rpath.split(":"))
                        case "DT_RUNPATH":
                            found["runpath"] = tuple(tag.runpath.split(":"))
            elif isinstance(section, GNUVerDefSection):
                names = [
                    next(iter(auxiliary)).name
                    for version, auxiliary in section.iter_versions()
                    if not version.entry.vd_flags & 1
                ]
                found["defined"] = tuple(sorted(names))
            elif isinstance(section, GNUVerNeedSection):
                pairs = {
                    (version.name, one.name) for version, auxiliary in section.iter_versions() for one in auxiliary
                }
                found["required"] = tuple(sorted(pairs))
    return found


@pytest.mark.skipif(not SYSTEM.is_dir(), reason="no multiarch library folder here")
def test_dynamic_facts_of_system_libraries_equal_pyelftools() -> None:
    for path in system_libraries()[::2]:
        found, expected = facts(path), oracle(path)
        assert (found.name, found.needed) == (expected["soname"], expected["needed"]), path
        assert (found.on_elf.rpath, found.search_paths) == (expected["rpath"], expected["runpath"]), path
        assert found.on_elf.version_definitions == expected["defined"], path
        assert found.on_elf.version_requirements == expected["required"], path


@pytest.mark.skipif(not SYSTEM.is_dir(), reason="no multiarch library folder here")
def test_build_ids_of_system_libraries_equal_readelf() -> None:
    paths = system_libraries()[::2]
    expected: dict[str, str] = {}
    file = str(paths[0])
    for line in run("readelf", "-n", "-W", *paths).splitlines():
        if line.startswith("File: "):
            file = line[6:]
        elif "Build ID: " in line:
            expected[file] = line.split()[-1]
    assert {str(path): ElfFile(path).build_id for path in paths if ElfFile(path).build_id} == expected


def readelf_blocks(*arguments: object) -> dict[str, str]:
    """The output of readelf for several files, by file."""
    blocks = run("readelf", "-W", *arguments).split("\nFile: ")
    return {file: text for file, _, text in (block.partition("\n") for block in blocks if block.startswith("/"))}


@pytest.mark.skipif(not SYSTEM.is_dir(), reason="no multiarch library folder here")
def test_hardening_of_system_libraries_equals_readelf() -> None:
    paths = system_libraries()[::2]
    blocks = readelf_blocks("-l", "-d", "-n", *paths)
    assert len(blocks) == len(paths)
    for path in paths:
        text, found = blocks[str(path)], hardening(facts(path))
        now = "BIND_NOW" in text or re.search(r"\(FLAGS_1\).*NOW", text) is not None
        assert found.bind_now == now, path
        assert found.relro == ("none" if "GNU_RELRO" not in text else "full" if now else "partial"), path
        assert found.executable_stack == (re.search(r"GNU_STACK .* RW  ", text) is None), path
        assert found.writable_executable_segment == (re.search(r"LOAD .* RWE ", text) is not None), path
        assert found.text_relocations == ("TEXTREL" in text), path
        assert found.branch_protection == tuple(name for name in ("IBT", "SHSTK") if f" {name}" in text), path
        assert ("DT_RELR" in facts(path).features) == ("(RELR)" in text), path


@pytest.mark.parametrize("machine", MACHINES)
def test_each_machine_has_its_target(machine: str) -> None:
    target = read_snapshot(every_sort_of_symbol(machine), TABLES_ONLY).target
    assert target.machine == machine
    assert target.bits == (32 if machine in ("i386", "armhf") else 64)
    assert target.endianness == ("big" if machine == "s390x" else "little")
    assert target.os_abi == "sysv"


@pytest.mark.parametrize(
    ("built_for", "machine", "flags", "name"),
    [
        ("armhf", 40, 0x5000400, "armhf"),
        ("armhf", 40, 0x5000200, "arm"),
        ("armhf", 40, 0x5000000, "arm"),
        ("armhf", 40, 0x4, "arm-oabi"),
        ("i386", 62, 0, "x32"),
        ("i386", 8, 0x70001007, "mips"),
        ("i386", 8, 0x20, "mipsn32"),
        ("x86_64", 8, 0x60000007, "mips64"),
        ("x86_64", 8, 0xA0000407, "mips64r6-nan2008"),
        ("i386", 183, 0, "aarch64-ilp32"),
        ("x86_64", 243, 0x5, "riscv64"),
        ("x86_64", 243, 0x1, "riscv64-softfloat"),
        ("i386", 243, 0x3, "riscv32-singlefloat"),
        ("x86_64", 258, 0x43, "loongarch64"),
        ("x86_64", 258, 0x41, "loongarch64-softfloat"),
        ("s390x", 21, 1, "ppc64"),
        ("s390x", 21, 2, "ppc64-elfv2"),
        ("i386", 22, 0, "s390"),
        ("x86_64", 0x9026, 0, "alpha"),
        ("x86_64", 60_000, 0, "machine-60000"),
    ],
)
def test_abis_that_cannot_be_mixed_are_different_targets(
    built_for: str, machine: int, flags: int, name: str, tmp_path: Path
) -> None:
    data = bytearray(every_sort_of_symbol(built_for).read_bytes())
    order: Literal["big", "little"] = "big" if built_for == "s390x" else "little"
    data[18:20] = machine.to_bytes(2, order)
    at = 36 if data[4] == 1 else 48
    data[at : at + 4] = flags.to_bytes(4, order)
    (tmp_path / "libcase.so").write_bytes(data)
    assert target_of(ElfFile(tmp_path / "libcase.so")).machine == name


@pytest.mark.parametrize("machine", MACHINES)
def test_library_facts_are_read_on_every_machine(machine: str) -> None:
    library = facts(every_sort_of_symbol(machine))
    assert (library.file_kind, library.name) == ("shared", "libsorts.so.3")
    assert library.on_elf.version_definitions == ("V1", "V2")


@pytest.mark.parametrize("machine", MACHINES)
def test_every_section_equals_pyelftools(machine: str) -> None:
    path = every_sort_of_symbol(machine, "-g", "-gz=zlib")
    elf = ElfFile(path)
    with path.open("rb") as stream:
        sections = list(ELFFile(stream).iter_sections())
        assert [section.name for section in elf.sections] == [section.name for section in sections]
        for ours, theirs in zip(elf.sections, sections, strict=True):
            if theirs.header.sh_type != "SHT_NOBITS":
                assert elf.contents(ours) == theirs.data(), ours.name
    assert elf.has(".debug_info")


def hardening(library: Library) -> Hardening:
    found = facts_of(library, elf=True).hardening
    assert found is not None
    return found


def build(*flags: str, source: str = "int f(void) { return 1; }") -> Library:
    return facts(build_library(source, flags=("-O1", *flags)))


def test_relro_and_immediate_binding() -> None:
    lazy = hardening(build("-Wl,-z,relro,-z,lazy"))
    assert (lazy.relro, lazy.bind_now) == ("partial", False)
    now = hardening(build("-Wl,-z,relro,-z,now"))
    assert (now.relro, now.bind_now) == ("full", True)
    none = hardening(build("-Wl,-z,norelro,-z,lazy"))
    assert (none.relro, none.bind_now) == ("none", False)


def test_an_executable_stack_is_seen_where_the_linker_made_one() -> None:
    assert not hardening(build("-Wl,-z,noexecstack")).executable_stack
    assert hardening(build("-Wl,-z,execstack")).executable_stack
    assert not hardening(build()).writable_executable_segment


def test_a_writable_code_segment_is_seen(tmp_path: Path) -> None:
    data = bytearray(every_sort_of_symbol("x86_64").read_bytes())
    table = int.from_bytes(data[32:40], "little")
    data[table + 4] = 7  # p_flags of the first segment, which is loaded
    (tmp_path / "libcase.so").write_bytes(data)
    assert hardening(facts(tmp_path / "libcase.so")).writable_executable_segment


def test_canary_and_fortify_show_by_what_is_called() -> None:
    source = """
    #include <string.h>
    #include <stdio.h>
    void g(char *);
    int f(const char *text) { char buffer[32]; strcpy(buffer, text); g(buffer); return buffer[0]; }
    """
    plain = hardening(build("-O2", "-fno-stack-protector", "-U_FORTIFY_SOURCE", source=source))
    assert not plain.stack_canary
    assert not plain.fortify
    canary = hardening(build("-O2", "-fstack-protector-all", "-U_FORTIFY_SOURCE", source=source))
    assert canary.stack_canary
    assert not canary.fortify
    fortified = hardening(build("-O2", "-fno-stack-protector", "-D_FORTIFY_SOURCE=2", source=source))
    assert fortified.fortify
    assert not fortified.stack_canary


@pytest.mark.full
def test_branch_protection_notes_of_two_machines() -> None:
    assert hardening(build("-nostdlib", "-fcf-protection=full")).branch_protection == ("IBT", "SHSTK")
    assert hardening(build("-nostdlib", "-fcf-protection=none")).branch_protection == ()
    arm = build_library(
        "int f(void) { return 1; }",
        compiler=MACHINES["aarch64"],
        flags=("-nostdlib", "-mbranch-protection=standard", "-Wl,-z,force-bti"),
    )
    assert hardening(facts(arm)).branch_protection == ("BTI",) or hardening(facts(arm)).branch_protection == (
        "BTI",
        "PAC",
    )


@pytest.mark.full
def test_text_relocations_and_packed_relocations() -> None:
    source = "extern int elsewhere; int *f(void) { return &elsewhere; }"
    path = build_library(source, compiler=MACHINES["i386"], flags=("-fno-pic", "-Wl,-z,notext", "-nostdlib"))
    assert hardening(facts(path)).text_relocations
    table = "static int a, b; int *table[] = { &a, &b, &a };"
    assert "DT_RELR" in build("-nostdlib", "-Wl,-z,pack-relative-relocs", source=table).features
    assert "DT_RELR" not in build("-nostdlib", source=table).features


def test_loader_flags_are_features() -> None:
    flagged = build("-Wl,-z,nodelete,-z,initfirst,-Bsymbolic,-z,origin", "-Wl,-F,libreal.so.1")
    assert flagged.features == (
        "DF_1_INITFIRST",
        "DF_1_NODELETE",
        "DF_1_ORIGIN",
        "DF_ORIGIN",
        "DF_SYMBOLIC",
        "DT_FILTER libreal.so.1",
    )
    tls = "static _Thread_local int one; int *f(void) { return &one; }"
    assert build("-ftls-model=initial-exec", source=tls).features == ("STATIC_TLS",)
    assert build("-Wl,-z,x86-64-v3").features == ("x86-64-v3",)


def test_search_paths_are_split_in_their_order() -> None:
    assert build("-Wl,--enable-new-dtags,-rpath,/b:/a").search_paths == ("/b", "/a")
    assert build("-Wl,--disable-new-dtags,-rpath,/b:/a").on_elf.rpath == ("/b", "/a")


def test_the_caller_may_name_library_and_version() -> None:
    path = every_sort_of_symbol("x86_64")
    snapshot = read_snapshot(path, ExtractOptions(layout=False, library="mine", version="1.2"))
    assert (snapshot.library, snapshot.version) == ("mine", "1.2")
    assert snapshot.provenance.file == "libsorts.so"
    assert snapshot.provenance.sha256 == run("sha256sum", path).split()[0]


def test_a_gnu_os_abi_is_the_same_target_as_sysv() -> None:
    unique = build_library(
        "template <class T> struct S { static int n; }; template <class T> int S<T>::n; int f() { return S<int>::n; }",
        language="c++",
    )
    assert ElfFile(unique).os_abi == 3
    assert (
        read_snapshot(unique, TABLES_ONLY).target == read_snapshot(every_sort_of_symbol("x86_64"), TABLES_ONLY).target
    )


def test_executables_are_told_from_libraries_that_can_be_run(tmp_path: Path) -> None:
    (tmp_path / "case.c").write_text("int offered(void) { return 1; } int main(void) { return 0; }")
    run("gcc", "-pie", "-fPIE", "-rdynamic", tmp_path / "case.c", "-o", tmp_path / "pie")
    run("gcc", "-no-pie", "-rdynamic", tmp_path / "case.c", "-o", tmp_path / "fixed")
    assert facts(tmp_path / "pie").file_kind == "executable"
    assert facts(tmp_path / "fixed").file_kind == "executable"
    assert facts(SYSTEM / "libc.so.6").file_kind == "shared"
