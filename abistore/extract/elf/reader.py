"""The ELF reader: the tables of a shared object, and the debug information that belongs to it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from abistore.errors import ExtractError, InputError, LimitExceeded, UnknownFormat
from abistore.extract.elf.container import (
    DF_1_PIE,
    DT_NEEDED,
    DT_RPATH,
    DT_RUNPATH,
    DT_SONAME,
    MAGIC,
    SHF_EXECINSTR,
    DynamicSection,
    ElfFile,
    features,
)
from abistore.extract.elf.machines import (
    COPYING,
    FIRST_VERSION,
    SymbolVersions,
    needed_processor,
    protections,
    read_versions,
    target_of,
    weaknesses,
)
from abistore.extract.elf.symbols import (
    SHN_UNDEF,
    DynamicSymbol,
    Lookup,
    copied_imports,
    exported,
    imported,
    index_exports,
    looked_up,
    read_rows,
    refusals,
    symbol_places,
    told_apart,
)
from abistore.extract.files import ARCHIVES, Exports, InputFile, refusal
from abistore.extract.reader import (
    DebugSearch,
    ExtractOptions,
    FacetReading,
    first_found,
    identified,
    join,
    symbol_facet,
    unread,
)
from abistore.files import is_file
from abistore.limits import allow_more
from abistore.model.declarations import SELF, Name, by_name
from abistore.model.names.symbols import MANGLED
from abistore.model.shapes import AnyShape, ElfLibrary, Library
from abistore.model.snapshot import Snapshot, Target, Variants, sort_variants
from abistore.patterns import pattern

if TYPE_CHECKING:
    from abistore.extract.elf.class_tables import ClassTables

SYSTEM_DIRS = (Path("/usr/lib/debug"),)

Source = Literal["", "debug-package", "file", "build-id", "debuglink", "debug-dir", "debuginfod"]
ElfSearch: TypeAlias = "DebugSearch[ElfFile]"

_HINT = (
    "build it with -g; for a packaged library install its debug package (-dbgsym on Debian, -debuginfo on "
    "Fedora), pass the folder of its debug file with --debug-dir, or set DEBUGINFOD_URLS and pass --debuginfod"
)

_ALTERNATE_HINT = "install the file that contains the common parts (dwz), or pass its folder with --debug-dir"


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
        detail = f"{', '.join(lacking)} is missing; only {', '.join(sorted(present))} found"
        return DebugSearch(None, "file", "incomplete-debug-info", detail, _HINT)
    if elf.debuglink:
        return DebugSearch(
            None, "", "debug-file-missing", f"its separate debug file {elf.debuglink[0]} was not found", _HINT
        )
    if elf.build_id and not present:
        detail = f"no debug information in the file, and no separate debug file with its build-id {elf.build_id}"
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
            None, source, "unreadable-debug-file", f"{name}: {error.message}", "download the debug file again"
        )
    if mismatch:
        hint = "pass the --debug-dir of the same build"
        return DebugSearch(None, source, "stale-debug-file", f"{name}: {mismatch}", hint)
    if lacking := _lacking(debug):
        detail = f"{name}: {' and '.join(lacking)} missing"
        return DebugSearch(None, source, "incomplete-debug-info", detail, "download the debug file again")
    return DebugSearch(debug, source)


def _mismatch(elf: ElfFile, debug: ElfFile, crc: int | None) -> str:
    if (elf.machine, elf.bits, elf.little) != (debug.machine, debug.bits, debug.little):
        return "is for another machine"
    if elf.build_id != debug.build_id and elf.build_id and debug.build_id:
        return f"build-id {debug.build_id} is not the library's {elf.build_id}"
    if crc is not None and debug.file.crc32() != crc:
        return f"checksum is not {crc:08x}, which the library requires"
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
    return f"{named} has another address in it than in the library, although the build-id is the same" if named else ""


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
        from abistore.extract.debuginfod import fetch

        def wrong(path: Path) -> str:
            return "" if _alternate_at(path, build_id, debug.max_bytes) else "it belongs to another build"

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
    from abistore.extract.debuginfod import fetch  # urllib, for the few who ask for it

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


MOST_BYTES = 1 << 20
_COMMENT = pattern(r"/\*.*?(\*/|\Z)", re.DOTALL)
_TOKEN = pattern(r'"[^"]*"|[(),;]|[^\s(),;"]+')
_START = pattern(r"\s*(OUTPUT_FORMAT|OUTPUT_ARCH|INPUT|GROUP|SEARCH_DIR|TARGET|EXTERN|ENTRY)\s*\(")


def is_linker_script(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is a linker script that could name a library."""
    if b"\0" in head:
        return False
    return _START.match(_COMMENT.sub(" ", head.decode("utf-8", "replace"))) is not None


def named_libraries(text: str) -> tuple[str, ...]:
    """The shared libraries that a script names, those outside ``AS_NEEDED`` first, each in order; archives left out."""
    always: list[str] = []
    as_needed: list[str] = []
    for token, inside in _inputs(_TOKEN.findall(_COMMENT.sub(" ", text))):
        name = token.strip('"')
        if not name.endswith((".a", ".o")):
            (as_needed if inside else always).append(name)
    return tuple(always + as_needed)


def _inputs(tokens: list[str]) -> Iterator[tuple[str, bool]]:
    """The words inside ``INPUT`` and ``GROUP``, and whether each stands inside ``AS_NEEDED`` too."""
    open_commands: list[str] = []
    word = ""
    for token in tokens:
        if token == "(":
            open_commands.append(word)
        elif token == ")" and open_commands:
            open_commands.pop()
        elif token not in ",;)" and open_commands and open_commands[0] in ("INPUT", "GROUP") and token != "AS_NEEDED":
            yield token, "AS_NEEDED" in open_commands
        word = token


def find_library(script: Path, text: str) -> Path:
    """The file that ``script`` stands for. Raises :class:`ExtractError` where it names none that exists."""
    names = named_libraries(text)
    for name in names:
        for candidate in _candidates_linker_script(script.parent.absolute(), name):
            if is_file(candidate):
                return candidate
    listed = ", ".join(names) or "no library"
    raise ExtractError(
        f"{script}: a linker script for {listed}, none of which exists", "pass the shared library itself"
    )


def _candidates_linker_script(folder: Path, name: str) -> Iterator[Path]:
    if name.startswith("-l"):
        name = name[3:] if name.startswith("-l:") else f"lib{name[2:]}.so"
    name = re.sub(r"^(=|\$SYSROOT)", "", name)
    if name.startswith("/"):
        # In an unpacked package or a sysroot the path is below one of the script's own parents.
        for parent in folder.parents:
            yield parent / name.lstrip("/")
    else:
        yield folder / name
        yield from _beside_the_compiler(folder, name)
    yield folder / Path(name).name


def _beside_the_compiler(folder: Path, name: str) -> Iterator[Path]:
    """Where a compiler's own folder (``lib/gcc/TRIPLET/12``) has the target's libraries."""
    for triplet in (part for part in folder.parts if "-linux-" in part):
        for parent in folder.parents:
            yield parent / triplet / name
            yield parent / triplet / "lib" / name


DEBIAN_PACKAGE = b"!<arch>\ndebian-binary"
"""An archive of this kind is no library: another reader looks into it."""

ET_REL, ET_EXEC, ET_DYN, ET_CORE = 1, 2, 3, 4
PT_INTERP = 3


def accepts(head: bytes) -> bool:
    """Whether ``head`` begins an ELF file, or an archive or linker script that stands where one is expected."""
    if head.startswith((MAGIC, *ARCHIVES)):
        return not head.startswith(DEBIAN_PACKAGE)

    return is_linker_script(head)


def read(file: InputFile, options: ExtractOptions) -> Iterator[Snapshot]:
    """The snapshot of the shared library in ``file``, or of the one that a linker script there names.

    Raises :class:`abistore.errors.InputError`, of the kind that tells what is wrong with the file.
    """
    elf = open_library(file, options.max_bytes)
    tables = read_tables(elf, programs=options.programs)
    binary = unread(elf.file, options, tables.soname, target_of(elf), reader="elf", build_id=elf.build_id)
    symbols = symbol_facet(tables.entries, tables.exports.symbols)
    readings = [msgspec.structs.replace(symbols, evidence=tables.lookup.evidence(symbols.evidence))]
    if options.layout:
        readings.append(_layout(elf, tables, options, binary.target))
    yield identified(join(binary, readings), elf.file, options)


# --- the file -----------------------------------------------------------------------------------------------------


def open_library(file: InputFile, max_bytes: int) -> ElfFile:
    """The ELF file that ``file`` stands for: itself, or what linker scripts lead to.

    Raises :class:`UnknownFormat` for anything else, :class:`ExtractError` for an archive, an object file or a core.
    """
    if not file.head.startswith(MAGIC):
        script, file = file, _named_library(file)
        script.named = file
        allow_more(file.size)
    path, elf = file.path, ElfFile(file, max_bytes)
    if elf.type == ET_REL:
        raise ExtractError(f"{path}: is a relocatable object file", "link it into a shared library first")
    if elf.type == ET_CORE:
        raise ExtractError(f"{path}: is a core dump", "pass the shared library")
    if elf.type not in (ET_EXEC, ET_DYN):
        raise ExtractError(f"{path}: is an ELF file of the unknown type {elf.type}")
    return elf


def _named_library(script: InputFile) -> InputFile:
    """The ELF file that a linker script leads to."""

    file, seen = script, set[Path]()
    while not file.head.startswith(MAGIC):
        path = file.path
        if file.head.startswith(ARCHIVES):
            raise refusal(file)
        if not is_linker_script(file.head) or path in seen:
            raise UnknownFormat(f"{path}: not an ELF file")
        seen.add(path)
        text = file.read_at(0, min(MOST_BYTES, file.size)).decode("utf-8", "replace")
        file = InputFile(find_library(path, text))
    return file


# --- the tables ---------------------------------------------------------------------------------------------------


class SymbolTables(msgspec.Struct):
    """What the binary's own tables say: the symbol facet, the address index, the SONAME."""

    entries: dict[Name, Variants]
    exports: Exports
    soname: str | None
    lookup: Lookup


def read_tables(elf: ElfFile, *, programs: bool = False) -> SymbolTables:
    """The symbol facet of ``elf``. Raises :class:`ExtractError` where it exports nothing that one could link to.

    ``programs`` may do so.
    """
    dynamic = DynamicSection.of(elf)
    if dynamic is None:
        raise ExtractError(f"{elf.path}: is statically linked and exports nothing", "pass a shared library")
    versions = read_versions(dynamic)
    rows = list(read_rows(dynamic))
    lookup = looked_up(dynamic, list(exported(dynamic, rows, versions)), versions)
    found = lookup.found
    has_classes = any(name.spelling.startswith(MANGLED) for _, name, _ in found)
    relocated = _class_tables(dynamic, rows) if has_classes or programs else None
    if relocated is not None:
        found = relocated.marked(relocated.filled(found))
    found = told_apart(found)
    file_kind = _file_kind(elf, dynamic, bool(found))
    if file_kind == "executable" and not found and not programs:
        raise ExtractError(f"{elf.path}: is an executable without exports", "pass a shared library")
    gathered: dict[Name, list[AnyShape]] = {}
    for _, name, symbol in found:
        gathered.setdefault(name, []).append(symbol)
    imports = list(imported(rows, versions))
    if programs and relocated is not None:
        imports += copied_imports(rows, versions, relocated.copied(COPYING.get(elf.machine, 0)))
    for name, shape in imports:
        gathered.setdefault(name, []).append(shape)
    entries = {name: sort_variants(shapes) for name, shapes in sorted(gathered.items(), key=by_name)}
    exports = index_exports(dynamic, found)
    chosen = any(not symbol.default for _, _, symbol in found)
    first_version = versions.defined.get(FIRST_VERSION, "") if chosen else ""
    imported_names = {name.spelling for name, _ in imports}
    entries[SELF] = (_library(dynamic, versions, file_kind, imported_names, first_version),)
    return SymbolTables(entries, exports, dynamic.text(DT_SONAME), lookup)


def _class_tables(dynamic: DynamicSection, rows: Sequence[DynamicSymbol]) -> ClassTables:
    from abistore.extract.elf.class_tables import ClassTables  # C has no classes

    return ClassTables(dynamic, rows)


def _file_kind(elf: ElfFile, dynamic: DynamicSection, exports: bool) -> Literal["shared", "executable"]:
    """A position-independent executable has an interpreter; libraries that can be run as well have a SONAME too."""
    if elf.type == ET_EXEC:
        return "executable"
    pie = bool(dynamic.flags_1 & DF_1_PIE)
    if any(segment.type == PT_INTERP for segment in elf.segments):
        return "executable" if pie or dynamic.text(DT_SONAME) is None else "shared"
    return "executable" if pie and not exports else "shared"


def _library(
    dynamic: DynamicSection,
    versions: SymbolVersions,
    file_kind: Literal["shared", "executable"],
    imports: set[str],
    first_version: str,
) -> Library:
    elf = ElfLibrary(
        rpath=_search_path(dynamic.text(DT_RPATH)),
        version_definitions=tuple(sorted(set(versions.defined.values()))),
        version_requirements=tuple(sorted({(needed.library, needed.version) for needed in versions.required.values()})),
        first_version=first_version,
        refusals=tuple(sorted(refusals(dynamic))),
    )
    return Library(
        file_kind=file_kind,
        name=dynamic.text(DT_SONAME),
        needed=dynamic.texts(DT_NEEDED),
        search_paths=_search_path(dynamic.text(DT_RUNPATH)),
        protections=tuple(sorted(protections(dynamic, imports))),
        weaknesses=tuple(sorted(weaknesses(dynamic))),
        features=tuple(sorted((*features(dynamic), *needed_processor(dynamic.elf)))),
        elf=elf if elf != ElfLibrary() else None,
    )


def _search_path(text: str | None) -> tuple[str, ...]:
    return tuple(text.split(":")) if text else ()


# --- the facets ---------------------------------------------------------------------------------------------------


def _layout(elf: ElfFile, tables: SymbolTables, options: ExtractOptions, target: Target) -> FacetReading:
    """What the debug information says; where there is none, why."""
    search = find_debug(elf, options)
    alternate = find_alternate(search.file, options) if search.file else None
    if search.file and search.file.alternate_link and alternate is None:
        search = without_alternate(search)
    if search.file is None:
        return _c_types(elf, tables) or search.nothing(len(tables.exports.kinds))
    from abistore.extract.dwarf.layout import read_layout  # the larger half of the reading code, not always needed

    return read_layout(
        elf,
        search.file,
        tables.exports,
        options,
        target=target,
        soname=tables.soname,
        source=search.source,
        alternate=alternate,
    )


def _c_types(elf: ElfFile, tables: SymbolTables) -> FacetReading | None:
    """What BTF or CTF in the file says of its types; ``None`` where it has neither."""
    if elf.has(".BTF"):
        from abistore.extract.elf.btf import read_btf  # few files have it

        return read_btf(elf, tables.exports, tables.soname)
    if elf.has(".ctf"):
        from abistore.extract.elf.ctf import read_ctf  # few files have it

        return read_ctf(elf, tables.exports, tables.soname)
    return None
