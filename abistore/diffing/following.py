"""Which effects of a change follow from others by the rules of layout, and need no judgement of their own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from abistore.diffing.context import Context, Rule
from abistore.diffing.side import SideFacts
from abistore.diffing.types.sameness import flat_fields, nameless, plain
from abistore.diffing.types.vtables import DEEPEST, is_destructor
from abistore.model.declarations import Name
from abistore.model.findings import Finding, Impact
from abistore.model.layout_replay import LaidPart, Layout, Replay, Told
from abistore.model.names.qualified import class_behind
from abistore.model.names.spelling import spell
from abistore.model.shapes import (
    Alias,
    AnyShape,
    Array,
    Base,
    Enum,
    Field,
    Inline,
    Named,
    Qualified,
    Record,
    TypeRef,
    Variable,
    VirtualMethod,
)
from abistore.model.structure import embedded

POINTER = "vtable pointer"
INHERITED = "inherited slots"
VIRTUAL = "virtual "


def keyed(record: Record) -> Iterator[tuple[str, Field]]:
    """The data members by what findings call them; those without a name are counted."""
    unnamed = 0
    for field in record.fields:
        unnamed += not field.name
        yield field.name or f"({unnamed})", field


def base_key(base: Base) -> str:
    """What findings call a base; of a virtual one that is its key behind :data:`VIRTUAL`."""
    called = f"base {base.type.name.spelling if isinstance(base.type, Named) else '(anonymous)'}"
    return f"{VIRTUAL}{called}" if base.virtual else called


def method_key(method: VirtualMethod) -> str:
    """What findings call a virtual function."""
    return f"{method.display}({', '.join(map(spell, method.parameters))})"


def record_layout(record: Record, side: SideFacts, *, packed: bool) -> Layout:
    """A record in bits. In a ``packed`` one all that is known of a member's alignment is that it is a byte."""
    layouts, word = side.types.layouts, side.snapshot.target.bits
    parts = [LaidPart(POINTER, 0, (word, word), word)] if record.has_vptr else []
    parts += [_base(base, base.offset, side) for base in record.bases if base.offset is not None and not base.virtual]
    for key, field in keyed(record):
        room = 8 * (layouts.size(field.type) or 0)
        bits = room if field.bit_size is None else field.bit_size
        alignment = 8 * (layouts.alignment(field.type) or 0)
        unit = 0 if field.bit_size is None else room
        if packed:
            alignment, unit = (1 if unit else 8), 0
        end = field.offset + bits
        parts.append(LaidPart(key, field.offset, (end, end), alignment, unit))
    parts.sort(key=lambda each: each.start)
    parts += _virtual_parts(record, side, max((each.ends[1] for each in parts), default=0))
    whole = Layout(tuple(parts), 8 * record.size, 8 * layouts.record_alignment(record))
    return whole._replace(sort="union") if record.sort == "union" else whole


def _base(base: Base, offset: int, side: SideFacts) -> LaidPart:
    size, alignment = side.types.layouts.size(base.type), side.types.layouts.alignment(base.type)
    found = side.tables.record(base)
    whole = 8 * (size or 0)
    own = whole if found is None else own_bits(found, side)
    return LaidPart(base_key(base), offset, (offset + whole, offset + own), 8 * (alignment or 0))


def _virtual_parts(record: Record, side: SideFacts, end: int) -> Iterator[LaidPart]:
    """The virtual bases of an object that is no base itself: they lie behind everything else, one after the other."""
    for base in virtual_bases(record, side):
        found = side.tables.record(base)
        alignment = 8 * (side.types.layouts.alignment(base.type) or 1)
        own = own_bits(found, side) if found else 8 * (side.types.layouts.size(base.type) or 0)
        start = -(-end // alignment) * alignment
        end = start + own
        yield LaidPart(base_key(base), start, (end, end), alignment)


def virtual_bases(record: Record, side: SideFacts) -> Iterator[Base]:
    """The virtual bases of a record and of its bases, each once."""
    seen: set[str] = set()
    met: set[Name] = set()
    pending = [record]
    for each in pending:
        for base in each.bases:
            key = base_key(base)
            if base.virtual and key not in seen:
                seen.add(key)
                yield base
            found = side.tables.record(base)
            if found and found[0] not in met:
                met.add(found[0])
                pending.append(found[1])


def own_bits(found: tuple[Name, Record], side: SideFacts, depth: int = 0) -> int:
    """Where a class's last member ends, in whole bytes: what derives from it may put its own ones there."""
    name, record = found
    known = side.tables.own_bits
    if name not in known:
        known[name] = _own_bits(record, side, depth)
    return known[name]


def _own_bits(record: Record, side: SideFacts, depth: int) -> int:
    ends: list[int] = [side.snapshot.target.bits if record.has_vptr else 0]
    for field in record.fields:
        size = side.types.layouts.size(field.type) or 0
        ends.append(field.offset + (8 * size if field.bit_size is None else field.bit_size))
    for base in record.bases:
        found = side.tables.record(base)
        if base.offset is not None and found is not None and depth < DEEPEST:
            ends.append(base.offset + own_bits(found, side, depth + 1))
        elif base.offset is not None:
            ends.append(base.offset + 8 * (side.types.layouts.size(base.type) or 0))
    return -(-max(ends) // 8) * 8


def slots_layout(record: Record, side: SideFacts) -> Layout:
    """The primary vtable: what the base brings, and the class's own functions behind it."""
    inherited = side.tables.inherited(record)
    count = max(inherited, default=-1) + 1
    parts = [LaidPart(INHERITED, 0, (count, count))] if count else []
    every = side.tables.slots(record)
    for method in record.virtuals:
        if method.slot is not None and method.slot >= count:
            width = 2 if is_destructor(method) and every.get(method.slot + 1) is method else 1
            end = method.slot + width
            parts.append(LaidPart(method_key(method), method.slot, (end, end)))
    parts.sort(key=lambda each: each.start)
    return Layout(tuple(parts), max(every, default=-1) + 1)


def numbers_layout(enum: Enum) -> Layout:
    """The enumerators as numbers in the order of declaration."""
    return Layout(
        tuple(LaidPart(each.name, each.value, (each.value + 1, each.value + 1)) for each in enum.enumerators),
        sort="sequence",
    )


def inner_record(field: Field) -> Record | None:
    """The record without a name that a member is of, or is an array of."""
    found = nameless(field.type)
    return found[1] if found and isinstance(found[1], Record) else None


def inner_names(field: Field) -> frozenset[str]:
    """The members that an anonymous one brings into the record around it."""
    return frozenset(plain(each).name for each in flat_fields(Record("struct", 0, (field,))))


Relation: TypeAlias = Literal["follows", "undetermined", "unknown", "free"]
"""An effect ``follows`` from other findings, whose values determine it. It is ``undetermined`` where something new
takes room that no value tells, ``unknown`` where nothing can be computed, and ``free`` where it has a reason of its
own."""

BASE_LISTS: Final = frozenset({"type_base_changed", "base_class_position_changed"})
"""What tells all direct bases of a class in their order."""

PACKING: Final = frozenset({"struct_packing_changed"})

_DEEPEST: Final = 64
"""Types that embed each other through more levels than this are malformed input."""


class _Replayed(NamedTuple):
    """A declaration that is laid out anew; ``open`` where no value tells the room of something in it.

    ``pair`` are both sides of a record.
    """

    replay: Replay
    open: bool = False
    pair: tuple[Record, Record] | None = None

    def relation(self, follows: bool) -> Relation:
        return "free" if not follows else "undetermined" if self.open else "follows"


class _Room(NamedTuple):
    """Whether findings tell why a type takes more or less room, and whether their values leave open how much."""

    told: bool
    open: bool = False


class Following:
    """What the findings of a comparison explain. Those about a type explain what it does to others if ``embedded``."""

    def __init__(
        self,
        findings: Sequence[Finding],
        of: Mapping[Name, Sequence[int]],
        rules: Mapping[str, Rule],
        context: Context,
        *,
        embedded: bool = True,
    ) -> None:
        self._findings, self._of, self._rules, self._context = findings, of, rules, context
        self._embedded = embedded
        self._records: dict[tuple[Name, Impact], _Replayed | None] = {}
        self._tables: dict[tuple[Name, Impact], _Replayed | None] = {}
        self._numbers: dict[tuple[Name, Impact], _Replayed | None] = {}
        self._depth = 0

    def relation(self, finding: Finding) -> Relation:
        """How an effect relates to the findings that weigh as much as it does."""
        name, part, weight = finding.name, finding.part, finding.impact
        match self._rules[finding.kind].effect:
            case "place":
                return self._moved(name, part, weight)
            case "size":
                return _relation(self._record(name, weight), _size_or_alignment)
            case "alignment":
                return _relation(self._record(name, weight), lambda each: each.alignment_follows)
            case "value":
                return _relation(self._numbered(name, weight), lambda each: each.follows(part))
            case "slot":
                return self._slot_moved(name, part, weight)
            case "table":
                return self._table_grown(finding)
            case "object":
                return self._object_grown(finding)
        return "unknown"

    def _shapes(self, name: Name) -> tuple[AnyShape | None, AnyShape | None]:
        context = self._context
        return context.old.shape(name), context.new.shape(context.renames.targets.get(name, name))

    def _about(self, name: Name, weight: Impact, prefix: str = "") -> Iterator[tuple[str, Finding]]:
        """The findings about a declaration that weigh enough, each with its part behind ``prefix`` and its effect."""
        for index in self._of.get(name, ()):
            finding = self._findings[index]
            if finding.impact >= weight and finding.part.startswith(prefix):
                yield finding.part.removeprefix(prefix), finding

    def _told(self, name: Name, weight: Impact, prefix: str = "") -> Told:
        changed, moved, realigned = set[str](), set[str](), False
        for part, finding in self._about(name, weight, prefix):
            match self._rules[finding.kind].effect:
                case "":
                    changed.add(part)
                case "pointer":
                    changed.add(POINTER)
                case "place" | "value" | "slot":
                    moved.add(part)
                case "alignment":
                    realigned = True
        return Told(frozenset(changed), frozenset(moved), realigned=realigned)

    def _is_told(self, name: Name, weight: Impact) -> bool:
        return any(not self._rules[finding.kind].effect for _, finding in self._about(name, weight))

    def _is_told_by(self, kinds: Collection[str], name: Name, weight: Impact) -> bool:
        return any(finding.kind in kinds for _, finding in self._about(name, weight))

    # records

    def _record(self, name: Name, weight: Impact) -> _Replayed | None:
        for inner in self._inner_first(name, weight):
            self._with_inner(inner, weight)
        return self._records[name, weight]

    def _inner_first(self, name: Name, weight: Impact) -> Iterator[Name]:
        """The records of another size that a record embeds, each behind its own, and at last the record itself."""
        pending, entered = [name], set[Name]()
        while pending:
            each = pending[-1]
            if each in entered or (each, weight) in self._records:
                yield pending.pop()
                continue
            entered.add(each)
            old, _ = self._shapes(each)
            if old is not None:
                pending += (one for one in set(embedded(old)) if one not in entered and self._is_resized(one))

    def _is_resized(self, name: Name) -> bool:
        old, new = self._shapes(name)
        if isinstance(old, Alias):
            return old.target == getattr(new, "target", None)
        return isinstance(old, Record) and isinstance(new, Record) and old.size != new.size

    def _with_inner(self, name: Name, weight: Impact) -> _Replayed | None:
        key = name, weight
        if key not in self._records:
            self._records[key] = None  # what embeds itself, as no compiler writes it, explains nothing
            old, new = self._shapes(name)
            if isinstance(old, Record) and isinstance(new, Record) and self._depth < _DEEPEST:
                self._depth += 1
                self._records[key] = self._replayed(name, weight, (old, new))
                self._depth -= 1
        return self._records[key]

    def _replayed(self, name: Name, weight: Impact, pair: tuple[Record, Record], prefix: str = "") -> _Replayed:
        """A record, or one without a name in ``name`` whose members findings call by ``prefix``."""
        sides = (self._context.old, self._context.new)
        packed = sides[0].types.layouts.is_packed(pair[0])
        repacked = not prefix and self._is_told_by(PACKING, name, weight)
        old = record_layout(pair[0], sides[0], packed=packed)
        new = record_layout(pair[1], sides[1], packed=packed is not repacked)
        told = self._told(name, weight, prefix)
        changed, moved = set(told.changed), set(told.moved)
        changed.update(f"{VIRTUAL}{part}" for part in told.changed if part.startswith("base "))
        bases = frozenset(base_key(base) for record in pair for base in record.bases)
        listed = self._is_told_by(BASE_LISTS, name, weight) and not prefix
        changed.update(bases if listed else ())
        for record in pair:
            for key, field in keyed(record):
                inner = inner_names(field) if not field.name else frozenset()
                changed.update([key] if inner & told.changed else ())
                moved.update([key] if inner & told.moved else ())
        is_open = False
        types = [_types(record, side) for record, side in zip(pair, sides, strict=True)]
        forms = {each.key: each.form for each in old.parts}
        changed.update(forms if repacked else ())
        for part in new.parts:
            if forms.get(part.key) == part.form or part.key == POINTER:
                continue
            room = None
            if part.key in forms and not repacked:
                before, after = types[0][part.key], types[1][part.key]
                own = f"{prefix}{part.key}." if not part.key.startswith("(") else prefix
                room = self._room((before, after), weight, (name, own))
            if room is None:
                is_open |= part.key in changed and not self._is_determined(types[1][part.key])
            else:
                (changed.add if room.told else changed.discard)(part.key)
                is_open |= room.told and room.open
        told = Told(frozenset(changed), frozenset(moved), bases if listed else frozenset(), told.realigned)
        return _Replayed(Replay(old, new, told), is_open, pair)

    def _room(self, pair: tuple[TypeRef, TypeRef], weight: Impact, owner: tuple[Name, str]) -> _Room | None:
        """Of what is of one type on both sides, whether findings about it tell its room; ``None`` for two types."""
        old, new = pair
        for _ in range(_DEEPEST):
            match old, new:
                case Qualified(), _:
                    old = old.target
                case _, Qualified():
                    new = new.target
                case Array(), Array() if (old.count, old.vector) == (new.count, new.vector):
                    old, new = old.element, new.element
                case Named(), Named() if new.name == self._context.renames.targets.get(old.name, old.name):
                    shapes = self._shapes(old.name)
                    if not isinstance(shapes[0], Alias) or not isinstance(shapes[1], Alias):
                        return self._room_of(old.name, weight)
                    if shapes[0].target != shapes[1].target and self._embedded and self._is_told(old.name, weight):
                        return _Room(True, not self._is_determined(shapes[1].target))
                    old, new = shapes[0].target, shapes[1].target
                case Inline(shape=Record() as before), Inline(shape=Record() as after):
                    found = self._replayed(owner[0], weight, (before, after), owner[1])
                    return _room_in(found, sized=False)
                case _:
                    return None
        return None

    def _room_of(self, name: Name, weight: Impact) -> _Room:
        if not self._embedded:
            return _Room(False)
        found = self._record(name, weight)
        if found is None:
            return _Room(self._is_told(name, weight), open=True)
        sized = any(self._rules[finding.kind].effect == "size" for _, finding in self._about(name, weight))
        return _room_in(found, sized=sized)

    def _is_determined(self, type: TypeRef) -> bool:
        """Whether the spelling of a new type tells its room: the old release has all of it in the same size."""
        old, new = self._context.old.types.layouts, self._context.new.types.layouts
        while isinstance(type, Array | Qualified):
            type = type.element if isinstance(type, Array) else type.target
        if not isinstance(type, Named):
            return not isinstance(type, Inline)
        size = old.size(type)
        return size is not None and (size, old.alignment(type)) == (new.size(type), new.alignment(type))

    def _moved(self, name: Name, part: str, weight: Impact) -> Relation:
        found = self._record(name, weight)
        return "unknown" if found is None else self._moved_within(found, (name, part, ""), weight)

    def _moved_within(self, found: _Replayed, place: tuple[Name, str, str], weight: Impact) -> Relation:
        """How the move of a part relates to what is told; of a member of a record without a name by both their moves.

        ``place`` are the declaration, the part in the record, and what findings put before it.
        """
        name, part, prefix = place
        if found.replay.has(part):
            return found.relation(found.replay.follows(part))
        if found.pair is None:
            return "unknown"
        after = dict(keyed(found.pair[1]))
        for key, field in keyed(found.pair[0]):
            inner = inner_record(field), inner_record(after[key]) if key in after else None
            if inner[0] is None or inner[1] is None:
                continue
            if field.name and part.startswith(f"{field.name}."):
                prefix, rest = f"{prefix}{field.name}.", part.removeprefix(f"{field.name}.")
                within = self._replayed(name, weight, (inner[0], inner[1]), prefix)
                return self._moved_within(within, (name, rest, prefix), weight)
            if not field.name and part in inner_names(field):
                if found.replay.is_moved(key) and not found.replay.follows(key):
                    return "free"
                within = self._replayed(name, weight, (inner[0], inner[1]), prefix)
                within = within._replace(open=within.open or found.open)
                if within.replay.has(part) and not within.replay.is_moved(part):
                    return within.relation(True)
                return self._moved_within(within, (name, part, prefix), weight)
        return "unknown"

    # enumerations, vtables and variables

    def _numbered(self, name: Name, weight: Impact) -> _Replayed | None:
        if (name, weight) not in self._numbers:
            old, new = self._shapes(name)
            self._numbers[name, weight] = (
                _Replayed(Replay(numbers_layout(old), numbers_layout(new), self._told(name, weight)))
                if isinstance(old, Enum) and isinstance(new, Enum)
                else None
            )
        return self._numbers[name, weight]

    def _table(self, name: Name, weight: Impact) -> _Replayed | None:
        """The primary vtable of a class."""
        key = name, weight
        if key not in self._tables:
            self._tables[key] = None
            old, new = self._shapes(name)
            if isinstance(old, Record) and isinstance(new, Record) and self._depth < _DEEPEST:
                self._depth += 1
                self._tables[key] = self._replayed_table(name, weight, (old, new))
                self._depth -= 1
        return self._tables[key]

    def _replayed_table(self, name: Name, weight: Impact, pair: tuple[Record, Record]) -> _Replayed:
        sides = (self._context.old, self._context.new)
        old, new = (slots_layout(record, side) for record, side in zip(pair, sides, strict=True))
        told, is_open = self._told(name, weight), False
        bases = [side.tables.primary(record) for record, side in zip(pair, sides, strict=True)]
        changed = told.changed - {INHERITED}
        if any(part.startswith("base ") for part in changed):
            changed, is_open = changed | {INHERITED}, True
        elif self._embedded and bases[0] and bases[1] and bases[0][0] == bases[1][0]:
            base = self._table(bases[0][0], weight)
            if base is not None and base.replay.size_follows:
                changed, is_open = changed | {INHERITED}, base.open
        return _Replayed(Replay(old, new, told._replace(changed=changed)), is_open, pair)

    def _slot_moved(self, name: Name, part: str, weight: Impact) -> Relation:
        found, (old, new) = self._table(name, weight), self._shapes(name)
        if found is None or not isinstance(old, Record) or not isinstance(new, Record):
            return "unknown"
        if any(each.key == part for each in found.replay.old.parts):
            return found.relation(found.replay.follows(part))
        slots = [next((each.slot for each in side.virtuals if method_key(each) == part), None) for side in (old, new)]
        return self._inherited_moved(name, (slots[0], slots[1]), weight)

    def _inherited_moved(self, name: Name, slots: tuple[int | None, int | None], weight: Impact) -> Relation:
        """Of a function that overrides one of a base, whether that one moved from slot to slot."""
        context = self._context
        for _ in range(_DEEPEST):
            old, new = self._shapes(name)
            if not isinstance(old, Record) or not isinstance(new, Record) or not self._embedded:
                return "unknown"
            bases = context.old.tables.primary(old), context.new.tables.primary(new)
            if bases[0] is None or bases[1] is None or bases[0][0] != bases[1][0]:
                return "free"
            name = bases[0][0]
            found = self._table(name, weight)
            if found is None:
                return "unknown"
            keys = [_key_at(side, slot) for side, slot in zip((found.replay.old, found.replay.new), slots, strict=True)]
            if keys[0] and keys[0] == keys[1]:
                return found.relation(found.replay.follows(keys[0]) or keys[0] in found.replay.told.moved)
        return "unknown"

    def _table_grown(self, finding: Finding) -> Relation:
        name = Name("record", class_behind(finding.name.spelling))
        found, (old, new) = self._table(name, finding.impact), self._shapes(name)
        counts = _numbers(finding)
        if found is None or counts is None or not isinstance(old, Record) or not isinstance(new, Record):
            return "unknown"
        tables = self._context.old.tables, self._context.new.tables
        if not (tables[0].has_one_table(old) and tables[1].has_one_table(new)):
            return "unknown"
        replay = found.replay
        same = counts[1] - counts[0] == replay.new.size - replay.old.size
        return found.relation(same and replay.size_follows)

    def _object_grown(self, finding: Finding) -> Relation:
        old, new = self._shapes(finding.name)
        sizes = _numbers(finding)
        if not isinstance(old, Variable) or not isinstance(new, Variable) or sizes is None:
            return "unknown"
        layouts = self._context.old.types.layouts, self._context.new.types.layouts
        if (layouts[0].size(old.type), layouts[1].size(new.type)) != sizes:
            return "unknown"
        room = self._room((old.type, new.type), finding.impact, (finding.name, ""))
        if room is None:
            told = self._is_told(finding.name, finding.impact)
            room = _Room(told, open=not self._is_determined(new.type))
        return "free" if not room.told else "undetermined" if room.open else "follows"


def _relation(found: _Replayed | None, follows: Callable[[Replay], bool]) -> Relation:
    return "unknown" if found is None else found.relation(follows(found.replay))


def _size_or_alignment(replay: Replay) -> bool:
    """Of what says that a handle has another size, or else another alignment, whether that follows."""
    return replay.size_follows if replay.old.size != replay.new.size else replay.alignment_follows


def _room_in(found: _Replayed, *, sized: bool) -> _Room:
    """What is told of the room of a record; ``sized`` where its size is a finding."""
    replay = found.replay
    size = replay.old.size == replay.new.size or sized or replay.size_follows
    alignment = replay.old.alignment == replay.new.alignment or replay.told.realigned or replay.alignment_follows
    own = replay.own_ends[0] == replay.own_ends[1] or replay.end_follows
    return _Room(size and alignment and own, found.open)


def _types(record: Record, side: SideFacts) -> dict[str, TypeRef]:
    """The types of members and bases by what findings call them, virtual bases of bases too."""
    bases = {base_key(each): each.type for each in (*record.bases, *virtual_bases(record, side))}
    return bases | {key: field.type for key, field in keyed(record)}


def _key_at(table: Layout, slot: int | None) -> str:
    return next((each.key for each in table.parts if each.start == slot and each.key != INHERITED), "")


def _numbers(finding: Finding) -> tuple[int, int] | None:
    old, new = finding.old_value or "", finding.new_value or ""
    return (int(old), int(new)) if old.isdecimal() and new.isdecimal() else None
