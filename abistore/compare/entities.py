"""What a mangled symbol is about: its qualified name, its outermost namespace, whether others emit it too."""

from __future__ import annotations

import re

from abistore.model.shapes import Symbol
from abistore.model.snapshot import Variants

CLASS_DATA = ("_ZTV", "_ZTT", "_ZTI", "_ZTS", "_ZTC")
"""Prefixes of a class's vtable, VTT, typeinfo, typeinfo name and construction vtables: emitted once for a class."""

PREFIX = re.compile(
    r"^(?:vtable for |VTT for |typeinfo (?:name )?for |guard variable for |construction vtable for "
    r"|(?:non- ?virtual|virtual|covariant return) thunk to |TLS (?:init|wrapper) function for )+"
)


def entity(demangled: str) -> str:
    """The qualified name that a demangled symbol is about: without ``vtable for``, result type and parameters."""
    text = PREFIX.sub("", demangled)
    depth, start = 0, 0
    for index, char in enumerate(text):
        if char == "<":
            depth += 1
        elif char == ">" and not (index and text[index - 1] == "-"):
            depth -= 1
        elif depth == 0 and char == " " and not text[start:index].endswith("operator"):
            start = index + 1
        elif depth == 0 and char == "(" and not text.startswith("(anonymous namespace)", index):
            return text[start:index]
    return text[start:]


MANGLED = re.compile(r"_Z(?:T[VTISC]|GV|T[hvc][n\d_]+)*N[rVKRO]*(\d{1,9})", re.ASCII)


def mangled_scope(symbol: str) -> tuple[str, bool]:
    """The outermost namespace or class of a mangled name, and whether it shows to be a class; empty for none.

    A constructor, destructor or template argument right after the name tells a class. Nothing is demangled.
    """
    match = MANGLED.match(symbol)
    if match is None:
        return "", False
    end = match.end() + int(match[1])
    name, rest = symbol[match.end() : end], symbol[end:]
    return name, rest.startswith("I") or re.match(r"C[1-3]|D[0-2]", rest) is not None


def template_of(qualified: str) -> tuple[str, str]:
    """The last template in a qualified name and its arguments: ``ns::Box``, ``<int>``; no arguments where none is."""
    end = qualified.rfind(">")
    if end < 0 or qualified[end - 1 : end] == "-" or qualified[: end + 1].endswith(("operator>", "operator>>")):
        return qualified, ""
    depth = 0
    for index in range(end, -1, -1):
        if qualified[index] == ">" and qualified[index - 1] != "-":
            depth += 1
        elif qualified[index] == "<":
            depth -= 1
            if depth == 0:
                return qualified[:index], qualified[index : end + 1]
    return qualified, ""


def scope(qualified: str) -> str:
    """The namespace or class that a qualified name stands in; empty for the global namespace."""
    depth = 0
    for index in range(len(qualified) - 1, 0, -1):
        char = qualified[index]
        if char == ">" and qualified[index - 1] != "-":
            depth += 1
        elif char == "<":
            depth -= 1
        elif depth <= 0 and char == ":" and qualified[index - 1] == ":":
            return qualified[: index - 1]
    return ""


def top_level(demangled: str) -> str:
    """The outermost namespace or class of a demangled symbol; empty for a name at global scope."""
    return _outermost(entity(demangled))


def _outermost(qualified: str) -> str:
    match = re.match(r"[A-Za-z_]\w*", qualified)
    rest = qualified[match.end() :] if match else ""
    return match[0] if match and (rest.startswith("::") or rest.startswith("<")) else ""


def is_weak(symbols: Variants) -> bool:
    """Whether every version of an export is weak or unique: code that others may have compiled too."""
    return all(isinstance(shape, Symbol) and shape.binding in ("weak", "unique") for shape in symbols)
