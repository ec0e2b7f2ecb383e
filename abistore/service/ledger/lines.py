"""The lines of one version: all targets, profiles and libraries of it, with one verdict over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from abistore.errors import SnapshotNotFound
from abistore.model.history import LineKey, Release
from abistore.model.judging.standing import FoldedRelease, LineOfRelease, worst_of
from abistore.model.labels.versions import position
from abistore.model.snapshot import PackageRead
from abistore.model.words.counting import of_all
from abistore.service.database import line_target
from abistore.service.ledger.line_differences import differences
from abistore.service.ledger.standings import Keep, ledger_of
from abistore.service.listing import lines_of, releases_of

if TYPE_CHECKING:
    from abistore.model.labels.windows import DeprecationWindow
    from abistore.service.judging.ruling import Ruling
    from abistore.store.store import Store


class LinesAtVersion(NamedTuple):
    """The lines of some libraries, each with its release of one version; ``None`` is a hole.

    ``why`` says of each hole since when, or until when, the line has releases.
    """

    library: str
    version: str
    keys: tuple[LineKey, ...]
    releases: tuple[Release | None, ...]
    why: tuple[str, ...]


def lines_at(store: Store, reference: str, target: str | None = None, profile: str | None = None) -> LinesAtVersion:
    """The lines that a library, or ``library@version``, means: by default its latest version over all lines.

    Libraries that came in one package or folder with this version, or with the one before it in a line, belong to it.
    Raises :class:`SnapshotNotFound`.
    """
    library, _, version = reference.partition("@")
    keys = lines_of(store, library, target, profile)
    ordered = {key: releases_of(store, key) for key in keys}
    if version in {"", "latest"}:
        version = _latest(store, library, ordered)
    elif not any(each.version == version for releases in ordered.values() for each in releases):
        found = store.resolve(reference, target=line_target(store, target), profile=profile)
        version = found.version
    names = sorted({library, *_companions(store, ordered, version)})
    for name in names[:]:
        if name != library:
            ordered |= {key: releases_of(store, key) for key in lines_of(store, name, target, profile)}
    every = tuple(sorted(ordered))
    releases = tuple(next((each for each in ordered[key] if each.version == version), None) for key in every)
    why = tuple("" if found else _hole(ordered[key], version) for key, found in zip(every, releases, strict=True))
    return LinesAtVersion(library, version, every, releases, why)


def _latest(store: Store, library: str, ordered: dict[LineKey, tuple[Release, ...]]) -> str:
    ends = [store.foremost(each)[-1] for each in ordered.values() if each]
    if not ends:
        raise SnapshotNotFound(f"{library} has no releases yet, only candidates", f"`abistore list {library}`")
    scheme = store.scheme(library)
    return max(ends, key=lambda each: position(each.version, each.sequence, scheme)).version


def _hole(releases: Sequence[Release], version: str) -> str:
    if not releases:
        return "has candidates only"
    if len(releases) == 1:
        return f"no release {version}: its only release is {releases[0].version}"
    return f"no release {version}: its releases are {releases[0].version} to {releases[-1].version}"


def _companions(store: Store, ordered: dict[LineKey, tuple[Release, ...]], version: str) -> Iterator[str]:
    """The libraries that came in a package with this version of a line, or with the release before it."""
    for key, releases in ordered.items():
        at = next((place for place, each in enumerate(releases) if each.version == version), None)
        near = releases[-1:] if at is None else releases[max(0, at - 1) : at + 1]
        for each in near:
            package = each.provenance.package
            if isinstance(package, PackageRead) and package.sha256 and package.libraries > 1:
                yield from (one.line.library for one in store.of_package(package.sha256, each.version, key.profile))


def folded(
    store: Store,
    meant: LinesAtVersion,
    by: Ruling | None = None,
    *,
    keep: Keep | None = None,
    today: date | None = None,
    deprecation: DeprecationWindow | None = None,
) -> FoldedRelease:
    """The lines of a version with their ledgers, folded: the worst verdict, and nothing compatible beside a hole."""
    ledger = partial(ledger_of, store, by=by, keep=keep, today=today, deprecation=deprecation)
    rows = tuple(
        LineOfRelease(key, ledger(found) if found else None, why)
        for key, found, why in zip(meant.keys, meant.releases, meant.why, strict=True)
    )
    holes = sum(row.ledger is None for row in rows)
    begun = [row for row in rows if row.ledger is None or row.ledger.standings]  # a new line has no users to break
    verdicts = [row.ledger.worst if row.ledger else None for row in begun]
    return FoldedRelease(
        meant.library,
        meant.version,
        tuple(sorted({key.library for key in meant.keys})),
        rows,
        worst_of(verdicts),
        holes,
        differences(store, [found for found in meant.releases if found is not None]),
        tuple(_remarks(rows, holes)),
    )


def _remarks(rows: Sequence[LineOfRelease], holes: int) -> Iterator[str]:
    """Sentences about several lines: those that break and those that do not, and holes."""
    known = {row.line: row.ledger.worst for row in rows if row.ledger and row.ledger.worst is not None}
    if len(set(known.values())) > 1:
        parts = ", ".join(f"{verdict.name} on {_line(line, rows)}" for line, verdict in known.items())
        yield f"the lines differ: {parts}"
    if holes:
        yield f"{of_all(holes, len(rows), 'line')} missing: nothing is known to be compatible there"


def _line(line: LineKey, rows: Sequence[LineOfRelease]) -> str:
    several = len({row.line.library for row in rows}) > 1
    profiles = len({row.line.profile for row in rows}) > 1
    return " ".join(filter(None, (line.library if several else "", line.target, line.profile if profiles else "")))
