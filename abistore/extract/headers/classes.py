"""How classes are laid out around their fields: bases, vtable pointers and vtable slots (Itanium C++ ABI, 2.4 and 2.5).

libclang tells where fields are, and nothing about bases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from abistore.extract.headers import cursors
from abistore.extract.headers.cursors import Cursor, LibClang, Type

BITS = 8

MOST_LOOKS = 1 << 24
"""How often libclang may visit members in one unit: half a second. All of <linux> takes a quarter of a million."""

MOST_FILLED = 1 << 14
"""Members of a class that a compiler is asked about: to initialize it with ``{}``, clang visits each of them."""

MOST_DEPTH = 100
"""How deep records that hold each other are looked into; what is deeper counts as too much."""


class BaseClass:
    """A direct base class, and its definition; ``None`` where it is not defined."""

    def __init__(self, specifier: Cursor, facts: ClassFacts | None, virtual: bool) -> None:
        self.specifier = specifier
        self.facts = facts
        self.virtual = virtual
        self.offset: int | None = None


Resolve = Callable[["ClassFacts", Type], "Cursor | None"]
"""Finds the class that a base of a template instance is, by what the template says: an instance, else a template."""


class Classes:
    """The facts of the classes of one translation unit, each worked out once."""

    def __init__(self, lib: LibClang, pointer: int) -> None:
        self.lib = lib
        self.pointer = pointer
        self.resolve: Resolve = lambda _instance, _type: None
        self._known: dict[int, ClassFacts | None] = {}
        self._looked = set[int]()
        self._left = MOST_LOOKS
        self.depth = 0

    def may_look(self, facts: ClassFacts) -> bool:
        """Whether laying out the class stays within bounds: each class counts once, with all visits for each field."""
        if facts.cursor.d0 in self._looked:
            return True
        looks = facts.visits * len(facts.fields)
        if looks > self._left or not all(self.may_look(base.facts) for base in facts.bases if base.facts is not None):
            return False
        self._left -= looks
        self._looked.add(facts.cursor.d0)
        return True

    def of(self, cursor: Cursor) -> ClassFacts | None:
        """The facts of the class that ``cursor`` declares; ``None`` where it is not defined."""
        if cursor.d0 not in self._known:
            definition = self.lib.getCursorDefinition(cursor)
            if definition.d0 != cursor.d0 and definition.d0 in self._known:
                self._known[cursor.d0] = self._known[definition.d0]
            else:
                self._known[cursor.d0] = None  # ends a class that is among its own bases
                known = definition.kind in cursors.RECORDS or definition.kind == cursors.CLASS_TEMPLATE
                found = ClassFacts(self, definition) if known else None
                self._known[cursor.d0] = self._known[definition.d0] = found
        return self._known[cursor.d0]

    def of_type(self, type: Type) -> ClassFacts | None:
        """The facts of the class that a type is; ``None`` for other types."""
        canonical = self.lib.getCanonicalType(type)
        return self.of(self.lib.getTypeDeclaration(canonical)) if canonical.kind == cursors.RECORD_TYPE else None


class ClassFacts:
    """One defined class."""

    def __init__(self, classes: Classes, cursor: Cursor) -> None:
        lib = classes.lib
        self.classes = classes
        self.cursor = cursor
        self.type: Type = lib.getCursorType(cursor)
        self.size = lib.size(self.type)
        self.alignment = lib.alignment(self.type) or 1
        self.written: Cursor = cursor
        members = lib.children(cursor)
        if not members and lib.Type_getNumTemplateArguments(self.type) >= 0:
            self.written = lib.getSpecializedCursorTemplate(cursor)
            members = lib.children(self.written) if self.written.d0 else []
        self.members: list[Cursor] = members
        self.is_template: bool = cursor.kind == cursors.CLASS_TEMPLATE
        self.is_instance: bool = self.written.d0 != cursor.d0 or self.is_template
        self.is_doubtful = False

    @cached_property
    def fields(self) -> list[Cursor]:
        """The non-static data members, unnamed ones included."""
        if self.is_template:
            return [each for each in self.members if each.kind == cursors.FIELD]
        return self.classes.lib.fields(self.type)

    @cached_property
    def visits(self) -> int:
        """How many members libclang visits to find a field's offset; members of members count as often as they occur.

        Records that hold two of each other double it each time.
        """
        classes = self.classes
        if classes.depth > MOST_DEPTH:
            return MOST_LOOKS
        classes.depth += 1
        held = (classes.of_type(classes.lib.getCursorType(field)) for field in self.fields)
        found = sum(1 if facts is None else min(1 + facts.visits, MOST_LOOKS) for facts in held)
        classes.depth -= 1
        return min(found, MOST_LOOKS)

    @property
    def is_vast(self) -> bool:
        """Whether it, or one of its bases, has so many members that the compiler is not asked about it."""
        return any(each is not None and each.visits > MOST_FILLED for each in (self, *(b.facts for b in self.bases)))

    def derives_from(self, other: ClassFacts) -> bool:
        """Whether ``other`` is this class or one of its known bases.

        A template may look like its own base: ``template <class T, class... Ts> struct list : list<Ts...>``.
        """
        pending, seen = [self], {self}
        while pending:
            each = pending.pop()
            if each is other:
                return True
            known: list[BaseClass] = vars(each).get("bases", [])
            come = {base.facts for base in known if base.facts is not None} - seen
            seen |= come
            pending += come
        return False

    @cached_property
    def bases(self) -> list[BaseClass]:
        """The direct bases, with the offsets of those that are not virtual, in bits."""
        lib = self.classes.lib
        found = []
        for each in self.members:
            if each.kind == cursors.BASE:
                type = lib.getCursorType(each)
                facts = self.classes.of_type(type)
                if facts is None and self.is_instance:
                    cursor = self.classes.resolve(self, type)
                    facts = self.classes.of(cursor) if cursor is not None else None
                    if facts is not None and facts.derives_from(self):
                        facts = None
                self.is_doubtful |= facts is None
                found.append(BaseClass(each, facts, bool(lib.isVirtualBase(each))))
        return found

    @cached_property
    def virtual_methods(self) -> list[Cursor]:
        """The virtual methods that the class declares, overriding ones included."""
        lib = self.classes.lib
        methods = (cursors.METHOD, cursors.DESTRUCTOR, cursors.CONVERSION)
        found = [each for each in self.members if each.kind in methods]
        inherited = (
            {key for base in self.bases if base.facts for key in base.facts.slots.keys} if self.is_instance else ()
        )
        return [
            each for each in found if lib.CXXMethod_isVirtual(each) or (inherited and key_of(lib, each) in inherited)
        ]

    @cached_property
    def is_dynamic(self) -> bool:
        """Whether its objects hold a vtable pointer."""
        return bool(self.virtual_methods) or any(
            base.virtual or (base.facts is not None and base.facts.is_dynamic) for base in self.bases
        )

    @cached_property
    def is_empty(self) -> bool:
        """Whether its objects hold nothing."""
        if self.fields or self.is_dynamic:
            return False
        return all(base.facts is not None and base.facts.is_empty for base in self.bases)

    @cached_property
    def is_nearly_empty(self) -> bool:
        """Whether its objects hold a vtable pointer and nothing else."""
        if not self.is_dynamic or self.fields:
            return False
        return all(
            base.virtual or base.facts is None or base.facts.is_empty or base.facts.is_nearly_empty
            for base in self.bases
        )

    @cached_property
    def primary(self) -> BaseClass | None:
        """The base whose vtable pointer the class shares."""
        if not self.is_dynamic:
            return None
        for base in self.bases:
            if not base.virtual and base.facts is not None and base.facts.is_dynamic:
                return base
        return self._virtual_primary()

    def _virtual_primary(self) -> BaseClass | None:
        candidates = [base for base in self._virtual_bases() if base.facts is not None and base.facts.is_nearly_empty]
        taken = {
            base.facts.primary.facts.cursor.d0
            for base in self._all_bases()
            if base.facts and base.facts.primary and base.facts.primary.virtual and base.facts.primary.facts
        }
        free = [base for base in candidates if base.facts is not None and base.facts.cursor.d0 not in taken]
        return next(iter(free or candidates), None)

    def _all_bases(self) -> Iterator[BaseClass]:
        for base in self.bases:
            yield base
            if base.facts is not None:
                yield from base.facts._all_bases()

    def _virtual_bases(self) -> Iterator[BaseClass]:
        return (base for base in self._all_bases() if base.virtual)

    @property
    def has_vptr(self) -> bool:
        """Whether the class introduces the vtable pointer itself."""
        return self.is_dynamic and self.primary is None

    # --- places ---------------------------------------------------------------------------------------------------

    def place_bases(self) -> int:
        """Note the offsets of the bases, once. Returns where they end, in bytes."""
        return self._end_of_bases

    @cached_property
    def _end_of_bases(self) -> int:
        end = self.classes.pointer if self.has_vptr else 0
        primary, taken = self.primary, set[tuple[int, int]]()
        if primary is not None and primary.facts is not None:
            end = self.classes.pointer if primary.virtual else self._end_of(primary.facts, 0)
        for base in [*([primary] if primary is not None else []), *self.bases]:
            if base.virtual or base.offset is not None:
                continue
            if base is primary:
                place = 0
            elif base.facts is None:
                place = end
            else:
                place = _free_place(base.facts, 0 if base.facts.is_empty else end, end, taken)
            base.offset = place * BITS
            if base.facts is not None:
                taken.update((key, place + at) for key, at in base.facts.empties)
                if not base.facts.is_empty and base is not primary:
                    end = self._end_of(base.facts, place)
        return end

    def _end_of(self, base: ClassFacts, place: int) -> int:
        """Where a base ends; of one that no header needs complete, where the class's own fields begin."""
        if not base.is_template:
            return place + base.own_size
        own = [offset for field in self.fields if (offset := self.classes.lib.offset(field)) is not None]
        laid_out = [each for each in self.bases if each.facts is not None and not each.facts.is_empty]
        self.is_doubtful |= len(laid_out) > 1 and laid_out[-1].facts is not base
        return min(own) // BITS if own else self.size or 0

    @cached_property
    def empties(self) -> list[tuple[int, int]]:
        """The empty classes in it, itself included, by offset in bytes: no two of one type may share an offset."""
        found = [(self.cursor.d0, 0)] if self.is_empty else []
        self.place_bases()
        for base in self.bases:
            if base.facts is not None and base.offset is not None:
                found += [(key, base.offset // BITS + at) for key, at in base.facts.empties]
        lib = self.classes.lib
        for field in self.fields:
            facts = self.classes.of_type(lib.getCursorType(field))
            offset = lib.offset(field)
            if facts is not None and offset is not None:
                found += [(key, offset // BITS + at) for key, at in facts.empties]
        return found

    @cached_property
    def own_size(self) -> int:
        """The size in bytes without virtual bases and tail padding: what may follow it begins there."""
        return (self.size or 0) if self.is_plain else -(-self.end // BITS)

    @cached_property
    def end(self) -> int:
        """Where its last part ends, in bits."""
        lib, end = self.classes.lib, BITS * self.place_bases()
        for field in self.fields:
            offset, width = lib.offset(field), lib.width(field)
            if offset is None:
                return BITS * (self.size or 0)
            end = max(end, offset + (BITS * (lib.size(lib.getCursorType(field)) or 0) if width is None else width))
        return end

    @cached_property
    def is_plain(self) -> bool:
        """Whether it is "plain old data" as C++03 had it: nothing is placed in the tail padding of such classes."""
        lib = self.classes.lib
        if self.bases or self.is_dynamic or not lib.isPODType(self.type):
            return False
        structors = any(each.kind in cursors.STRUCTORS for each in self.members)
        return not structors and all(lib.getCXXAccessSpecifier(each) in (0, 1) for each in self.fields)

    # --- vtables --------------------------------------------------------------------------------------------------

    @cached_property
    def slots(self) -> Slots:
        """The slots of its vtable."""
        primary = self.primary.facts.slots if self.primary is not None and self.primary.facts is not None else None
        found = Slots(primary)
        for method in self.virtual_methods:
            found.add(self.classes.lib, method, by_key=self.is_instance)
        others = [base.facts for base in self.bases if base.facts is not None]
        if found.destructor is None and any(each.slots.destructor is not None for each in others):
            found.destructor = found.count
            found.count += 2
        return found


Key = tuple[str, int, int]
"""A method by its name, how many parameters it has, and whether it is ``const``."""


def key_of(lib: LibClang, method: Cursor) -> Key:
    """The key of a method of a template, for which libclang reports no overridden methods."""
    if method.kind == cursors.DESTRUCTOR:
        return "~", 0, 0
    return lib.spelling(method), lib.Cursor_getNumArguments(method), lib.CXXMethod_isConst(method)


class Slots:
    """The slots of the methods of a class and of those that they override, by declaration."""

    def __init__(self, primary: Slots | None) -> None:
        self.methods: dict[int, int] = dict(primary.methods) if primary else {}
        self.keys: dict[Key, int] = dict(primary.keys) if primary else {}
        self.destructor: int | None = primary.destructor if primary else None
        self.count: int = primary.count if primary else 0

    def add(self, lib: LibClang, method: Cursor, *, by_key: bool) -> None:
        """Gives a method the slot of the one that it overrides, or else the next."""
        key = key_of(lib, method)
        if method.kind == cursors.DESTRUCTOR:
            if self.destructor is None:
                self.destructor = self.count
                self.count += 2
            self.methods[method.d0] = self.keys[key] = self.destructor
            return
        slot = self._overridden(lib, lib.overridden(method))
        if slot is None and by_key:
            slot = self.keys.get(key)
        if slot is None:
            slot = self.count
            self.count += 1
        self.methods[method.d0] = self.keys[key] = slot

    def _overridden(self, lib: LibClang, methods: Sequence[Cursor]) -> int | None:
        for each in methods:
            slot = self.methods.get(each.d0)
            if slot is None:
                slot = self._overridden(lib, lib.overridden(each))
            if slot is not None:
                return slot
        return None


def _free_place(facts: ClassFacts, first: int, end: int, taken: set[tuple[int, int]]) -> int:
    """The first place from ``first`` on, else from ``end`` on, where no empty class meets another of its type."""
    step = facts.alignment
    place = -(-first // step) * step
    while any((key, place + at) in taken for key, at in facts.empties):
        place = max(place + step, -(-end // step) * step)
    return place
