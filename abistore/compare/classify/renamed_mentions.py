"""Types that differ only in the names of renamed types: the renames have findings of their own."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from abistore.compare.context import Context
from abistore.compare.types.equivalence import Sameness
from abistore.model.shapes import (
    Alias,
    AnyShape,
    Base,
    Field,
    Function,
    Inline,
    Named,
    Record,
    TypeRef,
    Variable,
    VirtualMethod,
)
from abistore.model.structure import frame, inner


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


def with_old_names(old: AnyShape, new: AnyShape, context: Context) -> AnyShape:
    """``new`` with the types of ``old`` wherever these are only named otherwise."""
    names = _Names(context)
    match old, new:
        case Function(), Function():
            parameters = names.all(old.parameters, new.parameters)
            return replace(new, result=names.one(old.result, new.result), parameters=parameters)
        case Variable(), Variable():
            return replace(new, type=names.one(old.type, new.type))
        case Alias(), Alias():
            return replace(new, target=names.one(old.target, new.target))
        case Record(), Record():
            return _record(old, new, names)
        case _:
            return new


def _record(old: Record, new: Record, names: _Names) -> Record:
    fields = zip(names.all(_types(old.fields), _types(new.fields)), new.fields, strict=True)
    bases = zip(names.all(_types(old.bases), _types(new.bases)), new.bases, strict=True)
    virtuals = new.virtuals
    if len(virtuals) == len(old.virtuals):
        virtuals = tuple(names.method(*pair) for pair in zip(old.virtuals, virtuals, strict=True))
    return replace(
        new,
        fields=tuple(replace(field, type=type) for type, field in fields),
        bases=tuple(replace(base, type=type) for type, base in bases),
        virtuals=virtuals,
    )


def _types(parts: Sequence[Field | Base]) -> tuple[TypeRef, ...]:
    return tuple(part.type for part in parts)


class _Names:
    """Puts types of the old side in the place of those of the new one."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def one(self, old: TypeRef, new: TypeRef) -> TypeRef:
        return old if only_named_otherwise(old, new, self._context) else new

    def all(self, old: Sequence[TypeRef], new: Sequence[TypeRef]) -> tuple[TypeRef, ...]:
        if len(old) != len(new):
            return tuple(new)
        return tuple(self.one(*pair) for pair in zip(old, new, strict=True))

    def method(self, old: VirtualMethod, new: VirtualMethod) -> VirtualMethod:
        result, parameters = self.one(old.result, new.result), self.all(old.parameters, new.parameters)
        return replace(new, result=result, parameters=parameters)
