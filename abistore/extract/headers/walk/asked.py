"""Which macros of consumers the headers of a library ask for, so that they decide what it declares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from abistore.patterns import pattern

_CONDITION = pattern(r"(?m)^[ \t]*(?:#|%:)[ \t]*(?:if|el|define\b.*\bdefined\b)(?:.*\\\r?\n)*.*$")
"""A directive that asks for macros, or gives such a question a name, with the lines that go on with it."""

_WORD = pattern(r"[A-Za-z_$][\w$]*")


def unasked(macros: Iterable[str], texts: Iterable[str]) -> Iterator[str]:
    """The ``macros`` (``NAME`` or ``NAME=VALUE``) that select nothing in the ``texts`` of headers.

    One that stands for nothing (``FOO_API=``) only matters where a condition asks for it, others wherever they are
    named. Names that the language reserves are asked for by the headers of the system.
    """
    found = set[str]()
    asked = set[str]()
    for text in texts:
        found.update(_WORD.findall(text))
        asked.update(word for line in _CONDITION.findall(text) for word in _WORD.findall(line))
    for macro in macros:
        name, equals, value = macro.partition("=")
        name = name.partition("(")[0]
        is_nothing = bool(equals) and not value
        if not name.startswith("_") and name not in (asked if is_nothing else found):
            yield macro
