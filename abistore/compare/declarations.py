"""Pairs the declarations of a facet, and tells what could not be compared because one side did not see it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeGuard

from abistore.compare.context import Context
from abistore.compare.parts import Definition, Described, PrivateType, TagName, Variant
from abistore.compare.vtables import Tables
from abistore.model.counting import counted
from abistore.model.deltas import Added, Changed, Delta, Removed, Subject
from abistore.model.findings import NotChecked
from abistore.model.names import Facet, Name
from abistore.model.shapes import AnyShape, Declared, Enum, Opaque, Record
from abistore.model.snapshot import Snapshot, Variants

TYPES = ("record", "enum", "alias")
SIDES: tuple[Literal["old", "new"], ...] = ("old", "new")


def observed(context: Context, facet: Facet) -> tuple[NotChecked, ...]:
    """Why ``facet`` cannot be compared at all, or not completely; empty where both sides saw all of it."""
    old, new = context.old.evidence_of(facet), context.new.evidence_of(facet)
    found = []
    for side, evidence in (("old", old), ("new", new)):
        if evidence.state == "full" or (evidence.state == "missing" and evidence.reason == "nothing-to-describe"):
            continue
        reason = evidence.reason or f"{evidence.state}-evidence"
        detail = evidence.detail or f"{evidence.described} of {counted(evidence.expected, 'export')} described"
        found.append((side, reason, detail, evidence.hint))
    if len(found) == 2 and found[0][1] == found[1][1]:
        return (NotChecked(facet, "both", *found[0][1:]),)
    return tuple(
        NotChecked(facet, "old" if side == "old" else "new", reason, detail, hint)
        for side, reason, detail, hint in found
    )


def comparable(context: Context, facet: Facet) -> bool:
    """Whether both sides saw something in ``facet``."""
    sides = (context.old, context.new)
    return all(facet in side.entries and side.evidence_of(facet).state != "missing" for side in sides)


def declarations(context: Context, facet: Facet) -> Iterator[Delta[Any] | NotChecked]:
    """The deltas of everything that ``facet`` declares on either side, in the order of names."""
    old, new = context.old.entries[facet], context.new.entries[facet]
    if facet == "source":
        yield from _one_sided(context)
    else:
        yield from _undescribed(context, facet)
    names = sorted(context.differing[facet])
    differing = [name for name in names if name in old and name in new]
    undefined = {*context.old_undescribed, *context.new_undescribed} if facet == "layout" else set[Name]()
    for reason in _undefined(context, facet, differing):
        undefined.update(reason.names)
        yield reason
    removed = [name for name in names if name not in new and name.kind in TYPES and context.affected(name)]
    added = [name for name in names if name not in old and name.kind in TYPES]
    renamed = {name: context.renames[name] for name in removed if name in context.renames}
    redefined = {name: other for name, other in _redefined(removed, added) if name not in renamed}
    for name in differing:
        if name in undefined:
            yield from _became_dynamic(context, name)
            continue
        if name.kind in TYPES and not context.affected(name):
            continue
        if name.kind not in TYPES and context.internals.has(name):
            yield context.internals.changed(name, _main(old[name]), _main(new[name]))
            continue
        yield from _paired(context, name, name, old[name], new[name])
    elsewhere = {**redefined, **renamed}
    for name, other in sorted(elsewhere.items()):
        yield from _as_another(context, name, other, old[name], new[other])
    come = set(elsewhere.values())
    complete = context.new.evidence_of(facet).state == "full"
    for name in removed:
        if name not in elsewhere and (complete or _still_seen(context, facet, name)):
            yield Removed(Subject(name), _main(old[name]))
    for name in added:
        if name not in come and context.new_reach.reaches(name):
            yield Added(Subject(name), _main(new[name]))


def _as_another(context: Context, name: Name, other: Name, old: Variants, new: Variants) -> Iterator[Delta[Any]]:
    """Deltas of a type that the other side has under another name, or as another kind of declaration."""
    renamed = name in context.renames
    wrap = PrivateType if context.exposure.is_private(name) else TagName if renamed else Definition
    yield Changed(Subject(name), wrap(name, _main(old)), wrap(other, _main(new)))
    if renamed and old != new:
        yield from _paired(context, name, other, old, new)


def _became_dynamic(context: Context, name: Name) -> Iterator[Delta[Any]]:
    """The class ``name`` that got or lost its vtable, if GCC describes it on one side only, where it has none.

    Instances of templates that are declared ``extern`` are left out too.
    """
    old, new = context.old_shape(name), context.new_shape(name)
    if "<" in name.spelling or not context.affected(name):
        return
    hidden = name in context.old_undescribed, name in context.new_undescribed
    if hidden == (False, True) and _tells_of_a_vtable(old, context.old_tables, context.new_tables):
        yield Changed(Subject(name), Described(old), Described(None))
    elif hidden == (True, False) and _tells_of_a_vtable(new, context.new_tables, context.old_tables):
        yield Changed(Subject(name), Described(None), Described(new))


def _tells_of_a_vtable(seen: AnyShape | None, seeing: Tables, hiding: Tables) -> TypeGuard[Record]:
    """Whether a class has a vtable on the side that leaves it out, and none where its shape is ``seen``."""
    return hiding.hides_only_dynamic and isinstance(seen, Record) and not seeing.is_polymorphic(seen)


def _one_sided(context: Context) -> Iterator[Delta[Any]]:
    """Functions, variables and constants that only one side's headers declare."""
    old, new = context.old.entries["source"], context.new.entries["source"]
    names = sorted(name for name in context.differing["source"] if name.kind not in TYPES)
    if context.new.evidence_of("source").state == "full":
        for name, shape in _written(names, old, new):
            yield Removed(Subject(name), shape)
    if context.old.evidence_of("source").state == "full":
        for name, shape in _written(names, new, old):
            yield Added(Subject(name), shape)


def _written(
    names: Iterable[Name], here: Mapping[Name, Variants], there: Mapping[Name, Variants]
) -> Iterator[tuple[Name, Declared]]:
    for name in names:
        if name in here and name not in there:
            yield name, _text(here[name]) or Declared()


def _main(variants: Variants) -> AnyShape:
    """What a name stands for; what headers add to that comes beside it."""
    return next((shape for shape in variants if not isinstance(shape, Declared)), variants[0])


def _text(variants: Variants) -> Declared | None:
    """What headers add."""
    return next((shape for shape in variants if isinstance(shape, Declared)), None)


def _undescribed(context: Context, facet: Facet) -> Iterator[NotChecked]:
    """Exports of both sides that only one side's evidence describes."""
    old, new = context.old.entries[facet], context.new.entries[facet]
    names = [name for name in context.differing[facet] if name.kind in ("function", "variable")]
    for side, beside in (("old", old), ("new", new)):
        missing = [name for name in names if name not in beside and context.exported(name)]
        if missing:
            evidence = (context.old if side == "old" else context.new).evidence_of(facet)
            yield NotChecked(
                facet,
                "old" if side == "old" else "new",
                evidence.reason or "not-described",
                f"{counted(len(missing), 'export is', 'exports are')} described by the other side only",
                evidence.hint or "build every unit of the library with -g",
                tuple(sorted(missing)),
            )


def chosen_at_load_time(context: Context, facet: Facet) -> Iterator[NotChecked]:
    """Functions that both sides export as an IFUNC and neither describes: compilers record their resolvers only."""
    both = context.old_side.exports.chosen_at_load_time & context.new_side.exports.chosen_at_load_time
    sides = context.old.entries[facet], context.new.entries[facet]
    chosen = sorted(name for name in both if not any(name in side for side in sides))
    if chosen:
        yield NotChecked(
            facet,
            "both",
            "ifunc-not-described",
            f"{counted(len(chosen), 'export is', 'exports are')} chosen at load time (IFUNC) and not described",
            "compare their declarations in the headers",
            tuple(chosen),
        )


def _undefined(context: Context, facet: Facet, differing: Iterable[Name]) -> Iterator[NotChecked]:
    """Types whose definition one side does not show, although it may well be there.

    The language requires it where they are used by value. Clang leaves the definition of a class out where no
    constructor is compiled, so that its absence tells nothing about a library that another compiler built before.
    """
    sides = (context.old, context.new), (context.new, context.old)
    for place, (own, other) in zip(SIDES, sides, strict=True):
        told = context.old_undescribed if own is context.old else context.new_undescribed
        names = [
            name
            for name in differing
            if name not in told and _is_only_declared(own, facet, name) and _is_defined(other, facet, name)
        ]
        if names and not _leaves_out(context, own):
            reach = context.old_reach if own is context.old else context.new_reach
            names = [name for name in names if reach.reaches(name, by_value=True)]
        if names:
            yield NotChecked(
                facet,
                place,
                "type-not-described",
                f"the debug information only declares {counted(len(names), 'type')} that the other side defines",
                "build with -fstandalone-debug (Clang), or with -g in the unit that defines them",
                tuple(sorted(names)),
            )


def _is_only_declared(side: Snapshot, facet: Facet, name: Name) -> bool:
    return name.kind in TYPES and all(isinstance(shape, Opaque) for shape in side.variants(facet, name))


def _is_defined(side: Snapshot, facet: Facet, name: Name) -> bool:
    return any(isinstance(shape, Record | Enum) for shape in side.variants(facet, name))


def _leaves_out(context: Context, side: Snapshot) -> bool:
    return not context.same_toolchain and any("clang" in each for each in side.provenance.compilers)


def _still_seen(context: Context, facet: Facet, name: Name) -> bool:
    """Whether an export that used the type on the old side is described on the new side, and no longer uses it."""
    return any(export in context.new.entries[facet] for export in context.affected(name))


def _paired(context: Context, name: Name, other: Name, old: Variants, new: Variants) -> Iterator[Delta[Any]]:
    """Deltas of one type or export. Of what consumers cannot see into, no part is looked at."""
    if name.kind in TYPES and context.exposure.is_private(name):
        yield Changed(Subject(name), PrivateType(name, _main(old)), PrivateType(other, _main(new)))
    else:
        yield from _compared(name, old, new)


def _compared(name: Name, old: Variants, new: Variants) -> Iterator[Delta[Any]]:
    """Deltas of one name. Shapes that both sides have are equal whatever else the name stands for."""
    first_text, second_text = _text(old), _text(new)
    if first_text != second_text:
        yield Changed(Subject(name), first_text or Declared(), second_text or Declared())
    before: list[AnyShape] = [shape for shape in old if shape not in new and not isinstance(shape, Declared)]
    after: list[AnyShape] = [shape for shape in new if shape not in old and not isinstance(shape, Declared)]
    if len(before) == len(after):
        for first, second in _closest(before, after):
            yield changed(name, first, second)
    elif before:
        for shape in before:
            yield Removed(Subject(name), Variant(shape))
    else:
        for shape in after:
            yield Added(Subject(name), Variant(shape))


def changed(name: Name, old: AnyShape, new: AnyShape) -> Changed[Any]:
    """The delta of one shape; of a :class:`Definition` where the two sides are not even the same kind of thing."""
    if type(old) is type(new):
        return Changed(Subject(name), old, new)
    return Changed(Subject(name), Definition(name, old), Definition(name, new))


def _closest(old: list[AnyShape], new: list[AnyShape]) -> Iterator[tuple[AnyShape, AnyShape]]:
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


def _redefined(removed: Iterable[Name], added: Iterable[Name]) -> Iterator[tuple[Name, Name]]:
    """Spellings that stand for another kind of declaration on the other side: a struct that became an alias."""
    by_spelling = {name.spelling: name for name in added}
    for name in removed:
        if name.spelling in by_spelling:
            yield name, by_spelling[name.spelling]
