"""Mach-O files built by zig's compiler and linker, which need no macOS, and files written byte by byte."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from abistore.extract.capture import read_all
from abistore.extract.files import InputFile
from abistore.extract.reader import ExtractOptions
from abistore.model.shapes import Import, Library, Symbol
from abistore.model.snapshot import Snapshot
from tests.build import CACHE, build_library

ARM, INTEL = "aarch64-macos", "x86_64-macos"


def build_dylib(
    source: str,
    *,
    target: str = ARM,
    language: str = "c",
    flags: Sequence[str] = ("-g", "-O1"),
    install_name: str = "@rpath/libcase.1.dylib",
    files: dict[str, str] | None = None,
    name: str = "libcase.1.dylib",
) -> Path:
    """A dylib of ``source``. C++ is linked without a runtime of its own, as Apple's linker does."""
    linking = ("-nostdlib++", "-Wl,-undefined,dynamic_lookup") if language == "c++" else ()
    own = (f"-Wl,-install_name,{install_name}",) if install_name else ()
    return build_library(
        source,
        language=language,
        compiler=f"zig cc -target {target}",
        flags=(*flags, *linking, *own),
        soname=None,
        files=files,
        name=name,
    )


def with_dsym(library: Path, folder: Path) -> Path:
    """A copy of ``library`` in ``folder``, with the bundle of its debug information beside it."""
    folder.mkdir(exist_ok=True)
    copy = folder / library.name
    shutil.copy(library, copy)
    done = subprocess.run(["dsymutil", copy.name], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0 and (folder / f"{copy.name}.dSYM").exists(), done.stderr
    return copy


def build_with_dsym(source: str, folder: Path, *, target: str = ARM, language: str = "c") -> Path:
    """A dylib of one object file, and its ``.dSYM``. The object file is gone."""
    folder.mkdir(exist_ok=True)
    suffix = {"c": "c", "c++": "cc"}[language]
    (folder / f"case.{suffix}").write_text(source)
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", target, "-g", "-O1"]
    os.environ.setdefault("ZIG_GLOBAL_CACHE_DIR", str(CACHE / "zig"))
    linking = ("-nostdlib++", "-Wl,-undefined,dynamic_lookup") if language == "c++" else ()
    subprocess.run([*zig, "-c", f"case.{suffix}", "-o", "case.o"], cwd=folder, check=True, capture_output=True)
    link = [*zig, "-shared", *linking, "case.o", "-o", "libcase.1.dylib", "-Wl,-install_name,@rpath/libcase.1.dylib"]
    subprocess.run(link, cwd=folder, check=True, capture_output=True)
    built = with_dsym(folder / "libcase.1.dylib", folder / "out")
    (folder / "case.o").unlink()
    return built


def universal(parts: Sequence[Path], path: Path) -> Path:
    """A universal file of thin ones."""
    data = [each.read_bytes() for each in parts]
    offset, rows, bodies = 4096, b"", b""
    for each in data:
        cpu, subtype = struct.unpack_from("<II", each, 4)
        rows += struct.pack(">IIIII", cpu, subtype, offset, len(each), 12)
        body = each + bytes(-len(each) % 4096)
        bodies += body
        offset += len(body)
    head = struct.pack(">II", 0xCAFEBABE, len(data)) + rows
    path.write_bytes(head + bytes(4096 - len(head)) + bodies)
    return path


def snapshots(path: Path, **options: object) -> tuple[Snapshot, ...]:
    """What is read of every architecture of a file."""
    with InputFile(path) as file:
        return read_all(file, msgspec.convert({}, ExtractOptions) if not options else ExtractOptions(**options))  # type: ignore[arg-type]


def snapshot(path: Path, **options: object) -> Snapshot:
    """What is read of a file of one architecture."""
    (found,) = snapshots(path, **options)
    return found


def exports(found: Snapshot) -> dict[str, Symbol]:
    """The exports by name."""
    return {
        name.spelling: shape
        for name, shapes in found.entries["symbol"].items()
        for shape in shapes
        if isinstance(shape, Symbol)
    }


def imports(found: Snapshot) -> dict[str, Import]:
    """The imports by name."""
    return {
        name.spelling: shape
        for name, shapes in found.entries["symbol"].items()
        for shape in shapes
        if isinstance(shape, Import)
    }


def library(found: Snapshot) -> Library:
    """The facts of the file."""
    assert found.facts is not None
    return found.facts


# --- files that no linker here writes -----------------------------------------------------------------------------


def leb(value: int) -> bytes:
    """An unsigned LEB128 number."""
    out = b""
    while True:
        low, value = value & 0x7F, value >> 7
        out += bytes([low | (0x80 if value else 0)])
        if not value:
            return out


def trie(exports: dict[str, bytes]) -> bytes:
    """An exports trie with one edge for each name; the values are what stands at each name."""
    count = len(exports)
    root_size = 2 + sum(len(name.encode()) + 1 + 3 for name in exports)
    body, offsets = b"", []
    for terminal in exports.values():
        offsets.append(root_size + len(body))
        body += leb(len(terminal)) + terminal + b"\0"
    root = bytes([0, count])
    for name, offset in zip(exports, offsets, strict=True):
        root += name.encode() + b"\0" + bytes([offset & 0x7F | 0x80, offset >> 7 & 0x7F | 0x80, offset >> 14])
    assert len(root) == root_size
    return root + body


def command(kind: int, data: bytes) -> bytes:
    """A load command."""
    data += bytes(-len(data) % 8)
    return struct.pack("<II", kind, len(data) + 8) + data


def dylib_command(kind: int, name: str, *, current: int = 0x10000, compatibility: int = 0x10000) -> bytes:
    """A load command that names a library."""
    return command(kind, struct.pack("<4I", 24, 2, current, compatibility) + name.encode() + b"\0")


def text_command(kind: int, text: str) -> bytes:
    """A load command with one text."""
    return command(kind, struct.pack("<I", 12) + text.encode() + b"\0")


def written(
    commands: Sequence[bytes], tables: dict[int, bytes] | None = None, *, filetype: int = 6, flags: int = 0x85
) -> bytes:
    """A file of load commands, and tables in ``__LINKEDIT`` that load commands of these numbers point to."""
    tables = tables or {}
    text = struct.pack("<16sQQQQiiII", b"__TEXT", 0, 0x4000, 0, 0x4000, 5, 5, 0, 0)
    size = sum(map(len, commands)) + 8 + len(text) + 16 * len(tables)
    place = 0x4000
    pointers, bodies = b"", b""
    for kind, data in tables.items():
        pointers += command(kind, struct.pack("<II", place + len(bodies), len(data)))
        bodies += data
    head = struct.pack("<8I", 0xFEEDFACF, 0x0100000C, 0, filetype, len(commands) + 1 + len(tables), size, flags, 0)
    head += command(0x19, text) + b"".join(commands) + pointers
    return head + bytes(place - len(head)) + bodies


def re_exporting(library: Path, name: str) -> bytes:
    """The bytes of a dylib that re-exports ``name`` where it needs the system's library: zig cannot link so."""
    data = bytearray(library.read_bytes())
    place = data.index(b"/usr/lib/libSystem.B.dylib\0")
    command = place - 24  # its name stands behind the fields of a dylib_command
    assert struct.unpack_from("<I", data, command) == (0xC,)
    struct.pack_into("<I", data, command, 0x8000001F)
    data[place : place + 27] = name.encode().ljust(27, b"\0")
    return bytes(data)
