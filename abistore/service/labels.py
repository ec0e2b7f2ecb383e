"""What a library, a version or a profile may be called, so that every reference means one thing."""

from __future__ import annotations

import re

from abistore.errors import UsageError
from abistore.patterns import pattern

RESERVED = pattern(r"latest|prev|baseline(?::.*)?")

NEEDED = {
    "library": "give a name such as libfoo, or leave --library out",
    "version": "give a label such as 1.2.0",
    "profile": "give a word such as debug, or leave --profile out",
}
"""What must not be empty, and what to give."""


LONGEST_NOTE = 2000


def check_note(what: str, text: str) -> None:
    """Raise :class:`UsageError` for a text that is no line of printable characters."""
    if not text.isprintable() or len(text) > LONGEST_NOTE:
        hint = f"use at most {LONGEST_NOTE:,} printable characters in one line"
        raise UsageError(f"not a {what}: {text[:40]!r}", hint)


def check_label(what: str, text: str | None) -> None:
    """Raise :class:`UsageError` if ``text`` cannot be the ``what`` (library, version, ...) of a release."""
    if text is None:
        return
    if not text and what in NEEDED:
        raise UsageError(f"the {what} is empty", "is a variable of the script unset? " + NEEDED[what])
    if not text.isprintable() or text != text.strip():
        raise UsageError(f"not a {what}: {text!r}", "use printable characters, without blanks around them")
    if what == "library" and ("@" in text or "/" in text):
        raise UsageError(f"not a library's name: {text!r}", "pass --library with a name without @ and /")
    if what == "version" and re.search(r"[\s/]", text):
        raise UsageError(f"not a version: {text!r}", "give a label without blanks and slashes, such as 1.2.0")
    if what == "version" and RESERVED.fullmatch(text):
        raise UsageError(f"not a version: {text!r}", "latest, prev and baseline have a meaning of their own")
