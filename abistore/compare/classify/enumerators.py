"""What an enumerator is for, as far as its name and its place among the others tell.

The expressions are compiled when a name is first looked at: few comparisons do.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property, reduce
from operator import or_

from abistore.compare.classify.enumerations.ends import Hint, end_hint, words
from abistore.compare.classify.enumerations.runs import counted, runs_up_to, steps_up_to
from abistore.model.cpp_names.qualified import last_component
from abistore.model.names import UNNAMED_ENUM
from abistore.model.shapes import Enum, Enumerator

FIRST = (
    r"(?i)(?:^|_)(?:first|lowest|min(?:imum)?)(?:_?(?:value|item|entry|enum))?_*$"
    r"|(?-i:(?:^k?|[a-z0-9])(?:First|Lowest|Min(?:imum)?)(?:Value|Enum)?$)"
)
"""How the first of a list is called that has another name too: ``COLOR_FIRST = COLOR_RED``, ``kMin = kNotset``."""

PLURAL = r"(?i)(?:n_?|no_?of_?)?(?P<shared>[a-z0-9_]+?)_?(?:e?s|_n)"
"""How the number of all is called after what each is called: ``COLORS`` and ``NCOLORS`` behind ``COLOR_RED``."""

ANSWERS = (
    r"(?i)(?<![a-z])(?:err(?:or|no)?|result|ret|rc|status|code|state|token|tok|event|exception|fail(?:ed|ure)?|reason)s?"
    r"(?![a-z])|(?-i:(?:Err(?:or|no)?|Result|Ret|Status|Code|State|Token|Event|Exception|Fail(?:ed|ure)?|Reason)s?"
    r"(?![a-z]))"
)
"""How enumerations are called, or most of their enumerators, of which functions return one: errors, states."""

ERRORS = (
    r"(?i)(?<![a-z])(?:err(?:or|no)?|fail(?:ed|ure)?)s?(?![a-z])"
    r"|(?-i:(?:Err(?:or|no)?|Fail(?:ed|ure)?)s?(?![a-z]))"
)
"""How enumerations of errors are called."""

STATES = r"(?i)(?<![a-z])(?:state|token|tok|event)s?(?![a-z])|(?-i:(?:State|Token|Event)s?(?![a-z]))"
"""How enumerations are called of which a begin and an end are values like the others."""

BEGIN = r"(?i)(?P<shared>.+?_)_*(?:begin|start|first|min)"
END = r"(?i)_*end(?:_all)?"
"""How two bounds are called between which errors lie, the end behind what the names of all share."""

VERSION = r"(?i)(?:^|_)versions?(?:$|_)|Version"
"""How enumerators are called that carry a release number."""

MASK = r"(?i)(?:^|_)(?:all|mask|any|valid|known)(?:_|$)|(?:All|Mask)$"
"""How enumerators are called that join all other bits."""

RESERVED = (
    r"(?:^|_)(?:reserved|placeholder|do_?not_?use)(?:_?(?:value|slot|flag|bit|field|for_future\w*))?_?\d*_*$"
    r"|(?:^|_)(?:unused|not_?used|pad|padding|dummy|spare)_?\d+_*$"
    r"|(?:^k?|[a-z0-9])(?:Reserved|Placeholder|DoNotUse)\d*$|(?:^k?|[a-z0-9])(?:Unused|Dummy|Spare)\d+$"
)
"""How enumerators are called that nobody is to use. ``SLOT_UNUSED`` may well be a state, ``UNUSED3`` is none."""

FLAGS = r"(?i)(?:^|_)(?:flags?|bits?|mask|bitmask)(?:_?(?:t|e|enum|type))?$|(?:Flags?|Bits?|Mask)$"
"""How enumerations are called whose values are combined: ``open_flags``, ``AccessMask``."""

EXPERIMENTAL = r"(?i)experimental|unstable"
"""How enumerators are called that come without any promise."""


class EnumeratorValues:
    """The enumerators of one side by name and by value, and what the enumeration is called."""

    def __init__(self, enum: Enum, name: str = "") -> None:
        self._name = name
        self.by_name = {each.name: each.value for each in enum.enumerators}
        self.by_value: dict[int, list[Enumerator]] = {}
        for each in enum.enumerators:
            self.by_value.setdefault(each.value, []).append(each)

    @cached_property
    def _largest(self) -> int | None:
        """The largest value but for ends and lengths."""
        return max((value for name, value in self.by_name.items() if not self.hint(name)), default=None)

    def hint(self, name: str) -> Hint:
        """What the name of an enumerator says of its being the end of the list or the number of all."""
        return end_hint(name, self._kin)

    @cached_property
    def _kin(self) -> frozenset[str]:
        """The words that the enumeration is called by, and those that nearly all enumerators begin with."""
        others = [words(name) for name in self.by_name]
        first = Counter(each[:length] for each in map(tuple, others) for length in range(1, len(each)))
        shared = (each for each, times in first.items() if 1 < times >= len(others) - 1)
        told = {*words(last_component(self._name)), *(word for each in shared for word in each)}
        return frozenset(word for word in told if len(word) > 1)

    @cached_property
    def _all_bits(self) -> int | None:
        """The sum of all bits but for such sums; ``None`` without any."""
        bits = [value for name, value in self.by_name.items() if value >= 0 and not re.search(MASK, name)]
        return reduce(or_, bits) if bits else None

    def means_flags(self, value: int) -> bool:
        """Whether ``value`` is made of flags of this enumeration, all of which it names; 0 is made of none."""
        if value < 0 or not self.by_value or re.search(FLAGS, last_component(self._name)) is None:
            return False
        return min(self.by_value) >= 0 and value & ~self.single_bits == 0

    @cached_property
    def single_bits(self) -> int:
        """The sum of the enumerators that are one bit."""
        return reduce(or_, (value for value in self.by_value if value.bit_count() == 1), 0)

    def keeps_flags(self, value: int, new: EnumeratorValues) -> bool:
        """Whether the flags of which ``value`` is made all have their names and numbers in ``new`` too."""
        flags = [each for bit, named in self.by_value.items() if bit.bit_count() == 1 and bit & value for each in named]
        return all(new.by_name.get(each.name) == each.value for each in flags)

    def _is_counted(self, end: Enumerator) -> bool:
        """Whether ``end`` follows values in a row, which are no errors, results or states."""
        others = counted(self.by_value, end.value)
        runs = runs_up_to(end.value, others) or steps_up_to(end.value, others)
        answers = sum(re.search(ANSWERS, name) is not None for name in self.by_name)
        return runs and 2 * answers <= len(self.by_name) and re.search(ANSWERS, self._name) is None

    @cached_property
    def _ends_of_errors(self) -> frozenset[str]:
        """What is called ``ERR_END`` and ends errors that begin with ``ERR_BEGIN``: neither says what is wrong."""
        if not re.search(ERRORS, self._name) or re.search(STATES, self._name) or len(self.by_value) <= 2:
            return frozenset()
        first, last = self.by_value[min(self.by_value)], self.by_value[max(self.by_value)]
        begins = (found["shared"] for each in first if (found := re.fullmatch(BEGIN, each.name)))
        shared = {start for start in begins if all(name.startswith(start) for name in self.by_name)}
        return frozenset(
            each.name for each in last for start in shared if re.fullmatch(END, each.name.removeprefix(start))
        )

    def _is_certain(self, bound: Enumerator) -> bool:
        """Whether one that is called an end is one: a size of the list, or the last of the values by another name."""
        match self.hint(bound.name):
            case "certain":
                return True
            case "last":
                return bound.value == self._largest or self._is_counted(bound)
            case _:
                return self._is_counted(bound)

    def _is_number_of_all(self, each: Enumerator) -> bool:
        """Whether ``each`` is the number of the others, and called after them: ``COLORS`` after ``COLOR_RED``."""
        if each.value < 2 or each.value != len(self.by_name) - 1 or each.value != max(self.by_value):
            return False
        others = [name.lower() for name in self.by_name if name != each.name]
        found = re.fullmatch(PLURAL, each.name)
        shared = f"{found['shared'].lower()}_" if found else ""
        return bool(shared) and all(name.startswith(shared) for name in others) and self._is_counted(each)

    def _is_last(self, each: Enumerator) -> bool:
        """Whether no other enumerator but ends is larger than ``each``, or none but those that join flags.

        Then it is the last flag by another name: ``FORMAT_MAX = FORMAT_C`` beside ``FORMAT_ANY = 7``.
        """
        if self._largest is None or self._largest <= each.value:
            return True
        if each.value.bit_count() != 1 or len(self.by_value[each.value]) == 1:
            return False
        larger = (value for value in self.by_value if value > each.value)
        return all(value.bit_count() > 1 and value & ~self.single_bits == 0 for value in larger)

    def _is_first(self, each: Enumerator) -> bool:
        """Whether ``each`` is called the first, and is the smallest value by another name."""
        named = re.search(FIRST, each.name) is not None
        return named and each.value == min(self.by_value) and len(self.by_value[each.value]) > 1

    def is_sentinel(self, each: Enumerator) -> bool:
        """Whether ``each`` moves with what else the enumeration holds: an end, a length, the sum of all bits.

        An end is called so and no other enumerator but ends is larger, or it is the number of the others and called
        after them; the sum of all bits is called so and is it.
        A size, an end or a total is one of a list only: it is the number of the others, and these are no answers.
        A first one is the smallest by another name, which keeps the number that programs have.
        """
        if each.name in self._ends_of_errors:
            return True
        if UNNAMED_ENUM in self._name and len(self.by_name) < 2:
            return False  # a constant of its own ends no list
        if self.hint(each.name):
            return self._is_last(each) and self._is_certain(each)
        if self._is_number_of_all(each) or self._is_first(each):
            return True
        return re.search(MASK, each.name) is not None and each.value == self._all_bits


def is_release_number(old: Enumerator, new: Enumerator, before: EnumeratorValues, after: EnumeratorValues) -> bool:
    """Whether an enumerator that changed from ``old`` to ``new`` is called a version and did not only change places."""
    return bool(re.search(VERSION, old.name)) and old.value not in after.by_value and new.value not in before.by_value


def is_reserved(name: str) -> bool:
    """Whether an enumerator of this name is only there to keep its value free."""
    return any(re.search(RESERVED, each) for each in (name, name.lower()))


def is_experimental(name: str) -> bool:
    """Whether an enumerator of this name was never promised to stay."""
    return re.search(EXPERIMENTAL, name) is not None
