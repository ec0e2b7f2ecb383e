"""Whether the library itself or programs construct the objects that it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from abistore.diffing.context import Context
from abistore.diffing.headers import is_provided, library_constructs, takes
from abistore.diffing.side import SideFacts
from abistore.diffing.surface.public_headers import shown_by
from abistore.model.declarations import COPIED, Changed, Declared, Kind, Name
from abistore.model.names.qualified import last_component, plain_template, scope
from abistore.model.shapes import (
    Alias,
    Enum,
    Foreign,
    Function,
    Method,
    Named,
    Opaque,
    Pointer,
    Record,
    TypeRef,
    Variable,
)
from abistore.model.structure import embedded
from abistore.patterns import pattern


def is_only_private(name: Name, side: SideFacts) -> bool:
    """Whether a type has no definition, and private members of classes alone mention it, or other names of it."""
    if not _is_incomplete(name, side):
        return False
    users = list(side.reach.users(name))
    return bool(users) and all(_mentions_privately(user, name, side) for user in users)


def _is_incomplete(name: Name, side: SideFacts) -> bool:
    bare = side.types.bare(Named(name))[0]
    found = side.snapshot.described(bare.name) if isinstance(bare, Named) else ()
    return bool(found) and all(isinstance(shape, Opaque) for shape in found)


def _mentions_privately(user: Name, name: Name, side: SideFacts) -> bool:
    for shape in side.variants("source", user):
        match shape:
            case Record():
                shown = shown_by(shape)
                if shown is None or name in shown:
                    return False
            case Alias():
                return user == name or is_only_private(user, side)
            case Function(method=Method(access="private")) | Variable(access="private") | Declared():
                pass
            case _:
                return False
    return True


def programs_make(record: Changed[Record], context: Context) -> bool:
    """Whether the library may be handed objects of the old ``record`` that programs made without its help.

    They do not where the library allocates each object, or each is made by a constructor that both releases export: the
    new one sets new fields, too.
    """
    name = record.subject.name
    if context.old.consumers.library_allocates(name) and not _may_be_constructed(name, context.old):
        return False
    return not library_constructs(record, context)


def _may_be_constructed(name: Name, side: SideFacts) -> bool:
    """Whether a class may have constructors in its header, which no symbol and no signature tells.

    A struct without member functions is made as signatures tell, as in C.
    """
    return bool(side.tables.methods(name)) and not side.consumers.offers(name)


def library_reads(names: Iterable[Name], context: Context) -> bool:
    """Whether functions that both releases export, and no program has a copy of, read objects of these types.

    They get one by value or by address of what is ``const``, or are its member functions. What is behind other pointers
    may be to fill in. Constructors and destructors look at what they made.
    """
    every = set(names)
    users = {user for each in every for user in context.old.reach.users(each) if user.kind == "function"}
    return any(_is_reached(user, context) and _is_read(user, every, context.old) for user in users)


def _is_reached(export: Name, context: Context) -> bool:
    return context.exported(export) and context.old.consumers.can_name(export) and not context.has_own_copy(export)


def _is_read(export: Name, names: set[Name], side: SideFacts) -> bool:
    functions = [shape for shape in side.snapshot.described(export) if isinstance(shape, Function)]
    return any(_reads(each, names, side) for each in functions)


def _reads(function: Function, names: set[Name], side: SideFacts) -> bool:
    method, own = function.method, last_component(function.display)
    if method is not None and method.owner in names:
        if own.startswith("~") or own == last_component(scope(function.display)) or own == "operator=":
            return False
        if not method.static:
            return True
    return any(_is_handed(each, names, side) for each in function.parameters)


def _is_handed(parameter: TypeRef, names: set[Name], side: SideFacts) -> bool:
    """Whether a parameter is an object of one of these types, or the address of a constant one."""
    bare, _ = side.types.bare(parameter)
    qualifiers = frozenset({"const"})
    if isinstance(bare, Pointer):
        if bare.sort == "&&":
            qualifiers = frozenset()
        bare, own = side.types.bare(bare.target)
        if not qualifiers <= own:
            return False
    return isinstance(bare, Named) and bare.name in names


RESERVED = pattern(r"_[A-Z_]")
"""How names begin that only the implementation of the language may use (C++ standard, lex.name)."""

_TYPES: tuple[Kind, ...] = ("record", "enum")


def is_block_of_another(type: Changed[Foreign], context: Context) -> bool:
    """Whether a type is a class that only the standard library may name, and differs as what it was made for differs.

    ``std::make_shared<Impl>()`` allocates a ``std::_Sp_counted_ptr_inplace<Impl>``, in which ``Impl`` lies. Whoever
    called it destroys the block too, through the vtable that came with it; what ``Impl`` means for programs is told of
    ``Impl``. Where a declaration of the library holds the block by value it is none.
    """
    name = type.subject.name
    if not any(RESERVED.match(last_component(each)) for each in _classes(name.spelling)):
        return False
    if context.old.consumers.hold_beyond_standard(name):
        return False
    return any(_differs(each, context) for each in _arguments(name.spelling))


def _classes(spelling: str) -> Iterator[str]:
    """A class and the class templates around it: namespaces of reserved names (``std::__1``) have public classes."""
    yield spelling
    while (spelling := scope(spelling)).endswith(">"):
        yield spelling


def _arguments(spelling: str) -> Iterator[Name]:
    for each in _classes(spelling):
        _, arguments = plain_template(each) or ("", [])
        yield from (Name(kind, word.removeprefix("const ")) for word in arguments for kind in _TYPES)


def _differs(name: Name, context: Context) -> bool:
    old, new = (_storage(side.shape(name)) for side in (context.old, context.new))
    return None not in (old, new) and old != new


def _storage(shape: object) -> tuple[int | None, int | None] | None:
    if not isinstance(shape, Record | Foreign | Enum) or shape.size is None:
        return None
    return shape.size, getattr(shape, "alignment", None)


def leaves_uninitialized(record: Changed[Record], context: Context) -> bool:
    """Whether the library reads objects of the old ``record`` in whose padding programs leave what lay there.

    A constructor that was compiled into programs, written in a header or by the compiler, gives members their first
    values and nothing else. It runs for objects of what embeds the class, too, where these have such constructors.
    Where nothing has a first value, programs may clear objects as in C, or by ``T{}``. Headers alone tell.
    """
    name, side = record.subject.name, context.old
    if not _sets_members(name, side) or not programs_make(record, context):
        return False
    made = _made_with(name, side)
    return any(_is_open(each, side) for each in made) and library_reads(made, context)


def _sets_members(name: Name, side: SideFacts) -> bool:
    """Whether code in programs gives members of a class their first values, and is no copy of an object."""
    if not side.consumers.offers(name) or "<" in name.spelling:
        return False
    provided = list(_provided(name, side))
    valued = any(each.expressions for each in _texts(name, side))
    if not provided:
        return valued
    compiled = (each for each in _compiled(provided, name, side) if not any(True for _ in _called(each, name, side)))
    return any(valued or _has_member_list(each, name, side) for each in compiled)


def _is_compiled_in(name: Name, side: SideFacts) -> bool:
    """Whether programs have a constructor of a class compiled in: one of a header, or the compiler's where none is."""
    provided = list(_provided(name, side))
    return not provided or any(True for _ in _compiled(provided, name, side))


def _provided(name: Name, side: SideFacts) -> Iterator[tuple[Name, Function]]:
    """The constructors that headers write down, but for those that copy; files have what compilers write, too."""
    for each, shapes in side.tables.constructors(name).items():
        if side.variants("source", each) and is_provided(shapes[0]) and not takes(shapes[0], name):
            yield each, shapes[0]


def _compiled(constructors: Iterable[tuple[Name, Function]], name: Name, side: SideFacts) -> Iterator[Name]:
    """Those that stand in a header, for everybody who makes or derives from an object, and leave it to no other."""
    for each, shape in constructors:
        reachable = shape.method is not None and shape.method.access != "private"
        if reachable and _is_inline(each, side) and shape.display not in _called(each, name, side):
            yield each


def _called(constructor: Name, name: Name, side: SideFacts) -> Iterator[str]:
    """The constructors and member functions that the library has of a class and a constructor's code calls.

    They may set what programs do not know.
    """
    bodies = (text.body for text in _texts(constructor, side) if text.body is not None)
    for called in (Name("function", each) for body in bodies for each in body.calls):
        for shape in side.snapshot.described(called):
            if isinstance(shape, Function) and shape.method is not None and shape.method.owner == name:
                yield from () if shape.method.static or _is_inline(called, side) else (shape.display,)


def _is_inline(function: Name, side: SideFacts) -> bool:
    return any(not COPIED.isdisjoint(text.traits) for text in _texts(function, side))


def _has_member_list(constructor: Name, name: Name, side: SideFacts) -> bool:
    """Whether the code of a constructor names members of its class, which a call that clears all bytes does not."""
    bodies = (text.body for text in _texts(constructor, side) if text.body is not None)
    return any(member.startswith(f"{name.spelling}::") for body in bodies for member in body.members)


def _made_with(name: Name, side: SideFacts) -> set[Name]:
    """The class, and what embeds it or derives from it and is constructed by programs along with it."""
    pending, found, seen = [name], {name}, {name}
    while pending:
        each = pending.pop()
        for user in side.reach.users(each):
            if user in seen or user.kind not in ("record", "alias"):
                continue
            seen.add(user)
            if not any(each in embedded(shape) for shape in side.snapshot.described(user)):
                continue
            if user.kind == "alias" or _is_compiled_in(user, side):
                pending.append(user)
                found.add(user)
    return {each for each in found if each.kind == "record"}


def _is_open(name: Name, side: SideFacts) -> bool:
    """Whether programs can make a whole object of a class: it is no base for others only."""
    if not side.consumers.offers(name) or any("abstract" in each.traits for each in _texts(name, side)):
        return False
    shape = side.shape(name)
    if isinstance(shape, Record) and shape.access != "public":
        return False
    methods = [shape.method for _, shape in _provided(name, side)]
    return not methods or any(each is not None and each.access == "public" for each in methods)


def _texts(name: Name, side: SideFacts) -> Iterator[Declared]:
    return (shape for shape in side.variants("source", name) if isinstance(shape, Declared))
