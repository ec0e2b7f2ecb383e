"""The members of a tar archive: ustar, and the extensions of GNU and pax.

The standard library's module is not used: it takes a damaged header in the middle for the end of the archive, so that
the libraries behind it would go unseen.
"""

from __future__ import annotations

from collections.abc import Iterator

from abistore.errors import ExtractError
from abistore.extract.packages.formats.bounds import UnpackBounds
from abistore.extract.packages.formats.members import PackageMember, exactly, inner_path, link_target
from abistore.extract.packages.formats.streams import Counted, MemberContent

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
            raise ExtractError(f"{package}: has a sparse file, which abistore does not unpack", "pack it without -S")
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
