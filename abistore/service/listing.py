"""What is stored: lines and the releases of each, and words that a shell offers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from abistore.errors import AbistoreError, SnapshotNotFound, UsageError
from abistore.model.decision import Outcome
from abistore.model.history import CANDIDATE, LineKey, Release
from abistore.model.labels import check_not_blank
from abistore.model.snapshot import PackageRead, Provenance
from abistore.model.versions import is_unreleased
from abistore.service.database import Database, OpenStore, line_target, locate, using

if TYPE_CHECKING:
    from abistore.store.store import Store


class ListedPackage(msgspec.Struct, frozen=True):
    """A package; what it does not tell is empty, and so is what was not asked of it by former versions."""

    name: str
    version: str
    source: str
    architecture: str
    suite: str


class ListedLine(msgspec.Struct, frozen=True):
    """A line in the overview. ``baselines`` maps channels to versions, ``candidates`` counts the candidates.

    ``package`` is that of the latest release, as far as it was read from one. ``outcome`` says whether that one may
    ship after the previous release, ``None`` where nobody asked, or no verdict is stored.
    """

    line: LineKey
    releases: int
    first: str
    latest: str
    baselines: Mapping[str, str]
    candidates: int = 0
    package: ListedPackage | None = None
    outcome: Outcome | None = None


class ListedRelease(Release, frozen=True):
    """A stored release, and whether it may ship after the previous one: ``None`` where no verdict is stored."""

    outcome: Outcome | None = None


def lines(
    *, database: Database = None, library: str | None = None, among: Sequence[str] | None = None
) -> tuple[ListedLine, ...]:
    """All lines of the store, or of a library, sorted, including those that have candidates only.

    With ``among``, those of these libraries; raises :class:`SnapshotNotFound` where one of them is not stored.
    """
    check_not_blank("the library", library)
    with using(database) as store:
        return tuple(line for line, _ in listed_lines(store, library, among))


def listed_lines(
    store: Store, library: str | None, among: Sequence[str] | None
) -> tuple[tuple[ListedLine, tuple[Release, ...]], ...]:
    """The same, each with its releases in release order."""
    found = tuple(_lines(store, library))
    if among is None:
        return found
    known = {line.line.library for line, _ in found}
    for name in among:
        if name not in known:
            raise store.no_library(name, None, None)
    return tuple(each for each in found if each[0].line.library in among)


def _lines(store: Store, library: str | None) -> Iterator[tuple[ListedLine, tuple[Release, ...]]]:
    channels: dict[LineKey, dict[str, str]] = {}
    for move in store.baselines(library):
        channels.setdefault(move.line, {})[move.channel] = str(move.version)
    for span in store.overview(library):
        at = channels.get(span.key, {})
        line = (span.key, len(span.releases), span.first, span.latest, at, span.candidates)
        yield ListedLine(*line, _listed(span.provenance)), span.releases


def _listed(provenance: Provenance) -> ListedPackage | None:
    package = provenance.package
    if not isinstance(package, PackageRead) or not package.name:
        return None
    return ListedPackage(package.name, package.version, package.source, package.architecture, package.suite)


def releases(
    library: str,
    *,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
) -> tuple[Release, ...]:
    """A library's releases, line by line, in release order; then its candidates. Raises :class:`SnapshotNotFound`."""
    with using(database) as store:
        return stored_releases(store, library, target, profile)


def stored_releases(store: Store, library: str, target: str | None, profile: str | None) -> tuple[Release, ...]:
    """The same of an open store."""
    kept = store.candidates(library, line_target(store, target), profile)
    keys = () if kept and not store.releases(library) else lines_of(store, library, target, profile)
    return (*(release for key in keys for release in releases_of(store, key)), *kept)


def releases_of_digest(digits: str, *, database: Database = None) -> tuple[Release, ...]:
    """The releases of all lines whose digest begins with hexadecimal ``digits``, in the order of ingestion."""
    with using(database) as store:
        return store.of_digest(digits)


def promised(releases: Sequence[Release]) -> Sequence[Release]:
    """Those that were released: without builds between releases, unless all are such."""
    return [each for each in releases if not is_unreleased(each.version)] or releases


def lines_of(store: Store, library: str, target: str | None, profile: str | None) -> tuple[LineKey, ...]:
    """The lines of a library, of one target and profile if given. Raises :class:`SnapshotNotFound`.

    Raises :class:`UsageError` for a release.
    """
    keys = store.lines()
    wanted = line_target(store, target)
    found = tuple(
        key
        for key in keys
        if key.library == library and wanted in {None, key.target} and profile in {None, key.profile}
    )
    if not found:
        raise store.no_library(library, target, profile)
    return found


def releases_of(store: Store, key: LineKey) -> tuple[Release, ...]:
    """A line's releases in release order."""
    return store.releases(key.library, target=key.target, profile=key.profile)


def channels_of(store: Store, key: LineKey) -> dict[str, str]:
    """Where a line's baseline channels point."""
    moves = store.baselines(key.library)
    return {move.channel: move.version for move in moves if move.line == key and move.version is not None}


def place_of(releases: Sequence[Release], version: str) -> int:
    """The place of a version among the releases of a line. Raises :class:`UsageError` where it is none of them."""
    for place, each in enumerate(releases):
        if each.version == version:
            return place
    line = releases[0].line if releases else "the library"
    raise UsageError(f"{line} has no release {version}", "`abistore list LIBRARY` shows the releases")


LABELS = ("latest", "prev")
MOST_IDENTITIES = 200
"""How many findings are looked at: a shell shows no more, and further digits tell which are meant."""


def libraries(*, database: Database = None) -> tuple[str, ...]:
    """The names of all stored libraries, sorted. Raises :class:`StoreError`."""
    with using(database) as store:
        return tuple(sorted({key.library for key in store.lines()}))


WILD = frozenset("*?[")
"""Characters by which a pattern is known; no stored library has them in its name."""

T = TypeVar("T")


class FailedLibrary(msgspec.Struct, frozen=True):
    """A library, or a release of one, that could not be answered for."""

    library: str
    code: str
    error: str
    hint: str
    exit_code: int


class OfEach(msgspec.Struct, Generic[T], frozen=True):
    """What was asked of several libraries: the ``results`` in the order of the names, and what ``failed``."""

    results: tuple[T, ...]
    failed: tuple[FailedLibrary, ...] = ()

    @property
    def exit_code(self) -> int:
        """The highest of those that failed."""
        return max((each.exit_code for each in self.failed), default=0)


def is_pattern(word: str) -> bool:
    """Whether a word stands for several libraries: ``lib*``, or ``lib*@latest`` for a release of each; no path does."""
    return "/" not in word and not WILD.isdisjoint(word.partition("@")[0])


def matching(words: Sequence[str], *, every: bool = False, database: Database = None) -> tuple[str, ...]:
    """The names that words mean: patterns those of the stored libraries that match, sorted; others themselves.

    What follows ``@`` in a pattern goes with each name. ``every`` means all stored libraries. Raises
    :class:`SnapshotNotFound` for a pattern that matches none, and :class:`UsageError` where nothing is named.
    """
    if every and words:
        raise UsageError("--all means every library", f"leave out {' '.join(words)}, or --all")
    if not every and not words:
        raise UsageError("no library is named", "name libraries, or patterns such as 'lib*', or pass --all")
    if not every and not any(map(is_pattern, words)):
        return tuple(dict.fromkeys(words))
    known = libraries(database=database)
    if every and not known:
        raise SnapshotNotFound("no library is stored", "see `abistore ingest`")
    found = known if every else (name for word in words for name in _meant(word, known))
    return tuple(dict.fromkeys(found))


def _meant(word: str, known: Sequence[str]) -> tuple[str, ...]:
    if not is_pattern(word):
        return (word,)
    if not (found := stored_as(word, known)):
        wanted = word.partition("@")[0]
        raise SnapshotNotFound(f"no stored library matches {wanted}", "see `abistore list` for what is stored")
    return found


def stored_as(word: str, known: Sequence[str]) -> tuple[str, ...]:
    """What a name or a pattern means among the ``known`` libraries; empty where it means none."""
    wanted, at, version = word.partition("@")
    return tuple(f"{name}{at}{version}" for name in known if name == wanted or fnmatchcase(name, wanted))


def of_each(
    names: Sequence[str], ask: Callable[[str, Database], T], *, searching: bool = False, database: Database = None
) -> OfEach[T]:
    """What ``ask`` answers for each name, which it is called with and an open store.

    One that fails does not stop the others. ``searching``: a library that does not have what is asked for is left out,
    unless none has it. Raises the error of the only one.
    """
    results: list[T] = []
    failed: list[FailedLibrary] = []
    absent: SnapshotNotFound | None = None
    is_open = isinstance(database, OpenStore)
    with nullcontext(database) if is_open else closing(OpenStore(locate(database))) as store:
        for name in names:
            try:
                results.append(ask(name, store))
            except AbistoreError as error:
                if len(names) == 1:
                    raise
                if searching and isinstance(error, SnapshotNotFound):
                    absent = absent or error
                else:
                    failed.append(FailedLibrary(name, error.code, error.message, error.hint, error.exit_code))
    if absent is not None and not results and not failed:
        raise absent
    return OfEach(tuple(results), tuple(failed))


def references(start: str, *, database: Database = None) -> tuple[str, ...]:
    """Every reference that begins with ``start``, as in ``libfoo@1.2.0``, in release order. Raises :class:`StoreError`.

    Only libraries that ``start`` still allows are read.
    """
    library, marked, _ = start.partition("@")
    with using(database) as store:
        keys = [key for key in store.lines() if (key.library == library if marked else key.library.startswith(library))]
        found = dict.fromkeys(f"{key.library}@{label}" for key in keys for label in _labels(store, key))
    return tuple(each for each in found if each.startswith(start))


def channels(library: str | None = None, *, database: Database = None) -> tuple[str, ...]:
    """The baseline channels of a library (``None``: of all), sorted. Raises :class:`StoreError`."""
    with using(database) as store:
        return tuple(sorted({move.channel for move in store.baselines(library)}))


def counterparts(library: str | None = None, *, database: Database = None) -> tuple[str, ...]:
    """What a release may be judged against: ``prev``, ``baseline:main``, and the versions of a library that is known.

    Raises :class:`StoreError`.
    """
    with using(database) as store:
        versions = [release.version for release in store.releases(library)] if library else []
        moves = sorted({move.channel for move in store.baselines(library)})
    return tuple(dict.fromkeys(("prev", "baseline", *(f"baseline:{channel}" for channel in moves), *versions)))


def identities(start: str, *, database: Database = None) -> tuple[str, ...]:
    """The identities of findings in stored verdicts that begin with ``start``, sorted; some of them, if many do.

    Raises :class:`StoreError`.
    """
    with using(database) as store:
        found, _ = store.findings(start.lower(), MOST_IDENTITIES)
    return tuple(sorted({one.identity for one in found}))


def policies() -> tuple[str, ...]:
    """The policies that need no file."""
    from abistore.diffing.policy import PROFILES

    return PROFILES


def _labels(store: Store, key: LineKey) -> Iterator[str]:
    yield from (release.version for release in releases_of(store, key))
    yield from LABELS
    yield from (f"baseline:{channel}" for channel in sorted(channels_of(store, key)))
    yield from (f"{CANDIDATE}{kept.version}" for kept in store.candidates(key.library, key.target, key.profile))


def in_line(store: Store, reference: str, target: str | None, profile: str | None) -> tuple[Release, Sequence[Release]]:
    """The release that a reference means, and all of its line in release order."""
    keys = [key for key in store.lines() if key.library == reference and profile in {None, key.profile}]
    platform = line_target(store, target)
    of_library = [key for key in keys if platform in {None, key.target}]
    if len(of_library) == 1:
        ordered = releases_of(store, of_library[0])
        return store.foremost(ordered)[-1], ordered
    release = released(store, reference, target, profile)
    return release, releases_of(store, release.line)


def released(store: Store, reference: str, target: str | None, profile: str | None) -> Release:
    """The release that a reference means; of a library that is the latest one."""
    library = any(key.library == reference for key in store.lines())
    wanted = f"{reference}@latest" if library or ("@" not in reference and not _is_digest(reference)) else reference
    return store.resolve(wanted, target=line_target(store, target), profile=profile)


def _is_digest(reference: str) -> bool:
    return len(reference) >= 6 and not set(reference) - set("0123456789abcdef")
