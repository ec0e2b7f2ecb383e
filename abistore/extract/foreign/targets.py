"""The platforms of ELF libraries, as other tools call them."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from abistore.model.recorded.unrecorded import VARIANT
from abistore.model.snapshot import VARIED, Target


class Machine(NamedTuple):
    """A machine as targets call it."""

    name: str
    bits: Literal[32, 64]
    endianness: Literal["little", "big"] = "little"

    @property
    def target(self) -> Target:
        """The target of an ELF library for it."""
        return Target("elf", self.name, self.bits, self.endianness)


_KNOWN: Final = {
    each.name: each
    for each in (
        Machine("x86_64", 64),
        Machine("i386", 32),
        Machine("x32", 32),
        Machine("aarch64", 64),
        Machine("arm", 32),
        Machine("armhf", 32),
        Machine("alpha", 64),
        Machine("hppa", 32, "big"),
        Machine("ia64", 64),
        Machine("loongarch64", 64),
        Machine("m68k", 32, "big"),
        Machine("mips", 32),
        Machine("mips64", 64),
        Machine("ppc", 32, "big"),
        Machine("ppc64", 64, "big"),
        Machine("ppc64le", 64),
        Machine("riscv64", 64),
        Machine("s390x", 64, "big"),
        Machine("sh", 32),
        Machine("sparc", 32, "big"),
        Machine("sparc64", 64, "big"),
    )
}

_OTHER_NAMES: Final = {
    **{"amd64": "x86_64", "x86-64": "x86_64", "elf-amd-x86_64": "x86_64"},
    **dict.fromkeys(("i486", "i586", "i686", "x86", "elf-intel-80386"), "i386"),
    **dict.fromkeys(("arm64", "elf-arm-aarch64"), "aarch64"),
    **{"elf-arm": "arm", "armel": "arm", "arm-linux-gnueabihf": "armhf", "armv7": "armhf", "armv7l": "armhf"},
    **dict.fromkeys(("ppc64el", "powerpc64le", "elf-powerpc-64le"), "ppc64le"),
    **{"powerpc": "ppc", "elf-powerpc": "ppc", "powerpc64": "ppc64", "elf-powerpc-64": "ppc64"},
    **{"elf-unknown-arch-value-243": "riscv64", "risc-v": "riscv64", "elf-riscv": "riscv64"},
    **{"elf-unknown-arch-value-258": "loongarch64", "loong64": "loongarch64", "elf-loongarch": "loongarch64"},
    **{"elf-ibm-s390": "s390x", "ibm s/390": "s390x"},
    **{"mipsel": "mips", "mips64el": "mips64", "elf-mips": "mips", "sh4": "sh"},
    **{"elf-sun-sparc": "sparc", "elf-sun-sparc-v9-64": "sparc64", "elf-ia-64": "ia64", "elf-alpha": "alpha"},
}


def target_called(text: str) -> Target | None:
    """The target of ELF libraries that a tool calls ``text``: ``amd64``, ``elf-arm-aarch64``, ``i586``, or in full."""
    word = text.strip().lower()
    for known in _KNOWN.values():
        if word == str(known.target):
            return known.target
    found = _KNOWN.get(_OTHER_NAMES.get(word, word))
    return found.target if found else None


class DumpedTarget(NamedTuple):
    """The target of a dump, and the facts about it that the dump does not record."""

    target: Target
    unrecorded: tuple[str, ...] = ()


def target_dumped(text: str, asked: str | None) -> DumpedTarget | None:
    """The target of a dump that calls its machine ``text``.

    Dumps name the processor (``e_machine``), not how floating-point arguments are passed or the byte order: ``asked``
    decides what such a word leaves open.
    """
    found = target_called(text)
    if found is None or found.family not in VARIED:
        return DumpedTarget(found) if found else None
    wanted = target_called(asked) if asked else None
    if wanted and found.fits(wanted, variants=False):
        return DumpedTarget(wanted)
    return DumpedTarget(found, (VARIANT,))
