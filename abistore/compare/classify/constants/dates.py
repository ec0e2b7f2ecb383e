"""Texts and numbers that are dates: those of builds and releases, which move on with each of them."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS: Final = frozenset({"mon", "tue", "wed", "thu", "fri", "sat", "sun"})
_PART: Final = re.compile(
    r"""(?P<day>\d{4}([-/.])\d\d?\2\d\d?(?=\D|$) | \d\d?([-/.])\d\d?\3\d{4}(?=\D|$) | \d{8}(?=T|\D|$))
    | (?P<time>\d\d?:\d\d(?::\d\d(?:\.\d+)?)?) | (?P<zone>(?:(?<=\d)|(?<=\s)|(?<=[A-Z]))[+-]\d\d:?\d\d(?!\d))
    | (?P<year>\d{4}(?!\d)) | (?P<number>\d\d?(?!\d))(?:st|nd|rd|th)? | (?P<word>[A-Za-z]+)
    | (?P<between>[\s,.\-/]+)""",
    re.VERBOSE,
)


class Day(NamedTuple):
    """A year, with a month and a day of it, or 0 where a text names none."""

    year: int
    month: int
    day: int


def day_of(text: str) -> Day | None:
    """The day that a text says and nothing else: ``Sun 29 Aug 2021 08:37:50 PM UTC``, ``2021-08-29``, ``Aug 2021``."""
    parts = list(_parts(text.strip()))
    if not parts or None in parts:
        return None
    found = [(each.lastgroup or "", each[0]) for each in parts if each is not None and not each["between"]]
    whole = [value for kind, value in found if kind == "day"]
    words = [value.lower() for kind, value in found if kind == "word"]
    months = [number for each in words if (number := _month(each))]
    others = [each for each in words if not _month(each) and each[:3] not in _DAYS and not _is_of_time(each, found)]
    if others or len(whole) + len(months) != 1:
        return None
    return _written(whole[0]) if whole else _named(months[0], found)


def moves_on(old: str, new: str) -> bool:
    """Whether both texts are days, and the new one is not before the old: nobody builds a release in the past."""
    before, after = day_of(old), day_of(new)
    return before is not None and after is not None and before <= after


def _parts(text: str) -> list[re.Match[str] | None]:
    found: list[re.Match[str] | None] = []
    at = 0
    while at < len(text):
        part = _PART.match(text, at)
        found.append(part)
        if part is None:
            break
        at = part.end()
    return found


def _month(word: str) -> int:
    """The number of a month's name, whole or its first three letters or more; 0 for another word."""
    known = word[:3] in _MONTHS and any(each.startswith(word) for each in _NAMES)
    return _MONTHS.index(word[:3]) + 1 if known else 0


_NAMES: Final = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november"),
    *("december", "sept"),
)


def _is_of_time(word: str, found: list[tuple[str, str]]) -> bool:
    """Whether a word stands beside a time: of a zone or half of a day, or between both."""
    return any(kind == "time" for kind, _ in found) and len(word) <= 5


def _written(text: str) -> Day | None:
    numbers = [int(each) for each in re.findall(r"\d+", text)]
    if len(numbers) == 1:
        numbers = [int(text[:4]), int(text[4:6]), int(text[6:])]
    year, month, day = numbers if numbers[0] > 31 else (numbers[2], numbers[1], numbers[0])
    if month > 12 and numbers[0] <= 12:
        month, day = day, month  # as in the United States
    return _real(Day(year, month, day))


def _named(month: int, found: list[tuple[str, str]]) -> Day | None:
    years = [int(value) for kind, value in found if kind == "year"]
    days = [int(re.sub(r"\D", "", value)) for kind, value in found if kind == "number"]
    if len(years) != 1 or len(days) > 1:
        return None
    return _real(Day(years[0], month, days[0] if days else 0))


def _real(day: Day) -> Day | None:
    return day if 1970 <= day.year < 2100 and 1 <= day.month <= 12 and day.day <= 31 else None
