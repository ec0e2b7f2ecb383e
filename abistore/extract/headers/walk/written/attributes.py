"""What attributes and specifiers say of a declaration: deprecated, nodiscard, constexpr, where it is available."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ctypes import byref, c_int
from typing import Final

from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang, PlatformAvailability, Text, Version
from abistore.model.declared import Trait

DEPRECATED: Final = 1
TERSE: Final = 17
"""CXPrintingPolicy_TerseOutput: declarations without bodies."""

MOST_PLATFORMS: Final = 32
NODISCARD: Final = re.compile(r"\[\[(?:\w+::)?nodiscard\b|\bwarn_unused(?:_result)?\b")
PROMISE: Final = re.compile(
    r"(?:__attribute__\(\(|\[\[gnu::)(?:__)?"
    r"(returns_nonnull|pure|const|malloc|assume_aligned\([^()]*\)|alloc_align\([^()]*\))(?:__)?(?!\w)"
)
"""Attributes of functions by which compilers leave something out of the code of callers."""
STOP: Final = re.compile(r"(?:__attribute__\(\(|\[\[(?:gnu|clang)::)(?:__)?(error|unavailable|warning)(?:__)?(?!\w)")
"""Attributes of what compilers refuse, or warn of, where it is used."""
TEXT: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
CONSTEXPR: Final = re.compile(r"\b(?:constexpr|consteval)\b")


class Attributes:
    """Reads what stands around declarations, macros replaced."""

    def __init__(self, lib: LibClang) -> None:
        self._lib = lib
        self._policy: object = None

    def printed(self, cursor: Cursor) -> str:
        """A declaration as libclang prints it: with its attributes, without its body."""
        lib = self._lib
        if self._policy is None:
            self._policy = lib.getCursorPrintingPolicy(cursor)
            lib.PrintingPolicy_setProperty(self._policy, TERSE, 1)
        return lib.text(lib.getCursorPrettyPrinted(cursor, self._policy))

    def close(self) -> None:
        """Frees what printing needs."""
        if self._policy is not None:
            self._lib.PrintingPolicy_dispose(self._policy)
            self._policy = None

    def traits(self, cursor: Cursor, printed: str) -> Iterator[Trait]:
        """What attributes say. ``printed`` is empty for a declaration without any."""
        if printed:
            if NODISCARD.search(printed):
                yield "nodiscard"
            stops = {match[1] for match in STOP.finditer(TEXT.sub("", printed))}
            if stops - {"warning"}:
                yield "refused"
            if "warning" in stops or self._lib.getCursorAvailability(cursor) == DEPRECATED:
                yield "deprecated"

    @staticmethod
    def promises(printed: str) -> tuple[str, ...]:
        """What a function promises its callers: ``pure``, ``returns_nonnull``, ``assume_aligned(64)``."""
        return tuple(sorted({each[1] for each in PROMISE.finditer(TEXT.sub("", printed))}))

    def availability(self, cursor: Cursor) -> tuple[str, ...]:
        """Since when a declaration is there, by platform: ``macos introduced=10.15 deprecated=11.0``."""
        lib = self._lib
        found = (PlatformAvailability * MOST_PLATFORMS)()
        flags, texts = (c_int(), c_int()), (Text(), Text())
        count = lib.getCursorPlatformAvailability(
            cursor, byref(flags[0]), byref(texts[0]), byref(flags[1]), byref(texts[1]), found, MOST_PLATFORMS
        )
        for text in texts:
            lib.disposeString(text)
        platforms = [self._platform(each) for each in found[: min(count, MOST_PLATFORMS)]]
        for each in found[: min(count, MOST_PLATFORMS)]:
            lib.disposeCXPlatformAvailability(byref(each))
        return tuple(sorted(platforms))

    def _platform(self, availability: PlatformAvailability) -> str:
        name = self._lib.getCString(availability.platform)
        words = [name.decode(errors="replace") if name else "unknown"]
        for word in ("introduced", "deprecated", "obsoleted"):
            version = _version(getattr(availability, word))
            if version:
                words.append(f"{word}={version}")
        if availability.unavailable:
            words.append("unavailable")
        return " ".join(words)


def _version(version: Version) -> str:
    parts = [version.major, version.minor, version.subminor]
    return ".".join(str(part) for part in parts if part >= 0)
