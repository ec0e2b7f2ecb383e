"""Macros whose values other macros and inline functions of the headers hand to functions of the library."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang
from abistore.extract.headers.walk.collected import Collected
from abistore.extract.headers.walk.written.expansion import WORD, Expansions
from abistore.extract.headers.walk.written.macros import Place
from abistore.model.mangling.symbols import is_mangled
from abistore.model.names import Name
from abistore.model.values.texts import constant

CALLED: Final = re.compile(rf"({WORD.pattern}) \(")
EQUALS: Final = re.compile(
    rf"\s*(?:[=!<>]=|[<>&](?![<>&]))[\s(]*({WORD.pattern})\b(?![\s)]*[-+*/%][\s(]*{WORD.pattern})"
)
"""What stands behind a call with whose result a constant is compared, or that it masks.

``CURRENT - AGE`` is compared as the difference of two, which neither tells alone.
"""

EQUALLED: Final = re.compile(rf"(?<![-+*/%])(?<![-+*/%]\s)\b({WORD.pattern})[\s)]*[=!<>]=[\s(]*$")
"""What stands before such a call."""

COMPUTED: Final = re.compile(r"[-+*/%]\s*$")
"""What stands before a call whose result is computed with before it is compared."""

JOINED: Final = (
    re.compile(rf"({WORD.pattern})[\s)]*(?:[+*/%]|-(?!>))[\s(]*$"),
    re.compile(rf"[\s)]*(?:[+*/%]|-(?!>))[\s(]*({WORD.pattern})"),
)
"""What stands before and behind a name that another one is added to, subtracted from and the like."""

FARTHEST: Final = 200
"""Characters before and behind a call that are looked at."""


class Handed(NamedTuple):
    """A function that is called with a name, or whose result is compared with it, and what is computed of both."""

    function: str
    beside: tuple[str, ...] = ()


def words_with(text: str, begin: int, end: int, function: str) -> Iterator[tuple[str, Handed]]:
    """The names that stand in a call of ``function``, a piece of ``text``, or with which its result is compared."""
    for found in WORD.finditer(text, begin, end):
        ahead = JOINED[0].search(text[max(begin, found.start() - FARTHEST) : found.start()])
        behind = JOINED[1].match(text, found.end(), end)
        yield found[0], Handed(function, tuple(match[1] for match in (ahead, behind) if match))
    ahead_of_call = text[max(0, begin - FARTHEST) : begin]
    result = None if COMPUTED.search(ahead_of_call) else EQUALS.match(text, end, end + FARTHEST)
    for match in (result, EQUALLED.search(ahead_of_call)):
        if match:
            yield match[1], Handed(function)


def settle_handed(
    found: Collected, expansions: Expansions, called: Mapping[str, Iterable[Handed]], written: Iterable[str]
) -> None:
    """Tell of macros which functions of the library programs hand them to, by code that the headers make.

    ``called`` are the names that stand in calls by inline functions, with what is called; ``written`` are the public
    macros, whatever they stand for. ``CURRENT - AGE`` is the difference of two, which neither tells alone.
    """
    constants = {name.spelling: name for name, declared in found.declared.items() if _has_value(name, found)}
    if not constants:
        return
    takes = _Takers(found)
    handed = {word: set(called[word]) for word in constants.keys() & called.keys()}
    for macro in written:
        if macro not in constants:
            for word, call in _calls(expansions.written(macro, constants.keys()), constants.keys()):
                handed.setdefault(word, set()).add(call)
    for word, calls in handed.items():
        alone = {call.function for call in calls if constants.keys().isdisjoint(call.beside)}
        if taking := tuple(sorted(filter(takes, alone))):
            name = constants[word]
            found.declared[name] = replace(found.declared[name], handed=taking)


def public_macros(lib: LibClang, top: Iterable[Cursor], place: Place) -> Iterator[str]:
    """The macros that public headers define, each once."""
    cursors = (each for each in top if each.kind == kinds.MACRO and place(each) is not None)
    return iter(dict.fromkeys(map(lib.spelling, cursors)))


def _has_value(name: Name, found: Collected) -> bool:
    declared = found.declared[name]
    return "macro" in declared.traits and (declared.meaning is not None or constant(declared.value or "") is not None)


def _calls(found: Collection[str], constants: Collection[str]) -> Iterator[tuple[str, Handed]]:
    """Constants with what is called with each in an expanded macro."""
    text = "" if frozenset(constants).isdisjoint(found) else " ".join(found)
    for match in CALLED.finditer(text):
        found_in = words_with(text, match.start(), _closed(text, match.end()), match[1])
        yield from ((word, call) for word, call in found_in if word in constants)


def _closed(text: str, begin: int) -> int:
    """Behind the parenthesis that closes one which opens before ``begin``; tokens have spaces between."""
    depth, place = 1, begin
    for match in re.finditer(r"(?<= )[()](?= |$)", text[begin:]):
        depth += 1 if match[0] == "(" else -1
        place = begin + match.end()
        if not depth:
            break
    return place


class _Takers:
    """Tells by its name whether a function is the library's, or an inline one that calls functions of the library."""

    def __init__(self, found: Collected) -> None:
        self._linked = [
            name.spelling
            for name, declared in found.declared.items()
            if name.kind == "function"
            and ("inline" not in declared.traits or (declared.body is not None and declared.body.calls))
        ]
        self._plain = frozenset(self._linked)
        self._mangled = "\n".join(each for each in self._linked if is_mangled(each))

    def __call__(self, function: str) -> bool:
        """A mangled symbol holds the name of its function after the name's length."""
        return function in self._plain or f"{len(function)}{function}" in self._mangled
