"""The lines of a Debian symbols file: libraries, symbols with tags and versions, included files (deb-symbols(5))."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from abistore.errors import ExtractError, LimitExceeded

HEADER: Final = re.compile(r"(?P<name>[^\s#|*(]\S*\.so(?:\.\S+)?|[^\s#|*(]\S*) +(?P<package>[a-z0-9][a-z0-9.+-]*)\b.*")
SYMBOL: Final = re.compile(
    r"\s+(?:\((?P<tags>[^)]*)\))?(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<plain>[^\s\"'(]\S*))\s+(?P<version>\S+)(?:\s.*)?"
)
MISSING: Final = re.compile(r"#\s*(?:MISSING|DEPRECATED):\s*(?P<version>[^#\s]+)\s*#\s*(?P<rest>.+)")
INCLUDE: Final = re.compile(r'(?:\((?P<tags>[^)]*)\))?#include\s+"(?P<name>[^"]+)"')
MOST_INCLUDED: Final = 100
MOST_DEPTH: Final = 8


class SymbolLine(msgspec.Struct, frozen=True):
    """One symbol, or a pattern of some: ``version`` is the one that ``name`` ends with behind ``@``.

    ``since`` is the lowest package version that has it, ``gone`` the first that has it no more.
    """

    name: str
    version: str
    since: str
    tags: tuple[tuple[str, str], ...] = ()
    gone: str = ""

    def tag(self, name: str) -> str | None:
        """The value of a tag, empty for one without a value; ``None`` where it is not there."""
        return dict(self.tags).get(name)


class SymbolsOfLibrary(msgspec.Struct, frozen=True):
    """What a file says of one library."""

    soname: str
    package: str
    symbols: list[SymbolLine]


def read_lines(text: str, label: str, include: Callable[[str], str]) -> list[SymbolsOfLibrary]:
    """The libraries of a file. ``include`` gives the text of another file. Raises :class:`ExtractError`."""
    found: list[SymbolsOfLibrary] = []
    for number, line, tags in _Included(label, include).lines(text):
        stripped = line.strip()
        if not stripped or (stripped.startswith(("|", "*")) and not line[:1].isspace()):
            continue
        if line.startswith("#") and not MISSING.match(line):
            continue
        if not line[:1].isspace() and not line.startswith(("#", "(")):
            match = HEADER.fullmatch(line.rstrip())
            if match is None:
                raise _malformed(label, number)
            found.append(SymbolsOfLibrary(match["name"], match["package"], []))
            continue
        symbol = _symbol(line.rstrip(), tags)
        if symbol is None or not found:
            raise _malformed(label, number)
        found[-1].symbols.append(symbol)
    return found


def _malformed(label: str, number: int) -> ExtractError:
    return ExtractError(f"{label}: line {number} is not of a symbols file", "see deb-symbols(5)")


def _symbol(line: str, around: str) -> SymbolLine | None:
    gone = ""
    if missing := MISSING.fullmatch(line.strip()):
        gone, line = missing["version"], f" {missing['rest']}"
    match = SYMBOL.fullmatch(line if line[:1].isspace() else f" {line}")
    if match is None:
        return None
    whole = match["double"] or match["single"] or match["plain"] or ""
    name, at, version = whole.rpartition("@")
    tags = _tags("|".join(filter(None, (around, match["tags"]))))
    if not at:
        name, version = whole, ""
    if not name.strip():
        return None
    return SymbolLine(name, version, match["version"], tags, gone)


def _tags(text: str) -> tuple[tuple[str, str], ...]:
    pairs = (part.partition("=") for part in text.split("|") if part)
    return tuple((name.strip(), value.strip()) for name, _, value in pairs)


class _Included:
    """The lines of a file with those of the files that it includes in their place."""

    def __init__(self, label: str, include: Callable[[str], str]) -> None:
        self._label = label
        self._include = include
        self._count = 0

    def lines(self, text: str, tags: str = "", depth: int = 0) -> Iterator[tuple[int, str, str]]:
        """Each line with its number and the tags that hold for all of its file."""
        for number, line in enumerate(text.splitlines(), 1):
            match = INCLUDE.fullmatch(line.strip())
            if match is None:
                yield number, line, tags
                continue
            self._count += 1
            if depth >= MOST_DEPTH or self._count > MOST_INCLUDED:
                raise LimitExceeded(f"{self._label}: includes more than {MOST_INCLUDED} files, or too deeply")
            inner = "|".join(filter(None, (tags, match["tags"])))
            yield from self.lines(self._include(match["name"]), inner, depth + 1)
