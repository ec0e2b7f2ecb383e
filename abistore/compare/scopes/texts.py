"""How names mention scopes: the text of a name, its qualified path, and both with scopes that moved marked."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.emitted import variant
from abistore.model.cpp_names.qualified import entity
from abistore.model.mangling.symbols import is_mangled, is_member_of_std, may_be_nested, plain_path

FOREIGN: Final = frozenset({"std", "__gnu_cxx", "__cxxabiv1"})
"""Scopes of the runtime: that these are there tells nothing of the library's own."""


@lru_cache(1 << 16)
def path(spelling: str) -> tuple[str, ...]:
    """The components of a qualified name up to its first template arguments; none for what stands in no scope."""
    if not may_be_nested(spelling):
        return ()
    parts = plain_path(spelling) or tuple(_qualified(spelling).partition("<")[0].split("::"))
    return parts if len(parts) > 1 and all(parts) and parts[0] not in FOREIGN else ()


def _qualified(spelling: str) -> str:
    """The qualified name that a spelling stands for; empty for what is linked in from the runtime."""
    if not is_mangled(spelling):
        return spelling
    return "" if is_member_of_std(spelling) else entity(demangle(spelling))


Key: TypeAlias = tuple[str, str]
"""A text with marks in place of scopes, and what tells a symbol from others that are demangled to the same."""


def marker(scopes: Sequence[str]) -> Callable[[str], Key]:
    """What gives names and other texts that mention ``scopes`` a key: equal for two that differ in these alone.

    Scopes are told apart by their places in the sequence; where one is in another, the inner one counts. A text that
    mentions none stays as it is.
    """
    ends = {scope.rpartition("::")[2] for scope in scopes}
    in_words = _marking(scopes, r"(?<![\w:])(?:{})(?=::)")
    in_symbols = _marking([_mangled(scope) for scope in scopes], "(?:{})")

    def key(text: str) -> Key:
        if not any(end in text for end in ends):
            return text, ""
        if not is_mangled(text):
            return in_words(text), ""
        plain = demangle(text)
        if plain == text:
            return in_symbols(text), ""
        marked = in_words(plain)
        return (text, "") if marked == plain else (marked, variant(text))

    return key


def first_turn(marked: str) -> int:
    """The place in the sequence of the scope that a marked text mentions first."""
    return ord(marked[marked.index(MARK) + 1])


MARK: Final = "\0"
"""What stands before the place of a scope: no name has it."""


def _marking(scopes: Sequence[str], mention: str) -> Callable[[str], str]:
    turns = {scope: place for place, scope in enumerate(scopes)}
    longest = sorted(turns, key=len, reverse=True)
    found = re.compile(mention.format("|".join(map(re.escape, longest))))
    return lambda text: found.sub(lambda match: MARK + chr(turns[match[0]]), text)


def _mangled(scope: str) -> str:
    """How a symbol that no demangler reads spells a scope: members of templates as headers declare them."""
    return "".join(f"{len(each)}{each}" for each in scope.split("::"))
