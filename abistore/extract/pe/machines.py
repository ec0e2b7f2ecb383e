"""Machine names of PE files, which are those of ELF files."""

from __future__ import annotations

from typing import Final

from abistore.model.snapshot import Target

I386: Final = 0x14C
"""The one machine on which compilers put ``_`` before each symbol."""

_NAMES: Final = {
    I386: "i386",
    0x8664: "x86_64",
    0xAA64: "aarch64",
    0xA641: "arm64ec",
    0xA64E: "arm64x",
    0x1C0: "arm",
    0x1C2: "arm",
    0x1C4: "arm",
    0x200: "ia64",
    0x5032: "riscv32",
    0x5064: "riscv64",
    0x6232: "loongarch32",
    0x6264: "loongarch64",
}
"""PE format, "Machine Types"."""

_SUBSYSTEMS: Final = {
    **{1: "native", 2: "gui", 3: "console", 7: "posix", 9: "windows-ce", 10: "efi-application", 11: "efi-boot-driver"},
    **{12: "efi-runtime-driver", 13: "efi-rom", 14: "xbox", 16: "boot-application"},
}


def is_machine(number: int) -> bool:
    """Whether ``number`` is a machine that object files are for."""
    return number in _NAMES


def is_thumb(machine: int) -> bool:
    """Whether the lowest bit of a code address is no part of it."""
    return _NAMES.get(machine) == "arm"


def is_arm64(machine: int) -> bool:
    """Whether code is that of ARM's 64-bit processors."""
    return _NAMES.get(machine) in ("aarch64", "arm64ec", "arm64x")


def target_of(machine: int, bits: int) -> Target:
    """The platform of a file for ``machine``."""
    return Target(
        format="pe",
        machine=_NAMES.get(machine, f"machine-{machine:#x}"),
        bits=64 if bits == 64 else 32,
        endianness="little",
        os_abi="windows",
    )


def subsystem_name(number: int) -> str:
    """What a file says it runs under: ``console`` and ``gui`` are the same for a DLL."""
    return _SUBSYSTEMS.get(number, f"subsystem-{number}")
