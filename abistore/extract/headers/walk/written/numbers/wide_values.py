"""Exact values of enumerators that have more than the 64 bits that libclang tells."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import Final

from msgspec.structs import replace

from abistore.model.shapes import Enum

TOLD: Final = 64
"""So many bits of a value libclang tells, the lowest."""

_CAST: Final = r"\(\s*(?:unsigned\s+|signed\s+)?__u?int128(?:_t)?(?:\s+unsigned|\s+signed)?\s*\)"
"""A cast to a type that holds every value. Others make an expression that is not understood."""

_SUFFIX: Final = r"\b(0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*)([uUlLzZ]*)\b"
_LONGEST: Final = 4096
_OPERATORS: Final[Mapping[type[ast.AST], Callable[..., int]]] = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul},
    **{ast.BitOr: operator.or_, ast.BitAnd: operator.and_, ast.BitXor: operator.xor},
    **{ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Invert: operator.invert},
}


def exact(enum: Enum, expressions: Mapping[str, str], *, signed: bool) -> Enum | None:
    """``enum`` with the values that the ``expressions`` of its enumerators have; ``None`` where one is not understood.

    ``signed`` is its underlying type. A value is understood only if its lowest bits are those that libclang tells.
    """
    bits = 8 * enum.size
    if bits <= TOLD:
        return enum
    known: dict[str, int] = {}
    value = -1
    for each in enum.enumerators:
        found = _value(expressions[each.name], known) if each.name in expressions else value + 1
        if found is None or (found - each.value) % (1 << TOLD):
            return None
        value = found % (1 << bits)
        if signed and value >> (bits - 1):
            value -= 1 << bits
        known[each.name] = value
    return replace(enum, enumerators=tuple([replace(each, value=known[each.name]) for each in enum.enumerators]))


def _value(text: str, known: Mapping[str, int]) -> int | None:
    """What a constant expression of wide integers and enumerators gives; ``None`` for any other."""
    if len(text) > _LONGEST or (re.search("[-~]", text) and any(map(_may_wrap, re.finditer(_SUFFIX, text)))):
        return None
    plain = re.sub(_SUFFIX, _number, re.sub(_CAST, " ", text))
    try:
        return _result(ast.parse(plain.strip(), mode="eval").body, known)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _may_wrap(match: re.Match[str]) -> bool:
    """Whether a number is unsigned and narrow, or may be, so that what it is subtracted from wraps too early."""
    return "u" in match[2].lower() or int(_number(match), 0) >= 1 << 31


def _number(match: re.Match[str]) -> str:
    digits = match[1].replace("'", "")
    octal = len(digits) > 1 and digits.isdigit() and digits.startswith("0")
    return f"0o{digits[1:]}" if octal else digits


def _result(node: ast.expr, known: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_result(operand, known))
        case ast.BinOp(left=left, op=ast.LShift(), right=right):
            return _result(left, known) << _places(_result(right, known))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_result(left, known), _result(right, known))
    raise ValueError(ast.dump(node))


def _places(count: int) -> int:
    if not 0 <= count < 2 * TOLD:
        raise ValueError(f"a shift by {count}")
    return count
