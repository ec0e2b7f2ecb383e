"""The order of release labels: of all conventions at once, or as one scheme says.

``auto`` reads each label by itself (:mod:`abistore.model.labels.conventions`). ``pep440``, ``semver`` and ``debian``
read the labels of one convention as its specification does, ``plain`` any label in natural order. A label that a scheme
cannot read stands after all others, in the order of ingestion. So a label never moves others, whatever it is.

Labels that a scheme holds equal (``1.0`` and ``1.0.0``, build metadata in semver) are told apart by their natural
order, then by their characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import IntEnum
from functools import cache, lru_cache
from typing import Any, NamedTuple, TypeAlias

from abistore.errors import UsageError
from abistore.model.labels.conventions import NOTHING, convention, described, number

SortKey: TypeAlias = tuple[Any, ...]
"""Comparable with the keys of the same scheme only."""

AUTO = "auto"
SCHEMES: tuple[str, ...] = ("pep440", "semver", "debian", "plain")
"""The schemes that can be declared instead of ``auto``."""

_SEMVER = re.compile(
    r"v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*))*))?"
    r"(?:\+[\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*)?",
    re.ASCII,
)
_DEBIAN = re.compile(r"(?:(\d+):)?(\d[A-Za-z0-9.+~-]*?)(?:-([A-Za-z0-9+.~]+))?", re.ASCII)
_DEBIAN_PART = re.compile(r"([^0-9]*)([0-9]*)")
_RUNS = re.compile(r"([0-9]+)")


class LabelOrder(IntEnum):
    """How well a label is ordered: the worse stand after the better."""

    VERSION = 0
    SERIES = 1
    """It has a number behind words of its own, as ``nightly-2024-05-01``."""
    UNORDERED = 2
    """It stands in the order of ingestion."""


class ReleasePosition(NamedTuple):
    """Where a release stands in its line."""

    standing: LabelOrder
    key: SortKey


def position(version: str, sequence: int, scheme: str = AUTO) -> ReleasePosition:
    """The position of the release with this label that was ingested as number ``sequence`` of its line."""
    key = reading(version, scheme)
    if key is None:
        return ReleasePosition(LabelOrder.UNORDERED, (sequence, version))
    standing = LabelOrder.SERIES if series(version, scheme) else LabelOrder.VERSION
    return ReleasePosition(standing, (key, _plain(version), version))


def reading(version: str, scheme: str = AUTO) -> SortKey | None:
    """What a scheme reads in a label, for comparing; ``None`` where it cannot. Raises :class:`UsageError`."""
    read = READERS.get(scheme)
    if read is None:
        raise UsageError(f"unknown version scheme: {scheme}", f"one of {', '.join((AUTO, *SCHEMES))}")
    return read(version)


def series(version: str, scheme: str = AUTO) -> str:
    """The words that a label of all conventions has before its number; empty where it has none of its own."""
    found = convention(version) if scheme == AUTO else None
    return found.series if found else ""


def check_version(version: str, scheme: str) -> None:
    """Raise :class:`UsageError` where a scheme cannot read a label."""
    if reading(version, scheme) is None:
        kind = "version" if scheme == AUTO else f"{scheme} version"
        raise UsageError(
            f"{version} is not a {kind}",
            f"write it as {kind} does, or use another scheme: {', '.join((AUTO, *SCHEMES))}",
        )


def _since_its_tag(read: Callable[[str], SortKey | None]) -> Callable[[str], SortKey | None]:
    """``read``, for what ``git describe`` makes of labels too: it follows the tag that it describes."""

    @cache
    def followed(version: str) -> SortKey | None:
        tag, since = described(version)
        key = read(tag)
        return None if key is None else (key, since)

    return followed


def _pep440(version: str) -> SortKey | None:
    from packaging.version import Version

    try:
        return (Version(version),)
    except ValueError:  # no such version, or a number of thousands of digits
        return None


def _semver(version: str) -> SortKey | None:
    """Semantic Versioning 2.0.0, section 11; a leading ``v`` is allowed."""
    match = _SEMVER.fullmatch(version)
    if match is None:
        return None
    identifiers = match[4].split(".") if match[4] else []
    # numeric identifiers are lower than others, a version without any is higher than all with
    rank = tuple((0, number(word), "") if word.isdecimal() else (1, NOTHING, word) for word in identifiers)
    return (number(match[1]), number(match[2]), number(match[3]), not identifiers, rank)


def _debian(version: str) -> SortKey | None:
    """``[epoch:]upstream[-revision]`` as in Debian Policy 5.6.12; an absent epoch or revision counts as 0."""
    match = _DEBIAN.fullmatch(version)
    if match is None:
        return None
    return (number(match[1] or ""), _debian_part(match[2]), _debian_part(match[3] or "0"))


def _debian_part(text: str) -> SortKey:
    pairs = _DEBIAN_PART.findall(text)
    return tuple((tuple(map(_debian_rank, [*letters, ""])), number(digits)) for letters, digits in pairs)


def _debian_rank(letter: str) -> int:
    """``~`` before the end of the part, the end before letters, letters before other characters."""
    if letter in {"~", ""}:
        return -len(letter)
    return ord(letter) if letter.isalpha() else ord(letter) + 256


@lru_cache(maxsize=1 << 15)
def _plain(version: str) -> SortKey:
    """Natural order: runs of digits by value, everything else by characters; digits before other characters."""
    runs = [run for run in _RUNS.split(version) if run]
    return tuple((0, number(run), "") if _RUNS.fullmatch(run) else (1, NOTHING, run) for run in runs)


SPECIFIED: Mapping[str, Callable[[str], SortKey | None]] = {
    "pep440": _pep440,
    "semver": _semver,
    "debian": _debian,
    "plain": _plain,
}
"""What reads the labels of one convention as its specification does."""

READERS: Mapping[str, Callable[[str], SortKey | None]] = {
    **SPECIFIED,
    AUTO: convention,
    "pep440": _since_its_tag(_pep440),
    "semver": _since_its_tag(_semver),
}
"""What reads the labels of each scheme."""
