"""What libraries, versions, channels and profiles may be called, so that every command can name what is stored."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias, get_args

from abistore.errors import UsageError
from abistore.model.history import DEFAULT_CHANNEL
from abistore.model.labels.blanks import is_blank
from abistore.patterns import pattern

Named: TypeAlias = Literal["library", "version", "profile", "channel"]
"""What has a name that references and options say."""

NAMED: Final[tuple[Named, ...]] = get_args(Named)
MOST_LETTERS: Final = 255
"""As many as a file's name has."""

NEEDED: Final[dict[Named, str]] = {
    "library": "give a name such as libfoo, or leave --library out",
    "version": "give a label such as 1.2.0",
    "profile": "give a word such as debug, or leave --profile out",
    "channel": "give a word such as main, or leave the channel out",
}
"""What to give in place of an empty name."""

RESERVED: Final = pattern(r"(?:latest|prev|baseline|candidate)(?::.*)?|none")
"""Words that mean another release than one of this label; ``--expect none`` means that there is none."""

BASELINE: Final = "baseline"
"""The word that stands for the release at a channel: ``libfoo@baseline``, ``--against baseline:main``."""

EVERY_PROFILE: Final = "all"
"""How people name all build profiles of a library, and how an approval does."""


def check_name(what: Named, text: str) -> None:
    """Raise :class:`UsageError` for a name that some command could not say, or by which it would mean another thing."""
    if is_blank(text):
        raise UsageError(f"the {what} is empty", "is a variable of the script unset? " + NEEDED[what])
    if hint := _fault(text) or _own_fault(what, text):
        called = "library's name" if what == "library" else what
        more = "..." if len(text) > MOST_LETTERS else ""
        raise UsageError(f"not a {called}: {text[:MOST_LETTERS]!r}{more}", hint)


def channel_in(label: str) -> str | None:
    """The channel that ``baseline`` or ``baseline:main`` names; ``None`` for another word.

    Raises :class:`UsageError` for ``baseline:``, as ``baseline:$CHANNEL`` is where the variable is unset.
    """
    word, colon, channel = label.partition(":")
    if word != BASELINE:
        return None
    if colon:
        check_name("channel", channel)
    return channel or DEFAULT_CHANNEL


def _fault(text: str) -> str:
    if not text.isprintable() or text != text.strip():
        return "use printable characters, without blanks around them"
    if len(text) > MOST_LETTERS:
        return f"use at most {MOST_LETTERS} characters"
    if text.startswith("-"):
        return "begin with another character than -, which begins options"
    return "leave out @, behind which references have the release" if "@" in text else ""


def _own_fault(what: Named, text: str) -> str:
    """What is wrong beside that: ``.`` begins a path, and ``libfoo=include`` gives headers to a library."""
    match what:
        case "library" if text.startswith(".") or "/" in text or "=" in text:
            return "pass --library with a name without @, / and =, which begins with no dot"
        case "version" if re.search(r"[\s/]", text):
            return "give a label without blanks and slashes, such as 1.2.0"
        case "version" if RESERVED.fullmatch(text):
            return "latest, prev, baseline, candidate and none have a meaning of their own"
        case "profile" if text == EVERY_PROFILE:
            return "all means every profile: give another word"
        case _:
            return ""
