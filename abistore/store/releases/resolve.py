"""What a reference such as ``libfoo@latest`` or a digest prefix means."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from shlex import quote

from sqlalchemy import ColumnElement, and_, case, func, select

from abistore.errors import AmbiguousReference, SnapshotNotFound
from abistore.model.history import CANDIDATE, DEFAULT_CHANNEL, LineKey, Release
from abistore.model.labels.blanks import check_not_blank
from abistore.model.labels.naming import channel_in
from abistore.model.words.nearness import LOOSELY_ALIKE, close, did_you_mean, near
from abistore.store.database.database import Database
from abistore.store.database.failures import damaged
from abistore.store.releases import baselines, cards
from abistore.store.releases.releases import by_line, candidates, elsewhere, foremost, lines, no_library, releases

LISTED = 8
_DIGEST = re.compile(r"[0-9a-f]{6,32}")


def resolve(database: Database, reference: str, *, target: str | None = None, profile: str | None = None) -> Release:
    """The one release that ``reference`` names.

    ``library@version``, ``library@latest``, ``library@prev``, ``library@baseline[:channel]``,
    ``library@candidate:version``, or at least six hexadecimal digits of a digest. Raises :class:`SnapshotNotFound`
    where there is none, or more than one.
    """
    library, at, label = reference.partition("@")
    check_not_blank("the profile", profile)
    if not at:
        return _by_digest(database, reference, target, profile)
    if label.startswith(CANDIDATE):
        return _candidate(database, reference, target, profile)
    found = releases(database, library, target, profile)
    if not found:
        raise no_library(database, library, target, profile)
    candidates = [release for line in by_line(found).values() for release in _labelled(database, line, label)]
    if not candidates:
        raise _no_label(database, library, label, found)
    return _only(reference, candidates)


def _candidate(database: Database, reference: str, target: str | None, profile: str | None) -> Release:
    library, _, label = reference.partition("@")
    version = label.removeprefix(CANDIDATE)
    kept = candidates(database, library, target, profile)
    found = [candidate for candidate in kept if candidate.version == version]
    if found:
        return _only(reference, found)
    if not kept and not releases(database, library, target, profile):
        raise no_library(database, library, target, profile)
    names = list(dict.fromkeys(candidate.version for candidate in kept))
    hint = f"kept: {', '.join(names)}" if names else "no candidate is kept; `abistore list` shows the releases"
    raise SnapshotNotFound(f"{reference}: no such candidate", hint)


def _labelled(database: Database, line: Sequence[Release], label: str) -> Sequence[Release]:
    """What ``label`` names among the releases of one line, which are in release order: at most one."""
    if label == "latest":
        return foremost(database, line)[-1:]
    if label == "prev":
        return foremost(database, line)[-2:-1]
    channel = channel_in(label)
    version = label if channel is None else baselines.current(database, line[0].line, channel)
    return [release for release in line if release.version == version]


def _only(reference: str, candidates: Sequence[Release]) -> Release:
    if len(candidates) > 1:
        # the profile that a caller means who says none
        candidates = [release for release in candidates if release.line.profile == "default"] or candidates
    if len(candidates) == 1:
        return candidates[0]
    lines_ = "; ".join(f"--target {release.line.target} --profile {release.line.profile}" for release in candidates)
    raise AmbiguousReference(f"{reference}: stored in {len(candidates)} lines", f"say which: {lines_}")


def _no_label(database: Database, library: str, label: str, found: Sequence[Release]) -> SnapshotNotFound:
    channel = channel_in(label)
    if label == "prev":
        return SnapshotNotFound(f"{library}: no release before the latest", "ingest an older one")
    if channel is not None:
        return no_baseline(database, {release.line for release in found}, channel)
    channels = sorted({move.channel for move in baselines.standing(database, library)})
    versions = list(dict.fromkeys(release.version for release in found))
    if label in {candidate.version for candidate in candidates(database, library)}:
        meant = [f"{CANDIDATE}{label}"]
    else:
        meant = [f"baseline:{label}"] if label in channels else near(label, versions, alike=LOOSELY_ALIKE)
    stored = f"stored{' last' if len(versions) > LISTED else ''}: {', '.join(versions[-LISTED:])}"
    return SnapshotNotFound(f"{library}@{label}: no such version", did_you_mean(meant, stored))


def no_baseline(database: Database, meant: Collection[LineKey], channel: str) -> SnapshotNotFound:
    """Why ``channel`` names nothing in the lines that are meant: with where it is set, or what may be meant."""
    (library,) = {line.library for line in meant}
    moves = baselines.standing(database, library)
    message = f"{library}: no baseline is set in channel {channel}"
    others = [move for move in moves if move.channel == channel and move.line not in meant]
    if others:
        places = "; ".join(f"{move.line} at {move.version}" for move in others)
        hint = f"it is set for {places}, which --target and --profile choose"
        kind = elsewhere([move.line for move in others], min(line.target for line in meant))
        return kind(f"{message} of {' or '.join(map(str, sorted(meant)))}", hint)
    words = close(channel, sorted({move.channel for move in moves}))
    proposed = [f"baseline:{word}" for word in words if word != channel]
    named = "" if channel == DEFAULT_CHANNEL else f" --channel {quote(channel)}"
    command = f"abistore baseline set {quote(library)}@VERSION{named}"
    return SnapshotNotFound(message, did_you_mean(proposed, f"set it: {command}"))


def _by_digest(database: Database, reference: str, target: str | None, profile: str | None) -> Release:
    prefix = reference.lower()
    if not _DIGEST.fullmatch(prefix):
        names = {line.library for line in lines(database)}
        hint = f"say {reference}@latest or {reference}@VERSION" if reference in names else "say LIBRARY@VERSION"
        raise SnapshotNotFound(f"{reference}: neither a reference nor a digest", hint)
    found = _beginning(database, cards.SNAPSHOT.digest, prefix) or _beginning(database, cards.SNAPSHOT.former, prefix)
    if not found:
        raise SnapshotNotFound(f"{reference}: no snapshot has this digest", "`abistore list` shows the digests")
    digests = sorted({release.digest for release in found})
    if len(digests) > 1:
        raise AmbiguousReference(
            f"{reference}: {len(digests)} digests begin with it", f"give more digits: {', '.join(digests)}"
        )
    selected = [
        release
        for release in found
        if target in {None, release.line.target} and profile in {None, release.line.profile}
    ]
    if not selected:
        kind = elsewhere([release.line for release in found], target)
        raise kind(f"{reference}: not stored for {target or profile}", f"stored for {found[-1].line}")
    return _newest(database, selected)


def of_digest(database: Database, digits: str) -> tuple[Release, ...]:
    """The releases whose digest begins with ``digits``, in the order of ingestion."""
    low, high = _between(digits)
    digest = cards.SNAPSHOT.digest
    return tuple(cards.find(database, and_(cards.RELEASES, digest >= low, digest <= high)))


def _between(digits: str) -> tuple[bytes, bytes]:
    return bytes.fromhex(digits.ljust(32, "0")), bytes.fromhex(digits.ljust(32, "f"))


def _beginning(database: Database, digest: ColumnElement[bytes], prefix: str) -> list[Release]:
    """The snapshots whose ``digest``, that of today or the former one, begins so."""
    low, high = _between(prefix)
    found = cards.find(database, and_(digest >= low, digest <= high))
    # once more without the index, which may be damaged
    within = case((and_(digest >= low, digest <= high), 1), else_=0)
    ((count,),) = database.rows(select(func.coalesce(func.sum(within), 0)))
    if len(found) != count:
        raise damaged(database.where, "the index of the digests")
    return found


def _newest(database: Database, found: Sequence[Release]) -> Release:
    """Of snapshots with one content: the latest release, else the latest candidate, else the latest of all."""
    key = found[-1].line
    for current in (releases, candidates):
        stored = current(database, key.library, key.target, key.profile)
        if standing := [one for one in found if one in stored]:
            return standing[-1]
    return found[-1]
