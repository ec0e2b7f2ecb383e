"""What two release labels promise: how large a step they declare, and which label a larger step would have.

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

from typing import Final

from msgspec.structs import replace

from abistore.model.labels.conventions import PRE_RELEASES, PartOrder, convention, described, number, written
from abistore.model.labels.steps import AUTO, Promise, Step
from abistore.model.labels.versions import reading
from abistore.patterns import pattern

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
