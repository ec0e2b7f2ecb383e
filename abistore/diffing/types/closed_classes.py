"""Nested classes that no program can look into, and texts of constants that say the same."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final

from msgspec.structs import replace

from abistore.model.constants import MOST, constant, normal
from abistore.model.declarations import Declared, Name
from abistore.model.names.qualified import last_component, scope
from abistore.model.shapes import AnyShape, Enum, Function, Named, Pointer, Qualified, Record, TypeRef, Variable
from abistore.model.snapshot import Variants
from abistore.model.structure import references
from abistore.patterns import pattern

LOOKS_INSIDE = pattern(r"[(\[*]|->|[A-Za-z_)\]]\s*\.|\b(?:sizeof|alignof|new)\b")
"""What an initialiser or a default argument may look into an object with, or ask how large it is."""


OPENING = frozenset({"befriends", "template"})
"""What is said of a class with code elsewhere that has access to what is private in it."""


def outermost(type: Name, source: Mapping[Name, Variants]) -> Name | None:
    """The class around a private nested ``type`` that is in none itself; ``None`` for any other type."""
    defined = next((each for each in source.get(type, ()) if isinstance(each, Record | Enum)), None)
    if defined is None or defined.access != "private" or "<" in type.spelling:
        return None
    found, around = None, Name("record", scope(type.spelling))
    while _record(source.get(around, ())) is not None:
        found, around = around, Name("record", scope(around.spelling))
    return found


class ClosedClasses:
    """Tells which classes in one that headers define are the library's alone, although everybody reads them::

        class Window { struct Impl { int width; long id; }; Impl *impl; public: Window(); int width() const; };

    Programs can neither name nor allocate an ``Impl``, as :attr:`Record.access` tells. They have still been compiled
    with what it is made of where a class that they have holds one by value, and where an inline body, a default
    argument or an initialiser with access to it gets there. Friends may do that in places that nobody knows.

    ``members`` are the functions and variables that headers declare ``within`` the class, and ``used`` what inline
    bodies use although access forbids it.
    """

    def __init__(
        self, within: Name, members: Collection[Name], source: Mapping[Name, Variants], used: Collection[str]
    ) -> None:
        inside = f"{within.spelling}::"
        nested = [name for name in source if name.kind in ("record", "alias") and name.spelling.startswith(inside)]
        self._parts = {name: source[name] for name in (within, *nested, *members)}
        self._used = used

    def has(self, type: Name) -> bool:
        """Whether no program was compiled with what ``type`` is made of."""
        if self._is_open or any(type.spelling in each.spelling for each in self._reached):
            return False
        return not any(_may_look(shape, type) for name in self._parts for shape in self._outside(name, type))

    def _outside(self, name: Name, type: Name) -> Variants:
        """What headers say of a part, other than what only who has access to ``type`` can use."""
        owner = self._owner_of(name) if name.kind in ("function", "variable") else name
        return () if owner == type or f"{owner.spelling}::".startswith(f"{type.spelling}::") else self._parts[name]

    def _owner_of(self, name: Name) -> Name:
        return next((owner for owner in map(owner_of, self._parts[name]) if owner is not None), name)

    @cached_property
    def _is_open(self) -> bool:
        return any(not OPENING.isdisjoint(text.traits) for shapes in self._parts.values() for text in _texts(shapes))

    @cached_property
    def _reached(self) -> frozenset[Name]:
        """What programs get at: by value in what they have, and by inline bodies."""
        pending = [each for name in self._parts for each in self._given(name)]
        found: set[Name] = set()
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending += self._led_to(name)
        return frozenset(found)

    def _given(self, name: Name) -> Iterator[Name]:
        for shape in self._parts[name]:
            if isinstance(shape, Record):
                if name.spelling in self._used:
                    yield name
                yield from _given_by(name, shape, self._used)
            elif name.spelling in self._used or getattr(shape, "display", None) in self._used:
                yield from (each for each, _ in references(_without_object(shape)))

    def _led_to(self, name: Name) -> Iterator[Name]:
        """What inline bodies get at that have an object of a type: its members, of which private ones say so."""
        record = _record(self._parts.get(name, ()))
        if record is not None and record.access == "public":
            return
        for part, shapes in self._parts.items():
            if part == name or name in map(owner_of, shapes):
                yield from (each for shape in shapes for each, _ in references(_without_object(shape)))


def _given_by(name: Name, record: Record, used: Collection[str]) -> Iterator[Name]:
    """What a class gives programs that have one, beside what only the library uses: pointers that are private."""
    if record.access != "public":
        return
    for field in record.fields:
        if field.access == "public" or not _is_pointer(field.type) or f"{name.spelling}::{field.name}" in used:
            yield from _mentioned(field.type)
    for base in record.bases:
        yield from _mentioned(base.type)


def _without_object(shape: AnyShape) -> AnyShape:
    return replace(shape, method=None) if isinstance(shape, Function) else shape


def _mentioned(type: TypeRef) -> Iterator[Name]:
    return (each for each, _ in references(Variable("", type)))


def _is_pointer(type: TypeRef) -> bool:
    while isinstance(type, Qualified):
        type = type.target
    return isinstance(type, Pointer)


def _may_look(shape: object, type: Name) -> bool:
    """Whether what is written of a declaration may look into a ``type``. Constants have findings of their own."""
    if not isinstance(shape, Declared):
        return False
    written = [value for _, value in shape.expressions] + [each.default for each in shape.parameters if each.default]
    simple = last_component(type.spelling)
    return any(LOOKS_INSIDE.search(each) or simple in each for each in written)


def _record(shapes: Variants) -> Record | None:
    return next((shape for shape in shapes if isinstance(shape, Record)), None)


def _texts(shapes: Variants) -> Iterator[Declared]:
    return (shape for shape in shapes if isinstance(shape, Declared))


def owner_of(shape: object) -> Name | None:
    """The class that a member is declared in."""
    if isinstance(shape, Function):
        return shape.method.owner if shape.method else None
    return shape.owner if isinstance(shape, Variable) else None


_WORD = pattern(r"[A-Za-z_]\w*")


class ClosedEnum:
    """A private enumeration in a class that headers define, and what these say of it::

        class Job { enum State { IDLE, BUSY }; State state; void set(State); public: Job(); bool is_busy() const; };

    Programs have none of its numbers where no code that they compile names it, has an object of it or uses a member of
    its type, and where only what is private mentions it. ``within`` are the declarations in the class, of which
    ``hidden`` ones are functions and variables of the library alone; ``used`` are the members, types and places of
    members that code in headers uses.
    """

    def __init__(self, type: Name, within: Mapping[Name, Variants], hidden: Collection[Name]) -> None:
        self._type = type
        self._within = within
        self._hidden = hidden

    def is_used(self, used: Collection[str]) -> bool:
        """Whether code in headers uses it, one of its enumerators, or a member of its type."""
        inside = f"{self._type.spelling}::"
        fields = set(self._fields())
        return any(each == self._type.spelling or each.startswith(inside) or each in fields for each in used)

    def is_shown(self) -> bool:
        """Whether programs meet it in what they can use: a function, a name for it, an initialiser, by friends."""
        return any(self._shows(name, shape) for name, shapes in self._within.items() for shape in shapes)

    def _fields(self) -> Iterator[str]:
        for name, shapes in self._within.items():
            for shape in shapes:
                if isinstance(shape, Record):
                    yield from (f"{name.spelling}::{each.name}" for each in shape.fields if each.type == self._named)

    @property
    def _named(self) -> Named:
        return Named(self._type)

    def _shows(self, name: Name, shape: AnyShape) -> bool:
        if isinstance(shape, Declared):
            return not OPENING.isdisjoint(shape.traits) or not self._words.isdisjoint(_words(shape))
        if name == self._type or name in self._hidden or all(each != self._type for each, _ in references(shape)):
            return False
        if not isinstance(shape, Record):
            return True
        private = sum(each.type == self._named and each.access == "private" for each in shape.fields)
        return private < sum(each == self._type for each, _ in references(shape))

    @property
    def _words(self) -> frozenset[str]:
        shapes = self._within.get(self._type, ())
        names = {each.name for shape in shapes if isinstance(shape, Enum) for each in shape.enumerators}
        return frozenset({last_component(self._type.spelling), *names})


def _words(text: Declared) -> Iterable[str]:
    values = (text.value, *(value for _, value in text.expressions), *(each.default for each in text.parameters))
    return (word for value in values if value is not None for word in _WORD.findall(value))


INTEGER: Final = pattern(r"(-?\d{1,40})(?:u|l|ll|ul|ull|lu|llu)?", 0)

_TEXT: Final = pattern(r'\s*(?:(?:u8|u|U|L)?"(?:[^"\\]|\\.)*"\s*)+', 0)

WORDS: Final = {"false": 0, "true": 1}

TEXTS: Final = frozenset({"macro", "template"})
"""What of itself is text, and becomes a value where sources use it."""


def is_same_value(old: str, new: str) -> bool:
    """Whether both texts are one value of one type, as far as the texts themselves tell."""
    if old == new:
        return True
    return max(len(old), len(new)) <= MOST and normal(old) == normal(new)


def is_same_constant(old: Declared, new: Declared) -> bool:
    """Whether consumers get one value of both, as far as is known: macros may name others that stand for a number."""
    if old.value is None or new.value is None:
        return True
    if old.value == new.value:
        return True
    before, after = known_value(old) or old.value, known_value(new) or new.value
    return before == after or is_same_value(old.value, new.value)


def known_value(declared: Declared) -> str | None:
    """What a constant is worth in the end, in one spelling; ``None`` where that is not known."""
    if declared.meaning is not None:
        return declared.meaning.value
    return constant(declared.value or "")


def is_same_number(old: Declared, new: Declared) -> bool:
    """Whether two macros stand for one integer, be it of another type: ``0x8000`` and ``(0x8000LL)``."""
    values = [INTEGER.fullmatch(known_value(each) or "") for each in (old, new)]
    digits = [each[1] for each in values if each is not None]
    return len(digits) == 2 and digits[0] == digits[1]


def is_text(value: str) -> bool:
    """Whether a value is a string literal, or several side by side."""
    return _TEXT.fullmatch(value) is not None


def is_number(value: str) -> bool:
    """Whether a value is an integer, and nothing else."""
    return INTEGER.fullmatch(constant(value) or "") is not None


def number(declared: Declared) -> int | None:
    """The value of a constant that compilers know as an integer; ``None`` for macros and all else.

    A macro that names the enumerator of its own name, for ``#ifdef``, is that.
    """
    is_text = declared.within is None and not TEXTS.isdisjoint(declared.traits)
    if "constant" not in declared.traits or is_text:
        return None
    text = known_value(declared) or declared.value or ""
    found = INTEGER.fullmatch(text)
    return int(found[1]) if found else WORDS.get(text)
