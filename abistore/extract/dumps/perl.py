"""Output of Perl's Data::Dumper, tokenised and never evaluated, and the offsets in it.

abi-dumper passes decimal offsets of newer elfutils through ``hex``: 20 is then written as 32. Which reading is true is
the same for all records of a dump: members follow one another in one of them, and overlap in the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias, Union

from abistore.errors import ExtractError, LimitExceeded

Value: TypeAlias = Union[str, "Hash", list["Value"], None]
Hash: TypeAlias = dict[str, "Value"]

MAX_DEPTH: Final = 64

TOKEN: Final = re.compile(
    r"""\s*(?:
        '(?P<single>[^'\\]*)'
      | "(?P<double>[^"\\]*)"
      | (?P<open>['"])
      | (?P<mark>=>|[{}\[\],;])
      | (?P<number>-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)
      | (?P<undef>undef)\b
      | (?P<variable>\$VAR1\s*=)
    )""",
    re.VERBOSE | re.DOTALL,
)
CLOSING_QUOTE: Final = {
    "'": re.compile(r"[^'\\]*(?:\\.|(?P<end>'))", re.DOTALL),
    '"': re.compile(r'[^"\\]*(?:\\.|(?P<end>"))', re.DOTALL),
}
"""Up to the next escape or the end of a quotation. One pattern for all of it would keep 115 bytes for each escape."""
ESCAPED: Final = re.compile(r"\\(?:x\{([0-9A-Fa-f]{1,6})\}|(.))", re.DOTALL)
LETTERS: Final = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "e": "\x1b", "f": "\f", "b": "\b"}
CLOSING: Final = {"{": "}", "[": "]"}


def read_value(text: str, label: str) -> Value:
    """The one value that is assigned to ``$VAR1``. Raises :class:`ExtractError`, :class:`LimitExceeded`."""
    return _Reading(text, label).whole()


class _Reading:
    def __init__(self, text: str, label: str) -> None:
        self._text = text
        self._label = label
        self._position = 0

    def whole(self) -> Value:
        if self._next() != ("variable", "="):
            raise self._malformed()
        found = self._value(*self._next())
        kind, mark = self._next()
        if (kind, mark) != ("mark", ";") or self._text[self._position :].strip():
            raise self._malformed()
        return found

    def _next(self) -> tuple[str, str]:
        match = TOKEN.match(self._text, self._position)
        if match is None:
            raise self._malformed()
        self._position = match.end()
        kind = match.lastgroup or ""
        if kind == "open":
            return "scalar", self._escaped(match["open"])
        if kind in ("single", "double", "number"):
            return "scalar", match[kind]
        return kind, "=" if kind == "variable" else match[kind]

    def _escaped(self, quote: str) -> str:
        """A quotation with escapes, of which the opening quote is read."""
        start = position = self._position
        while match := CLOSING_QUOTE[quote].match(self._text, position):
            position = match.end()
            if match["end"]:
                self._position = position
                found = self._text[start : position - 1]
                if quote == '"':
                    return ESCAPED.sub(_character, found)
                return found.replace("\\'", "'").replace("\\\\", "\\")
        raise self._malformed()

    def _value(self, kind: str, token: str) -> Value:
        """A scalar, or a whole hash or list. Open ones are kept here: nesting overflows Python's stack."""
        if kind != "mark":
            return self._scalar(kind, token)
        whole = self._opened(token)
        stack: list[Hash | list[Value]] = [whole]
        while stack:
            kind, token = self._next()
            if (kind, token) == ("mark", ","):
                continue
            if kind == "mark" and token == ("}" if isinstance(stack[-1], dict) else "]"):
                stack.pop()
                continue
            key = ""
            if isinstance(stack[-1], dict):
                if kind != "scalar" or self._next() != ("mark", "=>"):
                    raise self._malformed()
                key = token
                kind, token = self._next()
            found = self._opened(token) if kind == "mark" else self._scalar(kind, token)
            if isinstance(stack[-1], dict):
                stack[-1][key] = found
            else:
                stack[-1].append(found)
            if isinstance(found, dict | list):
                stack.append(found)
                if len(stack) > MAX_DEPTH:
                    raise LimitExceeded(f"{self._label}: data are nested more than {MAX_DEPTH} levels deep")
        return whole

    def _opened(self, token: str) -> Hash | list[Value]:
        if token not in CLOSING:
            raise self._malformed()
        return {} if token == "{" else []

    def _scalar(self, kind: str, token: str) -> Value:
        if kind == "undef":
            return None
        if kind != "scalar":
            raise self._malformed()
        return token

    def _malformed(self) -> ExtractError:
        line = self._text.count("\n", 0, self._position) + 1
        return ExtractError(
            f"{self._label}: line {line} is not valid output of Perl's Data::Dumper",
            "the file is truncated or was edited: create it again with abi-dumper",
        )


def _character(match: re.Match[str]) -> str:
    if match[1]:
        code = int(match[1], 16)
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
    return LETTERS.get(match[2], match[2])


def hash_of(value: Value) -> Hash:
    """A value as a hash; empty where it is something else."""
    return value if isinstance(value, dict) else {}


def text_of(value: Value) -> str:
    """A value as text; empty where it is something else."""
    return value if isinstance(value, str) else ""


def number_of(value: Value) -> int | None:
    """A value as a whole number of at most 20 digits; ``None`` where it is something else."""
    text = text_of(value)
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdecimal() and len(digits) <= 20 else None


def in_order(value: Value) -> list[Hash]:
    """The hashes in one that is keyed by numbers, in the order of these."""
    found = [(number_of(key), each) for key, each in hash_of(value).items() if isinstance(each, dict)]
    return [each for _, each in sorted(found, key=lambda item: (item[0] is None, item[0] or 0))]


Reading = Literal["plain", "hexadecimal", "unreliable"]

FIRST_DIFFERENT: Final = 10
"""Smaller offsets are written alike either way."""

SCALARS: Final = frozenset({"Pointer", "Ref", "RvalueRef", "FuncPtr", "Enum", "Intrinsic"})
TRANSPARENT: Final = frozenset({"Typedef", "Const", "Volatile", "Restrict", "ConstVolatile"})
MOST_STEPS: Final = 64
RECORDS: Final = frozenset({"Class", "Struct"})


class Place(NamedTuple):
    """A member as the dump has it: its offset, its size (0: not known) and its natural alignment (0: not known)."""

    offset: int
    size: int
    alignment: int


def decimal_behind(offset: int) -> int | None:
    """The decimal number that ``hex`` made ``offset`` of; ``None`` where it cannot have."""
    text = format(offset, "x")
    return int(text) if text.isdecimal() else None


def reading_of(types: Mapping[str, Hash]) -> Reading:
    """How the offsets of a dump are to be read."""
    votes = {"plain": 0, "hexadecimal": 0}
    possible = {"plain": True, "hexadecimal": True}
    doubtful = False
    for record in types.values():
        if text_of(record.get("Type")) not in RECORDS:
            continue
        places = list(_places(record, types))
        if all(place.offset < FIRST_DIFFERENT for place in places):
            continue
        doubtful = True
        size = number_of(record.get("Size")) or 0
        decoded = [decimal_behind(place.offset) for place in places]
        votes["plain"] += _expected(places, [place.offset for place in places])
        possible["plain"] &= _fits([place.offset for place in places], places, size)
        if None in decoded:
            possible["hexadecimal"] = False
            continue
        offsets = [each for each in decoded if each is not None]
        votes["hexadecimal"] += _expected(places, offsets)
        possible["hexadecimal"] &= _fits(offsets, places, size)
    return _decided(votes, possible) if doubtful else "plain"


def _decided(votes: Mapping[str, int], possible: Mapping[str, bool]) -> Reading:
    readings: tuple[Reading, Reading] = ("plain", "hexadecimal")
    left = [each for each in readings if possible[each]]
    if len(left) == 1:
        return left[0]
    voted = [each for each in left if votes[each]]
    return voted[0] if len(voted) == 1 else "unreliable"


def _expected(places: list[Place], offsets: list[int]) -> int:
    """How many members lie where the one before ends, rounded up to their alignment."""
    found = 0
    for index in range(1, len(places)):
        before, place = places[index - 1], places[index]
        if place.offset >= FIRST_DIFFERENT and before.size and place.alignment:
            end = offsets[index - 1] + before.size
            found += offsets[index] == -(-end // place.alignment) * place.alignment
    return found


def _fits(offsets: Iterable[int], places: Iterable[Place], size: int) -> bool:
    """Whether no member overlaps the next, or stands out of the record."""
    end = 0
    for offset, place in zip(offsets, places, strict=True):
        if offset < end:
            return False
        end = offset + place.size
    return end <= size


def _places(record: Hash, types: Mapping[str, Hash]) -> Iterator[Place]:
    for member in in_order(record.get("Memb")):
        offset = number_of(member.get("offset"))
        if offset is None or offset < 0 or "bitfield" in member:
            continue
        yield Place(offset, *_extent(text_of(member.get("type")), types))


def _extent(identifier: str, types: Mapping[str, Hash]) -> tuple[int, int]:
    """The size and the natural alignment of a type; 0 for what is not known."""
    size = None
    for _ in range(MOST_STEPS):
        type = hash_of(types.get(identifier))
        kind = text_of(type.get("Type"))
        if kind == "Array":
            if text_of(type.get("Name")).endswith("[]"):
                return 0, 0
            size = size or number_of(type.get("Size"))
            identifier = text_of(type.get("BaseType"))
        elif kind in TRANSPARENT:
            identifier = text_of(type.get("BaseType"))
        else:
            own = max(number_of(type.get("Size")) or 0, 0)
            scalar = kind in SCALARS and own in (1, 2, 4, 8, 16)
            return max(size or own, 0), own if scalar else 0
    return 0, 0
