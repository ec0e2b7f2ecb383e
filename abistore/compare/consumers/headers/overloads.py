"""The functions that public headers declare and people can call, with those of the same name beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from abistore.model.declared import Declared
from abistore.model.names import Name
from abistore.model.shapes import Function
from abistore.model.snapshot import Variants


class Overload(NamedTuple):
    """One function of a set: its symbol, its parameters, and how many of them a call must give."""

    name: Name
    function: Function
    required: int


def overload_sets(declared: Mapping[Name, Variants]) -> Mapping[Name, tuple[Overload, ...]]:
    """The functions that headers declare, by what a program calls them: ``function geo::norm``."""
    found: dict[str, list[Overload]] = {}
    for name, shapes in declared.items():
        function = next((each for each in shapes if isinstance(each, Function)), None)
        text = next((each for each in shapes if isinstance(each, Declared)), None)
        if name.kind != "function" or function is None or text is None or not _is_callable(function):
            continue
        given = [each.default is None for each in text.parameters]
        required = sum(given) if len(given) == len(function.parameters) else len(function.parameters)
        found.setdefault(function.display, []).append(Overload(name, function, required))
    return {Name("function", display): tuple(each) for display, each in found.items()}


def _is_callable(function: Function) -> bool:
    method = function.method
    return method is None or (method.access == "public" and not method.deleted)
