"""Lines and their releases in release order."""

from __future__ import annotations

from collections.abc import Iterable

from abistore.errors import AbistoreError, SnapshotNotFound, UsageError
from abistore.model.history import LineKey, Release
from abistore.model.nearness import did_you_mean, near
from abistore.model.versions import check_scheme, scheme_for, sort_key
from abistore.store import cards
from abistore.store.audit import record
from abistore.store.database import Database
from abistore.store.failures import damaged
from abistore.store.lines import every
from abistore.store.lines import set_scheme as write_scheme
from abistore.store.seals import checksum

LISTED = 8


def lines(database: Database, holding: str = cards.RELEASES) -> tuple[LineKey, ...]:
    """All lines that have a current release, or a candidate, sorted."""
    return tuple(line.key for line in every(database) if cards.total(line, holding))


def no_library(database: Database, library: str, target: str | None, profile: str | None) -> AbistoreError:
    """Why nothing is stored of ``library``, with what was probably meant."""
    stored = lines(database)
    if own := [str(line) for line in stored if line.library == library]:
        wanted = ", ".join(word for word in (target, profile) if word)
        return SnapshotNotFound(f"{library}: not stored for {wanted}", f"stored: {'; '.join(own)}")
    if kept := [candidate.reference for candidate in candidates(database, library, None, None)]:
        return SnapshotNotFound(f"{library}: no release is stored, only candidates", f"kept: {', '.join(kept)}")
    names = sorted({line.library for line in stored})
    head, at, _ = library.partition("@")
    if at and head in names:
        return UsageError(f"{library}: a release, where a library is wanted", f"say {head}")
    listed = f"stored: {', '.join(names)}" if 0 < len(names) <= LISTED else "`abistore list` shows what is stored"
    hint = did_you_mean(near(library, names), listed if names else "nothing is stored yet")
    return SnapshotNotFound(f"{library}: no such library in {database.where}", hint)


def releases(database: Database, library: str, target: str | None, profile: str | None) -> tuple[Release, ...]:
    """The current releases of a library, line by line, each line in release order."""
    return in_release_order(database, cards.of_library(database, cards.RELEASES, (library, target, profile)))


def candidates(database: Database, library: str, target: str | None, profile: str | None) -> tuple[Release, ...]:
    """What failed its gate and was kept, of a library: line by line, in the order of ingestion."""
    found = cards.of_library(database, cards.CANDIDATES, (library, target, profile))
    return tuple(sorted(found, key=lambda one: (one.line, one.sequence)))


def in_release_order(database: Database, found: Iterable[Release]) -> tuple[Release, ...]:
    """``found``, line by line, each line under the scheme of its library."""
    by_line: dict[LineKey, list[Release]] = {}
    for release in found:
        by_line.setdefault(release.line, []).append(release)
    ordered: list[Release] = []
    for line in sorted(by_line):
        chosen = scheme_for((release.version for release in by_line[line]), scheme(database, line.library))
        ordered += sorted(by_line[line], key=lambda release: sort_key(release.version, chosen))
    return tuple(ordered)


def preceding(database: Database, line: LineKey, version: str) -> Release | None:
    """The release of a line before the place that ``version`` has or would have there."""
    others = [r for r in releases(database, line.library, line.target, line.profile) if r.version != version]
    chosen = scheme_for([version, *(release.version for release in others)], scheme(database, line.library))
    place = sort_key(version, chosen)
    before = [release for release in others if sort_key(release.version, chosen) < place]
    return max(before, key=lambda release: sort_key(release.version, chosen), default=None)


def known(database: Database, sha256: str, version: str | None, profile: str, library: str | None) -> Release | None:
    """The current release that was read here from the very file with this SHA-256, the latest ingested of several.

    What came in as JSON says itself which file it is of, and does not answer for it.
    """
    if not sha256:
        return None
    condition, parameters = _labelled(version, profile, library)
    found = cards.find(database, f"snapshot.sha256 = ? AND {condition}", (sha256, *parameters))
    return found[-1] if found else None


def may_know(database: Database, size: int, version: str | None, profile: str, library: str | None) -> bool:
    """Whether a current release was read here from a file of ``size`` bytes: asked sooner than the digest is made."""
    condition, parameters = _labelled(version, profile, library)
    statement = f"SELECT 1 FROM {cards.SOURCES} WHERE snapshot.size = ? AND {condition} LIMIT 1"
    return bool(database.rows(statement, (size, *parameters)))


def _labelled(version: str | None, profile: str, library: str | None) -> tuple[str, tuple[str, ...]]:
    """The condition for current releases of these labels (``None``: any) that were read here, and its parameters."""
    given = {"line.profile": profile, "snapshot.version": version, "library.name": library}
    chosen = {column: value for column, value in given.items() if value is not None}
    condition = "".join(f" AND {column} = ?" for column in chosen)
    return f"{cards.RELEASES} AND snapshot.read_here = 1{condition}", tuple(chosen.values())


def scheme(database: Database, library: str) -> str:
    """The version scheme declared for ``library``: ``auto`` where nobody did."""
    rows = database.rows("SELECT scheme, lines, checksum FROM library WHERE name = ?", (library,))
    for chosen, lines_, seal in rows:
        if checksum(library, chosen, lines_) != seal:
            raise damaged(database.where, f"the row of library {library}")
    return str(rows[0][0]) if rows else "auto"


def set_scheme(database: Database, library: str, chosen: str, actor: str) -> None:
    """Declare how the versions of ``library`` are ordered.

    Raises :class:`UsageError` where the scheme is unknown or does not read a stored version.
    """
    check_scheme(chosen)
    with database.transaction():
        before = scheme(database, library)
        stored = releases(database, library, None, None)
        if not stored:
            raise no_library(database, library, None, None)
        if chosen != "auto":
            for release in stored:
                sort_key(release.version, chosen)
        if before != chosen:
            write_scheme(database, library, chosen)
            record(database, actor, "scheme", library, f"{chosen}; was {before}")
