"""Since which release each exported symbol, in each of its versions, is there without a gap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from abistore.model.history import Release
from abistore.model.names import EXPORTS, Name
from abistore.model.snapshot import Snapshot
from abistore.model.tables import Symbol

if TYPE_CHECKING:
    from abistore.store.store import Store


class SymbolAge(msgspec.Struct, frozen=True, order=True):
    """An exported symbol in one of its versions (``""`` where it has none), and the release since which it is there."""

    symbol: str
    version: str
    since: str


class AgedLibrary(msgspec.Struct, frozen=True):
    """The exports of the last of ``releases``, which all have its SONAME, oldest first; by symbol and version."""

    snapshot: Snapshot
    releases: tuple[Release, ...]
    symbols: tuple[SymbolAge, ...]


def aged(store: Store, releases: Sequence[Release]) -> AgedLibrary:
    """The exports of the last release, each with the release since which it is there under this SONAME.

    Each release costs what differs from the one before.
    """
    run = _of_one_soname(releases)
    walk = store.walk()
    since: dict[Name, dict[str, str]] = {}
    for release in run:
        step = walk.step(release)
        symbols = step.snapshot.entries.get("symbol", {})
        for name in step.changed if since else symbols:
            if name.kind in EXPORTS:
                before = since.pop(name, {})
                if now := _versions(symbols.get(name, ())):
                    since[name] = {version: before.get(version, release.version) for version in now}
    ages = (SymbolAge(name.spelling, version, first) for name, held in since.items() for version, first in held.items())
    return AgedLibrary(step.snapshot, tuple(run), tuple(sorted(ages)))


def _of_one_soname(releases: Sequence[Release]) -> Sequence[Release]:
    last = releases[-1].soname
    start = len(releases)
    while start and releases[start - 1].soname == last:
        start -= 1
    return releases[start:]


def _versions(shapes: Iterable[object]) -> list[str]:
    return [shape.version or "" for shape in shapes if isinstance(shape, Symbol)]


def by_version(symbols: Iterable[SymbolAge]) -> Mapping[str, list[str]]:
    """The symbols of each version, sorted; of an unversioned library those of each release that brought them."""
    found: dict[str, list[str]] = {}
    for each in symbols:
        found.setdefault(each.version, []).append(each.symbol)
    return found
