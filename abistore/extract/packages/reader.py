"""Reads packages and folders: each shared library in them, with its debug information and its headers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack

import msgspec

from abistore.errors import InputError, NoLibrary, UnknownFormat, UsageError
from abistore.extract.input_file import InputFile, InputFolder, open_input
from abistore.extract.packages.debug import debug_files
from abistore.extract.packages.development import LibraryPackage, header_folder
from abistore.extract.packages.entries import Entry, entries, format_of
from abistore.extract.packages.formats.bounds import UnpackBounds
from abistore.extract.packages.formats.identity import PackageIdentity
from abistore.extract.packages.formats.streams import damage_told
from abistore.extract.packages.given import GivenPackages, PackageAccess
from abistore.extract.packages.header_readings import HeaderReadings
from abistore.extract.packages.libraries import PACKAGE, FoundLibrary, PackagedLibraries, is_binary, libraries_in
from abistore.extract.packages.optional import read_optional, with_optional
from abistore.extract.packages.remembered import digest_of, digest_of_libraries, how_read
from abistore.extract.reader import ExtractOptions, reader_for
from abistore.limits import allow_more
from abistore.model.labels.sonames import library_name
from abistore.model.snapshot import TWIN, PackageRead, Snapshot

MOST_LEFT_OUT = 20
"""How many binaries that were left out a snapshot tells of."""


def accepts(head: bytes) -> bool:
    """Whether ``head`` begins a package, or what may be a compressed one."""
    return format_of(head) is not None


def read(file: InputFile, options: ExtractOptions) -> Iterator[Snapshot]:
    """The snapshots of the libraries in a package or a folder, each library once.

    Raises :class:`abistore.errors.InputError`, of the kind that tells what is wrong.
    """
    with ExitStack() as stack:
        identity, found = _searched(file, options)
        for each in found.libraries:
            stack.callback(each.file.close)
        _check_count(file, found, options)
        allow_more(sum(each.file.size for each in found.libraries))
        options = msgspec.structs.replace(
            options,
            version=options.version or identity.version or None,
            debug_files=tuple(_debug_files(found.libraries, options, stack)),
        )
        left_out = tuple(found.left_out[:MOST_LEFT_OUT])
        told = None if _is_alone(file) else _told(file, identity, options)
        read_all = [(each.path, one) for each in found.libraries for one in _snapshots(each, options)]
        members, twins = _one_each(read_all, found)
        left_out = (*twins, *left_out)[:MOST_LEFT_OUT]
        beside = LibraryPackage(identity, frozenset(each.library for _, each in members))
        headers = HeaderReadings(_development(options, identity, stack), options, beside)
        symbols = read_optional(identity.symbols)
        from_package = [_from(snapshot, told, path, found.names(path)) for path, snapshot in members]
        read = [headers.added(with_optional(each, symbols)) for each in from_package]
        together = digest_of_libraries(each.provenance.sha256 for each in read)
        doubts = headers.doubts(read)
        file.check_unchanged()
        count = PackageRead("", sha256=together, libraries=len(read), left_out=left_out, doubts=doubts)
        yield from (_counted(each, count) for each in read)


def _one_each(
    members: Sequence[tuple[str, Snapshot]], found: PackagedLibraries
) -> tuple[list[tuple[str, Snapshot]], list[str]]:
    """One library of each name and platform, and what is left out for that: first what programs load by its SONAME,
    then what is called as itself, then what lies least deep. Copies of that file are not told where digests are known.
    """
    loaded = {soname: found.loaded(soname) for _, each in members if (soname := each.facts.name if each.facts else "")}

    def rank(member: tuple[str, Snapshot]) -> tuple[bool, bool, int, str]:
        path, snapshot = member
        is_loaded = path in loaded.get((snapshot.facts.name if snapshot.facts else None) or "", ())
        called = library_name(path.rpartition("/")[2]) == snapshot.library
        return not is_loaded, not called, path.count("/"), path

    chosen: dict[tuple[str, str], tuple[str, str]] = {}
    for path, snapshot in sorted(members, key=rank):
        chosen.setdefault((snapshot.library, str(snapshot.target)), (path, snapshot.provenance.sha256))
    kept, twins = [], []
    for path, snapshot in members:
        first, digest = chosen[snapshot.library, str(snapshot.target)]
        if first == path:
            kept.append((path, snapshot))
        elif not digest or snapshot.provenance.sha256 != digest:
            twins.append(f"{path} ({TWIN}{snapshot.library})")
    instead = [f"{path} ({TWIN}{library})" for path, library in _loaded_instead(members, kept, found)]
    return kept, list(dict.fromkeys((*twins, *instead)))


def _loaded_instead(
    members: Sequence[tuple[str, Snapshot]], kept: Sequence[tuple[str, Snapshot]], found: PackagedLibraries
) -> Iterator[tuple[str, str]]:
    """What programs get that ask for a library which is read from another file, and the name of that library."""
    targets = {path: snapshot.target for path, snapshot in members}
    for path, snapshot in kept:
        soname = snapshot.facts.name if snapshot.facts else None
        loaded = found.loaded(soname) if soname else set[str]()
        of_target = {each for each in loaded if targets.get(each, snapshot.target) == snapshot.target}
        instead = set[str]() if path in of_target else of_target
        yield from ((each, snapshot.library) for each in sorted(instead | found.passed_over(snapshot.library)))


def _searched(file: InputFile, options: ExtractOptions) -> tuple[PackageIdentity, PackagedLibraries]:
    package = file.path.name
    if _is_alone(file):
        return PackageIdentity(), libraries_in(_alone(file), options.only, package)
    with damage_told(str(file.path)):
        return _identity(file, options), libraries_in(entries(file, _bounds(file, options)), options.only, package)


def _identity(file: InputFile, options: ExtractOptions) -> PackageIdentity:
    format = None if isinstance(file, InputFolder) else format_of(file.head)
    return format.identity(file, _bounds(file, options)) if format else PackageIdentity()


def _is_alone(file: InputFile) -> bool:
    """Whether a file is a library itself, beside which packages are given."""
    return is_binary(file.head)


def _alone(file: InputFile) -> Iterable[Entry]:
    return [Entry(file.path.name, file.head, lambda: InputFile(file.path, os.dup(file.descriptor)))]


def _bounds(file: InputFile, options: ExtractOptions) -> UnpackBounds:
    return UnpackBounds(str(file.path), file.size, options.max_bytes)


def _check_count(file: InputFile, found: PackagedLibraries, options: ExtractOptions) -> None:
    if not found.libraries:
        left_out = f"; left out: {', '.join(found.left_out[:5])}" if found.left_out else ""
        hint = "name the package that holds the library"
        inner = [each for each in found.left_out if each.endswith(PACKAGE)]
        if options.only:
            left_out, hint = f" that fits {', '.join(options.only)}", "see its libraries without --only"
        elif inner and len(inner) == len(found.left_out):
            hint = "a package in a package is not unpacked: take it out, and name it"
        elif found.left_out:
            hint = "take one of them all the same with --only PATTERN"
        told = f"{file.path}: holds no shared library{left_out}"
        raise InputError(told, hint) if options.only else NoLibrary(told, hint)
    if options.library and len(found.libraries) > 1:
        raise UsageError(
            f"{file.path}: holds {len(found.libraries)} libraries, and --library gives them one name",
            "pick one with --only, or leave --library out",
        )


def _debug_files(libraries: Sequence[FoundLibrary], options: ExtractOptions, stack: ExitStack) -> Iterator[InputFile]:
    for path in options.debug_packages:
        with open_input(path) as package, damage_told(str(path)):
            allow_more(package.size)
            for each in debug_files(entries(package, _bounds(package, options)), [one.file for one in libraries]):
                stack.callback(each.close)
                yield each
            package.check_unchanged()


def _development(options: ExtractOptions, beside: PackageIdentity, stack: ExitStack) -> GivenPackages | None:
    if not options.devel_packages:
        return None
    access = PackageAccess(lambda file: entries(file, _bounds(file, options)), lambda file: _identity(file, options))
    return GivenPackages(options.devel_packages, stack.enter_context(header_folder()), beside, access)


def _snapshots(library: FoundLibrary, options: ExtractOptions) -> Iterator[Snapshot]:
    try:
        reader = reader_for(library.file.head, library.file.path)
    except UnknownFormat:
        raise UnknownFormat(
            f"{library.file.path}: a library of a format that abistore does not read", "leave it out with --only"
        ) from None
    yield from reader.read(library.file, options)


def _from(snapshot: Snapshot, told: PackageRead | None, member: str, names: tuple[str, ...]) -> Snapshot:
    if told is None:
        return snapshot
    package = msgspec.structs.replace(told, member=member, loaded_as=names)
    provenance = msgspec.structs.replace(snapshot.provenance, package=package)
    return msgspec.structs.replace(snapshot, provenance=provenance)


def _told(file: InputFile, identity: PackageIdentity, options: ExtractOptions) -> PackageRead:
    return PackageRead(
        file.path.name,
        identity.name,
        identity.version,
        sha256=digest_of(file),
        read=how_read(file, options),
        source=identity.source,
        architecture=identity.architecture,
        suite=options.suite or identity.suite,
        depends=identity.depends,
        breaks=identity.breaks,
    )


def _counted(snapshot: Snapshot, whole: PackageRead) -> Snapshot:
    """The snapshot with what is known after all libraries are read; a folder, which has no digest, has theirs."""
    package = snapshot.provenance.package
    if not isinstance(package, PackageRead):
        return snapshot
    package = msgspec.structs.replace(
        package,
        libraries=whole.libraries,
        sha256=package.sha256 or whole.sha256,
        left_out=whole.left_out,
        doubts=whole.doubts,
    )
    provenance = msgspec.structs.replace(snapshot.provenance, package=package)
    return msgspec.structs.replace(snapshot, provenance=provenance)
