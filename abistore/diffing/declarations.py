"""Pairs the declarations of a facet: what was added, removed, and what differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import msgspec

from abistore.diffing.context import Context
from abistore.diffing.evidence_gaps import comparable, declared_only_by, read_alike
from abistore.diffing.exports import differs_in_access, uncalled, unnamed, unused
from abistore.diffing.headers import is_chosen_otherwise, is_left_to_others, not_given
from abistore.diffing.modes import is_of_same_text
from abistore.diffing.parts import (
    Agreement,
    DefinitionKind,
    DependencyType,
    DescribedClass,
    OpaqueType,
    PrivateData,
    PrivateType,
    TagName,
    UnexportedDeclaration,
    UnreachedType,
    UnusedEnum,
    Variant,
)
from abistore.diffing.side import SideFacts, default_moved, exported, has_versions, is_of_unknown_version, version_pairs
from abistore.diffing.surface.consumers import is_accessible
from abistore.diffing.surface.export_table import is_runtime_symbol
from abistore.diffing.types.mentions import changed_private_data
from abistore.diffing.types.vtables import VirtualTables
from abistore.model.declarations import (
    EXPORTS,
    TYPES,
    Added,
    Changed,
    Declared,
    Delta,
    Facet,
    Name,
    Removed,
    Subject,
    is_unnamed_enum,
)
from abistore.model.layout import disagreement
from abistore.model.names.spelling import declaration
from abistore.model.shapes import VOID, Alias, AnyShape, Enum, Function, Named, Opaque, Record, Variable
from abistore.model.snapshot import Variants

if TYPE_CHECKING:
    from abistore.diffing.headers import ShownPart


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


def is_unexported(context: Context, name: Name) -> bool:
    """Whether neither release exports ``name``: an inline function, a template, a constant."""
    sides = (context.old, context.new)
    known = all("symbol" in side.snapshot.entries for side in sides)
    return known and not any(side.variants("symbol", name) for side in sides)


def unexported(name: Name, old: AnyShape, new: AnyShape) -> Iterator[Delta[Any]]:
    """Deltas of what no program calls or reads in the library: its type concerns sources only.

    The rest, such as its access, concerns sources whether or not it is exported.
    """
    types = _types(old), _types(new)
    if type(old) is type(new) and types[0] != types[1]:
        yield Changed(Subject(name), UnexportedDeclaration(name, old), UnexportedDeclaration(name, new))
    before, after = _without_types(old), _without_types(new)
    if before != after and type(before) is type(after) and not isinstance(before, Declared):
        yield Changed(Subject(name), before, after)


def _types(shape: AnyShape) -> tuple[object, ...]:
    match shape:
        case Function():
            return shape.result, shape.parameters, shape.variadic, shape.calling_convention
        case Variable():
            return (shape.type,)
        case _:
            return ()


def _without_types(shape: AnyShape) -> AnyShape:
    match shape:
        case Function():
            return msgspec.structs.replace(shape, result=VOID, parameters=(), variadic=False, calling_convention=None)
        case Variable():
            return msgspec.structs.replace(shape, type=VOID)
        case _:
            return shape


class FacetDeclarations:
    """What one facet declares on both sides. The deltas of a name depend on no other name's."""

    def __init__(self, context: Context, facet: Facet) -> None:
        self._context = context
        self._facet = facet
        self._old, self._new = context.old.snapshot.entries[facet], context.new.snapshot.entries[facet]
        self._telling: dict[bool, bool] = {}

    def deltas(self, name: Name) -> Iterator[Delta[Any]]:
        """The deltas of the declaration ``name``."""
        if name.kind in EXPORTS and has_versions(self._context.old, self._context.new, name):
            if self._facet == "layout":
                yield from self._of_versions(name)
                return
            if default_moved(self._context.old, self._context.new, name):
                yield from self._of_default(name)
                return
        old, new = self._shapes(name)
        if self._facet == "source":
            if old != new and self._is_unknown(name):
                return
            yield from _disagreements(self._context, name)
        if old is not None and new is not None:
            if old != new:
                yield from self._changed(name, old, new)
        elif name.kind not in TYPES or _is_text(old or new):
            yield from self._one_sided(name, old, new)
        elif old is not None:
            yield from self._removed(name, old)
        elif new is not None and not self._came_from(name) and self._comes(name, new):
            yield Added(Subject(name), _main(new))

    def _is_unknown(self, name: Name) -> bool:
        """Whether headers differ in ``name`` and tell nothing by that."""
        context = self._context
        return (
            is_of_same_text(context, name)
            or is_left_to_others(name, context.old, context.new)
            or _is_declared_elsewhere(context, name)
            or _is_body_unread(context, name)
        )

    def _of_versions(self, name: Name) -> Iterator[Delta[Any]]:
        """The deltas of what programs get of an export with several versions; each is told once, by what it was."""
        sides = self._context.old, self._context.new
        export = exported(*sides, name)
        if any(is_of_unknown_version(side, export) for side in sides):
            return
        for pair in version_pairs(*sides, export):
            old, new = self._old.get(pair.old), self._new.get(pair.new)
            told = pair.old == name or (pair.new == name and pair.old not in self._context.differing["layout"])
            if told and old is not None and new is not None and old != new:
                for delta in self._changed(export, old, new):
                    yield msgspec.structs.replace(delta, subject=Subject(export, pair.part))

    def _of_default(self, name: Name) -> Iterator[Delta[Any]]:
        """What headers say of a default version that built programs do not get: its text alone."""
        old, new = self._old.get(name), self._new.get(name)
        if old is not None and new is not None:
            yield from _texts(name, old, new)
        else:
            yield from self._one_sided(name, old, new)

    def _shapes(self, name: Name) -> tuple[Variants | None, Variants | None]:
        """What each side shows in this facet, and in no better one."""
        old, new = self._old.get(name), self._new.get(name)
        if self._facet == "source" and comparable(self._context, "layout"):
            from abistore.diffing.modes import told_by_headers  # not needed without headers

            return told_by_headers(self._context, name, old, new)
        return old, new

    def _changed(self, name: Name, old: Variants, new: Variants) -> Iterator[Delta[Any]]:
        context = self._context
        if is_runtime_symbol(name.spelling) and self._is_foreign(name):
            return
        undescribed = self._facet == "layout" and (name in context.old.undescribed or name in context.new.undescribed)
        if undescribed or declared_only_by(context, self._facet, name):
            yield from _became_dynamic(context, name)
            yield from _shown(name, old, new)
        elif name.kind not in TYPES and not context.old.consumers.can_name(name):
            if _main(old) != _main(new):
                yield unnamed(context.old.consumers, name, _main(old), _main(new))
        elif self._is_unused(name, old, new):
            yield from _unused(name, old, new)
        elif self._is_unexported(name):
            yield from _texts(name, old, new)
            yield from unexported(name, _main(old), _main(new))
        elif _is_text(old) or _is_text(new):
            yield from _texts(name, old, new)
        elif name.kind == "function" and _passes_others(old, new) and context.old.consumers.cannot_call(name):
            yield uncalled(name, _main(old), _main(new))
        elif name.kind not in TYPES or context.concerns(name):
            yield from _paired(context, name, name, old, new)
        elif is_constant(context.old, name):
            yield from _constants(context, name, name, old, new)
        else:
            yield from _texts(name, old, new)

    def _is_unexported(self, name: Name) -> bool:
        if name.kind in TYPES or self._facet != "source":
            return False

        return is_unexported(self._context, name)

    def _is_unused(self, name: Name, old: Variants, new: Variants) -> bool:
        """Whether ``name`` is a private member, before and after, that programs do not use.

        What its spelling does not show has findings of its own where debug information shows it.
        """
        if _closes_private_copy(old, new):
            return True
        if name.kind in TYPES or differs_in_access(_main(old), _main(new)):
            return False
        if self._facet == "layout" and _spelled_alike(name, old, new):
            return False
        return self._context.old.consumers.out_of_reach(name)

    def _is_foreign(self, name: Name) -> bool:
        """Whether ``name`` is a symbol of a runtime that is linked in; the export table tells that it differs."""
        context = self._context
        return (
            name.kind not in TYPES and context.old.consumers.owner(name, context.new.exporting, gone=False) == "foreign"
        )

    def _one_sided(self, name: Name, old: Variants | None, new: Variants | None) -> Iterator[Delta[Any]]:
        shapes = old if new is None else new
        text = _text(shapes) if shapes is not None and self._facet == "source" else None
        if text is None or not is_accessible(_main(shapes or ())) or not self._tells(old=old is None):
            return
        if is_chosen_otherwise(self._context, name):
            return
        yield Removed(Subject(name), text) if new is None else Added(Subject(name), text)

    def _tells(self, *, old: bool) -> bool:
        """Whether it means something that the one side does not declare what the other does."""
        if old not in self._telling:
            self._telling[old] = self._found_telling(old=old)
        return self._telling[old]

    def _found_telling(self, *, old: bool) -> bool:
        context = self._context
        side, other = (context.old, context.new) if old else (context.new, context.old)
        if self._facet == "source" and (not read_alike(context) or not_given(side, other)):
            return False
        return side.snapshot.evidence_of(self._facet).declares_all

    def _comes(self, name: Name, new: Variants) -> bool:
        if self._facet == "source":
            return _text(new) is not None and self._tells(old=True)
        return self._context.new.reach.reaches(name)

    def _removed(self, name: Name, old: Variants) -> Iterator[Delta[Any]]:
        context, facet = self._context, self._facet
        other = self._elsewhere(name)
        if other is not None and is_constant(context.old, name) and not context.concerns(name):
            yield from _constants(context, name, other, old, self._new[other])
        if not (context.concerns(name) if facet == "source" or other is not None else context.affected(name)):
            return
        if other is not None:
            yield from _as_another(context, name, other, old, self._new[other])
        elif facet == "source":
            if _text(old) is not None and self._tells(old=False) and not is_chosen_otherwise(context, name):
                yield Removed(Subject(name), _main(old))
        elif _still_seen(context, facet, name) or (self._tells(old=False) and not self._lost(name)):
            yield Removed(Subject(name), _main(old))

    def _lost(self, name: Name) -> bool:
        return any(export in self._old and export not in self._new for export in self._context.affected(name))

    def _elsewhere(self, name: Name) -> Name | None:
        """What the new side has in the place of ``name``: a type of another name, or of this one that is another kind.

        A struct that became an alias is one.
        """
        renamed = self._context.renames.targets.get(name)
        if renamed is not None and renamed in self._new:
            return renamed
        kinds = (Name(kind, name.spelling) for kind in TYPES)
        return max((each for each in kinds if each in self._new and each not in self._old), default=None)

    def _came_from(self, name: Name) -> bool:
        """Whether a type that went is this one now. One that was renamed is, even if all that used it went too."""
        renamed = self._context.renames.origins.get(name)
        others = (Name(kind, name.spelling) for kind in TYPES)
        gone = [each for each in others if each in self._old and each not in self._new]
        return renamed in self._old or any(
            self._context.concerns(each) and self._elsewhere(each) == name for each in gone
        )


def _disagreements(context: Context, name: Name) -> Iterator[Delta[Any]]:
    """The delta of a type of which only the new side's headers say something else than its debug information."""
    after = disagreement(context.new.snapshot, name)
    shown = context.old.variants("source", name)
    known = context.old.snapshot.evidence_of("source").declares_all or any(isinstance(each, Record) for each in shown)
    if after is not None and known and disagreement(context.old.snapshot, name) is None:
        yield Changed(Subject(name), Agreement(), Agreement(*after))


def _is_declared_elsewhere(context: Context, name: Name) -> bool:
    """Whether headers with errors declare a type and no more, which may first be declared in a file that is missing."""
    sides = (context.old, context.new)
    shapes = [side.variants("source", name) for side in sides]
    if name.kind not in TYPES or not all(shapes) or {_main(each) for each in shapes} != {_main(shapes[0])}:
        return False
    told = [_text(each) is not None for each in shapes]
    unread = [not side.snapshot.evidence_of("source").declares_all for side in sides]
    return told[0] != told[1] and unread[told.index(True)] and isinstance(_main(shapes[0]), Opaque)


def _is_body_unread(context: Context, name: Name) -> bool:
    """Whether one body uses something else where a side has errors, in which what it names was not found."""
    texts = [_text(side.variants("source", name)) for side in (context.old, context.new)]
    bodies = [each.body for each in texts if each is not None and each.body is not None]
    if len(bodies) < 2 or bodies[0].digest != bodies[1].digest:
        return False
    mains = [_main(side.variants("source", name)) for side in (context.old, context.new)]
    same = [msgspec.structs.replace(each, body=bodies[0], uses=None) for each in texts if each is not None]
    sides = (side.snapshot.evidence_of("source") for side in (context.old, context.new))
    return mains[0] == mains[1] and same[0] == same[1] and any(each.state != "full" for each in sides)


def _as_another(context: Context, name: Name, other: Name, old: Variants, new: Variants) -> Iterator[Delta[Any]]:
    """Deltas of a type that the other side has under another name, or as another kind of declaration."""
    renamed = name in context.renames.targets
    if is_unnamed_enum(name) or is_unnamed_enum(other):
        yield from _paired(context, name, other, old, new)
        return
    if not renamed and _is_of_another(name, context):
        yield Changed(Subject(name), DependencyType(name, _main(old)), DependencyType(other, _main(new)))
        return
    shown = TagName if renamed else DefinitionKind
    wrap = shown if context.old.consumers.can_see(name) else _hidden(context, name)
    yield Changed(Subject(name), wrap(name, _main(old)), wrap(other, _main(new)))
    is_told = wrap is not shown and not isinstance(_main(old), Opaque | Declared)  # whole, as one that nobody sees into
    if renamed and old != new and not is_told:
        yield from _paired(context, name, other, old, new)


def is_constant(side: SideFacts, name: Name) -> bool:
    """Whether ``name`` is an enumeration that no exported declaration mentions: its values are passed as numbers."""
    return name.kind == "enum" and not side.reach.reaches(name)


def _constants(context: Context, name: Name, other: Name, old: Variants, new: Variants) -> Iterator[Delta[Any]]:
    """Deltas of an enumeration that no export mentions. One that headers tell too is left to these."""
    if is_unnamed_enum(name) and comparable(context, "source"):
        return
    if _loses_values(_main(old), _main(new)) and _is_of_another(name, context):
        yield Changed(Subject(name), DependencyType(name, _main(old)), DependencyType(other, _main(new)))
    elif context.old.consumers.can_include(name):
        yield from _compared(context, name, old, new)
    elif _loses_values(_main(old), _main(new)):
        yield Changed(Subject(name), UnusedEnum(name, _main(old)), UnusedEnum(other, _main(new)))


def _loses_values(old: AnyShape, new: AnyShape) -> bool:
    return isinstance(old, Enum) and isinstance(new, Enum) and not set(old.enumerators) <= set(new.enumerators)


def _became_dynamic(context: Context, name: Name) -> Iterator[Delta[Any]]:
    """The class ``name`` that got or lost its vtable, if GCC describes it on one side only, where it has none.

    Instances of templates that are declared ``extern`` are left out too.
    """
    old, new = context.old.shape(name), context.new.shape(name)
    if "<" in name.spelling or not context.affected(name) or isinstance(old, Record) == isinstance(new, Record):
        return
    hidden = name in context.old.undescribed, name in context.new.undescribed
    if hidden == (False, True) and _tells_of_a_vtable(old, context.old.tables, context.new.tables):
        yield Changed(Subject(name), DescribedClass(old), DescribedClass(None))
    elif hidden == (True, False) and _tells_of_a_vtable(new, context.new.tables, context.old.tables):
        yield Changed(Subject(name), DescribedClass(None), DescribedClass(new))


def _shown(name: Name, old: Variants, new: Variants) -> Iterator[Delta[Any]]:
    """The class ``name`` that both sides only declare, where they show other members of it."""
    before, after = _main(old), _main(new)
    if isinstance(before, Opaque) and isinstance(after, Opaque) and before.virtuals != after.virtuals:
        yield Changed(Subject(name), before, msgspec.structs.replace(after, sort=before.sort))


def _tells_of_a_vtable(seen: AnyShape | None, seeing: VirtualTables, hiding: VirtualTables) -> TypeGuard[Record]:
    """Whether a class has a vtable on the side that leaves it out, and none where its shape is ``seen``."""
    return hiding.hides_only_dynamic and isinstance(seen, Record) and not seeing.is_polymorphic(seen)


def _main(variants: Variants) -> AnyShape:
    """The shape that describes the declaration; what only header text tells stands beside it."""
    return next((shape for shape in variants if not isinstance(shape, Declared)), variants[0])


def _is_text(variants: Variants | None) -> bool:
    """Whether only header text tells of a declaration: of a template, a concept, a using-declaration."""
    return variants is not None and all(isinstance(shape, Declared) for shape in variants)


def _passes_others(old: Variants, new: Variants) -> bool:
    one, other = _main(old), _main(new)
    if not (isinstance(one, Function) and isinstance(other, Function)):
        return False
    return (one.result, one.parameters) != (other.result, other.parameters)


def _text(variants: Variants) -> Declared | None:
    return next((shape for shape in variants if isinstance(shape, Declared)), None)


def _still_seen(context: Context, facet: Facet, name: Name) -> bool:
    """Whether an export that used the type on the old side is described on the new side, and no longer uses it."""
    return any(export in context.new.snapshot.entries[facet] for export in context.affected(name))


def _paired(context: Context, name: Name, other: Name, old: Variants, new: Variants) -> Iterator[Delta[Any]]:
    """Deltas of one type or export. Of what consumers cannot see into, no part is looked at."""
    before, after, consumers = _main(old), _main(new), context.old.consumers
    hidden = name.kind in TYPES and not isinstance(before, Opaque | Declared) and not consumers.can_see(name)
    if hidden or _names_hidden_class(context, name, before):
        first, second = _of_one_side(old, new), _of_one_side(new, old)
        if first != second:
            wrap = _hidden(context, name)
            yield Changed(Subject(name), wrap(name, first), wrap(other, second))
    elif isinstance(before, Alias | Enum | Record) and _is_of_another(name, context):
        yield Changed(Subject(name), DependencyType(name, before), DependencyType(other, after))
    elif isinstance(before, Record) and not _is_met(name, before, context) and not consumers.take_untyped():
        yield from _texts(name, old, new)
        if _without_unrecorded(before, after) != _without_unrecorded(after, before):
            yield Changed(Subject(name), UnreachedType(name, before), UnreachedType(other, after))
    elif _differ_in_private_data(context, name, before, after):
        yield from _texts(name, old, new)
        yield Changed(Subject(name), PrivateData(name, before), PrivateData(other, after))
    elif parts := _shown_parts(context, (name, other), (before, after)):
        first_part, second_part = parts
        yield from _compared(context, name, (first_part.shown,), (second_part.shown,))
        if first_part.lying != second_part.lying:
            yield Changed(Subject(name), first_part.tail, second_part.tail)
    else:
        yield from _compared(context, name, old, new)


def _hidden(context: Context, name: Name) -> type[PrivateType | OpaqueType]:
    """What a type is called that programs cannot see into: proven, or as far as is known."""
    return OpaqueType if context.old.consumers.prove_private(name) else PrivateType


def _shown_parts(
    context: Context, names: tuple[Name, Name], shapes: tuple[AnyShape, AnyShape]
) -> tuple[ShownPart, ...]:
    if not isinstance(shapes[0], Record) or not context.old.variants("source", names[0]):
        return ()
    from abistore.diffing.headers import shown_parts  # not needed without headers

    return shown_parts(context, names, shapes)


def _names_hidden_class(context: Context, name: Name, alias: AnyShape) -> bool:
    """Whether an alias is only another name of a class that programs cannot look into, and have no object of."""
    if not isinstance(alias, Alias) or context.old.consumers.hold(name):
        return False
    target = context.old.types.resolve(alias.target)
    return isinstance(target, Named) and target.name.kind == "record" and not context.old.consumers.can_see(target.name)


def _is_of_another(name: Name, context: Context) -> bool:
    from abistore.diffing.renamed_exports import is_of_another  # few types change

    return is_of_another(name, context)


def _is_met(name: Name, record: Record, context: Context) -> bool:
    """Whether exports use a class, or one of its bases: who gets an object as that may cast it to what it is."""
    pending, seen = [(name, record)], {name}
    while pending:
        each, shape = pending.pop()
        if context.affected(each):
            return True
        bases = [found for found in map(context.old.tables.record, shape.bases) if found and found[0] not in seen]
        seen.update(found[0] for found in bases)
        pending += bases
    return False


def _differ_in_private_data(context: Context, name: Name, old: AnyShape, new: AnyShape) -> bool:
    if not (isinstance(old, Record) and isinstance(new, Record)):
        return False

    def is_handled() -> bool:
        from abistore.diffing.headers import library_handles  # few classes have such members

        return library_handles(name, context)

    fields = changed_private_data(old, new, (context.old.types, context.new.types), is_handled)
    return bool(fields) and not context.old.consumers.can_look_into(name, fields)


def _without_unrecorded(own: AnyShape, other: AnyShape) -> AnyShape:
    """A record without how it is passed where the other side does not tell: what was read as C says nothing of it."""
    untold = isinstance(own, Record) and isinstance(other, Record) and None in (own.passing, other.passing)
    return msgspec.structs.replace(own, passing=None) if untold else own


def _of_one_side(own: Variants, others: Variants) -> AnyShape:
    return next((each for each in own if each not in others and not isinstance(each, Declared)), _main(own))


def _unused(name: Name, old: Variants, new: Variants) -> Iterator[Delta[Any]]:
    """The delta of a private member; no program meets what else the text of its declaration says."""
    if not _spelled_alike(name, old, new):
        yield unused(name, _main(old), _main(new))


def _closes_private_copy(old: Variants, new: Variants) -> bool:
    """Whether a private inline function is declared deleted: what programs have compiled in stays with them."""
    text, before, after = _text(old), _main(old), _main(new)
    return (
        text is not None
        and text.body is not None
        and isinstance(before, Function)
        and isinstance(after, Function)
        and not is_accessible(before)
        and after.method is not None
        and after.method.deleted
    )


def _spelled_alike(name: Name, old: Variants, new: Variants) -> bool:
    return declaration(name, _main(old)) == declaration(name, _main(new))


def _compared(context: Context, name: Name, old: Variants, new: Variants) -> Iterator[Delta[Any]]:
    """Deltas of one name. Shapes that both sides have are equal whatever else the name stands for."""
    yield from _texts(name, old, new)
    before: list[AnyShape] = [shape for shape in old if shape not in new and not isinstance(shape, Declared)]
    after: list[AnyShape] = [shape for shape in new if shape not in old and not isinstance(shape, Declared)]
    if len(before) == len(after):
        for first, second in closest(before, after):
            yield changed(name, first, second)
    elif before and not _is_text(new):
        for shape in before:
            yield Removed(Subject(name), Variant(shape))
    elif after and not _is_text(old):
        for shape in after:
            former = former_definition(context, name, old, shape)
            yield Added(Subject(name), Variant(shape)) if former is None else changed(name, former, shape)


def _texts(name: Name, old: Variants, new: Variants) -> Iterator[Delta[Declared]]:
    """The delta of what only header text tells. Sources meet it whether or not an export uses the declaration."""
    before, after = _text(old), _text(new)
    if before is None and after is not None:
        yield Added(Subject(name), after)
    elif before is not None and after is None:
        yield Removed(Subject(name), before)
    elif before is not None and after is not None and before != after:
        yield Changed(Subject(name), before, after)


def changed(name: Name, old: AnyShape, new: AnyShape) -> Changed[Any]:
    """The delta of one shape; of a :class:`DefinitionKind` where the two sides are not even the same kind of thing."""
    if type(old) is type(new):
        return Changed(Subject(name), old, new)
    return Changed(Subject(name), DefinitionKind(name, old), DefinitionKind(name, new))
