"""Invisible characters, spelled out: the last step before a text is printed for people or programs."""

from __future__ import annotations

import os
from zlib import crc32

from abistore.patterns import pattern

LONGEST = 20_000
"""The most characters in a line for people. A hostile file may hold names of millions."""

_TAIL = 500

UNSEEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls of both sets, but line feed and tab
    "\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff"  # directions, widths of none
    "\ud800-\udfff\ufdd0-\ufdef"  # halves of pairs, and what is no character
    "\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17))
)
"""Invisible characters, for a regular expression's set: they move the cursor, turn a line around, or leave no trace."""

_UNSEEN = pattern(f"[{UNSEEN}]")
_PUNCTUATION = frozenset("…·—→")
"""What reports write themselves; most hold nothing else that is not ASCII."""

_PLAIN = bytes(code for code in range(0x7F) if code >= 0x20 or code in b"\n\t")
_BREAKS = pattern(r"[\n\t]")
_ANYWHERE = pattern(r"##(?=\w*\[)")
_AT_START = pattern(r"(\A|\n)([^\S\n]*):(?=:)")
"""Commands in the logs of CI: ``##[…]`` and ``##vso[…]`` anywhere, ``::…`` at the start of a line."""

_OWN = f"\x1b{os.urandom(8).hex()}"
_OWN_SPELLED = f"\\x1b{_OWN[1:]}"
_OWN_MEANT = {f"{_OWN_SPELLED}[": "\x1b[", f"{_OWN_SPELLED}:": ":"}


def own(text: str) -> str:
    """A colour (``[31m``) or workflow command (``::error``) of abistore, which :func:`visible` leaves in effect.

    It carries a random mark, so that no name in a library can forge one.
    """
    return _OWN + text


def visible(text: str) -> str:
    """Lines of text that are safe to print: invisible characters are spelled (``\\x1b``), and no line is a command."""
    told = _AT_START.sub(r"\1\2\\x3a", _ANYWHERE.sub(r"#\\x23", spelled(text)))
    if _OWN_SPELLED in told:
        for mark, meant in _OWN_MEANT.items():
            told = told.replace(mark, meant)
    return told


def in_line(text: str, most: int = LONGEST) -> str:
    """``text`` as one safe line of at most ``most`` characters: line feeds and tabs are spelled too."""
    return _BREAKS.sub(lambda match: {"\n": "\\n", "\t": "\\t"}[match[0]], visible(bounded(text, most)))


def spelled(text: str) -> str:
    """``text`` with invisible characters as Python spells them: ``\\x1b``, ``\\u202e``."""
    return _UNSEEN.sub(lambda match: _spell(ord(match[0])), text) if _has_unseen(text) else text


def bounded(text: str, most: int = LONGEST) -> str:
    """``text`` with the middle cut out of each line of more than ``most`` characters."""
    if len(text) <= most:
        return text
    return "\n".join(line if len(line) <= most else _cut(line, most) for line in text.split("\n"))


def json_text(text: str) -> str:
    """The same JSON, with invisible characters and possible commands escaped."""
    if _has_unseen(text):
        text = _UNSEEN.sub(lambda match: _escape(match[0]), text)
    return text.replace("##", "#\\u0023")


def json_bytes(data: bytes) -> bytes:
    """The same JSON as :func:`json_text` gives, in UTF-8. In JSON controls are escaped, but for the last of ASCII."""
    plain = data.isascii() and b"\x7f" not in data
    return data if b"##" not in data and (plain or not _unseen_in(data)) else json_text(data.decode()).encode()


def _cut(line: str, most: int) -> str:
    """The checksum tells two names apart that differ in the cut part only."""
    tail = min(_TAIL, most // 4)
    left_out = f"...({len(line) - most:,} more characters, {crc32(line.encode('utf-8', 'surrogatepass')):08x})..."
    return f"{line[: most - tail]}{left_out}{line[len(line) - tail :]}"


def _has_unseen(text: str) -> bool:
    return _unseen_in(text.encode("utf-8", "surrogatepass"))


def _unseen_in(data: bytes) -> bool:
    """Only what is left without plain ASCII is searched: searching all of it takes twenty times as long."""
    rest = data.translate(None, _PLAIN)
    if not rest:
        return False
    signs = set(rest.decode("utf-8", "surrogatepass")) - _PUNCTUATION
    return bool(signs) and _UNSEEN.search("".join(signs)) is not None


def _spell(code: int) -> str:
    if 0xDC80 <= code <= 0xDCFF:  # how Python keeps a byte of a file name that is no text (PEP 383)
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _escape(character: str) -> str:
    return "".join(f"\\u{int.from_bytes(unit, 'big'):04x}" for unit in _units(character))


def _units(character: str) -> list[bytes]:
    data = character.encode("utf-16-be", "surrogatepass")
    return [data[start : start + 2] for start in range(0, len(data), 2)]
