"""Streams and members of packages within bounds, and what a package says of itself."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import posixpath
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import BinaryIO, NamedTuple, Protocol, cast

import msgspec

from abistore.errors import ExtractError, LimitExceeded
from abistore.extract.files import InputFile

MEMBERS = 200_000
"""The most members of a package; the largest real ones have some 100,000."""

RATIO = 100
"""The most bytes that a byte of a package may become: real ones stay below 20, bombs begin at 1,000."""

FREE = 256 << 20
"""Bytes that any package may become, however small it is."""


class UnpackBounds:
    """Counts what is unpacked of one package, and ends it at the first bound."""

    def __init__(self, name: str, packed: int, most: int) -> None:
        self.name = name
        self._packed = packed
        self._most = min(most, FREE + RATIO * packed)
        self._bytes = self._members = 0

    def take(self, count: int) -> None:
        """Count further bytes. Raises :class:`LimitExceeded`."""
        self._bytes += count
        if self._bytes > self._most:
            raise LimitExceeded(
                f"{self.name}: its {self._packed:,} bytes unpack to more than {self._most:,}",
                "the package is damaged or hostile; unpack it and pass the folder",
            )

    def take_member(self) -> None:
        """Count a further member. Raises :class:`LimitExceeded`."""
        self._members += 1
        if self._members > MEMBERS:
            raise LimitExceeded(f"{self.name}: has more than {MEMBERS:,} members")


LONGEST = 200
MOST_NAMED = 500
"""How many packages a package may depend on, or break."""

_GOES_ON = re.compile(r"\r?\n[ \t]+(?=\S)")
_NEEDED = re.compile(r"(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]*)")
_SURELY = re.compile(r"(?:^|(?<=,))\s*([a-z0-9][a-z0-9+.-]*)(?=[^,|]*(?:,|$))")
_ONE_VERSION = re.compile(r"(?:^|,)\s*([a-z0-9][a-z0-9+.-]*)(?::\w+)?\s*\(\s*=[^)]*\)")


class PackageIdentity(NamedTuple):
    """Name and version; empty where the package does not tell.

    ``needs`` are the packages that it depends on, ``built_with`` those of which it needs one version alone: Debian's
    ``libfoo1 (= 1.0-1)``. ``depends`` are what is installed with it in any case: packages without an alternative, and
    what an RPM package requires. ``breaks`` are the packages that it does not work beside: ``foo (<< 2)``.
    ``symbols`` is the text of Debian's symbols file.
    """

    name: str = ""
    version: str = ""
    built_with: frozenset[str] = frozenset()
    needs: tuple[str, ...] = ()
    source: str = ""
    architecture: str = ""
    suite: str = ""
    depends: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()
    symbols: str = ""


class _Index(msgspec.Struct):
    name: str = ""
    version: str = ""


IN_FILE_NAME = re.compile(r"(.+?)[-_]v?(\d[\w.+~]*?)(?:[-_].*)?(?:\.tar)?\.(?:t?[a-z]z2?|bz2|zst|tar|zip)")


def from_control(data: bytes) -> PackageIdentity:
    """Of Debian's control file."""
    said = control_fields(data)
    name = said.get("Package", "")[:LONGEST]
    depends = ", ".join(filter(None, (said.get(field, "") for field in ("Pre-Depends", "Depends"))))
    return PackageIdentity(
        name,
        said.get("Version", "")[:LONGEST],
        frozenset(_ONE_VERSION.findall(depends)),
        tuple(_NEEDED.findall(depends)),
        source=said.get("Source", name).partition(" ")[0][:LONGEST],
        architecture=said.get("Architecture", "")[:LONGEST],
        depends=tuple(sorted(set(_SURELY.findall(depends))))[:MOST_NAMED],
        breaks=_listed(said.get("Breaks", "")),
    )


def from_metadata(data: bytes) -> PackageIdentity:
    """Of a wheel's METADATA."""
    said = control_fields(data)
    return PackageIdentity(said.get("Name", "")[:LONGEST], said.get("Version", "")[:LONGEST])


def control_fields(data: bytes) -> dict[str, str]:
    """The fields of a control file or of one package in an index: ``Field: value``, up to the first empty line."""
    said = dict[str, str]()
    for line in _GOES_ON.sub(" ", data.decode("utf-8", "replace")).splitlines():
        if not line.strip():
            break
        field, colon, value = line.partition(":")
        if colon and not line[0].isspace():
            said.setdefault(field.strip(), value.strip())
    return said


def _listed(text: str) -> tuple[str, ...]:
    return tuple(each.strip()[:LONGEST] for each in text.split(",") if each.strip())[:MOST_NAMED]


def from_index(data: bytes) -> PackageIdentity:
    """Of conda's ``info/index.json``."""
    try:
        said = msgspec.json.decode(data, type=_Index)
    except msgspec.DecodeError:
        return PackageIdentity()
    return PackageIdentity(said.name[:LONGEST], said.version[:LONGEST])


def from_file_name(name: str) -> PackageIdentity:
    """Of an archive's name: ``libfoo-1.2.0.tar.gz``."""
    found = IN_FILE_NAME.fullmatch(name)
    return PackageIdentity(found[1], found[2]) if found else PackageIdentity()


class PackageMember(msgspec.Struct, frozen=True):
    """One member: a file whose ``content`` can be read until the next member is asked for, or a link to another one.

    ``path`` and ``link`` are relative to the package. A ``link`` is empty where it leads out of the package.
    """

    path: str
    size: int = 0
    content: BinaryIO | None = None
    link: str | None = None


class Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int = -1, /) -> bytes:
        """At most ``size`` bytes; none at the end."""


def inner_path(name: str, package: str) -> str:
    """The path of a member. Raises :class:`ExtractError` for one that leads out of the package."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or "\0" in name:
        raise ExtractError(
            f"{package}: has a member with a path outside the package: {name[:200]!r}",
            "do not unpack it: a valid package has no such member; build or download it again",
        )
    return "/".join(parts)


def link_target(path: str, target: str) -> str:
    """Where a symbolic link leads within the package, whose root ``/`` is; empty where it leads out of it."""
    joined = target if target.startswith("/") else posixpath.join("/", posixpath.dirname(path), target)
    depth = 0
    for part in joined.split("/"):
        depth += 0 if part in ("", ".") else -1 if part == ".." else 1
        if depth < 0:
            return ""
    return posixpath.normpath(joined).lstrip("/")


def exactly(stream: Readable, size: int, package: str) -> bytes:
    """The next ``size`` bytes. Raises :class:`ExtractError` where there are fewer."""
    pieces, missing = [], size
    while missing:
        piece = stream.read(min(missing, 1 << 20))
        if not piece:
            raise ExtractError(f"{package}: truncated: {missing:,} bytes are missing", "copy or download it again")
        pieces.append(piece)
        missing -= len(piece)
    return b"".join(pieces)


GZIP, BZIP2, XZ, ZSTD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"
LZMA = b"\x5d\0\0"
"""How the older ``.lzma`` streams begin that rpm packages have: the usual properties, and the size's low bytes."""


class FilePart(io.RawIOBase):
    """Some bytes of a file, as a stream of their own."""

    def __init__(self, file: InputFile, offset: int, size: int) -> None:
        file.check_range(offset, size)
        self._file, self._offset, self._size, self._at = file, offset, size, 0

    def readable(self) -> bool:
        """It can be read."""
        return True

    def seekable(self) -> bool:
        """It can be read from anywhere."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a place."""
        self._at = max(0, offset + (0, self._at, self._size)[whence])
        return self._at

    def tell(self) -> int:
        """The place."""
        return self._at

    def readinto(self, buffer: object, /) -> int:
        """Fill ``buffer`` as far as there are bytes."""
        view = memoryview(cast(bytearray, buffer)).cast("B")
        piece = self._file.read_at(self._offset + self._at, max(0, min(len(view), self._size - self._at)))
        view[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)


def part(file: InputFile, offset: int, size: int) -> BinaryIO:
    """``size`` bytes of ``file`` from ``offset``, buffered. Raises :class:`ExtractError`."""
    return cast(BinaryIO, io.BufferedReader(FilePart(file, offset, size), 1 << 16))


class Counted:
    """A stream whose bytes count."""

    def __init__(self, stream: Readable, bounds: UnpackBounds) -> None:
        self._stream, self._bounds = stream, bounds

    def read(self, size: int = -1, /) -> bytes:
        """At most ``size`` bytes, and at most a megabyte at once."""
        piece = self._stream.read(1 << 20 if size < 0 else min(size, 1 << 20))
        self._bounds.take(len(piece))
        return piece

    def drain(self) -> None:
        """Read to the end, where compressed streams have their checksum."""
        while self.read(1 << 20):
            pass


class MemberContent(io.RawIOBase):
    """The next ``size`` bytes of a stream; what is not read of them is skipped when the next member is asked for."""

    def __init__(self, stream: Readable, size: int, package: str) -> None:
        self._stream, self._left, self.package = stream, size, package

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, buffer: object, /) -> int:
        """Fill ``buffer`` as far as there are bytes."""
        view = memoryview(cast(bytearray, buffer)).cast("B")
        piece = exactly(self._stream, min(len(view), self._left, 1 << 20), self.package)
        view[: len(piece)] = piece
        self._left -= len(piece)
        return len(piece)

    def skip(self, padding: int = 0) -> None:
        """Read over what is left, and over ``padding`` bytes after it."""
        left, self._left = self._left + padding, 0
        while left:
            left -= len(exactly(self._stream, min(left, 1 << 20), self.package))


def unpacked(stream: BinaryIO, bounds: UnpackBounds) -> Counted:
    """What a stream unpacks to, by the bytes that it begins with; one that is not compressed is itself."""
    head = stream.read(8)
    stream.seek(-len(head), 1)
    return Counted(_opened(stream, head), bounds)


def _opened(stream: BinaryIO, head: bytes) -> Readable:
    if head.startswith(GZIP):
        return gzip.GzipFile(fileobj=stream)
    if head.startswith(BZIP2):
        return bz2.BZ2File(stream)
    if head.startswith((XZ, LZMA)):
        return lzma.LZMAFile(stream)
    if head.startswith(ZSTD):
        return cast(Readable, zstd_module().ZstdFile(stream))
    return stream


def zstd_module() -> ModuleType:
    """The module that unpacks zstd. Raises :class:`ExtractError` where there is none."""
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise ExtractError("the package is compressed with zstd", "pip install backports.zstd, or use Python 3.14 or newer")


@contextmanager
def damage_told(package: str) -> Iterator[None]:
    """Raises :class:`ExtractError` for whatever a library that unpacks says of a damaged package."""
    try:
        yield
    except (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, struct.error) as error:
        raise _damaged(package, error) from None
    except (OSError, ValueError, NotImplementedError, RuntimeError, OverflowError, IndexError, KeyError) as error:
        if isinstance(error, RecursionError) or getattr(error, "errno", None) == errno.ENOMEM:
            raise
        raise _damaged(package, error) from None
    except Exception as error:  # the errors of zstd have a class of their own, in a module that may not be there
        if type(error).__name__ != "ZstdError":
            raise
        raise _damaged(package, error) from None


def _damaged(package: str, error: Exception) -> ExtractError:
    said = " ".join(str(error).split())[:200] or type(error).__name__
    return ExtractError(f"{package}: cannot be unpacked: {said}", "copy, download or build the package again")
