"""The base relocations: which words of a DLL hold addresses of the DLL itself (PE format, ".reloc section")."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from abistore.errors import ExtractError
from abistore.extract.pe.container import PeFile

BASE_RELOCATIONS: Final = 5
_BLOCK: Final = struct.Struct("<II")
_WORD, _LONG_WORD = 3, 10


class Relocations:
    """The places that hold addresses. Rows are decoded for the pages that are asked for."""

    def __init__(self, pe: PeFile) -> None:
        self._pe = pe
        self._kind = _LONG_WORD if pe.bits == 64 else _WORD
        self._blocks: dict[int, list[bytes]] = {}
        for page, rows in _blocks(pe):
            self._blocks.setdefault(page, []).append(rows)
        self._decoded: dict[int, frozenset[int]] = {}

    def target(self, address: int) -> int | None:
        """The address, relative to the image base, that stands at ``address``; ``None`` where no address stands."""
        page = address & ~0xFFF
        if page not in self._decoded:
            self._decoded[page] = frozenset(self._places(page))
        if address not in self._decoded[page]:
            return None
        width = self._pe.bits // 8
        try:
            return int.from_bytes(self._pe.at_address(address, width), "little") - self._pe.image_base
        except ExtractError:
            return None

    def _places(self, page: int) -> Iterator[int]:
        for rows in self._blocks.get(page, ()):
            for (row,) in struct.iter_unpack("<H", rows):
                if row >> 12 == self._kind:
                    yield page + (row & 0xFFF)


def _blocks(pe: PeFile) -> Iterator[tuple[int, bytes]]:
    """The page of each block and its rows; none where the table is not all there."""
    start, size = pe.directory(BASE_RELOCATIONS)
    try:
        data = pe.at_address(start, size) if start and size else b""
    except ExtractError:
        return
    at = 0
    while at + _BLOCK.size <= len(data):
        page, length = _BLOCK.unpack_from(data, at)
        if length < _BLOCK.size:
            return
        rows = data[at + _BLOCK.size : at + length]
        yield page, rows[: len(rows) & ~1]
        at += length
