"""Whether an end follows values that are in a row: by ones, or by steps with something else in the low bits."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from abistore.model.shapes import Enumerator

FEWEST: Final = 4
"""Steps that are even by chance are fewer."""

NO_VALUE = (
    r"(?i)(?:^|_)(?:unknown|invalid|none|undef(?:ined)?|unset|unspecified|no_?value)_*$"
    r"|(?:^k?|[a-z0-9])(?:Unknown|Invalid|None|Undef(?:ined)?|Unset|Unspecified|NoValue)$"
)
"""How the enumerator for no value is called, which a list has in front of its values, as -1."""


def counted(by_value: Mapping[int, Collection[Enumerator]], end: int) -> list[int]:
    """The values below ``end`` that are in a list: all, but for a -1 that stands for none of them."""
    stands_for_none = all(re.search(NO_VALUE, each.name) for each in by_value.get(-1, ()))
    return [value for value in by_value if value < end and not (value == -1 and stands_for_none)]


def runs_up_to(end: int, values: Collection[int]) -> bool:
    """Whether ``values`` run from 0 or 1 up to ``end`` without a gap."""
    first = min(values, default=None)
    return first in (0, 1) and len(values) == end - first


def steps_up_to(end: int, values: Collection[int]) -> bool:
    """Whether ``values`` rise to ``end`` in even steps from 0, e.g. 0, 10, 20, or 0 << 2, 1 << 2, 2 << 2.

    What is shifted leaves room for bits: ``RED = 1 << 2 | BRIGHT``, beside which ``1 << 2`` may stand. At least half
    of the numbers are left out: what has none between others is no list by steps.
    """
    if 2 * len(values) > end or min(values, default=-1) < 0:
        return False
    counts = (count for count in range(FEWEST, len(values) + 1) if end % count == 0)
    return any(_are_steps(values, count, end // count) for count in counts)


def _are_steps(values: Collection[int], count: int, step: int) -> bool:
    is_shift = step.bit_count() == 1
    reached = {value // step for value in values if is_shift or value % step == 0}
    return reached == set(range(count)) and (is_shift or len(values) == count)
