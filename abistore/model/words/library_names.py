"""What the name is called by which consumers ask for a library: each format has its own word."""

from __future__ import annotations

_OF_WINDOWS = (".dll", ".pyd", ".exe", ".ocx", ".drv", ".sys", ".cpl")


def name_word(name: str) -> str:
    """``SONAME``, ``DLL name`` or ``install name``, as the library's ``name`` shows."""
    if name.lower().endswith(_OF_WINDOWS):
        return "DLL name"
    return "install name" if "/" in name or name.endswith((".dylib", ".tbd")) else "SONAME"
