"""Which package has a file: Debian's index of the contents of packages, ``Contents-amd64.gz``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from abistore.errors import InputError
from abistore.extract.input_file import open_input
from abistore.extract.packages.formats.bounds import UnpackBounds
from abistore.extract.packages.formats.streams import BZIP2, GZIP, XZ, ZSTD, Counted, damage_told, part, unpacked

MOST_BYTES = 4 << 30
_PIECE = 1 << 20
_LZ4 = b"\x04\x22\x4d\x18"


def is_index(path: Path) -> bool:
    """Whether a file is called like an index."""
    return path.name.startswith("Contents-")


def packages_with(names: Iterable[str], indexes: Iterable[Path]) -> Mapping[str, tuple[str, ...]]:
    """The packages that have each of some headers, by what these are included as; sorted.

    Raises :class:`InputError` where an index cannot be read.
    """
    found: dict[str, set[str]] = {name: set() for name in names}
    for path in indexes if found else ():
        for piece in _pieces(path):
            for name, packages in found.items():
                packages.update(_owners(piece, name))
    return {name: tuple(sorted(packages)) for name, packages in found.items()}


def _owners(piece: bytes, name: str) -> Iterator[str]:
    """The packages in whole lines of an index: ``usr/include/foo/foo.h    libdevel/libfoo-dev,libdevel/libbar-dev``."""
    wanted = f"/{name}".encode() + b" "
    at = piece.find(wanted)
    while at >= 0:
        start, end = piece.rfind(b"\n", 0, at) + 1, piece.find(b"\n", at)
        file, owners = piece[start : at + len(wanted)], piece[at + len(wanted) : end]
        if b" " not in file.strip() and b"/include/" in b"/" + file:
            yield from (each.strip().rpartition(b"/")[2].decode() for each in owners.split(b","))
        at = piece.find(wanted, end)


def _pieces(path: Path) -> Iterator[bytes]:
    """The text in pieces of whole lines."""
    with open_input(path) as file, damage_told(str(path)):
        whole = part(file, 0, file.size)
        if file.head.startswith(_LZ4):
            raise InputError(
                f"{path}: is compressed by lz4", "unpack it first, or give the index compressed by gzip or xz"
            )
        bounds = UnpackBounds(str(path), file.size, MOST_BYTES)
        packed = file.head.startswith((GZIP, BZIP2, XZ, ZSTD))
        stream = unpacked(whole, bounds) if packed else Counted(whole, bounds)
        rest = b""
        while piece := stream.read(_PIECE):
            lines, newline, left = (rest + piece).rpartition(b"\n")
            yield lines + newline
            rest = left
        yield rest + b"\n"
