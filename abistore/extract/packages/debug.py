"""Debug packages: the files with the debug information of a package's libraries, by build-id and by path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from abistore.errors import InputError
from abistore.extract.elf.container import MAGIC, ElfFile
from abistore.extract.input_file import InputFile
from abistore.extract.packages.entries import Entry


def debug_files(entries: Iterable[Entry], libraries: Iterable[InputFile]) -> Iterator[InputFile]:
    """The files that may describe one of ``libraries``, and those that ``dwz`` moved common parts to."""
    ends = tuple({end for library in libraries for end in _ends(library)})
    for entry in entries:
        if entry.keep is None or not entry.head.startswith(MAGIC):
            continue
        if f"/{entry.path}".endswith(ends) or "/.dwz/" in f"/{entry.path}":
            yield entry.keep()


def _ends(library: InputFile) -> Iterator[str]:
    """How the paths of a library's debug files end."""
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
