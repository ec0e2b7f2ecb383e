"""Noise: symbols of linkers, start files and assemblers, which are no part of an interface."""

from __future__ import annotations

from abistore.patterns import pattern

_PLACES = """
_PROCEDURE_LINKAGE_TABLE_ __TMC_END__ __GNU_EH_FRAME_HDR __executable_start __ehdr_start _stack __RLD_MAP
_edata edata __edata _end end __end __end__ _etext etext __etext _fdata _ftext _fbss _gp __gnu_local_gp
__bss_start __bss_start__ _bss_end__ __bss_end__ __BSS_END__ __data_start data_start __DATA_BEGIN__ __SDATA_BEGIN__
__exidx_start __exidx_end __global_pointer$ __rela_iplt_start __rela_iplt_end __rel_iplt_start __rel_iplt_end
__preinit_array_start __preinit_array_end __init_array_start __init_array_end __fini_array_start __fini_array_end
"""
PLACES = frozenset(_PLACES.split())
"""Bounds of sections and tables. Noise where they have no type and no size: a library may have such a function."""

OBJECTS = frozenset({"_DYNAMIC", "_GLOBAL_OFFSET_TABLE_", "__dso_handle", "_IO_stdin_used"})
"""The linker's and the start files' own objects, which may have a type. Always noise."""

ENTRIES = frozenset({"_init", "_fini", "_start", "__start"})
"""Start-file functions. Noise where they lie at DT_INIT, DT_FINI or the entry point."""

_MAPPING = pattern(r"\$[adtx]([0-9a-z_]*)?(\..*)?")
"""Mapping symbols of ARM, AArch64 and RISC-V ("ELF for the Arm Architecture"; RISC-V ELF psABI)."""


def is_noise(name: str, *, typed: bool, entry: bool) -> bool:
    """Whether a defined symbol only marks a place.

    ``typed``: it has a type or a size; ``entry``: its value is DT_INIT, DT_FINI or the file's entry point.
    """
    if name in ENTRIES:
        return entry
    if name in OBJECTS:
        return True
    return not typed and (name in PLACES or _MAPPING.fullmatch(name) is not None)
