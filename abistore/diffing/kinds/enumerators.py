"""What an enumerator is for: an end of a list, a set of flags, or a value by itself.

What an enumerator is for, as far as its name and its place among the others tell.

The expressions are compiled when a name is first looked at: few comparisons do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from functools import cached_property, reduce
from operator import or_
from typing import Final

from abistore.diffing.context import Context
from abistore.diffing.kinds.records import Hint, end_hint, words
from abistore.diffing.side import SideFacts, enumerated
from abistore.model.declarations import UNNAMED_ENUM, Changed, Declared, Name, Removed, unnamed_enum
from abistore.model.hints import matches
from abistore.model.names.qualified import last_component
from abistore.model.shapes import Enum, Enumerator
from abistore.patterns import pattern

FEWEST: Final = 4
"""Steps that are even by chance are fewer."""


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
        bits = [value for name, value in self.by_name.items() if value >= 0 and not matches("all_bits", name)]
        return reduce(or_, bits) if bits else None

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
        others = [value for value in self.by_value if value < end.value]
        runs = runs_up_to(end.value, others) or steps_up_to(end.value, others)
        answers = sum(matches("answer", name) for name in self.by_name)
        return runs and 2 * answers <= len(self.by_name) and not matches("answer", self._name)

    def _is_certain(self, bound: Enumerator) -> bool:
        """Whether one that is called an end is one: a size of the list, or the last of the values by another name."""
        match self.hint(bound.name):
            case "certain":
                return True
            case _:
                return self._is_counted(bound)

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
        named = matches("first", each.name)
        return named and each.value == min(self.by_value) and len(self.by_value[each.value]) > 1

    def is_sentinel(self, each: Enumerator) -> bool:
        """Whether ``each`` moves with what else the enumeration holds: an end, a length, the sum of all bits.

        An end is called so and no other enumerator but ends is larger; the sum of all bits is called so and is it.
        A size, an end or a total is one of a list only: it is the number of the others, and these are no answers.
        A first one is the smallest by another name, which keeps the number that programs have.
        """
        if UNNAMED_ENUM in self._name and len(self.by_name) < 2:
            return False  # a constant of its own ends no list
        if self.hint(each.name):
            return self._is_last(each) and self._is_certain(each)
        if self._is_first(each):
            return True
        return matches("all_bits", each.name) and each.value == self._all_bits


def enumerator_of(name: Name, value: str | None, context: Context) -> tuple[str, str] | None:
    """The values of a constant that went, and of the enumerator that the new headers have by its name."""
    now = context.new.enumerators.get(name)
    return None if now is None or value is None else (value, str(now))


def is_constant_now(each: Removed[Enumerator] | Changed[Enumerator], context: Context) -> bool:
    """Whether programs find what an enumerator was called, and its value, beside the enumeration: as in ``#define``.

    Debug information has no macros. It shows a ``const`` object, and an enumeration without a name that begins so.
    """
    enum = each.subject.name
    shape = context.old.shape(enum)
    if not isinstance(shape, Enum) or shape.scoped:
        return False
    return any(_stands_for(name, each.old.value, context) for name in _called(enum, shape, each.old))


def _called(name: Name, enum: Enum, each: Enumerator) -> set[Name]:
    """By what names a constant may take an enumerator's place: macros have no scope."""
    return {Name("variable", each.name), *(called for called, _ in enumerated(name, (Enum(enum.size, (each,)),)))}


def _number(name: Name, context: Context) -> int | None:
    """What the new headers have by a name: an enumerator or another constant of an integer."""
    if name in context.new.enumerators:
        return context.new.enumerators[name]
    return next(_numbers(name, context), None)


def _numbers(name: Name, context: Context) -> Iterator[int]:
    from abistore.diffing.types.closed_classes import INTEGER  # headers alone write values

    for each in context.new.variants("source", name):
        known = _value(each, context) if isinstance(each, Declared) and "constant" in each.traits else None
        if found := INTEGER.fullmatch(known or ""):
            yield int(found[1])


def moved(name: Name, enum: Enum, context: Context) -> Iterator[tuple[Enumerator, int]]:
    """The enumerators of an enumeration that went whose names are worth another number now, and that number."""
    values = EnumeratorValues(enum, name.spelling)
    for each in () if enum.scoped else enum.enumerators:
        now = {_number(called, context) for called in _called(name, enum, each)} - {None}
        if now and each.value not in now and not values.is_sentinel(each):
            yield each, max(value for value in now if value is not None)


def live_on(name: Name, enum: Enum, context: Context) -> bool:
    """Whether programs find all enumerators of an enumeration beside it now, by their names and values."""
    return not enum.scoped and all(
        any(_number(called, context) == each.value or _stands_for(called, each.value, context) for called in names)
        for each in enum.enumerators
        for names in [_called(name, enum, each)]
    )


def was_enumerator(name: Name, declared: Declared, context: Context) -> bool:
    """Whether the old headers have an enumerator of this name and value."""
    before = context.old.enumerators.get(name)
    return before is not None and str(before) == _value(declared, context)


def _stands_for(name: Name, value: int, context: Context) -> bool:
    if value in _numbers(name, context):
        return True
    beside = () if "source" in context.new.snapshot.entries else _beside(name, context)
    return any(value in (each.value for each in enum.enumerators[:1]) for enum in beside)


def _beside(name: Name, context: Context) -> Iterator[Enum]:
    """The enumerations without a name, and constants, that begin with ``name``, as debug information has them."""
    shapes = context.new.variants("layout", unnamed_enum(name.spelling))
    return (shape for shape in shapes if isinstance(shape, Enum))


def _value(constant: Declared, context: Context) -> str | None:
    """What a constant of the new headers is worth; releases that were stored before tell an enumerator by its name."""
    from abistore.diffing.types.closed_classes import known_value  # headers alone write values

    known = known_value(constant)
    if known is None and constant.value is not None:
        named = context.new.enumerators.get(Name("variable", constant.value))
        return None if named is None else str(named)
    return known


TOKEN: Final = pattern(r"[A-Za-z_$][\w$]*(?:\s*::\s*[A-Za-z_$][\w$]*)*|[^\s()]")


def keeps_union(
    each: Changed[Enumerator], values: tuple[EnumeratorValues, EnumeratorValues], sides: tuple[SideFacts, SideFacts]
) -> bool:
    """Whether both releases write an enumerator as flags that are joined, and all those of the old one stay.

    What built programs pass is then a set of flags to the new library too, each of which means what it did.
    """
    name = each.subject.name
    written = (
        _is_union(_text(name, one, side), one.value, all)
        for one, side, all in zip((each.old, each.new), sides, values, strict=True)
    )
    return all(written) and values[0].keeps_flags(each.old.value, values[1])


def _text(name: Name, each: Enumerator, side: SideFacts) -> str:
    shapes = (shape for shape in side.variants("source", name) if isinstance(shape, Declared))
    return next((text for shape in shapes for one, text in shape.expressions if one == each.name), "")


def _is_union(text: str, value: int, values: EnumeratorValues) -> bool:
    """Whether ``text`` joins enumerators by ``|`` and by nothing else, and they are made of single bits."""
    parts = " ".join(TOKEN.findall(text)).split(" | ")
    return len(parts) > 1 and value & ~values.single_bits == 0
