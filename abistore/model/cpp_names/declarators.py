"""Types and their declarators, written as a C or C++ programmer writes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from abistore.model.shapes import (
    Array,
    Enum,
    Field,
    Inline,
    MemberPointer,
    Named,
    Pointer,
    Primitive,
    Procedure,
    Qualified,
    Record,
    Special,
    TypeRef,
)
from abistore.patterns import pattern

QUALIFIER_WORDS = {"atomic": "_Atomic"}
NAMELESS = "\0"
"""Stands for the name of a function type without one, so that its parameters are told from a grouped declarator."""

QUALIFIER = pattern(r"(?:_Atomic|const|restrict|volatile)\b")


def spell(type: TypeRef) -> str:
    """``type`` without a declarator's name: ``const char*``, ``int (*)(int)``."""
    return declare(type)


def declare(type: TypeRef, name: str = "") -> str:
    """``name`` declared with ``type`` in C declarator syntax: ``int (*handlers[4])(int)``."""
    return _declare(type, name).replace(NAMELESS, "")


def _declare(type: TypeRef, name: str) -> str:
    match type:
        case Named():
            return _joined(type.name.spelling, name)
        case Primitive() | Special():
            return _joined(type.spelling, name)
        case Inline():
            return _joined(_inline(type.shape), name)
        case Pointer():
            return _declare(type.target, _grouped(type.sort, name, type.target))
        case MemberPointer():
            return _declare(type.target, _grouped(f"{spell(type.owner)}::*", name, type.target))
        case Array(vector=True):
            return _joined(f"{spell(type.element)} __vector({type.count})", name)
        case Array():
            return _declare(type.element, f"{name}[{'' if type.count is None else type.count}]")
        case Procedure():
            return _declare(type.result, f"{name or NAMELESS}({_parameters(type.parameters, type.variadic)})")
        case Qualified():
            return _qualified(type, name)
        case _:
            assert_never(type)


def _joined(base: str, name: str) -> str:
    """A base type and a declarator: a pointer's mark and an array's bracket stand directly behind the type."""
    if not name:
        return base
    if name[0] in "*&":
        rest = name.lstrip("*&")
        marks = name[: len(name) - len(rest)]
        return f"{base}{marks}{' ' if rest[:1].isidentifier() else ''}{rest}"
    return f"{base}{name}" if name[0] in (NAMELESS, "[") else f"{base} {name}"


def _grouped(mark: str, name: str, target: TypeRef) -> str:
    inner = target.target if isinstance(target, Qualified) else target
    member = mark.endswith("::*") or "::*" in name.partition("(")[0]
    apart = QUALIFIER.match(name) is not None or (member and name[:1].isidentifier())
    spaced = f"{mark} {name}" if apart else f"{mark}{name}"
    return f"({spaced})" if isinstance(inner, Procedure) or (isinstance(inner, Array) and not inner.vector) else spaced


def _qualified(type: Qualified, name: str) -> str:
    words = " ".join(QUALIFIER_WORDS.get(word, word) for word in type.qualifiers if word[:1] != "&")
    match type.target:
        case Pointer() | MemberPointer():
            return _declare(type.target, _joined(words, name))
        case Procedure():
            called_on = "".join(word for word in type.qualifiers if word[:1] == "&")
            return f"{_declare(type.target, name)}{words and ' '}{words}{called_on}"
        case _:
            return f"{words} {_declare(type.target, name)}"


def _parameters(types: Iterable[TypeRef], variadic: bool) -> str:
    return listed(map(spell, types), variadic)


def listed(parameters: Iterable[str], variadic: bool) -> str:
    """Parameters between commas; ``...`` where there may be more."""
    return ", ".join([*parameters, *(["..."] if variadic else [])])


def _inline(shape: Record | Enum) -> str:
    if isinstance(shape, Enum):
        return f"enum {{ {', '.join(f'{item.name} = {item.value}' for item in shape.enumerators)} }}"
    fields = " ".join(f"{spelled_field(field)};" for field in shape.fields)
    return f"{shape.sort} {{ {fields} }}" if fields else f"{shape.sort} {{ }}"


def spelled_field(field: Field) -> str:
    """A field with its name, and its width where it is a bit-field."""
    text = declare(field.type, field.name)
    return text if field.bit_size is None else f"{text}{' ' if field.name else ''}: {field.bit_size}"
