"""What headers tell of a declaration that debug information does not: a difference that both tell is found once.

Debug information is asked first. Its sizes, offsets and slots are what the compiler did, and a difference of types that
it shows needs no second look in the spelling of a header: ``unsigned int`` to ``unsigned long`` is ``u32`` to ``u64``.
Headers are asked for what only text tells (see :class:`~abistore.model.declared.Declared`), for members that debug
information leaves out, and for differences that it does not show.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any, Final, TypeVar

import msgspec

from abistore.compare.context import Context
from abistore.model.declared import Declared
from abistore.model.names import Name
from abistore.model.recorded.unrecorded import unrecorded_by
from abistore.model.shapes import Alias, Base, Enum, Enumerator, Field, Function, Record, Variable, VirtualMethod
from abistore.model.snapshot import Variants, only_described

S = TypeVar("S", bound=msgspec.Struct)

COMPILED: Final = frozenset({"size", "offset", "bit_size", "alignment", "passing", "has_vptr", "slot", "symbol"})
"""What a compiler works out. Where debug information is there and records it, nobody else is asked."""

DESCRIBING: Final = (Record, Enum, Alias, Function, Variable)
"""The shapes that describe a declaration. Others say that debug information does not."""

PARTS: Final = (Field, Base, VirtualMethod, Enumerator)


def told_by_headers(
    context: Context, name: Name, old: Variants | None, new: Variants | None
) -> tuple[Variants | None, Variants | None]:
    """The two sides' shapes of ``name`` in headers, without the differences that debug information shows too.

    Where one side has no such declaration, the other is described as debug information describes it.
    """
    layouts = context.old.variants("layout", name), context.new.variants("layout", name)
    if old is None or new is None:
        seen = layouts[new is not None]
        known = layouts[old is not None] == () and seen != () and all(isinstance(shape, DESCRIBING) for shape in seen)
        return (_with_shapes(old, seen), _with_shapes(new, seen)) if known else (old, new)
    first, second, before, after = (only_described(each) for each in (*layouts, old, new))
    if type(first) is not type(second) or type(before) is not type(after) or type(first) is not type(before):
        return old, new
    if not isinstance(first, DESCRIBING) or second is None or before is None or after is None:
        return old, new
    compiled = context.once(_compiled)
    if isinstance(before, Record) and isinstance(after, Record) and before.packed != after.packed:
        compiled -= {"alignment"}  # debug information shows packing by the places of members alone
    left, right = _differing(compiled, first, second, before, after)
    return _with_shapes(old, (left,)), _with_shapes(new, (right,))


def _compiled(context: Context) -> frozenset[str]:
    """What both sides' debug information, or what stands for it, tells of a compiler's work."""
    evidence = (side.snapshot.evidence_of("layout") for side in (context.old, context.new))
    return COMPILED - {fact.partition(".")[2] for each in evidence for fact in unrecorded_by(each)}


def _with_shapes(variants: Variants | None, shapes: Variants) -> Variants | None:
    if variants is None:
        return None
    return (*(each for each in variants if isinstance(each, Declared)), *shapes)


def _differing(compiled: Container[str], first: S, second: S, before: S, after: S) -> tuple[S, S]:
    """``before`` and ``after`` without what differs between ``first`` and ``second``, which debug information shows."""
    left: dict[str, Any] = {}
    right: dict[str, Any] = {}
    for attribute in before.__struct_fields__:
        values = [getattr(each, attribute) for each in (first, second, before, after)]
        left[attribute], right[attribute] = _attribute(attribute in compiled, compiled, values)
    return msgspec.structs.replace(before, **left), msgspec.structs.replace(after, **right)


def _attribute(known: bool, compiled: Container[str], values: Sequence[Any]) -> tuple[Any, Any]:
    first, second, before, after = values
    if any(isinstance(part, PARTS) for values in (before, after) if isinstance(values, tuple) for part in values):
        return _parts(compiled, first, second, before, after)
    if known or first != second:
        return first, first
    return before, after


def _parts(
    compiled: Container[str], first: Sequence[Any], second: Sequence[Any], before: Sequence[Any], after: Sequence[Any]
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The members that headers show. One that came or went in both kinds of evidence is left out."""
    known = [_keyed(each) for each in (first, second, before, after)]
    if any(table is None for table in known):
        return (tuple(before), tuple(before)) if first != second else (tuple(before), tuple(after))
    one, two, left, right = (table or {} for table in known)
    pairs = {
        key: _differing(compiled, one[key], two[key], part, right[key])
        for key, part in left.items()
        if key in right and key in one and key in two
    }
    kept = [pairs[key][0] if key in pairs else part for key, part in left.items() if not _went(key, right, one, two)]
    in_order = iter(pairs.values())
    came = ((key, part) for key, part in right.items() if not _went(key, left, two, one))
    rest = [next(in_order)[1] if key in pairs else part for key, part in came]
    return tuple(kept), tuple(rest)


def _went(key: object, other: Container[object], one: Container[object], two: Container[object]) -> bool:
    """Whether a member is not in the ``other`` headers, and of debug information in one side's, not in ``two``."""
    return key not in other and key in one and key not in two


def _keyed(parts: Sequence[Any]) -> Mapping[object, Any] | None:
    """Members by what they are called; ``None`` where some are called the same, as two without a name."""
    found = {_key(part): part for part in parts}
    return found if len(found) == len(parts) else None


def _key(part: Any) -> object:
    match part:
        case VirtualMethod():
            return part.display, part.parameters
        case Base():
            return part.type
        case _:
            return part.name
