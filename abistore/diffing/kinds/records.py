"""Records that may grow, ends of lists, class templates that lose bases, and vtables that gain slots."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from abistore.diffing.context import Context
from abistore.diffing.side import SideFacts
from abistore.diffing.types.sameness import flat_fields, plain
from abistore.diffing.types.vtables import PURE, VirtualTables, same_method
from abistore.model.declarations import Changed, Declared, Name, WrittenBase
from abistore.model.hints import any_matches, matches
from abistore.model.names.qualified import last_component, plain_template
from abistore.model.names.spelling import spell
from abistore.model.names.symbols import VTABLE, class_symbol
from abistore.model.shapes import (
    WIDTH,
    Alias,
    Field,
    Named,
    Pointer,
    Primitive,
    Procedure,
    Record,
    Symbol,
    TypeRef,
)
from abistore.model.snapshot import TEMPLATE_BASES, HeadersRead
from abistore.model.structure import references

Hint: TypeAlias = Literal["", "counted", "certain"]
"""What a name says: nothing; an end if values in a row lead up to it; or an end."""

_WORD: Final = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+"


def words(name: str) -> list[str]:
    """The words of which a name is made, in small letters; what is written as one word counts as such."""
    return [word.lower() for word in re.findall(_WORD, name)]


def end_hint(name: str, kin: Collection[str] = ()) -> Hint:
    """What the name of an enumerator says of its being an end, beside enumerators that share the words ``kin``.

    It says so with a word at its end. Behind that may stand what is said of any list, or of this one:
    ``STATUS_LAST_STATUS``, ``N_ROLES``, ``END_OF_LIST``, ``LASTONE``.
    """
    if matches("nobody", name):
        return "certain"
    all_words = words(name)
    rest, behind = _without_tail(all_words, kin)
    if rest and matches("end", rest[-1]) and (rest[-1] not in ("n", "number") or behind):
        return "certain"
    if rest and matches("perhaps_end", rest[-1]):
        return "counted"
    counts = all_words[-1:] and all_words[-1].endswith("s") and any_matches("number_of", all_words[:-1])
    return "certain" if counts else ""


def _forms(word: str) -> frozenset[str]:
    return frozenset((word, word.removesuffix("s"), f"{word}s"))


def _without_tail(own: Sequence[str], kin: Collection[str]) -> tuple[Sequence[str], list[str]]:
    """The words up to one that says something of its own, and those behind it, each as one of several."""
    rest, behind = [*own], list[str]()
    while rest and not matches("end", rest[-1]) and not matches("perhaps_end", rest[-1]):
        singular = rest[-1].removesuffix("s")
        if not any_matches("of_list", (rest[-1], singular)) and _forms(rest[-1]).isdisjoint(kin):
            break
        behind.append(singular)
        rest.pop()
    return rest, behind


def _come(record: Changed[Record]) -> list[Field]:
    before = {plain(field).name for field in flat_fields(record.old)}
    return [field for field in map(plain, flat_fields(record.new)) if field.name not in before]


def _appends_functions(record: Changed[Record], context: Context) -> bool:
    come = _come(record)
    had = any(_is_function(plain(field), context.old) for field in flat_fields(record.old))
    return had and bool(come) and all(_is_function(field, context.new) for field in come)


def _is_function(field: Field, side: SideFacts) -> bool:
    bare, _ = side.types.bare(field.type)
    return isinstance(bare, Pointer) and isinstance(side.types.bare(bare.target)[0], Procedure)


def _says_version(record: Changed[Record], context: Context) -> bool:
    """Whether a number before all function pointers is called a version, and is where it was."""
    kept = {(field.name, field.offset) for field in map(plain, flat_fields(record.new))}
    for field in map(plain, flat_fields(record.old)):
        if _is_function(field, context.old):
            return False
        if matches("version_field", field.name) and _is_number(field.type, context.old):
            return (field.name, field.offset) in kept
    return False


def _is_number(type: TypeRef, side: SideFacts) -> bool:
    return isinstance(side.types.bare(type)[0], Primitive)


def grows_safely(record: Changed[Record], context: Context) -> bool:
    """Whether no consumer depends on the size.

    The library allocates each object, callers tell what theirs hold, or unions have the room.
    """
    name = record.subject.name
    if context.old.consumers.library_allocates(name):
        return not context.old.consumers.gets_arrays(name)
    from abistore.diffing.kinds.fields import has_room_in_unions  # few records grow

    if has_room_in_unions(record, context):
        return True
    if context.old.consumers.hold(name) or record.old.sort == "union" or record.new.size <= record.old.size:
        return False
    if is_masked(record, context):
        return True

    return _appends_functions(record, context) and (_says_version(record, context) or _is_interface(record, context))


def is_masked(record: Changed[Record], context: Context) -> bool:
    """Whether users tell by bits which fields they know, and each that came has a new bit that is called after it.

    So ``node_id`` comes with ``PARAM_FIELD_NODE_ID`` for ``uint64_t field_mask``: nobody built before sets that.
    """
    before = {plain(field).name: plain(field) for field in flat_fields(record.old)}
    if not any(matches("mask_field", name) and _is_count(field, context) for name, field in before.items()):
        return False
    come = [name for field in flat_fields(record.new) if (name := plain(field).name) not in before]
    old, new = context.old.enumerators, context.new.enumerators
    bits = [name.spelling.lower() for name, bit in new.items() if bit.bit_count() == 1 and bit > 0 and name not in old]
    return bool(come) and all(any(bit.endswith(f"_{name.lower()}") for bit in bits) for name in come)


def _is_count(field: Field, context: Context) -> bool:
    return isinstance(context.old.types.bare(field.type)[0], Primitive)


DEEPEST = 100
"""More levels of bases than any class has."""


def are_recorded(context: Context) -> bool:
    """Whether the headers of both sides were asked for the bases of templates."""
    reads = (side.snapshot.provenance.headers for side in (context.old, context.new))
    return all(isinstance(read, HeadersRead) and TEMPLATE_BASES in read.facts for read in reads)


def missed(declared: Changed[Declared], context: Context) -> list[WrittenBase]:
    """The bases that sources had and have no more.

    One is still there that a base of now derives from, or that has further arguments behind those of before.
    """
    name, old, new = declared.subject.name, declared.old.bases, declared.new.bases
    gone = [each for each in old if each.access != "private" and not any(_stands_for(other, each) for other in new)]
    if not gone:
        return []
    around = _ancestors(name, context.new)
    return [each for each in gone if not _outranks(around.get(each.type), each)]


def _stands_for(new: WrittenBase, old: WrittenBase) -> bool:
    further = old.type.endswith(">") and new.type.startswith(f"{old.type[:-1]}, ")
    return (new.type == old.type or further) and WIDTH[new.access] >= WIDTH[old.access]


def _outranks(access: int | None, base: WrittenBase) -> bool:
    return access is not None and access >= WIDTH[base.access]


def _class(spelled: str) -> str:
    plain = plain_template(spelled)
    return plain[0] if plain is not None else spelled


def _ancestors(name: Name, side: SideFacts) -> Mapping[str, int]:
    """All bases of a class as they are spelled, with the access that its users have to them."""
    return _above(name.spelling, WIDTH["public"], side)


def _above(spelled: str, access: int, side: SideFacts) -> dict[str, int]:
    found: dict[str, int] = {}
    pending = [(spelled, access, 0)]
    while pending:
        each, reached, depth = pending.pop()
        for type, own in _bases(each, side) if depth < DEEPEST else ():
            width = min(own, reached)
            if width and width > found.get(type, 0):
                found[type] = width
                pending.append((type, width, depth + 1))
    return found


def _bases(spelled: str, side: SideFacts) -> Iterator[tuple[str, int]]:
    for each in dict.fromkeys((spelled, _class(spelled))):
        for shape in side.variants("source", Name("record", each)):
            if isinstance(shape, Declared):
                yield from ((base.type, WIDTH[base.access]) for base in shape.bases)
            elif isinstance(shape, Record):
                yield from ((spell(base.type), WIDTH[base.access]) for base in shape.bases)


Growth: TypeAlias = Literal["open", "by cast", "unreached", "closed"]
"""What becomes of programs where a class got slots.

``closed``: no program derives from the class. ``open``: the library may call a new slot on an object of a class that a
program derives. ``unreached``: it gets no such object; ``by cast``: unless it casts what it gets as a base.
"""


def growth(owner: Name, context: Context) -> Growth:
    """What the slots that a class got mean, where it kept all others; ``open`` where it did not.

    A table of its own is longer in the new library than in programs that make objects of the class, or that have parts
    of it for further bases. So a class that programs do derive from is abstract, and has one table.
    """
    before, after = (side.types.shape(owner) for side in (context.old, context.new))
    if not isinstance(before, Record) or not isinstance(after, Record):
        return "open"
    if not _keeps(before, context.old.tables, after, context.new.tables):
        return "open"
    if not context.old.tables.may_be_derived_from(owner) or _is_final(owner, context):
        return "closed"
    if not _tells_slots(before, context.old.tables) or not _tells_slots(after, context.new.tables):
        return "open"
    if not all(_is_abstract(owner, side) for side in (context.old, context.new)):
        return "open"
    if not (context.old.tables.has_one_table(before) and context.new.tables.has_one_table(after)):
        return "open"
    chance = context.old.consumers.hand_in(owner)
    return "open" if chance == "yes" else "unreached" if chance == "no" else "by cast"


def _is_final(owner: Name, context: Context) -> bool:
    """Whether headers say that nobody derives from a class, of which only the library has the vtable."""
    if not any(isinstance(each, Declared) and "final" in each.traits for each in context.old.variants("source", owner)):
        return False
    table = Name("variable", class_symbol(VTABLE, owner.spelling))
    return context.exported(table) and context.old.consumers.owner(table, context.new.exporting, gone=False) == "own"


def _keeps(before: Record, old: VirtualTables, after: Record, new: VirtualTables) -> bool:
    slots = new.slots(after)
    return all(slot in slots and same_method(method, slots[slot]) for slot, method in old.slots(before).items())


def _tells_slots(record: Record, tables: VirtualTables) -> bool:
    """Whether each function's slot is known: a compiler may leave out that of one that overrides another."""
    inherited = tables.inherited(record).values()
    return all(own.slot is not None or any(same_method(own, each) for each in inherited) for own in record.virtuals)


def _is_abstract(owner: Name, side: SideFacts) -> bool:
    """Whether nobody makes objects of the class itself, as headers, debug information or its table in the file tell."""
    for shape in side.variants("source", owner):
        if isinstance(shape, Declared) and "abstract" in shape.traits:
            return True
    record = side.types.shape(owner)
    if isinstance(record, Record) and any(method.pure for method in side.tables.slots(record).values()):
        return True
    tables = side.variants("symbol", Name("variable", class_symbol(VTABLE, owner.spelling)))
    return any(isinstance(each, Symbol) and not PURE.isdisjoint(each.table) for each in tables)


def is_default(name: str, side: SideFacts) -> bool:
    """Whether headers pass the enumerator where a call leaves an argument out: then it is a value like the others."""
    texts = (text for shapes in side.snapshot.entries.get("source", {}).values() for text in shapes)
    defaults = (each.default for text in texts if isinstance(text, Declared) for each in text.parameters)
    return any(default is not None and last_component(default) == name for default in defaults)


KEPT_BY_GLIB: Final = frozenset({"GTypeInterface", "_GTypeInterface"})
"""What an interface of GObject begins with: GLib makes each table, of the size that the library registered."""


def _is_interface(record: Changed[Record], context: Context) -> bool:
    first = next(map(plain, flat_fields(record.old)), None)
    if first is None or not KEPT_BY_GLIB.intersection(each.spelling for each, _ in references(Alias(first.type))):
        return False
    return not any(user.kind == "record" for user in _users(record.subject.name, context.old))


def _users(name: Name, side: SideFacts) -> Iterator[Name]:
    pending, seen = [name], {name}
    while pending:
        come = set(side.reach.users(pending.pop())) - seen
        seen |= come
        callbacks = {each for each in come if _is_callback(each, side)}
        pending += (each for each in come - callbacks if each.kind == "alias")
        yield from (each for each in come if each.kind != "alias" or each in callbacks)


def _is_callback(alias: Name, side: SideFacts) -> bool:
    bare, _ = side.types.bare(Named(alias))
    if isinstance(bare, Pointer):
        bare, _ = side.types.bare(bare.target)
    return isinstance(bare, Procedure)
