"""Exports that only some lines of a library have at one version, such as a symbol of one architecture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from abistore.limits import limits_for
from abistore.model.cpp_names.demangle import demangle
from abistore.model.history import LineKey, Release
from abistore.model.judging.standing import LineDifference
from abistore.model.names import EXPORTS

if TYPE_CHECKING:
    from abistore.store.store import Store


def differences(store: Store, releases: Sequence[Release]) -> tuple[LineDifference, ...]:
    """Exports that only some lines of a library have, sorted.

    Names are compared without parameters: ``size_t`` is spelled ``m`` in symbols on one machine and ``j`` on another.
    """
    found: list[LineDifference] = []
    by_library = sorted(releases, key=lambda each: each.line)
    for library, group in groupby(by_library, key=lambda each: each.line.library):
        lines = {each.line: _exports(store, each) for each in group}
        if len(lines) > 1:
            found.extend(_between(library, lines))
    return tuple(found)


def _between(library: str, lines: dict[LineKey, dict[str, list[str]]]) -> Iterator[LineDifference]:
    for name in sorted({name for exports in lines.values() for name in exports}):
        having = tuple(line for line, exports in lines.items() if name in exports)
        if len(having) < len(lines):
            symbols = sorted({symbol for line in having for symbol in lines[line][name]})
            lacking = tuple(line for line in lines if line not in having)
            yield LineDifference(library, name, tuple(symbols), having, lacking)


def _exports(store: Store, release: Release) -> dict[str, list[str]]:
    """The exported symbols of a release by the name that a programmer gives them, without parameters."""
    with limits_for(release.declarations << 10, f"reading the exports of {release.reference}"):
        entries = store.load(release).entries.get("symbol", {})
        found: dict[str, list[str]] = {}
        for name in sorted(each for each in entries if each.kind in EXPORTS):
            found.setdefault(called(name.spelling), []).append(name.spelling)
        return found


def called(symbol: str) -> str:
    """A symbol as it is called on every machine: demangled, and without its parameters.

    ``geo::area`` of ``_ZN3geo4areaEm`` and of ``_ZN3geo4areaEj``; ``area`` of a C function.
    """
    text = demangle(symbol)
    if text == symbol:
        return symbol
    depth = 0
    for at, letter in enumerate(text):
        if letter == "<":
            depth += 1
        elif letter == ">":
            depth -= 1
        elif letter == "(" and depth == 0 and at and not text.startswith("(anonymous", at):
            if text.endswith("operator", 0, at):
                continue
            return text[:at]
    return text
