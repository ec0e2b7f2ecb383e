"""Built-in headers and the system's: found on any machine that has a compiler, for the target of the binary."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Literal

import pytest

from abistore.errors import HeaderError
from abistore.extract.headers import clang, subprocess, toolchain
from abistore.extract.headers.reader import work
from abistore.extract.headers.subprocess import read_headers
from abistore.extract.headers.toolchain import HeaderToolchain, triple_of
from abistore.extract.reader import HeaderOptions, HeaderRequest, Language
from abistore.model.declarations import Name
from abistore.model.shapes import Record
from abistore.model.snapshot import Target
from examples.obtain import Missing

X86 = Target("elf", "x86_64", 64, "little")
SYSTEM = "#include <stddef.h>\n#include <stdarg.h>\n#include <limits.h>\n#include <stdint.h>\n#include <float.h>\n"


def only(monkeypatch: pytest.MonkeyPatch, folder: Path, *programs: str) -> None:
    """A machine that has these programs and no others."""
    for program in programs:
        where = shutil.which(program)
        assert where is not None
        (folder / program).symlink_to(where)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(toolchain, "INSTALLED", ())
    monkeypatch.setattr(toolchain, "find_spec", lambda _name: None)


def found(target: Target = X86, **options: object) -> HeaderToolchain:
    given = HeaderOptions((), **options)  # type: ignore[arg-type]
    return toolchain.toolchain(given, target, clang.major_version())


def errors(tools: HeaderToolchain, text: str, *arguments: str) -> list[str]:
    unit = clang.parsed("/abistore/test.cpp", text, [*(arguments or ("-xc++",)), *tools.arguments], tools.replaced)
    assert unit is not None
    return [error.message for error in clang.errors(unit)]


def test_a_machine_with_gcc_alone_reads_system_headers_and_intrinsics(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    only(monkeypatch, tmp_path, "gcc")
    tools = found()
    assert tools.built_ins.origin.startswith("gcc ")
    text = f"{SYSTEM}#include <vector>\n#include <immintrin.h>\n__m128 sum(__m256i, std::vector<int>);\n"
    assert errors(tools, text) == []
    assert errors(tools, f"{SYSTEM}#include <stdio.h>\n#include <stdatomic.h>\nFILE *f(size_t);", "-xc") == []


SIMD = """
#include <immintrin.h>
struct Held { char before; __m128 four; __m64 half; __m256d wide; __m512i widest; __m128i_u loose; };
static_assert(sizeof(__m128) == 16 && alignof(__m128) == 16 && alignof(__m128i) == 16, "as the compiler has them");
static_assert(sizeof(__m256d) == 32 && alignof(__m256d) == 32 && alignof(__m512i) == 64 && alignof(__m64) == 8, "");
static_assert(sizeof(Held) == 256 && alignof(__m128i_u) == 1, "");
inline __m128 turned(__m128 a, __m128 b, const void *from) {
  __m128 c = _mm_shuffle_ps(a, b, _MM_SHUFFLE(1, 0, 3, 2));
  _MM_TRANSPOSE4_PS(a, b, c, c);
  _mm_prefetch((const char *)from, _MM_HINT_T0);
  return _mm_add_ps(_mm_movelh_ps(a, c), _mm_castsi128_ps(_mm_slli_si128(_mm_castps_si128(b), 4)));
}
inline __m512i shifted(__m512i a) { return _mm512_mask_srai_epi32(a, __mmask16(3), a, 2); }
"""


def test_gcc_alone_has_intrinsics_and_their_types(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What headers make of intrinsics needs no bodies, which call what gcc alone has built in."""
    only(monkeypatch, tmp_path, "gcc")
    assert errors(found(), SIMD) == []


NARROW = pytest.mark.full
"""Headers of 32 bits come with a package of their own."""

ARGUMENTS = [
    pytest.param(("-xc++", "-m32"), marks=NARROW),
    pytest.param(("-xc", "-m32"), marks=NARROW),
    ("-xc",),
    ("-xc++", "-mavx512f"),
]


def of_another_clang() -> HeaderToolchain:
    """That of a machine whose clang is of no version that libclang has: whichever one is installed."""
    tools = toolchain.toolchain(HeaderOptions(()), X86, 0)
    if not tools.built_ins.origin.startswith("clang "):
        raise Missing("clang is not installed")
    return tools


@pytest.mark.full
def test_a_clang_of_another_version_has_intrinsics_and_their_types() -> None:
    assert errors(of_another_clang(), SIMD) == []


@pytest.mark.full
@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_its_intrinsics_are_read_in_both_languages(arguments: tuple[str, ...]) -> None:
    text = "#include <immintrin.h>\n#include <x86intrin.h>\n__m128i all(__m256);\n"
    assert errors(of_another_clang(), text, *arguments) == []


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_gccs_intrinsics_are_read_in_both_languages(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    only(monkeypatch, tmp_path, "gcc")
    assert errors(found(), "#include <immintrin.h>\n#include <x86intrin.h>\n__m128i all(__m256);\n", *arguments) == []


def test_the_types_alone_are_left_of_intrinsics_that_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "gcc").mkdir()
    (tmp_path / "gcc" / "stddef.h").write_text("typedef unsigned long size_t;\n")
    (tmp_path / "gcc" / "xmmintrin.h").write_text("typedef __unheard_of __m128;\n__m128 _mm_one(void) { return 1; }\n")
    only(monkeypatch, tmp_path)
    monkeypatch.setattr(toolchain, "_gcc_folders", lambda _triple: iter([tmp_path / "gcc"]))
    (tmp_path / "lib.h").write_text(
        "#include <xmmintrin.h>\nstruct held { char c; __m128 v; };\nvoid use(struct held *);\n"
    )
    options = HeaderOptions((tmp_path / "lib.h",), language="c")
    read = work(HeaderRequest(options, X86, False, False, None, 60, 2_000_000_000, 60.0))
    (record,) = [each for each in dict(read.entries)[Name("record", "held")] if isinstance(each, Record)]
    assert (read.evidence.state, record.size, record.fields[1].offset) == ("full", 32, 128)


def test_a_clang_of_libclangs_own_version_wins_over_any_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    major = clang.major_version()
    for version in (major + 2, major, 14):
        folder = tmp_path / "lib" / "clang" / str(version) / "include"
        folder.mkdir(parents=True)
        (folder / "stddef.h").touch()
        (folder / "immintrin.h").write_text("static int one(void) { return __builtin_one(); }\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "clang").touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(toolchain, "INSTALLED", ())
    assert (found().built_ins.origin, found().replaced) == (f"clang {major}", {})
    shutil.rmtree(tmp_path / "lib" / "clang" / str(major))
    other = found()
    assert other.built_ins.origin == f"clang {major + 2}"
    assert list(other.replaced.values()) == ["static int one(void);\n"]


def test_the_folder_that_the_caller_names_wins(tmp_path: Path) -> None:
    tools = found(clang_args=("-resource-dir", str(tmp_path)))
    assert (tools.built_ins.folder, tools.built_ins.arguments) == (tmp_path / "include", ())


def test_a_machine_without_a_compiler_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    only(monkeypatch, tmp_path)
    monkeypatch.setattr(toolchain, "GCC_FOLDERS", ())
    with pytest.raises(HeaderError, match=r"stddef\.h") as error:
        found()
    assert "--clang-arg -resource-dir" in error.value.hint


@pytest.mark.parametrize("target", ["./build", "../x86_64", "/opt/x86_64", "-x86_64", "x86_64 linux"])
def test_no_file_of_a_project_is_run_as_the_compiler_of_its_target(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, target: str
) -> None:
    monkeypatch.chdir(tmp_path)
    compiler = tmp_path / "build-g++"
    compiler.write_text("#!/bin/sh\ntouch run\n")
    compiler.chmod(0o755)
    with pytest.raises(HeaderError, match="is not a compiler target"):
        toolchain.toolchain(HeaderOptions((), target=target), X86, clang.major_version())
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("target", "triple"),
    [
        (X86, "x86_64-linux-gnu"),
        (Target("elf", "i386", 32, "little"), "i686-linux-gnu"),
        (Target("elf", "aarch64", 64, "little"), "aarch64-linux-gnu"),
        (Target("elf", "arm", 32, "little"), "arm-linux-gnueabi"),
        (Target("elf", "armhf", 32, "little"), "arm-linux-gnueabihf"),
        (Target("elf", "riscv64", 64, "little"), "riscv64-linux-gnu"),
        (Target("elf", "ppc64le", 64, "little"), "powerpc64le-linux-gnu"),
        (Target("elf", "s390x", 64, "big"), "s390x-linux-gnu"),
        (Target("elf", "x86_64", 64, "little", "freebsd"), "x86_64-unknown-freebsd"),
        (Target("pe", "x86_64", 64, "little"), "x86_64-w64-windows-gnu"),
        (Target("pe", "x86_64", 64, "little", "msvc"), "x86_64-pc-windows-msvc"),
        (Target("macho", "aarch64", 64, "little", "macos"), "arm64-apple-macosx"),
        (Target("macho", "x86_64", 64, "little", "maccatalyst"), "x86_64-apple-ios-macabi"),
    ],
)
def test_a_binary_tells_the_target_and_with_it_the_sizes_of_types(target: Target, triple: str) -> None:
    assert triple_of(target) == triple
    width = 4 if target.bits == 32 else 8
    assert errors(found(target), f'static_assert(sizeof(void *) == {width}, "");') == []


def test_a_machine_that_no_compiler_is_known_for_needs_a_word_of_the_caller() -> None:
    with pytest.raises(HeaderError) as error:
        triple_of(Target("elf", "machine-9999", 64, "little"))
    assert "--clang-target" in error.value.hint


@pytest.mark.parametrize("machine", ["aarch64", "s390x"])
def test_the_headers_of_another_machine_come_from_its_own_compiler(machine: str) -> None:
    target = Target("elf", machine, 64, "big" if machine == "s390x" else "little")
    assert errors(found(target), f"{SYSTEM}#include <string>\n#include <atomic>\nstd::string f();") == []


def test_a_system_folder_is_looked_into_instead_of_this_machines(tmp_path: Path) -> None:
    (tmp_path / "usr" / "include").mkdir(parents=True)
    (tmp_path / "usr" / "include" / "only_there.h").write_text("typedef int there;\n")
    tools = found(sysroot=tmp_path)
    assert errors(tools, "#include <only_there.h>\nthere f(void);", "-xc") == []
    assert errors(tools, "#include <stdio.h>", "-xc") == ["'stdio.h' file not found"]


def test_what_a_compiler_says_is_asked_in_no_other_language(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    only(monkeypatch, tmp_path, "gcc")
    assert os.environ["LC_ALL"] == "de_DE.UTF-8"
    assert found().built_ins.folder.is_dir()


def without_other_systems(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """A machine with gcc alone, which has no standard headers of other systems."""
    only(monkeypatch, folder, "gcc")
    monkeypatch.setattr(toolchain, "_folders_of_compiler", toolchain._folders_of_compiler.__wrapped__)  # asks again
    monkeypatch.setattr(toolchain, "find_spec", lambda _name: None)
    monkeypatch.setattr(subprocess, "may_fork", lambda: True)  # a copy of this process has what is replaced here


@pytest.mark.parametrize("machine", ["x86_64", "i386", "aarch64"])
@pytest.mark.parametrize("system", ["windows", "msvc"])
@pytest.mark.parametrize("bare", [True, pytest.param(False, marks=pytest.mark.full)])
def test_numbers_of_windows_have_its_sizes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machine: str, system: str, bare: bool
) -> None:
    """``long`` is 4 bytes wide there: the C headers of Linux would make an ``int64_t`` of it."""
    if bare:
        without_other_systems(monkeypatch, tmp_path)
    (tmp_path / "api.h").write_text(
        "#include <stdint.h>\nstruct s { int64_t wide; long narrow; };\nint f(struct s *);\n"
    )
    target = Target("pe", machine, 32 if machine == "i386" else 64, "little", system)
    reading = read_headers(HeaderOptions((tmp_path / "api.h",)), target)
    (shape,) = [each for each in reading.entries[Name("record", "s")] if isinstance(each, Record)]
    assert [(field.name, field.offset // 8) for field in shape.fields] == [("wide", 0), ("narrow", 8)]
    assert shape.size == 16


@pytest.mark.full
def test_the_c_library_of_mingw_is_found_beside_its_compiler() -> None:
    compiler = shutil.which("x86_64-w64-mingw32-g++")
    if compiler is None:
        pytest.skip("needs x86_64-w64-mingw32-g++ (g++-mingw-w64-x86-64)")
    arguments = found(Target("pe", "x86_64", 64, "little")).arguments
    searched = [Path(each.removeprefix("-isystem")) for each in arguments if each.startswith("-isystem")]
    assert any((folder / "windows.h").is_file() for folder in searched)
    assert not any(folder.is_relative_to("/usr/include") for folder in searched)


MACOS = [Target("macho", machine, 64, "little", "macos") for machine in ("aarch64", "x86_64")]


@pytest.mark.full
@pytest.mark.parametrize("target", MACOS)
@pytest.mark.parametrize("standard", ["c++11", "c++14", "c++17"])
def test_cpp_headers_of_macos_are_read_with_its_own_standard_library(target: Target, standard: str) -> None:
    """A string is 24 bytes large in libc++, and 32 in the library of GCC."""
    text = "#include <algorithm>\n#include <map>\n#include <memory>\n#include <string>\n#include <thread>\n"
    sizes = 'static_assert(sizeof(std::string) == 24, "");\nstatic_assert(sizeof(std::map<int, int>) == 24, "");\n'
    aligned = 'static_assert(alignof(std::aligned_storage<5>::type) == 4, "");\n'
    tools = found(target)
    assert errors(tools, f"{SYSTEM}{text}{sizes}{aligned}", "-xc++", f"-std={standard}") == []
    assert errors(tools, f"{SYSTEM}#include <stdio.h>\n#include <stdatomic.h>\nFILE *f(size_t);", "-xc") == []


@pytest.mark.full
@pytest.mark.parametrize("target", MACOS)
def test_built_in_functions_of_newer_compilers_give_their_values(target: Target) -> None:
    told = "".join(f'static_assert({each}, "");\n' for each in BUILT_IN)
    assert errors(found(target), told, "-xc++", "-std=c++17") == []


BUILT_IN = (
    "__builtin_clzg((unsigned short)5) == 13",
    "__builtin_clzg(0u, 32) == 32",
    "__builtin_clzg((unsigned __int128)1 << 70) == 57",
    "__builtin_clzg((unsigned __int128)1) == 127",
    "__builtin_ctzg((unsigned char)8) == 3",
    "__builtin_ctzg((unsigned __int128)1 << 70) == 70",
    "__builtin_ctzg(0ull, 64) == 64",
    "__builtin_popcountg((unsigned __int128)7 << 62) == 3",
)


FREESTANDING = """
#include <stddef.h>
#include <stdint.h>
#include <limits.h>
#include <stdarg.h>
#include <float.h>
struct s { int64_t wide; size_t size; uint8_t last[CHAR_BIT]; };
int f(struct s *, va_list, max_align_t *);
enum largest { OF_INT = INT_MAX };
"""


@pytest.mark.parametrize("machine", ["x86_64", "i386", "aarch64"])
@pytest.mark.parametrize("system", ["windows", "msvc", "macos"])
def test_what_compilers_bring_along_needs_no_headers_of_the_system(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, machine: str, system: str
) -> None:
    without_other_systems(monkeypatch, tmp_path)
    (tmp_path / "api.h").write_text(FREESTANDING)
    bits: Literal[32, 64] = 32 if machine == "i386" else 64
    target = Target("macho" if system == "macos" else "pe", machine, bits, "little", system)
    reading = read_headers(HeaderOptions((tmp_path / "api.h",), language="c"), target)
    (shape,) = [each for each in reading.entries[Name("record", "s")] if isinstance(each, Record)]
    assert (reading.evidence.state, shape.fields[2].offset) == ("full", 64 + bits)


@pytest.mark.full
@pytest.mark.parametrize("machine", ["x86_64", "i386", "aarch64"])
@pytest.mark.parametrize("language", ["c", "c++"])
def test_headers_of_visual_cpp_are_read_with_the_c_library_of_mingw(
    tmp_path: Path, machine: str, language: Language
) -> None:
    """The names and layouts are those of Visual C++: a ``long double`` has 8 bytes."""
    text = "#include <stdlib.h>\n#include <stdio.h>\n#include <math.h>\n#include <time.h>\n#include <windows.h>\n"
    (tmp_path / "api.h").write_text(f"{text}struct s {{ long double wide; }};\nint f(struct s *, FILE *);\n")
    target = Target("pe", machine, 32 if machine == "i386" else 64, "little", "msvc")
    reading = read_headers(HeaderOptions((tmp_path / "api.h",), language=language), target, cpp_exports=True)
    (shape,) = [each for each in reading.entries[Name("record", "s")] if isinstance(each, Record)]
    assert (reading.evidence.state, shape.size) == ("full", 8)
    if language == "c++":
        assert any(name.spelling.startswith("?f@@YA") for name in reading.entries)


@pytest.mark.full
def test_the_cpp_library_of_mingw_is_none_of_visual_cpp(tmp_path: Path) -> None:
    """A string has another layout there."""
    (tmp_path / "api.hpp").write_text("#include <string>\nint f(const std::string &);\n")
    reading = read_headers(HeaderOptions((tmp_path / "api.hpp",)), Target("pe", "x86_64", 64, "little", "msvc"))
    assert (reading.evidence.state, reading.evidence.reason) == ("missing", "standard-headers-missing")
    assert "Visual C++" in reading.evidence.detail and "--include-dir" in reading.evidence.hint


def test_a_mac_has_its_sdk_searched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_other_systems(monkeypatch, tmp_path)
    (tmp_path / "MacOSX.sdk" / "usr" / "include").mkdir(parents=True)
    (tmp_path / "MacOSX.sdk" / "usr" / "include" / "only_there.h").write_text("typedef int there;\n")
    (tmp_path / "xcrun").write_text(f"#!/bin/sh\necho {tmp_path}/MacOSX.sdk\n")
    (tmp_path / "xcrun").chmod(0o755)
    monkeypatch.delenv("SDKROOT", raising=False)
    assert errors(found(MACOS[0]), "#include <only_there.h>\nthere f(void);", "-xc") == []


@pytest.mark.parametrize("format", ["macho", "pe"])
def test_headers_that_need_standard_ones_which_are_not_there_are_no_evidence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, format: Literal["macho", "pe"]
) -> None:
    """What they declare is unknown, and that is no error: what the file of the library tells is compared."""
    without_other_systems(monkeypatch, tmp_path)
    (tmp_path / "base.h").write_text("#include <stdlib.h>\ntypedef div_t base_t;\n")
    (tmp_path / "api.h").write_text('#include "base.h"\nbase_t f(void);\n')
    system = "macos" if format == "macho" else "windows"
    reading = read_headers(HeaderOptions((tmp_path / "api.h",)), Target(format, "x86_64", 64, "little", system))
    assert (reading.evidence.state, reading.evidence.reason) == ("missing", "standard-headers-missing")
    assert "ziglang" in reading.evidence.hint and not reading.entries


def test_missing_standard_headers_of_macos_are_told_with_where_they_come_from(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    without_other_systems(monkeypatch, tmp_path)
    (tmp_path / "api.hpp").write_text("#include <string>\nint f(const std::string &);\n")
    (tmp_path / "plain.h").write_text("int g(void);\n")
    reading = read_headers(HeaderOptions((tmp_path / "api.hpp", tmp_path / "plain.h")), MACOS[0])
    assert reading.evidence.state == "partial"
    assert "'string' file not found" in reading.evidence.detail
    assert "ziglang" in reading.evidence.hint
    assert "--sysroot" in reading.evidence.hint
