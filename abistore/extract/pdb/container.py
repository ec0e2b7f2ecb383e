"""The container of a PDB file (MSF): streams that are scattered over the blocks of the file."""

from __future__ import annotations

import struct
from typing import Final

from abistore.errors import UnknownFormat
from abistore.extract.input_file import InputFile
from abistore.extract.pdb.faults import MalformedPdb

MAGIC: Final = b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0"
ABSENT: Final = 0xFFFFFFFF
BLOCK_SIZES: Final = frozenset({512, 1024, 2048, 4096, 8192, 16384, 32768})
MOST_STREAMS: Final = 1 << 16

_SUPERBLOCK: Final = struct.Struct("<32sIIIIII")


class PdbContainer:
    """The streams of one PDB file, read on demand and not kept.

    Raises :class:`UnknownFormat` where the file is no PDB file, :class:`MalformedPdb` where it contradicts itself. All
    streams together may be read about four times as long as the file: a damaged directory lists blocks repeatedly.
    """

    def __init__(self, file: InputFile) -> None:
        self.file = file
        if not file.head.startswith(MAGIC) or file.size < _SUPERBLOCK.size:
            raise UnknownFormat(f"{file.path}: not a PDB file of version 7", "make it by a linker of this century")
        _, self._block, _, _, length, _, place = _SUPERBLOCK.unpack(file.read_at(0, _SUPERBLOCK.size))
        if self._block not in BLOCK_SIZES or length > file.size:
            raise MalformedPdb(f"{file.path}: the PDB file is corrupt: its first block contradicts itself")
        self._left = 4 * file.size + (1 << 20)
        count = -(-length // self._block)
        blocks = struct.unpack(f"<{count}I", file.read_at(place * self._block, 4 * count))
        directory = self._gathered(blocks, length)
        (number,) = struct.unpack_from("<I", directory)
        if number > MOST_STREAMS:
            raise MalformedPdb(f"{file.path}: the PDB file is corrupt: it tells of {number:,} streams")
        self._sizes: tuple[int, ...] = struct.unpack_from(f"<{number}I", directory, 4)
        self._directory = directory
        self._starts: list[int] = []
        start = 4 + 4 * number
        for size in self._sizes:
            self._starts.append(start)
            start += 4 * -(-(0 if size == ABSENT else size) // self._block)

    def stream(self, number: int) -> bytes:
        """The contents of a stream; empty where there is none of this number."""
        if number >= len(self._sizes) or self._sizes[number] in (0, ABSENT):
            return b""
        size = self._sizes[number]
        if size > self.file.size:
            raise MalformedPdb(f"{self.file.path}: the PDB file is corrupt: stream {number} is longer than the file")
        count = -(-size // self._block)
        return self._gathered(struct.unpack_from(f"<{count}I", self._directory, self._starts[number]), size)

    def _gathered(self, blocks: tuple[int, ...], size: int) -> bytes:
        self._left -= size
        if self._left < 0:
            raise MalformedPdb(f"{self.file.path}: the PDB file is corrupt: its streams share their blocks")
        pieces = []
        at, block = 0, self._block
        while at < len(blocks):
            run = at + 1
            while run < len(blocks) and blocks[run] == blocks[run - 1] + 1:
                run += 1
            wanted = min((run - at) * block, size - at * block)
            pieces.append(self.file.read_at(blocks[at] * block, wanted))
            at = run
        return b"".join(pieces)
