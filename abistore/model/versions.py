"""The order of release labels under a version scheme, names of libraries, and what labels promise.

``auto`` reads labels of all conventions (:mod:`abistore.model.labels`). ``pep440``, ``semver`` and
``debian`` follow the specification of one convention. ``plain`` takes any label in natural order. Labels that a scheme
cannot read come last, in the order of ingestion. A label never moves another.

A scheme may hold two labels equal: ``1.0`` and ``1.0.0``, or build metadata in semver. Their natural order decides
then, and after that their characters.

What two release labels promise: how large a step they declare, and which label a larger step would have.

==============  ==============================================================================================
semantic        ``1.9.4``: the first number breaks, the second adds, the third mends. In ``0.x`` the second breaks
                and the third adds, in ``0.0.x`` every number breaks, as Cargo reads them.
calendar        ``2024.10``, ``22.04``, ``20240501``: a day promises nothing.
libtool         ``5:0:2``: current, revision and age of libtool's ``-version-info``.
serial          ``252``: one number that every release raises promises nothing.
unknown         another epoch, another series (``nightly-1``), a commit's hash, or no label.
==============  ==============================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from enum import IntEnum
from functools import cache, lru_cache
from typing import Any, Final, Literal, TypeAlias, cast, get_args

import msgspec
from msgspec.structs import replace

from abistore.errors import UsageError
from abistore.model.history import DEFAULT_CHANNEL
from abistore.model.labels import (
    AUTO,
    NOTHING,
    PRE_RELEASES,
    PartOrder,
    Promise,
    Step,
    convention,
    described,
    is_blank,
    number,
    written,
)
from abistore.patterns import pattern

Named: TypeAlias = Literal["library", "version", "profile", "channel", "environment"]
"""What has a name that references and options say."""

NAMED: Final[tuple[Named, ...]] = get_args(Named)
MOST_LETTERS: Final = 255
"""As many as a file's name has."""

NEEDED: Final[dict[Named, str]] = {
    "library": "give a name such as libfoo, or leave --library out",
    "version": "give a label such as 1.2.0",
    "profile": "give a word such as debug, or leave --profile out",
    "channel": "give a word such as main, or leave the channel out",
    "environment": "give a word such as production",
}
"""What to give in place of an empty name."""

CALLED: Final[dict[Named, str]] = {"library": "library's name", "environment": "name of an environment"}
"""What the name of a thing is called, if not after the thing itself."""

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
        called = CALLED.get(what, what)
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
        return "do not begin with -, which begins options"
    return "omit @, which separates the release in references" if "@" in text else ""


def _own_fault(what: Named, text: str) -> str:
    """What is wrong beside that: ``.`` begins a path, and ``libfoo=include`` gives headers to a library."""
    match what:
        case "library" if text.startswith(".") or "/" in text or "=" in text:
            return "pass --library with a name without @, / and = that does not begin with a dot"
        case "version" if re.search(r"[\s/]", text):
            return "use a label without blanks and slashes, e.g. 1.2.0"
        case "version" if RESERVED.fullmatch(text):
            return "latest, prev, baseline, candidate and none are reserved"
        case "profile" if text == EVERY_PROFILE:
            return "all means every profile: choose another word"
        case _:
            return ""


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

MOST_DIGITS: Final = 18
_LIBTOOL: Final = pattern(r"(\d{1,18}):(\d{1,18}):(\d{1,18})")
_YEAR: Final = pattern(r"(?:19|20)\d\d")
_DAY: Final = pattern(r"(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")
_MONTH: Final = pattern(r"0[1-9]|1[0-2]")


def promise(old: str, new: str, scheme: str = AUTO) -> Promise:
    """What the labels of two releases promise under the version scheme of their library."""
    first, second = _LIBTOOL.fullmatch(old), _LIBTOOL.fullmatch(new)
    if first and second:
        return _libtool(*((int(each[1]), int(each[2]), int(each[3])) for each in (first, second)))
    before, after = _numbers(old), _numbers(new)
    unreleased = is_unreleased(new)
    if scheme == "plain" or before is None or after is None or _apart(old, new, scheme):
        return Promise("unknown", None, *_steps(before or ()), unreleased=unreleased)
    if scheme != "semver" and (_is_calendar(before, after) or _is_calendar(after, before)):
        return Promise("calendar", None, lowered=_lowered(old, new), unreleased=unreleased)
    if len(before) == len(after) == 1:
        return Promise("serial", None, lowered=_lowered(old, new), unreleased=unreleased)
    declared = _declared(before, after, old, new)
    return Promise("semantic", declared, *_steps(before), _lowered(old, new), unreleased)


def next_label(old: str, step: Step, scheme: str = AUTO) -> str:
    """The label of the next release after ``old`` that declares ``step``; empty if ``old`` tells no scheme."""
    if libtool := _LIBTOOL.fullmatch(old):
        current, revision, age = map(int, libtool.groups())
        broken, added = f"{current + 1}:0:0", f"{current + 1}:0:{age + 1}"
        return {Step.MAJOR: broken, Step.MINOR: added}.get(step, f"{current}:{revision + 1}:{age}")
    if promise(old, old, scheme).versioning != "semantic":
        return ""
    label = written(old)
    if label is None or any(len(each) > MOST_DIGITS for each in label.numbers):
        return ""
    place = {Step.MAJOR: 0, Step.MINOR: 1}.get(step, 2)
    numbers = [int(each) for each in label.numbers] + [0] * (place + 1 - len(label.numbers))
    raised = [*numbers[:place], numbers[place] + 1, *([0] * (len(numbers) - place - 1))]
    return label.introduction + label.separator.join(map(str, raised))


def _libtool(old: tuple[int, int, int], new: tuple[int, int, int]) -> Promise:
    """The step between two ``current:revision:age``. The loader's version is current - age."""
    known = Promise("libtool", Step.NONE)
    if new[0] - new[2] > old[0] - old[2]:
        return replace(known, declared=Step.MAJOR)
    if new[0] - new[2] < old[0] - old[2] or new[0] < old[0] or (new[0] == old[0] and new[1] < old[1]):
        return replace(known, lowered=True)
    return replace(known, declared=Step.MINOR if new[0] > old[0] else Step.PATCH if new[1] > old[1] else Step.NONE)


def _numbers(label: str) -> tuple[str, ...] | None:
    label_written = written(label)
    return label_written.numbers if label_written else None


def is_unreleased(label: str) -> bool:
    """Whether a label is of a build between releases: of ``git describe``, ``nightly-1``, or without a number."""
    read = convention(label)
    return read is None or read.series in PRE_RELEASES or described(label)[0] != label


def _apart(old: str, new: str, scheme: str) -> bool:
    """Whether the labels are of two series or epochs, or one cannot be read: no number of one is beside the other's."""
    if reading(old, scheme) is None or reading(new, scheme) is None:
        return True
    before, after = convention(old), convention(new)
    if before is None or after is None:
        return False
    return (before.series, before.epoch) != (after.series, after.epoch)


def _steps(numbers: tuple[str, ...]) -> tuple[Step, Step]:
    """The steps that may break and add after a release with these numbers."""
    zeros = [not number(each)[0] for each in (*numbers, "0", "0")]
    if not numbers or not zeros[0]:
        return Step.MAJOR, Step.MINOR
    return (Step.PATCH, Step.PATCH) if zeros[1] else (Step.MINOR, Step.PATCH)


def _declared(before: tuple[str, ...], after: tuple[str, ...], old: str, new: str) -> Step | None:
    """The step from one label to a later one; ``None`` from a pre-release to what it announced, or to commits on it."""
    first, second = (tuple(map(number, each)) for each in (before, after))
    for place in range(max(len(first), len(second))):
        was, now = (each[place] if place < len(each) else number("") for each in (first, second))
        if was != now:
            return Step(max(Step.PATCH, Step.MAJOR - place)) if now > was else Step.NONE
    if is_unreleased(new) or _is_pre_release(old):
        return None
    return Step.PATCH if _is_later(old, new) else Step.NONE


def _is_later(old: str, new: str) -> bool:
    before, after = convention(old), convention(new)
    return before is not None and after is not None and after > before


def _is_pre_release(label: str) -> bool:
    read = convention(label)
    return read is not None and any(part[0] in (PartOrder.PRE_RELEASE, PartOrder.BEFORE) for part in read.parts)


def _lowered(old: str, new: str) -> bool:
    before, after = convention(old), convention(new)
    return before is not None and after is not None and after < before


def _is_calendar(numbers: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Whether a label begins with a year, is a day, or has a year of two digits before a month, as the other one may.

    ``22.04`` is a month. ``22.10`` may be one or not: beside ``23.11`` it is one, and beside ``23.3`` it is none.
    """
    if _DAY.fullmatch(numbers[0]) or _YEAR.fullmatch(numbers[0]):
        return True
    months = [len(each) > 1 and len(each[0]) == 2 and bool(_MONTH.fullmatch(each[1])) for each in (numbers, others)]
    return months[0] and (numbers[1].startswith("0") or months[1])


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
        raise UsageError(f"{text!r} is not a deprecation window", HINT)
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
