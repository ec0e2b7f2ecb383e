"""Reads packages and folders: each shared library in them, with its debug information and headers."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from abistore.errors import ExtractError, HeaderError, InputError, LimitExceeded, NoLibrary, UnknownFormat, UsageError
from abistore.extract.dumps.debian_symbols import optional, read_lines
from abistore.extract.files import InputFile, InputFolder, open_input
from abistore.extract.packages.development import (
    INCLUDE,
    MOST_NAMED,
    DevelopmentFiles,
    LibraryPackage,
    header_folder,
    headers_for,
    is_for_several,
    is_pkg_config,
    lay_out,
    module_name,
    through_links,
    without_others,
    words_of,
)
from abistore.extract.packages.libraries import (
    MOST_SUPPRESSIONS,
    PACKAGE,
    Entry,
    FoundLibrary,
    PackagedLibraries,
    debug_files,
    entries,
    format_of,
    is_binary,
    libraries_in,
)
from abistore.extract.packages.streams import (
    BZIP2,
    GZIP,
    XZ,
    ZSTD,
    Counted,
    PackageIdentity,
    UnpackBounds,
    damage_told,
    part,
    unpacked,
)
from abistore.extract.reader import ExtractOptions, FacetReading, HeaderOptions, reader_for, with_headers
from abistore.limits import allow_more
from abistore.model.declarations import EXPORTS, Name
from abistore.model.format_gaps import SomeExports
from abistore.model.labels import library_name
from abistore.model.snapshot import (
    HEADERS_FAILED,
    NO_EXPORT_DECLARED,
    TWIN,
    Evidence,
    HeadersRead,
    PackageRead,
    Snapshot,
    Target,
)
from abistore.model.words import counted

MOST_BYTES = 4 << 30
_PIECE = 1 << 20
_LZ4 = b"\x04\x22\x4d\x18"


def is_index(path: Path) -> bool:
    """Whether a file is called like an index."""
    return path.name.startswith("Contents-")


def packages_with(names: Iterable[str], indexes: Iterable[Path]) -> Mapping[str, tuple[str, ...]]:
    """The packages that have each of some headers, by what these are included as; sorted.

    Raises :class:`InputError` where an index cannot be read.
    """
    found: dict[str, set[str]] = {name: set() for name in names}
    for path in indexes if found else ():
        for piece in _pieces(path):
            for name, packages in found.items():
                packages.update(_owners(piece, name))
    return {name: tuple(sorted(packages)) for name, packages in found.items()}


def _owners(piece: bytes, name: str) -> Iterator[str]:
    """The packages in whole lines of an index: ``usr/include/foo/foo.h    libdevel/libfoo-dev,libdevel/libbar-dev``."""
    wanted = f"/{name}".encode() + b" "
    at = piece.find(wanted)
    while at >= 0:
        start, end = piece.rfind(b"\n", 0, at) + 1, piece.find(b"\n", at)
        file, owners = piece[start : at + len(wanted)], piece[at + len(wanted) : end]
        if b" " not in file.strip() and b"/include/" in b"/" + file:
            yield from (each.strip().rpartition(b"/")[2].decode() for each in owners.split(b","))
        at = piece.find(wanted, end)


def _pieces(path: Path) -> Iterator[bytes]:
    """The text in pieces of whole lines."""
    with open_input(path) as file, damage_told(str(path)):
        whole = part(file, 0, file.size)
        if file.head.startswith(_LZ4):
            raise InputError(
                f"{path}: compressed with lz4", "unpack it first, or pass the index compressed with gzip or xz"
            )
        bounds = UnpackBounds(str(path), file.size, MOST_BYTES)
        packed = file.head.startswith((GZIP, BZIP2, XZ, ZSTD))
        stream = unpacked(whole, bounds) if packed else Counted(whole, bounds)
        rest = b""
        while piece := stream.read(_PIECE):
            lines, newline, left = (rest + piece).rpartition(b"\n")
            yield lines + newline
            rest = left
        yield rest + b"\n"


MOST_PACKAGES = 200
"""How many packages are unpacked for their headers."""

Identify = Callable[[InputFile], PackageIdentity]


def with_needed(paths: Sequence[Path], beside: PackageIdentity, identify: Identify) -> list[Path]:
    """The packages at ``paths``; of a folder of packages, what headers for the package ``beside`` may need.

    Those are the packages that need ``beside`` in its own version, what the given ones need, and so on. Where nothing
    says so, it is all of them. Raises :class:`LimitExceeded` for more than :data:`MOST_PACKAGES`.
    """
    pools = {path: _held(path) for path in paths}
    if not any(pools.values()):
        return list(paths)
    given = [path for path in paths if not pools[path]]
    known = {path: _pool_identity(path, identify) for pool in pools.values() for path in pool}
    first = [path for path, each in known.items() if beside.name and beside.name in each.built_with]
    wanted = [*(_pool_identity(path, identify) for path in given), *(known[path] for path in first)]
    found = (
        [*given, *first, *_needed(wanted, known)] if first or any(each.needs for each in wanted) else [*given, *known]
    )
    chosen = list(dict.fromkeys(found))
    if len(chosen) > MOST_PACKAGES:
        raise LimitExceeded(
            f"{len(chosen):,} packages may have needed headers, more than the limit of {MOST_PACKAGES}",
            "pass the packages one by one with --devel-package",
        )
    return chosen


def others(paths: Sequence[Path], chosen: Sequence[Path]) -> list[Path]:
    """What folders of packages hold that was not chosen."""
    return [each for path in paths for each in _held(path) if each not in chosen]


def _held(path: Path) -> list[Path]:
    """The packages directly in a folder; none where its own headers lie there as they are installed."""
    with open_input(path) as file:
        if not isinstance(file, InputFolder):
            return []
    if any((path / prefix / INCLUDE).is_dir() for prefix in ("", "usr")):
        return []
    return [each for each in sorted(path.iterdir()) if not is_index(each) and each.is_file() and _is_package(each)]


def _is_package(path: Path) -> bool:
    if not path.stat().st_size:
        return False
    with open_input(path) as file:
        return format_of(file.head) is not None


def _pool_identity(path: Path, identify: Identify) -> PackageIdentity:
    with open_input(path) as file:
        return identify(file)


def _needed(wanted: Iterable[PackageIdentity], known: Mapping[Path, PackageIdentity]) -> list[Path]:
    by_name = {each.name: path for path, each in known.items()}
    pending, found = [name for each in wanted for name in each.needs], dict[Path, None]()
    while pending:
        path = by_name.get(pending.pop())
        if path is not None and path not in found:
            found[path] = None
            pending += known[path].needs
    return list(found)


class PackageAccess(msgspec.Struct, frozen=True):
    """How packages are read: what they hold, and what they say of themselves."""

    entries: Callable[[InputFile], Iterable[Entry]]
    identity: Callable[[InputFile], PackageIdentity]


class _Held(msgspec.Struct, frozen=True):
    """What a package holds that may be needed: the names of its ``.pc`` files, and the paths of its headers."""

    modules: frozenset[str]
    headers: tuple[str, ...]


class GivenPackages:
    """Development packages below ``folder``; of folders of packages, those that are needed."""

    def __init__(self, paths: Sequence[Path], folder: Path, beside: PackageIdentity, access: PackageAccess) -> None:
        self._folder, self._access = folder, access
        self.files: list[DevelopmentFiles] = []
        self.indexes = tuple(
            each for path in paths if path.is_dir() for each in sorted(path.iterdir()) if is_index(each)
        )
        chosen = with_needed(paths, beside, access.identity)
        for path in chosen:
            self._take(path)
        self._rest = {path: self._held(path) for path in others(paths, chosen)}
        self._take_required()

    def find(self, names: Iterable[str]) -> bool:
        """Make headers known by what they are included as; whether a package has one that was not searched before."""
        found = [self._find(name) for name in names]
        return any(found)

    def _find(self, name: str) -> bool:
        if any(self._is_found(each, name) for each in self.files):
            return False
        end = f"/{name}"
        fitting = [path for path, held in self._rest.items() if any(each.endswith(end) for each in held.headers)]
        if fitting:
            self._take(fitting[0])
            del self._rest[fitting[0]]
            self._take_required()
        places = [(number, root) for number, each in enumerate(self.files) for root in _folders_of(each, name)]
        for number, root in places[:1]:
            files = self.files[number]
            self.files[number] = msgspec.structs.replace(
                files, named_dirs=tuple(dict.fromkeys((*files.named_dirs, root)))
            )
        return bool(places)

    def _is_found(self, files: DevelopmentFiles, name: str) -> bool:
        return any((folder / name).is_file() for folder in (*files.include_dirs, *files.named_dirs))

    def _take_required(self) -> None:
        """Lay out what ``.pc`` files require and none has: Debian's dependencies may leave it out."""
        while wanted := [path for path, held in self._rest.items() if held.modules & _lacking(self.files)]:
            self._take(wanted[0])
            del self._rest[wanted[0]]

    def _take(self, path: Path) -> None:
        with open_input(path) as package, damage_told(str(path)):
            allow_more(package.size)
            found = lay_out(self._access.entries(package), self._folder / str(len(self.files)), str(path))
            identity = self._access.identity(package)
            package.check_unchanged()
        self.files.append(msgspec.structs.replace(found, identity=identity, file=path.name))

    def _held(self, path: Path) -> _Held:
        with open_input(path) as package, damage_told(str(path)):
            found = [(each.path, each.link) for each in self._access.entries(package)]
        paths = [path for path, link in found if link is None]
        modules = frozenset(module_name(each) for each in paths if is_pkg_config(each))
        linked = through_links(paths, {path: link for path, link in found if link})
        return _Held(modules, tuple(f"/{each}" for each in (*paths, *linked) if INCLUDE in each.split("/")[:-1]))


def _folders_of(files: DevelopmentFiles, name: str) -> Iterator[Path]:
    """The folders of a package from which ``name`` leads to a header, the least deep first."""
    last = name.rpartition("/")[2]
    named = (each for root in files.roots for each in root.rglob(last) if str(each).endswith(f"/{name}"))
    found = [each for each in named if each.is_file()]  # KDE keeps a header KPty in a folder KPty
    found.sort(key=lambda each: (len(each.parts), str(each)))
    yield from (each.parents[name.count("/")] for each in found)


def _lacking(packages: Sequence[DevelopmentFiles]) -> frozenset[str]:
    """The ``.pc`` files that those of packages require and none has."""
    configs = [config for each in packages for config in each.configs]
    required = frozenset[str]().union(*(each.requires for each in configs))
    return required - {each.name for each in configs}


def read_optional(text: str) -> Mapping[str, SomeExports]:
    """What a symbols file marks optional, by SONAME; nothing where it is damaged, or includes what is not there."""
    if "optional" not in text:
        return {}
    try:
        return {each.soname: SomeExports(optional(each.symbols)) for each in read_lines(text, "symbols", _nothing)}
    except (ExtractError, LimitExceeded):
        return {}


def _nothing(name: str) -> str:
    raise ExtractError(f"symbols: includes {name}, which no package contains")


def with_optional(snapshot: Snapshot, symbols: Mapping[str, SomeExports]) -> Snapshot:
    """The snapshot with the exports that the symbols file of its package marks optional."""
    package, marked = snapshot.provenance.package, symbols.get((snapshot.facts and snapshot.facts.name) or "")
    if not isinstance(package, PackageRead) or marked is None:
        return snapshot
    exports = snapshot.entries.get("symbol", {}).items()
    names = tuple(sorted(name.spelling for name, shapes in exports if marked.mean(name, shapes)))
    package = msgspec.structs.replace(package, optional=names)
    provenance = msgspec.structs.replace(snapshot.provenance, package=package)
    return msgspec.structs.replace(snapshot, provenance=provenance)


def digest_of(file: InputFile) -> str:
    """The SHA-256 of a package; empty for a folder, which may change without a trace."""
    return "" if isinstance(file, InputFolder) else file.sha256()


def digest_of_libraries(digests: Iterable[str]) -> str:
    """The digest of a folder: SHA-256 over the sorted digests of its libraries.

    It says which libraries came together, and not that a folder was read before.
    """
    return hashlib.sha256("".join(sorted(digests)).encode()).hexdigest()


def how_read(file: InputFile, options: ExtractOptions) -> tuple[str, ...]:
    """What a reading of ``file`` depends on beside it: the patterns that pick, and the packages that stand beside."""
    found = [f"--only {pattern}" for pattern in sorted(set(options.only))]
    for option, paths in (("--debug-package", options.debug_packages), ("--devel-package", options.devel_packages)):
        for path in paths:
            with open_input(path) as other:
                found.append(f"{option} {digest_of(file if path == file.path else other)}")
    return tuple(found)


def is_repeatable(read: tuple[str, ...]) -> bool:
    """Whether a later reading is known to give the same: not beside a folder, which has no digest."""
    return not any(each.endswith(" ") for each in read)


MOST_READINGS = 4
"""How often headers are read, each time with packages that have what the last time was not found."""

MOST_OWNERS = 3
"""How many packages are named that have a header."""

ALONE = LibraryPackage()
"""A library that is given without a package."""


class HeaderReadings:
    """Adds headers to the snapshots of one package."""

    def __init__(self, given: GivenPackages | None, options: ExtractOptions, beside: LibraryPackage = ALONE) -> None:
        self._given, self._options, self._beside = given, options, beside
        self._owners: dict[tuple[str, ...], Mapping[str, tuple[str, ...]]] = {}
        self._read: dict[tuple[HeaderOptions, Target, bool], FacetReading] = {}

    def added(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot with the headers that are for its library, or the reason why it has none of them."""
        if self._given is None:
            return snapshot
        for _ in range(MOST_READINGS):
            headers = headers_for(snapshot, self._given.files, self._beside)
            if isinstance(headers, Evidence):
                return with_headers(snapshot, FacetReading(headers))
            reading = self._reading(snapshot, headers)
            if not reading.evidence.lacks or not self._given.find(reading.evidence.lacks):
                break
        reading = _without_foreign_words(_only_own(self._told(reading), snapshot), snapshot)
        if is_for_several(snapshot.library, self._given.files, self._beside):
            reading = without_others(reading, _exports(snapshot), words_of(snapshot))
        return with_headers(snapshot, reading)

    def _told(self, reading: FacetReading) -> FacetReading:
        if self._given is None or not reading.evidence.lacks:
            return reading
        if reading.evidence.lacks not in self._owners:
            indexes = (*self._options.package_indexes, *self._given.indexes)
            self._owners[reading.evidence.lacks] = packages_with(reading.evidence.lacks, indexes)
        hint = _hint(self._owners[reading.evidence.lacks])
        return replace(reading, evidence=replace(reading.evidence, hint=hint)) if hint else reading

    def doubts(self, snapshots: Sequence[Snapshot]) -> tuple[str, ...]:
        """What is to be said of headers that are not of the same version as the libraries' package."""
        read = [each.library for each in snapshots if "source" in each.entries]
        package = self._beside.identity
        return tuple(
            f"headers of {each.identity.name} {each.identity.version}, beside {package.name} {package.version}"
            for each in (self._given.files if self._given else ())
            if not all(each.is_of(library, package.version) for library in read)
        )

    def _reading(self, snapshot: Snapshot, headers: HeaderOptions) -> FacetReading:
        from abistore.extract.capture import headers_of, is_cpp  # reads packages through the registry

        key = (headers, snapshot.target, any(map(is_cpp, snapshot.entries.get("symbol", ()))))
        if key not in self._read:
            if self._options.progress:
                self._options.progress(f"headers of {snapshot.library}", 0.95)
            try:
                self._read[key] = headers_of(snapshot, headers)
            except (HeaderError, LimitExceeded) as error:
                evidence = Evidence("source", "missing", HEADERS_FAILED, error.message, error.hint)
                lacks = (isinstance(error, HeaderError) and error.lacks) or UNSET
                words = _words_alone(headers) if lacks else None
                self._read[key] = FacetReading(replace(evidence, lacks=lacks), headers=words)
        return self._read[key]


def _words_alone(headers: HeaderOptions) -> HeadersRead | None:
    """What is recorded of headers that lack those of other projects, so that none of them parses."""
    from abistore.extract.headers.unparsed import words_of_headers  # few headers do not parse

    words = words_of_headers(headers)
    return None if words is None else HeadersRead(aside=tuple(sorted(words)))


def _without_foreign_words(reading: FacetReading, snapshot: Snapshot) -> FacetReading:
    """The reading without the words of headers that do not parse, where they name none of the library's exports."""
    read = reading.headers
    foreign = read is not None and not read.files and words_of(snapshot).isdisjoint(read.aside or ())
    return replace(reading, headers=None) if foreign else reading


def _hint(owners: Mapping[str, tuple[str, ...]]) -> str:
    """Which packages to give, each with what it has; empty where no package is known to have any of it."""
    had: dict[str, list[str]] = {}
    for name, packages in owners.items():
        had.setdefault(" or ".join(packages[:MOST_OWNERS]), []).append(name)
    unknown = had.pop("", [])
    if not had:
        return ""
    told = ", ".join(f"{packages} ({_first(names)})" for packages, names in had.items())
    rest = f"; no known package contains {_first(unknown)}" if unknown else ""
    return f"pass the missing headers with --devel-package: {told}{rest}"


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"


def _only_own(reading: FacetReading, snapshot: Snapshot) -> FacetReading:
    """The reading, unless it declares nothing of a library's exports: then it is of others in the package.

    What it could not read may have declared them, and is reported.
    """
    exports = _exports(snapshot)
    if reading.evidence.state == "missing" or any(name in reading.entries for name in exports):
        return reading
    unread = f", and {reading.evidence.detail}" if reading.evidence.detail else ""
    detail = f"the headers of its development package declare none of {counted(len(exports), 'export')}{unread}"
    hint = reading.evidence.hint or "pass the package with the library's headers as --devel-package"
    evidence = Evidence("source", "missing", NO_EXPORT_DECLARED, detail, hint)
    return FacetReading(replace(evidence, lacks=reading.evidence.lacks))


def _exports(snapshot: Snapshot) -> frozenset[Name]:
    return frozenset(name for name in snapshot.entries.get("symbol", {}) if name.kind in EXPORTS)


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
        shipped = tuple(found.suppressions[:MOST_SUPPRESSIONS])
        count = PackageRead(
            "", sha256=together, libraries=len(read), left_out=left_out, doubts=doubts, suppressions=shipped
        )
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
            left_out, hint = f" that matches {', '.join(options.only)}", "omit --only to see its libraries"
        elif inner and len(inner) == len(found.left_out):
            hint = "nested packages are not unpacked: extract it, and pass it"
        elif found.left_out:
            hint = "select one of them anyway with --only PATTERN"
        told = f"{file.path}: contains no shared library{left_out}"
        raise InputError(told, hint) if options.only else NoLibrary(told, hint)
    if options.library and len(found.libraries) > 1:
        raise UsageError(
            f"{file.path}: contains {len(found.libraries)} libraries, but --library gives them one name",
            "select one with --only, or omit --library",
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
        raise UnknownFormat(f"{library.file.path}: unsupported library format", "exclude it with --only") from None
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
        suppressions=whole.suppressions,
    )
    provenance = msgspec.structs.replace(snapshot.provenance, package=package)
    return msgspec.structs.replace(snapshot, provenance=provenance)
