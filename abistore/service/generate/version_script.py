"""A version script for the linker that gives each release's new symbols a version of their own (ld, "VERSION")."""

from __future__ import annotations

import re
from collections.abc import Sequence

from abistore.errors import UsageError
from abistore.service.generate.ages import AgedLibrary, by_version
from abistore.service.generate.names import check_names

PLAIN = re.compile(r"[\w.$@+-]+", re.ASCII)


def version_script(library: AgedLibrary) -> str:
    """The script. A library with symbol versions keeps them; one without gets a node for each release that added some.

    A node builds on the one before. All that no node names is local. Raises :class:`UsageError`.
    """
    if library.snapshot.target.format != "elf":
        raise UsageError(f"{library.snapshot.label}: only ELF linkers take version scripts", "generate another format")
    nodes = _kept(library) if any(each.version for each in library.symbols) else _by_release(library)
    check_names("a version script", [name for name, _ in nodes], ' {}();:,"*?[#/')
    check_names("a version script", [symbol for _, symbols in nodes for symbol in symbols], '"')
    parts, before = [], ""
    for name, symbols in nodes:
        held = [*(["global:"] if symbols else []), *(f"    {_quoted(symbol)};" for symbol in symbols)]
        held += ["local:", "    *;"] if not before else []
        body = "\n".join(f"  {line}" for line in held)
        parts.append(f"{name} {{\n{body}\n}}{f' {before}' if before else ''};\n")
        before = name
    return "\n".join(parts)


def _quoted(symbol: str) -> str:
    """A symbol that is no plain word in quotes, where it is neither a pattern nor the end of its line."""
    return symbol if PLAIN.fullmatch(symbol) else f'"{symbol}"'


def _kept(library: AgedLibrary) -> list[tuple[str, Sequence[str]]]:
    """The nodes that the library has, the oldest first; symbols without one are in the first."""
    place = {release.version: number for number, release in enumerate(library.releases)}
    born: dict[str, int] = {}
    for each in library.symbols:
        born[each.version] = min(place[each.since], born.get(each.version, len(place)))
    held = dict(by_version(library.symbols))
    bare = held.pop("", [])
    order = sorted(held, key=lambda name: (born[name], _natural(name)))
    return [(name, sorted([*held[name], *(bare if not number else [])])) for number, name in enumerate(order)]


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """``V_1.9`` before ``V_1.10``."""
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", name)]


def _by_release(library: AgedLibrary) -> list[tuple[str, Sequence[str]]]:
    stem = re.sub(r"\W", "_", library.snapshot.library).upper()
    held: dict[str, list[str]] = {}
    for each in library.symbols:
        held.setdefault(each.since, []).append(each.symbol)
    versions = [release.version for release in library.releases if release.version in held]
    return [(f"{stem}_{re.sub(r'[^0-9A-Za-z_.]', '_', version)}", held[version]) for version in versions]
