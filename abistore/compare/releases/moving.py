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
    return depended != before and is_called_by(depended, soname)


def is_called_by(package: str, soname: str) -> bool:
    """Whether a Debian package is called by a SONAME: ``libfoo1`` by ``libfoo.so.1``, ``libv4-1`` by ``libv4.so.1``."""
    match = _VERSIONED.fullmatch(soname)
    if match is None:
        return False
    name, version = (match["whole"], "") if match["whole"] else (match["name"], match["version"])
    between = "-" if version and name[-1:].isdigit() else ""
    called = re.escape(f"{name}{between}{version}".lower().replace("_", "-"))
    called = re.sub(r"(?<=[a-z])\\-(?=\d)", "-?", called)  # libglib2.0-0 has libglib-2.0.so.0
    return re.fullmatch(rf"{called}([a-z]\w*)?", package) is not None
