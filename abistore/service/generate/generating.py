"""Making a file for another tool from a stored release and the history before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from abistore.limits import limits_for
from abistore.model.history import Release
from abistore.service.database import Database, using
from abistore.service.generate.ages import AgedLibrary, aged
from abistore.service.generate.debian import debian_symbols
from abistore.service.generate.formats import GeneratedFormat
from abistore.service.generate.names import check_names
from abistore.service.generate.skip_lists import Skipped, abicc_symbols, abicc_types, abigail_suppressions, skipped
from abistore.service.generate.version_script import version_script
from abistore.service.inventory.inventory import released
from abistore.service.listing import releases_of

if TYPE_CHECKING:
    from abistore.store.store import Store

OF_HISTORY: Mapping[str, Callable[[AgedLibrary], str]] = {
    "debian-symbols": debian_symbols,
    "version-script": version_script,
}
OF_DECISIONS: Mapping[str, Callable[[Sequence[Skipped]], str]] = {
    "abigail-suppressions": abigail_suppressions,
    "abicc-skip-symbols": abicc_symbols,
    "abicc-skip-types": abicc_types,
}


class GeneratedFile(msgspec.Struct, frozen=True):
    """The text of a file, the release that it was made for, and the oldest one that it counts from."""

    format: GeneratedFormat
    release: str
    counted_from: str
    text: str


def generate(
    format: GeneratedFormat,
    reference: str,
    *,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
) -> GeneratedFile:
    """A file for another tool, about a release or the latest one of a library.

    Ages are counted from the oldest stored release with the same SONAME. Raises :class:`SnapshotNotFound`, and
    :class:`UsageError` for a format that is not for this library.
    """
    with using(database) as store, store.reading():
        release = released(store, reference, target, profile)
        with limits_for(release.declarations << 12, f"generating {format} of {release.reference}"):
            if format in OF_HISTORY:
                library = aged(store, _up_to(store, release))
                first, text = library.releases[0], OF_HISTORY[format](library)
            else:
                first, text = release, OF_DECISIONS[format](_skipped(store, release))
    return GeneratedFile(format, release.reference, first.version, text)


def _up_to(store: Store, release: Release) -> Sequence[Release]:
    ordered = releases_of(store, release.line)
    return ordered[: next(place for place, each in enumerate(ordered) if each.sequence == release.sequence) + 1]


def _skipped(store: Store, release: Release) -> Sequence[Skipped]:
    from abistore.model.judging.approvals import in_force
    from abistore.service.approvals.gate import of_library

    accepted = in_force(of_library(store.approvals(), release.line.library))
    found = skipped(store.walk().step(release).snapshot, accepted)
    check_names("a list for another checker", [each.name for each in found])
    return found
