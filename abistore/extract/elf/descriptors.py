"""Function descriptors: a symbol names one, not the code itself (64-bit PowerPC ELF ABI 1.9, 3.2.1)."""

from __future__ import annotations

import struct
from typing import Final

from abistore.extract.elf.container import ElfFile
from abistore.extract.elf.machines import EM_PPC64

ENTRY_BYTES: Final = 8


class FunctionDescriptors:
    """The descriptors of ``.opd``, each of which begins with the address of a function's code.

    Linkers write that address beside the relocation for it, so that relocations need not be read.
    """

    def __init__(self, elf: ElfFile) -> None:
        found = [each for each in elf.sections if each.name == ".opd"] if elf.machine == EM_PPC64 else []
        self._data = elf.section(".opd") if found else b""
        self._start = found[0].address if found else 0
        self._entry = struct.Struct(elf.order + "Q").unpack_from

    def code_of(self, address: int) -> int:
        """Where the code of the function at ``address`` is: there, unless a descriptor is."""
        position = address - self._start
        if not 0 <= position <= len(self._data) - ENTRY_BYTES:
            return address
        return self._entry(self._data, position)[0] or address
