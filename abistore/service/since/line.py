"""One line of a library, with its releases in release order, and the one that questions begin at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from abistore.errors import UsageError
from abistore.model.history import LineKey, Release
from abistore.model.labels.naming import channel_in
from abistore.service.listing import channels_of, lines_of, releases_of

if TYPE_CHECKING:
    from abistore.store.store import Store


class DatedRelease(msgspec.Struct, frozen=True):
    """A release in an answer: what people call it, when it was released, and the source revision that was built."""

    version: str
    date: str
    revision: str | None = None


def dated(release: Release) -> DatedRelease:
    """A release as answers show it."""
    return DatedRelease(release.version, f"{release.released or release.ingested:%Y-%m-%d}", release.revision)


class AskedLine(NamedTuple):
    """A line, its releases in release order, and the place of the one that the question begins at."""

    key: LineKey
    releases: Sequence[Release]
    start: int

    @property
    def base(self) -> Release:
        """The release that the question begins at."""
        return self.releases[self.start]


def asked_lines(
    store: Store, library: str, since: str | None, target: str | None, profile: str | None
) -> Iterator[AskedLine]:
    """The lines of a library, each from ``since`` on.

    That is a version, ``baseline`` or ``baseline:CHANNEL``. Without it a line begins at the first release with the
    SONAME of its latest one: programs that were linked with any of these load the latest. Lines that have no such
    version are left out; raises :class:`UsageError` where none has it.
    """
    keys = lines_of(store, library, target, profile)
    found = []
    for key in keys:
        releases = releases_of(store, key)
        start = _start(store, key, releases, since)
        if start is not None:
            found.append(AskedLine(key, releases, start))
    if not found:
        raise UsageError(f"{library} has no release {since}", f"`abistore list {library}` shows the releases")
    yield from found


def _start(store: Store, key: LineKey, releases: Sequence[Release], since: str | None) -> int | None:
    if since is None:
        soname = releases[-1].soname
        same = (place for place, each in enumerate(releases) if each.soname == soname)
        return next(same) if soname else 0
    channel = channel_in(since)
    version = since if channel is None else channels_of(store, key).get(channel)
    return next((place for place, each in enumerate(releases) if each.version == version), None)
