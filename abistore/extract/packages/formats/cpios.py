"""The members of a cpio archive in the format of RPM payloads: ``newc``."""

from __future__ import annotations

import stat
from collections.abc import Iterator

from abistore.errors import ExtractError
from abistore.extract.packages.formats.bounds import UnpackBounds
from abistore.extract.packages.formats.members import PackageMember, exactly, inner_path, link_target
from abistore.extract.packages.formats.streams import Counted, MemberContent

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
