"""The baselines that a release is measured by: the previous release, the first with its SONAME, and channels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from abistore.model.history import BaselineMove, Release
from abistore.model.judging.standing import BaselineRole, is_supported
from abistore.model.labels.promises import is_unreleased
from abistore.service.listing import promised


class Measure(NamedTuple):
    """A release to measure another by, and all reasons to do so."""

    against: Release
    roles: tuple[BaselineRole, ...]

    @property
    def supported(self) -> bool:
        """Whether its users must be able to take the other release."""
        return is_supported(self.against)


def measures_of(release: Release, earlier: Sequence[Release], moves: Sequence[BaselineMove]) -> tuple[Measure, ...]:
    """What a release is measured by, each baseline once: the previous one, the SONAME's first, then channels by name.

    ``earlier`` are the releases before it, ``moves`` those of its line's channels. Where the previous one or the first
    is not supported any more, the nearest supported one stands before it. Builds between releases are measured by the
    build before, and measure no release. A channel that stands at the release itself,
    or at a later one, measures it by where it stood before. One that was cleared measures nothing.
    """
    found: dict[str, Measure] = {}
    for role, version in _roles(release, earlier, moves):
        known = found.get(version)
        against = known.against if known else next(each for each in earlier if each.version == version)
        found[version] = Measure(against, (*(known.roles if known else ()), role))
    return tuple(found.values())


def standing_here(release: Release, moves: Sequence[BaselineMove]) -> tuple[str, ...]:
    """The channels that stand at a release."""
    if release.candidate:
        return ()
    return tuple(name for name, versions in _channels(moves) if versions[-1] == release.version)


def _roles(
    release: Release, earlier: Sequence[Release], moves: Sequence[BaselineMove]
) -> Iterator[tuple[BaselineRole, str]]:
    before = earlier if is_unreleased(release.version) else promised(earlier)
    yield from _nearest(BaselineRole("previous"), before[::-1])
    same = [each for each in earlier if release.recorded_name and each.recorded_name == release.recorded_name]
    named = BaselineRole("soname" if release.soname else "file_name")
    yield from _nearest(named, promised(same))
    there = {each.version for each in earlier}
    for channel, versions in _channels(moves):
        stood = next((version for version in reversed(versions) if version in there), None)
        if stood is not None:
            yield BaselineRole("channel", channel), stood


def _nearest(role: BaselineRole, releases: Sequence[Release]) -> Iterator[tuple[BaselineRole, str]]:
    """The first of some releases in a role, and before it the first that is still supported."""
    supported = next((each for each in releases if is_supported(each)), None)
    if supported is not None:
        yield role, supported.version
    if releases and releases[0] != supported:
        yield replace(role, passed_over=supported is not None), releases[0].version


def _channels(moves: Sequence[BaselineMove]) -> Iterator[tuple[str, list[str]]]:
    """Each channel that is set, with the versions at which it stood, oldest first."""
    for channel in sorted({move.channel for move in moves}):
        versions = [move.version for move in moves if move.channel == channel]
        if versions[-1] is not None:
            yield channel, [version for version in versions if version is not None]
