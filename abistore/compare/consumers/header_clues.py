"""What one declaration tells about the headers of its library: where it stands, whom it mentions and how."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import msgspec

from abistore.compare.consumers.export_table import is_weak
from abistore.compare.reuse.carrying import Summaries
from abistore.model.cpp_names.qualified import last_component
from abistore.model.names import Name
from abistore.model.reach import Reach, Reference, embedded
from abistore.model.shapes import (
    Alias,
    AnyShape,
    Foreign,
    Function,
    Named,
    Pointer,
    Qualified,
    Record,
    TypeRef,
    Variable,
)
from abistore.model.snapshot import Snapshot

MEMBERS = (Function, Variable)
"""The shapes of what may be a member of a class."""

SMART = "std::unique_ptr<"
"""How the names of types begin that delete what they hold."""


class ShapeClues(msgspec.Struct, frozen=True):
    """One shape of a declaration.

    ``stands_for`` is what an alias embeds, ``holds`` the smart pointers in a record. A function takes some records by
    address, hands out others, and may be a destructor of the class that it ``destroys``. ``arguments`` are those of a
    standard template; ``first`` is the first of them.
    """

    mentions: Sequence[Reference]
    stands_for: tuple[Name, ...] | None = None
    holds: tuple[Name, ...] = ()
    takes: tuple[Name, ...] = ()
    hands_out: tuple[Name, ...] = ()
    destroys: Name | None = None
    foreign: bool = False
    first: Name | None = None
    arguments: tuple[Name, ...] = ()


class DeclarationOwner(msgspec.Struct, frozen=True):
    """Where a declaration stands.

    ``file`` declares it, or its class; empty where that is not known. ``owners`` are the classes of which its variants
    make it a member. Other than ``strong`` exports are copies of inline functions.
    """

    file: str
    strong: bool
    owners: tuple[Name | None, ...]


class HeaderClues:
    """Which file each declaration stands in, and what its shapes tell about headers."""

    def __init__(self, snapshot: Snapshot, files: Mapping[Name, str], reach: Callable[[], Reach]) -> None:
        self.files = files
        made = _Summariser(snapshot, files, reach)
        self.names = Summaries(made.layout, made.standing)
        self.parts = Summaries(made.layout, made.parts)

    def take_on(self, before: HeaderClues, changed: Collection[Name]) -> bool:
        """Take what is known of the release before, but for the ``changed`` names; whether those are equal too."""
        return self.names.take_on(before.names, changed) & self.parts.take_on(before.parts, changed)

    def mentioned(self, name: Name) -> Iterator[Name]:
        """The declarations that ``name`` mentions, in any of its variants."""
        return (other for part in self.parts[name] for other, _ in part.mentions)


class _Summariser:
    """Makes the summaries. It does not hold those that it made: a release before may go when they are taken from it."""

    def __init__(self, snapshot: Snapshot, files: Mapping[Name, str], reach: Callable[[], Reach]) -> None:
        self.layout, self._symbols = snapshot.entries.get("layout", {}), snapshot.entries.get("symbol", {})
        self._files = files
        self._reach = reach

    def standing(self, name: Name) -> DeclarationOwner:
        owners = tuple([_owner(shape) for shape in self.layout.get(name, ()) if isinstance(shape, MEMBERS)])
        owner = next(filter(None, owners), name)
        return DeclarationOwner(self._files.get(owner, ""), not is_weak(self._symbols.get(name, ())), owners)

    def parts(self, name: Name) -> tuple[ShapeClues, ...]:
        pairs = zip(self.layout.get(name, ()), self._reach().mentions(name), strict=True)
        return tuple(_part(shape, mentions) for shape, mentions in pairs)


def _owner(shape: Function | Variable) -> Name | None:
    if isinstance(shape, Variable):
        return shape.owner
    return shape.method.owner if shape.method else None


def _part(shape: AnyShape, mentions: Sequence[Reference]) -> ShapeClues:
    match shape:
        case Alias():
            return ShapeClues(mentions, stands_for=tuple(embedded(shape)))
        case Record():
            held = (field.type.name for field in shape.fields if isinstance(field.type, Named))
            return ShapeClues(mentions, holds=tuple(each for each in held if each.spelling.startswith(SMART)))
        case Foreign():
            bare = (each.target if isinstance(each, Qualified) else each for each in shape.arguments)
            first = next((each.name for each in shape.arguments[:1] if isinstance(each, Named)), None)
            arguments = tuple(each.name for each in bare if isinstance(each, Named))
            return ShapeClues(mentions, foreign=True, first=first, arguments=arguments)
        case Function():
            destroys = shape.method is not None and last_component(shape.display).startswith("~")
            return ShapeClues(
                mentions,
                takes=tuple(each for one in shape.parameters for each in _pointee(one, 1)),
                hands_out=(
                    *_pointee(shape.result, 1),
                    *(each for one in shape.parameters for each in _pointee(one, 2)),
                ),
                destroys=shape.method.owner if destroys and shape.method else None,
            )
        case _:
            return ShapeClues(mentions)


def _pointee(type: TypeRef, levels: int) -> Iterator[Name]:
    """The name behind exactly so many pointers."""
    while True:
        if isinstance(type, Pointer):
            levels -= 1
        elif not isinstance(type, Qualified):
            break
        type = type.target
    if not levels and isinstance(type, Named):
        yield type.name
