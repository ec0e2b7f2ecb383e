"""The formats of packages: from a file to its members.

The standard library's ``tarfile`` takes a damaged header in the middle for the end of the archive: the libraries behind
it would go unseen.
"""

from __future__ import annotations

import re
import stat
import struct
import zipfile
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, cast

from abistore.errors import ExtractError, UnknownFormat
from abistore.extract.files import InputFile
from abistore.extract.packages.streams import (
    BZIP2,
    GZIP,
    LONGEST,
    MOST_NAMED,
    XZ,
    ZSTD,
    Counted,
    MemberContent,
    PackageIdentity,
    PackageMember,
    UnpackBounds,
    exactly,
    from_control,
    from_file_name,
    from_index,
    from_metadata,
    inner_path,
    link_target,
    part,
    unpacked,
)

BLOCK = 512
LONGEST_HEADER = 1 << 20
"""The most bytes of one extended header: names and numbers."""

_LONGEST_LENGTH = 21
"""Digits of a record's length, and the blank after them."""

HARD_LINK, SYMBOLIC_LINK = b"1", b"2"
LONG_NAME, LONG_LINK, PAX, PAX_FOR_ALL, SPARSE = b"L", b"K", b"x", b"g", b"S"


def is_tar(head: bytes) -> bool:
    """Whether a stream begins like a tar archive: the checksum of its first header is right."""
    return len(head) >= BLOCK and any(head[:100]) and _checksum(head[148:156]) in _sums(head)


def tar_members(stream: Counted, bounds: UnpackBounds) -> Iterator[PackageMember]:
    """Files and links, in order. Raises :class:`ExtractError` for one that is damaged or does not end."""
    package, extended = bounds.name, dict[str, str]()
    while any(header := exactly(stream, BLOCK, package)):
        if _checksum(header[148:156]) not in _sums(header):
            raise ExtractError(f"{package}: a header in its tar archive is damaged", "copy or download it again")
        kind, size = header[156:157], _number(header[124:136], package)
        if kind in (LONG_NAME, LONG_LINK, PAX, PAX_FOR_ALL):
            said = _extension(kind, _text_of(stream, size, package), package)
            extended |= {} if kind == PAX_FOR_ALL else said
            continue
        bounds.take_member()
        size = _decimal(extended["size"], package) if "size" in extended else size
        if kind == SPARSE or "GNU.sparse.major" in extended:
            raise ExtractError(f"{package}: has a sparse file, which abistore does not unpack", "create it without -S")
        yield from _member(header, extended, MemberContent(stream, size, package), size)
        extended = {}
    stream.drain()


def _member(header: bytes, extended: dict[str, str], content: MemberContent, size: int) -> Iterator[PackageMember]:
    package = content.package
    kind, padding = header[156:157], -size % BLOCK
    path = inner_path(extended.get("path") or _name(header), package)
    link = extended.get("linkpath") or _text(header[157:257])
    if kind == SYMBOLIC_LINK:
        yield PackageMember(path, link=link_target(path, link))
    elif kind == HARD_LINK:
        yield PackageMember(path, link=inner_path(link, package))
    elif kind in (b"\0", b"0", b"7") and path and not _text(header[:100]).endswith("/"):
        yield PackageMember(path, size, content)  # type: ignore[arg-type]  # a raw stream reads like a binary one
    content.skip(padding)


def _extension(kind: bytes, data: bytes, package: str) -> dict[str, str]:
    """What an extended header says of the member after it."""
    if kind in (LONG_NAME, LONG_LINK):
        return {"path" if kind == LONG_NAME else "linkpath": _text(data)}
    said, place, end = dict[str, str](), 0, len(data.rstrip(b"\0"))
    while place < end:
        length = data[place : place + _LONGEST_LENGTH].partition(b" ")[0]
        count = _decimal(length.decode("ascii", "replace"), package)
        if not len(length) + 1 < count <= len(data) - place:
            raise ExtractError(f"{package}: an extended header in its tar archive is damaged")
        record = data[place + len(length) + 1 : place + count]
        key, _, value = record.removesuffix(b"\n").partition(b"=")
        said[_text(key)] = value.decode("utf-8", "surrogateescape")
        place += count
    return said


def _text_of(stream: Counted, size: int, package: str) -> bytes:
    if size > LONGEST_HEADER:
        raise ExtractError(f"{package}: an extended header in its tar archive has {size:,} bytes")
    data = exactly(stream, size, package)
    exactly(stream, -size % BLOCK, package)
    return data


def _name(header: bytes) -> str:
    name, prefix = _text(header[:100]), _text(header[345:500])
    # GNU's own format has other things where the prefix stands
    return f"{prefix}/{name}" if prefix and header[257:263] == b"ustar\0" else name


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", "surrogateescape")


def _number(field: bytes, package: str) -> int:
    """Octal digits, or GNU's binary form for what they cannot hold."""
    if field[:1] == b"\x80":
        return int.from_bytes(field[1:], "big")
    digits = field.strip(b" \0")
    try:
        found = int(digits, 8) if digits else 0
    except ValueError:
        found = -1
    if found < 0:
        raise ExtractError(f"{package}: a size in its tar archive is damaged", "copy or download it again")
    return found


def _decimal(text: str, package: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 20:
        raise ExtractError(f"{package}: a number in its tar archive is damaged: {text[:20]!r}")
    return int(text)


def _checksum(field: bytes) -> int:
    try:
        return int(field.strip(b" \0") or b"-1", 8)
    except ValueError:
        return -1


def _sums(header: bytes) -> tuple[int, int]:
    """The sums that the checksum may be, of unsigned and of signed bytes; its own field counts as blanks."""
    counted = header[:148] + b" " * 8 + header[156:BLOCK]
    total = sum(counted)
    high = 0 if counted.isascii() else sum(byte > 127 for byte in counted)
    return total, total - 256 * high


def accepts_archive(head: bytes) -> bool:
    """Whether ``head`` begins a tar archive, or something compressed that may be one."""
    return head.startswith((GZIP, BZIP2, XZ, ZSTD)) or is_tar(head)


def archive_identity(file: InputFile, bounds: UnpackBounds) -> PackageIdentity:
    """The name and version of conda's index, which older packages of conda have, or of the file's name."""
    for member in archive_members(file, bounds) if file.path.name.endswith(".tar.bz2") else ():
        if member.path == "info/index.json" and member.content is not None:
            return from_index(member.content.read(1 << 20))
    return from_file_name(file.path.name)


def archive_members(file: InputFile, bounds: UnpackBounds) -> Iterator[PackageMember]:
    """Files and links. Raises :class:`UnknownFormat` where something else is compressed."""
    head = unpacked(part(file, 0, file.size), bounds)
    if not is_tar(exactly(head, BLOCK, bounds.name)):
        raise UnknownFormat(f"{file.path}: compressed, but not a tar archive", "unpack it, and pass the library")
    yield from tar_members(unpacked(part(file, 0, file.size), bounds), bounds)


_MAGICS = (b"070701", b"070702")
_HEADER, _LONGEST_NAME = 110, 1 << 16
_END = "TRAILER!!!"


def cpio_members(stream: Counted, bounds: UnpackBounds) -> Iterator[PackageMember]:
    """Files and links, in order. Raises :class:`ExtractError` for one that is damaged or does not end."""
    package, waiting = bounds.name, dict[tuple[int, ...], list[str]]()
    while True:
        header = exactly(stream, _HEADER, package)
        fields = _fields(header, package)
        inode, mode, links, size, length = fields[0], fields[1], fields[4], fields[6], fields[11]
        if not 0 < length <= _LONGEST_NAME:
            raise ExtractError(f"{package}: a name in its cpio archive has {length:,} bytes")
        name = exactly(stream, length, package).rstrip(b"\0").decode("utf-8", "surrogateescape")
        exactly(stream, -(_HEADER + length) % 4, package)
        if name == _END:
            break
        bounds.take_member()
        path, content = inner_path(name.lstrip("/"), package), MemberContent(stream, size, package)
        file = (inode, *fields[7:9])
        if stat.S_ISLNK(mode):
            if size > _LONGEST_NAME:
                raise ExtractError(f"{package}: a link in its cpio archive has {size:,} bytes")
            target = exactly(stream, size, package).decode("utf-8", "surrogateescape")
            content = MemberContent(stream, 0, package)
            yield PackageMember(path, link=link_target(path, target))
        elif stat.S_ISREG(mode) and links > 1 and not size:
            waiting.setdefault(file, []).append(path)  # the last of its names comes with the content
        elif stat.S_ISREG(mode):
            yield PackageMember(path, size, content)  # type: ignore[arg-type]  # a raw stream reads like a binary one
            yield from (PackageMember(other, link=path) for other in waiting.pop(file, ()))
        content.skip(-size % 4)
    stream.drain()


def _fields(header: bytes, package: str) -> tuple[int, ...]:
    """The numbers of a header: 13 of eight hexadecimal digits."""
    if header[:6] not in _MAGICS:
        raise ExtractError(f"{package}: a header in its cpio archive is damaged", "download it again")
    try:
        return tuple(int(header[at : at + 8], 16) for at in range(6, _HEADER, 8))
    except ValueError:
        raise ExtractError(f"{package}: a number in its cpio archive is damaged", "download it again") from None


DEB_MAGIC = b"!<arch>\ndebian-binary"
"""An ar archive of which this is the first member; any other one is a static library."""

_TOLD = {"control": 1 << 20, "symbols": 16 << 20}
"""How much is read of each of the files that tell of the package."""

_DEB_HEADER = 60
_MOST_MEMBERS = 100


def accepts_deb(head: bytes) -> bool:
    """Whether ``head`` begins a Debian package."""
    return head.startswith(DEB_MAGIC)


def deb_identity(file: InputFile, bounds: UnpackBounds) -> PackageIdentity:
    """What the control file says, and the symbols file beside it."""
    told = dict[str, bytes]()
    for member in _members(file, bounds, "control.tar"):
        if member.path in _TOLD and member.content is not None:
            told[member.path] = member.content.read(_TOLD[member.path])
    if "control" not in told:
        raise ExtractError(f"{file.path.name}: has no control file")
    symbols = told.get("symbols", b"").decode("utf-8", "replace")
    return from_control(told["control"])._replace(symbols=symbols)


def deb_members(file: InputFile, bounds: UnpackBounds) -> Iterator[PackageMember]:
    """What is installed."""
    return _members(file, bounds, "data.tar")


def _members(file: InputFile, bounds: UnpackBounds, wanted: str) -> Iterator[PackageMember]:
    for name, offset, size in _archive(file):
        if name.startswith(wanted):
            yield from tar_members(unpacked(part(file, offset, size), bounds), bounds)
            return
    raise ExtractError(f"{file.path.name}: has no {wanted}", "the Debian package is incomplete: download it again")


def _archive(file: InputFile) -> Iterator[tuple[str, int, int]]:
    """Name, offset and size of each member of the ar archive."""
    offset = 8
    for _ in range(_MOST_MEMBERS):
        if offset >= file.size:
            return
        header = file.read_at(offset, _DEB_HEADER)
        digits = header[48:58].strip()
        if header[58:] != b"`\n" or not digits.isdigit():
            raise ExtractError(f"{file.path.name}: a header in its ar archive is damaged", "download it again")
        size, offset = int(digits), offset + _DEB_HEADER
        file.check_range(offset, size)
        yield header[:16].decode("ascii", "replace").rstrip(" /"), offset, size
        offset += size + size % 2


RPM_MAGIC = b"\xed\xab\xee\xdb"
_LEAD, _HEADER_MAGIC = 96, b"\x8e\xad\xe8\x01"
_NAME, _VERSION, _RELEASE, _DISTRIBUTION, _ARCHITECTURE, _SOURCE = 1000, 1001, 1002, 1010, 1022, 1044
_REQUIRED, _REQUIRED_HOW, _CONFLICTS, _CONFLICTS_HOW, _CONFLICTS_VERSION = 1049, 1048, 1054, 1053, 1055
_STRING, _STRINGS, _NUMBERS = 6, 8, 4
_EQUAL, _ANY_SIGN, _OF_RPM_ITSELF = 8, 14, 1 << 24
_SIGNS = {2: "<", 4: ">", 8: "=", 10: "<=", 12: ">="}
_SOURCE_FILE = re.compile(r"-[^-]+-[^-]+\.(?:no)?src\.rpm$")
_MOST_TAGS, _MOST_BYTES = 1 << 16, 256 << 20
"""What RPM itself allows a header."""


def accepts_rpm(head: bytes) -> bool:
    """Whether ``head`` begins an RPM package."""
    return head.startswith(RPM_MAGIC)


def rpm_identity(file: InputFile, bounds: UnpackBounds) -> PackageIdentity:
    """What the header says; the version is that with the release: ``1.2-3.fc40``."""
    said, _ = _headers(file)
    told = zip(said.strings(_REQUIRED), said.numbers(_REQUIRED_HOW), strict=False)
    needs = [(name, how) for name, how in told if not how & _OF_RPM_ITSELF and not name.startswith("(")]
    required = [name for name, _ in needs]
    exactly = [name for name, how in needs if how & _ANY_SIGN == _EQUAL]
    return PackageIdentity(
        said.text(_NAME),
        "-".join(filter(None, (said.text(_VERSION), said.text(_RELEASE)))),
        frozenset(map(_package, exactly)),
        tuple(map(_package, required)),
        source=_SOURCE_FILE.sub("", said.text(_SOURCE)),
        architecture=said.text(_ARCHITECTURE),
        suite=said.text(_DISTRIBUTION),
        depends=tuple(sorted(set(required)))[:MOST_NAMED],
        breaks=tuple(_conflicts(said)),
    )


def _package(required: str) -> str:
    """``libfoo`` of ``libfoo(x86-64)``: the package of one architecture."""
    return required.partition("(")[0]


def _conflicts(said: _Header) -> Iterator[str]:
    """What does not work beside it: ``foo < 2``."""
    columns = (said.strings(_CONFLICTS), said.numbers(_CONFLICTS_HOW), said.strings(_CONFLICTS_VERSION))
    for name, how, version in zip(*columns, strict=False):
        yield f"{name} {_SIGNS.get(how & _ANY_SIGN, '')} {version}".strip() if version else name


def rpm_members(file: InputFile, bounds: UnpackBounds) -> Iterator[PackageMember]:
    """What is installed."""
    _, payload = _headers(file)
    yield from cpio_members(unpacked(part(file, payload, file.size - payload), bounds), bounds)


def _headers(file: InputFile) -> tuple[_Header, int]:
    _, end = _header(file, _LEAD)
    return _header(file, end + -end % 8)


class _Header(NamedTuple):
    """A header: the kind, place and number of the values of each tag, and the bytes that these lie in."""

    tags: dict[int, tuple[int, int, int]]
    store: bytes

    def text(self, tag: int) -> str:
        """The one string of a tag; empty where there is none."""
        return next(iter(self._strings(tag, _STRING)), "")[:LONGEST]

    def strings(self, tag: int) -> list[str]:
        return [each[:LONGEST] for each in self._strings(tag, _STRINGS)]

    def numbers(self, tag: int) -> tuple[int, ...]:
        kind, place, count = self.tags.get(tag, (0, 0, 0))
        data = self.store[place : place + 4 * min(count, MOST_NAMED)]
        return struct.unpack(f">{len(data) // 4}I", data[: len(data) // 4 * 4]) if kind == _NUMBERS else ()

    def _strings(self, tag: int, wanted: int) -> list[str]:
        kind, place, count = self.tags.get(tag, (0, 0, 0))
        if kind != wanted or place >= len(self.store):
            return []
        most = min(count, MOST_NAMED)
        found = self.store[place : place + most * LONGEST].split(b"\0", most)[:most]
        return [each.decode("utf-8", "replace") for each in found]


def _header(file: InputFile, offset: int) -> tuple[_Header, int]:
    start = file.read_at(offset, 16)
    count, size = struct.unpack(">II", start[8:])
    if start[:4] != _HEADER_MAGIC or count > _MOST_TAGS or size > _MOST_BYTES:
        raise ExtractError(f"{file.path.name}: a header of the RPM package is damaged", "download it again")
    index, store = offset + 16, offset + 16 + 16 * count
    rows = struct.iter_unpack(">IIII", file.read_at(index, 16 * count))
    places = {tag: (kind, place, values) for tag, kind, place, values in rows}
    file.check_range(store, size)
    return _Header(places, file.read_at(store, size)), store + size


MAGIC = b"PK\3\4"
_METADATA = re.compile(r"[^/]+\.dist-info/METADATA")
_CONDA = re.compile(r"(pkg|info)-[^/]+\.tar\.(zst|bz2|gz|xz)")
_LONGEST_LINK = 1 << 16
_ENCRYPTED = 1


def accepts_zip(head: bytes) -> bool:
    """Whether ``head`` begins a zip archive."""
    return head.startswith(MAGIC)


def zip_identity(file: InputFile, bounds: UnpackBounds) -> PackageIdentity:
    """The name and version of a wheel's metadata, of conda's index, or of the file's name."""
    with _opened_zip(file) as archive:
        for entry in archive.infolist():
            if _METADATA.fullmatch(entry.filename):
                with archive.open(entry) as stream:
                    return from_metadata(stream.read(1 << 20))
            if entry.filename.startswith("info-") and _CONDA.fullmatch(entry.filename):
                return _conda_identity(archive, entry, bounds)
    return from_file_name(file.path.name)


def _conda_identity(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, bounds: UnpackBounds) -> PackageIdentity:
    with archive.open(entry) as stream:
        for member in tar_members(unpacked(cast(BinaryIO, stream), bounds), bounds):
            if member.path == "info/index.json" and member.content is not None:
                return from_index(member.content.read(1 << 20))
    return PackageIdentity()


def zip_members(file: InputFile, bounds: UnpackBounds) -> Iterator[PackageMember]:
    """Files and links; of a conda package those of the tar archive in it."""
    with _opened_zip(file) as archive:
        for entry in archive.infolist():
            bounds.take_member()
            if entry.flag_bits & _ENCRYPTED:
                raise ExtractError(f"{bounds.name}: {entry.filename[:200]!r} is encrypted", "unpack it first")
            if not entry.is_dir():
                yield from _zip_member(archive, entry, bounds)


def _zip_member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, bounds: UnpackBounds) -> Iterator[PackageMember]:
    path, mode = inner_path(entry.filename, bounds.name), entry.external_attr >> 16
    with archive.open(entry) as stream:
        if _CONDA.fullmatch(path):
            yield from tar_members(unpacked(cast(BinaryIO, stream), bounds), bounds)
            return
        counted = Counted(stream, bounds)
        if stat.S_ISLNK(mode):
            yield PackageMember(
                path, link=link_target(path, counted.read(_LONGEST_LINK).decode("utf-8", "surrogateescape"))
            )
        elif not stat.S_IFMT(mode) or stat.S_ISREG(mode):
            yield PackageMember(path, entry.file_size, cast(BinaryIO, counted))


def _opened_zip(file: InputFile) -> zipfile.ZipFile:
    return zipfile.ZipFile(part(file, 0, file.size))
