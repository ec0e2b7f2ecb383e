"""Protections and weaknesses, and what the code signature says of them."""

from __future__ import annotations

import re
import struct
from collections.abc import Collection, Iterator

from abistore.extract.macho.constants import (
    LC_CODE_SIGNATURE,
    MH_ALLOW_STACK_EXECUTION,
    MH_EXECUTE,
    MH_NO_HEAP_EXECUTION,
    MH_PIE,
    VM_PROT_EXECUTE,
    VM_PROT_WRITE,
)
from abistore.extract.macho.container import MachOFile
from abistore.model.words.protections import (
    CODE_SIGNATURE,
    EXECUTABLE_STACK,
    FORTIFY,
    HARDENED_RUNTIME,
    LIBRARY_VALIDATION,
    NO_HEAP_EXECUTION,
    POSITION_INDEPENDENT,
    STACK_CANARY,
    WRITABLE_CODE,
)

_CANARY = frozenset({"__stack_chk_fail", "__stack_chk_guard"})
_FORTIFIED = re.compile(r"__(?!stack_)\w+_chk")

_SUPER_BLOB, _CODE_DIRECTORY = 0xFADE0CC0, 0xFADE0C02
_SIGNED = ((0x10000, HARDENED_RUNTIME), (0x2000, LIBRARY_VALIDATION))
"""``CS_RUNTIME`` and ``CS_REQUIRE_LV`` of ``cs_blobs.h``."""


def protections(macho: MachOFile, imports: Collection[str]) -> Iterator[str]:
    """What protects a process; canary and FORTIFY show as imports of the functions that they call."""
    if not _CANARY.isdisjoint(imports):
        yield STACK_CANARY
    if any(_FORTIFIED.fullmatch(name) for name in imports):
        yield FORTIFY
    if macho.flags & MH_NO_HEAP_EXECUTION:
        yield NO_HEAP_EXECUTION
    if macho.flags & MH_PIE and macho.type == MH_EXECUTE:
        yield POSITION_INDEPENDENT
    yield from _signature(macho)


def weaknesses(macho: MachOFile) -> Iterator[str]:
    """What makes a process easier to attack."""
    if macho.flags & MH_ALLOW_STACK_EXECUTION and macho.type == MH_EXECUTE:
        yield EXECUTABLE_STACK
    if any(each.protection & (both := VM_PROT_WRITE | VM_PROT_EXECUTE) == both for each in macho.segments):
        yield WRITABLE_CODE


def _signature(macho: MachOFile) -> Iterator[str]:
    """What the code directory says. The numbers of a signature are big-endian on every machine."""
    command = macho.first(LC_CODE_SIGNATURE)
    if command is None:
        return
    offset, size = macho.unpacked(command, "II")
    data = macho.read_at(offset, size)
    yield CODE_SIGNATURE
    if len(data) < 12 or struct.unpack_from(">I", data)[0] != _SUPER_BLOB:
        return
    count = min(struct.unpack_from(">I", data, 8)[0], (len(data) - 12) // 8)
    for _slot, place in struct.iter_unpack(">II", data[12 : 12 + 8 * count]):
        if place + 16 <= len(data) and struct.unpack_from(">I", data, place)[0] == _CODE_DIRECTORY:
            flags = struct.unpack_from(">I", data, place + 12)[0]
            yield from (word for bit, word in _SIGNED if flags & bit)
            return
