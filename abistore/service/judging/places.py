"""Remarks about packages: libraries that were not read, parts of two versions, and files that moved."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from abistore.errors import EvidenceMissing
from abistore.model.labels.sonames import library_name
from abistore.model.snapshot import PackageRead, Provenance

_VERSION = re.compile(r"\d+(?:\.\d+)+[^/]*")


def said_of(library: str, version: str, old: Provenance, new: Provenance) -> tuple[str, ...]:
    """Remarks about the packages of two snapshots of a library; ``version`` is that of the new one."""
    return (*in_doubt(f"{library} {version}".strip(), [new]), *moved(library, old, new))


def in_doubt(release: str, members: Iterable[Provenance]) -> Iterator[str]:
    """Libraries of a release that nothing was compared of, as another one has their name, and what is in doubt."""
    packages = [each for each in map(_package, members) if each is not None]
    if twins := _twins(packages):
        yield f"not compared of {release}: {', '.join(twins)}; pick one with --only"
    yield from sorted({doubt for each in packages for doubt in each.doubts})


def unjudged_twins(package: str, members: Iterable[Provenance]) -> EvidenceMissing | None:
    """The error that a package holds further builds of its libraries, of which a gate judges one each."""
    twins = _twins(each for each in map(_package, members) if each is not None)
    if not twins:
        return None
    hint = "judge each: pick it with --only PATTERN; or judge without them: --require none"
    return EvidenceMissing(f"{package}: not judged: {', '.join(twins)}", hint)


def _twins(packages: Iterable[PackageRead]) -> list[str]:
    return sorted({twin for each in packages for twin in each.twins})


def moved(library: str, old: Provenance, new: Provenance) -> Iterator[str]:
    """The remark that a library moved to another folder, or to a file of another name.

    A folder that differs in a version only is the same one: ``foo-1.0/lib`` and ``foo-1.1/lib``.
    """
    before, after = _package(old), _package(new)
    if before is None or after is None or not (before.member and after.member):
        return
    places = f"{after.member}, before {before.member}; see that what asks for it finds it"
    if _folder(before) != _folder(after):
        yield f"{library} lies elsewhere: {places}"
    elif _is_called_so(before, library) and not _is_called_so(after, library):
        yield f"{library} is in a file of another name: {places}"


def _package(provenance: Provenance) -> PackageRead | None:
    return provenance.package if isinstance(provenance.package, PackageRead) else None


def _folder(package: PackageRead) -> str:
    """The folder in the package, without what only tells its version."""
    folder = package.member.rpartition("/")[0]
    return _VERSION.sub("#", folder.replace(package.version, "#") if package.version else folder)


def _is_called_so(package: PackageRead, library: str) -> bool:
    return library_name(package.member.rpartition("/")[2]) == library
