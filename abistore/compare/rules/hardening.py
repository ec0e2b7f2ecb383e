"""Protections against attacks that the library loses or gains: RELRO, stack protector, branch protection."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.rule import Note, rule
from abistore.model.deltas import Changed
from abistore.model.findings import Impact
from abistore.model.tables import Library
from abistore.model.words.protections import (
    BIND_NOW,
    BRANCHES,
    EXECUTABLE_STACK,
    FORTIFY,
    FULL_RELRO,
    PARTIAL_RELRO,
    STACK_CANARY,
    TEXT_RELOCATIONS,
    WRITABLE_CODE,
)

RELRO = {PARTIAL_RELRO: "partial", FULL_RELRO: "full"}
SORTS = ("none", *RELRO.values())


def _gained(library: Changed[Library], weakness: str) -> bool:
    return weakness in library.new.weaknesses and weakness not in library.old.weaknesses


def _overcome(library: Changed[Library], weakness: str) -> bool:
    return weakness in library.old.weaknesses and weakness not in library.new.weaknesses


def _lost(library: Changed[Library], protection: str) -> bool:
    return protection in library.old.protections and protection not in library.new.protections


def _relro(library: Library) -> str:
    return next((RELRO[each] for each in library.protections if each in RELRO), "none")


def _branches(library: Library) -> set[str]:
    return set(library.protections) & BRANCHES


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def executable_stack(library: Changed[Library]) -> Iterator[Note]:
    """The library asks for an executable stack.

    The loader makes the stacks of the whole process executable, or refuses the library where a policy (or glibc 2.41's
    ``dlopen``) forbids that.

    Fix: mark assembler sources with ``.section .note.GNU-stack,"",@progbits``; avoid nested functions' trampolines.
    """
    if _gained(library, EXECUTABLE_STACK):
        yield Note("an executable stack is asked for", "no", "yes")


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="changed")
def executable_stack_removed(library: Changed[Library]) -> Iterator[Note]:
    """The library no longer asks for an executable stack.

    It loads under stricter policies too.

    Fix: nothing.
    """
    if _overcome(library, EXECUTABLE_STACK):
        yield Note("an executable stack is no longer asked for", "yes", "no")


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def relro_weakened(library: Changed[Library]) -> Iterator[Note]:
    """Less of the library's data is read-only after relocation (RELRO).

    Programs work as before, but an attacker can overwrite more of the pointers that they call through.

    Fix: link with ``-Wl,-z,relro,-z,now``.
    """
    old, new = _relro(library.old), _relro(library.new)
    if SORTS.index(new) < SORTS.index(old):
        yield Note("less data is protected after relocation", old, new)


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def bind_now_disabled(library: Changed[Library]) -> Iterator[Note]:
    """The library's symbols are bound lazily again.

    A missing symbol shows at its first call and no longer at start, and the table of calls (GOT) stays writable.

    Fix: link with ``-Wl,-z,now``.
    """
    if _lost(library, BIND_NOW) and _relro(library.old) == _relro(library.new):
        yield Note("symbols are bound lazily", "now", "lazy")


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def stack_canary_removed(library: Changed[Library]) -> Iterator[Note]:
    """No function of the library checks its stack any more (stack protector).

    Programs work as before. A buffer overrun in the library is no longer stopped.

    Fix: build with ``-fstack-protector-strong``.
    """
    if _lost(library, STACK_CANARY):
        yield Note("no stack protector is used", "yes", "no")


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def fortify_source_weakened(library: Changed[Library]) -> Iterator[Note]:
    """The library no longer calls the checking variants of libc functions (FORTIFY).

    Programs work as before. A buffer overrun in the library is no longer stopped.

    Fix: build with ``-O2 -D_FORTIFY_SOURCE=2`` or higher.
    """
    if _lost(library, FORTIFY):
        yield Note("no checking libc function is used", "yes", "no")


@rule(Impact.RISK, evidence="symbol", element="library", action="changed", aliases=("cet_protection_weakened",))
def branch_protection_weakened(library: Changed[Library]) -> Iterator[Note]:
    """The library no longer declares a protection of branches or returns (IBT, SHSTK, BTI, PAC).

    The loader turns the protection off for the whole process, or refuses the library where it is enforced.

    Fix: build all units with ``-fcf-protection`` (x86) or ``-mbranch-protection=standard`` (AArch64), assembler too.
    """
    if _branches(library.old) - _branches(library.new):
        yield Note("branch protection was lost", *_protections(library))


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="changed", aliases=("cet_protection_improved",))
def branch_protection_improved(library: Changed[Library]) -> Iterator[Note]:
    """The library declares a further protection of branches or returns (IBT, SHSTK, BTI, PAC).

    Consumers work as before.

    Fix: nothing.
    """
    old, new = _branches(library.old), _branches(library.new)
    if new - old and not old - new:
        yield Note("branch protection was won", *_protections(library))


def _protections(library: Changed[Library]) -> tuple[str | None, str | None]:
    old, new = (" ".join(sorted(_branches(side))) or None for side in (library.old, library.new))
    return old, new


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def text_relocation_introduced(library: Changed[Library]) -> Iterator[Note]:
    """The loader must change the library's code (text relocations).

    Processes no longer share these pages of code, and policies that forbid writable code refuse the library.

    Fix: build all code with ``-fPIC``; link with ``-Wl,-z,text`` to find what is not.
    """
    if _gained(library, TEXT_RELOCATIONS):
        yield Note("the loader must change code", "no", "yes")


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="changed")
def text_relocation_removed(library: Changed[Library]) -> Iterator[Note]:
    """The loader no longer changes the library's code (text relocations).

    It loads under stricter policies too.

    Fix: nothing.
    """
    if _overcome(library, TEXT_RELOCATIONS):
        yield Note("the loader no longer changes code", "yes", "no")


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def writable_executable_segment(library: Changed[Library]) -> Iterator[Note]:
    """The library has a segment that is writable and executable.

    Policies that forbid this refuse the library. Elsewhere an attacker can write code into it.

    Fix: link without ``-Wl,-N`` and linker scripts that merge segments.
    """
    if _gained(library, WRITABLE_CODE):
        yield Note("a segment is writable and executable", "no", "yes")
