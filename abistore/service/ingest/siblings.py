"""The libraries that one package was stored with, and what its earlier releases took away and brought back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from abistore.model.history import Release
from abistore.model.judging.approvals import Approval, no_later
from abistore.model.snapshot import PackageRead
from abistore.service.judging.releases import identities_between

if TYPE_CHECKING:
    from abistore.store.store import Store


def siblings(store: Store, releases: Sequence[Release]) -> Iterator[Release]:
    """The other libraries of the packages that ``releases`` were stored from."""
    wanted = {_file_of(each) for each in releases}
    yield from (each for each in _packaged(store, releases) if _file_of(each) in wanted)


def undone_between(store: Store, before: Sequence[Release]) -> Callable[[Approval], bool]:
    """Tells of an approval of what stands between libraries whether it happened since, and is undone in ``before``.

    An earlier release has a finding where ``before``, the libraries of a release, shows it when judged as if that
    earlier one came after it.
    """
    last = before[0].version

    @cache
    def earlier() -> dict[str, list[Release]]:
        found: dict[str, list[Release]] = {}
        for each in _packaged(store, before):
            found.setdefault(each.version, []).append(each)
        return found

    @cache
    def found(version: str) -> frozenset[str]:
        return identities_between(store.load_many(before), store.load_many(earlier()[version]))

    def undone(one: Approval) -> bool:
        scheme, wanted = store.scheme(one.library), one.identity.partition("-")[0]
        return bool(one.stood_at) and any(
            wanted in found(each)
            for each in earlier()
            if each != last and no_later(one.stood_at, each, scheme) and no_later(each, last, scheme)
        )

    return undone


def _file_of(release: Release) -> tuple[object, ...]:
    """What the libraries of one release of a package share; the architectures of one file have its digest."""
    is_packaged = isinstance(release.provenance.package, PackageRead)
    return (_package_of(release), release.version, "" if is_packaged else release.provenance.sha256)


def _packaged(store: Store, releases: Sequence[Release]) -> Iterator[Release]:
    """All releases of the packages that ``releases`` were stored from."""
    wanted = {key for each in releases if (key := _package_of(each))}
    if not wanted:
        return
    is_packaged = any(isinstance(each.provenance.package, PackageRead) for each in releases)
    lines = store.lines() if is_packaged else [each.line for each in releases]
    for library in sorted({key.library for key in lines}):
        yield from (each for each in store.releases(library) if not each.candidate and _package_of(each) in wanted)


def _package_of(release: Release) -> tuple[str, ...] | None:
    """What the libraries of one package share in all of its releases: its name, platform and profile.

    The architectures of a universal file are libraries of one name.
    """
    package, line = release.provenance.package, release.line
    if isinstance(package, PackageRead):
        return (package.name or package.file, line.target, line.profile)
    return (line.library, line.profile) if release.target.format == "macho" else None
