"""Classes of the standard library's inside, whose objects its own code makes and uses: control blocks and nodes."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.context import Context
from abistore.model.cpp_names.qualified import last_component, plain_template, scope
from abistore.model.deltas import Changed
from abistore.model.names import Kind, Name
from abistore.model.shapes import Enum, Foreign, Record
from abistore.patterns import pattern

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
    """The types that a class, or a class around it, is an instance for."""
    for each in _classes(spelling):
        _, arguments = plain_template(each) or ("", [])
        yield from (Name(kind, word.removeprefix("const ")) for word in arguments for kind in _TYPES)


def _differs(name: Name, context: Context) -> bool:
    """Whether objects of a type have another size or alignment in the new release."""
    old, new = (_storage(side.shape(name)) for side in (context.old, context.new))
    return None not in (old, new) and old != new


def _storage(shape: object) -> tuple[int | None, int | None] | None:
    if not isinstance(shape, Record | Foreign | Enum) or shape.size is None:
        return None
    return shape.size, getattr(shape, "alignment", None)
