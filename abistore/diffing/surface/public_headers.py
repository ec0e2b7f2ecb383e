"""Which headers of a library its consumers can include, by what each declares."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

import msgspec

from abistore.diffing.reuse import Derived, Summaries
from abistore.diffing.surface.export_table import is_weak
from abistore.model.declarations import Name
from abistore.model.hints import is_private_node
from abistore.model.names.qualified import last_component, scope
from abistore.model.names.symbols import is_mangled
from abistore.model.reach import Reach
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
    Symbol,
    TypeRef,
    Variable,
)
from abistore.model.snapshot import Snapshot, Variants
from abistore.model.structure import Reference, embedded, references
from abistore.model.words import (
    include_root,
    is_beside,
    is_decorated,
    is_own_header,
    is_source,
    may_be_private,
)
from abistore.patterns import pattern

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


class HeaderClues(Derived):
    """Which file each declaration stands in, and what its shapes tell about headers."""

    def __init__(self, snapshot: Snapshot, files: Mapping[Name, str], reach: Callable[[], Reach]) -> None:
        self.files = files
        made = _Summariser(snapshot, files, reach)
        self.names = Summaries(made.layout, made.standing, files=files)
        self.types = Summaries(made.layout, made.types)
        self.parts = Summaries(made.layout, made.parts)

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
            inline=bool(symbols) and not strong and any(map(_is_written, members)),
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
    if not is_decorated(name.spelling):
        return ()
    from abistore.model.names.microsoft import is_private, qualified_name  # ELF files have none

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
            return ShapeClues(mentions, holds=smart, shows=shown_by(shape))
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


def shown_by(shape: Record) -> tuple[Name, ...] | None:
    """What the members of ``shape`` mention that are not private; ``None`` where none is."""
    fields = tuple(each for each in shape.fields if each.access != "private")
    bases = tuple(each for each in shape.bases if each.access != "private")
    if len(fields) + len(bases) == len(shape.fields) + len(shape.bases):
        return None
    open = msgspec.structs.replace(shape, fields=fields, bases=bases)
    return tuple(each for each, _ in references(open))


def _arguments(shape: Record | Foreign) -> tuple[Name, ...]:
    bare = (each.target if isinstance(each, Qualified) else each for each in shape.arguments)
    return tuple(each.name for each in bare if isinstance(each, Named))


def _pointee(type: TypeRef, levels: int) -> Iterator[Name]:
    while True:
        if isinstance(type, Pointer):
            levels -= 1
        elif not isinstance(type, Qualified):
            break
        type = type.target
    if not levels and isinstance(type, Named):
        yield type.name


_PREFIX: Final = pattern(r"_+[A-Za-z0-9]+_(?=\w)")


class PublicHeaders(Derived):
    """Which headers only the library's own sources need.

    Public are the headers in an ``include`` folder that declare some of what is exported. Headers beside that folder
    are not, as long as nothing public needs what they declare: a type that a public header's types embed, derive from
    or write down by an alias or as an enum, or that its functions take by value, or that C functions are given and
    nothing hands out. Behind a pointer a record needs no more than its name, unless an inline destructor deletes it.
    C functions that are known by their definition only may be public: they need every record that they mention. Where
    most of these do with the public headers, the few that do not are internal themselves. Everything that a header
    declares is as public as the header. Where one header beside the folder is needed, the folder is not all that is
    installed, and tells of no other.
    """

    def __init__(self, clues: HeaderClues) -> None:
        self._clues = clues

    def hides(self, name: Name) -> bool:
        """Whether ``name`` is declared in such a header, as far as is known."""
        return self.header(name) != ""

    def header(self, name: Name) -> str:
        """The header that is not public and declares ``name``, or must be included to declare it; empty without one.

        A C++ function of which the definition alone is known stands in a public header only if that can do with what
        the function's types need.
        """
        file = self.file(name)
        if not is_source(file):
            return file if may_be_private(file) and file in self.hidden else ""
        if not is_mangled(name.spelling):
            beside = self._internal_functions.get(name, "") or self._private_prefixes.get(_prefix(name), "")
            return beside if beside in self.hidden else ""
        if any(may_be_private(each) and not is_source(each) for each in map(self.file, self._clues.mentioned(name))):
            needed = {self.file(other) for other, _ in self._needed(name, False)} & self.hidden
            if needed:
                return min(needed)
        return ""

    def file(self, name: Name) -> str:
        """The file that declares ``name``, the class for members; empty where it is not known."""
        return self._clues.names[name].file

    @cached_property
    def hidden(self) -> frozenset[str]:
        """The paths of the headers that consumers cannot include; none where something public needs one of them."""
        place = self._place
        public = (name for name in (self._clues.names if place else ()) if self._is_public(name, place))
        pending = [(name, False) for name in public if name not in self._internal_functions]
        seen = set(pending)
        while pending:
            come = set(self._needed(*pending.pop())) - seen
            if any(name in place for name, _ in come):
                return frozenset()
            seen |= come
            pending += come
        return frozenset(place.values())

    @cached_property
    def _place(self) -> Mapping[Name, str]:
        """What headers beside ``include`` folders declare, each with its header."""
        roots = self._roots()
        files = ((name, self.file(name)) for name in (self._clues.names if roots else ()))
        return {
            name: file for name, file in files if is_own_header(file) and any(is_beside(file, each) for each in roots)
        }

    @cached_property
    def _internal_functions(self) -> Mapping[Name, str]:
        """The C functions that need a header beside their sources, each with one, where most need none.

        All are known by their definition only. ``int compare(struct node, struct node)`` is declared beside ``node``,
        and not in the header of ``parser *parser_new(void)``. A header in a folder without sources may be installed.
        """
        if not self._place:
            return {}
        public, needing, sources = 0, dict[Name, str](), set[str]()
        for name in self._clues.names:
            file = self.file(name)
            if name.kind == "function" and not is_mangled(name.spelling) and is_source(file):
                sources.add(_folder(file))
                headers = [self._place[each] for each, _ in self._needed(name, False) if each in self._place]
                if headers:
                    needing[name] = min(headers)
                elif any(include_root(self.file(each)) is not None for each in self._clues.mentioned(name)):
                    public += 1
        beside = {name: header for name, header in needing.items() if _folder(header) in sources}
        return beside if public > len(needing) else {}

    @cached_property
    def _private_prefixes(self) -> Mapping[str, str]:
        """Prefixes such as ``_lib_`` of functions that are all private, each with a hidden header.

        So they are beside functions with ``lib_`` where a hidden header declares some, or has what these need, and a
        public one declares none: what the others take says nothing about who may call them. Tags of structures are no
        functions (``typedef struct _lib_list {} lib_list``).
        """
        headers = dict[str, set[str]]()
        functions = [name for name in self._clues.names if name.kind == "function"] if self.hidden else []
        for name in functions:
            if prefix := _prefix(name):
                headers.setdefault(prefix, set()).add(self._internal_functions.get(name) or self.file(name))
        private = {
            prefix: min(hidden)
            for prefix, files in headers.items()
            if (hidden := files & self.hidden) and all(include_root(file) is None for file in files)
        }
        plain = {each for each in private if any(name.spelling.startswith(each.lstrip("_")) for name in functions)}
        return {prefix: private[prefix] for prefix in plain}

    def _roots(self) -> frozenset[str]:
        """The folders around ``include`` folders with a header that declares an export, or a type that exports use.

        Headers of which inline functions alone are exported may be another project's, which this one brings along. What
        C++ functions use tells where most of those that are known by their definition need no header elsewhere.
        """
        if all(include_root(file) is None for file in set(self._clues.files.values())):
            return frozenset()
        found, used, alone, elsewhere = set[str](), set[str](), 0, 0
        for name in self._clues.names:
            if name.kind not in ("function", "variable") or not self._clues.names[name].strong:
                continue
            mentioned = set(map(self.file, self._clues.mentioned(name)))
            roots = {root for file in mentioned if (root := include_root(file)) is not None}
            own = include_root(self.file(name))
            found |= set() if own is None else {own}
            if not is_mangled(name.spelling):
                found |= roots
            elif any(is_own_header(file) and include_root(file) is None for file in mentioned):
                elsewhere += 1
            elif roots:
                used, alone = used | roots, alone + 1
        return frozenset(found | used if alone > elsewhere else found)

    def _is_public(self, name: Name, place: Mapping[Name, str]) -> bool:
        """Whether consumers may use ``name`` itself: exports and types of public headers, C functions from anywhere.

        A public header defines a template, and not its instance for a type that stands elsewhere.
        """
        if name in place or self._is_instance_for(name, place):
            return False
        return include_root(self.file(name)) is not None or (
            name.kind in ("function", "variable") and not is_mangled(name.spelling)
        )

    def _is_instance_for(self, name: Name, place: Mapping[Name, str]) -> bool:
        """Whether ``name`` is an instance of a template for a type in ``place``, or for such an instance."""
        pending, seen = [name], {name}
        while pending:
            come = {each for type in self._clues.types[pending.pop()] for each in type.arguments} - seen
            if not place.keys().isdisjoint(come):
                return True
            pending += come
            seen |= come
        return False

    def _needed(self, name: Name, complete: bool) -> Iterator[tuple[Name, bool]]:
        """What a header that declares ``name`` has to include, and whether with its definition.

        Who only points to an alias, not ``complete``, needs no definition of the record that it stands for. What source
        files define, no header can use.
        """
        exported = name.kind in ("function", "variable")
        file = self.file(name)
        if is_source(file) and not exported:
            return
        plain = exported and not is_mangled(name.spelling)
        unknown = plain and include_root(file) is None
        for part in self._clues.parts[name]:
            tags = () if complete or part.stands_for is None else part.stands_for
            for other, by_value in part.mentions:
                defined = by_value and other not in tags
                if defined or unknown or other.kind != "record":
                    yield other, defined
            if name not in self._destroyed_inside:
                yield from ((each, True) for held in part.holds for each in self._deleted_by(held))
            if plain:
                yield from ((each, True) for each in part.takes if each not in self._given)

    def _deleted_by(self, pointer: Name) -> Iterator[Name]:
        """What a ``std::unique_ptr`` deletes: inline destructors need its definition."""
        return (type.first for type in self._clues.types[pointer] if type.first is not None)

    @cached_property
    def _destroyed_inside(self) -> frozenset[Name]:
        strong = (name for name in self._clues.names if self._clues.names[name].strong)
        return frozenset(
            part.destroys for name in strong for part in self._clues.parts[name] if part.destroys is not None
        )

    @cached_property
    def _given(self) -> frozenset[Name]:
        """The records that C functions hand out: they return a pointer to one, or fill one in."""
        plain = (name for name in self._clues.names if name.kind == "function" and not is_mangled(name.spelling))
        return frozenset(each for name in plain for part in self._clues.parts[name] for each in part.hands_out)


def _folder(file: str) -> str:
    return file.rpartition("/")[0]


def _prefix(name: Name) -> str:
    """``_lib_`` of the C function ``_lib_flush``; empty for names that begin with a letter, and for those of C++."""
    found = None if is_mangled(name.spelling) else _PREFIX.match(name.spelling)
    return found[0] if found else ""
