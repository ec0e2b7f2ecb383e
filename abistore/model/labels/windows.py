"""How long a declaration stays after it was deprecated: ``2 minor``, ``1 major``, ``3 releases`` or ``180 days``."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Final, Literal, TypeAlias, cast

import msgspec

from abistore.errors import UsageError
from abistore.model.labels.conventions import convention
from abistore.model.labels.promises import next_label
from abistore.model.labels.steps import AUTO, Step

WindowUnit: TypeAlias = Literal["days", "releases", "minor", "major"]
HINT: Final = "write e.g. '2 minor', '1 major', '3 releases' or '180 days'"
_WRITTEN: Final = re.compile(r"([1-9]\d{0,3})\s+(days?|releases?|minors?|majors?)(?:\s+(?:releases?|versions?))?")
_UNITS: Final = {"day": "days", "release": "releases", "minor": "minor", "major": "major"}


class DeprecationWindow(msgspec.Struct, frozen=True):
    """How much must lie between the release that deprecates a declaration and one that removes it."""

    amount: int
    unit: WindowUnit

    def __str__(self) -> str:
        return f"{self.amount} {self.unit}"


class Moment(msgspec.Struct, frozen=True):
    """A release as a window sees it: its label, its day, and its place in release order."""

    label: str
    day: date
    place: int


def window(text: str) -> DeprecationWindow:
    """The window that a text says. Raises :class:`UsageError`."""
    read = _WRITTEN.fullmatch(text.strip().lower())
    if read is None:
        raise UsageError(f"{text!r} is no deprecation window", HINT)
    return DeprecationWindow(int(read[1]), cast(WindowUnit, _UNITS[read[2].removesuffix("s")]))


def opens(said: DeprecationWindow, since: Moment, scheme: str = AUTO) -> str:
    """What a removal waits for: a day, a label, or a number of releases; empty where labels promise no such step."""
    if said.unit == "days":
        return f"{since.day + timedelta(days=said.amount):%Y-%m-%d}"
    if said.unit == "releases":
        return f"the {_ordinal(said.amount)} release after {since.label}"
    label = since.label
    for _ in range(said.amount):
        label = next_label(label, Step.MAJOR if said.unit == "major" else Step.MINOR, scheme)
        if not label:
            return ""
    return label


def is_open(said: DeprecationWindow, since: Moment, now: Moment, scheme: str = AUTO) -> bool:
    """Whether a declaration may be removed. A label that promises no such step opens nothing."""
    if said.unit == "days":
        return now.day >= since.day + timedelta(days=said.amount)
    if said.unit == "releases":
        return now.place - since.place >= said.amount
    first, label = convention(opens(said, since, scheme)), convention(now.label)
    return first is not None and label is not None and label >= first


def _ordinal(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
