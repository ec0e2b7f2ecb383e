"""Types that differ only in the names of renamed types: the renames have findings of their own."""

from __future__ import annotations

from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from abistore.compare.context import Context
from abistore.compare.types.sameness import Sameness
from abistore.model.shapes import Enum, Foreign, Inline, Named, Node, Record, TypeRef
from abistore.model.structure import Part, frame, inner, mentioning


def only_named_otherwise(old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether ``new`` is written with other names of what ``old`` names: renamed types, a tag that became an alias."""
    match old, new:
        case Named(before), Named(after):
            same = before == after or before.spelling == after.spelling or context.renames.targets.get(before) == after
            return same or (before.kind == after.kind == "record" and context.stored(old, new) <= Sameness.SPELLING)
        case Inline(shape=Record() as before), Inline(shape=Record() as after):
            return with_old_names(before, after, context) == before
        case _:
            pairs = zip(inner(old), inner(new), strict=False)
            return frame(old) == frame(new) and all(only_named_otherwise(*pair, context) for pair in pairs)


def with_old_names(old: Struct, new: Part, context: Context) -> Part:
    """``new`` with the types of ``old`` wherever these are only named otherwise."""
    if old.__class__ is not new.__class__ or isinstance(new, Foreign | Enum):
        return new
    fields = [field for field in mentioning(new.__class__) if field != "arguments"]
    return replace(new, **{field: _told(getattr(old, field), getattr(new, field), context) for field in fields})


def _told(old: Any, new: Any, context: Context) -> Any:
    if isinstance(new, tuple):
        return tuple(_told(*pair, context) for pair in zip(old, new, strict=True)) if len(old) == len(new) else new
    if not isinstance(new, Node):
        return with_old_names(old, new, context)
    return old if only_named_otherwise(old, cast("TypeRef", new), context) else new
