"""Lines and their releases in release order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement, and_, select

from abistore.errors import AbistoreError, SnapshotNotFound, UsageError, WrongProfile, WrongTarget
from abistore.model.history import DEFAULT_PROFILE, LineKey, Release
from abistore.model.labels.versions import position
from abistore.model.words.nearness import did_you_mean, near
from abistore.store.database.database import Database
from abistore.store.database.tables import OPEN
from abistore.store.releases import cards
from abistore.store.releases.lines import every, of_library, scheme

LISTED = 8

_SEEN = (
    select(cards.LIBRARY.name, cards.LINE.target, cards.LINE.profile, cards.SNAPSHOT.evidence)
    .select_from(cards.SOURCES)
    .where(cards.RELEASES)
    .distinct()
)


def lines(database: Database) -> tuple[LineKey, ...]:
    """All lines that have a current release, sorted."""
    return tuple(line.key for line in every(database) if line.releases)


def no_library(
    database: Database, library: str, target: str | None = None, profile: str | None = None
) -> AbistoreError:
    """Why nothing is stored of ``library``, with what was probably meant."""
    stored = lines(database)
    if own := [line for line in stored if line.library == library]:
        wanted = ", ".join(word for word in (target, profile) if word)
        return elsewhere(own, target)(f"{library}: not stored for {wanted}", f"stored: {'; '.join(map(str, own))}")
    if kept := [candidate.reference for candidate in candidates(database, library)]:
        return SnapshotNotFound(f"{library}: no release is stored, only candidates", f"kept: {', '.join(kept)}")
    names = sorted({line.library for line in stored})
    head, at, _ = library.partition("@")
    if at and head in names:
        return UsageError(f"{library}: a release, where a library is wanted", f"say {head}")
    listed = f"stored: {', '.join(names)}" if 0 < len(names) <= LISTED else "`abistore list` shows what is stored"
    hint = did_you_mean(near(library, names), listed if names else "nothing is stored yet")
    return SnapshotNotFound(f"{library}: no such library in {database.where}", hint)


def elsewhere(stored: Iterable[LineKey], target: str | None) -> type[SnapshotNotFound]:
    """What is wrong where something is ``stored`` in other lines only: the platform, or else the build profile."""
    return WrongProfile if target is None or target in {line.target for line in stored} else WrongTarget


def releases(
    database: Database, library: str, target: str | None = None, profile: str | None = None
) -> tuple[Release, ...]:
    """The current releases of a library, line by line, each line in release order. Empty where there are none."""
    return in_release_order(database, cards.of_library(database, cards.RELEASES, (library, target, profile)))


def candidates(
    database: Database, library: str, target: str | None = None, profile: str | None = None
) -> tuple[Release, ...]:
    """What failed its gate and was kept, of a library: line by line, in the order of ingestion."""
    found = cards.of_library(database, cards.CANDIDATES, (library, target, profile))
    return tuple(sorted(found, key=lambda one: (one.line, one.sequence)))


def with_types(database: Database) -> frozenset[LineKey]:
    """The lines of which a release showed types."""
    rows = database.rows(_SEEN)
    shown = {text for text in {row[3] for row in rows} if cards.shows_types(text)}
    return frozenset(LineKey(*row[:3]) for row in rows if row[3] in shown)


def by_line(found: Iterable[Release]) -> dict[LineKey, list[Release]]:
    """``found`` by the lines that they are of, in the order in which they come."""
    parted: dict[LineKey, list[Release]] = {}
    for release in found:
        parted.setdefault(release.line, []).append(release)
    return parted


def in_release_order(database: Database, found: Iterable[Release]) -> tuple[Release, ...]:
    """``found``, line by line, each line under its scheme."""
    ordered: list[Release] = []
    schemes: dict[LineKey, str] = {}
    for line, members in sorted(by_line(found).items()):
        if line not in schemes:
            schemes |= schemes_of(database, line.library)
        chosen = schemes[line]
        ordered += sorted(members, key=lambda release: position(release.version, release.sequence, chosen))
    return tuple(ordered)


def foremost(database: Database, ordered: Sequence[Release]) -> tuple[Release, ...]:
    """Those releases of one line, in release order, among which ``latest`` and ``prev`` choose.

    The versions; where there are none, those that are in series; and all where there are none either.
    """
    if not ordered:
        return ()
    chosen = scheme_of(database, ordered[0].line)
    standings = [position(release.version, release.sequence, chosen).standing for release in ordered]
    return tuple(one for one, standing in zip(ordered, standings, strict=True) if standing == min(standings))


def preceding(database: Database, line: LineKey, version: str, sequence: int = OPEN) -> Release | None:
    """The release of a line before the place that ``version`` has there, or would have as number ``sequence``."""
    chosen = scheme_of(database, line)
    place = position(version, sequence, chosen)
    before = [
        release
        for release in releases(database, line.library, line.target, line.profile)
        if release.version != version and position(release.version, release.sequence, chosen) < place
    ]
    return before[-1] if before else None


def known(
    database: Database,
    sha256: str,
    version: str | None = None,
    profile: str = DEFAULT_PROFILE,
    library: str | None = None,
) -> Release | None:
    """The current release that was read here from the very file with this SHA-256, the latest ingested of several.

    What came in as JSON says itself which file it is of, and does not answer for it.
    """
    if not sha256:
        return None
    found = cards.find(database, and_(cards.SNAPSHOT.sha256 == sha256, _labelled(version, profile, library)))
    return found[-1] if found else None


def of_package(database: Database, sha256: str, version: str | None, profile: str) -> tuple[Release, ...]:
    """The current releases that were read here from the package with this SHA-256."""
    if not sha256:
        return ()
    told = cards.SNAPSHOT.provenance.contains(f'"sha256":"{sha256}"', autoescape=True)
    found = cards.find(database, and_(told, _labelled(version, profile, None)))
    packages = ((each, each.provenance.package) for each in found)
    return tuple(each for each, package in packages if package and package.sha256 == sha256)


def may_know(
    database: Database,
    size: int,
    version: str | None = None,
    profile: str = DEFAULT_PROFILE,
    library: str | None = None,
) -> bool:
    """Whether a current release was read here from a file of ``size`` bytes: asked sooner than the digest is made."""
    condition = and_(cards.SNAPSHOT.size == size, _labelled(version, profile, library))
    return bool(database.rows(select(1).select_from(cards.SOURCES).where(condition).limit(1)))


def _labelled(version: str | None, profile: str, library: str | None) -> ColumnElement[bool]:
    """The condition for current releases of these labels (``None``: any) that were read here."""
    given = ((cards.LINE.profile, profile), (cards.SNAPSHOT.version, version), (cards.LIBRARY.name, library))
    chosen = [column == value for column, value in given if value is not None]
    return and_(cards.RELEASES, cards.SNAPSHOT.read_here == 1, *chosen)


def scheme_of(database: Database, line: LineKey) -> str:
    """The scheme that orders a line: its own where it has one, else its library's."""
    return schemes_of(database, line.library).get(line) or scheme(database, line.library)


def schemes_of(database: Database, library: str) -> dict[LineKey, str]:
    """The scheme that orders each line of a library."""
    declared = scheme(database, library)
    return {line.key: line.scheme or declared for line in of_library(database, library)}
