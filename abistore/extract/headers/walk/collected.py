"""Declarations as they are met: one entry a name, whatever declares it again."""

from __future__ import annotations

from typing import Final

import msgspec

from abistore.model.declared import Argument, Declared, Uses
from abistore.model.names import Name
from abistore.model.shapes import AnyShape
from abistore.model.snapshot import Location, Variants

DEFINED: Final = frozenset({"defined", "defined_within", "undefined"})
"""What is said of definitions that come with declarations, and of those that none comes with."""

OF_ALL: Final = DEFINED | {"friend"}
"""Traits of a name that each of its declarations must have."""


class Collected:
    """The shapes of names, what the text of public declarations tells, and where they stand."""

    def __init__(self) -> None:
        self.shapes: dict[Name, list[AnyShape]] = {}
        self.declared: dict[Name, Declared] = {}
        self.locations: dict[Name, Location] = {}
        self.inline_namespaces: set[str] = set()

    def add(self, name: Name, shape: AnyShape | None) -> None:
        """Notes a shape of a name; equal ones are kept once."""
        shapes = self.shapes.setdefault(name, [])
        if shape is not None and shape not in shapes:
            shapes.append(shape)

    def declare(self, name: Name, location: Location, declared: Declared, *, defines: bool = False) -> None:
        """Notes a public declaration. The place of a definition, else the first, is where the name stands."""
        known = self.declared.get(name)
        self.declared[name] = declared if known is None else merged(known, declared)
        if defines or name not in self.locations:
            self.locations[name] = location
        self.shapes.setdefault(name, [])

    def forget(self, name: Name) -> None:
        """Takes back a declaration of which only text tells."""
        del self.declared[name], self.locations[name]
        if not self.shapes.get(name):
            self.shapes.pop(name, None)

    def leave_out(self, name: Name) -> None:
        """Takes back all that is known of a name."""
        for known in (self.shapes, self.declared, self.locations):
            known.pop(name, None)

    def entries(self) -> dict[Name, list[AnyShape]]:
        """All shapes of all names."""
        return {
            name: [*shapes, *([self.declared[name]] if name in self.declared else [])]
            for name, shapes in self.shapes.items()
            if shapes or name in self.declared
        }


def merged(one: Declared, other: Declared) -> Declared:
    """What several declarations of one name tell together.

    One outside a class makes a friend no hidden one; programs may include the one alone that no definition comes with.
    """
    traits = {*one.traits, *other.traits} - (({*one.traits} ^ {*other.traits}) & OF_ALL)
    return Declared(
        traits=tuple(sorted(traits)),
        parameters=_parameters(one.parameters, other.parameters),
        value=one.value if one.value is not None else other.value,
        body=one.body or other.body,
        template=_parameters(one.template, other.template),
        requires=one.requires or other.requires,
        expressions=one.expressions or other.expressions,
        availability=tuple(sorted({*one.availability, *other.availability})),
        meaning=one.meaning or other.meaning,
        within=one.within or other.within,
        handed=one.handed or other.handed,
        promises=tuple(sorted({*one.promises, *other.promises})),
        uses=joined(one.uses, other.uses),
        replacement=one.replacement or other.replacement,
        bases=one.bases or other.bases,
        shown=tuple(sorted({*one.shown, *other.shown})),
        abilities=one.abilities or other.abilities,
        instances=one.instances or other.instances,
    )


def joined(one: Uses | None, other: Uses | None) -> Uses | None:
    """What two pieces of code use."""
    if one is None or other is None:
        return one or other
    return Uses(
        members=tuple(sorted({*one.members, *other.members})),
        calls=tuple(sorted({*one.calls, *other.calls})),
        types=tuple(sorted({*one.types, *other.types})),
        objects=tuple(sorted({*one.objects, *other.objects})),
        fields=tuple(dict.fromkeys((*one.fields, *other.fields))),
    )


def defined_in_both(shape: AnyShape, others: Variants) -> AnyShape:
    """What one unit tells of a name that others declare too: defined it is where these know the definition as well."""
    if not isinstance(shape, Declared) or DEFINED.isdisjoint(shape.traits):
        return shape
    known = [each.traits for each in others if isinstance(each, Declared)]
    kept = [each for each in shape.traits if each not in DEFINED or all(each in traits for traits in known)]
    return msgspec.structs.replace(shape, traits=tuple(kept))


def _parameters(one: tuple[Argument, ...], other: tuple[Argument, ...]) -> tuple[Argument, ...]:
    if len(one) != len(other):
        return one or other
    pairs = zip(one, other, strict=True)
    return tuple([_both(*pair) for pair in pairs])


def _both(one: Argument, other: Argument) -> Argument:
    default = one.default if one.default is not None else other.default
    return Argument(one.name or other.name, default, max(one.length, other.length))
