"""Finds a DLL's debug information: DWARF in the file, or in a separate file that its debug link names."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TypeAlias

import msgspec

from abistore.confinement import is_file
from abistore.errors import InputError, LimitExceeded
from abistore.extract.debug_search import DebugSearch, first_found
from abistore.extract.input_file import InputFile
from abistore.extract.pe.container import PeFile
from abistore.extract.pe.hardening import debug_rows
from abistore.extract.reader import ExtractOptions

CODEVIEW = 2
_RSDS = struct.Struct("<4s16sI")
DwarfSearch: TypeAlias = "DebugSearch[PeFile]"

_HINT = "build it with -g and do not strip it, or name the folder of its .debug file with --debug-dir"
_NOTHING_HINT = (
    "compile it with /Zi, link it with /DEBUG and keep its PDB file (MinGW: -g, and do not strip it), or name the"
    " folder of its PDB or .debug file with --debug-dir"
)


class PdbLink(msgspec.Struct, frozen=True):
    """Which PDB file belongs to a DLL: its path where it was linked, its identity, and how often it was written."""

    path: str
    guid: bytes
    age: int

    @property
    def identity(self) -> str:
        """The identity as symbol servers spell it."""
        first, second, third = struct.unpack("<IHH", self.guid[:8])
        return f"{first:08x}{second:04x}{third:04x}{self.guid[8:].hex()}{self.age:x}"


def pdb_link(pe: PeFile) -> PdbLink | None:
    """What the debug directory says about the PDB file; linkers of MinGW write it for the identity only."""
    for kind, told in debug_rows(pe):
        if kind == CODEVIEW and told.startswith(b"RSDS") and len(told) >= _RSDS.size:
            _, guid, age = _RSDS.unpack_from(told)
            path = told[_RSDS.size :].partition(b"\0")[0].decode("utf-8", "replace")
            return PdbLink(path, guid, age)
    return None


def build_id(pe: PeFile) -> str | None:
    """What the linker identified this build by."""
    link = pdb_link(pe)
    return link.identity if link and any(link.guid) else None


def find_debug(pe: PeFile, options: ExtractOptions) -> DwarfSearch:
    """The file with the DWARF of ``pe``: itself, or what its debug link names and its checksum proves."""
    if pe.has(".debug_info") and pe.has(".debug_abbrev"):
        return DebugSearch(pe, "file")
    if pe.debuglink is None:
        return DebugSearch(None, "", "no-debug-info", "no debug information in the file", _NOTHING_HINT)
    name, checksum = pe.debuglink
    places = _candidates(pe.path, Path(name).name, options.debug_dirs)
    packed = [(each, "debug-package") for each in options.debug_files if each.path.name == Path(name).name]
    found = [_examine(pe, file, source, checksum) for file, source in packed]
    searches = chain(found, (_examine(pe, path, source, checksum) for path, source in places))
    detail = f"its debug information was split off into {Path(name).name}"
    return first_found(searches, DebugSearch(None, "", "debug-file-missing", detail, _HINT))


def _candidates(path: Path, name: str, folders: tuple[Path, ...]) -> Iterator[tuple[Path, str]]:
    beside = path.absolute().parent
    places = [(beside / name, "debuglink"), (beside / ".debug" / name, "debuglink")]
    places += [(folder / name, "debug-dir") for folder in folders]
    return (each for each in places if each[0] != path.absolute() and is_file(each[0]))


def _examine(pe: PeFile, found_at: Path | InputFile, source: str, checksum: int) -> DwarfSearch:
    """The candidate, if it is of the same build and complete; else why it is refused."""
    path = found_at.path if isinstance(found_at, InputFile) else found_at
    try:
        found = pe.another(found_at)
        if found.file.crc32() != checksum:
            hint = "pass the --debug-dir that was made by the same build"
            detail = f"{path.name}: its checksum is not the one that the DLL asks for"
            return DebugSearch(None, source, "stale-debug-file", detail, hint)
        if not (found.has(".debug_info") and found.has(".debug_abbrev")):
            return DebugSearch(None, source, "incomplete-debug-info", f"{path.name}: no DWARF in it", _HINT)
        return DebugSearch(found, source)
    except LimitExceeded:
        raise
    except InputError as error:
        detail = f"{path.name}: {error.message}"
        return DebugSearch(None, source, "unreadable-debug-file", detail, "fetch the debug file again")
