"""Protections and weaknesses: what protects a process that loads a DLL."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from abistore.errors import ExtractError
from abistore.extract.pe.container import DEBUG, EXECUTABLE, LOAD_CONFIG, WRITABLE, PeFile
from abistore.model.words.protections import (
    ASLR,
    CFG,
    DEP,
    FORCED_INTEGRITY,
    HIGH_ENTROPY,
    SAFE_SEH,
    SHADOW_STACK,
    STACK_CANARY,
    WRITABLE_CODE,
)

_HIGH_ENTROPY, _DYNAMIC_BASE, _FORCE_INTEGRITY, _NX, _NO_SEH, _GUARD_CF = 0x20, 0x40, 0x80, 0x100, 0x400, 0x4000
_RELOCATIONS_STRIPPED: Final = 1
_EXTENDED_DLL_FLAGS, _CET_COMPATIBLE = 20, 1
_COOKIE, _HANDLERS = {32: 0x3C, 64: 0x58}, 0x40
_DEBUG_ROW: Final = struct.Struct("<12xIIII")
_MOST_DEBUG_ROWS: Final = 64


def protections(pe: PeFile) -> Iterator[str]:
    """What protects a process: flags of the optional header, of the load configuration, and of the debug directory."""
    moves = bool(pe.dll_flags & _DYNAMIC_BASE) and not pe.flags & _RELOCATIONS_STRIPPED
    if moves:
        yield ASLR
    if moves and pe.bits == 64 and pe.dll_flags & _HIGH_ENTROPY:
        yield HIGH_ENTROPY
    if pe.dll_flags & _NX:
        yield DEP
    if pe.dll_flags & _GUARD_CF:
        yield CFG
    if pe.dll_flags & _FORCE_INTEGRITY:
        yield FORCED_INTEGRITY
    if pe.bits == 32 and (pe.dll_flags & _NO_SEH or _configured(pe, _HANDLERS)):
        yield SAFE_SEH
    if _configured(pe, _COOKIE[pe.bits]):
        yield STACK_CANARY
    if any(kind == _EXTENDED_DLL_FLAGS and value & _CET_COMPATIBLE for kind, value in _extended(pe)):
        yield SHADOW_STACK


def weaknesses(pe: PeFile) -> Iterator[str]:
    """What makes a process easier to attack."""
    if any(each.flags & EXECUTABLE and each.flags & WRITABLE for each in pe.sections):
        yield WRITABLE_CODE


def _configured(pe: PeFile, offset: int) -> int:
    """The word at an offset of the load configuration; 0 where that is absent or ends before it."""
    start, _ = pe.directory(LOAD_CONFIG)
    width = pe.bits // 8
    try:
        if not start or struct.unpack("<I", pe.at_address(start, 4))[0] < offset + width:
            return 0
        return int.from_bytes(pe.at_address(start + offset, width), "little")
    except ExtractError:
        return 0  # the loader ignores a configuration that it cannot find


def debug_rows(pe: PeFile) -> Iterator[tuple[int, bytes]]:
    """The rows of the debug directory that lie in the file: the kind of each, and what it tells."""
    start, size = pe.directory(DEBUG)
    for row in range(min(size // 28, _MOST_DEBUG_ROWS)):
        try:
            kind, length, _, offset = _DEBUG_ROW.unpack(pe.at_address(start + 28 * row, 28))
            yield kind, pe.file.read_at(offset, min(length, 1 << 12))
        except ExtractError:
            continue  # debuggers pass over what is damaged, too


def _extended(pe: PeFile) -> Iterator[tuple[int, int]]:
    for kind, told in debug_rows(pe):
        if len(told) >= 4:
            yield kind, struct.unpack_from("<I", told)[0]
