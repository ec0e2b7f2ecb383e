"""Libraries that moved to another package of a distribution, on which the package that had them depends."""

from __future__ import annotations

import re
from collections.abc import Iterable

from abistore.model.snapshot import PackageRead, Snapshot

_VERSIONED = re.compile(r"(?P<name>.+?)\.so\.(?P<version>.+)|(?P<whole>.+-[\d.]+)\.so")


def moved_to(library: Snapshot, release: Iterable[Snapshot]) -> str | None:
    """What the packages of ``release`` depend on, as they say it, that has a library which is in none of them.

    RPM's dependencies name the SONAME. Those of Debian name a package, which is called by it (Policy, 8.1); symbols
    of a transition may follow: ``libfoo1t64``.
    """
    soname = library.facts.name if library.facts else None
    before = library.provenance.package
    if not soname or not isinstance(before, PackageRead) or not before.is_distributed:
        return None
    packages = {each.provenance.package for each in release}
    found = {depended for each in packages if isinstance(each, PackageRead) for depended in each.depends}
    return next((each for each in sorted(found) if _has(each, soname, before.name)), None)


def _has(depended: str, soname: str, before: str) -> bool:
    if depended.partition("(")[0] == soname:
        return True
    called = package_called(soname)
    return (
        called is not None
        and depended != before
        and re.fullmatch(rf"{re.escape(called)}([a-z]\w*)?", depended) is not None
    )


def package_called(soname: str) -> str | None:
    """The name of a Debian package with a library: ``libfoo1`` of ``libfoo.so.1``, ``libv4-1`` of ``libv4.so.1``."""
    match = _VERSIONED.fullmatch(soname)
    if match is None:
        return None
    name, version = (match["whole"], "") if match["whole"] else (match["name"], match["version"])
    between = "-" if version and name[-1:].isdigit() else ""
    return f"{name}{between}{version}".lower().replace("_", "-")
