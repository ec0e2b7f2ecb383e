"""The platform of a Mach-O file: machine, system, and the oldest release of the system that loads it."""

from __future__ import annotations

import msgspec

from abistore.extract.macho.constants import (
    LC_BUILD_VERSION,
    LC_VERSION_MIN_IPHONEOS,
    LC_VERSION_MIN_MACOSX,
    LC_VERSION_MIN_TVOS,
    LC_VERSION_MIN_WATCHOS,
    PLATFORMS,
)
from abistore.extract.macho.container import MachOFile
from abistore.model.snapshot import Target

CPU_X86, CPU_ARM, CPU_PPC = 7, 12, 18
ABI64, ABI64_32 = 0x01000000, 0x02000000
CPU_X86_64, CPU_ARM64, CPU_ARM64_32, CPU_PPC64 = CPU_X86 | ABI64, CPU_ARM | ABI64, CPU_ARM | ABI64_32, CPU_PPC | ABI64
SUBTYPE = 0x00FFFFFF
ARM64E, X86_64_H = 2, 8

_ARM = {5: "armv4t", 6: "armv6", 7: "armv5", 9: "armv7", 10: "armv7f", 11: "armv7s", 12: "armv7k", 14: "armv6m"}
_MACHINES = {
    CPU_X86: "i386",
    CPU_X86_64: "x86_64",
    CPU_ARM: "arm",
    CPU_ARM64: "aarch64",
    CPU_ARM64_32: "aarch64-ilp32",
    CPU_PPC: "ppc",
    CPU_PPC64: "ppc64",
}

_MINIMUM = {
    LC_VERSION_MIN_MACOSX: "macos",
    LC_VERSION_MIN_IPHONEOS: "ios",
    LC_VERSION_MIN_TVOS: "tvos",
    LC_VERSION_MIN_WATCHOS: "watchos",
}


class MachoPlatform(msgspec.Struct, frozen=True):
    """The system that a file is for, and the oldest release of it."""

    name: str
    minimum: str | None = None


def platform_of(macho: MachOFile) -> MachoPlatform:
    """The system of ``macho``: of a file for two (a zippered one), the first, which is macOS. Old files name none."""
    for command in macho.all(LC_BUILD_VERSION, *_MINIMUM):
        if command.kind in _MINIMUM:
            return MachoPlatform(_MINIMUM[command.kind], version_text(macho.unpacked(command, "I")[0]))
        number, minimum = macho.unpacked(command, "II")
        return MachoPlatform(PLATFORMS.get(number, f"platform-{number}"), version_text(minimum))
    return MachoPlatform("macos")


def target_of(macho: MachOFile) -> Target:
    """The platform that ``macho`` is for."""
    return Target("macho", _machine(macho), macho.bits, "little" if macho.little else "big", platform_of(macho).name)


def _machine(macho: MachOFile) -> str:
    subtype = macho.subtype & SUBTYPE
    if macho.cpu == CPU_ARM64 and subtype == ARM64E:
        return "arm64e"
    if macho.cpu == CPU_X86_64 and subtype == X86_64_H:
        return "x86_64h"
    if macho.cpu == CPU_ARM:
        return _ARM.get(subtype, "arm")
    return _MACHINES.get(macho.cpu, f"machine-{macho.cpu}")


def version_text(number: int) -> str:
    """``1.2.3`` for a version in four bytes; a last part of zero is left out: ``11.0``."""
    major, minor, patch = number >> 16, number >> 8 & 0xFF, number & 0xFF
    return f"{major}.{minor}.{patch}" if patch else f"{major}.{minor}"
