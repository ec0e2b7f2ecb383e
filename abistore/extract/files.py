"""Input files, each opened once, and how they name other files with debug information."""

from __future__ import annotations

import os
import stat
import struct
import weakref
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Final

import msgspec

from abistore.errors import ExtractError, InputError, LimitExceeded, PathDenied
from abistore.files import open_file, status
from abistore.model.declarations import Kind
from abistore.patterns import pattern


def text_at(strings: bytes, offset: int) -> str:
    """The zero-terminated text at ``offset`` of a string table; empty where there is none.

    Bytes that are not UTF-8 are spelled ``\\xNN``, so that any name can be stored and printed.
    """
    end = strings.find(b"\0", offset)
    return strings[offset : end if end >= 0 else len(strings)].decode("utf-8", "backslashreplace")


class Exports(msgspec.Struct):
    """Where the exported symbols lie, to join them with what the debug information says.

    Addresses are link-time virtual addresses, with the ARM Thumb bit cleared, of code and not of its descriptors; TLS
    offsets count from the start of the TLS segment. Names at one address are sorted. An IFUNC is in ``kinds`` alone:
    its address is its resolver's. Of a symbol with several versions, a default keeps the name, and every other version
    is called as its declaration is (``open@FOO_1``): ``versions`` has the symbols of these names.
    """

    by_address: dict[int, tuple[str, ...]] = {}
    tls_by_offset: dict[int, tuple[str, ...]] = {}
    kinds: dict[str, Kind] = {}
    versions: dict[str, str] = {}

    @property
    def symbols(self) -> int:
        """How many symbols there are, whatever versions they have."""
        return len(self.kinds) - len(self.versions)


HEAD_BYTES = 4096
AGAIN = "read it again after its build or copy has finished"
_PIECE = 1 << 17


class InputFile:
    """A regular file behind one descriptor: whoever replaces the file at ``path`` meanwhile changes nothing here.

    A directory, a FIFO or a device is an :class:`InputError`, and never a wait.
    """

    def __init__(self, path: Path, descriptor: int | None = None) -> None:
        self.path = path
        self.descriptor = _open(path) if descriptor is None else descriptor
        self.close = weakref.finalize(self, os.close, self.descriptor)
        try:
            status = os.fstat(self.descriptor)
            _check_sort(path, status)
        except BaseException:
            self.close()
            raise
        self.size = status.st_size
        self.named: InputFile | None = None
        """The library that a linker script names, which is read in its place."""
        self._state = _state(status)

    def __enter__(self) -> InputFile:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def check_size(self, most: int) -> None:
        """Raises :class:`LimitExceeded` where the file has more than ``most`` bytes."""
        if self.size > most:
            raise LimitExceeded(f"{self.path}: {self.size:,} bytes, more than the limit of {most:,}")

    @cached_property
    def head(self) -> bytes:
        """The first 4,096 bytes, or all of a shorter file. Raises :class:`InputError` where there are none."""
        if not self.size:
            raise InputError(f"{self.path}: the file is empty", "name a shared library or a JSON snapshot")
        return self.read_at(0, min(HEAD_BYTES, self.size))

    def read_at(self, offset: int, size: int) -> bytes:
        """Exactly ``size`` bytes from ``offset``. Raises :class:`ExtractError` where they are not all there."""
        self.check_range(offset, size)
        pieces: list[bytes] = []
        missing = size
        while missing:
            piece = self._read(offset + size - missing, missing)
            pieces.append(piece)
            missing -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _read(self, offset: int, size: int) -> bytes:
        try:
            piece = os.pread(self.descriptor, size, offset)
        except OSError as error:
            raise ExtractError(f"{self.path}: cannot be read: {error.strerror}") from error
        if not piece:
            raise ExtractError(f"{self.path}: truncated: {size:,} bytes are missing at offset {offset:,}")
        return piece

    def check_range(self, offset: int, size: int) -> None:
        """Raises :class:`ExtractError` where the file does not reach over ``size`` bytes from ``offset``."""
        if offset < 0 or size < 0 or offset + size > self.size:
            raise ExtractError(
                f"{self.path}: truncated: {size:,} bytes at offset {offset:,} of {self.size:,}",
                "copy or download the file again",
            )

    def sha256(self) -> str:
        """The SHA-256 of the whole file, in hexadecimal.

        Raises :class:`ExtractError` where the file was written to since it was opened: then nobody can tell to which
        contents the digest belongs.
        """
        digest = self._sha256
        self.check_unchanged()
        return digest

    @cached_property
    def _sha256(self) -> str:
        import hashlib  # loads OpenSSL

        state = hashlib.sha256()
        for piece in self._pieces():
            state.update(piece)
        return state.hexdigest()

    def crc32(self) -> int:
        """The CRC-32 of the whole file, as ``.gnu_debuglink`` records it."""
        value = 0
        for piece in self._pieces():
            value = zlib.crc32(piece, value)
        return value

    def _pieces(self) -> Iterator[bytes]:
        for offset in range(0, self.size, _PIECE):
            yield self.read_at(offset, min(_PIECE, self.size - offset))

    def check_unchanged(self) -> None:
        """Raises :class:`ExtractError` where the file was written to since it was opened."""
        if _state(os.fstat(self.descriptor)) != self._state:
            raise ExtractError(f"{self.path}: was written to while it was read", AGAIN)

    def check_in_place(self, since: str) -> None:
        """Raise :class:`ExtractError` where another file stands at the path by now, so that ``since`` is of another."""
        self.check_unchanged()
        try:
            there: os.stat_result | None = status(self.path)
        except (OSError, ValueError, PathDenied):
            there = None
        if there is None or not os.path.samestat(there, os.fstat(self.descriptor)):
            raise ExtractError(f"{self.path}: was replaced while {since}", AGAIN)
        if self.named is not None:
            self.named.check_in_place(since)


class InputFolder(InputFile):
    """A folder that stands where a file may: what is in it is opened file by file."""

    def __init__(self, path: Path, descriptor: int | None = None) -> None:
        self.path = path
        self.descriptor = _open(path) if descriptor is None else descriptor
        self.close = weakref.finalize(self, os.close, self.descriptor)
        self.size = 0
        self._taken: dict[Path, tuple[int, ...]] = {}

    head = b""  # of no format

    def taken(self, path: Path) -> InputFile:
        """The file at ``path`` in the folder, which is to stay there until :meth:`check_unchanged`."""
        file = InputFile(path)
        self._taken[path] = _identity(os.fstat(file.descriptor))
        return file

    def check_unchanged(self) -> None:
        """Raise :class:`ExtractError` where a file that was taken is gone from its place, or was written to since."""
        for path, known in self._taken.items():
            try:
                same = _identity(status(path)) == known
            except (OSError, PathDenied):
                same = False
            if not same:
                raise ExtractError(f"{path}: was replaced or written to while {self.path} was read", AGAIN)

    def check_in_place(self, since: str) -> None:
        """Of a folder: each file that was taken."""
        self.check_unchanged()


def open_input(path: Path, descriptor: int | None = None) -> InputFile:
    """The file or folder at ``path``. Raises :class:`InputError`."""
    descriptor = _open(path) if descriptor is None else descriptor
    is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
    return (InputFolder if is_folder else InputFile)(path, descriptor)


def _open(path: Path) -> int:
    try:
        return open_file(path)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file", "check the path") from None
    except PermissionError:
        raise InputError(f"{path}: not readable", "check the permissions of the file and its folder") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be opened: {getattr(error, 'strerror', None) or error}") from error


def _check_sort(path: Path, status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise InputError(f"{path}: is a directory", "pass a file")
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{path}: is not a regular file", "copy it to a regular file first")


def _identity(status: os.stat_result) -> tuple[int, ...]:
    """Which file is there, and what writing to it changes."""
    return status.st_dev, status.st_ino, *_state(status)


def _state(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


ARCHIVES: Final = (b"!<arch>\n", b"!<thin>\n")
_MOST_MEMBERS: Final = 16
_HEADER: Final = 60
_SHORT_IMPORT: Final = b"\0\0\xff\xff"
_IMPORT_SECTIONS: Final = (b".idata$", b"__nm_")


def refusal(file: InputFile) -> ExtractError:
    """Why an archive is not read: it holds no ABI of its own."""
    if _imports(file):
        return ExtractError(
            f"{file.path}: is an import library",
            "pass the DLL itself: an import library only lists its exports for linkers",
        )
    return ExtractError(
        f"{file.path}: is a static archive",
        "pass the shared library: programs contain their own copy of an archive",
    )


def _imports(file: InputFile) -> bool:
    """Whether one of the first members tells of an import: Visual C++ has a short form, MinGW object files."""
    place = len(ARCHIVES[0])
    for _ in range(_MOST_MEMBERS):
        if place + _HEADER > file.size:
            return False
        header = file.read_at(place, _HEADER)
        size = int(header[48:58]) if header[48:58].strip().isdigit() else 0
        start = file.read_at(place + _HEADER, min(size, 1024, file.size - place - _HEADER))
        if start.startswith(_SHORT_IMPORT) or any(mark in start for mark in _IMPORT_SECTIONS):
            return True
        place += _HEADER + size + size % 2
    return False


_VERSION: Final = 5
_NAME_START: Final = 3
"""Of ``.debug_sup``: after the version and the flag."""


def debug_link(section: bytes, order: str) -> tuple[str, int] | None:
    """The name of the debug file and its CRC-32; ``None`` where the section is absent or too short.

    The checksum stands behind the name's zero, at the next multiple of four bytes (GDB manual, "Separate Debug Files").
    ``order`` is that of its bytes, as :mod:`struct` spells it.
    """
    end = section.find(b"\0")
    start = (end + 4) & ~3
    if end < 1 or start + 4 > len(section):
        return None
    return text_at(section, 0), int(struct.unpack_from(order + "I", section, start)[0])


class SupplementaryLink(msgspec.Struct, frozen=True):
    """What ``.debug_sup`` says: whether the file is the supplementary one, else its name; the checksum of both."""

    is_supplementary: bool
    name: str
    checksum: str


def read_supplement(data: bytes, order: str) -> SupplementaryLink | None:
    """The contents of ``.debug_sup`` (DWARF 5, section 7.3.6); ``None`` where it is absent or not well-formed."""
    end = data.find(b"\0", _NAME_START)
    if end < 0 or struct.unpack_from(order + "H", data)[0] != _VERSION:
        return None
    (length,) = data[end + 1 : end + 2] or b"\0"  # ULEB128: no checksum has 128 bytes
    checksum = data[end + 2 : end + 2 + length]
    name = data[_NAME_START:end].decode("utf-8", "backslashreplace")
    return SupplementaryLink(data[2] != 0, name, checksum.hex()) if 0 < len(checksum) == length < 0x80 else None


_YAML = pattern(rb"---[ \t]*(!tapi-tbd\S*|\r?\n(?:.*\r?\n){0,20}?install-name:)")
_JSON = pattern(rb'\s*\{\s*"(?:main_library|libraries|tapi_tbd_version)"\s*:')


def is_stub(head: bytes) -> bool:
    """Whether ``head`` begins a text stub."""
    return _YAML.match(head) is not None or is_json_stub(head)


_ABICHECK = pattern(
    rb'\s*\{\s*(?:"schema_version"\s*:\s*\d+\s*,\s*"sections"\s*:'
    rb'|"library"\s*:\s*"[^"\\]*"\s*,\s*"version"\s*:\s*(?:"[^"\\]*"|null)\s*,\s*"functions"\s*:)'
)


def is_abicheck(head: bytes) -> bool:
    """Whether ``head`` begins a snapshot of abicheck, which is JSON as snapshots are."""
    return _ABICHECK.match(head) is not None


def is_json_stub(head: bytes) -> bool:
    """Whether ``head`` begins a text stub of version 5, which is JSON as snapshots are."""
    return _JSON.match(head) is not None
