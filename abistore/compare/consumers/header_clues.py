"""What one declaration tells about the headers of its library: where it stands, whom it mentions and how."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import msgspec

from abistore.compare.consumers.export_table import is_weak
from abistore.compare.reuse.carrying import Summaries
from abistore.model.cpp_names.qualified import last_component, scope
from abistore.model.mangling.decorated import is_decorated
from abistore.model.mangling.symbols import OF_STD
from abistore.model.names import Name
from abistore.model.reach.graph import Reach
from abistore.model.references import Reference, embedded, references
from abistore.model.shapes import (
    Alias,
    AnyShape,
    Enum,
    Foreign,
    Function,
    Named,
    Pointer,
    Qualified,
    Record,
    TypeRef,
    Variable,
)
from abistore.model.snapshot import Snapshot, Variants
from abistore.model.tables import Symbol
from abistore.model.words.telling import is_private_node

MEMBERS = (Function, Variable)
"""The shapes of what may be a member of a class."""

SMART = "std::unique_ptr<"
"""How the names of types begin that delete what they hold."""


class TypeClues(msgspec.Struct, frozen=True):
    """What one shape of a type tells without a look at its members.

    ``arguments`` are the types that an instance of a template has for arguments; ``first`` is the first of a standard
    template's. ``closed`` types are private to the class around them.
    """

    foreign: bool = False
    first: Name | None = None
    arguments: tuple[Name, ...] = ()
    closed: bool = False


PLAIN = TypeClues()


class ShapeClues(msgspec.Struct, frozen=True):
    """One shape of a declaration, and whom it mentions.

    ``stands_for`` is what an alias embeds, ``holds`` the smart pointers in a record. A function takes some records by
    address, hands out others, and may be a destructor of the class that it ``destroys``. ``shows`` is what programs
    get at that have an object of a record with private members, and ``None`` for what shows all that it mentions.
    """

    mentions: Sequence[Reference]
    stands_for: tuple[Name, ...] | None = None
    holds: tuple[Name, ...] = ()
    takes: tuple[Name, ...] = ()
    hands_out: tuple[Name, ...] = ()
    destroys: Name | None = None
    shows: tuple[Name, ...] | None = None


class DeclarationOwner(msgspec.Struct, frozen=True):
    """Where a declaration stands.

    ``file`` declares it, or its class; empty where that is not known. ``owners`` are the classes of which its variants
    make it a member; it may be ``private`` there. Other than ``strong`` exports are copies of inline functions;
    ``inline`` are those of which somebody wrote the body. ``node`` is the version node that keeps an export for the
    library itself.
    """

    file: str
    strong: bool
    owners: tuple[Name | None, ...]
    private: bool = False
    inline: bool = False
    node: str = ""


class HeaderClues:
    """Which file each declaration stands in, and what its shapes tell about headers."""

    def __init__(self, snapshot: Snapshot, files: Mapping[Name, str], reach: Callable[[], Reach]) -> None:
        self.files = files
        made = _Summariser(snapshot, files, reach)
        self.names = Summaries(made.layout, made.standing)
        self.types = Summaries(made.layout, made.types)
        self.parts = Summaries(made.layout, made.parts)

    def take_on(self, before: HeaderClues, changed: Collection[Name]) -> bool:
        """Take what is known of the release before, but for the ``changed`` names; whether those are equal too."""
        names, types = self.names.take_on(before.names, changed), self.types.take_on(before.types, changed)
        return names & types & self.parts.take_on(before.parts, changed)

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
        members = [shape for shape in self.layout.get(name, ()) if isinstance(shape, MEMBERS)]
        told = () if members else _told_private(name)
        owners = tuple(map(_owner, members)) or told
        owner = next(filter(None, owners), name)
        symbols = self._symbols.get(name, ())
        strong = not is_weak(symbols)
        return DeclarationOwner(
            self._files.get(owner, ""),
            strong,
            owners,
            private=strong and bool(owners) and (bool(told) or all(map(_is_private, members))),
            inline=bool(symbols) and not strong and any(map(_is_written, members)) and not _is_foreign(name),
            node=_private_node(symbols),
        )

    def types(self, name: Name) -> tuple[TypeClues, ...]:
        return tuple(map(_type, self.layout.get(name, ())))

    def parts(self, name: Name) -> tuple[ShapeClues, ...]:
        pairs = zip(self.layout.get(name, ()), self._reach().mentions(name), strict=True)
        return tuple(_part(shape, mentions) for shape, mentions in pairs)


def _owner(shape: Function | Variable) -> Name | None:
    if isinstance(shape, Variable):
        return shape.owner
    return shape.method.owner if shape.method else None


def _told_private(name: Name) -> tuple[Name, ...]:
    """The class of a private member that is described by its decorated name alone."""
    if not is_decorated(name.spelling):
        return ()
    from abistore.model.mangling.microsoft import is_private, qualified_name  # ELF files have none

    return (Name("record", scope(qualified_name(name.spelling))),) if is_private(name.spelling) else ()


def _is_private(shape: Function | Variable) -> bool:
    """Whether its class alone has access; derived classes have virtual functions all the same."""
    if isinstance(shape, Variable):
        return shape.owner is not None and shape.access == "private"
    return shape.method is not None and shape.method.access == "private" and shape.method.virtual == "no"


def _is_written(shape: Function | Variable) -> bool:
    """Whether ``shape`` is a function that compilers make only where a source has its body."""
    if not isinstance(shape, Function) or shape.method is None:
        return isinstance(shape, Function)
    simple, name = last_component(shape.method.owner.spelling), last_component(shape.display)
    if name == "operator=" or name.startswith("~"):
        return False
    return name != simple or len(shape.parameters) != 1 or [*_pointee(shape.parameters[0], 1)] != [shape.method.owner]


def _is_foreign(name: Name) -> bool:
    """Whether it is a function or template of the standard library, which has no friends here."""
    return name.spelling.startswith(OF_STD)


def _private_node(symbols: Variants) -> str:
    """The private version node of an export that stands in no other; empty for any other export."""
    node = ""
    for shape in symbols:
        if isinstance(shape, Symbol):
            if not shape.version or not is_private_node(shape.version):
                return ""
            node = node or shape.version
    return node


def _type(shape: AnyShape) -> TypeClues:
    match shape:
        case Record():
            return TypeClues(arguments=_arguments(shape), closed=shape.access != "public")
        case Enum():
            return TypeClues(closed=shape.access != "public")
        case Foreign():
            first = next((each.name for each in shape.arguments[:1] if isinstance(each, Named)), None)
            return TypeClues(foreign=True, first=first, arguments=_arguments(shape))
        case _:
            return PLAIN


def _part(shape: AnyShape, mentions: Sequence[Reference]) -> ShapeClues:
    match shape:
        case Alias():
            return ShapeClues(mentions, stands_for=tuple(embedded(shape)))
        case Record():
            held = (field.type.name for field in shape.fields if isinstance(field.type, Named))
            smart = tuple(each for each in held if each.spelling.startswith(SMART))
            return ShapeClues(mentions, holds=smart, shows=_shows(shape))
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


def _shows(shape: Record) -> tuple[Name, ...] | None:
    """What the members of ``shape`` mention that are not private; ``None`` where none is."""
    fields = tuple(each for each in shape.fields if each.access != "private")
    bases = tuple(each for each in shape.bases if each.access != "private")
    if len(fields) + len(bases) == len(shape.fields) + len(shape.bases):
        return None
    open = msgspec.structs.replace(shape, fields=fields, bases=bases)
    return tuple(each for each, _ in references(open))


def _arguments(shape: Record | Foreign) -> tuple[Name, ...]:
    """The named types among the arguments of a template's instance."""
    bare = (each.target if isinstance(each, Qualified) else each for each in shape.arguments)
    return tuple(each.name for each in bare if isinstance(each, Named))


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
