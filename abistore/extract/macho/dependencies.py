"""The libraries that a file names: itself, what it needs, what it re-exports, and where it looks for them."""

from __future__ import annotations

import msgspec

from abistore.extract.macho.constants import (
    DEPENDENCIES,
    DYLIB_USE,
    DYLIB_USE_MARKER,
    LC_ID_DYLIB,
    LC_RPATH,
    LC_SUB_CLIENT,
    LC_SUB_FRAMEWORK,
)
from abistore.extract.macho.container import LoadCommand, MachOFile
from abistore.extract.macho.machines import version_text

SELF_ORDINAL, EXECUTABLE_ORDINAL = 0, -1
EXECUTABLE = "the main executable"


class Dylib(msgspec.Struct, frozen=True):
    """A library as a load command names it. ``linkage`` holds ``weak``, ``re-exported``, ``upward`` or ``lazy``."""

    name: str
    current: str
    compatibility: str
    linkage: tuple[str, ...] = ()


def own_name(macho: MachOFile) -> Dylib | None:
    """How a dylib is asked for; bundles and executables have no name."""
    command = macho.first(LC_ID_DYLIB)
    return _dylib(macho, command) if command else None


def dependencies(macho: MachOFile) -> tuple[Dylib, ...]:
    """What the file needs, in the order of ordinals: the first one is 1."""
    return tuple(_dylib(macho, command) for command in macho.all(*DEPENDENCIES))


def _dylib(macho: MachOFile, command: LoadCommand) -> Dylib:
    offset, stamp, current, compatibility = macho.unpacked(command, "4I")
    linkage = {DEPENDENCIES.get(command.kind, "")} - {""}
    if stamp == DYLIB_USE_MARKER and offset >= 28:
        flags = macho.unpacked(command, "5I")[4]
        linkage |= {word for bit, word in DYLIB_USE if flags & bit}
    name = macho.text_of(command, offset)
    return Dylib(name, version_text(current), version_text(compatibility), tuple(sorted(linkage)))


def search_paths(macho: MachOFile) -> tuple[str, ...]:
    """The folders that ``@rpath`` stands for, in order."""
    return _texts(macho, LC_RPATH)


def clients(macho: MachOFile) -> tuple[str, ...]:
    """The only libraries that may link to this one, sorted; empty where every library may."""
    return tuple(sorted({*_texts(macho, LC_SUB_CLIENT), *_texts(macho, LC_SUB_FRAMEWORK)}))


def _texts(macho: MachOFile, kind: int) -> tuple[str, ...]:
    return tuple(macho.text_of(each, macho.unpacked(each, "I")[0]) for each in macho.all(kind))


def provider(ordinal: int, needed: tuple[Dylib, ...]) -> str | None:
    """The library that an ordinal stands for; ``None`` where any library may provide the symbol."""
    if ordinal == EXECUTABLE_ORDINAL:
        return EXECUTABLE
    return needed[ordinal - 1].name if 0 < ordinal <= len(needed) else None
