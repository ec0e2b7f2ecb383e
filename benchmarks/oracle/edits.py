"""Edits: each changes a piece in one way, at a place that is drawn."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import TypeAlias

from benchmarks.oracle.pieces import PRIMITIVES, Base, Class, Field, Function, Method, Piece

Edit: TypeAlias = Callable[["_Place"], bool]
"""Changes the piece at a place; tells whether there was anything to change."""


class _Place:
    """A copy of a piece, one of its classes, and a number for what is added."""

    def __init__(self, piece: Piece, random: Random) -> None:
        self.piece = deepcopy(piece)
        self.random = random
        self.own: Class = random.choice(self.piece.classes)
        self.fresh = f"{piece.prefix}z{random.randint(0, 9)}"

    @property
    def cpp(self) -> bool:
        return self.piece.language == "c++"

    def primitive(self) -> str:
        return self.random.choice(PRIMITIVES[self.piece.language])

    def insert(self, member: Field | Method) -> bool:
        self.own.members.insert(self.random.randint(0, len(self.own.members)), member)
        return True

    def swap(self, kind: type[Field] | type[Method]) -> bool:
        members = self.own.members
        places = [at for at, each in enumerate(members) if isinstance(each, kind)]
        if len(places) < 2:
            return False
        one, other = self.random.sample(places, 2)
        members[one], members[other] = members[other], members[one]
        return True

    def field(self, *, bits: bool = False) -> Field | None:
        found = [each for each in self.own.fields if bool(each.bits) == bits]
        return self.random.choice(found) if found else None

    def method(self, *, virtual: bool = False) -> Method | None:
        found = [each for each in self.own.methods if each.virtual or not virtual]
        return self.random.choice(found) if found else None


def edited(piece: Piece, random: Random) -> tuple[Piece, str] | None:
    """A piece with one edit, and what the edit is called; ``None`` where it finds nothing to change."""
    place = _Place(piece, random)
    name = random.choice(sorted(EDITS))
    if not place.cpp and name in CPP_ONLY:
        return None
    return (place.piece, f"{name} {place.own.name}") if EDITS[name](place) else None


# --- fields -----------------------------------------------------------------------------------------------------------


def _add_field(at: _Place) -> bool:
    member = Field(at.fresh, "T" if at.own.template and at.random.random() < 0.5 else at.primitive())
    if at.own.fields and at.own.is_plain:
        member.access = at.random.choice(at.own.fields).access
    return at.insert(member)


def _remove_field(at: _Place) -> bool:
    if len(at.own.fields) < 2:
        return False
    at.own.members.remove(at.random.choice(at.own.fields))
    return True


def _swap_fields(at: _Place) -> bool:
    return at.swap(Field)


def _change_type(at: _Place) -> bool:
    if found := at.field():
        found.type = at.random.choice(["int", "double", "long", "char", "short", "void *"])
    return found is not None


def _change_count(at: _Place) -> bool:
    if found := at.field():
        found.count, found.shown = at.random.randint(1, 6), False
    return found is not None


def _change_bits(at: _Place) -> bool:
    if found := at.field(bits=True):
        found.bits = at.random.randint(1, 14)
    return found is not None


def _align(at: _Place) -> bool:
    found = at.field() if at.own.is_plain else None
    if found:
        found.alignment = at.random.choice([8, 16, 32])
    return found is not None


def _change_access(at: _Place) -> bool:
    if not at.own.is_plain or not at.own.fields:
        return False
    at.random.choice(at.own.fields).access = at.random.choice(["public", "private", "protected"])
    return True


def _pack(at: _Place) -> bool:
    at.own.packed = at.own.is_plain
    return at.own.is_plain


def _change_inside(at: _Place) -> bool:
    """A field in a class that the library alone defines."""
    opaque = [each for each in at.piece.classes if each.opaque]
    if opaque:
        at.random.choice(opaque).members.append(Field(at.fresh, "long"))
    return bool(opaque)


# --- bases and virtual functions --------------------------------------------------------------------------------------


def _change_bases(at: _Place) -> bool:
    own, piece = at.own, at.piece
    if not own.is_plain:
        return False
    if own.bases and at.random.random() < 0.5:
        own.bases.pop(at.random.randrange(len(own.bases)))
        return True
    before = piece.classes[: piece.classes.index(own)]
    found = [each for each in before if each.is_plain and not each.final]
    base = at.random.choice(found) if found else None
    if base is None or not all(piece.bases(base.name).isdisjoint(piece.bases(each.name)) for each in own.bases):
        return False
    own.bases.insert(at.random.randint(0, len(own.bases)), Base(base.name, at.random.random() < 0.2))
    return True


def _derive_otherwise(at: _Place) -> bool:
    if at.own.bases:
        base = at.random.choice(at.own.bases)
        base.virtual = not base.virtual
    return bool(at.own.bases)


def _swap_bases(at: _Place) -> bool:
    at.own.bases.reverse()
    return len(at.own.bases) > 1


def _add_virtual(at: _Place) -> bool:
    return at.own.is_plain and at.insert(Method(f"{at.fresh}v", virtual=True))


def _swap_methods(at: _Place) -> bool:
    return at.swap(Method)


def _override(at: _Place) -> bool:
    if not at.own.is_plain or not at.own.bases:
        return False
    base = at.piece.named(at.random.choice(at.own.bases).name)
    known = {each.name for each in at.own.methods}
    found = [each for each in base.methods if each.virtual and not each.pure and each.name not in known] if base else []
    if found:
        at.own.members.append(deepcopy(found[0]))
    return bool(found)


def _change_pure(at: _Place) -> bool:
    if found := at.method(virtual=True):
        found.pure = not found.pure
    return found is not None


def _virtual_destructor(at: _Place) -> bool:
    if not at.own.is_plain or at.own.destroys:
        return False
    at.own.destructor = at.random.randint(0, 3) if at.own.destructor is None else None
    return True


def _finish(at: _Place) -> bool:
    at.own.final = at.own.is_plain
    return at.own.is_plain


# --- other functions of classes ---------------------------------------------------------------------------------------


def _add_method(at: _Place) -> bool:
    at.own.members.append(Method(f"{at.fresh}n", static=at.random.random() < 0.2))
    return at.own.is_plain


def _remove_method(at: _Place) -> bool:
    if found := at.method():
        at.own.members.remove(found)
    return found is not None


def _change_parameters(at: _Place) -> bool:
    if found := at.method():
        found.parameters = [at.primitive()]
    return found is not None


def _change_const(at: _Place) -> bool:
    if found := at.method():
        found.const = not found.const and not found.static
    return found is not None


def _change_static(at: _Place) -> bool:
    found = at.method()
    if found is None or found.virtual or found.const:
        return False
    found.static = not found.static
    return True


def _own_destructor(at: _Place) -> bool:
    at.own.destroys = not at.own.destroys
    return at.own.is_plain and at.own.destructor is None


def _own_constructors(at: _Place) -> bool:
    """Only of a class that no other holds or derives from, and that does so itself with none."""
    others = [each for each in at.piece.classes if any(base.name == at.own.name for base in each.bases)]
    embeds = any(at.piece.named(each.type) for each in at.own.fields)
    at.own.copies = True
    return at.own.is_plain and not (others or embeds or at.own.bases)


# --- enumerations, functions and variables ----------------------------------------------------------------------------


def _add_value(at: _Place) -> bool:
    if at.piece.enumerations:
        values = at.random.choice(at.piece.enumerations).values
        largest = max(value for _, value in values)
        values.insert(at.random.randint(0, len(values)), (f"{at.fresh}e", largest + 1))
    return bool(at.piece.enumerations)


def _change_value(at: _Place) -> bool:
    if at.piece.enumerations:
        values = at.random.choice(at.piece.enumerations).values
        place = at.random.randrange(len(values))
        values[place] = (values[place][0], at.random.randint(0, 20))
    return bool(at.piece.enumerations)


def _remove_value(at: _Place) -> bool:
    found = [each.values for each in at.piece.enumerations if len(each.values) > 1]
    if found:
        values = at.random.choice(found)
        values.pop(at.random.randrange(len(values)))
    return bool(found)


def _change_underlying(at: _Place) -> bool:
    if at.piece.enumerations:
        own = at.random.choice(at.piece.enumerations)
        own.underlying = at.random.choice(["", "unsigned char", "long", "int", "unsigned", "short"])
    return bool(at.piece.enumerations)


def _remove_function(at: _Place) -> bool:
    at.piece.functions.remove(at.random.choice(at.piece.functions))
    return True


def _add_function(at: _Place) -> bool:
    c = at.random.random() < 0.5
    at.piece.functions.append(Function(f"{at.fresh}new", "int", [at.primitive()], c))
    return True


def _change_parameter(at: _Place) -> bool:
    own = at.random.choice(at.piece.functions)
    if own.parameters:
        place = at.random.randrange(len(own.parameters))
        own.parameters[place] = at.random.choice(["int", "double", "long", "char *", "float"])
    return bool(own.parameters)


def _change_result(at: _Place) -> bool:
    at.random.choice(at.piece.functions).result = at.random.choice(["int", "double", "char *", "void"])
    return True


def _change_variable(at: _Place) -> bool:
    if at.piece.variables:
        own = at.random.choice(at.piece.variables)
        if at.random.random() < 0.5:
            own.count = at.random.choice([0, 3, 8, 12])
        else:
            own.type = at.random.choice(["int", "long", "double", "char"])
    return bool(at.piece.variables)


def _nothing(_: _Place) -> bool:
    return True


EDITS: dict[str, Edit] = {
    "add a field": _add_field,
    "remove a field": _remove_field,
    "swap fields": _swap_fields,
    "another type": _change_type,
    "another count": _change_count,
    "another width": _change_bits,
    "align a field": _align,
    "another access": _change_access,
    "pack": _pack,
    "change a handle": _change_inside,
    "other bases": _change_bases,
    "derive virtually": _derive_otherwise,
    "swap bases": _swap_bases,
    "add a virtual function": _add_virtual,
    "swap functions": _swap_methods,
    "override": _override,
    "pure or not": _change_pure,
    "virtual destructor": _virtual_destructor,
    "final": _finish,
    "add a method": _add_method,
    "remove a method": _remove_method,
    "other parameters": _change_parameters,
    "const or not": _change_const,
    "static or not": _change_static,
    "own destructor": _own_destructor,
    "own constructors": _own_constructors,
    "add an enumerator": _add_value,
    "another value": _change_value,
    "remove an enumerator": _remove_value,
    "another underlying type": _change_underlying,
    "remove a function": _remove_function,
    "add a function": _add_function,
    "another parameter": _change_parameter,
    "another result": _change_result,
    "another variable": _change_variable,
    "nothing": _nothing,
}
"""What each is called."""

CPP_ONLY = frozenset(
    {
        *("align a field", "another access", "other bases", "derive virtually", "swap bases"),
        *("add a virtual function", "swap functions", "override", "pure or not", "virtual destructor", "final"),
        *("add a method", "remove a method", "other parameters", "const or not", "static or not"),
        *("own destructor", "own constructors", "another underlying type"),
    }
)
"""Those that C has no words for."""
