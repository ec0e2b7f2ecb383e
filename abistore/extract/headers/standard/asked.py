"""Which headers of the C++ library the given headers include, by their text."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

from abistore.confinement import is_file
from abistore.model.blake2 import blake2b

STANDARD: Final = frozenset(
    {
        *("algorithm", "any", "array", "atomic", "barrier", "bit", "bitset", "ccomplex", "cctype", "cerrno"),
        *("cfenv", "cfloat", "charconv", "chrono", "cinttypes", "ciso646", "climits", "clocale", "cmath"),
        *("codecvt", "compare", "complex", "concepts", "condition_variable", "coroutine", "csetjmp", "csignal"),
        *("cstdalign", "cstdarg", "cstdbool", "cstddef", "cstdint", "cstdio", "cstdlib", "cstring", "ctgmath"),
        *("ctime", "cuchar", "cwchar", "cwctype", "deque", "exception", "execution", "expected", "filesystem"),
        *("format", "forward_list", "fstream", "functional", "future", "generator", "initializer_list", "iomanip"),
        *("ios", "iosfwd", "iostream", "istream", "iterator", "latch", "limits", "list", "locale", "map"),
        *("mdspan", "memory", "memory_resource", "mutex", "new", "numbers", "numeric", "optional", "ostream"),
        *("print", "queue", "random", "ranges", "ratio", "regex", "scoped_allocator", "semaphore", "set"),
        *("shared_mutex", "source_location", "span", "spanstream", "sstream", "stack", "stacktrace", "stdexcept"),
        *("stdfloat", "stop_token", "streambuf", "string", "string_view", "strstream", "syncstream"),
        *("system_error", "thread", "tuple", "type_traits", "typeindex", "typeinfo", "unordered_map"),
        *("unordered_set", "utility", "valarray", "variant", "vector", "version"),
    }
)
"""The headers of C++23 ([headers]) and those that it took out. They mean the same in any order and any number of times
([using.headers]); ``<cassert>``, which does not, is none of them."""

DIRECTIVE: Final = re.compile(r"^[ \t]*#[ \t]*([a-z]+)[ \t]*(.*)", re.MULTILINE)
MOST_FILES: Final = 2000

Text = Callable[[Path], str]
"""The text of a header."""


class StandardIncludes(msgspec.Struct, frozen=True):
    """The names of headers of the C++ library, and a digest of the text of those that include them."""

    names: tuple[str, ...] = ()
    consumers: str = ""


def standard_includes(starts: Mapping[Path, str], folders: Sequence[Path], text: Text) -> StandardIncludes:
    """What headers include of the C++ library outside of any condition, in the order in which a compiler meets it.

    ``starts`` are headers with their texts. What these include from beside them, or from ``folders``, is followed.
    """
    walk = _Includes(folders, text)
    for path, written in starts.items():
        walk.follow(path, written)
    digest = blake2b("\0".join(starts.values()).encode(errors="surrogateescape"), digest_size=16).hexdigest()
    return StandardIncludes(tuple(walk.found), digest)


class _Includes:
    """Follows includes as a compiler does."""

    def __init__(self, folders: Sequence[Path], text: Text) -> None:
        self.found: dict[str, None] = {}
        self._folders = folders
        self._text = text
        self._seen = set[str]()
        self._place = lru_cache(None)(self._find)

    def follow(self, path: Path, text: str) -> None:
        """Note what ``text`` includes, and what that includes."""
        pending = [self._next(path, text)]
        while pending:
            found = next(pending[-1], None)
            if found is None:
                pending.pop()
            elif len(self._seen) < MOST_FILES:
                pending.append(self._next(found, self._text(found)))

    def _next(self, path: Path, text: str) -> Iterator[Path]:
        """The headers of no system that a header includes, where they were not met."""
        if (real := os.path.realpath(path)) in self._seen:
            return
        self._seen.add(real)
        for name, quoted in included(text):
            place = self._place(name, path.parent if quoted else None)
            if place is not None:
                yield place
            elif name in STANDARD:
                self.found[name] = None

    def _find(self, name: str, beside: Path | None) -> Path | None:
        """The file that an include means, if no system has it."""
        around = [beside, *self._folders] if beside is not None else self._folders
        return next((found for folder in around if is_file(found := folder / name)), None)


def included(text: str) -> Iterator[tuple[str, bool]]:
    """What a header includes outside of any condition but its own guard; whether it is in quotation marks."""
    directives = DIRECTIVE.findall(text)
    guarded = len(directives) > 1 and directives[0][0].startswith("if") and directives[1][0] == "define"
    depth = 0
    for word, rest in directives:
        if word.startswith("if"):
            depth += 1
        elif word == "endif":
            depth -= 1
        elif word == "include" and depth <= guarded:
            name = rest[1:].partition(">" if rest[:1] == "<" else '"')[0]
            if rest[:1] in ("<", '"') and name:
                yield name, rest[0] == '"'
