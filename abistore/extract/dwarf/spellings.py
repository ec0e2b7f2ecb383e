"""The qualified names of DIEs, in normal form."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from abistore.extract.dwarf import codes as dw
from abistore.extract.dwarf.templates import TemplateNames

if TYPE_CHECKING:
    from abistore.extract.dwarf.info import DebugInfo
    from abistore.extract.dwarf.scopes import Scope

SOURCE_NAME: Final = re.compile(r"[1-9][0-9]{0,3}")
ANONYMOUS_NAMESPACE: Final = "(anonymous namespace)"


class Spellings:
    """Names of DIEs by their scope: namespaces, classes, and functions as their name and ``()``.

    ``unnamed`` spells a class without a name of its own that is a scope of others.
    """

    def __init__(self, info: DebugInfo, unnamed: Callable[[int], str]) -> None:
        self._info = info
        self._unnamed = unnamed
        self._templates = TemplateNames()
        self._scopes: dict[Scope, str] = {(): ""}
        self._parts: dict[int, str] = {}

    def of(self, handle: int, attributes: dict[int, Any]) -> str | None:
        """The qualified name of ``handle``; ``None`` where it has no name."""
        name = attributes.get(dw.AT_NAME)
        if name is None:
            specification = attributes.get(dw.AT_SPECIFICATION, -1)
            if specification < 0:
                name = last_source_name(attributes.get(dw.AT_LINKAGE_NAME, ""))
                return self.qualify(handle, name) if name else None
            return self.of(specification, self._info.die(specification)[3])
        return self.qualify(handle, name)

    def qualify(self, handle: int, name: str) -> str:
        """``name`` in the scope of ``handle``."""
        return self.join(self._info.scope(handle), name)

    def join(self, scope: Scope, name: str) -> str:
        """``name`` in ``scope``."""
        if not name.isidentifier():
            name = self._templates.normal(name)
        return f"{self.spell(scope)}::{name}" if scope else name

    def spell(self, scope: Scope) -> str:
        """The qualified name of a scope; empty for the outermost."""
        found = self._scopes.get(scope)
        if found is None:
            last = scope[-1]
            found = self._part(last) if isinstance(last, int) else self.join(scope[:-1], last or ANONYMOUS_NAMESPACE)
            self._scopes[scope] = found
        return found

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


def last_source_name(mangled: str) -> str:
    """The last ``<source-name>`` of a mangled type name, empty where there is none (Itanium C++ ABI, 5.1.2).

    GCC writes the mangled name on a class that only a typedef names, and drops a typedef that nobody mentions.
    """
    end = mangled.removesuffix("E")
    for match in SOURCE_NAME.finditer(end):
        if match.end() + int(match[0]) == len(end):
            return end[match.end() :]
    return ""
