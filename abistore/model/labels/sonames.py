"""The library name in a SONAME, which all its releases share, and what each format calls a SONAME."""

from __future__ import annotations

import re

from abistore.patterns import pattern

BUNDLED = pattern(r"^([^.]+)-[0-9a-f]{8}(?=\.)")
"""The mark of a copy in a Python wheel: eight digits of a hash before the first dot, ``libz-00ec42fe.so.1``."""

_DLL = pattern(
    r"(?P<stem>.+?)(?:-[0-9a-f]{32})?(?:-\d+(?:\.\d+)*)?(?:-(?:x64|x86|arm64))?(?:\.dll|(?:\.[^.]+)?\.pyd)",
    re.IGNORECASE,
)
"""A DLL. Copies in Python wheels bear a hash of 32 digits; extension modules bear the interpreter's name."""


_DYLIB = pattern(r"(?P<stem>.+?)(?P<version>(?:\.(?:\d+|[A-Z]))*)\.(?:dylib|tbd)")
"""A dylib, whose version stands before the suffix: ``libz.1.2.11.dylib``, ``libSystem.B.dylib``."""


def unmarked(soname: str) -> str:
    """A SONAME without the mark of a copy: ``libz.so.1`` of ``libz-00ec42fe.so.1``."""
    return BUNDLED.sub(r"\1", soname)


def library_name(soname: str) -> str:
    """``libz`` of ``libz.so.1``, of ``libz-00ec42fe.so.1.3`` and of ``libz-1.3.so``.

    A version before ``.so`` belongs to the name if another version follows: ``libglib-2.0`` of ``libglib-2.0.so.0``.
    Of a dylib it is what stands before the version, in whatever folder: ``libz`` of ``/usr/lib/libz.1.dylib``,
    ``libglib-2.0`` of ``libglib-2.0.0.dylib``. Of a DLL, too: ``libpng16`` of ``libpng16-16.dll``, ``libssl`` of
    ``libssl-3-x64.dll``.
    """
    if soname.endswith((".dylib", ".tbd")) and (dylib := _DYLIB.fullmatch(soname.rpartition("/")[2])):
        return _without_version(dylib["stem"], dylib["version"])
    if soname.lower().endswith((".dll", ".pyd")) and (dll := _DLL.fullmatch(soname)):
        return dll["stem"]
    parts = re.fullmatch(r"(.+?)\.so(\..*)?", unmarked(soname))
    if parts is None:
        return soname
    return parts[1] if parts[2] else re.sub(r"(?<=.)-\d+(\.\d+)+$", "", parts[1])


def family(soname: str) -> str:
    """What all major releases of a library are called: ``libQtCore`` of ``libQt5Core.so.5`` and ``libQt6Core.so.6``."""
    return re.sub(r"[-_.]?\d+(\.\d+)*", "", library_name(soname))


def _without_version(stem: str, version: str) -> str:
    """A stem like ``libglib-2`` ends in a number of the name, which goes on behind the dot: one more number is left."""
    if re.search(r"-\d+$", stem) and version.count(".") > 1:
        return stem + version[: version.rindex(".")]
    return stem


_OF_WINDOWS = (".dll", ".pyd", ".exe", ".ocx", ".drv", ".sys", ".cpl")


def to_bump(name: str) -> str:
    """What to do so that programs of the old release do not load the new one: ``bump the SONAME``."""
    word = name_word(name)
    return "give the DLL a new name" if word == "DLL name" else f"bump the {word}"


def word_on(target: str) -> str:
    """The same as a target shows, such as ``pe-x86_64-64-little``."""
    return {"pe": "DLL name", "macho": "install name"}.get(target.partition("-")[0], "SONAME")


def name_word(name: str) -> str:
    """``SONAME``, ``DLL name`` or ``install name``, as the library's ``name`` shows."""
    if name.lower().endswith(_OF_WINDOWS):
        return "DLL name"
    return "install name" if "/" in name or name.endswith((".dylib", ".tbd")) else "SONAME"
