"""Wheels and other zip archives, and conda's packages, which are zip archives of tar archives."""

from __future__ import annotations

import re
import stat
import zipfile
from collections.abc import Iterator
from typing import BinaryIO, cast

from abistore.errors import ExtractError
from abistore.extract.input_file import InputFile
from abistore.extract.packages.formats.bounds import UnpackBounds
from abistore.extract.packages.formats.identity import PackageIdentity, from_file_name, from_index, from_metadata
from abistore.extract.packages.formats.members import PackageMember, inner_path, link_target
from abistore.extract.packages.formats.streams import Counted, part, unpacked
from abistore.extract.packages.formats.tars import tar_members

MAGIC = b"PK\3\4"
_METADATA = re.compile(r"[^/]+\.dist-info/METADATA")
_CONDA = re.compile(r"(pkg|info)-[^/]+\.tar\.(zst|bz2|gz|xz)")
_LONGEST_LINK = 1 << 16
_ENCRYPTED = 1


def accepts(head: bytes) -> bool:
    """Whether ``head`` begins a zip archive."""
    return head.startswith(MAGIC)


def identity(file: InputFile, bounds: UnpackBounds) -> PackageIdentity:
    """The name and version of a wheel's metadata, of conda's index, or of the file's name."""
    with _opened(file) as archive:
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


def members(file: InputFile, bounds: UnpackBounds) -> Iterator[PackageMember]:
    """Files and links; of a conda package those of the tar archive in it."""
    with _opened(file) as archive:
        for entry in archive.infolist():
            bounds.take_member()
            if entry.flag_bits & _ENCRYPTED:
                raise ExtractError(f"{bounds.name}: {entry.filename[:200]!r} is encrypted", "unpack it first")
            if not entry.is_dir():
                yield from _member(archive, entry, bounds)


def _member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, bounds: UnpackBounds) -> Iterator[PackageMember]:
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


def _opened(file: InputFile) -> zipfile.ZipFile:
    return zipfile.ZipFile(part(file, 0, file.size))
