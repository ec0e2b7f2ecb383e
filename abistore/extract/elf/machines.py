"""Machine names, one for each ABI: libraries that cannot be mixed are never compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from abistore.extract.elf.container import ElfFile
from abistore.model.snapshot import Target

EM_ARM, EM_PPC64, EM_X86_64, EM_AARCH64, EM_RISCV, EM_LOONGARCH, EM_MIPS = 40, 21, 62, 183, 243, 258, 8

COPYING: Mapping[int, int] = {
    **{EM_X86_64: 5, 3: 5, EM_AARCH64: 1024, EM_ARM: 20, EM_RISCV: 4, EM_LOONGARCH: 4, EM_MIPS: 126},
    **{EM_PPC64: 19, 20: 19, 22: 9, 2: 19, 18: 19, 43: 19, 4: 19},
}
"""The relocation by which a program gets a copy of a library's data (``R_X86_64_COPY``), by machine."""

_NAMES = {
    2: "sparc",
    3: "i386",
    4: "m68k",
    15: "hppa",
    18: "sparc32plus",
    20: "ppc",
    36: "v850",
    42: "sh",
    43: "sparc64",
    50: "ia64",
    75: "vax",
    92: "or1k",
    93: "arc",
    94: "xtensa",
    106: "blackfin",
    113: "nios2",
    164: "hexagon",
    189: "microblaze",
    195: "arcv2",
    224: "amdgpu",
    247: "bpf",
    252: "csky",
    0x9026: "alpha",
}
"""Machines whose ELF header says nothing more about the ABI (registered numbers of the gABI)."""

_OS_ABIS = {
    0: "sysv",
    1: "hpux",
    2: "netbsd",
    3: "sysv",
    6: "solaris",
    7: "aix",
    9: "freebsd",
    12: "openbsd",
    97: "arm",
}
"""3 (GNU) only says that IFUNC or unique symbols occur: it is the same ABI as 0."""


def target_of(elf: ElfFile) -> Target:
    """The platform that ``elf`` is for."""
    return Target(
        format="elf",
        machine=_machine(elf),
        bits=elf.bits,
        endianness="little" if elf.little else "big",
        os_abi=_OS_ABIS.get(elf.os_abi, f"os-{elf.os_abi}"),
    )


def _machine(elf: ElfFile) -> str:
    special = _SPECIAL.get(elf.machine)
    if special is not None:
        return special(elf)
    return _NAMES.get(elf.machine, f"machine-{elf.machine}")


def _arm(elf: ElfFile) -> str:
    """EF_ARM_EABIMASK and the float flags of EABI version 5 ("ELF for the Arm Architecture")."""
    if not elf.flags & 0xFF000000:
        return "arm-oabi"
    return "armhf" if elf.flags & 0x400 else "arm"


def _riscv(elf: ElfFile) -> str:
    """EF_RISCV_FLOAT_ABI and EF_RISCV_RVE (RISC-V ELF psABI); the double-float ABI has the plain name."""
    floats = ("-softfloat", "-singlefloat", "", "-quadfloat")[elf.flags >> 1 & 3]
    return f"riscv{elf.bits}{floats}{'-rve' if elf.flags & 8 else ''}"


def _ppc64(elf: ElfFile) -> str:
    """EF_PPC64_ABI: ELFv2 is usual for little-endian, ELFv1 for big-endian."""
    version = elf.flags & 3
    if elf.little:
        return "ppc64le-elfv1" if version == 1 else "ppc64le"
    return "ppc64-elfv2" if version == 2 else "ppc64"


def _mips(elf: ElfFile) -> str:
    """EF_MIPS_ABI, EF_MIPS_ABI2 (n32), EF_MIPS_NAN2008 and release 6, which no earlier release can run."""
    abi = "mips64" if elf.bits == 64 else "mipsn32" if elf.flags & 0x20 else _OLD_MIPS.get(elf.flags >> 12 & 15, "mips")
    release_6 = "r6" if elf.flags >> 28 in (9, 10) else ""
    return f"{abi}{release_6}{'-nan2008' if elf.flags & 0x400 else ''}"


_OLD_MIPS = {2: "mips-o64", 3: "mips-eabi32", 4: "mips-eabi64"}


def _loongarch(elf: ElfFile) -> str:
    """EF_LOONGARCH_ABI_MODIFIER; the double-float ABI has the plain name."""
    return f"loongarch{elf.bits}{ {1: '-softfloat', 2: '-singlefloat'}.get(elf.flags & 7, '') }"


_SPECIAL: dict[int, Callable[[ElfFile], str]] = {
    EM_MIPS: _mips,
    EM_PPC64: _ppc64,
    22: lambda elf: "s390x" if elf.bits == 64 else "s390",
    EM_ARM: _arm,
    EM_X86_64: lambda elf: "x86_64" if elf.bits == 64 else "x32",
    EM_AARCH64: lambda elf: "aarch64" if elf.bits == 64 else "aarch64-ilp32",
    EM_RISCV: _riscv,
    EM_LOONGARCH: _loongarch,
}
