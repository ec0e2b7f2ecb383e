"""What a file says of itself, in the words of its format."""

from __future__ import annotations

from typing import Literal

import msgspec

from abistore.model.tables import Library
from abistore.model.words import protections as words


class Hardening(msgspec.Struct, frozen=True):
    """What protects a process that loads the file. ``branch_protection`` names IBT, SHSTK, BTI, PAC notes."""

    relro: Literal["none", "partial", "full"]
    bind_now: bool
    executable_stack: bool
    stack_canary: bool
    fortify: bool
    branch_protection: tuple[str, ...]
    text_relocations: bool
    writable_executable_segment: bool


class Facts(msgspec.Struct, frozen=True):
    """What the file says of itself, in the words of its format. ``hardening`` is known of ELF files only."""

    file_kind: str
    soname: str | None
    needed: tuple[str, ...]
    rpath: tuple[str, ...]
    runpath: tuple[str, ...]
    version_definitions: tuple[str, ...]
    version_requirements: tuple[tuple[str, str], ...]
    hardening: Hardening | None
    features: tuple[str, ...]


def facts_of(shape: Library, *, elf: bool) -> Facts:
    """The facts of a library's shape; whether it is of an ELF file."""
    return Facts(
        file_kind=shape.file_kind,
        soname=shape.name,
        needed=shape.needed,
        rpath=shape.on_elf.rpath,
        runpath=shape.search_paths,
        version_definitions=shape.on_elf.version_definitions,
        version_requirements=shape.on_elf.version_requirements,
        hardening=_hardening(shape) if elf else None,
        features=shape.features,
    )


def _hardening(shape: Library) -> Hardening:
    had = {*shape.protections, *shape.weaknesses}
    return Hardening(
        relro="full" if words.FULL_RELRO in had else "partial" if words.PARTIAL_RELRO in had else "none",
        bind_now=words.BIND_NOW in had,
        executable_stack=words.EXECUTABLE_STACK in had,
        stack_canary=words.STACK_CANARY in had,
        fortify=words.FORTIFY in had,
        branch_protection=tuple(sorted(had & words.BRANCHES)),
        text_relocations=words.TEXT_RELOCATIONS in had,
        writable_executable_segment=words.WRITABLE_CODE in had,
    )
