"""Two releases of several libraries in, a judged comparison of what stands between their libraries out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec

from abistore.compare.context import Context
from abistore.compare.judge.concluding import concluded
from abistore.compare.judge.findings import findings_of, worst_of
from abistore.compare.policies.applied import AppliedRuling
from abistore.compare.releases.deltas import release_deltas
from abistore.compare.releases.release import ReleaseLibraries
from abistore.compare.side import SideFacts
from abistore.model.digest import snapshot_digest
from abistore.model.findings import Comparison, Side, order
from abistore.model.snapshot import Snapshot

if TYPE_CHECKING:
    from abistore.compare.policies.ruling import Ruling


class ComparedRelease(msgspec.Struct, frozen=True):
    """A release: its name and version, as the package has them, and its libraries."""

    name: str
    version: str | None
    libraries: Sequence[Snapshot]


def compare_releases(old: ComparedRelease, new: ComparedRelease, by: Ruling | None = None) -> Comparison:
    """What changed between the libraries of two releases: not what changed in each, which ``compare`` tells."""
    context = Context(SideFacts(_whole(old)), SideFacts(_whole(new)), cards=(_card(old), _card(new)))
    ruling = AppliedRuling(context, by and by.between(old.version, new.version))
    both = {each.library for each in old.libraries} & {each.library for each in new.libraries}
    deltas = (each for sides in _by_platform(old, new) for each in release_deltas(*sides, both))
    told = dict.fromkeys(each for facet, delta in deltas for each in findings_of(delta, facet, context))
    found = sorted(told, key=order)
    return concluded(context, ruling, sorted(ruling.judge(found), key=order), worst_of(found), ())


def _by_platform(old: ComparedRelease, new: ComparedRelease) -> Iterator[tuple[ReleaseLibraries, ReleaseLibraries]]:
    """Both sides for each platform: a library for another one stands for none that is gone."""
    for target in sorted({str(each.target) for side in (old, new) for each in side.libraries}):
        libraries = ([each for each in side.libraries if str(each.target) == target] for side in (old, new))
        before, after = map(ReleaseLibraries, libraries)
        yield before, after


def _whole(release: ComparedRelease) -> Snapshot:
    """The release as a snapshot that declares nothing: what policies and suppressions ask of either side."""
    return Snapshot(release.name, release.version, release.libraries[0].target, {"symbol": {}})


def _card(release: ComparedRelease) -> Side:
    digests = sorted(snapshot_digest(each) for each in release.libraries)
    return Side(
        library=release.name,
        version=release.version,
        digest=blake2b(b"".join(digests), digest_size=16).hexdigest(),
        target=", ".join(sorted({str(each.target) for each in release.libraries})),
        soname=None,
        evidence=(),
        exports=sum(each.exports for each in release.libraries),
    )
