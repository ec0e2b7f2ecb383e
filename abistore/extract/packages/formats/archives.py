"""Tar archives, plain and compressed."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.errors import UnknownFormat
from abistore.extract.input_file import InputFile
from abistore.extract.packages.formats.bounds import UnpackBounds
from abistore.extract.packages.formats.identity import PackageIdentity, from_file_name, from_index
from abistore.extract.packages.formats.members import PackageMember, exactly
from abistore.extract.packages.formats.streams import BZIP2, GZIP, XZ, ZSTD, part, unpacked
from abistore.extract.packages.formats.tars import BLOCK, is_tar, tar_members


def accepts(head: bytes) -> bool:
    """Whether ``head`` begins a tar archive, or something compressed that may be one."""
    return head.startswith((GZIP, BZIP2, XZ, ZSTD)) or is_tar(head)


def identity(file: InputFile, bounds: UnpackBounds) -> PackageIdentity:
    """The name and version of conda's index, which older packages of conda have, or of the file's name."""
    for member in members(file, bounds) if file.path.name.endswith(".tar.bz2") else ():
        if member.path == "info/index.json" and member.content is not None:
            return from_index(member.content.read(1 << 20))
    return from_file_name(file.path.name)


def members(file: InputFile, bounds: UnpackBounds) -> Iterator[PackageMember]:
    """Files and links. Raises :class:`UnknownFormat` where something else is compressed."""
    head = unpacked(part(file, 0, file.size), bounds)
    if not is_tar(exactly(head, BLOCK, bounds.name)):
        raise UnknownFormat(f"{file.path}: is compressed, and no tar archive", "unpack it, and name the library")
    yield from tar_members(unpacked(part(file, 0, file.size), bounds), bounds)
