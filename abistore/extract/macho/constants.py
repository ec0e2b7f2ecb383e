"""Numbers of ``mach-o/loader.h``, ``fat.h`` and ``nlist.h``, by the names that they have there."""

from __future__ import annotations

from typing import Final

FAT_MAGIC: Final = 0xCAFEBABE
FAT_MAGIC_64: Final = 0xCAFEBABF

MAGICS: Final[dict[bytes, tuple[bool, bool]]] = {
    b"\xfe\xed\xfa\xce": (False, False),
    b"\xce\xfa\xed\xfe": (False, True),
    b"\xfe\xed\xfa\xcf": (True, False),
    b"\xcf\xfa\xed\xfe": (True, True),
}
"""The first four bytes of a thin file: whether it is of 64 bits, and whether little-endian."""

MH_OBJECT, MH_EXECUTE, MH_FVMLIB, MH_CORE, MH_PRELOAD, MH_DYLIB, MH_DYLINKER, MH_BUNDLE, MH_DYLIB_STUB, MH_DSYM = range(
    1, 11
)

MH_TWOLEVEL: Final = 0x80
MH_ALLOW_STACK_EXECUTION: Final = 0x20000
MH_PIE: Final = 0x200000
MH_NO_HEAP_EXECUTION: Final = 0x1000000
MH_APP_EXTENSION_SAFE: Final = 0x2000000

LC_REQ_DYLD: Final = 0x80000000
LC_SEGMENT: Final = 0x1
LC_SYMTAB: Final = 0x2
LC_LOAD_DYLIB: Final = 0xC
LC_ID_DYLIB: Final = 0xD
LC_SUB_FRAMEWORK: Final = 0x12
LC_SUB_CLIENT: Final = 0x14
LC_LOAD_WEAK_DYLIB: Final = 0x18 | LC_REQ_DYLD
LC_SEGMENT_64: Final = 0x19
LC_UUID: Final = 0x1B
LC_RPATH: Final = 0x1C | LC_REQ_DYLD
LC_CODE_SIGNATURE: Final = 0x1D
LC_REEXPORT_DYLIB: Final = 0x1F | LC_REQ_DYLD
LC_LAZY_LOAD_DYLIB: Final = 0x20
LC_DYLD_INFO: Final = 0x22
LC_DYLD_INFO_ONLY: Final = 0x22 | LC_REQ_DYLD
LC_LOAD_UPWARD_DYLIB: Final = 0x23 | LC_REQ_DYLD
LC_VERSION_MIN_MACOSX: Final = 0x24
LC_VERSION_MIN_IPHONEOS: Final = 0x25
LC_VERSION_MIN_TVOS: Final = 0x2F
LC_VERSION_MIN_WATCHOS: Final = 0x30
LC_BUILD_VERSION: Final = 0x32
LC_DYLD_EXPORTS_TRIE: Final = 0x33 | LC_REQ_DYLD
LC_DYLD_CHAINED_FIXUPS: Final = 0x34 | LC_REQ_DYLD

DEPENDENCIES: Final[dict[int, str]] = {
    LC_LOAD_DYLIB: "",
    LC_LOAD_WEAK_DYLIB: "weak",
    LC_REEXPORT_DYLIB: "re-exported",
    LC_LAZY_LOAD_DYLIB: "lazy",
    LC_LOAD_UPWARD_DYLIB: "upward",
}
"""Load commands that name another library, with the word for how it is linked. Their order is that of ordinals."""

DYLIB_USE_MARKER: Final = 0x1A741800
DYLIB_USE: Final = ((0x1, "weak"), (0x2, "re-exported"), (0x4, "upward"), (0x8, "lazy"))
"""``dylib_use_command``, of linkers since 2024: a load command with this mark has flags behind its versions."""

PLATFORMS: Final[dict[int, str]] = {
    1: "macos",
    2: "ios",
    3: "tvos",
    4: "watchos",
    5: "bridgeos",
    6: "maccatalyst",
    7: "ios-simulator",
    8: "tvos-simulator",
    9: "watchos-simulator",
    10: "driverkit",
    11: "visionos",
    12: "visionos-simulator",
}

SECTION_TYPE: Final = 0xFF
S_ZEROFILL, S_GB_ZEROFILL, S_THREAD_LOCAL_ZEROFILL = 0x1, 0xC, 0x12
ZERO_FILLED: Final = frozenset({S_ZEROFILL, S_GB_ZEROFILL, S_THREAD_LOCAL_ZEROFILL})
S_THREAD_LOCAL_VARIABLES: Final = 0x13
S_ATTR_PURE_INSTRUCTIONS, S_ATTR_SOME_INSTRUCTIONS = 0x80000000, 0x400

N_STAB, N_PEXT, N_TYPE, N_EXT = 0xE0, 0x10, 0x0E, 0x01
N_UNDF, N_ABS, N_SECT, N_INDR = 0x0, 0x2, 0xE, 0xA
N_WEAK_REF, N_WEAK_DEF = 0x40, 0x80
N_ARM_THUMB_DEF: Final = 0x8
N_OSO: Final = 0x66

VM_PROT_WRITE, VM_PROT_EXECUTE = 0x2, 0x4

SG_READ_ONLY: Final = 0x10
"""The segment is not writable any more once its addresses are relocated."""
