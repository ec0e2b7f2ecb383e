"""Protections and weaknesses: what protects a process that loads the file, and which memory can be written to."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from abistore.extract.elf.container import PT_LOAD, ElfFile
from abistore.extract.elf.dynamic import DynamicSection
from abistore.extract.elf.machines import EM_AARCH64, EM_LOONGARCH, EM_PPC64, EM_RISCV, EM_X86_64
from abistore.extract.elf.notes import properties
from abistore.model.words.protections import (
    BIND_NOW,
    EXECUTABLE_STACK,
    FORTIFY,
    FULL_RELRO,
    PARTIAL_RELRO,
    STACK_CANARY,
    TEXT_RELOCATIONS,
    WRITABLE_CODE,
)
from abistore.patterns import pattern

PT_GNU_STACK, PT_GNU_RELRO = 0x6474E551, 0x6474E552
PF_X, PF_W = 1, 2
SHF_WRITE, SHF_ALLOC, SHF_TLS = 0x1, 0x2, 0x400

RELOCATED_ONCE = ".data.rel.ro"
"""Sections of constants that hold addresses: written to by the loader only. Linkers protect them unless told not to."""

_X86_FEATURES, _AARCH64_FEATURES, _RISCV_FEATURES = 0xC0000002, 0xC0000000, 0xC0000000
_X86_LEVEL_NEEDED = 0xC0008002
_BRANCH_NOTES: dict[int, tuple[int, tuple[str, ...]]] = {
    3: (_X86_FEATURES, ("IBT", "SHSTK")),
    EM_X86_64: (_X86_FEATURES, ("IBT", "SHSTK")),
    EM_AARCH64: (_AARCH64_FEATURES, ("BTI", "PAC", "GCS")),
    EM_RISCV: (_RISCV_FEATURES, ("ZICFILP", "ZICFISS")),
}
_X86_LEVELS = ("x86-64-baseline", "x86-64-v2", "x86-64-v3", "x86-64-v4")
_NO_EXECUTABLE_STACK_BY_DEFAULT = frozenset({EM_AARCH64, EM_LOONGARCH, EM_PPC64, EM_RISCV})

_CANARY = frozenset({"__stack_chk_fail", "__stack_chk_fail_local", "__stack_chk_guard", "__stack_smash_handler"})
_FORTIFIED = pattern(r"__(?!stack_)\w+_chk")


def protections(dynamic: DynamicSection, imports: Collection[str]) -> Iterator[str]:
    """What protects a process; canary and FORTIFY show as imports of the functions that they call."""
    if any(segment.type == PT_GNU_RELRO for segment in dynamic.elf.segments):
        yield FULL_RELRO if dynamic.bind_now else PARTIAL_RELRO
    if dynamic.bind_now:
        yield BIND_NOW
    if not _CANARY.isdisjoint(imports):
        yield STACK_CANARY
    if any(_FORTIFIED.fullmatch(name) for name in imports):
        yield FORTIFY
    yield from _branch_protection(dynamic.elf)


def weaknesses(dynamic: DynamicSection) -> Iterator[str]:
    """What makes a process easier to attack, or lets policies refuse the file."""
    elf = dynamic.elf
    if _executable_stack(elf):
        yield EXECUTABLE_STACK
    if dynamic.text_relocations:
        yield TEXT_RELOCATIONS
    if any(segment.type == PT_LOAD and segment.flags & 3 == PF_X | PF_W for segment in elf.segments):
        yield WRITABLE_CODE


def _executable_stack(elf: ElfFile) -> bool:
    """PT_GNU_STACK decides; without it the kernel's default for the machine does."""
    for segment in elf.segments:
        if segment.type == PT_GNU_STACK:
            return bool(segment.flags & PF_X)
    return elf.machine not in _NO_EXECUTABLE_STACK_BY_DEFAULT


def _branch_protection(elf: ElfFile) -> tuple[str, ...]:
    if elf.machine not in _BRANCH_NOTES:
        return ()
    kind, names = _BRANCH_NOTES[elf.machine]
    value = properties(elf.notes, elf.order, elf.bits).get(kind, 0)
    return tuple(sorted(name for bit, name in enumerate(names) if value >> bit & 1))


def needed_processor(elf: ElfFile) -> tuple[str, ...]:
    """The x86-64 levels beyond the baseline that the file declares it needs (GNU_PROPERTY_X86_ISA_1_NEEDED)."""
    if elf.machine != EM_X86_64:
        return ()
    value = properties(elf.notes, elf.order, elf.bits).get(_X86_LEVEL_NEEDED, 0)
    return tuple(name for bit, name in enumerate(_X86_LEVELS) if bit and value >> bit & 1)


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
