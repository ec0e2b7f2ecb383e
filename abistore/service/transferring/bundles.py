"""Bundles: what a store holds as one file, and what a bundle or another store holds, brought into a store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from abistore.errors import BundleError, SnapshotNotFound, UsageError
from abistore.limits import limits_for
from abistore.model.history import Release
from abistore.model.labels.blanks import Given, check_not_blank
from abistore.model.labels.naming import check_name
from abistore.model.stores.merging import Merged, Side
from abistore.service.database import Database, line_target, locate, user, using
from abistore.urls import masked

if TYPE_CHECKING:
    from abistore.store.bundles.merging import MergeWish
    from abistore.store.store import Store

UNPACKED = 16
"""How many times its size a bundle unpacks to, as far as limits of time and memory know; real ones ten times."""


class Bundle(msgspec.Struct, frozen=True):
    """A bundle: its bytes, and what of the store is in it: all, or these libraries and releases."""

    data: bytes
    whole: bool
    libraries: tuple[str, ...] = ()
    releases: tuple[Release, ...] = ()


class MergePlan(Given, frozen=True, kw_only=True):
    """How to bring one store into another: which side wins where both say something else, or only tell what came."""

    prefer: Side | None = None
    dry_run: bool = False
    actor: str = ""


def export_bundle(
    what: Sequence[str] = (),
    *,
    channel: str | None = None,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
) -> Bundle:
    """The store as one file, or of it the libraries and releases ``what``, with all that was said and judged of them.

    ``channel`` adds the releases at which this baseline stands, of every line. Raises :class:`SnapshotNotFound`.
    """
    from abistore.store.bundles.selection import BundleSelection

    check_not_blank("the profile", profile)
    with using(database) as store, store.reading():
        known = {line.library for line in store.lines()}
        libraries = tuple(sorted({word for word in what if word in known}))
        own = line_target(store, target)
        named = [store.resolve(word, target=own, profile=profile) for word in what if word not in known]
        standing = _standing(store, channel) if channel is not None else []
        releases = tuple(sorted({one.digest + str(one.line): one for one in (*named, *standing)}.items()))
        chosen = tuple(release for _, release in releases)
        data = store.bundle(BundleSelection(libraries, chosen))
    return Bundle(data, not libraries and not chosen, libraries, chosen)


def _standing(store: Store, channel: str) -> list[Release]:
    check_name("channel", channel)
    moves = [move for move in store.baselines() if move.channel == channel]
    if not moves:
        raise SnapshotNotFound(f"no baseline is called {channel}", "`abistore baseline list` shows what there is")
    return [
        store.resolve(f"{move.line.library}@baseline:{channel}", target=move.line.target, profile=move.line.profile)
        for move in moves
    ]


def db_merge(other: str | Path, plan: MergePlan | None = None, *, database: Database = None) -> Merged:
    """Bring what a bundle, or another store, holds into this one, which is created where there is none.

    Raises :class:`VersionTaken` where both sides say something else and the plan prefers none, :class:`BundleError`
    where a bundle is damaged. The store then stays as it was.
    """
    from abistore.store.bundles.merging import MergeWish

    plan = plan or MergePlan()
    wish = MergeWish(masked(str(other)), plan.prefer, plan.dry_run, plan.actor or user())
    if is_bundle(other):
        return _merge_file(Path(other), wish, database)
    if str(other) == locate(database):
        raise UsageError(f"{masked(str(other))}: a store cannot be brought into itself", "name another store")
    from abistore.store.bundles.gather import gather

    with using(other) as source, using(database, write=True, create=True) as store:
        return store.merge(gather(source.database), wish)


def is_bundle(path: str | Path) -> bool:
    """Whether a path is that of a bundle; one that cannot be read is none."""
    from abistore.store.bundles import file

    try:
        if not Path(path).is_file():
            return False
        with Path(path).open("rb") as opened:
            return file.is_bundle(opened.read(256))
    except (OSError, ValueError):
        return False


def import_bundles(paths: Sequence[Path], plan: MergePlan, *, database: Database = None) -> tuple[Merged, ...]:
    """Bring bundles into the store, one by one. Raises :class:`UsageError` where another file is among them."""
    for path in paths:
        if not is_bundle(path):
            raise UsageError(
                f"{path}: not a bundle, and bundles are imported by themselves", "import it in another call"
            )
    return tuple(db_merge(path, plan, database=database) for path in paths)


def _merge_file(path: Path, wish: MergeWish, database: Database) -> Merged:
    from abistore.store.bundles import file

    try:
        limits = limits_for(UNPACKED * path.stat().st_size, f"importing {path}")
        with path.open("rb") as opened, limits, using(database, write=True, create=True) as store:
            return store.merge(file.read(opened, str(path)), wish)
    except OSError as error:
        raise BundleError(f"{path}: cannot be read ({error.strerror})", "name a file that can be read") from error
