"""The parts of a header that depend on macros which nobody knows: those of files that were not found."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from typing import Final

_DIRECTIVE: Final = re.compile(
    rb"^[ \t]*#[ \t]*(?:(if|ifdef|ifndef|elif|else|endif)\b|pragma[ \t]+(pack)[ \t]*\()(?:[^\n\\]|\\.)*",
    re.MULTILINE | re.DOTALL,
)
_OUTSIDE: Final = re.compile(rb"//[^\n]*|/\*.*?(?:\*/|$)|\"[^\"\n]*\"|\b\d[\w.]*", re.DOTALL)
_WORD: Final = re.compile(rb"[A-Za-z_]\w*")
_WORDS: Final = frozenset(
    {b"if", b"ifdef", b"ifndef", b"elif", b"defined", b"pragma", b"pack", b"push", b"pop", b"show"}
)
_RESERVED: Final = re.compile(rb"_[A-Z_]")
"""How the names of macros begin that compilers and systems define, or not."""


def unsure(text: bytes, errors: Iterable[int], defined: Container[str] | None) -> Iterator[tuple[int, int]]:
    """Where declarations begin that may be others: between a condition that nobody knows and its end.

    A condition is not known that has an error, or, where files were not found, that asks for a macro that is not
    ``defined``. So is the packing behind a pragma, up to the next one.
    """
    places = list(errors)
    open_at: list[int | None] = []
    packed: int | None = None
    for match in _DIRECTIVE.finditer(text):
        word, start = match[1], match.start()
        if word is None:
            if packed is not None:
                yield packed, start
            packed = start if _is_unknown(match[0], defined) else None
            continue
        if word.startswith(b"if"):
            open_at.append(None)
        if word == b"endif":
            if open_at and (begin := open_at.pop()) is not None:
                yield begin, match.end()
        elif open_at and open_at[-1] is None and word != b"else":
            failed = any(start <= each <= match.end() for each in places)
            open_at[-1] = start if failed or _is_unknown(match[0], defined) else None
    yield from ((begin, len(text)) for begin in (*open_at, packed) if begin is not None)


def _is_unknown(directive: bytes, defined: Container[str] | None) -> bool:
    if defined is None:
        return False
    words = set(_WORD.findall(_OUTSIDE.sub(b" ", directive))) - _WORDS
    return any(not _RESERVED.match(each) and each.decode() not in defined for each in words)
