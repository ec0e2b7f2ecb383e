"""Which definitions of one name belong together, where the units of a library disagree about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from abistore.compare.context import Context
from abistore.model.declared import Declared
from abistore.model.names import Name
from abistore.model.shapes import AnyShape, Enum, Record


def former_definition(context: Context, name: Name, old: Sequence[AnyShape], added: AnyShape) -> AnyShape | None:
    """The old definition that a further one is in truth: an object file that was not built again hides that it changed.

    It is one where every export that meets the name met it before, so that one of them uses another definition now, or
    where it has most parts of the old one. Else the definition may be of what is new, and ``None`` is told.
    """
    former = [each for each in old if type(each) is type(added)]
    if not former or isinstance(added, Declared):
        return None
    best = max(former, key=lambda each: _parts_in_common(each, added))
    before, after = (side.reach.exports_reaching(name) for side in (context.old, context.new))
    return best if set(after) <= set(before) or _is_kept(best, added) else None


def _is_kept(old: AnyShape, new: AnyShape) -> bool:
    """Whether ``new`` has most of the members that ``old`` has."""
    before, after = _members(old), _members(new)
    return bool(before) and 2 * len(before & after) > len(before)


def _members(shape: AnyShape) -> frozenset[str]:
    match shape:
        case Record():
            return frozenset(each.name for each in shape.fields if each.name)
        case Enum():
            return frozenset(each.name for each in shape.enumerators)
        case _:
            return frozenset()


def closest(old: list[AnyShape], new: list[AnyShape]) -> Iterator[tuple[AnyShape, AnyShape]]:
    """Pairs that have most parts in common first."""
    free = list(new)
    for first in old:
        best = max(free, key=lambda second: _parts_in_common(first, second))
        free.remove(best)
        yield first, best


def _parts_in_common(old: AnyShape, new: AnyShape) -> int:
    match old, new:
        case Record(), Record():
            return len({each.name for each in old.fields} & {each.name for each in new.fields}) + (old.size == new.size)
        case Enum(), Enum():
            return len(set(old.enumerators) & set(new.enumerators))
        case _:
            return int(type(old) is type(new))
