"""Characters that are not seen, and how they are told: the last step before a text leaves for people or programs."""

from __future__ import annotations

import os
import re
from zlib import crc32

LONGEST = 20_000
"""How many characters a line for people has at most; names have millions in what others made."""

_TAIL = 500

UNSEEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls of both sets, but line feed and tab
    "\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff"  # directions, widths of none
    "\ud800-\udfff\ufdd0-\ufdef"  # halves of pairs, and what is no character
    "\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17))
)
"""The inside of a regular expression's set: what moves a cursor, turns a line around, or leaves no trace."""

_UNSEEN = re.compile(f"[{UNSEEN}]")
_PLAIN = bytes(code for code in range(0x7F) if code >= 0x20 or code in b"\n\t")
_BREAKS = re.compile(r"[\n\t]")
_ANYWHERE = re.compile(r"##(?=\w*\[)")
_AT_START = re.compile(r"(\A|\n)([^\S\n]*):(?=:)")
"""What runners of CI take for a command in a log: ``##[…]`` and ``##vso[…]`` anywhere, ``::…`` where a line begins."""

_OWN = f"\x1b{os.urandom(8).hex()}"
_OWN_SPELLED = f"\\x1b{_OWN[1:]}"
_OWN_MEANT = {f"{_OWN_SPELLED}[": "\x1b[", f"{_OWN_SPELLED}:": ":"}


def own(text: str) -> str:
    """A colour (``[31m``) or workflow command (``::error``) of our own, which :func:`visible` leaves in effect.

    The mark cannot be guessed by who makes the names that stand around it.
    """
    return _OWN + text


def visible(text: str) -> str:
    """Lines of text that do nothing but show: what is not seen is spelled (``\\x1b``), and no line is a command."""
    told = _AT_START.sub(r"\1\2\\x3a", _ANYWHERE.sub(r"#\\x23", spelled(text)))
    if _OWN_SPELLED in told:
        for mark, meant in _OWN_MEANT.items():
            told = told.replace(mark, meant)
    return told


def in_line(text: str, most: int = LONGEST) -> str:
    """The same for a text that is one line, whatever it holds, of ``most`` characters."""
    return _BREAKS.sub(lambda match: {"\n": "\\n", "\t": "\\t"}[match[0]], visible(bounded(text, most)))


def spelled(text: str) -> str:
    """``text`` with what is not seen as Python spells it: ``\\x1b``, ``\\u202e``."""
    return _UNSEEN.sub(lambda match: _spell(ord(match[0])), text) if _has_unseen(text) else text


def bounded(text: str, most: int = LONGEST) -> str:
    """``text`` without the middle of each line that has more than ``most`` characters."""
    if len(text) <= most:
        return text
    return "\n".join(line if len(line) <= most else _cut(line, most) for line in text.split("\n"))


def json_text(text: str) -> str:
    """JSON with the same content, in which what is not seen and what could be a command is escaped."""
    if _has_unseen(text):
        text = _UNSEEN.sub(lambda match: _escape(match[0]), text)
    return text.replace("##", "#\\u0023")


def json_bytes(data: bytes) -> bytes:
    """The same for UTF-8."""
    return json_text(data.decode()).encode() if b"##" in data or _unseen_in(data) else data


def _cut(line: str, most: int) -> str:
    """The sum tells two names apart that differ in their middle only."""
    tail = min(_TAIL, most // 4)
    left_out = f"...({len(line) - most:,} more characters, {crc32(line.encode('utf-8', 'surrogatepass')):08x})..."
    return f"{line[: most - tail]}{left_out}{line[len(line) - tail :]}"


def _has_unseen(text: str) -> bool:
    return _unseen_in(text.encode("utf-8", "surrogatepass"))


def _unseen_in(data: bytes) -> bool:
    """Asked of the few characters beyond plain ASCII: looking at each one is twenty times slower."""
    rest = data.translate(None, _PLAIN)
    return bool(rest) and _UNSEEN.search(rest.decode("utf-8", "surrogatepass")) is not None


def _spell(code: int) -> str:
    if 0xDC80 <= code <= 0xDCFF:  # how Python keeps a byte of a file name that is no text (PEP 383)
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _escape(character: str) -> str:
    return "".join(f"\\u{int.from_bytes(unit, 'big'):04x}" for unit in _units(character))


def _units(character: str) -> list[bytes]:
    data = character.encode("utf-16-be", "surrogatepass")
    return [data[start : start + 2] for start in range(0, len(data), 2)]
