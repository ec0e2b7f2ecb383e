"""Types that the mangled name of a function spells: while the symbol stays, they are the same types.

Where debug information disagrees, one compiler described a type in another way: Clang calls a closure ``{lambda}`` and
nothing more, and places a typedef of a class that a unit does not define outside of it. What changed *within* a type
that kept its name is a finding of the type.
"""

from __future__ import annotations

from functools import lru_cache

from abistore.compare.context import Context
from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.qualified import entity
from abistore.model.mangling.symbols import is_declared, is_mangled
from abistore.model.names import Name
from abistore.model.shapes import Primitive, TypeRef


def spells_parameter(function: Name, old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether the function's symbol says which type a parameter has (Itanium C++ ABI 5.1.5, bare-function-type).

    Names of Visual C++ say it too.
    """
    return is_mangled(function.spelling) and not _are_built_in(old, new, context)


def spells_result(function: Name, old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether the function's symbol says which type it returns: those of instances of function templates do."""
    symbol = function.spelling
    return spells_parameter(function, old, new, context) and is_declared(symbol) and _begins_with_result(symbol)


def _are_built_in(old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether both are made of built-in types: options of compilers decide how wide ``wchar_t`` and the like are."""
    _, before = context.old.types.levels(old)
    _, after = context.new.types.levels(new)
    return isinstance(before, Primitive) and isinstance(after, Primitive)


@lru_cache(1 << 10)
def _begins_with_result(symbol: str) -> bool:
    told = demangle(symbol)
    return not told.startswith(entity(told))
