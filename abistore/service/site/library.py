"""The pages of one library: its timeline, its releases, and which of them can replace which."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from abistore.model.history import LineKey, Release
from abistore.report.site import pages
from abistore.report.site.addresses import release_file
from abistore.report.site.timeline import History
from abistore.service.history.history import history
from abistore.service.history.matrix import ReleaseRange, matrix
from abistore.service.history.verdicts import key_of
from abistore.service.listing import channels_of
from abistore.service.site.folder import SiteFolder
from abistore.service.site.keys import key
from abistore.service.site.plan import SiteSource
from abistore.service.site.reports import Reports

if TYPE_CHECKING:
    from abistore.store.store import Store

LIBRARIES = "libraries"
PAIRED = 12
"""So many of the latest releases of a line are told which can replace which: all their pairs are judged."""


class Made(NamedTuple):
    """A library of the site, and what search finds of it."""

    card: pages.LibraryCard
    found: tuple[pages.Searched, ...]


class LibraryPages:
    """Writes the pages of libraries, one library after the other."""

    def __init__(self, store: Store, source: SiteSource) -> None:
        self._store = store
        self._plan, self._database, self._by = source

    def write(self, name: str, folder: SiteFolder) -> Made:
        """Write the pages of one library."""
        histories = history(
            name, channel=self._plan.channel, database=self._database, by=self._by, judge=self._plan.judge
        )
        channels = {str(one.line): _standing(channels_of(self._store, one.line)) for one in histories}
        files = [release_file(row.release.line, row.release.version) for one in histories for row in one.rows]
        several = [one for one in histories if len(one.rows) > 1]
        folder.plan(("index.html", "names.js", *(["matrix.html"] if several else []), *files))
        names = [found for one in histories for found in self._line(one, channels[str(one.line)], folder)]
        whole = key(self._plan, histories, channels)
        folder.put("index.html", whole, lambda: pages.library(self._plan.title, histories, channels))
        folder.put("names.js", key(names), lambda: pages.search_index(names))
        if several:
            ends = [(one.line, [row.release for row in one.rows[-PAIRED:]], len(one.rows)) for one in histories]
            folder.put("matrix.html", key(self._plan.title, ends, self._ruling(ends)), lambda: self._matrix(name))
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
            previous = next((one for one in neighbours[:number] if one.version == row.previous), None)
            ruled = reports.key(previous, row)
            shown = key(self._plan, row, around, line.baseline, line.policy, ruled, remarks, standing)
            name = release_file(release.line, release.version)
            kept = folder.kept(name, shown)
            if kept is None:
                report = reports.of(previous, row) if previous and row.verdict is not None else None
                found = pages.names_in(report, name) if report else ()
                page = pages.ReleasePage(line, number, report, remarks, standing)
                folder.write(name, shown, pages.release(self._plan.title, page), found)
                yield from found
            else:
                yield from (pages.Searched(*each) for each in kept.kept)


def _made(histories: Sequence[History], folder: str) -> Made:
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
    return Made(card, tuple(found))


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
