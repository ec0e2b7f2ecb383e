"""Finds a library's debug information: in the file, or in a ``.dSYM`` bundle that is proven to be of its build."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from abistore.confinement import is_file
from abistore.errors import InputError, LimitExceeded
from abistore.extract.debug_search import DebugSearch, first_found
from abistore.extract.input_file import InputFile
from abistore.extract.macho.container import MachOFile
from abistore.extract.macho.universal import parts_of
from abistore.extract.reader import ExtractOptions

INSIDE = Path("Contents", "Resources", "DWARF")
NEEDED = (".debug_info", ".debug_abbrev")
MachoSearch: TypeAlias = "DebugSearch[MachOFile]"

_HINT = (
    "run `dsymutil {name}` on the machine that built it, before its object files are deleted, and lay {name}.dSYM"
    " beside the library or name its folder with --debug-dir"
)


def find_debug(macho: MachOFile, options: ExtractOptions, objects: int) -> MachoSearch:
    """The file with the debug information of ``macho``: itself, or one in a bundle with its UUID.

    ``objects`` is how many object files its debug map names: their debug information was never linked.
    """
    if all(map(macho.has, NEEDED)):
        return DebugSearch(macho, "file")
    searches = (_examine(macho, path, source) for path, source in _candidates(macho, options))
    return first_found(searches, _nothing(macho, objects))


def _nothing(macho: MachOFile, objects: int) -> MachoSearch:
    hint = _HINT.format(name=macho.path.name)
    if objects:
        detail = f"its debug information stands in {objects:,} object files, which are not read; no .dSYM is here"
        return DebugSearch(None, "", "debug-file-missing", detail, hint)
    known = f", and no .dSYM has its UUID {macho.uuid}" if macho.uuid else ", and it has no UUID"
    return DebugSearch(None, "", "no-debug-info", f"no debug information in the file{known}", f"build with -g; {hint}")


def _candidates(macho: MachOFile, options: ExtractOptions) -> Iterator[tuple[Path | InputFile, str]]:
    """The files where a bundle may be: in debug packages, beside the library or its framework, in the folders given."""
    own, seen = macho.path.absolute(), set[Path]()
    for file in options.debug_files:
        if file.path.name == own.name:
            yield file, "debug-package"
    for folder, source in (*((each, "debug-dir") for each in options.debug_dirs), (own.parent, "file-folder")):
        for path in _in_folder(folder, own.name):
            if path not in seen and is_file(path):
                seen.add(path)
                yield path, source
    framework = next((each for each in own.parents if each.suffix == ".framework"), None)
    if framework is not None:
        path = framework.with_name(f"{framework.name}.dSYM") / INSIDE / own.name
        if path not in seen and is_file(path):
            yield path, "file-folder"


def _in_folder(folder: Path, name: str) -> Iterator[Path]:
    yield folder / f"{name}.dSYM" / INSIDE / name
    yield folder / INSIDE / name
    if folder.suffix == ".dSYM":
        yield folder / INSIDE / name


def _examine(macho: MachOFile, found_at: Path | InputFile, source: str) -> MachoSearch:
    """The part for the library's architecture, if it is of the same build and complete; else why it is refused."""
    hint = _HINT.format(name=macho.path.name)
    try:
        file = found_at if isinstance(found_at, InputFile) else InputFile(found_at)
        parts = [MachOFile(file, macho.max_bytes, each) for each in parts_of(file)]
    except (InputError, LimitExceeded) as error:
        return DebugSearch(None, source, "unreadable-debug-file", error.message, hint)
    path = file.path
    own = [each for each in parts if (each.cpu, each.subtype) == (macho.cpu, macho.subtype)]
    found = next((each for each in own if each.uuid == macho.uuid and macho.uuid), None)
    if found is None:
        ids = ", ".join(each.uuid or "none" for each in own) or "of another architecture"
        detail = f"{path.name} of its .dSYM belongs to another build: its UUID is {ids}, not {macho.uuid or 'known'}"
        return DebugSearch(None, source, "stale-debug-file", detail, hint)
    if not all(map(found.has, NEEDED)):
        detail = f"{path.name} of its .dSYM has no {' and no '.join(NEEDED)}"
        return DebugSearch(None, source, "incomplete-debug-info", detail, hint)
    return DebugSearch(found, source)
