"""Whether two texts of a constant say the same: ``16``, ``0x10`` and ``(1 << 4)``; ``1ULL`` and ``1llu``."""

from __future__ import annotations

from typing import Final

from abistore.patterns import pattern

TOKEN: Final = pattern(
    r"""(?P<number>(?:0[xX][\da-fA-F']+|0[bB][01']+|\d[\d']*)[uUlLzZ]*(?![\w.']))"""
    r"""|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[A-Za-z_$][\w$]*|\.?\d[\w.']*|<<|>>|\S"""
)
MOST: Final = 256
"""A longer text is compared as it is: the values of constants are short."""

INT: Final = 1 << 31
"""The first number that no ``int`` of 32 bits holds; up to there the radix of a literal does not change its type."""


def is_same_value(old: str, new: str) -> bool:
    """Whether both texts are one value of one type, as far as the texts themselves tell."""
    if old == new:
        return True
    return max(len(old), len(new)) <= MOST and _normal(old) == _normal(new)


def _normal(text: str) -> int | tuple[str, ...]:
    """The value of an expression of plain ``int`` literals; of any other its tokens, literals in one spelling."""
    tokens = [_literal(match["number"]) if match["number"] else match[0] for match in TOKEN.finditer(text)]
    value = _evaluated(tokens)
    return tuple(_unwrapped(tokens)) if value is None else value


def _literal(text: str) -> str:
    digits = text.rstrip("uUlLzZ")
    suffix = "".join(sorted(text[len(digits) :].lower()))
    digits = digits.replace("'", "").lower()
    radix = {"0x": 16, "0b": 2}.get(digits[:2], 8 if len(digits) > 1 and digits[0] == "0" else 10)
    try:
        value = int(digits, radix)
    except ValueError:
        return text
    return f"{value if value < INT or radix == 10 else hex(value)}{suffix}"


def _unwrapped(tokens: list[str]) -> list[str]:
    """The tokens without parentheses around all of them."""
    while len(tokens) > 2 and tokens[0] == "(" and tokens[-1] == ")" and _encloses(tokens):
        tokens = tokens[1:-1]
    return tokens


def _encloses(tokens: list[str]) -> bool:
    depth = 0
    for place, token in enumerate(tokens):
        depth += (token == "(") - (token == ")")
        if not depth:
            return place == len(tokens) - 1
    return False


# --- arithmetic ---------------------------------------------------------------------------------------------------


def _evaluated(tokens: list[str]) -> int | None:
    """The value, where all of it is arithmetic of ``int`` in which nothing overflows; else ``None``."""
    if not all(token.isdecimal() or token in {*"()+-*&|^~", "<<", ">>"} for token in tokens):
        return None
    import ast  # for constants that differ in their text

    try:
        tree = ast.parse(" ".join(tokens), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None

    def value(node: ast.expr) -> int:
        match node:
            case ast.Constant(value=int(found)):
                return _checked(found)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return _checked(-value(operand))
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return value(operand)
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                return ~value(operand)
            case ast.BinOp(left=left, op=op, right=right):
                return _checked(_combined(type(op).__name__, value(left), value(right)))
        raise OverflowError

    try:
        return value(tree.body)
    except OverflowError:
        return None


def _combined(operator: str, left: int, right: int) -> int:
    if operator in ("LShift", "RShift"):
        if left < 0 or not 0 <= right < 31:
            raise OverflowError
        return left << right if operator == "LShift" else left >> right
    found = {
        "Add": left + right,
        "Sub": left - right,
        "Mult": left * right,
        "BitAnd": left & right,
        "BitOr": left | right,
        "BitXor": left ^ right,
    }.get(operator)
    if found is None:
        raise OverflowError
    return found


def _checked(value: int) -> int:
    """``value``, where an ``int`` holds it. Raises :class:`OverflowError`."""
    if not -INT <= value < INT:
        raise OverflowError
    return value
