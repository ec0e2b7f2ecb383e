"""Which memory of a loaded library can be written to."""

from __future__ import annotations

from abistore.extract.elf.container import PT_LOAD, ElfFile

PT_GNU_RELRO = 0x6474E552
PF_W = 2
SHF_WRITE, SHF_ALLOC, SHF_TLS = 0x1, 0x2, 0x400

RELOCATED_ONCE = ".data.rel.ro"
"""Sections of constants that hold addresses: written to by the loader only. Linkers protect them unless told not to."""


class MemoryProtection:
    """The read-only and the writable addresses of a library, after the loader has relocated it.

    Sections tell, or segments where there is no section table. Both have what the loader protects after relocation
    (``PT_GNU_RELRO``).
    """

    def __init__(self, elf: ElfFile) -> None:
        self._read_only: list[range] = []
        self._writable: list[range] = []
        for place, writable in _sections(elf) if elf.sections else _segments(elf):
            (self._writable if writable else self._read_only).append(place)
        protected = (each for each in elf.segments if each.type == PT_GNU_RELRO)
        self._read_only += [range(each.address, each.address + each.memory_size) for each in protected]

    def is_read_only(self, address: int, size: int) -> bool | None:
        """Whether the ``size`` bytes at ``address`` are read-only; ``None`` where they lie nowhere."""
        last = address + size - 1
        if any(address in place and last in place for place in self._read_only):
            return True
        return False if any(address in place for place in self._writable) else None


def _sections(elf: ElfFile) -> list[tuple[range, bool]]:
    loaded = (each for each in elf.sections if each.flags & SHF_ALLOC and not each.flags & SHF_TLS and each.address)
    return [
        (
            range(each.address, each.address + each.size),
            bool(each.flags & SHF_WRITE) and not each.name.startswith(RELOCATED_ONCE),
        )
        for each in loaded
    ]


def _segments(elf: ElfFile) -> list[tuple[range, bool]]:
    loaded = (each for each in elf.segments if each.type == PT_LOAD)
    return [(range(each.address, each.address + each.memory_size), bool(each.flags & PF_W)) for each in loaded]
