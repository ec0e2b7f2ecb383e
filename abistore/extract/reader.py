"""What a caller may ask of an extraction, the protocol of readers, the registry of them, and facets as a snapshot."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any, Final, Generic, Literal, Protocol, TypeAlias, TypeVar

import msgspec

import abistore
from abistore.errors import UnknownFormat
from abistore.extract.files import InputFile, InputFolder
from abistore.files import exists
from abistore.model.declarations import EXPORTS, TYPES, Declared, Facet, Name
from abistore.model.labels import Given, check_not_blank, library_name
from abistore.model.layout import UNDESCRIBED_HINT, methods_in, told_undescribed, undescribed_classes
from abistore.model.names.qualified import class_behind, demangle, entity, last_component, scope
from abistore.model.names.symbols import is_mangled, primary
from abistore.model.shapes import Opaque
from abistore.model.snapshot import (
    CLASS_NOT_DESCRIBED,
    NO_EXPORT_DECLARED,
    Evidence,
    HeadersRead,
    Location,
    Provenance,
    Snapshot,
    Tags,
    Target,
    Variants,
)
from abistore.model.words import ANY, counted

Language: TypeAlias = Literal["c", "c++"]
"""The language of consumers that include the headers."""


class HeaderOptions(Given, frozen=True):
    """The public headers of a library.

    ``headers`` are files, and folders of which all headers are public but those that match a pattern of ``private``
    (relative to the folder: ``detail/*``, ``*_p.h``). What a header declares only where an undefined macro is defined
    is not public unless ``defines`` has the macro (``NAME`` or ``NAME=VALUE``). ``include_dirs`` are searched for what
    headers include, and ``named_dirs`` behind them: one that would hide a header of the system, behind its folders.
    ``lent_dirs`` are those of them that belong to other projects: what stands there is none of the library's.
    ``standard`` is as for ``-std``. ``compile_commands`` is a file that CMake and others write, from which include
    folders, macros and the standard are taken. ``target`` is a triple, else what the binary is for; ``clang_args`` are
    passed on last. With ``projects``, only what these name in the folders is public: a header, or a folder with all in
    it. With ``library``, they are the headers of that library only, and ``others`` are those of other libraries that
    are read with it. ``configured`` headers are those of a project, and not of one file: a JSON snapshot is read
    without them.
    """

    headers: tuple[Path, ...]
    private: tuple[str, ...] = ()
    include_dirs: tuple[Path, ...] = ()
    named_dirs: tuple[Path, ...] = ()
    lent_dirs: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()
    standard: str | None = None
    language: Language | None = None
    compile_commands: Path | None = None
    target: str | None = None
    sysroot: Path | None = None
    clang_args: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    library: str | None = None
    others: tuple[HeaderOptions, ...] = ()
    configured: bool = False

    @classmethod
    def given(cls, headers: Sequence[str | Path], **said: Any) -> HeaderOptions | None:
        """The options for files and folders, each of which may name its library: ``libfoo=include/foo``.

        ``said`` is about all of them. A path that there is names none, whatever is in it. ``None`` without headers.
        """
        found: dict[str, list[Path]] = {}
        for each in headers:
            library, path = _named(str(each))
            found.setdefault(library, []).append(path)
        made = [cls(tuple(found[name]), library=name or None, **said) for name in sorted(found)]
        return msgspec.structs.replace(made[0], others=tuple(made[1:])) if made else None

    def of(self, library: str) -> HeaderOptions | None:
        """The headers of one library: those that name it, else those that name none."""
        for wanted in (library, None):
            for each in (self, *self.others):
                if each.library == wanted:
                    return msgspec.structs.replace(each, others=())
        return None

    @property
    def named(self) -> frozenset[str]:
        """The libraries that are named."""
        return frozenset(each.library for each in (self, *self.others) if each.library is not None)


def _named(text: str) -> tuple[str, Path]:
    """The library that ``LIBRARY=PATH`` names, if any, and the path."""
    library, equals, path = text.partition("=")
    if not equals or "/" in library or os.sep in library or exists(Path(text)):
        return "", Path(text)
    for each in (library, path):
        check_not_blank(f"one side of {text}", each)
    return library, Path(path)


class EditedHeader(msgspec.Struct, frozen=True):
    """What a header would hold; ``None`` where an edit takes it away."""

    path: Path
    text: str | None


class HeaderEdits(msgspec.Struct, frozen=True):
    """What is read in place of what the headers hold on disk.

    ``declarations`` is text in C or C++ of which each declaration takes the place of the one of its name.
    """

    files: tuple[EditedHeader, ...] = ()
    declarations: str = ""


NO_EDITS = HeaderEdits()


class HeaderRequest(msgspec.Struct, frozen=True):
    """Which headers to read for which binary, below which folders (``roots``), within which limits.

    ``cpp_exports`` tells that the binary exports C++ symbols, ``runtime`` that it is the C++ runtime itself.
    ``silence`` is for how many seconds nothing may happen. ``edits`` are read in place of what is on disk.
    """

    options: HeaderOptions
    target: Target
    cpp_exports: bool
    runtime: bool
    roots: tuple[str, ...] | None
    seconds: int
    memory: int
    silence: float
    edits: HeaderEdits = NO_EDITS


class HeaderReading(msgspec.Struct, frozen=True):
    """What headers declare, and how much of them could be read; ``read`` is ``None`` where nothing could.

    ``bare`` are the names of types that are no tags, ``None`` where the headers are not read as C.
    """

    entries: tuple[tuple[Name, Variants], ...]
    locations: tuple[tuple[Name, Location], ...]
    evidence: Evidence
    read: HeadersRead | None = None
    bare: tuple[str, ...] | None = None


class ExtractOptions(Given, frozen=True):
    """What a caller may ask of an extraction.

    ``debug_dirs`` are searched for separate debug files like ``/usr/lib/debug``, and may name a PDB file itself;
    ``debuginfod`` allows asking the servers of ``DEBUGINFOD_URLS``; ``layout=False`` reads the binary's tables only.
    ``max_bytes`` bounds every file read and every section after decompression. ``headers`` are the public ones,
    ``None`` where none are given.
    Of packages and folders, ``only`` are patterns of the libraries to read. ``debug_packages`` have their debug
    information, which is in ``debug_files`` once it is unpacked, and ``devel_packages`` their headers.
    ``package_indexes`` tell which packages have headers that are missing. ``suite`` is the part of a distribution that
    packages are from.
    ``platform`` is that of an input that does not tell its own, and with ``every_release`` an input that tells of
    several releases gives a snapshot of each. ``programs`` takes executables without exports, for what they import.
    Without ``identify`` the digest of the file is left out, by which a store knows it again: to work it out every byte
    is read.
    ``progress`` is called with what is being read and how far that is, from 0 to 1.
    """

    library: str | None = None
    version: str | None = None
    debug_dirs: tuple[Path, ...] = ()
    debuginfod: bool = False
    layout: bool = True
    max_bytes: int = 4 << 30
    headers: HeaderOptions | None = None
    only: tuple[str, ...] = ()
    debug_packages: tuple[Path, ...] = ()
    debug_files: tuple[InputFile, ...] = ()
    devel_packages: tuple[Path, ...] = ()
    package_indexes: tuple[Path, ...] = ()
    suite: str = ""
    platform: str | None = None
    every_release: bool = False
    programs: bool = False
    identify: bool = True
    progress: Callable[[str, float], None] | None = None


def identified(snapshot: Snapshot, file: InputFile, options: ExtractOptions) -> Snapshot:
    """The snapshot with the SHA-256 of ``file``, if that is wanted. Raises :class:`ExtractError` for a changed file.

    Readers ask last: OpenSSL is loaded into memory that the debug information needs before.
    """
    if not options.identify:
        file.check_unchanged()
        return snapshot
    return msgspec.structs.replace(
        snapshot, provenance=msgspec.structs.replace(snapshot.provenance, sha256=file.sha256())
    )


class Reader(Protocol):
    """Reads one binary format. A reader is a module with these two functions."""

    def accepts(self, head: bytes) -> bool:
        """Whether a file that begins with ``head`` (its first 4,096 bytes) is of this format."""

    def read(self, file: InputFile, options: ExtractOptions) -> Iterable[Snapshot]:
        """The snapshots of the libraries in the file: several for a universal file or a package.

        Limits of time and memory hold around the call; what it reads beside ``file`` it tells
        :func:`abistore.limits.allow_more`. Raises :class:`abistore.errors.InputError`, of the kind that tells what is
        wrong.
        """


PACKAGES = "abistore.extract.packages.reader"

READERS: tuple[str, ...] = (
    "abistore.extract.capture",
    "abistore.extract.elf.reader",
    "abistore.extract.macho.reader",
    "abistore.extract.macho.stubs",
    "abistore.extract.dumps.reader",
    "abistore.extract.pe.reader",
    PACKAGES,
)
"""The modules of all readers, asked in this order. A new format is a module here and nothing else."""


def reader_of(file: InputFile, options: ExtractOptions) -> Reader:
    """The reader of a file or a folder. Raises :class:`UnknownFormat`.

    That of packages reads a library that has packages beside it, too.
    """
    beside = options.debug_packages or options.devel_packages
    if isinstance(file, InputFolder) or (beside and not file.head.lstrip().startswith(b"{")):
        packages: Reader = import_module(PACKAGES)
        return packages
    return reader_for(file.head, file.path)


def is_package(file: InputFile) -> bool:
    """Whether a file is a package, or a folder; anything that no reader knows is none."""
    if isinstance(file, InputFolder):
        return True
    try:
        return file.size > 0 and reader_for(file.head, file.path) is sys.modules.get(PACKAGES)
    except UnknownFormat:
        return False


def reader_for(head: bytes, path: Path) -> Reader:
    """The first reader that accepts ``head``. Raises :class:`UnknownFormat`."""
    for module in READERS:
        reader: Reader = import_module(module)
        if reader.accepts(head):
            return reader
    raise UnknownFormat(f"{path}: not a library of a known format")


MOST_NAMED: Final = 3
"""How many classes the evidence names."""


class FacetReading(msgspec.Struct, frozen=True):
    """What was read of one facet, and how much could be seen: ``evidence`` names the facet.

    ``headers`` tells which headers were read, of the facet that is read from them. ``bare`` are the names of records
    and enums that are no tags of C, ``None`` where no source is known to be of C.
    """

    evidence: Evidence
    entries: Mapping[Name, Variants] = {}
    locations: Mapping[Name, Location] = {}
    compilers: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    debug_files: tuple[str, ...] = ()
    headers: HeadersRead | None = None
    bare: frozenset[str] | None = None


def unread(
    file: InputFile,
    options: ExtractOptions,
    name: str | None,
    target: Target,
    *,
    reader: str,
    build_id: str | None = None,
    product_version: str | None = None,
) -> Snapshot:
    """The snapshot of ``file`` before any facet is read. ``name`` is what the library calls itself."""
    return Snapshot(
        library=options.library or library_name(PurePath(name or file.path.name).name),
        version=options.version,
        target=target,
        entries={},
        provenance=Provenance(
            file=file.path.name,
            size=file.size,
            build_id=build_id,
            reader=reader,
            abistore=abistore.__version__,
            product_version=product_version or msgspec.UNSET,
        ),
    )


def symbol_facet(
    entries: Mapping[Name, Variants], exports: int, unrecorded: Iterable[str] | None = None
) -> FacetReading:
    """The symbols of a file that tells all of them; ``unrecorded`` are the facts that its format has no word for."""
    unsaid = msgspec.UNSET if unrecorded is None else tuple(sorted(unrecorded))
    evidence = Evidence("symbol", "full", source="file", described=exports, expected=exports, unrecorded=unsaid)
    return FacetReading(evidence, entries)


def join(binary: Snapshot, readings: Iterable[FacetReading]) -> Snapshot:
    """The snapshot of a file: ``binary`` tells which file it is, ``readings`` what each facet shows.

    A facet whose evidence is missing has no entries: an empty one would say that the library declares nothing.
    """
    entries: dict[Facet, Mapping[Name, Variants]] = {}
    locations: dict[Name, Location] = {}
    evidence = []
    provenance = binary.provenance
    tags: Tags | msgspec.UnsetType = msgspec.UNSET
    for reading in readings:
        evidence.append(reading.evidence)
        if reading.evidence.state != "missing":
            entries[reading.evidence.facet] = reading.entries
        locations = {**reading.locations, **locations}
        tags = _tags(reading) if reading.bare is not None else tags
        provenance = msgspec.structs.replace(
            provenance,
            compilers=provenance.compilers + reading.compilers,
            languages=provenance.languages + reading.languages,
            debug_files=provenance.debug_files + reading.debug_files,
            tags=tags,
        )
    found = msgspec.structs.replace(
        binary, entries=entries, evidence=tuple(evidence), locations=locations, provenance=provenance
    )
    return _telling_undescribed(found) if "layout" in entries else found


def _tags(reading: FacetReading) -> Tags:
    """How the sources of C that were read mention the types that they show."""
    types = {name.spelling: shapes for name, shapes in reading.entries.items() if name.kind in ("record", "enum")}
    bare = {each for each in reading.bare or () if each in types and each.isidentifier()}
    unions = {each for each, shapes in types.items() if any(getattr(shape, "sort", "") == "union" for shape in shapes)}
    return Tags(tuple(sorted(bare)), tuple(sorted(each for each in unions - bare if each.isidentifier())))


def _telling_undescribed(snapshot: Snapshot) -> Snapshot:
    """The snapshot whose evidence tells the classes that debug information leaves out, where that is all it lacks."""
    seen = snapshot.evidence_of("layout")
    names = undescribed_classes(snapshot, methods_in(snapshot)) if seen.state == "full" else ()
    if not names:
        return snapshot
    first = ", ".join(name.spelling for name in sorted(names)[:MOST_NAMED])
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    detail = "; ".join(filter(None, (seen.detail, f"{told_undescribed(names)}: {first}{more}")))
    told = msgspec.structs.replace(seen, reason=CLASS_NOT_DESCRIBED, detail=detail, hint=UNDESCRIBED_HINT)
    evidence = (told if each.facet == "layout" else each for each in snapshot.evidence)
    return msgspec.structs.replace(snapshot, evidence=tuple(evidence))


def with_headers(snapshot: Snapshot, reading: FacetReading) -> Snapshot:
    """The snapshot with what public headers declare.

    Where both tell a place, an export has that of its declaration, which programs see, and a type that of the debug
    information.
    """
    seen = (*(each for each in snapshot.evidence if each.facet != reading.evidence.facet), reading.evidence)
    headers = _with_own_names(reading.headers, snapshot, reading.entries) if reading.headers else None
    if reading.evidence.state == "missing":
        provenance = msgspec.structs.replace(snapshot.provenance, headers=headers or msgspec.UNSET)
        return msgspec.structs.replace(snapshot, evidence=seen, provenance=provenance)
    return msgspec.structs.replace(
        snapshot,
        entries={**snapshot.entries, reading.evidence.facet: reading.entries},
        evidence=seen,
        locations={**reading.locations, **snapshot.locations, **_of_exports(reading)},
        provenance=msgspec.structs.replace(
            snapshot.provenance, headers=headers or msgspec.UNSET, tags=_joined_tags(snapshot, reading)
        ),
    )


def _joined_tags(snapshot: Snapshot, reading: FacetReading) -> Tags | msgspec.UnsetType:
    """How types are mentioned: as headers of C do, and of the types that these do not have, as the library does."""
    tags = snapshot.provenance.tags
    if reading.bare is None:
        return tags
    if not isinstance(tags, Tags):  # nothing else is of C
        names = (name for name in snapshot.entries.get("layout", ()) if name.kind in ("record", "enum"))
        tags = Tags(tuple(name.spelling for name in names if name.spelling.isidentifier()))
    own, declared = _tags(reading), {name.spelling for name in reading.entries}
    return Tags(
        tuple(sorted({*own.bare, *(each for each in tags.bare if each not in declared)})),
        tuple(sorted({*own.unions, *(each for each in tags.unions if each not in declared)})),
    )


def _of_exports(reading: FacetReading) -> dict[Name, Location]:
    return {
        name: place
        for name, place in reading.locations.items()
        if name.kind in EXPORTS and any(isinstance(each, Declared) for each in reading.entries.get(name, ()))
    }


def _with_own_names(read: HeadersRead, snapshot: Snapshot, declared: Mapping[Name, Variants]) -> HeadersRead:
    """What was read, where other text than the public names no more than the library has and headers do not declare."""
    aside = frozenset(read.aside or ())
    words = {*read.behind, *(word for each in read.untaken for word in each.names)} | aside
    if not words:
        return read
    own = {word for word in words if _is_declared(word, declared)}
    missing = {each.spelling for each in snapshot.entries.get("symbol", {}) if each.kind in EXPORTS} | {
        last_component(each.spelling) for each in snapshot.entries.get("layout", {}) if each.kind in TYPES
    }
    mangled = "\n".join(each for each in missing if is_mangled(each))
    names = "\n".join(missing)
    kept = {word for word in words if word in missing or f"{len(word)}{word}" in mangled or _is_part_of(word, names)}
    unread = None if read.aside is None else tuple(word for word in read.aside if word in kept)
    kept -= own
    told = ((each, tuple(name for name in each.names if name in kept)) for each in read.untaken)
    branches = tuple(msgspec.structs.replace(each, names=names) for each, names in told if names)
    behind = tuple(word for word in read.behind if word in kept)
    return msgspec.structs.replace(read, untaken=branches, behind=behind, aside=unread)


def _is_part_of(word: str, names: str) -> bool:
    """Whether a word between two :data:`ANY` occurs in any of the names."""
    return word.startswith(ANY) and word.strip(ANY) in names


def _is_declared(word: str, declared: Mapping[Name, Variants]) -> bool:
    if any(Name(kind, word) in declared for kind in EXPORTS):
        return True
    types = (shape for kind in TYPES for shape in declared.get(Name(kind, word), ()))
    return any(not isinstance(shape, Declared | Opaque) for shape in types)


FileT = TypeVar("FileT")


class DebugSearch(msgspec.Struct, Generic[FileT], frozen=True):
    """The file that describes the library, or a stable reason why there is none.

    ``reason`` is ``no-debug-info`` (none is in the file and nothing tells where else), ``debug-file-missing`` (it was
    split off and is not here), ``stale-debug-file`` (what is here belongs to another build), ``incomplete-debug-info``
    (sections that it needs are absent), ``alternate-file-missing`` (so is what ``dwz`` moved elsewhere),
    ``unreadable-debug-file``, or ``debuginfod-failed``.
    """

    file: FileT | None
    source: str = ""
    reason: str = ""
    detail: str = ""
    hint: str = ""

    def nothing(self, exports: int) -> FacetReading:
        """The layout facet where no file was found; ``exports`` is how many it should describe."""
        return FacetReading(Evidence("layout", "missing", self.reason, self.detail, self.hint, self.source, 0, exports))


def first_found(searches: Iterable[DebugSearch[FileT]], nothing: DebugSearch[FileT]) -> DebugSearch[FileT]:
    """The first search that found a file; else the first that has a reason; else ``nothing``."""
    refused = nothing
    for search in searches:
        if search.file is not None:
            return search
        if search.reason and refused is nothing:
            refused = search
    return refused


def weighed(reading: FacetReading, binary: Snapshot) -> FacetReading:
    """The reading of headers, which is partial evidence if they have nothing to do with what ``binary`` exports.

    They may be those of another library, or an entry to headers that lie elsewhere: what is undeclared is not private.
    """
    exports = [name.spelling for name in binary.entries.get("symbol", ()) if name.kind in EXPORTS]
    seen = reading.evidence
    if seen.state != "full" or not exports or _describe(reading.entries, exports):
        return reading
    partial = msgspec.structs.replace(
        seen,
        state="partial",
        reason=NO_EXPORT_DECLARED,
        detail=f"the given headers declare none of {counted(len(exports), 'export')}",
        hint="pass the headers that programs include, or their folder, with --header",
        described=0,
    )
    return msgspec.structs.replace(reading, evidence=partial)


def _describe(entries: Mapping[Name, Variants], exports: list[str]) -> bool:
    texts = {name.spelling: [each for each in shapes if isinstance(each, Declared)] for name, shapes in entries.items()}
    declared = {spelling for spelling, found in texts.items() if found}
    code = (part for found in texts.values() for each in found for part in (each.body, each.uses) if part)
    known = declared.union(*(part.calls for part in code))
    if any(each in known or primary(each) in known for each in exports):
        return True
    plain = {each.partition("(")[0].partition("<")[0] for each in declared}
    return any(not plain.isdisjoint(_scopes(each)) for each in exports if is_mangled(each))


def _scopes(export: str) -> Iterator[str]:
    """What a C++ export is called without template arguments, and the class or namespace that it stands in."""
    name = class_behind(export) or entity(demangle(export))
    yield name.partition("<")[0]
    yield scope(name).partition("<")[0]
