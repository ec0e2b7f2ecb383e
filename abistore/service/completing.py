"""Words that a shell may offer: libraries, references, channels and policies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from abistore.model.history import CANDIDATE
from abistore.service.database import Database, using
from abistore.service.listing import channels_of, releases_of

if TYPE_CHECKING:
    from abistore.model.history import LineKey
    from abistore.store.store import Store

LABELS = ("latest", "prev")
MOST_IDENTITIES = 200
"""How many findings are looked at: a shell shows no more, and further digits tell which are meant."""


def libraries(*, database: Database = None) -> tuple[str, ...]:
    """The names of all stored libraries, sorted. Raises :class:`StoreError`."""
    with using(database) as store:
        return tuple(sorted({key.library for key in store.lines()}))


def references(start: str, *, database: Database = None) -> tuple[str, ...]:
    """Every reference that begins with ``start``, as in ``libfoo@1.2.0``, in release order. Raises :class:`StoreError`.

    Only libraries that ``start`` still allows are read.
    """
    library, marked, _ = start.partition("@")
    with using(database) as store:
        keys = [key for key in store.lines() if (key.library == library if marked else key.library.startswith(library))]
        found = dict.fromkeys(f"{key.library}@{label}" for key in keys for label in _labels(store, key))
    return tuple(each for each in found if each.startswith(start))


def channels(library: str | None = None, *, database: Database = None) -> tuple[str, ...]:
    """The baseline channels of a library (``None``: of all), sorted. Raises :class:`StoreError`."""
    with using(database) as store:
        return tuple(sorted({move.channel for move in store.baselines(library)}))


def counterparts(library: str | None = None, *, database: Database = None) -> tuple[str, ...]:
    """What a release may be judged against: ``prev``, ``baseline:main``, and the versions of a library that is known.

    Raises :class:`StoreError`.
    """
    with using(database) as store:
        versions = [release.version for release in store.releases(library)] if library else []
        moves = sorted({move.channel for move in store.baselines(library)})
    return tuple(dict.fromkeys(("prev", "baseline", *(f"baseline:{channel}" for channel in moves), *versions)))


def identities(start: str, *, database: Database = None) -> tuple[str, ...]:
    """The identities of findings in stored verdicts that begin with ``start``, sorted; some of them, if many do.

    Raises :class:`StoreError`.
    """
    with using(database) as store:
        found, _ = store.findings(start.lower(), MOST_IDENTITIES)
    return tuple(sorted({one.identity for one in found}))


def policies() -> tuple[str, ...]:
    """The policies that need no file."""
    from abistore.compare.policies.policy import PROFILES

    return PROFILES


def _labels(store: Store, key: LineKey) -> Iterator[str]:
    yield from (release.version for release in releases_of(store, key))
    yield from LABELS
    yield from (f"baseline:{channel}" for channel in sorted(channels_of(store, key)))
    yield from (f"{CANDIDATE}{kept.version}" for kept in store.candidates(key.library, key.target, key.profile))
