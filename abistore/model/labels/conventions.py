"""One order for version labels of all conventions.

Each label is read by itself, so a new label never moves another. A label has words, a number, and a rest::

    v1.0.0-rc1      OpenSSL_1_0_2k      nightly-2024-05-01      2:2.36-9+deb12u7      v1.0.0-14-g126bde0-dirty

Some rests put a label before its bare number: ``rc1``, ``~``. Others put it after, in this order: commits counted by
``git describe``, a revision (``-9``), letters (``k``), an addition (``+deb12u7``), further numbers. Words before the
number name a series: ``nightly``. Words such as ``v`` and ``release-`` only introduce the version. A label without a
number is not ordered, and neither is the hash of a commit.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import msgspec

from abistore.patterns import pattern


class PartOrder(IntEnum):
    """The kinds of parts that a label has. Labels with a kind listed earlier come first."""

    BEFORE = 0
    """``~``: ``1.0~beta`` comes before ``1.0``, as in Debian."""
    PRE_RELEASE = 1
    END = 2
    COMMITS = 3
    COUNTED = 4
    """A number in a pre-release: before words there, ``1.0.0-rc.1`` before ``1.0.0-rc.x``, as in semantic versions."""
    REVISION = 5
    WORD = 6
    ADDED = 7
    NUMBER = 8


Number: TypeAlias = tuple[int, str]
"""A whole number of any length: how many digits it has, and the digits without leading zeros."""

Part: TypeAlias = tuple[PartOrder, Number, str]


class ConventionalLabel(NamedTuple):
    """The place of a label among others. Labels without a series come first."""

    series: str
    epoch: Number
    parts: tuple[Part, ...]


NOTHING: Number = (0, "")
PRE_RELEASES = {
    **dict.fromkeys(("dev", "devel", "git", "nightly", "snapshot"), ""),
    **dict.fromkeys(("a", "alpha"), "alpha"),
    **dict.fromkeys(("b", "beta"), "beta"),
    **dict.fromkeys(("m", "milestone"), "milestone"),
    **dict.fromkeys(("pre", "preview"), "pre"),
    **dict.fromkeys(("c", "cr", "rc"), "rc"),
}
"""Words that announce a release, and the word that each is ordered as. Development builds come first."""
LETTERS = frozenset("abcm")
"""Letters that mark a pre-release before a number only: ``1.0a1``. ``1.0.2a`` is a later release."""
FOLLOWING = frozenset({"final", "fix", "ga", "hotfix", "p", "patch", "pl", "post", "r", "release", "rev", "sp"})
"""Words for a later release: ``1.0-hotfix``. They are no pre-releases in semantic versions either."""
INTRODUCTIONS = frozenset({"v", "ver", "version", "rel", "release"})

_DESCRIBED = pattern(r"(?P<tag>.+?)(?:-(?P<commits>[0-9]+)-g[0-9a-f]{4,64})?(?P<dirty>-dirty)?")
_LABEL = pattern(r"(?P<words>(?:[A-Za-z][A-Za-z._-]*)?)(?:(?P<epoch>[0-9]+)[:!])?(?P<version>[0-9].*)")
_CORE = pattern(r"[0-9]+(?:[._][0-9]+)*")
_PIECE = pattern(r"(?P<before>~)|(?P<mark>[-._+^]*)(?:(?P<number>[0-9]+)|(?P<word>[A-Za-z]+)|$)")
_SEMANTIC = pattern(r"[0-9]+\.[0-9]+\.[0-9]+-[A-Za-z]")
_HASH = pattern(r"(?:[A-Za-z]+[._-])*g?(?P<hash>[0-9a-f]{7,64})")
_DATE = pattern(r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?:[0-9]{2}){0,3}(?:[a-z][0-9]?)?")


@lru_cache(maxsize=1 << 15)
def convention(label: str) -> ConventionalLabel | None:
    """The place of ``label``; ``None`` if it is the hash of a commit, or otherwise no version."""
    tag, since = described(label)
    match = _LABEL.fullmatch(tag)
    parts = _parts(match["version"]) if match and not _is_hash(tag) else None
    if match is None or parts is None:
        return None
    words = re.split(r"[._-]", match["words"].lower())
    series = "-".join(word for word in words if word and word not in INTRODUCTIONS)
    end: Part = (PartOrder.END, NOTHING, "")
    return ConventionalLabel(series, number(match["epoch"] or ""), (*parts, *since, end))


def described(label: str) -> tuple[str, tuple[Part, ...]]:
    """The tag in a label of ``git describe``, and the part for the commits and changes since that tag."""
    match = _DESCRIBED.fullmatch(label)
    if match is None or match["tag"] == label:
        return label, ()
    return match["tag"], ((PartOrder.COMMITS, number(match["commits"] or ""), match["dirty"] or ""),)


class WrittenLabel(msgspec.Struct, frozen=True):
    """A label as it is written: what stands before its first number, its numbers, and what separates these."""

    introduction: str
    numbers: tuple[str, ...]
    separator: str


def written(label: str) -> WrittenLabel | None:
    """``v``, ``22`` and ``04``, ``.`` of ``v22.04-rc1``; ``None`` for a label without a number, or a commit's hash."""
    tag, _ = described(label)
    match = _LABEL.fullmatch(tag)
    core = _CORE.match(match["version"]) if match and not _is_hash(tag) else None
    if match is None or core is None:
        return None
    separator = "_" if "_" in core[0] else "."
    return WrittenLabel(tag[: match.start("version")], tuple(re.split(r"[._]", core[0])), separator)


def _is_hash(tag: str) -> bool:
    """Whether a label is the hash of a commit. A hash may have digits only; a date is no hash."""
    match = _HASH.fullmatch(tag)
    return match is not None and _DATE.fullmatch(match["hash"]) is None


def _parts(version: str) -> list[Part] | None:
    """The parts of a version; ``None`` if one of them is unknown."""
    core = _CORE.match(version)
    assert core is not None
    numbers = [number(word) for word in re.split(r"[._]", core[0])]
    while numbers and numbers[-1] == NOTHING:
        numbers.pop()  # 1.0 is 1.0.0
    parts: list[Part] = [(PartOrder.NUMBER, one, "") for one in numbers]
    section, position = PartOrder.NUMBER, core.end()
    while position < len(version):
        piece = _PIECE.match(version, position)
        if piece is None:
            return None
        semantic = position == core.end() and _SEMANTIC.match(version) is not None
        section, part = _part(piece, section, semantic=semantic)
        parts.append(part)
        position = piece.end()
    return parts


def _part(piece: re.Match[str], section: PartOrder, *, semantic: bool) -> tuple[PartOrder, Part]:
    """The section that a piece is in, and its part. ``~``, a pre-release and an addition begin a section."""
    mark, amount, word = piece["mark"] or "", number(piece["number"] or ""), (piece["word"] or "").lower()
    if piece["before"]:
        return PartOrder.BEFORE, (PartOrder.BEFORE, NOTHING, "")
    if "+" in mark or "^" in mark:
        return PartOrder.ADDED, (PartOrder.ADDED, amount, word)
    if not word:
        counted = PartOrder.COUNTED if section is PartOrder.PRE_RELEASE else PartOrder.NUMBER
        return section, (PartOrder.REVISION if "-" in mark else counted, amount, "")
    announced = _announced(piece, word, semantic=semantic)
    if announced is None:
        return section, (PartOrder.WORD, NOTHING, word)
    if section is PartOrder.NUMBER or (section is PartOrder.PRE_RELEASE and not announced):
        return PartOrder.PRE_RELEASE, (PartOrder.PRE_RELEASE, NOTHING, announced)
    return section, (PartOrder.WORD, NOTHING, announced)


def _announced(piece: re.Match[str], word: str, *, semantic: bool) -> str | None:
    """The word that a pre-release is ordered as; ``None`` for any other word."""
    numbered = piece.string[piece.end() : piece.end() + 1].isdigit()
    if word in LETTERS and not piece["mark"] and not numbered:
        return None
    return PRE_RELEASES.get(word, word if semantic and word not in FOLLOWING else None)


def number(digits: str) -> Number:
    """The number in ``digits``; 0 without digits."""
    significant = digits.lstrip("0")
    return len(significant), significant
