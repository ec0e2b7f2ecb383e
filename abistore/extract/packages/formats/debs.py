"""Debian packages: an ar archive with a tar archive of control files, and one of what is installed."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.errors import ExtractError
from abistore.extract.input_file import InputFile
from abistore.extract.packages.formats.bounds import UnpackBounds
from abistore.extract.packages.formats.identity import PackageIdentity, from_control
from abistore.extract.packages.formats.members import PackageMember
from abistore.extract.packages.formats.streams import part, unpacked
from abistore.extract.packages.formats.tars import tar_members

MAGIC = b"!<arch>\ndebian-binary"
"""An ar archive of which this is the first member; any other one is a static library."""

_TOLD = {"control": 1 << 20, "symbols": 16 << 20}
"""How much is read of each of the files that tell of the package."""

_HEADER = 60
_MOST_MEMBERS = 100


def accepts(head: bytes) -> bool:
    """Whether ``head`` begins a Debian package."""
    return head.startswith(MAGIC)


def identity(file: InputFile, bounds: UnpackBounds) -> PackageIdentity:
    """What the control file says, and the symbols file beside it."""
    told = dict[str, bytes]()
    for member in _members(file, bounds, "control.tar"):
        if member.path in _TOLD and member.content is not None:
            told[member.path] = member.content.read(_TOLD[member.path])
    if "control" not in told:
        raise ExtractError(f"{file.path.name}: has no control file")
    symbols = told.get("symbols", b"").decode("utf-8", "replace")
    return from_control(told["control"])._replace(symbols=symbols)


def members(file: InputFile, bounds: UnpackBounds) -> Iterator[PackageMember]:
    """What is installed."""
    return _members(file, bounds, "data.tar")


def _members(file: InputFile, bounds: UnpackBounds, wanted: str) -> Iterator[PackageMember]:
    for name, offset, size in _archive(file):
        if name.startswith(wanted):
            yield from tar_members(unpacked(part(file, offset, size), bounds), bounds)
            return
    raise ExtractError(f"{file.path.name}: has no {wanted}", "it is no complete Debian package: download it again")


def _archive(file: InputFile) -> Iterator[tuple[str, int, int]]:
    """Name, offset and size of each member of the ar archive."""
    offset = 8
    for _ in range(_MOST_MEMBERS):
        if offset >= file.size:
            return
        header = file.read_at(offset, _HEADER)
        digits = header[48:58].strip()
        if header[58:] != b"`\n" or not digits.isdigit():
            raise ExtractError(f"{file.path.name}: a header in its ar archive is damaged", "download it again")
        size, offset = int(digits), offset + _HEADER
        file.check_range(offset, size)
        yield header[:16].decode("ascii", "replace").rstrip(" /"), offset, size
        offset += size + size % 2
