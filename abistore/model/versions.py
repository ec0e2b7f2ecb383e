"""The order of release labels: PEP 440, semantic versions, Debian versions, or plain natural order.

Every scheme gives a total order: labels that the scheme holds equal (``1.0`` and ``1.0.0`` in PEP 440, build metadata
in semver) are told apart by their natural order, then by their characters. ``auto`` is, for a whole line, the first
scheme of :data:`SCHEMES` that reads all of its labels (:func:`scheme_for`); ``plain`` reads any. PEP 440 also reads
labels that mean something else elsewhere (Debian's ``2.36-9+deb12u7``, OpenSSL's ``1.0.2a``): ``auto`` leaves those
to the schemes after it, a declared ``pep440`` does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, TypeAlias

from abistore.errors import UsageError

SortKey: TypeAlias = tuple[Any, ...]
"""Comparable with the keys of the same scheme only."""

SCHEMES: tuple[str, ...] = ("pep440", "semver", "debian", "plain")

_SEMVER = re.compile(
    r"v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*))*))?"
    r"(?:\+[\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*)?",
    re.ASCII,
)
_DEBIAN = re.compile(r"(?:(\d+):)?(\d[A-Za-z0-9.+~-]*?)(?:-([A-Za-z0-9+.~]+))?", re.ASCII)
_DEBIAN_PART = re.compile(r"([^0-9]*)([0-9]*)")
_FOREIGN_TO_PEP440 = re.compile(r"\+|-\d|\d[A-Za-z]+$")
"""A local version, a revision, a letter release: PEP 440 reads them, in an order that their authors did not mean."""

_RUNS = re.compile(r"([0-9]+)")


def sort_key(version: str, scheme: str = "auto") -> SortKey:
    """The place of ``version`` among labels of the same ``scheme``.

    Raises :class:`UsageError` where the scheme is unknown, or does not read the label.
    """
    chosen = scheme_for([version]) if scheme == "auto" else scheme
    key = _reader(chosen)(version)
    if key is None:
        raise UsageError(f"{version} is not a {chosen} version", f"use one, or another scheme: {', '.join(SCHEMES)}")
    return (key, _plain(version), version)


def scheme_for(versions: Iterable[str], declared: str = "auto") -> str:
    """The scheme that orders ``versions``: the ``declared`` one, or the first that reads all of them."""
    if declared != "auto":
        return declared
    labels = list(versions)
    return next(scheme for scheme in SCHEMES if all(_means(scheme, label) for label in labels))


def _means(scheme: str, label: str) -> bool:
    """Whether ``label`` is in all likelihood meant as a version of ``scheme``."""
    if scheme == "pep440" and _FOREIGN_TO_PEP440.search(label):
        return False
    return _reader(scheme)(label) is not None


def check_scheme(scheme: str) -> None:
    """Raise :class:`UsageError` where ``scheme`` is neither ``auto`` nor one of :data:`SCHEMES`."""
    if scheme != "auto":
        _reader(scheme)


def _reader(scheme: str) -> Callable[[str], SortKey | None]:
    if scheme not in _READERS:
        raise UsageError(f"unknown version scheme: {scheme}", f"one of auto, {', '.join(SCHEMES)}")
    return _READERS[scheme]


@cache
def _pep440(version: str) -> SortKey | None:
    from packaging.version import InvalidVersion, Version

    try:
        return (Version(version),)
    except InvalidVersion:
        return None


def _semver(version: str) -> SortKey | None:
    """Semantic Versioning 2.0.0, section 11; a leading ``v`` is allowed."""
    match = _SEMVER.fullmatch(version)
    if match is None:
        return None
    identifiers = match[4].split(".") if match[4] else []
    # numeric identifiers are lower than others, a version without any is higher than all with
    rank = tuple((0, int(word), "") if word.isdecimal() else (1, 0, word) for word in identifiers)
    return (int(match[1]), int(match[2]), int(match[3]), not identifiers, rank)


def _debian(version: str) -> SortKey | None:
    """``[epoch:]upstream[-revision]`` as in Debian Policy 5.6.12; an absent epoch or revision counts as 0."""
    match = _DEBIAN.fullmatch(version)
    if match is None:
        return None
    return (int(match[1] or 0), _debian_part(match[2]), _debian_part(match[3] or "0"))


def _debian_part(text: str) -> SortKey:
    pairs = _DEBIAN_PART.findall(text)
    return tuple((tuple(map(_debian_rank, [*letters, ""])), int(digits or 0)) for letters, digits in pairs)


def _debian_rank(letter: str) -> int:
    """``~`` before the end of the part, the end before letters, letters before other characters."""
    if letter in {"~", ""}:
        return -len(letter)
    return ord(letter) if letter.isalpha() else ord(letter) + 256


def _plain(version: str) -> SortKey:
    """Natural order: runs of digits by value, everything else by characters; digits before other characters."""
    runs = [run for run in _RUNS.split(version) if run]
    return tuple((0, int(run), "") if _RUNS.fullmatch(run) else (1, 0, run) for run in runs)


_READERS: Mapping[str, Callable[[str], SortKey | None]] = {
    "pep440": _pep440,
    "semver": _semver,
    "debian": _debian,
    "plain": _plain,
}
