"""Finds a library's debug information: in the file, in a separate file where debuggers look, or on a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from abistore.confinement import is_file
from abistore.errors import InputError, LimitExceeded
from abistore.extract.debug_search import DebugSearch, first_found
from abistore.extract.elf.container import SHF_EXECINSTR, ElfFile
from abistore.extract.elf.dynamic import DynamicSection
from abistore.extract.elf.symbols import SHN_UNDEF, read_rows, symbol_places
from abistore.extract.input_file import InputFile
from abistore.extract.reader import ExtractOptions

SYSTEM_DIRS = (Path("/usr/lib/debug"),)

Source = Literal["", "debug-package", "file", "build-id", "debuglink", "debug-dir", "debuginfod"]
ElfSearch: TypeAlias = "DebugSearch[ElfFile]"

_HINT = (
    "build it with -g; for a packaged library install its debug package (-dbgsym on Debian, -debuginfo on Fedora), "
    "name the folder of its debug file with --debug-dir, or set DEBUGINFOD_URLS and pass --debuginfod"
)

_ALTERNATE_HINT = "install the file that dwz moved common parts to, or name its folder with --debug-dir"


class _Candidate(msgspec.Struct, frozen=True):
    path: Path
    source: Source
    crc: int | None = None
    file: InputFile | None = None


def find_debug(elf: ElfFile, options: ExtractOptions) -> ElfSearch:
    """The file with the debug information of ``elf``: itself, or a separate one that is proven to be of its build.

    Asked in this order: the file, the build-id trees, the debug link beside the file and in the debug directories
    (the caller's before the system's), debuginfod where allowed.
    """
    lacking = _lacking(elf)
    if not lacking:
        return DebugSearch(elf, "file")
    return first_found(_searches(elf, options), _nothing(elf, lacking))


def _searches(elf: ElfFile, options: ExtractOptions) -> Iterator[ElfSearch]:
    for candidate in _candidates(elf, options):
        yield _examine(elf, candidate)
    if options.debuginfod and elf.build_id:
        yield _ask_servers(elf, elf.build_id, options)


def _lacking(elf: ElfFile) -> tuple[str, ...]:
    """The sections without which no type can be read, as far as they are missing."""
    return tuple(name for name in (".debug_info", ".debug_abbrev") if not elf.has(name))


def _nothing(elf: ElfFile, lacking: tuple[str, ...]) -> ElfSearch:
    present = [s.name for s in elf.sections if s.name.startswith((".debug_", ".zdebug_"))]
    if present and len(lacking) < 2:
        detail = f"{', '.join(lacking)} is missing beside {', '.join(sorted(present))}"
        return DebugSearch(None, "file", "incomplete-debug-info", detail, _HINT)
    if elf.debuglink:
        return DebugSearch(
            None, "", "debug-file-missing", f"its debug information was split off into {elf.debuglink[0]}", _HINT
        )
    if elf.build_id and not present:
        detail = f"no debug information in the file, and no separate file has its build-id {elf.build_id}"
        return DebugSearch(None, "", "no-debug-info", detail, _HINT)
    detail = (
        f"only {', '.join(sorted(present))} in the file"
        if present
        else "no debug information in the file, and it has no build-id or debug link"
    )
    return DebugSearch(None, "", "no-debug-info", detail, _HINT)


# --- candidates ---------------------------------------------------------------------------------------------------


def _candidates(elf: ElfFile, options: ExtractOptions) -> Iterator[_Candidate]:
    own = tuple(options.debug_dirs)
    yield from _of_packages(elf, options.debug_files)
    seen: set[Path] = {elf.path.absolute()}
    for candidate in (*_by_build_id(elf, own), *_by_link(elf, own)):
        if candidate.path not in seen and is_file(candidate.path):
            seen.add(candidate.path)
            yield candidate


def _of_packages(elf: ElfFile, files: Sequence[InputFile]) -> Iterator[_Candidate]:
    """The files of debug packages whose paths are those of the library's debug file."""
    link = elf.debuglink and Path(elf.debuglink[0]).name
    wanted = build_id_path(Path(), elf.build_id).parts[-2:] if elf.build_id and len(elf.build_id) > 2 else ()
    for file in files:
        by_id = file.path.parts[-2:] == wanted
        if by_id or file.path.name in (link, f"{elf.path.name}.debug"):
            yield _Candidate(
                file.path, "debug-package", elf.debuglink[1] if elf.debuglink and not by_id else None, file
            )


def _by_build_id(elf: ElfFile, own: tuple[Path, ...]) -> Iterator[_Candidate]:
    if elf.build_id and len(elf.build_id) > 2:
        for folder in (*own, *SYSTEM_DIRS):
            yield _Candidate(build_id_path(folder, elf.build_id), "debug-dir" if folder in own else "build-id")


def build_id_path(folder: Path, build_id: str) -> Path:
    """Where ``folder`` keeps the debug file of ``build_id``."""
    return folder / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug"


def _by_link(elf: ElfFile, own: tuple[Path, ...]) -> Iterator[_Candidate]:
    if elf.debuglink is None:
        return
    name, crc = Path(elf.debuglink[0]).name, elf.debuglink[1]
    beside = elf.path.absolute().parent
    yield _Candidate(beside / name, "debuglink", crc)
    yield _Candidate(beside / ".debug" / name, "debuglink", crc)
    for folder in (*own, *SYSTEM_DIRS):
        source: Source = "debug-dir" if folder in own else "debuglink"
        yield _Candidate(folder / beside.relative_to(beside.anchor) / name, source, crc)
        yield _Candidate(folder / name, source, crc)


def _examine(elf: ElfFile, candidate: _Candidate) -> ElfSearch:
    """The candidate, if it is of the same build and complete; else why it is refused."""
    name, source = candidate.path.name, candidate.source
    try:
        debug = ElfFile(candidate.file or candidate.path, elf.max_bytes)
        mismatch = _mismatch(elf, debug, candidate.crc)
    except LimitExceeded:
        raise
    except InputError as error:
        return DebugSearch(
            None, source, "unreadable-debug-file", f"{name}: {error.message}", "fetch the debug file again"
        )
    if mismatch:
        hint = "pass the --debug-dir that was made by the same build"
        return DebugSearch(None, source, "stale-debug-file", f"{name}: {mismatch}", hint)
    if lacking := _lacking(debug):
        detail = f"{name}: {' and '.join(lacking)} missing"
        return DebugSearch(None, source, "incomplete-debug-info", detail, "fetch the debug file again")
    return DebugSearch(debug, source)


def _mismatch(elf: ElfFile, debug: ElfFile, crc: int | None) -> str:
    if (elf.machine, elf.bits, elf.little) != (debug.machine, debug.bits, debug.little):
        return "is for another machine"
    if elf.build_id != debug.build_id and elf.build_id and debug.build_id:
        return f"build-id {debug.build_id} is not the library's {elf.build_id}"
    if crc is not None and debug.file.crc32() != crc:
        return f"checksum is not {crc:08x}, which the library asks for"
    if crc is None and debug.build_id != elf.build_id:
        return "has no build-id"
    return _moved(elf, debug)


def _moved(elf: ElfFile, debug: ElfFile) -> str:
    """That code lies elsewhere than in the library: a build-id that a build chose for itself proves nothing."""
    kept, own = _code(debug), _code(elf)
    moved = next((name for name in own if name in kept and own[name] != kept[name]), None)
    if moved:
        return f"its {moved} is not the library's, although the build-id is"
    named = _named_elsewhere(elf, debug)
    return f"{named} lies elsewhere in it than in the library, although the build-id is the same" if named else ""


def _named_elsewhere(elf: ElfFile, debug: ElfFile) -> str | None:
    """An export that the debug file's own table of symbols has at other addresses: it would describe another one."""
    kept = symbol_places(debug)
    dynamic = DynamicSection.of(elf) if kept else None
    own: dict[str, set[int]] = {}
    for each in read_rows(dynamic) if dynamic is not None else ():
        if each.section != SHN_UNDEF:
            own.setdefault(each.name, set()).add(each.value)
    return next((name for name, places in own.items() if name in kept and places.isdisjoint(kept[name])), None)


def _code(elf: ElfFile) -> Mapping[str, list[tuple[int, int]]]:
    """The addresses and sizes of the sections of code, by their names."""
    found: dict[str, list[tuple[int, int]]] = {}
    for each in elf.sections:
        if each.flags & SHF_EXECINSTR:
            found.setdefault(each.name, []).append((each.address, each.size))
    return found


# --- dwz ----------------------------------------------------------------------------------------------------------


def find_alternate(debug: ElfFile, options: ExtractOptions) -> ElfFile | None:
    """The file that ``dwz`` moved common entries to, by its recorded name, in the build-id trees, or by debuginfod.

    ``None`` where none is recorded, or none with the recorded build-id (in DWARF 5: checksum) is found.
    """
    if debug.alternate_link is None:
        return None
    name, build_id = debug.alternate_link
    for file in options.debug_files:
        if file.path.name == Path(name).name and (kept := _alternate_at(file, build_id, debug.max_bytes)):
            return kept
    for path in _alternates(debug, name, build_id, options):
        found = _alternate_at(path, build_id, debug.max_bytes)
        if found is not None:
            return found
    if options.debuginfod and build_id:
        from abistore.extract.debuginfod.client import fetch

        def wrong(path: Path) -> str:
            return "" if _alternate_at(path, build_id, debug.max_bytes) else "it is another file"

        fetched = fetch(build_id, options.max_bytes, wrong)
        return _alternate_at(fetched.path, build_id, debug.max_bytes) if fetched.path else None
    return None


def without_alternate(search: ElfSearch) -> ElfSearch:
    """The refusal of a debug file whose supplementary (dwz) file is missing.

    ``dwz`` moves names and basic types there, so that the rest would be taken for something else.
    """
    name = search.file.alternate_link[0] if search.file and search.file.alternate_link else ""
    return DebugSearch(
        None, search.source, "alternate-file-missing", f"a common part was moved to {name}", _ALTERNATE_HINT
    )


def _alternates(debug: ElfFile, name: str, build_id: str, options: ExtractOptions) -> Iterator[Path]:
    folders = (*options.debug_dirs, *SYSTEM_DIRS)
    beside = debug.path.resolve().parent
    recorded = Path(name)
    yield beside / recorded
    yield beside / recorded.name
    for folder in folders:
        if len(build_id) > 2:
            yield build_id_path(folder, build_id)
        for system in SYSTEM_DIRS:
            if recorded.is_relative_to(system):
                yield folder / recorded.relative_to(system)
        yield folder / ".dwz" / recorded.name
        yield folder / recorded.name


def _alternate_at(path: Path | InputFile, identity: str, max_bytes: int) -> ElfFile | None:
    if isinstance(path, Path) and not is_file(path):
        return None
    try:
        found = ElfFile(path, max_bytes)
        has_parts = found.has(".debug_info") or found.has(".debug_str")  # of small libraries only names are moved
        return found if identity in found.identities and has_parts else None
    except LimitExceeded:
        raise
    except InputError:
        return None  # the next place may have a good one; the missing alternate is reported by who needs it


# --- debuginfod ---------------------------------------------------------------------------------------------------


def _ask_servers(elf: ElfFile, build_id: str, options: ExtractOptions) -> ElfSearch:
    from abistore.extract.debuginfod.client import fetch  # urllib, for the few who ask for it

    refused: list[ElfSearch] = []

    def wrong(path: Path) -> str:
        search = _examine(elf, _Candidate(path, "debuginfod"))
        if search.file is None:
            refused.append(search)
        return search.detail if search.file is None else ""

    fetched = fetch(build_id, options.max_bytes, wrong)
    if fetched.path is not None:
        return _examine(elf, _Candidate(fetched.path, "debuginfod"))
    if refused:
        return refused[0]
    if fetched.absent:
        return DebugSearch(None)
    return DebugSearch(None, "debuginfod", "debuginfod-failed", fetched.detail, fetched.hint)
