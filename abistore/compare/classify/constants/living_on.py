"""Constants that live on as something else: an enumerator as a macro, a macro as an enumerator."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.classify.enumerators import EnumeratorValues
from abistore.compare.context import Context
from abistore.compare.side import enumerated
from abistore.model.declared import Declared
from abistore.model.deltas import Changed, Removed
from abistore.model.names import Name, unnamed_enum
from abistore.model.shapes import Enum, Enumerator


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
    """The numbers that the new headers define a name as, beside enumerations."""
    from abistore.compare.types.written_values import INTEGER  # headers alone write values

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
    from abistore.compare.types.written_values import known_value  # headers alone write values

    known = known_value(constant)
    if known is None and constant.value is not None:
        named = context.new.enumerators.get(Name("variable", constant.value))
        return None if named is None else str(named)
    return known
