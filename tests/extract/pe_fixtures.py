"""DLLs that tests build: by MinGW with DWARF, and by Clang and lld as Visual C++ would, with a PDB file."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from examples.obtain import Missing
from tests.build import CACHE, SUFFIXES, build_library

MINGW = "x86_64-w64-mingw32"
NO_RUNTIME = """
namespace __cxxabiv1 {
struct __class_type_info { virtual int one(); };
struct __si_class_type_info { virtual int two(); };
struct __vmi_class_type_info { virtual int three(); };
int __class_type_info::one() { return 1; }
int __si_class_type_info::two() { return 2; }
int __vmi_class_type_info::three() { return 3; }
}
"""
"""What every class with a vtable needs of the runtime, which takes minutes to be built."""

ENTRY = "int __attribute__((stdcall)) DllMainCRTStartup(void *dll, unsigned long why, void *rest) { return 1; }\n"
"""What Windows calls when it loads a DLL: without it, compiling the runtime of C takes a minute for each machine."""

MSVC = {"x86_64": "x86_64-pc-windows-msvc", "i386": "i686-pc-windows-msvc", "aarch64": "aarch64-pc-windows-msvc"}


def mingw(source: str, *flags: str, files: Mapping[str, str] | None = None, language: str = "c++") -> Path:
    """The path of ``case.dll`` as MinGW builds it from ``source``."""
    compiler = f"{MINGW}-{'g++' if language == 'c++' else 'gcc'}"
    main = "case" + SUFFIXES[language]
    command = [compiler, "-shared", "-static", *(flags or ("-g", "-O1")), main, "-o", "case.dll"]
    return _built([command], {main: source, **(files or {})}) / "case.dll"


def zig(source: str, machine: str = "x86_64", *flags: str, language: str = "c++") -> Path:
    """The path of ``case.dll`` as zig's Clang and lld build it from a ``source`` that needs no runtime."""
    return build_library(
        source + (f'{NO_RUNTIME}extern "C" {ENTRY}' if language == "c++" else ENTRY),
        language=language,
        compiler=f"zig cc -target {machine}-windows-gnu",
        flags=(*(flags or ("-g", "-O1")), "-nostdlib", "-fno-stack-protector", "-Wl,--export-all-symbols"),
        soname=None,
        name="case.dll",
    )


def msvc(
    source: str,
    *flags: str,
    machine: str = "x86_64",
    link: Sequence[str] = ("/debug",),
    files: Mapping[str, str] | None = None,
    language: str = "c++",
) -> Path:
    """The path of ``case.dll`` as Clang and lld build it for Visual C++ from a ``source`` that needs no headers."""
    main = "case" + SUFFIXES[language]
    compiler = "clang++" if language == "c++" else "clang"
    options = flags or ("-g", "-gcodeview", "-O1")
    commands = [
        [compiler, f"--target={MSVC[machine]}", *options, "-c", main, "-o", "case.obj"],
        ["lld-link", "/dll", "/noentry", "/nodefaultlib", *link, "/out:case.dll", "case.obj"],
    ]
    return _built(commands, {main: source, **(files or {})}) / "case.dll"


def _built(commands: Sequence[Sequence[str]], inputs: Mapping[str, str]) -> Path:
    """A folder with what ``commands`` make of ``inputs``, cached by the content of both."""
    key = hashlib.sha256(repr((sorted(inputs.items()), commands, "1")).encode()).hexdigest()[:24]
    folder = CACHE / f"pe-{key}"
    if folder.exists():
        return folder
    work = CACHE / f"{folder.name}.{id(inputs)}"
    work.mkdir(parents=True, exist_ok=True)
    for name, text in inputs.items():
        (work / name).write_text(text)
    for command in commands:
        if shutil.which(command[0]) is None:
            raise Missing(f"{command[0]} is not installed")
        done = subprocess.run(command, cwd=work, capture_output=True, text=True)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    try:
        work.rename(folder)
    except OSError:  # another worker built the same content first
        shutil.rmtree(work)
    return folder
