"""Debian's ``symbols`` file: the version from which on a package has each symbol (deb-symbols(5))."""

from __future__ import annotations

from abistore.errors import UsageError
from abistore.service.generate.ages import AgedLibrary
from abistore.service.generate.names import check_names


def debian_symbols(library: AgedLibrary) -> str:
    """The file for the library's package, as ``dpkg-gensymbols`` writes it. Raises :class:`UsageError`.

    Each version definition stands among the symbols, as it does in the export table, with the release that brought it.
    """
    soname = library.snapshot.facts.name if library.snapshot.facts else None
    if library.snapshot.target.format != "elf" or not soname:
        raise UsageError(
            f"{library.snapshot.label}: Debian's symbols files are for ELF libraries with a SONAME",
            "generate another format",
        )
    check_names("a symbols file", [soname, *(each.symbol + each.version for each in library.symbols)], " @")
    since = {(each.symbol, each.version or "Base"): each.since for each in library.symbols}
    order = {release.version: place for place, release in enumerate(library.releases)}
    for each in library.symbols:
        node = (each.version, each.version)
        if each.version and order[each.since] <= order[since.get(node, each.since)]:
            since[node] = each.since
    lines = [f" {symbol}@{version} {first}" for (symbol, version), first in sorted(since.items())]
    return "\n".join([f"{soname} {package_of(soname)} #MINVER#", *lines, ""])


def package_of(soname: str) -> str:
    """The package's name by Debian's policy, section 8.1: ``libfoo1`` of ``libfoo.so.1``, ``libfoo2-1`` of
    ``libfoo2.so.1``.
    """
    name, _, version = soname.partition(".so")
    version = version.removeprefix(".")
    joint = "-" if version and name[-1:].isdigit() else ""
    return f"{name}{joint}{version}".lower().replace("_", "-")
