"""Releases in release order, their tags and baselines, and corrections of what was said about them.

Fixing the order that the lines of an older database have, before a new label can change it.

Before schema 0004, ``auto`` was the first scheme that read all labels of a line, so that a label could re-sort the
others. A line whose order was not that of today's ``auto`` keeps it by a scheme of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import ColumnElement, Text, and_, bindparam, insert, literal, select, update

from abistore.errors import AbistoreError, SnapshotNotFound, UsageError, WrongProfile, WrongTarget
from abistore.model.history import (
    DEFAULT_PROFILE,
    Amendment,
    BaselineMove,
    LineKey,
    LineOrder,
    Release,
    ReleaseFacts,
    TaggedRelease,
)
from abistore.model.labels import AUTO
from abistore.model.snapshot import Provenance, ReleaseTag, encode
from abistore.model.versions import SCHEMES, SPECIFIED, LabelOrder, check_name, check_version, position
from abistore.model.words import did_you_mean, near
from abistore.store import releases as cards
from abistore.store import tables
from abistore.store.database import Database, Row, damaged, insert_new, record, stamp
from abistore.store.releases import (
    NEW_LIBRARY,
    OF_LIBRARY,
    OF_LINE,
    amend_card,
    every,
    identifier,
    labels,
    lines_of_library,
    new_library,
    scheme,
    set_own_scheme,
)
from abistore.store.releases import set_scheme as write_scheme
from abistore.store.tables import OPEN, checksum

_NEW_LINE = insert_new(tables.line).from_select(
    ["library_id", "target", "profile", "releases", "candidates", "moves", "checksum"],
    select(
        tables.library.c.id, bindparam("target", type_=Text), bindparam("profile", type_=Text), *(literal(0),) * 4
    ).where(OF_LIBRARY),
)
_HELD = (
    select(tables.line.c.id)
    .select_from(tables.line.join(tables.library))
    .where(OF_LINE)
    .with_for_update(of=tables.line)
)


def hold(database: Database, key: LineKey) -> int:
    """The line's id, created where it is new; other writers of the line wait until the transaction ends."""
    database.run(NEW_LIBRARY, new_library(key.library))
    database.run(_NEW_LINE, labels(key))
    identifier = hold_stored(database, key)
    assert identifier is not None
    return identifier


def hold_stored(database: Database, key: LineKey) -> int | None:
    """The id of a line that is stored, held as :func:`hold` does; ``None`` where there is none."""
    database.keep_tables_free()
    rows = database.rows(_HELD, labels(key))
    return int(rows[0][0]) if rows else None


FACTS: tuple[str, ...] = ReleaseFacts.__struct_fields__


def supplement(database: Database, release: Release, said: ReleaseFacts, actor: str = "") -> Amendment:
    """Fill the empty facts of ``release``: day, revision, CI job. A fact with another value stays."""
    given = _given(said)
    if all(getattr(release, fact) == value for fact, value in given.items()):
        return Amendment(release, _said(release))
    with database.transaction():
        current = current_release(database, release)
        kept = [fact for fact in given if getattr(current, fact) not in (None, given[fact])]
        changes = {fact: value for fact, value in given.items() if fact not in kept}
        return _amended(database, current, changes, kept=tuple(kept), actor=actor)


def amend(
    database: Database, release: Release, said: ReleaseFacts, *, clear: Sequence[str] = (), actor: str, reason: str
) -> Amendment:
    """Say something else about ``release``, and of ``clear`` nothing any more."""
    given = _given(said)
    with database.transaction():
        current = current_release(database, release)
        return _amended(database, current, given | dict.fromkeys(clear), actor=actor, reason=reason)


def _amended(
    database: Database,
    release: Release,
    wanted: Mapping[str, Any],
    *,
    kept: tuple[str, ...] = (),
    actor: str,
    reason: str = "",
) -> Amendment:
    """Write those of the ``wanted`` facts that are news, with a record of what was before."""
    changes = {fact: wanted[fact] for fact in FACTS if fact in wanted and wanted[fact] != getattr(release, fact)}
    if not changes:
        return Amendment(release, _said(release), kept=kept)
    columns = {fact: _column(value) for fact, value in changes.items()}
    cards.amend_card(database, cards.identifier(database, release), columns)
    told = [f"{fact} {_shown(value)}, was {_shown(getattr(release, fact))}" for fact, value in changes.items()]
    line = release.line
    subject = f"{line.library}@{release.version} ({line.target}, {line.profile})"
    record(database, actor, "edit", subject, "; ".join(filter(None, (*told, reason))))
    return Amendment(msgspec.structs.replace(release, **changes), _said(release), tuple(changes), kept)


def current_release(database: Database, release: Release) -> Release:
    """The release as it stands now, while no other session can change it."""
    line = release.line
    hold_stored(database, line)
    found = cards.by_identifier(database, line).values()
    for current in found:
        if current.sequence == release.sequence:
            return current
    raise SnapshotNotFound(f"{line.library}@{release.version}: not in {database.where}")


def _given(said: ReleaseFacts) -> dict[str, Any]:
    """The facts that are said, each as the store would give it back."""
    released = datetime.fromisoformat(stamp(said.released)) if said.released else None
    facts = msgspec.structs.asdict(msgspec.structs.replace(said, released=released))
    return {fact: value for fact, value in facts.items() if value}


def _said(release: Release) -> ReleaseFacts:
    return ReleaseFacts(release.released, release.revision, release.url)


def _column(value: object) -> object:
    return stamp(value) if isinstance(value, datetime) else value


def _shown(value: object) -> str:
    return "-" if value is None else str(_column(value))


def add(database: Database, release: Release, tags: Iterable[ReleaseTag], actor: str = "") -> TaggedRelease:
    """Put tags on a release. One that it has stays as it is, with its note, unless the new one is signed."""
    with database.transaction():
        current = current_release(database, release)
        known = {tag.name for tag in current.tags}
        new = {tag.name: tag for tag in tags if tag.name not in known or tag.signature is not None}
        if not new:
            return TaggedRelease(current, changed=False)
        kept = (tag for tag in current.tags if tag.name not in new)
        return _write(database, current, (*kept, *new.values()), (actor, "tag", "; ".join(map(_told, new.values()))))


def _told(tag: ReleaseTag) -> str:
    said = f"{tag.name} ({tag.note})" if tag.note else tag.name
    return f"{said}, signed by {tag.signature.key}" if tag.signature is not None else said


def take(database: Database, release: Release, name: str, actor: str = "") -> TaggedRelease:
    """Take a tag from a release."""
    with database.transaction():
        current = current_release(database, release)
        left = tuple(tag for tag in current.tags if tag.name != name)
        if left == current.tags:
            return TaggedRelease(current, changed=False)
        return _write(database, current, left, (actor, "untag", name))


def column(tags: Iterable[ReleaseTag]) -> str | None:
    """The tags as the row of a release holds them, sorted; ``None`` where there are none."""
    found = _sorted(tags)
    return encode(found).decode() if found else None


def _sorted(tags: Iterable[ReleaseTag]) -> tuple[ReleaseTag, ...]:
    return tuple(sorted({tag.name: tag for tag in tags}.values(), key=lambda tag: tag.name))


def _write(
    database: Database, release: Release, tags: tuple[ReleaseTag, ...], told: tuple[str, str, str]
) -> TaggedRelease:
    cards.amend_card(database, cards.identifier(database, release), {"tags": column(tags)})
    actor, action, detail = told
    line = release.line
    record(database, actor, action, f"{release.reference} ({line.target}, {line.profile})", detail)
    return TaggedRelease(msgspec.structs.replace(release, tags=_sorted(tags)), changed=True)


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


def ordered_releases(
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


def builds(
    database: Database, library: str, target: str | None = None, profile: str | None = None
) -> tuple[Release, ...]:
    """The releases and the candidates of a library, line by line, each line in release order."""
    wanted = library, target, profile
    found = (each for what in (cards.RELEASES, cards.CANDIDATES) for each in cards.of_library(database, what, wanted))
    return in_release_order(database, found)


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
        for release in ordered_releases(database, line.library, line.target, line.profile)
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
    return {line.key: line.scheme or declared for line in lines_of_library(database, library)}


def orders(database: Database, library: str) -> tuple[LineOrder, ...]:
    """How each line of ``library`` is ordered."""
    return tuple(
        _order(database, line, ordered) for line, ordered in by_line(ordered_releases(database, library)).items()
    )


def set_scheme(database: Database, library: str, chosen: str, actor: str = "") -> tuple[LineOrder, ...]:
    """Declare how the versions of ``library`` are ordered: how each line is ordered then, and what moved in it.

    Raises :class:`UsageError` where the scheme is unknown or does not read a stored version.
    """
    check_version("1.0.0", chosen)
    with database.transaction():
        for line in lines_of_library(database, library):
            hold_stored(database, line.key)
        before = by_line(ordered_releases(database, library))
        if not before:
            raise no_library(database, library)
        declared = scheme(database, library)
        if chosen != AUTO:
            for ordered in before.values():
                for release in ordered:
                    check_version(release.version, chosen)
        latest = {line: foremost(database, ordered)[-1].version for line, ordered in before.items()}
        if {declared, *schemes_of(database, library).values()} == {chosen}:
            return orders(database, library)
        write_scheme(database, library, chosen)
        after = by_line(ordered_releases(database, library))
        told = tuple(_order(database, line, after[line], before[line], latest[line]) for line in before)
        detail = [f"{chosen}; was {declared}", *(_moved(one) for one in told if one.moved)]
        record(database, actor, "scheme", library, "; ".join(detail))
    return told


def _order(
    database: Database,
    line: LineKey,
    ordered: Sequence[Release],
    before: Sequence[Release] = (),
    latest_before: str | None = None,
) -> LineOrder:
    chosen = scheme_of(database, line)
    latest = foremost(database, ordered)[-1].version
    return LineOrder(
        line=line,
        scheme=chosen,
        latest=latest,
        latest_before=latest if latest_before is None else latest_before,
        moved=tuple(now.version for was, now in zip(before, ordered, strict=False) if was != now),
        unordered=tuple(
            one.version
            for one in ordered
            if position(one.version, one.sequence, chosen).standing is LabelOrder.UNORDERED
        ),
    )


def _moved(order: LineOrder) -> str:
    return f"{order.line}: {len(order.moved)} moved, latest {order.latest}, was {order.latest_before}"


_MOVE, _LINE, _LIBRARY = tables.baseline_move.c, tables.line.c, tables.library.c
_SEALED = (
    *(_MOVE.id, _LIBRARY.name, _LINE.target, _LINE.profile),
    *(_MOVE.channel, _MOVE.version, _MOVE.moved, _MOVE.actor, _MOVE.reason, _MOVE.digest),
)
"""What a move's checksum is of: all columns of its row, and the labels of its line in place of that one's id."""

_MOVES = (
    select(*cards.LINE_COLUMNS, *_SEALED, _MOVE.checksum)
    .select_from(cards.LINE_SOURCES.outerjoin(tables.baseline_move))
    .order_by(_MOVE.id)
)
_MOVES_OF_LIBRARY = _MOVES.where(cards.OF_LIBRARY)
_LINE_ID = select(_LINE.id).select_from(tables.line.join(tables.library)).where(cards.OF_LINE)
_INSERT = insert(tables.baseline_move)
_UPDATE = update(tables.baseline_move).where(_MOVE.id == bindparam("identifier"))


def current(database: Database, line: LineKey, channel: str) -> str | None:
    """The version at which ``channel`` stands; ``None`` where it was never set, or cleared."""
    own = [move for move in history(database, line.library, channel) if move.line == line]
    return own[-1].version if own else None


def standing(database: Database, library: str | None = None) -> tuple[BaselineMove, ...]:
    """The move that put each channel where it stands, by line and channel; cleared channels are left out."""
    last = {(move.line, move.channel): move for move in _moves(database, library)}
    return tuple(last[key] for key in sorted(last) if last[key].version is not None)


def history(database: Database, library: str, channel: str | None = None) -> tuple[BaselineMove, ...]:
    """All moves of a library's channels, oldest first."""
    return tuple(move for move in _moves(database, library) if channel in {None, move.channel})


def standing_at(database: Database, release: Release) -> tuple[str, ...]:
    """The channels that stand at a release, sorted."""
    moves = standing(database, release.line.library)
    return tuple(move.channel for move in moves if (move.line, move.version) == (release.line, release.version))


def follow(database: Database, old: Release, new: Release, *, actor: str, reason: str) -> None:
    """Note that the channels which stood at ``old`` stand at ``new``, which replaced it under its version."""
    for channel in standing_at(database, old):
        append(database, BaselineMove(old.line, channel, new.version, datetime.now(UTC), actor, reason, new.digest))
        detail = f"{new.version}; digest {new.digest}; was {old.version}; digest {old.digest}; {reason}"
        record(database, actor, "baseline", f"{old.line} {channel}", detail)


def move(
    database: Database, line: LineKey, channel: str, version: str | None, *, actor: str = "", reason: str = ""
) -> BaselineMove:
    """Put ``channel`` at ``version``, or clear it; a no-op that returns the earlier move where it stands there.

    Raises :class:`SnapshotNotFound` where the line has no such release, or no such channel to clear.
    """
    if version is not None:
        check_name("channel", channel)
    with database.transaction():
        hold_stored(database, line)
        stored = {one.version: one for one in ordered_releases(database, line.library, line.target, line.profile)}
        if not stored or (version is not None and version not in stored):
            raise SnapshotNotFound(
                f"{line}: no release {version or ''}".rstrip(), f"stored: {', '.join(stored) or 'none'}"
            )
        moves = [m for m in history(database, line.library, channel) if m.line == line]
        before = moves[-1].version if moves else None
        if before == version:
            if version is None:
                raise SnapshotNotFound(f"{line}: channel {channel} is not set")
            return moves[-1]
        digest = stored[version].digest if version is not None else None
        append(database, BaselineMove(line, channel, version, datetime.now(UTC), actor, reason, digest))
        detail = "; ".join(filter(None, (version or "-", f"was {before or '-'}", reason)))
        record(database, actor, "baseline", f"{line} {channel}", detail)
        return [m for m in history(database, line.library, channel) if m.line == line][-1]


def append(database: Database, move: BaselineMove) -> None:
    """Write a move, wherever the channel stood before."""
    line = move.line
    ((line_id,),) = database.rows(_LINE_ID, cards.labels(line))
    values = {
        "channel": move.channel,
        "version": move.version,
        "moved": stamp(move.moved),
        "actor": move.actor,
        "reason": move.reason,
        "digest": bytes.fromhex(move.digest) if move.digest is not None else None,
    }
    identifier = database.insert(_INSERT, {"line_id": line_id, **values, "checksum": 0})
    seal = checksum(identifier, line.library, line.target, line.profile, *values.values())
    database.run(_UPDATE.values(checksum=seal), {"identifier": identifier})
    cards.add(database, line_id, {"moves": seal})


def _moves(database: Database, library: str | None) -> list[BaselineMove]:
    """All moves of a library's channels, or of all libraries, oldest first.

    Raises :class:`StoreError` where one is damaged or missing.
    """
    if library:
        rows = cards.named(database, _MOVES_OF_LIBRARY, library)
    else:
        rows = database.rows(_MOVES)
        cards.every(database)  # tells a missing library
    moves = []
    sums: dict[LineKey, int] = {}
    for row in rows:
        *values, seal = row[len(cards.LINE_COLUMNS) :]
        if values[0] is not None:
            if checksum(*values) != seal:
                raise damaged(database.where, f"a move of baseline {values[4]} of {LineKey(*values[1:4])}")
            moves.append(_move(values))
            sums[moves[-1].line] = sums.get(moves[-1].line, 0) + seal
    for line in cards.verified(database, rows):
        if line.moves != sums.get(line.key, 0):
            raise damaged(database.where, f"a move of a baseline of {line.key} is missing")
    return moves


def _move(values: Row) -> BaselineMove:
    _, library, target, profile, channel, version, moved, actor, reason, digest = values
    line, when = LineKey(library, target, profile), datetime.fromisoformat(moved)
    return BaselineMove(line, channel, version, when, actor, reason, digest.hex() if digest is not None else None)


def forget(database: Database, release: Release, actor: str = "", reason: str = "") -> None:
    """Take ``release``, or a candidate, out of its line; what is stored of it stays for the audit, as that of a
    replaced one does.

    Raises :class:`UsageError` where a baseline stands at it, :class:`SnapshotNotFound` where it was taken out before.
    """
    line, label = release.line, release.reference
    with database.transaction():
        hold_stored(database, line)
        stored = candidates if release.candidate else ordered_releases
        if release not in stored(database, line.library, line.target, line.profile):
            raise SnapshotNotFound(f"{label}: this snapshot was replaced or removed before")
        channels = () if release.candidate else standing_at(database, release)
        if channels:
            hint = f"move it first: abistore db baseline set {line.library}@VERSION --channel {channels[0]}"
            raise UsageError(f"{label}: baseline {channels[0]} points at it", hint)
        amend_card(database, identifier(database, release), {"superseded": 1})
        detail = f"digest {release.digest} sequence {release.sequence}"
        subject = f"{label} ({line.target}, {line.profile})"
        record(database, actor, "forget", subject, "; ".join(filter(None, (detail, reason))))


class LineSpan(NamedTuple):
    """A line in short. ``latest`` is what ``libfoo@latest`` means; both are empty where a line has candidates only.

    ``releases`` are in release order. ``provenance`` is that of the latest one, or of the latest candidate.
    """

    key: LineKey
    releases: tuple[Release, ...]
    first: str
    latest: str
    candidates: int
    provenance: Provenance


def overview(database: Database, library: str | None) -> tuple[LineSpan, ...]:
    """All lines of a library (``None``: of all) that have a release or a candidate, sorted.

    Raises :class:`StoreError` where a card or the row of a line is damaged or missing.
    """
    stored, kept = (_cards(database, condition, library) for condition in (cards.RELEASES, cards.CANDIDATES))
    schemes = cards.schemes(database) if library is None else schemes_of(database, library)
    return tuple(_spans(stored, kept, schemes))


def _cards(database: Database, condition: cards.Condition, library: str | None) -> dict[LineKey, list[Release]]:
    if library is None:
        return cards.of_every_line(database, condition)
    found: dict[LineKey, list[Release]] = {}
    for release in cards.of_library(database, condition, (library, None, None)):
        found.setdefault(release.line, []).append(release)
    return found


def _spans(
    stored: Mapping[LineKey, Sequence[Release]],
    kept: Mapping[LineKey, Sequence[Release]],
    schemes: Mapping[LineKey, str],
) -> Iterator[LineSpan]:
    for key in sorted(stored.keys() | kept.keys()):
        ranked = ((position(one.version, one.sequence, schemes[key]), one) for one in stored.get(key, ()))
        placed = sorted(ranked, key=lambda each: each[0])
        best = [one for place, one in placed if place.standing == placed[0][0].standing]
        first, latest = (placed[0][1].version, best[-1].version) if placed else ("", "")
        newest = (best or kept[key])[-1]
        ordered = tuple(one for _, one in placed)
        yield LineSpan(key, ordered, first, latest, len(kept.get(key, ())), newest.provenance)


SCHEMES_OF_LINES: Final = "0004"
"""The schema since which a line can have a scheme."""

_FOREIGN_TO_PEP440 = re.compile(r"\+|-\d|\d[A-Za-z]+$")
"""What PEP 440 reads otherwise than it was meant, so that ``auto`` left it to other schemes."""


def settle(database: Database) -> None:
    """Fix the scheme of each line whose order today's ``auto`` would change."""
    for line in lines(database):
        if scheme_of(database, line) == AUTO:
            _settle(database, line)


def _settle(database: Database, line: LineKey) -> None:
    ordered = ordered_releases(database, line.library, line.target, line.profile)
    chosen = _chosen_before(ordered)
    read, natural = SPECIFIED[chosen], SPECIFIED["plain"]
    before = sorted(ordered, key=lambda one: (read(one.version), natural(one.version), one.version))
    if before == list(ordered):
        return
    if before != sorted(ordered, key=lambda one: position(one.version, one.sequence, chosen)):
        # git-describe labels came before their tags: the one order that is not kept
        record(database, "", "scheme", str(line), f"auto; latest {ordered[-1].version}, was {before[-1].version}")
        return
    set_own_scheme(database, line, chosen)
    record(database, "", "scheme", str(line), f"{chosen}, with the existing order; was auto")


def _chosen_before(ordered: Sequence[Release]) -> str:
    """What ``auto`` was for the labels of a line."""
    return next(scheme for scheme in SCHEMES if all(_meant(scheme, release.version) for release in ordered))


def _meant(scheme: str, label: str) -> bool:
    if scheme == "pep440" and _FOREIGN_TO_PEP440.search(label):
        return False
    return SPECIFIED[scheme](label) is not None
