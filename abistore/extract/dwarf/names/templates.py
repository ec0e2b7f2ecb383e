"""Template names in normal form, cached by argument: most names repeat the same arguments."""

from __future__ import annotations

import re
from typing import Final

from abistore.model.cpp_names.normal import normal_name

_MARKS: Final = re.compile(r"[<>,(){}]")
_UNUSUAL: Final = re.compile(r"operator(?!\(\))|->|['\"]|(?<!\w)<", re.ASCII)
"""Where ``<``, ``>`` and ``,`` may be something else than those of argument lists, even outside parentheses."""


class TemplateNames:
    """Gives what :func:`normal_name` gives for names as debug information spells them, and remembers their parts."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._arguments: dict[str, str] = {}

    def normal(self, name: str) -> str:
        """The normal form of an unqualified or qualified name."""
        found = self._names.get(name)
        if found is None:
            parts = split(name) if name[-1:] == ">" else None
            found = normal_name(name) if parts is None else self._join(*parts)
            self._names[name] = self._names[found] = found
        return found

    def _join(self, head: str, arguments: list[str]) -> str:
        return f"{head}<{', '.join([self._argument(argument) for argument in arguments])}>"

    def _argument(self, text: str) -> str:
        found = self._arguments.get(text)
        if found is None:
            parts = split(text) if text[-1:] == ">" else None
            # An argument that is no plain template is read in its place, not as a name: it may be a type or a value.
            found = normal_name(f"T<{text}>")[2:-1] if parts is None else self._join(*parts)
            self._arguments[text] = found
        return found


def split(text: str) -> tuple[str, list[str]] | None:
    """The name and the arguments of a plain ``name<arguments>``; ``None`` for whatever is not so plain."""
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
    head = text[:first]
    if depth or enclosed or not all(arguments) or not _is_plain(head):
        return None
    return head, arguments


def _is_plain(head: str) -> bool:
    return head.replace("::", "").isidentifier() and normal_name(head) == head
