"""Debug packages: the files with the debug information of a package's libraries, by build-id and by path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PureWindowsPath

from abistore.errors import InputError
from abistore.extract.elf.container import MAGIC, ElfFile
from abistore.extract.input_file import InputFile
from abistore.extract.packages.entries import Entry
from abistore.extract.packages.libraries import is_binary, is_in_bundle

_PDB = b"Microsoft C/C++ MSF 7.00"


def debug_files(entries: Iterable[Entry], libraries: Iterable[InputFile]) -> Iterator[InputFile]:
    """The files that may describe one of ``libraries``, and those that ``dwz`` moved common parts to."""
    ends = tuple({end for library in libraries for end in _ends(library)})
    for entry in entries:
        if entry.keep is not None and _may_describe(entry, ends):
            yield entry.keep()


def _may_describe(entry: Entry, ends: tuple[str, ...]) -> bool:
    path = f"/{entry.path}"
    if entry.head.startswith(MAGIC) and "/.dwz/" in path:
        return True
    if entry.head.startswith(_PDB) or (is_binary(entry.head) and not entry.head.startswith((MAGIC, b"MZ"))):
        return path.lower().endswith(ends) and (entry.head.startswith(_PDB) or is_in_bundle(path))
    return is_binary(entry.head) and path.endswith(ends)


def _ends(library: InputFile) -> Iterator[str]:
    """How the paths of a library's debug files end."""
    if library.head.startswith(b"MZ"):
        yield from _ends_of_dll(library)
    elif not library.head.startswith(MAGIC):
        yield f".dsym/contents/resources/dwarf/{library.path.name.lower()}"
    try:
        elf = ElfFile(library) if library.head.startswith(MAGIC) else None
        build_id, link = (elf.build_id, elf.debuglink) if elf else (None, None)
    except InputError:
        return  # what is wrong with it is said when it is read
    if build_id and len(build_id) > 2:
        yield f"/{build_id[:2]}/{build_id[2:]}.debug"
    if link:
        yield f"/{link[0].rpartition('/')[2]}"
    yield f"/{library.path.name}.debug"


def _ends_of_dll(library: InputFile) -> Iterator[str]:
    from abistore.extract.pe.container import PeFile
    from abistore.extract.pe.debug_files import pdb_link

    try:
        pe = PeFile(library)
        link, split = pdb_link(pe), pe.debuglink
    except InputError:
        return  # what is wrong with it is said when it is read
    if link:
        yield f"/{PureWindowsPath(link.path).name.lower()}"
    if split:
        yield f"/{PureWindowsPath(split[0]).name}"
