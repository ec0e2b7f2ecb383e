"""Build a shared library from source text with a real compiler, cached by the content of everything that goes in."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from examples.obtain import Missing, alone

CACHE = Path(os.environ.get("ABISTORE_TEST_CACHE", Path(__file__).parent.parent / ".cache" / "build"))

LACKS = re.compile(r"cannot execute .(\w+).:|invalid linker name in.*-fuse-ld=(\w+)")
"""What a compiler says that does not find its assembler, its linker, or its part for the language."""

NARROW = ("-g", "-O1", "-m32", "-nostdlib")
"""Flags with which gcc on x86-64 builds for i386, where nothing of a C library is used."""

SUFFIXES = {"c": ".c", "c++": ".cc"}
COMPILERS = {"c": "gcc", "c++": "g++"}


@cache
def version(program: str) -> str:
    """What a compiler or linker says of its version. Raises ``Missing`` where it is not installed."""
    command = command_of(program)
    with TemporaryDirectory() as folder:  # zig leaves an object file behind
        return subprocess.run([*command, "--version"], cwd=folder, check=True, capture_output=True, text=True).stdout


def command_of(program: str) -> list[str]:
    """The command that starts a compiler or linker. Raises ``Missing`` where it is not installed."""
    name, *rest = program.split()
    if not (find_spec("ziglang") if name == "zig" else shutil.which(name)):
        raise Missing(f"{name} is not installed")
    if name == "zig":  # a package of the environment, which brings compilers and linkers of all platforms
        os.environ.setdefault("ZIG_GLOBAL_CACHE_DIR", str(CACHE / "zig"))  # its runtime is compiled once a target
        return [sys.executable, "-m", "ziglang", *rest]
    return [name, *rest]


def build_library(
    source: str,
    *,
    language: str = "c",
    compiler: str | None = None,
    flags: Sequence[str] = ("-g", "-O1"),
    soname: str | None = "libcase.so.1",
    files: Mapping[str, str] | None = None,
    name: str = "libcase.so",
) -> Path:
    """The path of a shared library built from ``source``.

    ``files`` are further files by name (headers, ``more.c``, version scripts) laid beside the source; flags refer to
    them by bare name, further sources are named in ``flags``. The compiler runs in its own folder, so that the debug
    information holds no path but relative ones.
    """
    compiler = compiler or COMPILERS[language]
    main = "case" + SUFFIXES[language]
    inputs = {main: source, **(files or {})}
    command = [*command_of(compiler), "-shared", "-fPIC", *flags, main, "-o", name]
    if soname:
        command.append(f"-Wl,-soname,{soname}")
    key = hashlib.sha256(repr((sorted(inputs.items()), command, version(compiler))).encode()).hexdigest()[:24]
    folder = CACHE / key
    built = folder / name
    if not built.exists():
        with alone(CACHE / "locks" / key[:2]):  # or each worker that wants it compiles it
            if not built.exists():
                _build(folder, inputs, command)
    return built


def _build(folder: Path, inputs: Mapping[str, str], command: Sequence[str]) -> None:
    work = folder.with_name(f"{folder.name}.{os.getpid()}")
    work.mkdir(parents=True, exist_ok=True)
    for file, text in inputs.items():
        (work / file).parent.mkdir(parents=True, exist_ok=True)
        (work / file).write_text(text)
    done = subprocess.run([*command, f"-ffile-prefix-map={work.resolve()}=."], cwd=work, capture_output=True, text=True)
    if lacks := LACKS.search(done.stderr):
        raise Missing(f"{lacks[1] or lacks[2]} is not installed")
    if done.returncode:
        raise AssertionError(f"{' '.join(command)}\n{done.stderr}")
    work.rename(folder)
