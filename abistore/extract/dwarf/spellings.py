"""The qualified names of DIEs, in normal form."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from abistore.extract.dwarf import codes as dw
from abistore.model.normal import normal_name

if TYPE_CHECKING:
    from abistore.extract.dwarf.info import DebugInfo

ANONYMOUS_NAMESPACE = "(anonymous namespace)"


class Spellings:
    """Names of DIEs by their scope: namespaces, classes, and functions as their name and ``()``.

    ``unnamed`` spells a class without a name of its own that is a scope of others.
    """

    def __init__(self, info: DebugInfo, unnamed: Callable[[int], str]) -> None:
        self._info = info
        self._unnamed = unnamed
        self._scopes: dict[tuple[str | int, ...], str] = {(): ""}
        self._parts: dict[int, str] = {}

    def of(self, handle: int, attributes: dict[int, Any]) -> str | None:
        """The qualified name of ``handle``; ``None`` where it has no name."""
        name = attributes.get(dw.AT_NAME)
        if name is None:
            specification = attributes.get(dw.AT_SPECIFICATION, -1)
            if specification < 0:
                return None
            return self.of(specification, self._info.die(specification)[3])
        scope = self.scope(handle)
        return normal_name(f"{scope}::{name}" if scope else name)

    def scope(self, handle: int) -> str:
        """The spelled scope that ``handle`` is in; empty at the outermost."""
        scope = self._info.scope(handle)
        found = self._scopes.get(scope)
        if found is None:
            found = self._scopes[scope] = self._spell(scope)
        return found

    def _spell(self, scope: tuple[str | int, ...]) -> str:
        last = scope[-1]
        if isinstance(last, int):
            return self._part(last)
        outer = self._scopes.get(scope[:-1])
        if outer is None:
            outer = self._scopes[scope[:-1]] = self._spell(scope[:-1])
        last = last or ANONYMOUS_NAMESPACE
        return f"{outer}::{last}" if outer else last

    def _part(self, handle: int) -> str:
        """The qualified name of a class or function that is a scope."""
        found = self._parts.get(handle)
        if found is None:
            _, abbreviation, _, attributes = self._info.die(handle)
            while dw.AT_NAME not in attributes and attributes.get(dw.AT_ABSTRACT_ORIGIN, -1) >= 0:
                handle = attributes[dw.AT_ABSTRACT_ORIGIN]
                attributes = self._info.die(handle)[3]
            spelling = self.of(handle, attributes)
            if spelling is None:
                spelling = self._unnamed(handle)
            found = self._parts[handle] = f"{spelling}()" if abbreviation.tag == dw.TAG_SUBPROGRAM else spelling
        return found
