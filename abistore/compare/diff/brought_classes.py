"""Classes that nothing describes and of which the library gets objects from programs: interfaces, as it seems.

Compilers write down of a class with pure functions alone what they write of a handle. But a library implements its
handles, so that a unit describes them, and gives them away.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from abistore.model.layout.undescribed import declared_only, own_classes
from abistore.model.mangling.symbols import is_mangled
from abistore.model.names import Name
from abistore.model.references import references
from abistore.model.shapes import Function, Record, TypeRef, Variable

if TYPE_CHECKING:
    from abistore.compare.side import SideFacts


def brought_classes(side: SideFacts) -> frozenset[Name]:
    """Those of one side."""
    snapshot = side.snapshot
    declared = [name for name in declared_only(snapshot) if name not in side.undescribed and "<" not in name.spelling]
    return frozenset(name for name in own_classes(declared, snapshot) if _is_brought(name, side))


def _is_brought(name: Name, side: SideFacts) -> bool:
    """Whether functions of C++ take objects of the class, and nothing gives them away; who keeps one is left out."""
    ways = {way for user in side.reach.users(name) for way in _ways(user, name, side)}
    return ways == {"in"}


def _ways(user: Name, name: Name, side: SideFacts) -> Iterator[str]:
    if user.kind == "alias":
        yield "out"
    for shape in side.variants("layout", user):
        match shape:
            case Function():
                yield from _called(shape.result, shape.parameters, name, side)
                yield "in" if is_mangled(user.spelling) else "out"
            case Variable():
                yield "out"
            case Record():
                for method in shape.virtuals:
                    yield from _called(method.result, method.parameters, name, side)


def _called(result: TypeRef, parameters: tuple[TypeRef, ...], name: Name, side: SideFacts) -> Iterator[str]:
    """``out`` where a function returns an object of the class, or fills one in: a pointer to its address."""
    given = (each for each in parameters if side.types.pointee(each, 1) != name)
    if any(name in _mentioned(each) for each in (result, *given)):
        yield "out"


def _mentioned(type: TypeRef) -> set[Name]:
    return {each for each, _ in references(Variable("", type))}
