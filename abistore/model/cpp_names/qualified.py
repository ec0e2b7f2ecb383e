"""The parts of a qualified C++ name: its entity, scope, last component, template arguments and parameters.

Every function reads spelled names by :func:`outside`, which alone knows what is a bracket and what an operator.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from abistore.patterns import pattern

_TOKEN: Final = pattern(
    r"(?<!\w)operator *(?:\(\)|\[\]|<=>|->\*?|<<=?|>>=?|<=?|>=?)"  # no bracket among these
    r"|->|\(anonymous namespace\)|::|[<(\[{]|[>)\]}]| "
)
_CLOSES: Final = {">": "<", ")": "(", "]": "[", "}": "{"}

_SPECIAL: Final = pattern(
    r"^(?:vtable for |VTT for |typeinfo (?:name )?for |guard variable for |construction vtable for "
    r"|(?:non- ?virtual|virtual|covariant return) thunk to |TLS (?:init|wrapper) function for )+"
)
"""What demanglers write before the name that a compiler's own symbol is about."""

_PLAIN_ENTITY: Final = pattern(r"(?!.*operator)(?:[\w:~ ]* )?([\w:~]+)(?:\Z|\((?!anonymous namespace\)))", re.DOTALL)
"""What stands before the parameters of most symbols."""

_BRACKET: Final = pattern(r"[<(\[{>)\]}]")
_OPERATOR: Final = pattern(r"(?<!\w)operator(?!\w)")


def outside(text: str) -> Iterator[tuple[str, int, int]]:
    """The brackets, ``::`` and spaces of ``text`` that stand in no other brackets: each with its start and end.

    A bracket is yielded with its partner: ``("<", 3, 8)`` is ``<int>`` in ``Box<int>::x``. One without a partner ends
    with the text. The signs of ``operator<`` and ``->`` are none, nor is ``>`` in the parentheses of ``B<(a > b)>``.
    """
    opened: list[tuple[str, int]] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "<([{":
            opened.append((token, match.start()))
        elif token not in _CLOSES:
            if not opened and token[0] in ": ":
                yield token, match.start(), match.end()
        elif (partner := _partner(opened, token)) is not None:
            sign, start = opened[partner]
            del opened[partner:]
            if not opened:
                yield sign, start, match.end()
    if opened:
        yield opened[0][0], opened[0][1], len(text)


def _partner(opened: list[tuple[str, int]], token: str) -> int | None:
    """Which of the ``opened`` brackets ``token`` closes. ``<`` within parentheses may be a sign, and ends with them."""
    sign = _CLOSES[token]
    for place in range(len(opened) - 1, -1, -1):
        if opened[place][0] == sign:
            return place
        if token == ">" or opened[place][0] != "<":
            break
    return None


def entity(demangled: str) -> str:
    """The qualified name that a demangled symbol is about: without ``vtable for``, result type and parameters."""
    text = _SPECIAL.sub("", demangled)
    plain = _PLAIN_ENTITY.match(text)
    if plain is not None:
        return plain[1]
    start = 0
    for token, begin, end in outside(text):
        if token == "(":
            return text[start:begin]
        if token == " " and _OPERATOR.search(text, start, begin) is None:
            start = end
    return text[start:]


def template_of(qualified: str) -> tuple[str, str]:
    """The last template in a qualified name and its arguments: ``ns::Box``, ``<int>``; no arguments where none is."""
    *_, last = (None, *(each for each in outside(qualified) if each[0] == "<"))
    return (qualified, "") if last is None else (qualified[: last[1]], qualified[last[1] : last[2]])


def scope(qualified: str) -> str:
    """The namespace or class that a qualified name stands in; empty for the global namespace."""
    *_, last = (0, *(begin for token, begin, _ in outside(qualified) if token == "::"))
    return qualified[:last]


def outermost(demangled: str) -> str:
    """The outermost namespace or class of a demangled symbol; empty for a name at global scope."""
    qualified = entity(demangled)
    match = re.match(r"[A-Za-z_]\w*", qualified)
    return match[0] if match and qualified.startswith(("::", "<"), match.end()) else ""


def last_component(name: str) -> str:
    """The part of a normal name after its last ``::``, without template arguments and parameters."""
    tail = name[name.rfind(":") + 1 :]
    if _BRACKET.search(tail) is None and sum(map(name.count, "<([{")) == sum(map(name.count, ">)]}")):
        return tail
    return _last_component(name)


@lru_cache(1 << 10)
def _last_component(name: str) -> str:
    start, end = 0, len(name)
    for token, begin, after in outside(name):
        if token == "::":
            start, end = after, len(name)
        elif token != " " and begin > start:
            end = min(end, begin)
    return name[start:end]


def without_parameters(text: str) -> str:
    """``geo::norm`` of ``geo::norm(geo::Point const&) const``; a text without parameters as it is."""
    *_, last = (None, *((begin, end) for token, begin, end in outside(text) if token == "("))
    return text[: last[0]] if last and last[0] and text[: last[1]].endswith(")") else text


def parameter_count(parameters: str) -> int:
    """How many parameters a list in parentheses has, which stands first in the text."""
    lists = [(begin + 1, end - 1) for token, begin, end in outside(parameters) if token == "("]
    inner = parameters[slice(*lists[0])] if lists else ""
    within = sum(inner.count(",", begin, end) for _, begin, end in outside(inner))
    return 1 + inner.count(",") - within if inner else 0


def without_arguments(name: str, *, within: bool = True) -> str:
    """``geo::Box<...>::add(geo::Point<...>)`` of ``geo::Box<geo::Point<int>>::add(geo::Point<int>)``.

    Those of parameters too, unless ``within`` is false, and no deeper.
    """
    parts, place = [], 0
    for token, begin, end in outside(name):
        if token == "<":
            parts += [name[place:begin], "<...>"]
            place = end
        elif token == "(" and within:
            parts += [name[place : begin + 1], without_arguments(name[begin + 1 : end], within=False)]
            place = end
    return "".join([*parts, name[place:]])


CLOSURE: Final = "{lambda("
"""How the normal spelling of a closure begins where its parameters are told."""

UNTOLD_CLOSURE: Final = "{lambda}"
"""The normal spelling of a closure of which only a place in a file is told, as Clang does."""


def number_closure(text: str, ordinal: int) -> str:
    """The spelling ``text`` of a closure, or of a pointer or reference to one, with the closure's number."""
    braces = [(begin, end - 1) for token, begin, end in outside(text) if token == "{" and text[end - 1] == "}"]
    closures = [each for each in braces if text.startswith(CLOSURE, each[0])]
    if not closures:
        return text
    start, end = closures[-1]
    return text if "#" in text[start:end] else f"{text[:end]}#{ordinal}{text[end:]}"


_MARKS: Final = pattern(r"[<>,(){}]")
_UNUSUAL: Final = pattern(r"operator(?!\(\))|->|['\"]|(?<!\w)<", re.ASCII)
"""Where ``<``, ``>`` and ``,`` may be something else than those of argument lists, even outside parentheses."""


def plain_template(text: str) -> tuple[str, list[str]] | None:
    """The name and the arguments of a plain ``name<arguments>``; ``None`` for whatever is not so plain.

    Debug information has a hundred thousand of these: they are read without a look at operators.
    """
    if _UNUSUAL.search(text):
        return None
    arguments: list[str] = []
    depth = enclosed = start = first = 0
    for match in _MARKS.finditer(text):
        mark, position = match[0], match.start()
        if mark in "({":
            enclosed += 1
        elif mark in ")}":
            enclosed -= 1
        elif enclosed:
            continue
        elif mark == "<":
            depth += 1
            if depth == 1:
                if arguments:
                    return None  # name<...>::name<...>
                first, start = position, position + 1
        elif depth == 0:
            return None
        elif mark == ">":
            depth -= 1
            if depth == 0:
                arguments.append(text[start:position].strip())
                if position != len(text) - 1:
                    return None
        elif depth == 1:
            arguments.append(text[start:position].strip())
            start = position + 1
    return None if depth or enclosed or not all(arguments) else (text[:first], arguments)
