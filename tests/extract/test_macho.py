"""Tests of what the tables of a Mach-O file tell."""

from __future__ import annotations

import re
import struct
import subprocess
from pathlib import Path

import pytest

from abistore.errors import ExtractError, InputError, UnknownFormat
from abistore.extract.capture import only, read_snapshot
from abistore.extract.reader import ExtractOptions, HeaderOptions
from abistore.model.declarations import Name
from abistore.model.shapes import MachoLibrary, Record, Variable
from abistore.model.snapshot_files import from_json, to_json
from tests.extract import macho_fixtures as macho
from tests.extract.macho_fixtures import ARM, INTEL, build_dylib, dylib_command, exports, imports, library, snapshot

pytestmark = pytest.mark.full

C_SOURCE = """
int puts(const char *);
int optional(void) __attribute__((weak_import));
_Thread_local int per_thread = 4;
int table[10] = {1};
const char title[] = "case";
static int own;
int *get(void) { puts("x"); return &own; }
int use(void) { return per_thread + (optional ? 1 : 0); }
__attribute__((weak)) int replaceable(void) { return 1; }
__attribute__((visibility("hidden"))) int hidden(void) { return 2; }
"""

CPP_SOURCE = """
namespace geo {
struct Point { virtual ~Point(); virtual int norm() const; int x, y; };
Point::~Point() {}
int Point::norm() const { return x * x + y * y; }
}
extern "C" int plain() { return 1; }
"""


@pytest.mark.parametrize("target", [ARM, INTEL])
def test_exports_have_the_names_and_sorts_of_other_platforms(target: str) -> None:
    path = build_dylib(C_SOURCE, target=target, flags=("-O1", "-Wl,-undefined,dynamic_lookup"))
    found = exports(snapshot(path))
    assert {name: symbol.type for name, symbol in found.items()} == {
        **{"get": "function", "use": "function", "replaceable": "function"},
        **{"per_thread": "thread_local", "table": "data", "title": "data"},
    }
    assert [name for name, symbol in found.items() if symbol.weak] == ["replaceable"]
    assert {name.kind for name in snapshot(path).entries["symbol"] if name.spelling == "table"} == {"variable"}


@pytest.mark.parametrize("language", ["c", "c++"])
def test_exported_names_equal_those_that_llvm_finds_in_the_trie(language: str) -> None:
    source = C_SOURCE if language == "c" else CPP_SOURCE
    path = build_dylib(source, language=language, flags=("-O1", "-Wl,-undefined,dynamic_lookup"))
    said = subprocess.run(
        ["llvm-objdump", "--macho", "--exports-trie", str(path)], check=True, capture_output=True, text=True
    ).stdout
    names = set(re.findall(r"^0x\w+ +_(\S+)", said, re.MULTILINE))
    assert set(exports(snapshot(path))) == names - {"_mh_dylib_header", "__dso_handle"}


def test_cpp_names_are_those_of_linux() -> None:
    found = exports(snapshot(build_dylib(CPP_SOURCE, language="c++", flags=("-O1",))))
    assert {"_ZN3geo5PointD1Ev", "_ZNK3geo5Point4normEv", "_ZTVN3geo5PointE", "plain"} <= set(found)
    assert found["_ZTVN3geo5PointE"].type == "data"


def test_imports_tell_their_library() -> None:
    found = imports(snapshot(build_dylib(C_SOURCE, flags=("-O1", "-Wl,-undefined,dynamic_lookup"))))
    assert found["puts"].library == "/usr/lib/libSystem.B.dylib"
    assert found["optional"].library is None
    assert found["optional"].weak


def test_the_size_of_data_reaches_to_the_next_symbol() -> None:
    found = exports(snapshot(build_dylib(C_SOURCE, flags=("-O1", "-Wl,-undefined,dynamic_lookup"))))
    symbol = found["table"]
    padding = symbol.macho.padding if symbol.macho else 0
    assert symbol.size - padding <= 40 <= symbol.size


def test_the_size_of_a_constant_is_unknown() -> None:
    """Behind it may lie what has no symbol: here the values that ``fill`` chooses from."""
    source = """
    const int first = 1;
    void fill(int *at) {
        int some[8] = {5, 1, 2, 9, 4, 3, 6, 7};
        for (int i = 0; i < 16; i++) at[i] = some[at[i] & 7];
    }
    const int last[2] = {1, 2};
    """
    found = exports(snapshot(build_dylib(source, flags=("-O1", "-Wl,-undefined,dynamic_lookup"))))
    assert {found[name].size for name in ("first", "last")} == {0}


def test_without_local_symbols_the_size_of_data_is_unknown() -> None:
    path = build_dylib("int first[4] = {1}; int second[8] = {1};", flags=("-O1", "-Wl,-x", "-Wl,-S"))
    data = bytearray(path.read_bytes())
    assert {symbol.size for symbol in exports(snapshot(path)).values()} <= {0, 16, 32, 48}
    stripped = path.with_name("stripped.dylib")
    stripped.write_bytes(bytes(data))
    subprocess.run(["llvm-strip", "-x", str(stripped)], check=True)
    assert {symbol.size for symbol in exports(snapshot(stripped)).values()} == {0}


def test_install_name_and_versions() -> None:
    flags = ("-O1", "-Wl,-current_version,1.4.2", "-Wl,-compatibility_version,1.2.0", "-Wl,-rpath,@loader_path/lib")
    found = snapshot(build_dylib("int f(void) { return 1; }", flags=flags))
    facts = library(found)
    assert (found.library, facts.name, facts.compatibility_version) == ("libcase", "@rpath/libcase.1.dylib", "1.2")
    assert found.provenance.product_version == "1.4.2"
    assert facts.search_paths == ("@loader_path/lib",)
    assert facts.needed == ("/usr/lib/libSystem.B.dylib",)
    assert facts.macho is not None and facts.macho.minimum_os is not None
    assert str(found.target) == "macho-aarch64-64-little"
    assert from_json(to_json(found)) == found


def test_a_snapshot_for_each_architecture_of_a_universal_file(tmp_path: Path) -> None:
    source = "int f(void) { return 1; }\n#ifdef __x86_64__\nint only_intel(void) { return 2; }\n#endif"
    both = macho.universal([build_dylib(source, target=each) for each in (INTEL, ARM)], tmp_path / "libcase.1.dylib")
    intel, arm = macho.snapshots(both)
    assert [each.target.machine for each in (intel, arm)] == ["x86_64", "aarch64"]
    assert set(exports(intel)) - set(exports(arm)) == {"only_intel"}
    assert intel.provenance.sha256 == arm.provenance.sha256
    assert only((intel, arm), both, "arm64") is arm
    with pytest.raises(InputError, match="contains 2 libraries"):
        read_snapshot(both, ExtractOptions())


def test_libraries_and_symbols_that_are_re_exported(tmp_path: Path) -> None:
    path = tmp_path / "libfront.dylib"
    path.write_bytes(
        macho.written(
            [
                dylib_command(0xD, "/usr/lib/libfront.1.dylib", compatibility=0x20100),
                dylib_command(0x8000001F, "/usr/lib/libback.1.dylib"),
                dylib_command(0x80000018, "/usr/lib/libmaybe.1.dylib", compatibility=0x30000),
                dylib_command(0x80000023, "/usr/lib/libup.1.dylib"),
                macho.text_command(0x14, "friend"),
                macho.command(0x32, struct.pack("<4I", 2, 0xE0300, 0x110000, 0)),
            ],
            {
                0x80000033: macho.trie(
                    {
                        "_shown": b"\x08" + macho.leb(1) + b"_behind\0",
                        "_same": b"\x08" + macho.leb(1) + b"\0",
                        "_fixed": b"\x02" + macho.leb(0xFFFF),
                        "$ld$hide$os10.4$_gone": b"\0" + macho.leb(0x1000),
                    }
                )
            },
        )
    )
    found = snapshot(path)
    assert {name: symbol.forwarded_to for name, symbol in exports(found).items()} == {
        "shown": "/usr/lib/libback.1.dylib:behind",
        "same": "/usr/lib/libback.1.dylib:same",
        "fixed": None,
    }
    assert library(found).macho == MachoLibrary(
        minimum_os="14.3",
        reexports=("/usr/lib/libback.1.dylib",),
        linkage=(("/usr/lib/libmaybe.1.dylib", "weak"), ("/usr/lib/libup.1.dylib", "upward")),
        requirements=(
            ("/usr/lib/libback.1.dylib", "1.0"),
            ("/usr/lib/libmaybe.1.dylib", "3.0"),
            ("/usr/lib/libup.1.dylib", "1.0"),
        ),
        clients=("friend",),
        directives=("$ld$hide$os10.4$_gone",),
    )
    assert library(found).compatibility_version == "2.1"
    assert str(found.target) == "macho-aarch64-64-little-ios"


@pytest.mark.parametrize(
    ("form", "layout"), [(1, "<I"), (2, "<Ii"), (3, "<QQ")], ids=["plain", "with addends", "with wide addends"]
)
def test_imports_of_chained_fixups(tmp_path: Path, form: int, layout: str) -> None:
    def packed(ordinal: int, weak: int, name: int) -> bytes:
        word = ordinal & 0xFFFF | weak << 16 | name << 32 if form == 3 else ordinal & 0xFF | weak << 8 | name << 9
        return struct.pack(layout, word, *([0] if form > 1 else []))

    names = b"\0_puts\0_maybe\0_anywhere\0"
    rows = packed(1, 0, 1) + packed(1, 1, 7) + packed(-2, 0, 14)
    head = struct.pack("<7I", 0, 28, 28, 28 + len(rows), 3, form, 0)
    path = tmp_path / "libcase.dylib"
    commands = [dylib_command(0xD, "libcase.dylib"), dylib_command(0xC, "/usr/lib/libSystem.B.dylib")]
    path.write_bytes(macho.written(commands, {0x80000034: head + rows + names}))
    found = imports(snapshot(path))
    assert {name: (each.library, each.weak) for name, each in found.items()} == {
        "puts": ("/usr/lib/libSystem.B.dylib", False),
        "maybe": ("/usr/lib/libSystem.B.dylib", True),
        "anywhere": (None, False),
    }


def test_protections_of_a_signed_library() -> None:
    found = library(snapshot(build_dylib("int f(void) { return 1; }", target=ARM)))
    assert "code signature" in found.protections


def test_an_object_file_is_refused_with_the_next_step(tmp_path: Path) -> None:
    path = tmp_path / "case.o"
    path.write_bytes(macho.written([], filetype=1))
    with pytest.raises(ExtractError, match="relocatable object file") as refused:
        read_snapshot(path, ExtractOptions())
    assert refused.value.hint == "link it into a dylib first"


def test_a_bundle_is_told_from_a_dylib(tmp_path: Path) -> None:
    path = tmp_path / "plugin.so"
    path.write_bytes(macho.written([], {0x80000033: macho.trie({"_PyInit_x": b"\0" + macho.leb(0x100)})}, filetype=8))
    found = library(snapshot(path))
    assert (found.name, found.on_macho.file_type) == (None, "bundle")


def test_a_java_class_is_no_universal_file(tmp_path: Path) -> None:
    path = tmp_path / "Case.class"
    path.write_bytes(bytes.fromhex("cafebabe00000041") + bytes(64))
    with pytest.raises(UnknownFormat):
        read_snapshot(path, ExtractOptions())


# --- debug information --------------------------------------------------------------------------------------------

DESCRIBED = """
struct point { int x; double y; };
struct point origin;
_Thread_local long depth;
int norm(const struct point *p) { return p->x + (int)depth; }
"""


def test_types_come_from_the_bundle_beside_the_library(tmp_path: Path) -> None:
    found = snapshot(macho.build_with_dsym(DESCRIBED, tmp_path))
    evidence = found.evidence_of("layout")
    assert (evidence.state, evidence.described, evidence.source) == ("full", 3, "file-folder")
    assert found.variants("layout", Name("record", "point"))
    assert isinstance(found.variants("layout", Name("variable", "depth"))[0], Variable)
    assert found.provenance.debug_files == ("libcase.1.dylib",)


def test_cpp_types_come_from_the_bundle_too(tmp_path: Path) -> None:
    found = snapshot(macho.build_with_dsym(CPP_SOURCE, tmp_path, target=INTEL, language="c++"))
    assert found.evidence_of("layout").state == "full"
    assert found.variants("layout", Name("function", "_ZNK3geo5Point4normEv"))
    assert found.variants("layout", Name("record", "geo::Point"))


def test_a_bundle_of_another_build_is_stale(tmp_path: Path) -> None:
    first = macho.build_with_dsym(DESCRIBED, tmp_path / "first")
    other = macho.build_with_dsym(DESCRIBED + "int more(void) { return 1; }", tmp_path / "second")
    other.replace(first)
    evidence = snapshot(first).evidence_of("layout")
    assert (evidence.state, evidence.reason) == ("missing", "stale-debug-file")
    assert "its UUID is" in evidence.detail


def test_a_bundle_is_found_in_a_folder_that_is_named(tmp_path: Path) -> None:
    path = macho.build_with_dsym(DESCRIBED, tmp_path)
    (tmp_path / "alone").mkdir()
    moved = path.replace(tmp_path / "alone" / path.name)
    found = snapshot(moved, debug_dirs=(tmp_path / "out",))
    assert found.evidence_of("layout").source == "debug-dir"
    assert found.evidence_of("layout").state == "full"


def test_object_files_that_hold_the_types_are_named_as_missing_evidence(tmp_path: Path) -> None:
    evidence = snapshot(build_dylib(DESCRIBED, flags=("-g", "-O1"))).evidence_of("layout")
    assert (evidence.state, evidence.reason) == ("missing", "debug-file-missing")
    assert "1 object file" in evidence.detail
    assert "dsymutil libcase.1.dylib" in evidence.hint


def test_embedded_debug_information_is_read(tmp_path: Path) -> None:
    path = macho.build_with_dsym(DESCRIBED, tmp_path)
    dsym = path.parent / f"{path.name}.dSYM" / "Contents" / "Resources" / "DWARF" / path.name
    data = bytearray(dsym.read_bytes())
    struct.pack_into("<I", data, 12, 6)  # a dylib that keeps its symbols and debug information in itself
    whole = tmp_path / "whole" / "libcase.1.dylib"
    whole.parent.mkdir()
    whole.write_bytes(bytes(data))
    evidence = snapshot(whole).evidence_of("layout")
    assert (evidence.state, evidence.source) == ("full", "file")


def test_headers_are_read_for_the_library_s_platform_and_join_its_exports(tmp_path: Path) -> None:
    header = (
        "#include <stddef.h>\nstruct point { long double wide; long x; };\nint norm(const struct point *p, size_t n);\n"
    )
    (tmp_path / "case.h").write_text(header)
    source = '#include "case.h"\nint norm(const struct point *p, size_t n) { return (int)p->x; }\n'
    for target, size in ((ARM, 16), (INTEL, 32)):  # long double has 8 bytes on Apple silicon
        path = build_dylib(source, target=target, flags=("-O1",), files={"case.h": header})
        found = snapshot(path, headers=HeaderOptions(headers=(tmp_path / "case.h",)))
        assert found.variants("source", Name("function", "norm"))
        assert [
            each.size for each in found.variants("source", Name("record", "point")) if isinstance(each, Record)
        ] == [size]
