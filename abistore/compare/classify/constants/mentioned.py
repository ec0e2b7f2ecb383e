"""What the integers are called that programs and the library exchange: a parameter ``split_type``, a field ``kind``."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from abistore.compare.classify.constants.release import words
from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.model.cpp_names.builtins import INTEGERS
from abistore.model.cpp_names.qualified import last_component
from abistore.model.declared import Argument, Declared
from abistore.model.names import Name
from abistore.model.shapes import Function, Primitive, Record, TypeRef

FEWEST: Final = 3
"""Letters that a word shares with a longer one which it stands for: ``opt`` and ``option``."""


class Mention(NamedTuple):
    """The words of a parameter, field or function, and those of the function or record that has it."""

    own: frozenset[str]
    around: frozenset[str] = frozenset()


def is_mentioned(called: Collection[str], context: Context) -> bool:
    """Whether an integer that programs pass, fill in or get is ``called`` so, in its own name and what has it."""
    return any(_fits(each, called) for each in context.once(_mentions))


def _fits(mention: Mention, called: Collection[str]) -> bool:
    own = [word for word in called if _stands_in(word, mention.own)]
    return bool(own) and all(word in own or _stands_in(word, mention.around) for word in called)


def _stands_in(word: str, among: Collection[str]) -> bool:
    return word in among or any(_is_short(*sorted((word, each), key=len)) for each in among)


def _is_short(short: str, long: str) -> bool:
    return len(short) >= FEWEST and long.startswith(short)


def _mentions(context: Context) -> frozenset[Mention]:
    """Those of the old headers, with which programs were built."""
    return frozenset(
        mention
        for name, shapes in context.old.snapshot.entries.get("source", {}).items()
        for shape in shapes
        for mention in _of(name, shape, _written(shapes), context.old)
    )


def _written(shapes: Sequence[object]) -> Sequence[Argument]:
    return next((each.parameters for each in shapes if isinstance(each, Declared)), ())


def _of(name: Name, shape: object, written: Sequence[Argument], side: SideFacts) -> Iterator[Mention]:
    if isinstance(shape, Record):
        around = frozenset(words(last_component(name.spelling)))
        yield from (
            Mention(frozenset(words(each.name)), around) for each in shape.fields if _is_number(each.type, side)
        )
    elif isinstance(shape, Function):
        around = frozenset(words(last_component(shape.display))[1:])  # most begin with the library's own name
        numbers = [_is_number(each, side) for each in shape.parameters]
        named = written if len(written) == len(numbers) else [Argument()] * len(numbers)
        pairs = zip(named, numbers, strict=True)
        yield from (Mention(frozenset(words(each.name)), around) for each, is_number in pairs if is_number)
        if _is_number(shape.result, side):
            yield Mention(around)


def _is_number(type: TypeRef, side: SideFacts) -> bool:
    """Whether a type is an integer, or points to one."""
    bare = side.types.levels(type)[1]
    return isinstance(bare, Primitive) and bare.spelling in INTEGERS
