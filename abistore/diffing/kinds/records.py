"""Where a field is placed in its record and how its type differs, and records that may grow or lose bases."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum, auto
from typing import Final, Literal, TypeAlias

from abistore.diffing.context import Context
from abistore.diffing.kinds.equivalent_declarations import only_named_otherwise
from abistore.diffing.side import SideFacts
from abistore.diffing.types.mentions import is_reserved
from abistore.diffing.types.sameness import (
    LARGEST,
    Extent,
    Extents,
    InnerField,
    Sameness,
    TypeSide,
    as_member,
    flat_fields,
    plain,
    told_by_parts,
)
from abistore.diffing.types.vtables import VirtualTables, same_method
from abistore.model.declarations import Added, Changed, Declared, Name, Removed, WrittenBase
from abistore.model.hints import any_matches, matches
from abistore.model.layout import Layouts
from abistore.model.names.qualified import last_component, plain_template
from abistore.model.names.spelling import spell
from abistore.model.names.symbols import VTABLE, class_symbol
from abistore.model.shapes import (
    WIDTH,
    Alias,
    AnyShape,
    Array,
    Field,
    Inline,
    Named,
    Pointer,
    Primitive,
    Procedure,
    Record,
    TypeRef,
)
from abistore.model.snapshot import TEMPLATE_BASES, HeadersRead
from abistore.model.structure import references


class FieldPlace(Enum):
    """Where a new field lies.

    ``ALTERNATIVE``: over others in a union. ``RESERVED``: in storage that was kept for it. ``FREE``: in padding, or
    where only removed fields lay. ``FLEXIBLE``: an array without a bound behind all others. ``END``: behind all others.
    ``BETWEEN``: anywhere else.
    """

    ALTERNATIVE = auto()
    RESERVED = auto()
    FREE = auto()
    FLEXIBLE = auto()
    END = auto()
    BETWEEN = auto()


class FieldStorage:
    """How the fields of a record lie on both sides, as far as fields that come and go depend on it."""

    def __init__(self, record: Changed[Record], context: Context) -> None:
        before, after = context.old.types.layouts, context.new.types.layouts
        old, new = list(map(plain, flat_fields(record.old))), list(map(plain, flat_fields(record.new)))
        names, known = {each.name for each in new}, {each.name for each in old}
        kept = [extent(each, after) for each in new if each.name in known and not is_reserved(each)]
        self.kept = Extents(kept)
        self.end = max((end for _, end in kept), default=0)
        self.come = Extents(extent(each, after) for each in new if each.name not in known)
        self.rooms = Extents(extent(each, after) for each in new if is_reserved(each))
        reserved = [extent(each, before) for each in old if is_reserved(each)]
        reserved += [room for each in old if (room := _room(each, before)) is not None]
        holes = [each for each in before.holes(record.old) if not (each.tail and _is_lent(record, context))]
        self.removed = [(each.name, extent(each, before)) for each in old if each.name not in names]
        self.reserved = Extents(reserved)
        self.unused = Extents(
            [
                *reserved,
                *(lain for _, lain in self.removed),
                *((each.offset, each.offset + each.length) for each in holes),
            ]
        )


def _is_lent(record: Changed[Record], context: Context) -> bool:
    """Whether what lay in the padding at the end of the old record may be other data."""
    from abistore.diffing.kinds.equivalent_declarations import lends_tail  # few records that grow have any

    return lends_tail(record.subject.name, record.old, context.old)


def place_of(added: Added[Field | InnerField], context: Context) -> FieldPlace:
    """Where the field that ``added`` brings lies among the fields that both sides have."""
    record = record_of(added)
    storage = context.once(FieldStorage, record)
    own = extent(plain(added.new), context.new.types.layouts)
    inner = isinstance(added.new, InnerField) and added.new.alternative
    if record.new.sort == "union" or (inner and storage.kept.meet(own)):
        return FieldPlace.ALTERNATIVE
    if own[0] >= storage.end and is_unbounded(plain(added.new)):
        return FieldPlace.FLEXIBLE
    if own[0] < own[1] and storage.unused.cover(own):
        return FieldPlace.RESERVED if storage.reserved.meet(own) else FieldPlace.FREE
    return FieldPlace.END if own[0] >= storage.end else FieldPlace.BETWEEN


def replaced_by(added: Added[Field | InnerField], context: Context) -> tuple[str, ...]:
    """The removed fields whose storage, or some of it, the field that ``added`` brings takes."""
    start, end = extent(plain(added.new), context.new.types.layouts)
    removed = context.once(FieldStorage, record_of(added)).removed
    return tuple(name for name, (first, last) in removed if first < end and start < last)


def record_of(part: Added[Field | InnerField] | Changed[Field | InnerField]) -> Changed[Record]:
    """The change of the record whose field this is."""
    if part.within is None:
        raise ValueError(f"{part.subject} is not a part of a record")
    return part.within


def extent(field: Field, layouts: Layouts) -> Extent:
    """The bits that ``field`` takes; one bit where its size is not known."""
    if field.bit_size is not None:
        return field.offset, field.offset + field.bit_size
    size = layouts.size(field.type)
    if size is None:
        return field.offset, field.offset + (0 if is_unbounded(field) else 1)
    return field.offset, field.offset + 8 * size


def is_unbounded(field: Field) -> bool:
    """Whether ``field`` is an array that declares no elements: ``T x[]``, ``T x[0]``."""
    return isinstance(field.type, Array) and not field.type.count and not field.type.vector


def _room(field: Field, layouts: Layouts) -> Extent | None:
    """What only an alternative that is room for later use takes of a field that is a union without a name."""
    if not isinstance(field.type, Inline) or not isinstance(field.type.shape, Record):
        return None
    union = field.type.shape
    if union.sort != "union" or field.bit_size is not None:
        return None
    used = max((extent(each, layouts)[1] for each in union.fields if not is_reserved(each)), default=0)
    room = max((extent(each, layouts)[1] for each in union.fields if is_reserved(each)), default=0)
    return (field.offset + used, field.offset + room) if used < room else None


class FieldType(Enum):
    """What differs between a field's two types; qualifiers of the field itself have rules of their own.

    ``RESPELLED``: another name of the same type. ``CONVERTED``: another type of the same bits, which sources use as
    they did (``long`` and ``long long``). ``UNCONVERTED``: one that they cannot use so (``char *`` and ``void *``).
    ``FLEXIBLE``: a last array with another bound (``T x[]`` for ``T x[1]``). ``REINTERPRETED``: the same bits with
    another meaning (``int`` and ``unsigned``).
    """

    NONE = auto()
    RESPELLED = auto()
    CONVERTED = auto()
    UNCONVERTED = auto()
    FLEXIBLE = auto()
    REINTERPRETED = auto()
    DIFFERENT = auto()


def field_type(field: Changed[Field | InnerField], context: Context) -> FieldType:
    """How memory that was the old field can be used as the new one."""
    return context.once(_field_type, field)


def _field_type(field: Changed[Field | InnerField], context: Context) -> FieldType:
    old, new = plain(field.old), plain(field.new)
    whole = is_whole_member(field, context)
    if told_by_parts(old, new) or (old.type == new.type and not whole) or (is_reserved(old) and old.name != new.name):
        return FieldType.NONE
    found = _typed(field, context, whole=whole)
    if is_reserved(old):
        return found if found is FieldType.UNCONVERTED and not is_reserved(new) else FieldType.NONE
    return found


def _typed(field: Changed[Field | InnerField], context: Context, *, whole: bool) -> FieldType:
    old, new = plain(field.old), plain(field.new)
    before, own_before = unqualified(old.type, context.old.types)
    after, own_after = unqualified(new.type, context.new.types)
    if whole:
        before, after = as_member(old, context.old.types) or before, as_member(new, context.new.types) or after
    same = context.stored(before, after)
    if "atomic" in own_before ^ own_after:
        same = max(same, Sameness.REINTERPRETED)
    if same <= Sameness.SPELLING:
        only_qualified = not whole and (before == after or same is Sameness.IDENTICAL)
        return FieldType.NONE if only_qualified and _qualified_otherwise(field, context) else FieldType.RESPELLED
    if same <= Sameness.REPRESENTATION:
        return FieldType.CONVERTED if _is_usable(field, before, after, context) else FieldType.UNCONVERTED
    if _is_flexible(field, before, after, context):
        return FieldType.FLEXIBLE
    bits = same is Sameness.DIFFERENT and old.bit_size is not None and new.bit_size is not None
    if bits or same is Sameness.REINTERPRETED or context.equivalence.is_alternative(before, after):
        return FieldType.REINTERPRETED if _is_usable(field, before, after, context) else FieldType.UNCONVERTED
    return FieldType.DIFFERENT


def _is_usable(field: Changed[Field | InnerField], old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether sources write and read the field as they did; they cannot name one that was private."""
    from abistore.diffing.kinds.parameter_types import is_exchangeable, serves  # few fields change

    before, after = plain(field.old), plain(field.new)
    if before.access == "private" or only_named_otherwise(before.type, after.type, context):
        return True
    constant = "const" in qualifiers(field, context)[0]
    return (serves if constant else is_exchangeable)(field.subject.name, old, new, context)


def is_whole_member(field: Changed[Field | InnerField], context: Context) -> bool:
    """Whether a bit-field of whole bytes became an ordinary member of the same bits, or the other way."""
    old, new = plain(field.old), plain(field.new)
    if (old.bit_size is None) == (new.bit_size is None):
        return False
    before, after = as_member(old, context.old.types), as_member(new, context.new.types)
    return before is not None and after is not None and context.stored(before, after) < Sameness.DIFFERENT


def qualifiers(field: Changed[Field | InnerField], context: Context) -> tuple[frozenset[str], frozenset[str]]:
    """The qualifiers of the field itself, on both sides; an array's are those of its elements."""
    old = unqualified(plain(field.old).type, context.old.types)[1]
    return old, unqualified(plain(field.new).type, context.new.types)[1]


def unqualified(type: TypeRef, side: TypeSide) -> tuple[TypeRef, frozenset[str]]:
    """``type`` without the qualifiers of its own or its elements, and these qualifiers."""
    bare, found = side.bare(type)
    if isinstance(bare, Array):
        element, inner = unqualified(bare.element, side)
        return Array(element, bare.count, bare.vector), found | inner
    return bare, found


def is_reused(field: Removed[Field | InnerField], context: Context) -> bool:
    """Whether a new field lies where the removed one lay."""
    own = extent(plain(field.old), context.old.types.layouts)
    return field.within is not None and context.once(FieldStorage, field.within).come.meet(own)


def is_retired(field: Removed[Field | InnerField], context: Context) -> bool:
    """Whether room for later use took the whole place of the removed field, in a record that keeps its size."""
    if field.within is None or field.within.old.size != field.within.new.size:
        return False
    own = extent(plain(field.old), context.old.types.layouts)
    return context.once(FieldStorage, field.within).rooms.cover(own)


def _qualified_otherwise(field: Changed[Field | InnerField], context: Context) -> bool:
    old, new = qualifiers(field, context)
    return bool((old ^ new) & {"const", "volatile"})


def _is_flexible(field: Changed[Field | InnerField], old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether the field is an array behind all others that declares its bound in another way."""
    if not (isinstance(old, Array) and isinstance(new, Array)) or old.vector or new.vector or field.within is None:
        return False
    if context.stored(old.element, new.element) > Sameness.REPRESENTATION or not {old.count, new.count} & {None, 0}:
        return False
    others = [plain(each) for each in flat_fields(field.within.new)]
    return all(each.offset <= plain(field.new).offset for each in others)


def has_room_in_unions(record: Changed[Record], context: Context) -> bool:
    """Whether a record only grew, and all that mentions it are unions that hold it by value, and whose size stays.

    Who has one has the union, so that the library finds the room; what programs left there was padding to them. What
    is small and goes by value may go in other registers with another member.
    """
    name = record.subject.name
    if not all(each in record.new.fields for each in record.old.fields):
        return False
    largest, size = LARGEST.get(context.old.snapshot.target.machine, 0), context.old.types.layouts.size
    if any((size(Named(each)) or 0) <= largest for each in context.passed_with(name)):
        return False
    users = list(_users(name, context))
    if not users or context.old.consumers.compilers_of(name):
        return False
    return all(_has_room(name, user, context) for user in users)


def _users(name: Name, context: Context) -> Iterator[Name]:
    """What mentions a type, by any of its names."""
    pending, seen = [name], {name}
    while pending:
        for user in context.old.reach.users(pending.pop()):
            shape = context.old.shape(user)
            if not (isinstance(shape, Alias) and isinstance(shape.target, Named)):
                yield user
            elif user not in seen:
                seen.add(user)
                pending.append(user)


def _has_room(name: Name, user: Name, context: Context) -> bool:
    old, new = context.old.shape(user), context.new.shape(user)
    if not isinstance(old, Record) or not isinstance(new, Record) or old.size != new.size:
        return False
    before, after = _unions(old), _unions(new)
    held = [place for place, union in before.items() if _holds(union, name, context.old.types)]
    return len(held) == _mentions(old, user, name, context) > 0 and all(
        place in after and after[place].size == before[place].size for place in held
    )


def _mentions(record: Record, user: Name, name: Name, context: Context) -> int:
    return sum(_bare(each, context) == name for each, _ in references(record, user))


def _bare(mentioned: Name, context: Context) -> Name:
    found = context.old.types.bare(Named(mentioned))[0]
    return found.name if isinstance(found, Named) else mentioned


def _unions(record: Record) -> dict[str, Record]:
    """The unions that a record is or has without a name for their type, by where they are."""
    inner = ((field.name or str(field.offset), _inline(field)) for field in record.fields)
    found = {place: shape for place, shape in inner if isinstance(shape, Record) and shape.sort == "union"}
    return {"": record, **found} if record.sort == "union" else found


def _inline(field: Field) -> AnyShape | None:
    return field.type.shape if isinstance(field.type, Inline) else None


def _holds(union: Record, name: Name, types: TypeSide) -> bool:
    return any(types.bare(field.type)[0] == Named(name) for field in union.fields)


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


def grows_closed(owner: Name, context: Context) -> bool:
    """Whether a class that got slots kept all others, and no program derives from it."""
    before, after = (side.types.shape(owner) for side in (context.old, context.new))
    if not isinstance(before, Record) or not isinstance(after, Record):
        return False
    if not _keeps(before, context.old.tables, after, context.new.tables):
        return False
    return not context.old.tables.may_be_derived_from(owner) or _is_final(owner, context)


def _is_final(owner: Name, context: Context) -> bool:
    """Whether headers say that nobody derives from a class, of which only the library has the vtable."""
    if not any(isinstance(each, Declared) and "final" in each.traits for each in context.old.variants("source", owner)):
        return False
    table = Name("variable", class_symbol(VTABLE, owner.spelling))
    return context.exported(table) and context.old.consumers.owner(table, context.new.exporting, gone=False) == "own"


def _keeps(before: Record, old: VirtualTables, after: Record, new: VirtualTables) -> bool:
    slots = new.slots(after)
    return all(slot in slots and same_method(method, slots[slot]) for slot, method in old.slots(before).items())


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
    return not any(user.kind == "record" for user in _users_and_callbacks(record.subject.name, context.old))


def _users_and_callbacks(name: Name, side: SideFacts) -> Iterator[Name]:
    pending, seen = [name], {name}
    while pending:
        come = set(side.reach.users(pending.pop())) - seen
        seen |= come
        pending += (each for each in come if each.kind == "alias")
        yield from (each for each in come if each.kind != "alias")
