"""Which objects programs construct by code that sets members one by one, and so never what came in the padding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from abistore.compare.classify.making.programs import programs_make
from abistore.compare.classify.making.read import library_reads
from abistore.compare.context import Context
from abistore.compare.diff.headers.constructed import is_provided, takes
from abistore.compare.side import SideFacts
from abistore.model.declared import COPIED, Declared
from abistore.model.deltas import Changed
from abistore.model.names import Name
from abistore.model.references import embedded
from abistore.model.shapes import Function, Record


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
