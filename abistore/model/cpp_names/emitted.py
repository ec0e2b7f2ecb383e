"""What compilers emit for one declaration: a class's tables and thunks, and the variants of a constructor."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.normal import normal_name
from abistore.model.cpp_names.qualified import entity, outermost, parameter_count, scope, without_arguments
from abistore.model.mangling.decorated import is_decorated
from abistore.model.mangling.symbols import (
    CLASS_DATA,
    CONSTRUCTION_VTABLE,
    HEAD,
    OF_CLASS,
    TYPEINFO,
    TYPEINFO_NAME,
    VTABLE,
    VTT,
    is_in_std,
    is_mangled,
    is_member_of_std,
    mangled_scope,
)
from abistore.model.names import Name
from abistore.patterns import pattern

_CODE: Final = pattern(r"C[1-3](?=[EIB])|CI[1-3](?=[\dNS])|D[0-2](?=[EB])")
"""What may stand for the name of a constructor or destructor (Itanium C++ ABI, section 5.1.4.3)."""

_CODES: Final = tuple(tuple(codes.split()) for codes in ("C1 C2 C3", "CI1 CI2 CI3", "D1 D2 D0"))
_TABLES: Final = (VTABLE, TYPEINFO, TYPEINFO_NAME, VTT)


def class_behind(symbol: str) -> str:
    """The class that ``symbol`` is emitted for, as ``geo::Shape`` for ``_ZTVN3geo5ShapeE``; empty for any other."""
    if not symbol.startswith(OF_CLASS):
        return ""
    if is_decorated(symbol):
        from abistore.model.mangling.microsoft import class_of  # ELF files have none

        return normal_name(class_of(symbol))
    subject = entity(demangle(symbol))
    return subject if symbol.startswith(CLASS_DATA) else scope(subject)


def outermost_of(symbol: str) -> str:
    """The outermost namespace or class of what ``symbol`` names; empty at global scope.

    Members of what has a plain name tell it without being demangled, and so do those of ``std``.
    """
    if is_member_of_std(symbol) or is_in_std(symbol):
        return "std"
    found, _ = mangled_scope(symbol)
    tagged = symbol.startswith("B", symbol.find(found) + len(found))
    return found if found and not tagged and not found.startswith("_GLOBAL__N") else outermost(demangle(symbol))


def siblings(symbol: str) -> tuple[str, ...]:
    """The symbols that compilers emit together with ``symbol`` for one declaration, the one that stands for all first.

    A vtable with its typeinfo, the ``C1`` and ``C2`` of a constructor, the ``D1``, ``D2`` and ``D0`` of a destructor.
    """
    if symbol.startswith(CLASS_DATA):
        alone = symbol.startswith(CONSTRUCTION_VTABLE) or is_decorated(symbol)
        return (symbol,) if alone else tuple(table + symbol[len(VTABLE) :] for table in _TABLES)
    found = _code(symbol)
    if found is None:
        return (symbol,)
    codes = next(codes for codes in _CODES if found[0] in codes)
    return tuple(f"{symbol[: found.start()]}{code}{symbol[found.end() :]}" for code in codes)


@lru_cache(1 << 14)
def template_behind(name: Name) -> str:
    """What the instances of one template have in common, as ``lib::Vec<...>::push/1`` for ``lib::Vec<int>::push(int)``.

    Overloads are told apart by how many parameters they have. Empty for what is no instance.
    """
    text = demangle(name.spelling)
    if "<" not in text:
        return ""
    qualified = entity(text)
    erased = without_arguments(qualified)
    if erased == qualified:
        return ""
    if name.kind not in ("function", "variable"):
        return erased
    tail = text.partition(qualified)[2]
    return f"{erased}/{parameter_count(tail)} {tail.rpartition(')')[2]} {variant(name.spelling)}"


def variant(symbol: str) -> str:
    """What tells a symbol from others that are demangled to the same: ``C2``, or ``Thn16_`` and ``D0``."""
    head, found = HEAD.match(symbol), _code(symbol)
    end = 0 if head is None else head.start("nested") if head["nested"] else head.end()
    return symbol[:end] + (found[0] if found else "")


def _code(symbol: str) -> re.Match[str] | None:
    """Where a symbol says which variant of a constructor or destructor it is: with another code it is called the same.

    The same letters within an identifier are part of its name.
    """
    for found in reversed(list(_CODE.finditer(symbol)) if is_mangled(symbol) else ()):
        other = found[0][:-1] + ("1" if found[0].endswith("2") else "2")
        if demangle(f"{symbol[: found.start()]}{other}{symbol[found.end() :]}") == demangle(symbol):
            return found
    return None
