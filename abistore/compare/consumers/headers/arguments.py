"""The classes among the template arguments of a name, at any depth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from abistore.model.cpp_names.qualified import outside
from abistore.patterns import pattern

_CLASS: Final = pattern(r"(?<![\w:&(])[A-Za-z_]\w*(?:::[A-Za-z_]\w*)+")
"""A type in a namespace or class. What stands behind ``&`` or ``(`` is an object, a function or a value's type."""


def classes_among_arguments(qualified: str) -> Iterator[str]:
    """``geo::Box`` and ``geo::Walker`` of ``geo::List<geo::Box<geo::Walker>*>::clear``, without their own arguments.

    What is nested in an instance (``geo::Box<int>::Row``) is left out.
    """
    for token, begin, end in outside(qualified):
        if token == "<":
            yield from (match[0] for match in _CLASS.finditer(qualified, begin + 1, end - 1))
