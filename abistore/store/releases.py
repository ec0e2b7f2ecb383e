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

LISTED = 8


def lines(database: Database, holding: str = cards.RELEASES) -> tuple[LineKey, ...]:
    """All lines that have a current release, or a snapshot of another condition, sorted."""
    statement = (
        "SELECT library.name, line.target, line.profile FROM line JOIN library ON library.id = line.library_id "
        f"WHERE EXISTS (SELECT 1 FROM snapshot WHERE snapshot.line_id = line.id AND {holding})"
    )
    return tuple(sorted(LineKey(*row) for row in database.rows(statement)))


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
    return in_release_order(database, _of_library(database, cards.RELEASES, (library, target, profile)))


def candidates(database: Database, library: str, target: str | None, profile: str | None) -> tuple[Release, ...]:
    """What failed its gate and was kept, of a library: line by line, in the order of ingestion."""
    found = _of_library(database, cards.CANDIDATES, (library, target, profile))
    return tuple(sorted(found, key=lambda one: (one.line, one.sequence)))


def _of_library(database: Database, condition: str, meant: tuple[str, str | None, str | None]) -> list[Release]:
    columns = ("library.name", "line.target", "line.profile")
    given = {column: value for column, value in zip(columns, meant, strict=True) if value is not None}
    condition += "".join(f" AND {column} = ?" for column in given)
    return cards.find(database, condition, tuple(given.values()))


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
    """The current release that was read from the very file with this SHA-256, the latest ingested of several."""
    if not sha256:
        return None
    condition, parameters = _labelled(version, profile, library)
    condition, parameters = f"snapshot.sha256 = ? AND {condition}", (sha256, *parameters)
    found = cards.find(database, condition, parameters)
    return found[-1] if found else None


def may_know(database: Database, size: int, version: str | None, profile: str, library: str | None) -> bool:
    """Whether a current release was read from a file of ``size`` bytes: a question without an index, yet cheaper than
    the digest of a large file."""
    condition, parameters = _labelled(version, profile, library)
    statement = f"SELECT 1 FROM {cards.SOURCES} WHERE {condition} AND snapshot.provenance LIKE ? LIMIT 1"
    return bool(database.rows(statement, (*parameters, f'%"size":{size},%')))


def _labelled(version: str | None, profile: str, library: str | None) -> tuple[str, tuple[str, ...]]:
    """The condition for current releases of these labels (``None``: any), and its parameters."""
    given = {"line.profile": profile, "snapshot.version": version, "library.name": library}
    chosen = {column: value for column, value in given.items() if value is not None}
    condition = "".join(f" AND {column} = ?" for column in chosen)
    return f"{cards.RELEASES}{condition}", tuple(chosen.values())


def scheme(database: Database, library: str) -> str:
    """The version scheme declared for ``library``: ``auto`` where nobody did."""
    rows = database.rows("SELECT scheme FROM library WHERE name = ?", (library,))
    return str(rows[0][0]) if rows else "auto"


def set_scheme(database: Database, library: str, chosen: str, actor: str) -> None:
    """Declare how the versions of ``library`` are ordered.

    Raises :class:`UsageError` where the scheme is unknown or does not read a stored version.
    """
    check_scheme(chosen)
    with database.transaction():
        rows = database.rows("SELECT id, scheme FROM library WHERE name = ?", (library,))
        if not rows:
            raise no_library(database, library, None, None)
        if chosen != "auto":
            for release in releases(database, library, None, None):
                sort_key(release.version, chosen)
        if rows[0][1] != chosen:
            database.run("UPDATE library SET scheme = ? WHERE id = ?", (chosen, rows[0][0]))
            record(database, actor, "scheme", library, f"{chosen}; was {rows[0][1]}")
