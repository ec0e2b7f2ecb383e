"""The symbol facet against nm, on this system's libraries and on libraries for seven machines."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from abistore.extract.capture import read_snapshot
from abistore.extract.elf.container import DynamicSection, ElfFile, is_noise
from abistore.extract.elf.reader import read_tables
from abistore.extract.files import InputFile
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from abistore.model.shapes import ElfSymbol, Import, Symbol
from abistore.model.snapshot_files import from_json, to_json
from examples.obtain import require
from tests.build import build_library
from tests.extract.elf_fixtures import MACHINES, every_sort_of_symbol, without_section_headers
from tests.extract.elf_oracles import nm_exports, nm_imports, run, snapshot_exports, snapshot_imports

TABLES_ONLY = ExtractOptions(layout=False)
SYSTEM = Path("/lib/x86_64-linux-gnu")
CLASS_DATA = ("_ZTV", "_ZTI", "_ZTS", "_ZTT")
NOISE = {"__bss_start", "_edata", "_end", "_init", "_fini"}


def system_libraries() -> list[Path]:
    paths = {path.resolve() for path in SYSTEM.glob("*.so*") if path.is_file()}
    return sorted(path for path in paths if InputFile(path).head[:4] == b"\x7fELF")


@pytest.mark.full
@pytest.mark.skipif(not SYSTEM.is_dir(), reason="no multiarch library folder here")
def test_exports_and_imports_of_every_system_library_equal_nm() -> None:
    libraries = system_libraries()
    exports, imports = nm_exports(libraries), nm_imports(libraries)
    assert len(libraries) > 5
    for library in libraries:
        snapshot = read_snapshot(library, TABLES_ONLY)
        found = snapshot_exports(snapshot)
        assert found <= exports[library], library
        assert {name for name, _, _ in exports[library] - found} <= NOISE, library
        assert snapshot_imports(snapshot) == imports[library], library


@pytest.mark.parametrize("machine", MACHINES)
def test_exports_and_imports_equal_nm_on_every_machine(machine: str) -> None:
    library = every_sort_of_symbol(machine)
    snapshot = read_snapshot(library, TABLES_ONLY)
    assert snapshot_exports(snapshot) == {
        item for item in nm_exports([library])[library] if item[0] not in ("_edata", "_init", "_fini")
    }
    assert snapshot_imports(snapshot) == nm_imports([library])[library]


@pytest.mark.parametrize("machine", MACHINES)
def test_each_sort_of_symbol_has_its_shape(machine: str) -> None:
    shapes = read_snapshot(every_sort_of_symbol(machine), TABLES_ONLY).entries["symbol"]

    plain = Symbol("function", version="V1")
    protected = ElfSymbol(protected=True)
    writable = ElfSymbol(read_only=False)
    assert shapes[Name("function", "plain")] == (plain,)
    assert shapes[Name("function", "twin")] == (plain,)
    assert shapes[Name("function", "feeble")] == (replace(plain, weak=True),)
    assert shapes[Name("function", "guarded")] == (replace(plain, elf=protected),)
    former = replace(plain, default=False, elf=ElfSymbol(own_place=True))
    assert set(shapes[Name("function", "shaped")]) == {former, replace(plain, version="V2")}
    assert shapes[Name("variable", "data")] == (Symbol("data", size=24, version="V2", elf=writable),)
    assert shapes[Name("variable", "tentative")] == (Symbol("data", size=10, version="V2", elf=writable),)
    assert shapes[Name("variable", "thread_local_one")] == (Symbol("thread_local", size=4, version="V2"),)
    assert shapes[Name("import", "elsewhere")] == (Import(weak=False),)
    assert shapes[Name("import", "maybe")] == (Import(weak=True),)
    spellings = {name.spelling for name in shapes}
    assert spellings.isdisjoint({"hidden", "local", "old_shape", "V1", "V2", "_edata"})


@pytest.mark.parametrize("machine", MACHINES)
def test_the_address_index_equals_nm(machine: str) -> None:
    library = every_sort_of_symbol(machine)
    exports = read_tables(ElfFile(library)).exports
    addresses: dict[int, set[str]] = {}
    for line in run("nm", "-D", "--defined-only", "--without-symbol-versions", library).splitlines():
        address, letter, name = line.split()
        if letter != "A" and name not in NOISE and not name.startswith("thread_local"):
            thumb = machine == "armhf" and letter in "TW"
            addresses.setdefault(int(address, 16) & ~thumb, set()).add(name)
    found = {at: tuple(exports.versions.get(name, name) for name in names) for at, names in exports.by_address.items()}
    assert found == {address: tuple(sorted(names)) for address, names in addresses.items()}
    assert exports.versions == {"shaped@V1": "shaped"}
    assert ("plain", "twin") in exports.by_address.values()
    assert sorted(sum(exports.tls_by_offset.values(), ())) == ["thread_local_one", "thread_local_two"]
    assert 0 in exports.tls_by_offset
    assert exports.kinds["data"] == "variable"
    assert exports.kinds["plain"] == "function"


@pytest.mark.full
def test_the_thumb_bit_is_no_part_of_an_address() -> None:
    library = build_library(
        "int plain(int a) { return a; }", compiler=MACHINES["armhf"], flags=("-mthumb", "-nostdlib"), name="libthumb.so"
    )
    symbol = next(line for line in run("readelf", "--dyn-syms", "-W", library).splitlines() if "plain" in line)
    raw = int(symbol.split()[1], 16)
    assert raw & 1
    assert read_tables(ElfFile(library)).exports.by_address == {raw - 1: ("plain",)}


def test_an_ifunc_is_exported_and_its_resolver_is_not_taken_for_it() -> None:
    source = """
    static int one(void) { return 1; }
    static int (*choose(void))(void) { return one; }
    int chosen(void) __attribute__((ifunc("choose")));
    """
    library = build_library(source, flags=("-O1",))
    tables = read_tables(ElfFile(library))
    assert tables.entries[Name("function", "chosen")] == (Symbol("function", elf=ElfSymbol(chosen_at_load=True)),)
    assert tables.exports.kinds == {"chosen": "function"}
    assert not tables.exports.by_address


def test_unique_symbols_and_class_data_have_their_sizes() -> None:
    source = """
    struct Base { virtual ~Base(); virtual int f(); };
    struct Derived : virtual Base { int f() override; };
    Base::~Base() {} int Base::f() { return 1; } int Derived::f() { return 2; }
    template <class T> struct Counter { static int count; };
    template <class T> int Counter<T>::count = 0;
    int use() { return Counter<int>::count++; }
    """
    library = build_library(source, language="c++", flags=("-O1",))
    shapes = read_snapshot(library, TABLES_ONLY).entries["symbol"]
    unique = ElfSymbol(unique=True, read_only=False)
    assert shapes[Name("variable", "_ZN7CounterIiE5countE")] == (Symbol("data", size=4, elf=unique),)
    sizes = {
        name.spelling: shape.size
        for name, (shape, *_) in shapes.items()
        if isinstance(shape, Symbol) and name.spelling.startswith(CLASS_DATA)
    }
    listed = [line.split() for line in run("nm", "-D", "-S", "--defined-only", library).splitlines() if "_ZT" in line]
    assert sizes == {row[3]: int(row[1], 16) for row in listed if row[3].startswith(CLASS_DATA)}
    assert {name[:4] for name in sizes} == set(CLASS_DATA)


def test_assembler_symbols_without_a_type_are_functions_in_code_and_variables_elsewhere() -> None:
    source = """
    __asm__(".text\\n.globl entry_point\\nentry_point: ret\\n"
            ".data\\n.globl blob\\n.size blob,4\\nblob: .long 1\\n.text");
    """
    shapes = read_snapshot(build_library(source, flags=()), TABLES_ONLY).entries["symbol"]
    assert shapes[Name("function", "entry_point")] == (Symbol("unknown"),)
    assert shapes[Name("variable", "blob")] == (Symbol("unknown", size=4),)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_file_without_section_headers_gives_the_same_symbols(machine: str, tmp_path: Path) -> None:
    library = every_sort_of_symbol(machine)
    stripped = tmp_path / library.name
    stripped.write_bytes(without_section_headers(library.read_bytes()))
    assert ElfFile(stripped).sections == ()
    assert read_snapshot(stripped, TABLES_ONLY).entries == read_snapshot(library, TABLES_ONLY).entries


@pytest.mark.parametrize("style", ["sysv", "gnu"])
def test_either_hash_table_tells_the_number_of_symbols(style: str, tmp_path: Path) -> None:
    library = every_sort_of_symbol("x86_64", f"-Wl,--hash-style={style}")
    stripped = tmp_path / library.name
    stripped.write_bytes(without_section_headers(library.read_bytes()))
    assert snapshot_exports(read_snapshot(stripped, TABLES_ONLY)) == snapshot_exports(
        read_snapshot(library, TABLES_ONLY)
    )


def test_linker_made_places_are_noise_only_while_they_are_bare() -> None:
    assert is_noise("_end", typed=False, entry=False)
    assert is_noise("$d.12", typed=False, entry=False)
    assert is_noise("$x", typed=False, entry=False)
    assert not is_noise("end", typed=True, entry=False)
    assert not is_noise("$value", typed=True, entry=False)
    assert is_noise("_init", typed=True, entry=True)
    assert not is_noise("_init", typed=True, entry=False)


def test_a_function_called_like_a_linker_made_place_is_an_export() -> None:
    library = build_library("int end(void) { return 1; } int edata = 4;", flags=("-O1",))
    assert snapshot_exports(read_snapshot(library, TABLES_ONLY)) == {("end", None, True), ("edata", None, True)}


def test_data_copied_from_another_library_is_no_export_of_an_executable(tmp_path: Path) -> None:
    source = '#include <stdio.h>\nint offered(void) { return 1; } int main(void) { fputs("", stderr); return 0; }'
    (tmp_path / "case.c").write_text(source)
    run("gcc", "-no-pie", "-fno-pic", "-rdynamic", tmp_path / "case.c", "-o", tmp_path / "case")
    shapes = read_snapshot(tmp_path / "case", TABLES_ONLY).entries["symbol"]
    assert {name.spelling for name in shapes if name.kind in ("function", "variable")} == {"main", "offered"}


def test_a_static_file_has_no_dynamic_section(tmp_path: Path) -> None:
    (tmp_path / "case.c").write_text("void _start(void) { for (;;); }")
    run("gcc", "-static", "-nostdlib", tmp_path / "case.c", "-o", tmp_path / "case")
    assert DynamicSection.of(ElfFile(tmp_path / "case")) is None


def test_a_name_that_is_not_utf_8_is_spelled_in_escapes(tmp_path: Path) -> None:
    data = every_sort_of_symbol("x86_64").read_bytes()
    renamed = b"\0fed\x83le\0"  # of the same GNU hash, so that it is found
    (tmp_path / "libcase.so").write_bytes(data.replace(b"\0feeble\0", renamed))
    snapshot = read_snapshot(tmp_path / "libcase.so", TABLES_ONLY)
    assert Name("function", "fed\\x83le") in snapshot.entries["symbol"]
    assert snapshot.evidence_of("symbol").state == "full"
    assert from_json(to_json(snapshot)) == snapshot


@pytest.mark.parametrize("linker", ["bfd", "gold", "lld"])
def test_every_linker_gives_the_same_exports(linker: str, tmp_path: Path) -> None:
    require(f"ld.{linker}", "lld" if linker == "lld" else "binutils")
    library = every_sort_of_symbol("x86_64", f"-fuse-ld={linker}")
    found = snapshot_exports(read_snapshot(library, TABLES_ONLY))
    assert found == snapshot_exports(read_snapshot(every_sort_of_symbol("x86_64"), TABLES_ONLY))
    assert found == {item for item in nm_exports([library])[library] if item[0] not in NOISE}
    stripped = tmp_path / library.name
    stripped.write_bytes(without_section_headers(library.read_bytes()))
    assert read_snapshot(stripped, TABLES_ONLY).entries == read_snapshot(library, TABLES_ONLY).entries
