"""The order of a library's releases, and the note about a release that its version does not order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from abistore.model.history import LineOrder, Release
from abistore.model.labels.steps import AUTO
from abistore.model.labels.versions import LabelOrder, position, series
from abistore.service.database import Database, user, using
from abistore.service.listing import lines_of, releases_of

if TYPE_CHECKING:
    from abistore.store.store import Store


class SchemeCard(msgspec.Struct, frozen=True):
    """The version scheme of a library, and how each line is ordered."""

    library: str
    scheme: str
    lines: tuple[LineOrder, ...]


def db_scheme(library: str, scheme: str | None = None, *, database: Database = None) -> SchemeCard:
    """How a library's versions are ordered; ``scheme`` declares another order.

    Raises :class:`SnapshotNotFound` for an unknown library, :class:`UsageError` if the scheme cannot read a version.
    """
    with using(database, write=scheme is not None) as store:
        lines_of(store, library, None, None)
        orders = store.orders(library) if scheme is None else store.set_scheme(library, scheme, user())
        return SchemeCard(library, store.scheme(library), orders)


def standing_note(store: Store, release: Release) -> str:
    """The note about a release that is not ordered by its version; empty if it is."""
    scheme = store.scheme_of(release.line)
    standing = position(release.version, release.sequence, scheme).standing
    if standing is LabelOrder.VERSION:
        return ""
    behind = release not in store.foremost(releases_of(store, release.line))
    if standing is LabelOrder.UNORDERED:
        kind = "version" if scheme == AUTO else f"{scheme} version"
        latest = ", and is not @latest" if behind else ""
        return f"{release.version} is no {kind}: it stands after all versions, in the order of ingestion{latest}"
    name = series(release.version, scheme)
    return f"in series {name}: it stands after all versions without a name, and is not @latest" if behind else ""
