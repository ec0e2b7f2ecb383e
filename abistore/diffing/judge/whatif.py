"""An edit of headers judged before it is built, and other ways to make it that break nobody."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from abistore.diffing.judge.judged import Ruling, compare
from abistore.diffing.types.mentions import is_reserved
from abistore.errors import InputError
from abistore.model.declarations import TYPES, Declared, Facet, Name
from abistore.model.findings import Comparison, Verdict
from abistore.model.layout import Layouts
from abistore.model.names.qualified import demangle
from abistore.model.names.symbols import CLASS_DATA
from abistore.model.shapes import (
    AnyShape,
    Array,
    Enum,
    Enumerator,
    Field,
    Function,
    Pointer,
    Primitive,
    Record,
    Symbol,
    TypeRef,
    Variable,
    VirtualMethod,
)
from abistore.model.snapshot import Snapshot, Tags, Variants, only_described
from abistore.model.structure import embedded


class Proposal(msgspec.Struct, frozen=True):
    """A way to change the declaration ``name``: ``title`` says how, ``changes`` what is declared then."""

    name: Name
    title: str
    changes: Mapping[Name, Variants | None]


def with_shape(variants: Variants, shape: AnyShape) -> Variants:
    """The same declaration with another shape."""
    return (*(each for each in variants if isinstance(each, Declared)), shape)


class Room(msgspec.Struct, frozen=True, order=True):
    """Bits of a record that no program uses. ``field`` is the reserved field that takes them; empty for padding.

    ``offset`` and ``length`` are in bits.
    """

    offset: int
    length: int
    field: str = ""

    def __str__(self) -> str:
        what = f"the reserved field {self.field}" if self.field else "padding"
        return f"{self.length // 8} bytes of {what} at offset {self.offset // 8}"


def rooms(record: Record, layouts: Layouts) -> tuple[Room, ...]:
    """All room in ``record``, by offset. A union has none: its members share all of it."""
    if record.sort == "union":
        return ()
    padding = (Room(hole.offset, hole.length) for hole in layouts.holes(record) if hole.length >= 8)
    reserved = (
        Room(field.offset, 8 * size, field.name)
        for field in record.fields
        if is_reserved(field) and field.bit_size is None and (size := layouts.size(field.type))
    )
    return tuple(sorted((*padding, *reserved)))


def placed(record: Record, fields: Sequence[Field], layouts: Layouts) -> Record | None:
    """``record`` with further fields in its room, none of the others moved; ``None`` where they do not fit."""
    found = record
    for field in fields:
        taken = next((each for room in rooms(found, layouts) if (each := _put(found, field, room, layouts))), None)
        if taken is None:
            return None
        found = taken
    return found


def _put(record: Record, field: Field, room: Room, layouts: Layouts) -> Record | None:
    size, alignment = layouts.size(field.type), layouts.alignment(field.type)
    if not size or not alignment or field.bit_size is not None:
        return None
    offset = -(-room.offset // (8 * alignment)) * 8 * alignment
    end = offset + 8 * size
    if end > room.offset + room.length:
        return None
    rest = _without(record, room, offset, end, layouts)
    if rest is None:
        return None
    fields = sorted((*rest, replace(field, offset=offset)), key=lambda each: each.offset)
    return replace(record, fields=tuple(fields))


def _without(record: Record, room: Room, start: int, end: int, layouts: Layouts) -> Sequence[Field] | None:
    """The fields of ``record``, the reserved one cut to what is left of it; ``None`` where it cannot be cut."""
    if not room.field:
        return record.fields
    reserved = next(each for each in record.fields if each.name == room.field and each.offset == room.offset)
    others = [each for each in record.fields if each is not reserved]
    left = room.offset + room.length - end
    if start != room.offset:
        return None
    if not left:
        return others
    rest = _cut(reserved.type, left, layouts)
    return None if rest is None else [*others, replace(reserved, type=rest, offset=end)]


def _cut(type: TypeRef, bits: int, layouts: Layouts) -> TypeRef | None:
    if not isinstance(type, Array) or not isinstance(type.element, Primitive | Pointer):
        return None
    element = 8 * (layouts.size(type.element) or 0)
    return None if not element or bits % element else replace(type, count=bits // element)


def appended(record: Record, fields: Sequence[Field], layouts: Layouts) -> Record | None:
    """``record`` with further fields behind all others, as a compiler lays them out; ``None`` where it is not known."""
    if record.sort == "union" or any(field.bit_size is not None for field in fields):
        return None
    end, alignment = _end(record, layouts), layouts.record_alignment(record)
    added: list[Field] = []
    for field in fields:
        size, wanted = layouts.size(field.type), layouts.alignment(field.type)
        if not size or not wanted:
            return None
        offset = -(-end // (8 * wanted)) * 8 * wanted
        added.append(replace(field, offset=offset))
        end, alignment = offset + 8 * size, max(alignment, wanted)
    size = -(-end // (8 * alignment)) * alignment
    return replace(record, fields=(*record.fields, *added), size=max(size, record.size))


def _end(record: Record, layouts: Layouts) -> int:
    tail = next((hole.offset for hole in layouts.holes(record) if hole.tail), None)
    return 8 * record.size if tail is None else tail


def with_embedding(before: Snapshot, after: Snapshot, changed: Iterable[Name]) -> Snapshot:
    """``after`` with the records laid out anew that embed ``changed`` types.

    A record of which the layout cannot be told from its fields, as one with base classes, stays as it is.
    """
    settled, pending = set(changed), list(changed)
    users = _users(before)
    while pending:
        for name in users.get(pending.pop(), ()):
            if name not in settled:
                settled.add(name)
                entries = _relaid(before, after, name)
                if entries:
                    after = replace(after, entries={**after.entries, **entries})
                if entries or name.kind == "alias":  # an alias has no layout of its own, and changes with its target
                    pending.append(name)
    return after


def _users(snapshot: Snapshot) -> Mapping[Name, list[Name]]:
    found: dict[Name, list[Name]] = {}
    for facet in _facets(snapshot):
        for name, variants in snapshot.entries[facet].items():
            if name.kind in ("record", "alias"):
                for each in {one for shape in variants for one in embedded(shape)}:
                    found.setdefault(each, []).append(name)
    return found


def _facets(snapshot: Snapshot) -> Iterator[Facet]:
    return (facet for facet in snapshot.entries if facet != "symbol")


def _relaid(before: Snapshot, after: Snapshot, name: Name) -> Mapping[Facet, Mapping[Name, Variants]]:
    """The facets of ``after`` in which ``name`` is laid out anew; none where its layout stays."""
    old, new = Layouts(before), Layouts(after)
    found: dict[Facet, Mapping[Name, Variants]] = {}
    for facet in _facets(after):
        variants = after.entries[facet].get(name, ())
        anew = tuple(_laid_out(shape, old, new) if isinstance(shape, Record) else shape for shape in variants)
        if anew != variants:
            found[facet] = {**after.entries[facet], name: anew}
    return found


def _laid_out(record: Record, old: Layouts, new: Layouts) -> Record:
    """The record with its fields one behind the other, if that is how the compiler laid them out before."""
    return found if _in_order(record, old) == record and (found := _in_order(record, new)) is not None else record


def _in_order(record: Record, layouts: Layouts) -> Record | None:
    """The record with each field at the next multiple of its alignment; ``None`` where that is not known to be so."""
    if record.bases or record.has_vptr or record.alignment:
        return None
    end, size, most, fields = 0, 0, 1, list[Field]()
    for field in record.fields:
        length, alignment = layouts.size(field.type), layouts.alignment(field.type)
        if length is None or not alignment or field.bit_size is not None:
            return None
        offset = 0 if record.sort == "union" else -(-end // alignment) * alignment
        fields.append(replace(field, offset=8 * offset))
        end, most = offset + length, max(most, alignment)
        size = max(size, end)
    return replace(record, fields=tuple(fields), size=-(-size // most) * most or record.size)


def embedding_left(before: Snapshot, after: Snapshot, changed: Iterable[Name]) -> tuple[Name, ...]:
    """The records that embed a type of another size and whose own layout could not be worked out, sorted."""
    old, new = Layouts(before), Layouts(after)
    found = set[Name]()
    users = _users(before)
    for name in changed:
        for user in users.get(name, ()):
            shapes: Variants = after.variants("source", user) or after.variants("layout", user)
            for shape in shapes:
                if isinstance(shape, Record) and not isinstance(shape, Declared) and _is_stale(shape, old, new):
                    found.add(user)
    return tuple(sorted(found))


def _is_stale(record: Record, old: Layouts, new: Layouts) -> bool:
    """Whether a member of ``record`` has another size now, and the record still has the layout of before."""
    grown = any(old.size(field.type) != new.size(field.type) for field in record.fields)
    return grown and _in_order(record, new) != record


Declarations = Mapping[Name, Variants]
"""What headers declare: the entries of the ``source`` facet."""

NO_SYMBOL: Final = frozenset({"concept", "constant", "inline", "macro", "template", "using"})
"""What a declaration says of itself that no symbol stands for."""


class HeaderEdit(msgspec.Struct, frozen=True):
    """What the headers declared before an edit, and what they declare after it.

    Without the headers an edit is not ``whole``: it tells of the declarations that it changes, and of no others.
    ``bare`` are the names of types that are no tags of C in what is declared after it.
    """

    before: Declarations
    after: Declarations
    whole: bool = True
    bare: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[Name, ...]:
        """The declarations that the edit changes, sorted."""
        both = self.before.keys() | self.after.keys()
        return tuple(sorted(name for name in both if self.before.get(name) != self.after.get(name)))


def as_declared(stored: Snapshot, edit: HeaderEdit) -> Snapshot:
    """The stored release with its own evidence of headers; where it has none, with that of the headers before the edit.

    Raises :class:`InputError` where neither shows what the release declares.
    """
    if stored.evidence_of("source").state != "missing":
        return stored
    if not edit.whole:
        if "layout" in stored.entries:
            return stored
        message = f"{stored.label}: stored without debug information and headers"
        raise InputError(message, "give its headers with --header")
    known = stored.entries.get("layout", {})
    before = {name: _as_built(known.get(name, ()), variants) for name, variants in edit.before.items()}
    return with_entries(stored, {"source": before}, headers=True)


def _with_new_names(declared: Snapshot, edit: HeaderEdit) -> Snapshot:
    """The release that knows which types that are new in the edit have no tag."""
    tags = declared.provenance.tags
    new = {name.spelling for name in edit.after if not declared.has(name)} & edit.bare
    if not new or not isinstance(tags, Tags):
        return declared
    tags = replace(tags, bare=tuple(sorted({*tags.bare, *new})))
    return replace(declared, provenance=replace(declared.provenance, tags=tags))


def _as_built(layout: Variants, declared: Variants) -> Variants:
    """A declaration of the headers as the release was built: what debug information shows is sure to be of it."""
    return (*(shape for shape in declared if isinstance(shape, Declared)), *layout) if layout else declared


def edited(declared: Snapshot, edit: HeaderEdit) -> Snapshot:
    """What the release would be if it was built from the edited headers.

    A declaration that the edit leaves alone stays as it is stored. A function that became inline is exported no more:
    compilers emit it only where the library's own sources need it. Symbols are added for what is declared anew.
    """
    changes = {name: edit.after.get(name) for name in edit.names}
    return with_declarations(declared, changes, edit.before)


def with_declarations(declared: Snapshot, changes: Mapping[Name, Variants | None], before: Declarations) -> Snapshot:
    """The release with other declarations; ``None`` takes one away. ``before`` are those that headers had."""
    symbols = dict(declared.entries.get("symbol", {}))
    for name, variants in changes.items():
        _export(symbols, name, before.get(name, ()), variants or ())
    entries: dict[Facet, Mapping[Name, Variants]] = {"symbol": symbols}
    if "source" in declared.entries:
        entries["source"] = _with(declared.entries["source"], changes)
    if "layout" in declared.entries:
        described = {name: _main(each) for name, each in changes.items() if _is_described(declared, name, symbols)}
        entries["layout"] = _with(declared.entries["layout"], described)
    found = with_embedding(declared, with_entries(declared, entries), changes)
    return with_entries(found, {"symbol": _sized(declared, found, changes)})


def with_entries(
    snapshot: Snapshot, entries: Mapping[Facet, Mapping[Name, Variants]], headers: bool = False
) -> Snapshot:
    """The snapshot with other entries in some facets; with ``headers`` it counts as read with them."""
    evidence = snapshot.evidence
    if headers:
        seen = replace(snapshot.evidence_of("source"), state="full", reason="", detail="", hint="", source="headers")
        evidence = (*(each for each in evidence if each.facet != "source"), seen)
    return replace(snapshot, entries={**snapshot.entries, **entries}, evidence=evidence)


def _with(entries: Mapping[Name, Variants], changes: Mapping[Name, Variants | None]) -> dict[Name, Variants]:
    found = {name: variants for name, variants in entries.items() if name not in changes}
    found.update((name, variants) for name, variants in changes.items() if variants)
    return found


def _main(variants: Variants | None) -> Variants | None:
    return tuple(shape for shape in variants if not isinstance(shape, Declared)) if variants else None


def _is_described(declared: Snapshot, name: Name, symbols: Mapping[Name, Variants]) -> bool:
    """Whether debug information would describe ``name``: types, and what is exported."""
    return name.kind in TYPES or name in symbols or name in declared.entries["layout"]


# --- symbols ------------------------------------------------------------------------------------------------------


def _export(symbols: dict[Name, Variants], name: Name, before: Variants, after: Variants) -> None:
    """Export what a declaration stands for after an edit, and nothing that it stood for only before."""
    if name.kind == "record":
        if _is_polymorphic(before) and not _is_polymorphic(after):
            for each in list(_class_data(symbols, name)):
                del symbols[each]
        return
    if name.kind not in ("function", "variable"):
        return
    was, will = _has_symbol(before), _has_symbol(after)
    if was and not will:
        symbols.pop(name, None)
    elif will and not was and name not in symbols:
        symbols[name] = (Symbol("function" if name.kind == "function" else "data"),)


def _has_symbol(variants: Variants) -> bool:
    traits = {trait for shape in variants if isinstance(shape, Declared) for trait in shape.traits}
    if not variants or traits & NO_SYMBOL:
        return False
    return not any(_is_only_declared(shape) for shape in variants)


def _is_only_declared(shape: AnyShape) -> bool:
    if not isinstance(shape, Function) or shape.method is None:
        return False
    return shape.method.deleted or shape.method.virtual == "pure"


def _is_polymorphic(variants: Variants) -> bool:
    return any(isinstance(shape, Record) and (shape.virtuals or shape.has_vptr) for shape in variants)


def _class_data(symbols: Mapping[Name, Variants], record: Name) -> Iterator[Name]:
    from abistore.model.names.qualified import class_behind

    for name in symbols:
        if name.spelling.startswith(CLASS_DATA) and class_behind(name.spelling) == record.spelling:
            yield name


def _sized(before: Snapshot, after: Snapshot, changes: Mapping[Name, Variants | None]) -> dict[Name, Variants]:
    """The symbols after an edit, with the sizes that data objects of changed types have."""
    found = dict(after.entries["symbol"])
    if not any(name.kind in ("record", "alias", "variable") for name in changes):
        return found
    was, will = Layouts(before), Layouts(after)
    for name, variants in after.entries["symbol"].items():
        if name.kind == "variable":
            sizes = _size(was, before, name), _size(will, after, name)
            found[name] = tuple(_resized(shape, *sizes) for shape in variants)
    return found


def _size(layouts: Layouts, snapshot: Snapshot, name: Name) -> int | None:
    described = snapshot.variants("source", name) or snapshot.variants("layout", name)
    return next((layouts.size(shape.type) for shape in described if isinstance(shape, Variable)), None)


def _resized(symbol: AnyShape, before: int | None, after: int | None) -> AnyShape:
    """The symbol with the size ``after``, where its own is that of its type ``before``, or none yet."""
    known = isinstance(symbol, Symbol) and symbol.size in (before, 0) and after is not None
    return replace(symbol, size=after) if known else symbol


def proposals(declared: Snapshot, edit: HeaderEdit) -> Iterator[Proposal]:
    """Other ways to make each change of ``edit``, in the order in which they should be tried.

    Whether one breaks is for the caller to judge.
    """
    layouts = Layouts(declared)
    for name in edit.names:
        before, after = declared.variants("source", name) or edit.before.get(name, ()), edit.after.get(name, ())
        old, new = only_described(before), only_described(after)
        if isinstance(old, Record) and isinstance(new, Record):
            yield from _of_record(name, (before, old), new, layouts)
        elif isinstance(old, Enum) and isinstance(new, Enum):
            yield from _of_enum(name, (before, old), new)
        elif isinstance(old, Function) and name.kind == "function":
            yield from _of_function(name, before, edit)
        elif before and not after:
            yield Proposal(name, f"keep {name.spelling}, and mark it deprecated", {name: _deprecated(before)})


# --- records ------------------------------------------------------------------------------------------------------


def _of_record(name: Name, old: tuple[Variants, Record], new: Record, layouts: Layouts) -> Iterator[Proposal]:
    variants, record = old
    added = _added(record, new)
    if added:
        listed, kept = _listed(added), _kept(record, new)
        inside, behind = placed(record, added, layouts), appended(record, added, layouts)
        if inside is not None:
            yield Proposal(name, _where(record, inside, listed) + kept, {name: with_shape(variants, inside)})
        if behind is not None and behind != inside:
            title = f"append {listed} after the other members{kept}"
            yield Proposal(name, title, {name: with_shape(variants, behind)})
    elif gone := _gone(record, new):
        title = f"keep {_listed(gone)} as unused members with other names"
        fields = tuple(replace(each, name=f"_reserved_{each.name}") if each in gone else each for each in record.fields)
        yield Proposal(name, title, {name: with_shape(variants, replace(record, fields=fields))})
    came = [each for each in new.virtuals if all(each.display != one.display for one in record.virtuals)]
    if came:
        last = replace(record, virtuals=(*record.virtuals, *_in_slots(record, came)))
        title = f"declare {', '.join(each.display for each in came)} after the other virtual functions"
        yield Proposal(name, title, {name: with_shape(variants, last)})


def _added(record: Record, new: Record) -> list[Field]:
    """The fields that an edit brings: those of a new name, and under another name those that got another type."""
    before = {field.name: field for field in record.fields}
    found = []
    for field in new.fields:
        if field.name not in before:
            found.append(field)
        elif field.type != before[field.name].type:
            found.append(replace(field, name=f"{field.name}2"))
    return [field for field in found if field.name]


def _gone(record: Record, new: Record) -> list[Field]:
    names = {field.name for field in new.fields}
    return [field for field in record.fields if field.name not in names]


def _kept(record: Record, new: Record) -> str:
    """What a title says of the fields that the edit would have taken away, or given another type."""
    after = {field.name: field.type for field in new.fields}
    kept = [field.name for field in record.fields if field.name and after.get(field.name) != field.type]
    return f", and keep {', '.join(kept)} as it is" if len(kept) == 1 else f", and keep {', '.join(kept)}" * bool(kept)


def _where(old: Record, new: Record, listed: str) -> str:
    before = {field.name: field for field in old.fields}
    offsets = ", ".join(str(field.offset // 8) for field in new.fields if field.name not in before)
    cut = [field.name for field in old.fields if field not in new.fields]
    room = f"the reserved field {', '.join(cut)}" if cut else "the padding"
    return f"put {listed} into {room}, at offset {offsets}"


def _listed(fields: Sequence[Field]) -> str:
    return ", ".join(field.name for field in fields)


def _in_slots(record: Record, added: Sequence[VirtualMethod]) -> Sequence[VirtualMethod]:
    """The virtual functions in the slots behind those of ``record``."""
    slots = [each.slot for each in record.virtuals if each.slot is not None]
    first = max(slots) + 1 if slots else None
    return [replace(each, slot=None if first is None else first + number) for number, each in enumerate(added)]


# --- enumerations and functions --------------------------------------------------------------------------------------


def _of_enum(name: Name, old: tuple[Variants, Enum], new: Enum) -> Iterator[Proposal]:
    variants, enum = old
    known = {each.name for each in enum.enumerators}
    added = [each.name for each in new.enumerators if each.name not in known]
    kept = {each.name for each in enum.enumerators} - {each.name for each in new.enumerators}
    following = max((each.value for each in enum.enumerators), default=-1) + 1
    values = tuple(Enumerator(each, following + number) for number, each in enumerate(added))
    found = replace(enum, enumerators=(*enum.enumerators, *values))
    said = [f"{each.name} = {each.value}" for each in values]
    title = f"append {', '.join(said)} after the other enumerators" if said else "keep the old values"
    if kept:
        title += f", and keep {', '.join(sorted(kept))}"
    if found != new:
        yield Proposal(name, title, {name: with_shape(variants, found)})


def _of_function(name: Name, before: Variants, edit: HeaderEdit) -> Iterator[Proposal]:
    """What keeps a function that an edit takes away, or gives another signature."""
    function = only_described(before)
    assert isinstance(function, Function)
    after = edit.after.get(name, ())
    changed = only_described(after)
    overloads = {
        each: edit.after[each] for each in edit.names if each not in edit.before and _is_called(edit, each, function)
    }
    if isinstance(changed, Function):
        second = Name("function", f"{name.spelling}2")
        title = f"keep {function.display} as it is, and add {function.display}2"
        yield Proposal(name, title, {second: with_shape(after, replace(changed, display=f"{function.display}2"))})
    elif overloads:
        beside = ", ".join(demangle(each.spelling) for each in overloads)
        title = f"keep {demangle(name.spelling)}, and add {beside}"
        yield Proposal(name, title, overloads)
    elif not after:
        yield Proposal(name, f"keep {function.display}, and mark it deprecated", {name: _deprecated(before)})


def _is_called(edit: HeaderEdit, name: Name, function: Function) -> bool:
    """Whether an edit declares ``name`` as another overload of ``function``."""
    shape = only_described(edit.after.get(name, ()))
    return isinstance(shape, Function) and shape.display == function.display


def _deprecated(variants: Variants) -> Variants:
    text = next((each for each in variants if isinstance(each, Declared)), Declared())
    marked = replace(text, traits=tuple(sorted({*text.traits, "deprecated"})))
    return (marked, *(each for each in variants if not isinstance(each, Declared)))


class OfferedWay(msgspec.Struct, frozen=True):
    """Another way to make the change of a declaration, what is ``declared`` then, and how that was judged."""

    name: Name
    title: str
    declared: tuple[Name, ...]
    comparison: Comparison
    sides: tuple[Snapshot, Snapshot]


class RecordRoom(msgspec.Struct, frozen=True):
    """The room in a record that the edit changes."""

    name: Name
    rooms: tuple[Room, ...]


class JudgedEdit(msgspec.Struct, frozen=True):
    """What a release with edited headers would be against the one that is stored.

    ``rooms`` are in the records that the edit changes. ``unsettled`` are records that embed one of these, and of which
    the layout after the edit is not known.
    """

    comparison: Comparison
    sides: tuple[Snapshot, Snapshot]
    rooms: tuple[RecordRoom, ...]
    ways: tuple[OfferedWay, ...]
    unsettled: tuple[Name, ...] = ()


def judge_edit(stored: Snapshot, edit: HeaderEdit, by: Ruling | None = None) -> JudgedEdit:
    """The verdict about an edit; where it breaks, other ways that were judged by the same rules and do not.

    Raises what :func:`abistore.diffing.judge.judged.compare` does.
    """
    declared = _with_new_names(as_declared(stored, edit), edit)
    after = edited(declared, edit)
    found = compare(declared, after, by)
    ways = tuple(_ways(declared, edit, by)) if found.verdict >= Verdict.API_BREAK else ()
    unsettled = embedding_left(declared, after, edit.names)
    return JudgedEdit(found, (declared, after), tuple(_rooms(declared, edit)), ways, unsettled)


def _ways(declared: Snapshot, edit: HeaderEdit, by: Ruling | None) -> Iterator[OfferedWay]:
    """The ways that break nobody, each with the rest of the release as it was."""
    for proposal in proposals(declared, edit):
        after = _made(declared, proposal, edit)
        found = compare(declared, after, by)
        if found.verdict < Verdict.API_BREAK:
            yield OfferedWay(proposal.name, proposal.title, tuple(proposal.changes), found, (declared, after))


def _made(declared: Snapshot, proposal: Proposal, edit: HeaderEdit) -> Snapshot:
    return with_declarations(declared, proposal.changes, edit.before)


def _rooms(declared: Snapshot, edit: HeaderEdit) -> Iterator[RecordRoom]:
    layouts = Layouts(declared)
    for name in edit.names:
        record = only_described(declared.variants("source", name) or edit.before.get(name, ()))
        if isinstance(record, Record) and (found := rooms(record, layouts)):
            yield RecordRoom(name, found)
