"""The release that another one, or a snapshot before it is stored, is judged against."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from abistore.errors import SnapshotNotFound, UsageError
from abistore.model.history import DEFAULT_CHANNEL, BaselineMove, LineKey, Release
from abistore.model.labels.naming import channel_in
from abistore.service.judging.predecessors import Predecessors, before

if TYPE_CHECKING:
    from abistore.store.store import Store


_LISTED = 3


class Counterpart(NamedTuple):
    """A release of the same line; ``None`` if there is none yet, and then ``missing`` says why that is no error."""

    release: Release | None = None
    missing: str = ""


def counterpart(store: Store, release: Release, against: str) -> Release:
    """The release of the same line that a stored one is judged against. Raises :class:`SnapshotNotFound`."""
    line = release.line
    against = against.removeprefix(f"{line.library}@")
    if against != "prev":
        return store.resolve(f"{line.library}@{against}", target=line.target, profile=line.profile)
    previous = Predecessors(before(store, release)).of(release.version)
    if previous is None:
        raise SnapshotNotFound(
            f"{line.library} {release.version} is the first release of its line: nothing precedes it",
            "pass --against with a version, or ingest an older release",
        )
    return previous


def counterpart_of(store: Store, line: LineKey, version: str, against: str | None, channel: str | None) -> Counterpart:
    """What a snapshot is judged against before it is stored as ``version`` and may become the baseline ``channel``.

    ``prev`` and ``latest`` are never the release of this version. The first release of a line, and one that becomes the
    first baseline, are judged against nothing. Raises :class:`SnapshotNotFound`.
    """
    if against is None:
        return Counterpart()
    against = against.removeprefix(f"{line.library}@")
    if against in {"prev", "latest"}:
        found = _previous(store, line, version) if against == "prev" else _latest(store, line, version)
        return Counterpart(found, "" if found else _first(store, line))
    named = channel_in(against)
    if named is not None and not _is_set(store, line, named):
        if channel == named:
            return Counterpart(missing=f"no baseline came before it{_beside(store, line)}")
        error = store.no_baseline(line, named)
        first = f"={named}" if named != DEFAULT_CHANNEL else ""
        error.hint = f"{error.hint}; for the first of its line: --set-baseline-if-none{first}"
        raise error
    found = store.resolve(f"{line.library}@{against}", target=line.target, profile=line.profile)
    if found.candidate:
        raise UsageError(f"{found.reference}: a candidate is no release to be judged against", "name a release")
    return Counterpart(found)


def namesake(store: Store, line: LineKey, soname: str | None) -> Release | None:
    """The baseline of another library that has ``soname``: the loader takes a build of ``line`` for that library."""
    if not soname:
        return None
    for move in _of_other_libraries(store, line):
        found = store.resolve(f"{move.line.library}@{move.version}", target=line.target, profile=line.profile)
        if found.soname == soname:
            return found
    return None


def _beside(store: Store, line: LineKey) -> str:
    """The libraries, profiles and targets that have baselines: what is called otherwise is judged beside none of them.

    One byte of a file makes another target of it.
    """
    others = sorted({move.line.library for move in _of_other_libraries(store, line)})
    others += sorted(
        f"profile {move.line.profile}"
        for move in store.baselines(line.library)
        if move.line != line and replace(move.line, profile=line.profile) == line
    )
    others += sorted(
        f"target {move.line.target}"
        for move in store.baselines(line.library)
        if move.line != line and replace(move.line, target=line.target) == line
    )
    more = f" and {len(others) - _LISTED} more" if len(others) > _LISTED else ""
    return f" ({', '.join(others[:_LISTED])}{more} {'have' if len(others) > 1 else 'has'} one)" if others else ""


def _of_other_libraries(store: Store, line: LineKey) -> Iterator[BaselineMove]:
    for move in store.baselines():
        if move.line.library != line.library and replace(move.line, library=line.library) == line:
            yield move


def _previous(store: Store, line: LineKey, version: str) -> Release | None:
    last = store.preceding(line, version)
    return Predecessors([*before(store, last), last]).of(version) if last else None


def _latest(store: Store, line: LineKey, version: str) -> Release | None:
    others = [one for one in store.releases(line.library, line.target, line.profile) if one.version != version]
    return next(iter(store.foremost(others)[-1:]), None)


def _first(store: Store, line: LineKey) -> str:
    """Why nothing precedes a release. A misspelled profile or target begins a new line, so that is said."""
    others = [str(other) for other in store.lines() if other.library == line.library and other != line]
    if not others or line in store.lines():
        return "nothing precedes it"
    return f"nothing precedes it in the new line {line}, beside {', '.join(others)}"


def _is_set(store: Store, line: LineKey, channel: str) -> bool:
    return any((move.line, move.channel) == (line, channel) for move in store.baselines(line.library))
