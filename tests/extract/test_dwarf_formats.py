from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from abistore.extract.dwarf import encoding as dw
from abistore.extract.dwarf.info import DebugInfo
from abistore.extract.dwarf.walk import children
from abistore.model.shapes import Variable
from abistore.service.snapshots import capture
from tests.build import build_library
from tests.extract.dwarf_samples import (
    DEFINED,
    FOUND,
    declaration,
    defined_names,
    found_names,
    open_info,
    qualified,
    run,
    sample,
)

WITH_LINE = DEFINED | {"Line"}
MEASURE = ("function", "shapes::measure")

ORDINARY = {
    **{f"g++-{version}": ("g++", f"-gdwarf-{version}") for version in "2345"},
    **{f"clang++-{version}": ("clang++", f"-gdwarf-{version}") for version in "2345"},
    "g++-unoptimised": ("g++", "-g", "-O0"),
    "g++-64-bit-dwarf-5": ("g++", "-gdwarf-5", "-gdwarf64"),
    "g++-64-bit-dwarf-4": ("g++", "-gdwarf-4", "-gdwarf64"),
    "clang++-64-bit-dwarf-5": ("clang++", "-gdwarf-5", "-gdwarf64"),
    "g++-type-units-4": ("g++", "-gdwarf-4", "-fdebug-types-section"),
    "g++-type-units-5": ("g++", "-gdwarf-5", "-fdebug-types-section"),
    "clang++-type-units-4": ("clang++", "-gdwarf-4", "-fdebug-types-section"),
    "clang++-type-units-5": ("clang++", "-gdwarf-5", "-fdebug-types-section"),
    "g++-zlib": ("g++", "-g", "-gz=zlib"),
    "g++-zlib-gnu": ("g++", "-g", "-gz=zlib-gnu"),
    "clang++-aranges": ("clang++", "-g", "-gdwarf-aranges"),
    "g++-hot-cold": ("g++", "-g", "-ffunction-sections", "-freorder-blocks-and-partition"),
    "g++-hot-cold-4": ("g++", "-gdwarf-4", "-ffunction-sections", "-freorder-blocks-and-partition"),
    "clang++-sections": ("clang++", "-g", "-ffunction-sections"),
    "clang++-sections-4": ("clang++", "-gdwarf-4", "-ffunction-sections"),
    "g++-split-4": ("g++", "-gdwarf-4", "-gsplit-dwarf"),
    "g++-split-5": ("g++", "-gdwarf-5", "-gsplit-dwarf"),
    "clang++-split-4": ("clang++", "-gdwarf-4", "-gsplit-dwarf"),
    "clang++-split-5": ("clang++", "-gdwarf-5", "-gsplit-dwarf"),
    "g++-split-types-4": ("g++", "-gdwarf-4", "-gsplit-dwarf", "-fdebug-types-section"),
    "g++-split-types-5": ("g++", "-gdwarf-5", "-gsplit-dwarf", "-fdebug-types-section"),
    "clang++-split-types-5": ("clang++", "-gdwarf-5", "-gsplit-dwarf", "-fdebug-types-section"),
    "i686": ("i686-linux-gnu-g++", "-g"),
    "i686-dwarf-3": ("i686-linux-gnu-g++", "-gdwarf-3"),
    "i686-split": ("i686-linux-gnu-g++", "-gdwarf-5", "-gsplit-dwarf"),
    "aarch64": ("aarch64-linux-gnu-g++", "-g"),
    "s390x": ("s390x-linux-gnu-g++", "-g"),
    "s390x-dwarf-2": ("s390x-linux-gnu-g++", "-gdwarf-2"),
    "s390x-split": ("s390x-linux-gnu-g++", "-gdwarf-5", "-gsplit-dwarf"),
    "s390x-64-bit-dwarf": ("s390x-linux-gnu-g++", "-gdwarf-5", "-gdwarf64"),
    "arm": ("clang++ --target=arm-linux-gnueabihf", "-g", "-nostdlib", "-fuse-ld=lld", "-fno-exceptions"),
}


def build(key: str, *extra: str, more: bool = False) -> Path:
    compiler, *flags = ORDINARY[key]
    optimised = [] if "-O0" in flags else ["-O2"]
    return sample(*optimised, *flags, *extra, compiler=compiler, more=more)


@pytest.mark.parametrize("key", ORDINARY)
def test_every_format_describes_the_same_exports_and_types(key: str) -> None:
    info = open_info(build(key))
    assert info.problems == []
    assert found_names(info) == FOUND
    assert defined_names(info) == DEFINED


@pytest.mark.parametrize("key", ORDINARY)
def test_every_format_gives_the_values_of_enumerators_and_sizes(key: str) -> None:
    info = open_info(build(key))
    assert values_of(info, "Color") == {"red": 0, "green": 200}
    assert values_of(info, "Wide") == {"lowest": -(2**63), "highest": 2**63 - 1}
    assert {info.attributes(handle)[dw.AT_BYTE_SIZE] for handle in info.definitions("Box<int, 3>")} == {12}


def values_of(info: DebugInfo, name: str) -> dict[str, int]:
    (handle,) = info.definitions(name)
    unit, _, position, _ = info.die(handle)
    entries = [info.attributes(child) for child, _, _ in children(unit, position)]
    return {entry[dw.AT_NAME]: entry[dw.AT_CONST_VALUE] for entry in entries}


@pytest.mark.parametrize("key", ["g++-5", "clang++-5", "g++-4", "clang++-4", "g++-split-5", "clang++-split-4"])
def test_types_inside_functions_are_scoped_by_the_function(key: str) -> None:
    info = open_info(build(key, more=True))
    (function,) = [handle for _, _, handle in info.found if qualified(info, handle) == "shapes::local"]
    inside = {"shapes::local::Local", "shapes::local::Local::Deep", "shapes::local::Blocky"}
    assert inside <= types_below(info, function)


def types_below(info: DebugInfo, handle: int) -> set[str]:
    """The named records below an entry and below what it was made from, however deep."""
    names = set()
    unit, abbreviation, position, attributes = info.die(handle)
    if abbreviation.has_children:
        for child, kind, _ in children(unit, position):
            names |= types_below(info, child)
            if kind.tag in dw.RECORD_TAGS:
                names.add(qualified(info, child))
    origin = attributes.get(dw.AT_ABSTRACT_ORIGIN)
    return names | (types_below(info, origin) if origin is not None else set())


@pytest.mark.parametrize("key", ["g++-5", "g++-4", "clang++-5", "clang++-split-5", "g++-split-5", "g++-split-4"])
def test_files_are_named_relative_to_the_compilation_folder(key: str) -> None:
    info = open_info(build(key, more=True))
    files = set()
    for _, _, handle in info.found:
        unit, _, _, attributes = info.die(declaration(info, handle))
        files.add(info.file(unit, attributes[dw.AT_DECL_FILE]))
    assert files == {"case.cc", "more.cc"}


@pytest.mark.parametrize(
    "packer, key",
    [
        ("dwp", "g++-split-4"),
        ("dwp", "g++-split-types-4"),
        ("dwp", "clang++-split-4"),
        ("llvm-dwp", "g++-split-4"),
        ("llvm-dwp", "g++-split-types-4"),
        ("llvm-dwp", "g++-split-types-5"),
        ("llvm-dwp", "clang++-split-4"),
        ("llvm-dwp", "clang++-split-5"),
        ("llvm-dwp", "clang++-split-types-5"),
    ],
)
def test_a_package_replaces_its_split_files(packer: str, key: str, tmp_path: Path) -> None:
    built = build(key, more=True)
    for file in built.parent.iterdir():
        shutil.copy(file, tmp_path)
    run(packer, "-e", "libcase.so", "-o", "libcase.so.dwp", folder=tmp_path)
    for file in tmp_path.glob("*.dwo"):
        file.unlink()
    info = open_info(tmp_path / "libcase.so")
    assert info.problems == []
    assert found_names(info) == FOUND | {MEASURE}
    assert defined_names(info) == WITH_LINE


@pytest.mark.parametrize("key", ["g++-split-4", "clang++-split-5"])
def test_split_files_are_also_found_in_debug_directories(key: str, tmp_path: Path) -> None:
    built = build(key)
    elsewhere = tmp_path / "debug"
    elsewhere.mkdir()
    shutil.copy(built, tmp_path)
    for file in built.parent.glob("*.dwo"):
        shutil.copy(file, elsewhere)
    info = open_info(tmp_path / built.name, debug_dirs=[elsewhere])
    assert info.problems == []
    assert found_names(info) == FOUND


@pytest.mark.parametrize("key", ["g++-split-4", "g++-split-5", "clang++-split-4", "clang++-split-5"])
def test_a_missing_split_file_is_a_problem_by_name(key: str, tmp_path: Path) -> None:
    built = build(key)
    (dwo,) = built.parent.glob("*.dwo")
    shutil.copy(built, tmp_path)
    info = open_info(tmp_path / built.name)
    assert info.problems == [("split-debug-missing", dwo.name)]
    assert info.found == []


@pytest.mark.parametrize("key", ["g++-split-4", "clang++-split-5"])
def test_a_split_file_of_another_build_is_not_taken(key: str, tmp_path: Path) -> None:
    built, other = build(key), build(key, "-DOTHER", "-fno-inline", "-O1")
    (dwo,) = built.parent.glob("*.dwo")
    (stale,) = other.parent.glob("*.dwo")
    shutil.copy(built, tmp_path)
    shutil.copy(stale, tmp_path / dwo.name)
    info = open_info(tmp_path / built.name)
    assert info.problems == [("stale-debug-file", dwo.name)]
    assert info.found == []


@pytest.mark.full
@pytest.mark.parametrize("key", ["g++-4", "g++-5", "g++-type-units-4"])
def test_what_dwz_moved_to_a_common_file_is_read_from_there(key: str, tmp_path: Path) -> None:
    for name in ("one.so", "two.so"):
        shutil.copy(build(key, "-fno-eliminate-unused-debug-types", more=True), tmp_path / name)
    run("dwz", "-m", "common.debug", "one.so", "two.so", folder=tmp_path)
    info = open_info(tmp_path / "one.so", alternate=tmp_path / "common.debug")
    assert info.problems == []
    assert found_names(info) == FOUND | {MEASURE}
    assert defined_names(info) == WITH_LINE


@pytest.mark.full
def test_a_missing_common_file_is_a_problem_and_its_references_lead_nowhere(tmp_path: Path) -> None:
    for name in ("one.so", "two.so"):
        shutil.copy(build("g++-5", more=True), tmp_path / name)
    run("dwz", "-m", "common.debug", "one.so", "two.so", folder=tmp_path)
    info = open_info(tmp_path / "one.so")
    assert [reason for reason, _ in info.problems] == ["alternate-file-missing"]
    assert {kind for kind, _, _ in info.found} == {"function", "variable", "tls"}
    assert -1 in {info.attributes(declaration(info, handle)).get(dw.AT_TYPE) for _, _, handle in info.found}


@pytest.mark.full
@pytest.mark.parametrize("key", ["g++-4", "g++-5"])
def test_partial_units_of_one_file_are_read(key: str, tmp_path: Path) -> None:
    built = build(key, more=True)
    shutil.copy(built, tmp_path / "one.so")
    run("dwz", "one.so", folder=tmp_path)
    info = open_info(tmp_path / "one.so")
    assert info.problems == []
    assert found_names(info) == FOUND | {MEASURE}


@pytest.mark.parametrize(
    "compiler, flags",
    [
        ("g++", ("-g", "-flto")),
        ("g++", ("-gdwarf-4", "-flto")),
        ("clang++", ("-g", "-flto", "-fuse-ld=lld")),
    ],
)
def test_link_time_optimisation_refers_across_units(compiler: str, flags: tuple[str, ...]) -> None:
    info = open_info(sample("-O2", *flags, compiler=compiler, more=True))
    assert info.problems == []
    assert found_names(info) == FOUND | {MEASURE}
    assert defined_names(info) == WITH_LINE


@pytest.mark.full
@pytest.mark.parametrize("key", ["g++-5", "clang++-5", "g++-split-5", "clang++-split-4", "s390x"])
def test_units_name_their_producer_and_language(key: str) -> None:
    (unit,) = [unit for unit in open_info(build(key)).units if not unit.is_type_unit]
    assert unit.producer is not None
    assert unit.producer.startswith(("GNU C++17", "Debian clang version", "clang version"))
    assert unit.language in (0x1A, 0x21)  # C++11, C++14: what both compilers say for C++17
    assert unit.name == "case.cc"


CONSTANTS = """
namespace shapes { inline namespace _V2 {
struct Limits { static const bool steady = true; static const int lowest; int field; };
const bool Limits::steady;
const int Limits::lowest = 3;
template <class T> struct Traits { static const int digits = sizeof(T); };
template <class T> const int Traits<T>::digits;
template struct Traits<char>;
} }
"""


@pytest.mark.parametrize("compiler, version", [("g++", "5"), ("clang++", "4"), ("clang++", "5")])
def test_constant_static_members_are_found_in_their_class(compiler: str, version: str) -> None:
    path = build_library(CONSTANTS, language="c++", compiler=compiler, flags=["-O2", f"-gdwarf-{version}"])
    shapes = capture(path).entries["layout"].values()
    assert {shape.display for (shape,) in shapes if isinstance(shape, Variable)} == {
        "shapes::_V2::Limits::steady",
        "shapes::_V2::Limits::lowest",
        "shapes::_V2::Traits<char>::digits",
    }
