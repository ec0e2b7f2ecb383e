"""Records that may grow, ends of lists, class templates that lose bases, and vtables that gain slots."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, Literal, NamedTuple, TypeAlias

from abistore.diffing.context import Context
from abistore.diffing.side import SideFacts
from abistore.diffing.types.sameness import flat_fields, plain
from abistore.diffing.types.vtables import PURE, VirtualTables, same_method
from abistore.model.declarations import Argument, Changed, Declared, Name, WrittenBase
from abistore.model.names.qualified import last_component, plain_template, scope
from abistore.model.names.spelling import spell
from abistore.model.names.symbols import VTABLE, class_symbol
from abistore.model.shapes import (
    WIDTH,
    Alias,
    AnyShape,
    Array,
    Field,
    Function,
    Named,
    Pointer,
    Primitive,
    Procedure,
    Record,
    Symbol,
    TypeRef,
    Variable,
)
from abistore.model.snapshot import TEMPLATE_BASES, HeadersRead
from abistore.model.structure import references
from abistore.model.words import is_internal_namespace
from abistore.patterns import pattern

Hint: TypeAlias = Literal["", "counted", "last", "certain"]
"""What a name says: nothing; an end if values in a row lead up to it; the last of something; or an end."""

CERTAIN: Final = frozenset({"max", "maximum", "last", "count", "cnt", "num", "nb", "n", "number", "sentinel"})
UNCERTAIN: Final = frozenset({"size", "end", "ending", "total"})
"""Words that are values just as well: ``ERR_SIZE``, ``STREAM_END``."""
NUMBERS: Final = frozenset({"num", "nb", "number", "count", "max"})
"""Words before what is counted: ``NUM_RED_COLORS``."""

LIST: Final = frozenset({"list", "enum", "table", "value", "item", "entry", "entrie", "element", "one"})
OF_LISTS: Final = LIST | {
    *("of", "plus", "1", "all", "defined", "msg", "message", "err", "error", "status", "token", "event", "op"),
    *("opcode", "cmd", "command", "code", "id", "index", "type", "kind", "role"),
}
"""Words for what stands in any list. Behind a word for an end they say no more than that: ``LAST_ENTRY``."""

PARTICIPLES: Final = frozenset({"registered", "used", "valid", "known"})
"""``LAST_KNOWN_STATE`` is the last of the states, or a state."""

NOBODY: Final = (
    r"(?i)(?:^|_)(?:dummy|never_?used|do_?not_?use)(?:_|$)|(?:^|_)force_?(?:u?int|dword|enum|size|\d)[a-z0-9_]*$"
)
"""How enumerators are called that nobody is to use, which only keep a comma company or the enumeration wide."""

_WORD: Final = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+"
_ONE: Final = "|".join(sorted((*OF_LISTS - {"of", "plus", "1", "all"}, "entries"), key=len, reverse=True))
_GLUED: Final = rf"(last|max|num|nb|end|total|count)(of)?(({_ONE})s?)+|n(item|entrie|value|element|type|kind|code)s"


def words(name: str) -> list[str]:
    """The words of which a name is made, in small letters; what is written as one word counts as such."""
    return [word.lower() for word in re.findall(_WORD, name)]


def end_hint(name: str, kin: Collection[str] = ()) -> Hint:
    """What the name of an enumerator says of its being an end, beside enumerators that share the words ``kin``.

    It says so with a word at its end. Behind that may stand what is said of any list, or of this one:
    ``STATUS_LAST_STATUS``, ``N_ROLES``, ``END_OF_LIST``, ``LASTONE``.
    """
    if re.search(NOBODY, name) is not None:
        return "certain"
    all_words = words(name)
    rest, behind = _without_tail(all_words, kin)
    if rest and re.fullmatch(_GLUED, rest[-1]) is not None:
        return "certain"
    if rest and rest[-1] in CERTAIN and (rest[-1] not in ("n", "number") or behind):
        return "certain"
    if rest and rest[-1] in UNCERTAIN:
        return "certain" if LIST.intersection(behind) and rest[-1] != "size" else "counted"
    if any(pair[0] == "last" and pair[1] in PARTICIPLES for pair in pairwise(all_words)):
        return "last"
    counts = all_words[-1:] and all_words[-1].endswith("s") and NUMBERS.intersection(all_words[:-1])
    return "certain" if counts else ""


def _forms(word: str) -> frozenset[str]:
    """A word as one and as many."""
    return frozenset((word, word.removesuffix("s"), f"{word}s"))


def is_default(name: str, side: SideFacts) -> bool:
    """Whether headers pass the enumerator where a call leaves an argument out: then it is a value like the others."""
    texts = (text for shapes in side.snapshot.entries.get("source", {}).values() for text in shapes)
    defaults = (each.default for text in texts if isinstance(text, Declared) for each in text.parameters)
    return any(default is not None and last_component(default) == name for default in defaults)


def _without_tail(own: Sequence[str], kin: Collection[str]) -> tuple[Sequence[str], list[str]]:
    """The words up to one that says something of its own, and those behind it, each as one of several."""
    rest, behind = [*own], list[str]()
    while rest and rest[-1] not in CERTAIN | UNCERTAIN:
        singular = rest[-1].removesuffix("s")
        if not {rest[-1], singular} & OF_LISTS and _forms(rest[-1]).isdisjoint(kin):
            break
        behind.append(singular)
        rest.pop()
    return rest, behind


VERSION: Final = r"(?i)_*(?:[a-z]+_)*version_*"
"""How a number is called that says which release of a table a program was compiled with."""

SIZES: Final = frozenset({"size", "sizeof", "sz", "bytes"})
LENGTHS: Final = frozenset({"length", "len"})
"""A length is one of bytes where it is called after what it is of; else it may count items."""

KEPT_BY_GLIB: Final = frozenset({"GTypeInterface", "_GTypeInterface"})
"""What an interface of GObject begins with: GLib makes each table, of the size that the library registered."""


class WrittenParameter(NamedTuple):
    """One parameter of a function: its type, and its name and form as a header writes them."""

    type: TypeRef
    written: Argument


def is_read_by_length(record: Changed[Record], context: Context) -> bool:
    """Whether the library knows how much of a record that programs make is there, or makes all of it itself.

    A table of function pointers says its version, or each new one has a constant for the version since which it is
    called; functions take the size beside the record; GLib makes the table of an interface; or the library hands the
    table out by a variable.
    """
    if _appends_functions(record, context):
        if _says_version(record, context) or _tells_since(record, context):
            return True
        if _is_interface(record, context) or _is_handed_out(record.subject.name, context):
            return True
    return _is_passed_with_size(record.subject.name, context.old)


# --- tables of function pointers ----------------------------------------------------------------------------------


def _come(record: Changed[Record]) -> list[Field]:
    before = {plain(field).name for field in flat_fields(record.old)}
    return [field for field in map(plain, flat_fields(record.new)) if field.name not in before]


def _appends_functions(record: Changed[Record], context: Context) -> bool:
    """Whether all added members are function pointers, in a record that had some."""
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
        if re.fullmatch(VERSION, field.name) and _is_number(field.type, context.old):
            return (field.name, field.offset) in kept
    return False


def _tells_since(record: Changed[Record], context: Context) -> bool:
    """Whether each added function pointer has a new constant called after it: ``SURFACE_MOVED_SINCE_VERSION``."""
    old, new = (side.snapshot.entries.get("source", {}) for side in (context.old, context.new))
    told = [words(name.spelling) for name in new.keys() - old.keys() if name.kind == "variable"]
    since = [each for each in told if "since" in each]
    return all(any(set(words(field.name)) <= set(each) for each in since) for field in _come(record))


def _is_interface(record: Changed[Record], context: Context) -> bool:
    first = next(map(plain, flat_fields(record.old)), None)
    if first is None or not KEPT_BY_GLIB.intersection(each.spelling for each, _ in references(Alias(first.type))):
        return False
    return not any(user.kind == "record" for user in _users(record.subject.name, context.old))


def _is_handed_out(name: Name, context: Context) -> bool:
    """Whether programs read the table through a variable that they do not set or by a callback, and nothing takes one.

    The variable is constant, or code in headers calls functions by it: ``#define make_item (api->make_item)``.
    """
    side = context.old
    pending, seen, found = [name], {name}, False
    while pending:
        type = pending.pop()
        for user in _users(type, side):
            shape = side.shape(user)
            if isinstance(shape, Record):
                pending += {user} - seen  # a table may lead to others
                seen.add(user)
            elif shape is None:
                continue  # a macro takes nothing
            elif not _hands_out(user, shape, type, side):
                return False
            else:
                found = True
    return found


def _hands_out(user: Name, shape: AnyShape | None, table: Name, side: SideFacts) -> bool:
    match shape:
        case Variable():
            bare, qualifiers = side.types.bare(shape.type)
            fixed = "const" in qualifiers or bool(side.consumers.callers_of(user))
            return fixed and isinstance(bare, Pointer) and "const" in side.types.bare(bare.target)[1]
        case Function():
            return not any(_mentions(each, table, side) for each in shape.parameters)
        case _:
            return isinstance(shape, Alias)  # what a callback is called with is the library's


# --- records whose size goes along --------------------------------------------------------------------------------


def _is_passed_with_size(name: Name, side: SideFacts) -> bool:
    """Whether each function that takes such a record, and there is one, takes its size beside it.

    Where none names it, it goes to those that take anything (``void *``). A record that another one leads to, or a
    variable, goes without.
    """
    users = set(_users(name, side))
    if any(user.kind != "function" for user in users):
        return False
    takers = [each for user in users if (each := list(_parameters(user, side)))]
    if users:
        return len(takers) == len(users) and all(_tells_size(each, name, side) for each in takers)
    untyped = [each for each in _exported(side) if any(_is_untyped(one.type, side) for one in each)]
    return bool(untyped) and all(_tells_size(each, None, side) for each in untyped)


def _exported(side: SideFacts) -> Iterator[Sequence[WrittenParameter]]:
    for name in side.exports.names.values():
        if name.kind == "function" and side.consumers.can_name(name):
            yield list(_parameters(name, side))


def _parameters(function: Name, side: SideFacts) -> Iterator[WrittenParameter]:
    """The parameters of a function, none where no header tells their names."""
    shape = side.shape(function)
    texts = (each for each in side.variants("source", function) if isinstance(each, Declared))
    text = next(texts, None)
    if isinstance(shape, Function) and text is not None and len(text.parameters) == len(shape.parameters):
        yield from map(WrittenParameter, shape.parameters, text.parameters)


def _tells_size(parameters: Sequence[WrittenParameter], record: Name | None, side: SideFacts) -> bool:
    """Whether beside each pointer to the ``record``, or to anything, its size is passed."""
    for place, each in enumerate(parameters):
        if not (_is_untyped(each.type, side) if record is None else _mentions(each.type, record, side)):
            continue
        beside = [*parameters[max(place - 1, 0) : place], *parameters[place + 1 : place + 2]]
        if not any(_is_size_of(one, each, record, side) for one in beside):
            return False
    return True


def _is_size_of(number: WrittenParameter, pointer: WrittenParameter, record: Name | None, side: SideFacts) -> bool:
    if not _is_number(number.type, side):
        return False
    own, of = set(words(number.written.name)), {*words(pointer.written.name)}
    if record is not None:
        of |= {*words(last_component(record.spelling)), "struct"}
        if pointer.written.length or pointer.written.name.endswith("s"):
            return False  # items of an array
    rest = own - SIZES - LENGTHS - {"of", "t"}
    return bool(own & SIZES or (own & LENGTHS and (record is None or own & of))) and rest <= of


# --- types --------------------------------------------------------------------------------------------------------


def _users(name: Name, side: SideFacts) -> Iterator[Name]:
    """The declarations that lead to a type by themselves or by an alias."""
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


def _mentions(type: TypeRef, name: Name, side: SideFacts) -> bool:
    bare, _ = side.types.bare(type)
    while isinstance(bare, Pointer):
        bare, _ = side.types.bare(bare.target)
    return bare == Named(name)


def _is_untyped(type: TypeRef, side: SideFacts) -> bool:
    bare, _ = side.types.bare(type)
    return isinstance(bare, Pointer) and side.types.bare(bare.target)[0] == Primitive("void", 0)


def _is_number(type: TypeRef, side: SideFacts) -> bool:
    return isinstance(side.types.bare(type)[0], Primitive)


GUARD = (
    r"(?i)_*(cb|(cb|dw)_?size|(size|sizeof|length|len)_?(of_?)?(this_?)?(struct|self)"
    r"|(struct|self|structure)_?(size|len|length))_*"
)
"""A first field of such a name holds the size that the record had when its user was compiled."""

BLOCK = pattern(
    r"(?:^|_|(?<=[a-z]))((?i:args|arguments|params|parameters|opts|options|attrs?|attributes|settings))_*[st]?$"
)
"""The last word of the name of a record in which a caller gives a function what it wants, before ``_t`` or ``_s``."""

MASK = r"(?i)_*(fields?|valid|comp|attrs?|attributes?|values?|members?)_?(mask|bits)_*"
"""A field of such a name tells by its bits which others its user has set, or wants to get."""


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
    if is_guarded(record, context) or is_masked(record, context):
        return True

    return is_read_by_length(record, context)


def is_guarded(record: Changed[Record], context: Context) -> bool:
    """Whether the record holds the size that it had when its user was compiled, and holds it where it did.

    It begins with such a field, or has one called after itself: ``args_size`` in ``struct ring_open_args``. Beside a
    field ``args``, or a pointer ``args_data``, that would be the size of what lies there.
    """
    before, after = (list(map(plain, flat_fields(each))) for each in (record.old, record.new))
    found = [field for field in before if field.offset == 0 and re.fullmatch(GUARD, field.name)]
    block = BLOCK.search(record.subject.name.spelling)
    if block is not None and not any(_is_sized(each, block[1], context) for each in before):
        found += [field for field in before if re.fullmatch(_own_size(block[1]), field.name)]
    kept = {(field.name, field.offset) for field in after}
    return any(_is_count(field, context) and (field.name, field.offset) in kept for field in found)


def _own_size(block: str) -> str:
    """The names of a field for the size of a record whose name ends in ``block``; a length is of what it holds."""
    return rf"(?i)_*({block}_*(size|sizeof)|(size|sizeof)_*(of_*)?{block})_*"


def _is_sized(field: Field, word: str, context: Context) -> bool:
    """Whether a field of a record is called ``word``, or leads to what is: such a size may be that of this."""
    if field.name.strip("_").lower() == word.lower():
        return True
    leads = isinstance(context.old.types.bare(field.type)[0], Pointer | Array)
    return leads and word.lower() in field.name.lower()


def is_masked(record: Changed[Record], context: Context) -> bool:
    """Whether users tell by bits which fields they know, and each that came has a new bit that is called after it.

    So ``node_id`` comes with ``PARAM_FIELD_NODE_ID`` for ``uint64_t field_mask``: nobody built before sets that.
    """
    before = {plain(field).name: plain(field) for field in flat_fields(record.old)}
    if not any(re.fullmatch(MASK, name) and _is_count(field, context) for name, field in before.items()):
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

    One is still there that a base of now derives from, or that has further arguments behind those of before. Of one in
    a namespace that says that it is internal, nobody names more than the members, which another base may have.
    """
    name, old, new = declared.subject.name, declared.old.bases, declared.new.bases
    gone = [each for each in old if each.access != "private" and not any(_stands_for(other, each) for other in new)]
    if not gone:
        return []
    around = _ancestors(name, context.new)
    named = [each for each in gone if not (_outranks(around.get(each.type), each) or _is_internal(each, context.old))]
    return named or [each for each in gone if _is_internal(each, context.old) and _loses(name, each, context)]


def _stands_for(new: WrittenBase, old: WrittenBase) -> bool:
    further = old.type.endswith(">") and new.type.startswith(f"{old.type[:-1]}, ")
    return (new.type == old.type or further) and WIDTH[new.access] >= WIDTH[old.access]


def _outranks(access: int | None, base: WrittenBase) -> bool:
    return access is not None and access >= WIDTH[base.access]


def _is_internal(base: WrittenBase, side: SideFacts) -> bool:
    """Whether a base stands in an internal namespace; a class may be called like one."""
    parts = scope(_class(base.type)).split("::")
    places = (place for place, each in enumerate(parts) if is_internal_namespace(each))
    return any(not side.variants("source", Name("record", "::".join(parts[: place + 1]))) for place in places)


def _class(spelled: str) -> str:
    """The name of a class, or of its template."""
    plain = plain_template(spelled)
    return plain[0] if plain is not None else spelled


def _loses(name: Name, base: WrittenBase, context: Context) -> bool:
    """Whether a class misses a member that it had from a base, or a base of that which has members nobody knows."""
    old = {base.type: WIDTH[base.access], **_above(base.type, WIDTH[base.access], context.old)}
    new = _ancestors(name, context.new)
    before, after = (context.once(_members, side) for side in (context.old, context.new))
    had = {each for type in old for each in before.get(_class(type), ())}
    has = {each for type in (name.spelling, *new) for each in after.get(_class(type), ())}
    unknown = {type for type in old if not context.old.variants("source", Name("record", _class(type)))}
    return not (had <= has and unknown <= new.keys())


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


def _members(side: SideFacts, _context: Context) -> Mapping[str, set[str]]:
    """What sources can name of each class by its own declarations: functions, data, and types."""
    found: dict[str, set[str]] = {}
    for name, shapes in side.snapshot.entries.get("source", {}).items():
        for shape in shapes:
            if isinstance(shape, Record):
                fields = (field.name for field in shape.fields if field.access != "private")
                found.setdefault(name.spelling, set()).update(fields)
            for owner, member in _named(name, shape):
                found.setdefault(owner, set()).add(member)
    return found


def _named(name: Name, shape: object) -> Iterator[tuple[str, str]]:
    if isinstance(shape, Function) and shape.method is not None:
        structor = last_component(shape.display).lstrip("~") == last_component(_class(shape.method.owner.spelling))
        if shape.method.access != "private" and not structor:
            yield shape.method.owner.spelling, last_component(shape.display)
    elif isinstance(shape, Variable) and shape.owner is not None and shape.access != "private":
        yield shape.owner.spelling, last_component(shape.display)
    elif isinstance(shape, Declared) and name.kind not in ("function", "variable"):
        yield scope(name.spelling), last_component(name.spelling)


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
