"""Building the site: one library at a time, and of each only the pages that say something else than before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from abistore import __version__
from abistore.model.cycles import with_cycle_collection
from abistore.model.history import DEFAULT_CHANNEL, LineKey, Release
from abistore.model.judging.engine import ENGINE
from abistore.report.site import pages
from abistore.report.site.addresses import library_folder, release_file
from abistore.report.site.timeline import History
from abistore.service.catalogue import changes
from abistore.service.database import Database, using
from abistore.service.examples import case
from abistore.service.history.history import history
from abistore.service.history.matrix import ReleaseRange, matrix
from abistore.service.history.verdicts import key_of
from abistore.service.listing import channels_of
from abistore.service.site.folder import SiteFolder, Tally, open_site
from abistore.service.site.reports import Reports

if TYPE_CHECKING:
    from abistore.service.judging.ruling import Ruling
    from abistore.store.store import Store

Progress = Callable[[str, float], None]
SHARED = ("index.html", "search.js", *pages.ASSETS)
LIBRARIES, KINDS = "libraries", "kinds"
PAIRED = 12
"""So many of the latest releases of a line are told which can replace which: all their pairs are judged."""


class SitePlan(msgspec.Struct, frozen=True):
    """How a site is made: its title, and the baseline that releases are judged against beside the one before.

    With ``judge=False`` nothing is judged: a missing verdict is "not judged yet".
    """

    title: str = "ABI history"
    channel: str = DEFAULT_CHANNEL
    judge: bool = True


USUAL = SitePlan()


class SiteBuilt(msgspec.Struct, frozen=True):
    """What a build did: the first page, what it shows, and how many files were written, left alone and removed."""

    index: Path
    libraries: int
    releases: int
    written: int
    unchanged: int
    removed: int


def build_site(
    out: str | Path,
    plan: SitePlan = USUAL,
    *,
    database: Database = None,
    progress: Progress | None = None,
    by: Ruling | None = None,
) -> SiteBuilt:
    """Write the whole store as static HTML pages to a folder that is empty, new, or of an earlier build.

    Verdicts that are missing are given now and stored. What changed since the last build is written, what is over is
    removed, and files of others are left alone. Raises :class:`OutputError`.
    """
    tally = Tally()
    top = open_site(Path(out), tally)
    with using(database) as store, with_cycle_collection():
        build = _Build(store, plan, database, by)
        names = sorted({key.library for key in store.lines()})
        folders = {name: library_folder(name) for name in names}
        libraries = top.inside(LIBRARIES)
        top.plan(SHARED, (LIBRARIES, KINDS))
        libraries.plan((), folders.values())
        _kinds(top.inside(KINDS), plan)
        made = []
        for number, name in enumerate(names):
            if progress:
                progress(name, number / len(names))
            made.append(build.library(name, libraries.inside(folders[name])))
        _remove_former(libraries, set(folders.values()))
    _top(top, plan, made)
    releases = sum(one.card.releases for one in made)
    return SiteBuilt(top.path / "index.html", len(made), releases, tally.written, tally.unchanged, tally.removed)


class _Made(NamedTuple):
    """A library of the site, and what search finds of it."""

    card: pages.LibraryCard
    found: tuple[pages.Searched, ...]


class _Build:
    """What all libraries are built with."""

    def __init__(self, store: Store, plan: SitePlan, database: Database, by: Ruling | None) -> None:
        self._store = store
        self._plan = plan
        self._database = database
        self._by = by

    def library(self, name: str, folder: SiteFolder) -> _Made:
        """Write the pages of one library."""
        histories = history(
            name, channel=self._plan.channel, database=self._database, by=self._by, judge=self._plan.judge
        )
        channels = {str(one.line): _standing(channels_of(self._store, one.line)) for one in histories}
        files = [release_file(row.release.line, row.release.version) for one in histories for row in one.rows]
        several = [one for one in histories if len(one.rows) > 1]
        folder.plan(("index.html", "names.js", *(["matrix.html"] if several else []), *files))
        names = [found for one in histories for found in self._line(one, channels[str(one.line)], folder)]
        key = _key(self._plan, histories, channels)
        folder.put("index.html", key, lambda: pages.library(self._plan.title, histories, channels))
        folder.put("names.js", _key(names), lambda: pages.search_index(names))
        if several:
            ends = [(one.line, [row.release for row in one.rows[-PAIRED:]], len(one.rows)) for one in histories]
            folder.put("matrix.html", _key(self._plan.title, ends, self._ruling(ends)), lambda: self._matrix(name))
        folder.finish()
        return _made(histories, folder.path.name)

    def _matrix(self, name: str) -> str:
        """Which release can replace which, of the latest of each line."""
        found = matrix(name, within=ReleaseRange(last=PAIRED), database=self._database, by=self._by)
        stored = len(self._store.releases(name))
        return pages.replacements(self._plan.title, found, stored - sum(len(one.releases) for one in found))

    def _ruling(self, ends: Sequence[tuple[LineKey, Sequence[Release], int]]) -> list[object]:
        """What pairs are judged by; suppressions may hold for some releases only."""
        return [key_of(self._by, old, new) for _, shown, _ in ends for new in shown for old in shown]

    def _line(
        self, line: History, channels: Mapping[str, Sequence[str]], folder: SiteFolder
    ) -> Iterator[pages.Searched]:
        """Write the pages of the releases of a line; what search finds in each."""
        reports = Reports(self._store, self._by)
        remarks = _remarks(self._store, line.line)
        neighbours = [row.release for row in line.rows]
        for number, row in enumerate(line.rows):
            release, around = row.release, neighbours[max(number - 1, 0) : number + 2]
            standing = channels.get(release.version, ())
            previous = neighbours[number - 1] if number else None
            ruled = reports.key(previous, row)
            key = _key(self._plan, row, around, line.baseline, line.policy, ruled, remarks, standing)
            name = release_file(release.line, release.version)
            kept = folder.kept(name, key)
            if kept is None:
                report = reports.of(previous, row) if previous and row.verdict is not None else None
                found = pages.names_in(report, name) if report else ()
                shown = pages.ReleasePage(line, number, report, remarks, standing)
                folder.write(name, key, pages.release(self._plan.title, shown), found)
                yield from found
            else:
                yield from (pages.Searched(*each) for each in kept.kept)


def _top(top: SiteFolder, plan: SitePlan, made: Sequence[_Made]) -> None:
    cards = tuple(one.card for one in made)
    found = [*(each for one in made for each in one.found), *_kinds_searched()]
    top.put("index.html", _key(plan, cards), lambda: pages.overview(plan.title, cards))
    top.put("search.js", _key(found), lambda: pages.search_index(found))
    for name in pages.ASSETS:
        top.write(name, "", pages.asset(name))
    top.finish()


def _kinds(folder: SiteFolder, plan: SitePlan) -> None:
    """Write the reference of kinds, to which ``helpUri`` of SARIF can point."""
    every = changes()
    folder.plan(("index.html", *(f"{one.kind}.html" for one in every)))
    folder.put("index.html", _key(plan.title), lambda: pages.kinds(plan.title, every))
    for one in every:
        shown = case(one.kind)
        folder.put(f"{one.kind}.html", _key(plan.title, one, shown), partial(pages.kind, plan.title, one, *shown))
    folder.finish()


def _remove_former(libraries: SiteFolder, now: set[str]) -> None:
    for name in sorted(set(libraries.former) - now):
        libraries.inside(name).clear()
    libraries.finish()


def _made(histories: Sequence[History], folder: str) -> _Made:
    shown = (one for one in histories if one.rows)
    latest = max(shown, key=lambda one: one.rows[-1].release.ingested, default=histories[0])
    card = pages.LibraryCard(
        latest.line.library, folder, latest, len(histories), sum(len(one.rows) for one in histories)
    )
    here = f"{LIBRARIES}/{folder}/"
    found = [pages.Searched(card.library, "library", f"{here}index.html")]
    found += [
        pages.Searched(
            f"{card.library} {row.release.version}",
            f"release, {one.line.target}",
            f"{here}{release_file(one.line, row.release.version)}",
        )
        for one in histories
        for row in reversed(one.rows)
    ]
    return _Made(card, tuple(found))


def _kinds_searched() -> Iterator[pages.Searched]:
    return (pages.Searched(one.kind, "kind of change", f"{KINDS}/{one.kind}.html") for one in changes())


def _standing(channels: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The channels at each version."""
    return {
        version: tuple(sorted(name for name, at in channels.items() if at == version))
        for version in set(channels.values())
    }


def _remarks(store: Store, line: LineKey) -> dict[str, tuple[str, ...]]:
    """What people say of findings of a library, by the findings' ids."""
    said = {one.identity: one for one in store.reviews() if one.library == line.library}
    return {
        identity: (f"Marked {one.state}{f' by {one.actor}' if one.actor else ''}{f': {one.note}' if one.note else ''}",)
        for identity, one in sorted(said.items())
        if one.state != "open"
    }


def _key(*facts: object) -> str:
    """What a page is made of, in short: the facts, and what renders them."""
    said = repr((*facts, renderer())).encode("utf-8", "surrogatepass")
    return blake2b(said, digest_size=12).hexdigest()


@cache
def renderer() -> str:
    """The digest of what renders pages: another one means that all pages are made anew."""
    digest = blake2b(f"{__version__} {ENGINE}".encode(), digest_size=12)
    for name, text in sorted(_sources(files("abistore.report"), "")):
        digest.update(name.encode() + b"\0" + text)
    digest.update(files("abistore.service").joinpath("kinds.json").read_bytes())
    return digest.hexdigest()


def _sources(folder: Traversable, where: str) -> Iterator[tuple[str, bytes]]:
    for each in folder.iterdir():
        if each.is_dir():
            yield from _sources(each, f"{where}{each.name}/")
        elif each.name.endswith((".py", ".html", ".css", ".js")):
            yield f"{where}{each.name}", each.read_bytes()
