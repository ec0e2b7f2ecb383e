"""Differences between declarations that have no effect, and those that renames explain."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, Final, Literal, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from abistore.diffing.context import Context, listed
from abistore.diffing.evidence_gaps import read_as_another_language
from abistore.diffing.side import SideFacts
from abistore.diffing.types.mentions import is_reserved
from abistore.diffing.types.sameness import Sameness, flat_fields, plain
from abistore.model.declarations import Argument, Changed, Declared, InlineBody, Name, Trait, blake2b
from abistore.model.layout import is_open_by_parts
from abistore.model.names.qualified import demangle, last_component
from abistore.model.names.spelling import spell
from abistore.model.reach import DECLARING
from abistore.model.shapes import (
    VOID,
    Alias,
    AnyShape,
    Array,
    Enum,
    Field,
    Foreign,
    Function,
    Inline,
    Method,
    Named,
    Node,
    Opaque,
    Pointer,
    Qualified,
    Record,
    TypeRef,
    Variable,
    VirtualMethod,
)
from abistore.model.structure import Part, embedded, frame, inner, mentioning


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


EXAMPLES = 3

DIGEST_SIZE = 8
"""In bytes."""


def examples(symbols: Sequence[str]) -> str:
    """The first few of ``symbols`` as sources write them: the variants of a constructor are one."""
    names: dict[str, None] = {}
    for symbol in symbols:
        name = demangle(symbol)
        if len(names) == EXAMPLES and name not in names:
            return f"{', '.join(names)}, ..."
        names[name] = None
    return ", ".join(names)


def identified_examples(symbols: Sequence[str]) -> str:
    """The first few of ``symbols``, and where there are more, how many and a digest of all.

    Who accepts a break accepts these symbols: another one among them makes another finding.
    """
    shown = examples(symbols)
    return f"{shown} {_all_of(sorted(set(symbols)))}" if shown.endswith(", ...") else shown


def abridged(texts: Sequence[str]) -> str:
    """The first few of ``texts``, and where there are more, how many and a digest of all, for the same reason."""
    shown = listed(texts[:EXAMPLES])
    return shown + f", ... {_all_of(texts)}" if len(texts) > EXAMPLES else shown


def _all_of(texts: Sequence[str]) -> str:
    digest = blake2b("\0".join(texts).encode(), digest_size=DIGEST_SIZE).hexdigest()
    return f"({len(texts)}: {digest})"


def exports_called(symbols: Sequence[str], context: Context, *, new: bool = False) -> tuple[Name, ...]:
    """The functions and variables of these symbols that the old, or the new, side exports."""
    entries = (context.new if new else context.old).snapshot.entries.get("symbol", {})
    names = (Name(kind, symbol) for symbol in symbols for kind in ("function", "variable"))
    return tuple(name for name in names if name in entries)


def parts_without(member: str, name: Name, side: SideFacts) -> Iterator[Name]:
    """The classes that the class ``name`` embeds or derives from in which the same special member is deleted, sorted.

    Compilers make no ``member`` for a class of which a part has none, even where the class says ``= default``.
    """
    shape = side.shape(name)
    wanted = _of_any_class(member, name)
    for each in sorted(set(embedded(shape))) if isinstance(shape, Record) else ():
        part = side.types.record_behind(each) or each
        within = side.shape(part)
        if isinstance(within, Record) and wanted in {_of_any_class(other, part) for other in within.deleted}:
            yield part


def is_private(member: str, name: Name, side: SideFacts) -> bool:
    """Whether the class ``name`` declares ``member`` for itself and its friends: sources cannot use it anyway."""
    for each in side.tables.methods(name):
        method = each.method
        if method is not None and method.access == "private" and method.virtual == "no":
            parameters = ", ".join(map(spell, each.parameters))
            if f"{last_component(each.display)}({parameters})" == member:
                return True
    return False


def _of_any_class(member: str, name: Name) -> str:
    """``T(const T&)`` of ``Part(const geo::Part&)``."""
    spelled = member.replace(name.spelling, "T")
    return re.sub(rf"(?<![\w:]){re.escape(last_component(name.spelling))}(?!\w)", "T", spelled)


DEEPEST: Final = 8
"""How far members are followed into what they are made of."""


def lends_tail(name: Name, record: Record, side: SideFacts, depth: int = DEEPEST) -> bool:
    """Whether derived classes and ``[[no_unique_address]]`` members may lie in a record's tail padding.

    So it is for all but plain old data (Itanium C++ ABI, 2.2 and 2.4): what has bases, virtual functions, members that
    are not public, constructors that somebody wrote, or a member that is no plain old data itself.
    """
    return tail(name, record, side, depth) == "open"


def tail(name: Name, record: Record, side: SideFacts, depth: int = DEEPEST) -> Literal["open", "closed"] | None:
    """The tail padding of a record; ``None`` where the evidence does not tell that nobody uses it."""
    if is_open_by_parts(record) or _is_open_by_headers(name, side):
        return "open"
    if record.tail is not None:
        return record.tail
    if _is_constructed(name, side) or any(_lends(each.type, side, depth) for each in record.fields):
        return "open"
    return None


def _is_open_by_headers(name: Name, side: SideFacts) -> bool:
    """Whether headers show what debug information does not: the values that members begin with."""
    return any(isinstance(each, Record) and each.tail == "open" for each in side.variants("source", name))


def _is_constructed(name: Name, side: SideFacts) -> bool:
    written = (each.method for shapes in side.tables.constructors(name).values() for each in shapes)
    return any(each is not None and not (each.defaulted or each.deleted) for each in written)


def _lends(type: TypeRef, side: SideFacts, depth: int) -> bool:
    bare, _ = side.types.bare(type)
    if isinstance(bare, Array):
        return depth > 0 and _lends(bare.element, side, depth - 1)
    shape = side.shape(bare.name) if isinstance(bare, Named) and depth else None
    return isinstance(bare, Named) and isinstance(shape, Record) and lends_tail(bare.name, shape, side, depth - 1)


def tails(record: Changed[Record], context: Context) -> tuple[str, str] | None:
    """What both sides do with the tail padding of a record that has any, where both tell and they differ."""
    old, new, name = record.old, record.new, record.subject.name
    if record.within is not None or "union" in (old.sort, new.sort) or old.size != new.size:
        return None
    sides = (old, context.old), (new, context.new)
    if not all(any(hole.tail for hole in side.types.layouts.holes(each)) for each, side in sides):
        return None
    before, after = (tail(name, each, side) for each, side in sides)
    return (before, after) if before is not None and after is not None and before != after else None


def library_writes(name: Name, context: Context) -> bool:
    """Whether exports get objects of a class that they may write whole, as ``this`` or by a pointer or reference."""
    shapes = (context.old.shape(each) for each in context.affected(name))
    return any(isinstance(each, Function) and _writes(each, name, context.old) for each in shapes)


def _writes(function: Function, name: Name, side: SideFacts) -> bool:
    method = function.method
    if method is not None and method.owner == name and not method.static and "const" not in method.qualifiers:
        return True
    return any(_is_written(each, name, side) for each in function.parameters)


def _is_written(type: TypeRef, name: Name, side: SideFacts) -> bool:
    pointer, _ = side.types.bare(type)
    if not isinstance(pointer, Pointer):
        return False
    target, qualifiers = side.types.bare(pointer.target)
    return target == Named(name) and "const" not in qualifiers


DECLARATIONS = (Alias, Declared, Enum, Foreign, Function, Opaque, Record, Variable)
"""What a change that no rule knows is reported of; the export table has its own rules for every fact."""


def is_meaningless(delta: Changed[Any], context: Context) -> bool:
    """Whether all that differs in ``delta`` is one of the differences that are named here."""
    if not isinstance(delta.old, DECLARATIONS):
        return True
    old: AnyShape = delta.old
    new: AnyShape = with_old_names(old, delta.new, context)
    match old, new:
        case Record(), Record():
            if old.tail != new.tail and tails(delta, context) is None:
                new = msgspec.structs.replace(new, tail=old.tail)  # headers tell more than debug information
            same = are_alike(old.arguments, new.arguments, context)
            if len(old.fields) != len(new.fields):
                old, new = _ungrouped(old), _ungrouped(new)
            return same and _record(old, new, context) == _record(new, old, context)
        case Enum(), Enum():
            return _enum(old, new) == _enum(new, old)
        case Function(), Function():
            return _function(old, new, context) == _function(new, old, context)
        case Foreign(), Foreign():
            same = are_alike(old.arguments, new.arguments, context)
            return same and _foreign(old, new) == _foreign(new, old)
        case Variable(), Variable():
            return _variable(old) == _variable(new)
        case Declared(), Declared():
            if _counts_parameters(delta.subject.name, context):
                old, new = (msgspec.structs.replace(each, parameters=()) for each in (old, new))
            return _declared(old, new) == _declared(new, old)
        case Opaque(), Opaque():
            return old.sort == new.sort  # what units happen to show of a class is told member by member
        case Alias(), Alias() if read_as_another_language(context):
            return context.stored(old.target, new.target) < Sameness.REINTERPRETED
        case _:
            return old == new


def _ungrouped(record: Record) -> Record:
    """``record`` with the members of anonymous ones for its own: sources name and initialise them alike."""
    return msgspec.structs.replace(record, fields=tuple(map(plain, flat_fields(record))))


def _counts_parameters(name: Name, context: Context) -> bool:
    """Whether a function has another number of parameters, which is reported for its types."""
    old, new = (side.shape(name) for side in (context.old, context.new))
    if not (isinstance(old, Function) and isinstance(new, Function)):
        return False
    return len(old.parameters) != len(new.parameters)


def _record(record: Record, other: Record, context: Context) -> Record:
    """``record`` without what differs from ``other`` in name only.

    Not all compilers tell the access of nested types. What becomes of their members does. A new caller within the
    library changes nothing for others.
    """
    return msgspec.structs.replace(
        record,
        passing=None if not_recorded(record.passing, other.passing) else record.passing,
        fields=tuple(_told_by_record(each) for each in record.fields if not is_room(each)),
        arguments=(),
        virtuals=_virtuals(record, other, context),
        alignment=None,
        deleted=tuple(sorted(each for each in record.deleted if not is_deleted_already(each, other))),
        access="public",
        handle=False,
        tail=None if not_recorded(record.tail, other.tail) else record.tail,
    )


def _told_by_record(field: Field) -> Field:
    """An anonymous member is passed with the record around it, and none derives from it; enumerators have no order."""
    return msgspec.structs.replace(field, type=_unpassed(field.type))


def _unpassed(type: TypeRef) -> TypeRef:
    match type:
        case Inline(shape=Record() as shape):
            fields = tuple(_told_by_record(each) for each in shape.fields)
            return Inline(msgspec.structs.replace(shape, passing=None, tail=None, fields=fields))
        case Inline(shape=Enum() as enum):
            return Inline(msgspec.structs.replace(_enum(enum, enum), underlying=None))
        case Array(element=element):
            return msgspec.structs.replace(type, element=_unpassed(element))
        case Qualified(target=target):
            return msgspec.structs.replace(type, target=_unpassed(target))
        case _:
            return type


def is_deleted_already(member: str, record: Record) -> bool:
    """A move is no more forbidden than before where the copy was: a class without it would have copied."""
    name, move, _ = member.partition("&&")
    stem = name.partition("(")[0]
    return bool(move) and any(each.partition("(")[0] == stem and "&&" not in each for each in record.deleted)


def not_recorded(*facts: object) -> bool:
    """One compiler does not record the fact: its absence is no difference."""
    return None in facts


def is_room(field: Field) -> bool:
    """Nobody uses reserved fields and unnamed bit-fields: they keep other members where they are, and these tell."""
    return is_reserved(field)


def are_alike(old: tuple[TypeRef, ...], new: tuple[TypeRef, ...], context: Context) -> bool:
    """Template arguments are part of the name, which is the same: not all compilers list them, or spell them alike."""
    if len(old) != len(new):
        return True
    return all(context.stored(*pair) <= Sameness.SPELLING for pair in zip(old, new, strict=True))


def _virtuals(record: Record, other: Record, context: Context) -> tuple[VirtualMethod, ...]:
    """Some compilers leave out slots or mangled names of virtual methods, or which of them are pure.

    The types of an exported one are told of the function.
    """
    recorded = context.old.tables.records_pure and context.new.tables.records_pure
    if len(record.virtuals) != len(other.virtuals):
        return record.virtuals
    return tuple(
        msgspec.structs.replace(
            own,
            slot=None if not_recorded(own.slot, same.slot) else own.slot,
            symbol="" if not (own.symbol and same.symbol) else own.symbol,
            pure=recorded and own.pure,
            result=VOID if is_described(own, context) else own.result,
            parameters=() if is_described(own, context) else own.parameters,
        )
        for own, same in zip(record.virtuals, other.virtuals, strict=True)
    )


def is_described(method: VirtualMethod, context: Context) -> bool:
    """Whether both sides describe the method as an exported function, whose own finding tells of its types."""
    name = Name("function", method.symbol)
    return all(_is_described_as(Function, side, name) for side in (context.old, context.new))


def _enum(enum: Enum, other: Enum) -> Enum:
    """The order of enumerators is nobody's business: their names and values are. Few compilers tell the access."""
    return msgspec.structs.replace(
        enum,
        enumerators=tuple(sorted(enum.enumerators, key=lambda each: (each.name, each.value))),
        underlying=None if not_recorded(enum.underlying, other.underlying) else enum.underlying,
        access="public",
    )


def _function(function: Function, other: Function, context: Context) -> Function:
    """Two spellings of one function, and what only its own class has to know: its slot, whether it is defaulted."""
    return msgspec.structs.replace(
        function,
        display="",
        prototyped=function.prototyped or not (function.parameters or other.parameters),
        method=_method(function.method, other.method, context),
    )


def _method(method: Method | None, other: Method | None, context: Context) -> Method | None:
    """What the symbol, or the class, tells already, and what makes no difference.

    The symbol holds the class's name, which compilers spell in different ways. A slot is the class's, whose virtual
    methods tell it. A defaulted member does what the compiler's own would.
    """
    if method is None:
        return None
    told = other is not None and (is_class_described(method.owner, context) or _is_shown(method.owner, context))
    unknown = other is None or not_recorded(method.slot, other.slot)
    return msgspec.structs.replace(
        method,
        owner=Name("record", ""),
        virtual="no" if told else method.virtual,
        slot=None if told or unknown else method.slot,
        defaulted=False,
    )


def is_class_described(owner: Name, context: Context) -> bool:
    """Whether both sides describe the class: what is virtual in it, and where, is told of the class and not again."""
    return all(_is_described_as(Record, side, owner) for side in (context.old, context.new))


def _is_shown(owner: Name, context: Context) -> bool:
    """Whether both sides only declare a class, and show which of its functions that they have are virtual."""
    sides = context.old, context.new
    return all(
        any(isinstance(shape, Opaque) and shape.defined for shape in side.variants("layout", owner)) for side in sides
    )


def _is_described_as(kind: type[AnyShape], side: SideFacts, name: Name) -> bool:
    """Whether debug information or headers describe ``name``."""
    return any(isinstance(shape, kind) for facet in DECLARING for shape in side.variants(facet, name))


def _variable(variable: Variable) -> Variable:
    """Two spellings of one variable, which its symbol tells."""
    return msgspec.structs.replace(variable, display="")


TOLD_OTHERWISE: Final[frozenset[Trait]] = frozenset(
    {"befriends", "defined", "defined_within", "dummy", "standard_layout", "undefined", "unresolved"}
)
"""Traits by which other differences are judged, and whose own are none."""


def _declared(declared: Declared, other: Declared) -> Declared:
    """Not every header shows a variable's value or names parameters; a standard layout that is new is no loss.
    A dummy definition is told as the declaration that it stands for, and what a member is written as of the member.
    What a macro stands for in the end, and what it is handed to, is told of its value, and what a constant ends of its
    enumeration; what templates use, of what they use. Where headers use a macro themselves tells whose it is when it
    goes. A former version did not tell the bases of templates. What they
    show of internal namespaces counts where that changes. Lost abilities of a class have kinds of their own.

    A body that only one side has comes with another trait: ``inline`` or ``template``.
    """
    from abistore.diffing.kinds.abilities import conjuncts  # headers alone write these and values
    from abistore.diffing.types.closed_classes import is_same_constant

    return msgspec.structs.replace(
        declared,
        traits=tuple(each for each in declared.traits if each not in TOLD_OTHERWISE),
        parameters=_arguments(declared.parameters, other.parameters),
        value=None if is_same_constant(declared, other) else declared.value,
        body=None if not_recorded(declared.body, other.body) else _body(declared.body, other.body),
        template=_parameters(declared, other),
        requires=" && ".join(sorted(conjuncts(declared))) or None,
        expressions=(),
        meaning=None,
        within=None,
        handed=(),
        uses=None,
        replacement=declared.replacement and msgspec.structs.replace(declared.replacement, used=()),
        bases=declared.bases if declared.bases and other.bases else (),
        shown=(),
        abilities=None,
        instances=(),
    )


def _body(own: InlineBody | None, other: InlineBody | None) -> InlineBody | None:
    if own is None or other is None:
        return own
    from abistore.diffing.kinds.abilities import told_beside  # headers alone have bodies

    return told_beside(own, other)


def _default(own: str | None, other: str | None) -> str | None:
    """A default argument; one that is written in another way counts as the same text."""
    if own is None or other is None:
        return own
    from abistore.diffing.types.closed_classes import is_same_value

    return "" if is_same_value(own, other) else own


def _parameters(template: Declared, other: Declared) -> tuple[Argument, ...]:
    """Template parameters are known by their positions."""
    from abistore.diffing.kinds.abilities import template_parameters

    defaults = [each.default for each in template_parameters(other)]
    pairs = zip_longest(template_parameters(template), defaults[: len(template.template)])
    return tuple(Argument(each.introduced, _default(each.default, default)) for each, default in pairs)


def _arguments(own: tuple[Argument, ...], other: tuple[Argument, ...]) -> tuple[Argument, ...]:
    """A parameter that has no name on one side was not renamed; none is listed where none has a name or a default.

    Releases that were stored before tell no lengths, and a pointer has none.
    """
    if own and other and len(own) != len(other):
        return own
    pairs = zip_longest(own, other, fillvalue=Argument())
    return tuple(_argument(first, second) for first, second in pairs)


def _argument(own: Argument, other: Argument) -> Argument:
    name, length = own.name if other.name else "", own.length if other.length else 0
    return Argument(name, _default(own.default, other.default), length)


def _foreign(foreign: Foreign, other: Foreign) -> AnyShape:
    """A standard library type is a class or a struct as its library likes."""
    return msgspec.structs.replace(
        foreign,
        sort="enum" if foreign.sort == "enum" else "struct",
        size=None if not_recorded(foreign.size, other.size) else foreign.size,
        alignment=None if not_recorded(foreign.alignment, other.alignment) else foreign.alignment,
        arguments=(),
    )
