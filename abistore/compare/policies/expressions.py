"""Patterns of policies and suppressions: regular expressions in RE2's syntax, and globs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from abistore.errors import PolicyError

LONGEST = 1000
"""How many characters a regular expression may have."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A regular expression. A ``whole`` one must match all of the text, another one any part of it.

    RE2 matches in time proportional to the text, so that no pattern of a foreign file can hang a comparison.
    ``written`` is what its author wrote, where that was a glob. Raises :class:`PolicyError` where the pattern is no
    expression, or too large.
    """

    pattern: str
    whole: bool = True
    written: str = ""

    def __str__(self) -> str:
        return self.written or self.pattern

    def __post_init__(self) -> None:
        _compiled(self.pattern)

    def matches(self, text: str) -> bool:
        """Whether ``text`` matches."""
        compiled = _compiled(self.pattern)
        subject = text.encode("utf-8", "replace")
        return (compiled.fullmatch(subject) if self.whole else compiled.search(subject)) is not None


def glob(pattern: str, separator: str) -> Expression:
    """A pattern in which ``*`` and ``?`` match anything but the separator, and ``**`` anything at all."""
    translated = ""
    for part in re.findall(r"\*\*/|\*\*|\*|\?|[^*?]+", pattern):
        inner = f"[^{separator}]"
        known = {"**": ".*", "*": f"{inner}*", "?": inner, "**/": "(.*/)?"}
        translated += known.get(part) or re.sub(r"([!-/:-@\[-^`{-~])", r"\\\1", part)
    return Expression(translated, written=pattern)


@cache
def _compiled(pattern: str) -> Any:
    import re2  # type: ignore[import-untyped]  # a library of its own, for suppressions only

    if not pattern:
        raise _wrong(pattern, "it is empty")
    if len(pattern) > LONGEST:
        raise _wrong(pattern, f"longer than {LONGEST} characters")
    options = re2.Options()
    options.log_errors = False
    options.dot_nl = True
    try:
        return re2.compile(pattern.encode("utf-8", "replace"), options)
    except re2.error as error:
        reason = error.args[0]
        raise _wrong(pattern, reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)) from None


def _wrong(pattern: str, what: str) -> PolicyError:
    return PolicyError(
        f"regular expression {pattern[:60]!r}: {what}",
        r"RE2's syntax: * + ? | () [] {1,3} ^ $ \d \w \s, no look-around",
    )
