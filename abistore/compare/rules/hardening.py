"""Protections against attacks that the library loses or gains: RELRO, stack protector, branch protection."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.rule import Note, rule
from abistore.model.deltas import Changed
from abistore.model.findings import Impact
from abistore.model.shapes import Library

RELRO = ("none", "partial", "full")


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def executable_stack(library: Changed[Library]) -> Iterator[Note]:
    """The library asks for an executable stack.

    The loader makes the stacks of the whole process executable, or refuses the library where a policy (or glibc 2.41's
    ``dlopen``) forbids that.

    Fix: mark assembler sources with ``.section .note.GNU-stack,"",@progbits``; avoid nested functions' trampolines.
    """
    if library.new.hardening.executable_stack and not library.old.hardening.executable_stack:
        yield Note("an executable stack is asked for", "no", "yes")


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="changed")
def executable_stack_removed(library: Changed[Library]) -> Iterator[Note]:
    """The library no longer asks for an executable stack.

    It loads under stricter policies too.

    Fix: nothing.
    """
    if library.old.hardening.executable_stack and not library.new.hardening.executable_stack:
        yield Note("an executable stack is no longer asked for", "yes", "no")


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def relro_weakened(library: Changed[Library]) -> Iterator[Note]:
    """Less of the library's data is read-only after relocation (RELRO).

    Programs work as before, but an attacker can overwrite more of the pointers that they call through.

    Fix: link with ``-Wl,-z,relro,-z,now``.
    """
    old, new = library.old.hardening.relro, library.new.hardening.relro
    if RELRO.index(new) < RELRO.index(old):
        yield Note("less data is protected after relocation", old, new)


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def bind_now_disabled(library: Changed[Library]) -> Iterator[Note]:
    """The library's symbols are bound lazily again.

    A missing symbol shows at its first call and no longer at start, and the table of calls (GOT) stays writable.

    Fix: link with ``-Wl,-z,now``.
    """
    old, new = library.old.hardening, library.new.hardening
    if old.bind_now and not new.bind_now and old.relro == new.relro:
        yield Note("symbols are bound lazily", "now", "lazy")


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def stack_canary_removed(library: Changed[Library]) -> Iterator[Note]:
    """No function of the library checks its stack any more (stack protector).

    Programs work as before. A buffer overrun in the library is no longer stopped.

    Fix: build with ``-fstack-protector-strong``.
    """
    if library.old.hardening.stack_canary and not library.new.hardening.stack_canary:
        yield Note("no stack protector is used", "yes", "no")


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def fortify_source_weakened(library: Changed[Library]) -> Iterator[Note]:
    """The library no longer calls the checking variants of libc functions (FORTIFY).

    Programs work as before. A buffer overrun in the library is no longer stopped.

    Fix: build with ``-O2 -D_FORTIFY_SOURCE=2`` or higher.
    """
    if library.old.hardening.fortify and not library.new.hardening.fortify:
        yield Note("no checking libc function is used", "yes", "no")


@rule(Impact.RISK, evidence="symbol", element="library", action="changed", aliases=("cet_protection_weakened",))
def branch_protection_weakened(library: Changed[Library]) -> Iterator[Note]:
    """The library no longer declares a protection of branches or returns (IBT, SHSTK, BTI, PAC).

    The loader turns the protection off for the whole process, or refuses the library where it is enforced.

    Fix: build all units with ``-fcf-protection`` (x86) or ``-mbranch-protection=standard`` (AArch64), assembler too.
    """
    lost = set(library.old.hardening.branch_protection) - set(library.new.hardening.branch_protection)
    if lost:
        yield Note("branch protection was lost", *_protections(library))


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="changed", aliases=("cet_protection_improved",))
def branch_protection_improved(library: Changed[Library]) -> Iterator[Note]:
    """The library declares a further protection of branches or returns (IBT, SHSTK, BTI, PAC).

    Consumers work as before.

    Fix: nothing.
    """
    old, new = set(library.old.hardening.branch_protection), set(library.new.hardening.branch_protection)
    if new - old and not old - new:
        yield Note("branch protection was won", *_protections(library))


def _protections(library: Changed[Library]) -> tuple[str | None, str | None]:
    old, new = (" ".join(side.hardening.branch_protection) or None for side in (library.old, library.new))
    return old, new


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def text_relocation_introduced(library: Changed[Library]) -> Iterator[Note]:
    """The loader must change the library's code (text relocations).

    Processes no longer share these pages of code, and policies that forbid writable code refuse the library.

    Fix: build all code with ``-fPIC``; link with ``-Wl,-z,text`` to find what is not.
    """
    if library.new.hardening.text_relocations and not library.old.hardening.text_relocations:
        yield Note("the loader must change code", "no", "yes")


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="changed")
def text_relocation_removed(library: Changed[Library]) -> Iterator[Note]:
    """The loader no longer changes the library's code (text relocations).

    It loads under stricter policies too.

    Fix: nothing.
    """
    if library.old.hardening.text_relocations and not library.new.hardening.text_relocations:
        yield Note("the loader no longer changes code", "yes", "no")


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def writable_executable_segment(library: Changed[Library]) -> Iterator[Note]:
    """The library has a segment that is writable and executable.

    Policies that forbid this refuse the library. Elsewhere an attacker can write code into it.

    Fix: link without ``-Wl,-N`` and linker scripts that merge segments.
    """
    old, new = library.old.hardening, library.new.hardening
    if new.writable_executable_segment and not old.writable_executable_segment:
        yield Note("a segment is writable and executable", "no", "yes")
