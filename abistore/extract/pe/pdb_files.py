"""Finds a DLL's PDB file: by the name in its debug directory, proven by identity and age, or as the caller says."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath
from typing import TypeAlias

from abistore.confinement import is_file
from abistore.errors import InputError, LimitExceeded
from abistore.extract.debug_search import DebugSearch, first_found
from abistore.extract.input_file import InputFile
from abistore.extract.pdb.container import PdbContainer
from abistore.extract.pdb.faults import malformed_is_an_error
from abistore.extract.pe.debug_files import PdbLink
from abistore.extract.reader import ExtractOptions

INFORMATION, MODULES = 1, 3
PdbSearch: TypeAlias = "DebugSearch[PdbContainer]"

_HINT = "lay the PDB file beside the DLL, or name it with --pdb, or its folder with --debug-dir"


def find_pdb(path: Path, link: PdbLink, options: ExtractOptions) -> PdbSearch:
    """The PDB file of the DLL at ``path``: named by the caller, beside the DLL, in a folder, or where it was linked."""
    searches = (_examine(candidate, source, link) for candidate, source in _candidates(path, link, options))
    detail = f"its debug information is in {PureWindowsPath(link.path).name}"
    return first_found(searches, DebugSearch(None, "", "debug-file-missing", detail, _HINT))


def _candidates(path: Path, link: PdbLink, options: ExtractOptions) -> Iterator[tuple[Path | InputFile, str]]:
    name, given = PureWindowsPath(link.path).name, options.debug_dirs
    for file in options.debug_files:
        if file.path.name.lower() == name.lower():
            yield file, "debug-package"
    places = [(each, "debug-dir") for each in given if is_file(each)]
    places += [(path.absolute().parent / name, "beside")] if name else []
    for folder in given:
        places += [(folder / name, "debug-dir"), (folder / name / link.identity.upper() / name, "debug-dir")]
    if link.path.startswith("/"):
        places.append((Path(link.path), "linked"))
    seen = set[Path]()
    for place, source in places:
        if place not in seen and is_file(place):
            seen.add(place)
            yield place, source


def _examine(found_at: Path | InputFile, source: str, link: PdbLink) -> PdbSearch:
    """The candidate, if it has the identity and age that the DLL asks for; else why it is refused."""
    path = found_at.path if isinstance(found_at, InputFile) else found_at
    try:
        with malformed_is_an_error(path.name):
            container = PdbContainer(found_at if isinstance(found_at, InputFile) else InputFile(path))
            _, _, age, guid = struct.unpack_from("<III16s", container.stream(INFORMATION))
            modules = container.stream(MODULES)
            linked = struct.unpack_from("<I", modules, 8)[0] if modules else age
    except LimitExceeded:
        raise
    except InputError as error:
        return DebugSearch(None, source, "unreadable-debug-file", f"{path.name}: {error.message}", "build it again")
    if guid != link.guid or link.age not in (age, linked):
        detail = f"{path.name}: it is of another build than the DLL"
        return DebugSearch(None, source, "stale-debug-file", detail, "pass the PDB file that the same link wrote")
    return DebugSearch(container, source)
