"""The order of release labels under a version scheme.

``auto`` reads labels of all conventions (:mod:`abistore.model.labels.conventions`). ``pep440``, ``semver`` and
``debian`` follow the specification of one convention. ``plain`` takes any label in natural order. Labels that a scheme
cannot read come last, in the order of ingestion. A label never moves another.

A scheme may hold two labels equal: ``1.0`` and ``1.0.0``, or build metadata in semver. Their natural order decides
then, and after that their characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import IntEnum
from functools import cache, lru_cache
from typing import Any, TypeAlias

import msgspec

from abistore.errors import UsageError
from abistore.model.labels.conventions import NOTHING, convention, described, number
from abistore.model.labels.steps import AUTO
from abistore.patterns import pattern

SortKey: TypeAlias = tuple[Any, ...]
"""The place of a label in its scheme. Keys of two schemes cannot be compared."""

SCHEMES: tuple[str, ...] = ("pep440", "semver", "debian", "plain")
"""The schemes that can be declared instead of ``auto``."""

_SEMVER = pattern(
    r"v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*))*))?"
    r"(?:\+[\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*)?",
    re.ASCII,
)
_DEBIAN = pattern(r"(?:(\d+):)?(\d[A-Za-z0-9.+~-]*?)(?:-([A-Za-z0-9+.~]+))?", re.ASCII)
_DEBIAN_PART = pattern(r"([^0-9]*)([0-9]*)")
_RUNS = pattern(r"([0-9]+)")


class LabelOrder(IntEnum):
    """How well a scheme orders a label. Well ordered labels come first."""

    VERSION = 0
    SERIES = 1
    """Words of its own stand before the number: ``nightly-2024-05-01``."""
    UNORDERED = 2
    """The scheme cannot read it: it keeps the order of ingestion."""


class ReleasePosition(msgspec.Struct, frozen=True, order=True):
    """The place of a release in its line."""

    standing: LabelOrder
    key: SortKey


def position(version: str, sequence: int, scheme: str = AUTO) -> ReleasePosition:
    """The place of a release, from its label and its number in the order of ingestion."""
    key = reading(version, scheme)
    if key is None:
        return ReleasePosition(LabelOrder.UNORDERED, (sequence, version))
    standing = LabelOrder.SERIES if series(version, scheme) else LabelOrder.VERSION
    return ReleasePosition(standing, (key, _plain(version), version))


def spellings_of(version: str) -> tuple[str, ...]:
    """A label, and those that differ by a leading ``v``, which is irrelevant: ``1.0`` and ``v1.0``."""
    bare = version[1:] if version[:1] in {"v", "V"} and version[1:2].isdigit() else version
    return tuple(dict.fromkeys((version, bare, *(f"{sign}{bare}" for sign in "vV" if bare[:1].isdigit()))))


def reading(version: str, scheme: str = AUTO) -> SortKey | None:
    """The place of a label in a scheme; ``None`` if the scheme cannot read it.

    Raises :class:`UsageError` for an unknown scheme.
    """
    read = READERS.get(scheme)
    if read is None:
        raise UsageError(f"unknown version scheme: {scheme}", f"one of {', '.join((AUTO, *SCHEMES))}")
    return read(version)


def series(version: str, scheme: str = AUTO) -> str:
    """The series that a label names before its number: ``nightly``. Empty without one, and unless ``auto``."""
    found = convention(version) if scheme == AUTO else None
    return found.series if found else ""


def check_version(version: str, scheme: str) -> None:
    """Raise :class:`UsageError` if a scheme cannot read a label."""
    if reading(version, scheme) is None:
        kind = "version" if scheme == AUTO else f"{scheme} version"
        raise UsageError(
            f"{version} is not a {kind}",
            f"write it as {kind} does, or use another scheme: {', '.join((AUTO, *SCHEMES))}",
        )


def _since_its_tag(read: Callable[[str], SortKey | None]) -> Callable[[str], SortKey | None]:
    """``read`` for labels of ``git describe`` too: ``1.2-3-g0123abc`` comes after its tag ``1.2``."""

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
"""The readers that follow a specification, by scheme."""

READERS: Mapping[str, Callable[[str], SortKey | None]] = {
    **SPECIFIED,
    AUTO: convention,
    "pep440": _since_its_tag(_pep440),
    "semver": _since_its_tag(_semver),
}
"""The readers of labels, by scheme."""
