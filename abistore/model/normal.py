"""The normal form of spelled C and C++ names and built-in types: one spelling for what tools spell differently."""

from __future__ import annotations

from functools import lru_cache

from abistore.model.shapes import VOID, Array, Primitive, Qualified, TypeRef


@lru_cache(1 << 16)
def normal_name(text: str) -> str:
    """The normal form of a qualified name or built-in type as a compiler, debug information or demangler spells it."""
    return text.replace("> >", ">>").strip()


@lru_cache(1 << 10)
def primitive(text: str, size: int) -> Primitive:
    """The built-in type that ``text`` spells, ``size`` bytes long."""
    spelling = normal_name(text)
    return VOID if spelling == "void" else Primitive(spelling, size)


def qualified(target: TypeRef, qualifiers: tuple[str, ...]) -> TypeRef:
    """``target`` with ``qualifiers`` added: joined with those it has, and moved to the element of an array."""
    if not qualifiers:
        return target
    match target:
        case Qualified():
            return Qualified(target.target, tuple(sorted({*target.qualifiers, *qualifiers})))
        case Array(vector=False):
            return Array(qualified(target.element, qualifiers), target.count)
    return Qualified(target, tuple(sorted(set(qualifiers))))


def last_component(name: str) -> str:
    """The part of a normal name after its last ``::``, without template arguments and parameters."""
    depth = 0
    start = 0
    end = len(name)
    for position, character in enumerate(name):
        if character in "<([{":
            if depth == 0 and position > start:
                end = min(end, position)
            depth += 1
        elif character in ">)]}":
            depth -= 1
        elif character == ":" and depth == 0:
            start, end = position + 1, len(name)
    return name[start:end]
