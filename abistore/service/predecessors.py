"""The release that another one is compared with where nobody names it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from abistore.errors import UsageError
from abistore.model.approvals import no_later
from abistore.model.history import DEFAULT_CHANNEL, BaselineMove, LineKey, Release
from abistore.model.statements import is_withdrawn
from abistore.model.versions import channel_in, is_unreleased
from abistore.service.database import Database, line_target, using
from abistore.service.listing import channels_of, releases_of

if TYPE_CHECKING:
    from abistore.store.store import Store


class Predecessors:
    """The releases of one line up to some place, of which the last that counts is compared with what follows.

    A release follows the last one that was released: what broke in a build between them (``1.4.0-12-gabc1234``), its
    users get with it. Such a build follows whatever is before it. Releases that were withdrawn are passed over. Where
    nothing else is there, a build or a withdrawn release counts.
    """

    def __init__(self, earlier: Iterable[Release] = ()) -> None:
        self._last: Release | None = None
        self._standing: Release | None = None
        self._released: Release | None = None
        for each in earlier:
            self.add(each)

    def add(self, release: Release) -> None:
        """Go on by one release."""
        self._last = release
        if not is_withdrawn(release):
            self._standing = release
            if not is_unreleased(release.version):
                self._released = release

    def of(self, version: str) -> Release | None:
        """What a version is compared with that comes next; ``None`` for the first of its line."""
        before = None if is_unreleased(version) else self._released
        return before or self._standing or self._last


def passed_over(store: Store, old: Release, version: str) -> tuple[str, ...]:
    """Remarks about the releases between ``old`` and the one called ``version`` that were withdrawn."""
    ordered = releases_of(store, old.line)
    after = ordered[ordered.index(old) + 1 :] if old in ordered else ()
    scheme = store.scheme(old.line.library)
    gone = [each.version for each in after if is_withdrawn(each) and each.version != version]
    between = [each for each in gone if no_later(each, version, scheme)]
    if not between:
        return ()
    were = "was" if len(between) == 1 else "were"
    return (f"compared with {old.version}: {', '.join(between)} {were} withdrawn",)


def beside_itself(release: Release) -> str:
    """The remark where a release is judged against itself, in which nothing can be found."""
    return f"{release.version} is its own baseline: nothing else was compared"


def leads_here(release: Release, soname: str | None) -> str:
    """The remark where the old SONAME leads to the new library in its package: another SONAME keeps nobody apart."""
    return f"programs load this library as {release.soname}, although its SONAME is {soname}"


def before_it_moves(release: Release, channel: str | None) -> str:
    """The remark where a release is judged against the one that a baseline is about to leave."""
    return f"compared with {release.version}, the baseline {channel} before it moves"


def before(store: Store, release: Release) -> list[Release]:
    """The releases before one, in release order; before a candidate those that its version would follow."""
    ordered = releases_of(store, release.line)
    if release in ordered:
        return list(ordered[: ordered.index(release)])
    previous = store.previous(release)
    return list(ordered[: ordered.index(previous) + 1]) if previous else []


_LISTED = 3


class GateCounterpart(NamedTuple):
    """A release of the same line; ``None`` if there is none yet, and then ``missing`` says why that is no error."""

    release: Release | None = None
    missing: str = ""


def counterpart(store: Store, release: Release, against: str) -> Release | None:
    """The release of the same line that a stored one is judged against; ``None`` for the first of its line.

    Raises :class:`SnapshotNotFound`.
    """
    line = release.line
    against = against.removeprefix(f"{line.library}@")
    if against != "prev":
        return store.resolve(f"{line.library}@{against}", target=line.target, profile=line.profile)
    return Predecessors(before(store, release)).of(release.version)


class UsualCounterpart(msgspec.Struct, frozen=True):
    """What a stored release is judged against where nobody names it: ``word`` is empty for the first of its line.

    ``reference`` is the release that is meant, and ``why`` says why that is not the baseline, where there is one.
    """

    word: Literal["baseline", "prev", ""]
    reference: str = ""
    why: str = ""


def usual_counterpart(
    reference: str, *, database: Database = None, target: str | None = None, profile: str | None = None
) -> UsualCounterpart:
    """The baseline; of a release that is not newer than the baseline, the release that it follows.

    Beside a later baseline, what was added since would seem to be removed. Raises :class:`SnapshotNotFound`.
    """
    with using(database) as store:
        release = store.resolve(reference, target=line_target(store, target), profile=profile)
        base = channels_of(store, release.line).get(DEFAULT_CHANNEL)
        ordered = [each.version for each in releases_of(store, release.line)]
        is_later = (
            base in ordered and release.version in ordered and ordered.index(base) > ordered.index(release.version)
        )
        if base is not None and (release.candidate or base != release.version) and not is_later:
            return UsualCounterpart("baseline", f"{release.line.library}@{base}")
        why = f"{release.version} is older than the baseline {base}: it is judged against the release before it"
        previous = Predecessors(before(store, release)).of(release.version)
        if previous is None:
            return UsualCounterpart("")
        return UsualCounterpart("prev", previous.reference, why if is_later else "")


def counterpart_of(
    store: Store, line: LineKey, version: str, against: str | None, channel: str | None
) -> GateCounterpart:
    """What a snapshot is judged against before it is stored as ``version`` and may become the baseline ``channel``.

    ``prev`` and ``latest`` are never the release of this version. The first release of a line, and one that becomes the
    first baseline, are judged against nothing. Raises :class:`SnapshotNotFound`.
    """
    if against is None:
        return GateCounterpart()
    against = against.removeprefix(f"{line.library}@")
    if against in {"prev", "latest"}:
        found = _previous(store, line, version) if against == "prev" else _latest(store, line, version)
        return GateCounterpart(found, "" if found else _first(store, line))
    named = channel_in(against)
    if named is not None and not _is_set(store, line, named):
        if channel == named:
            return GateCounterpart(missing=f"no baseline precedes it{_beside(store, line)}")
        error = store.no_baseline(line, named)
        first = f"={named}" if named != DEFAULT_CHANNEL else ""
        error.hint = f"{error.hint}; for the first of its line: --set-baseline-if-none{first}"
        raise error
    found = store.resolve(f"{line.library}@{against}", target=line.target, profile=line.profile)
    if found.candidate:
        raise UsageError(f"{found.reference}: a candidate cannot be a baseline", "name a release")
    return GateCounterpart(found)


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
        return "there is no previous release"
    return f"there is no previous release in the new line {line}, beside {', '.join(others)}"


def _is_set(store: Store, line: LineKey, channel: str) -> bool:
    return any((move.line, move.channel) == (line, channel) for move in store.baselines(line.library))


def earlier_of_soname(
    store: Store, line: LineKey, version: str, soname: str | None, itself: Release | None = None
) -> tuple[Release, ...]:
    """The releases of a SONAME before the place that ``version`` has in its line, or would have; builds between
    releases are none."""
    last = store.preceding(line, version, itself.sequence) if itself else store.preceding(line, version)
    if last is None:
        return ()
    ordered = store.releases(line.library, line.target, line.profile)
    earlier = ordered[: ordered.index(last) + 1]
    return tuple(each for each in earlier if each.soname == soname and not is_unreleased(each.version))
