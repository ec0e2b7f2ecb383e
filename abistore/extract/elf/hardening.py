"""Hardening: what protects a process that loads the file."""

from __future__ import annotations

import re
from collections.abc import Collection

from abistore.extract.elf.container import PT_LOAD, ElfFile
from abistore.extract.elf.dynamic import DynamicSection
from abistore.extract.elf.machines import EM_AARCH64, EM_LOONGARCH, EM_PPC64, EM_RISCV, EM_X86_64
from abistore.extract.elf.notes import properties
from abistore.model.shapes import Hardening

PT_GNU_STACK, PT_GNU_RELRO = 0x6474E551, 0x6474E552
PF_X, PF_W = 1, 2

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
_FORTIFIED = re.compile(r"__(?!stack_)\w+_chk")


def read_hardening(dynamic: DynamicSection, imports: Collection[str]) -> Hardening:
    """The hardening facts of a file; canary and fortify show as imports of the functions that they call."""
    elf = dynamic.elf
    relro = any(segment.type == PT_GNU_RELRO for segment in elf.segments)
    return Hardening(
        relro="none" if not relro else "full" if dynamic.bind_now else "partial",
        bind_now=dynamic.bind_now,
        executable_stack=_executable_stack(elf),
        stack_canary=not _CANARY.isdisjoint(imports),
        fortify=any(_FORTIFIED.fullmatch(name) for name in imports),
        branch_protection=_branch_protection(elf),
        text_relocations=dynamic.text_relocations,
        writable_executable_segment=any(s.type == PT_LOAD and s.flags & 3 == PF_X | PF_W for s in elf.segments),
    )


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
