"""What is read from the tables of DLLs, built by MinGW and by Clang and lld."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pefile
import pytest

from abistore.errors import ExtractError, UnknownFormat
from abistore.extract.capture import read_snapshot
from abistore.extract.files import InputFile
from abistore.extract.pe.container import PeFile
from abistore.extract.pe.symbols import read_exports, read_imports
from abistore.extract.reader import ExtractOptions, HeaderOptions
from abistore.model.declarations import SELF, Name
from abistore.model.labels import library_name
from abistore.model.shapes import Function, Import, Library, PeSymbol, Record, Symbol
from abistore.model.snapshot import Snapshot
from tests.extract.pe_fixtures import MINGW, mingw, msvc

pytestmark = pytest.mark.full

TABLES_ONLY = ExtractOptions(layout=False)

SHAPES = """
namespace geo {
struct Point { int x; long y; wchar_t z; virtual int norm() const; };
int Point::norm() const { return x; }
int area(const Point &point, unsigned long long scale) { return point.x + (int)scale; }
int counter = 3;
}
extern "C" int plain(geo::Point *point) { return point->x; }
"""

NUMBERED = "int first(void) { return 1; }\nint second(void) { return 2; }\nint third(void) { return 3; }\n"


def facts(path: Path) -> Library:
    found = read_snapshot(path, TABLES_ONLY).facts
    assert found is not None
    return found


def symbol(snapshot: Snapshot, spelling: str, kind: str = "function") -> Symbol:
    (shape,) = snapshot.variants("symbol", Name(kind, spelling))  # type: ignore[arg-type]
    assert isinstance(shape, Symbol)
    return shape


def test_exports_are_code_or_data_by_the_section_that_they_lie_in() -> None:
    snapshot = read_snapshot(mingw(SHAPES), TABLES_ONLY)
    assert symbol(snapshot, "plain").type == "function"
    assert symbol(snapshot, "_ZN3geo7counterE", "variable").type == "data"
    assert symbol(snapshot, "_ZTVN3geo5PointE", "variable").type == "data"


@pytest.mark.parametrize("machine", ["x86_64", "i386", "aarch64"])
def test_the_machine_is_called_as_on_other_systems(machine: str) -> None:
    target = read_snapshot(msvc(NUMBERED, machine=machine, link=("/export:first",), language="c"), TABLES_ONLY).target
    bits = 32 if machine == "i386" else 64
    assert (target.machine, target.bits, str(target)) == (machine, bits, f"pe-{machine}-{bits}-little")


def test_exports_and_imports_equal_those_of_pefile() -> None:
    path = mingw(SHAPES)
    oracle = pefile.PE(str(path))
    exports = {(each.name.decode(), each.ordinal, each.address) for each in oracle.DIRECTORY_ENTRY_EXPORT.symbols}
    imports = {
        (dll.dll.decode().lower(), each.name.decode()) for dll in oracle.DIRECTORY_ENTRY_IMPORT for each in dll.imports
    }
    pe = PeFile(path)
    assert {(each.name, each.ordinal, each.address) for each in read_exports(pe).exports} == exports
    assert {(dll.name, each) for dll in read_imports(pe) for each in dll.symbols} == imports
    names = [name for name in read_snapshot(path, TABLES_ONLY).entries["symbol"] if name.kind == "import"]
    assert {name.spelling for name in names} == {symbol for _, symbol in imports}


def test_an_imported_symbol_tells_its_dll_in_lower_case() -> None:
    (imported,) = read_snapshot(mingw(SHAPES), TABLES_ONLY).variants("symbol", Name("import", "GetLastError"))
    assert imported == Import(library="kernel32.dll")


def test_numbers_that_the_linker_chose_are_no_part_of_the_interface() -> None:
    snapshot = read_snapshot(mingw(NUMBERED, language="c"), TABLES_ONLY)
    assert symbol(snapshot, "second").ordinal is None


def test_numbers_that_the_author_chose_are_kept_and_exports_without_names_are_called_by_theirs() -> None:
    definition = "LIBRARY case\nEXPORTS\n first @7\n second @3 NONAME\n third @9\n"
    path = mingw(NUMBERED, "-g", "case.def", files={"case.def": definition}, language="c")
    snapshot = read_snapshot(path, TABLES_ONLY)
    assert (symbol(snapshot, "first").ordinal, symbol(snapshot, "third").ordinal) == (7, 9)
    assert symbol(snapshot, "#3") == Symbol("function", ordinal=3, pe=PeSymbol(behind=("second",)))
    assert snapshot.variants("symbol", Name("function", "second")) == ()


def test_a_forwarder_tells_what_stands_behind_it() -> None:
    path = msvc(NUMBERED, link=("/export:first", "/export:away=other.there"), language="c")
    away = symbol(read_snapshot(path, TABLES_ONLY), "away")
    assert (away.type, away.forwarded_to) == ("unknown", "other.there")


def test_a_name_that_pefile_cuts_off_is_read_whole() -> None:
    long = "f" * 1000
    path = mingw(f"int {long}(void) {{ return 1; }}", language="c")
    assert symbol(read_snapshot(path, TABLES_ONLY), long)
    assert [len(each.name) for each in pefile.PE(str(path)).DIRECTORY_ENTRY_EXPORT.symbols] == [512]


def test_hardening_follows_the_flags_of_the_headers() -> None:
    protected = facts(msvc(NUMBERED, link=("/export:first", "/guard:cf"), language="c"))
    exposed = ("/export:first", "/dynamicbase:no", "/nxcompat:no", "/highentropyva:no")
    assert {"ASLR", "DEP", "high-entropy ASLR"} <= set(protected.protections)
    assert facts(msvc(NUMBERED, link=exposed, language="c")).protections == ()


def test_a_section_that_is_writable_and_executable_is_a_weakness() -> None:
    path = msvc(NUMBERED, link=("/export:first", "/section:.text,RWE"), language="c")
    assert facts(path).weaknesses == ("a writable executable segment",)


def test_a_library_is_called_by_its_export_directory_without_the_version() -> None:
    snapshot = read_snapshot(mingw(NUMBERED, "-g", "-Wl,--kill-at", language="c"), TABLES_ONLY)
    library = snapshot.facts
    assert library is not None and library.pe is not None
    assert (snapshot.library, library.name, library.pe.subsystem) == ("case", "case.dll", "console")
    assert "kernel32.dll" in library.needed


@pytest.mark.parametrize(
    ("dll", "name"),
    [
        ("foo.dll", "foo"),
        ("libfoo-1.dll", "libfoo"),
        ("libglib-2.0-0.dll", "libglib-2.0"),
        ("libssl-3-x64.dll", "libssl"),
        ("MSVCP140.dll", "MSVCP140"),
        ("msvcp140-d64049c6e3865410a7dda6a7e9f0c575.dll", "msvcp140"),
        ("_core.cp311-win_amd64.pyd", "_core"),
        ("libz.so.1", "libz"),
    ],
)
def test_the_name_that_releases_of_a_dll_share(dll: str, name: str) -> None:
    assert library_name(dll) == name


# --- debug information --------------------------------------------------------------------------------------------


def test_the_dwarf_of_mingw_describes_exports_with_the_sizes_of_windows() -> None:
    snapshot = read_snapshot(mingw(SHAPES), ExtractOptions())
    (point,) = snapshot.variants("layout", Name("record", "geo::Point"))
    (area,) = snapshot.variants("layout", Name("function", "_ZN3geo4areaERKNS_5PointEy"))
    assert isinstance(point, Record) and isinstance(area, Function)
    sizes = {each.name: (each.offset, getattr(each.type, "size", 0)) for each in point.fields}
    assert sizes == {"x": (64, 4), "y": (96, 4), "z": (128, 2)}
    assert area.display == "geo::area"
    assert snapshot.evidence_of("layout").state == "full"


def test_a_debug_file_is_found_by_its_link_and_refused_when_it_is_of_another_build(tmp_path: Path) -> None:
    path, debug = tmp_path / "case.dll", tmp_path / "case.debug"
    path.write_bytes(mingw(SHAPES).read_bytes())
    subprocess.run([f"{MINGW}-objcopy", "--only-keep-debug", path, debug], check=True)
    subprocess.run([f"{MINGW}-strip", path], check=True)
    subprocess.run([f"{MINGW}-objcopy", f"--add-gnu-debuglink={debug}", path], check=True)
    seen = read_snapshot(path, ExtractOptions())
    assert (seen.evidence_of("layout").state, seen.evidence_of("layout").source) == ("full", "debuglink")
    debug.write_bytes(debug.read_bytes() + b"\0")
    assert read_snapshot(path, ExtractOptions()).evidence_of("layout").reason == "stale-debug-file"
    debug.unlink()
    assert read_snapshot(path, ExtractOptions()).evidence_of("layout").reason == "debug-file-missing"


@pytest.mark.parametrize("compiler", ["mingw", "msvc"])
def test_headers_join_by_the_name_that_the_compiler_of_the_dll_gives(tmp_path: Path, compiler: str) -> None:
    header = "namespace geo { struct P { int x; long y; wchar_t z; }; int area(const P &p, unsigned long long n); }"
    source = f"{header} int geo::area(const P &p, unsigned long long n) {{ return p.x; }}"
    symbol = {"mingw": "_ZN3geo4areaERKNS_1PEy", "msvc": "?area@geo@@YAHAEBUP@1@_K@Z"}[compiler]
    path = mingw(source, "-O1") if compiler == "mingw" else msvc(source, "-O1", link=(f"/export:{symbol}",))
    (tmp_path / "geo.h").write_text(header)
    snapshot = read_snapshot(path, ExtractOptions(headers=HeaderOptions(headers=(tmp_path,))))
    assert any(isinstance(each, Function) for each in snapshot.variants("source", Name("function", symbol)))
    (record,) = (each for each in snapshot.variants("source", Name("record", "geo::P")) if isinstance(each, Record))
    assert [each.offset for each in record.fields] == [0, 32, 64]


# --- what is refused ----------------------------------------------------------------------------------------------


def test_an_import_library_is_refused_by_its_name(tmp_path: Path) -> None:
    short = msvc(NUMBERED, link=("/export:first",), language="c").with_suffix(".lib")
    with pytest.raises(ExtractError, match="is an import library"):
        read_snapshot(short, TABLES_ONLY)
    long = mingw(NUMBERED, "-Wl,--out-implib,case.dll.a", language="c").with_suffix(".dll.a")
    with pytest.raises(ExtractError, match="is an import library"):
        read_snapshot(long, TABLES_ONLY)


def test_a_static_archive_of_windows_is_no_import_library(tmp_path: Path) -> None:
    path = msvc(NUMBERED, link=("/export:first",), language="c")
    subprocess.run(["llvm-ar", "cr", tmp_path / "case.lib", path.with_suffix(".obj")], check=True)
    with pytest.raises(ExtractError, match="is a static archive"):
        read_snapshot(tmp_path / "case.lib", TABLES_ONLY)


def test_an_executable_without_exports_and_an_object_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "case.c").write_text("int main(void) { return 0; }\n")
    program = tmp_path / "case.exe"
    subprocess.run([f"{MINGW}-gcc", tmp_path / "case.c", "-o", program], check=True)
    with pytest.raises(ExtractError, match="is an executable without exports"):
        read_snapshot(program, TABLES_ONLY)
    with pytest.raises(ExtractError, match="is a COFF object file"):
        read_snapshot(msvc(NUMBERED, link=("/export:first",), language="c").with_suffix(".obj"), TABLES_ONLY)


def test_a_program_of_dos_is_of_no_known_format(tmp_path: Path) -> None:
    (tmp_path / "case.exe").write_bytes(b"MZ" + bytes(200))
    with pytest.raises(UnknownFormat, match="not a PE file"):
        read_snapshot(tmp_path / "case.exe", TABLES_ONLY)


def test_an_export_directory_that_tells_of_too_much_is_refused(tmp_path: Path) -> None:
    data = bytearray(mingw(NUMBERED, language="c").read_bytes())
    with InputFile(mingw(NUMBERED, language="c")) as file:
        pe = PeFile(file)
        section = pe.section_at(pe.directory(0)[0])
    assert section is not None
    struct.pack_into("<I", data, section.offset + pe.directory(0)[0] - section.address + 20, 1 << 31)
    (tmp_path / "case.dll").write_bytes(data)
    with pytest.raises(ExtractError, match="export directory is corrupt"):
        read_snapshot(tmp_path / "case.dll", TABLES_ONLY)


def test_the_facts_of_the_file_stand_beside_its_symbols() -> None:
    snapshot = read_snapshot(mingw(SHAPES), TABLES_ONLY)
    assert isinstance(snapshot.entries["symbol"][SELF][0], Library)
    assert snapshot.provenance.reader == "pe"
