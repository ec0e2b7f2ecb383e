"""The qualified names of DIEs, in normal form."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.names.templates import TemplateNames
from abistore.patterns import pattern

if TYPE_CHECKING:
    from abistore.extract.dwarf.entries.info import DebugInfo
    from abistore.extract.dwarf.entries.scopes import Scope

SOURCE_NAME: Final = pattern(r"[1-9][0-9]{0,3}")
ANONYMOUS_NAMESPACE: Final = "(anonymous namespace)"
C: Final = frozenset({0x01, 0x02, 0x0C, 0x1D, 0x2C, 0x3E})
"""DW_LANG_C89, C, C99, C11, C17 and C23."""

CPP: Final = frozenset({0x04, 0x19, 0x1A, 0x21, 0x2A, 0x2B, 0x3A})
"""DW_LANG_C_plus_plus, and its standards of 2003, 2011, 2014, 2017, 2020 and 2023."""
ARGUMENT_LISTS: Final = {"typedef __va_list_tag __va_list_tag": "__va_list_tag", "std::__va_list": "__va_list"}
"""What g++ calls the record behind ``va_list``, and Clang on Arm, by what C calls it."""

Completion: TypeAlias = "Callable[[DebugInfo, Spellings], NameCompleter]"
"""Makes what completes the names of one debug file."""


class NameCompleter(Protocol):
    """Completes the names of template instances whose spelling does not tell all arguments."""

    def name(self, handle: int, name: str, *, by_clang: bool) -> str:
        """The unqualified normal name of the entry ``handle`` that is spelled ``name``, with all its arguments."""


class Spellings:
    """Names of DIEs by their scope: namespaces, classes, and functions as their name and ``()``.

    ``unnamed`` spells a class without a name of its own that is a scope of others; ``completion`` is called where a
    name lacks template arguments.
    """

    def __init__(self, info: DebugInfo, unnamed: Callable[[int], str], completion: Completion) -> None:
        self._info = info
        self._completion = completion
        self._unnamed = unnamed
        self._templates = TemplateNames()
        self._scopes: dict[Scope, str] = {(): ""}
        self._parts: dict[int, str] = {}
        self._clang: dict[int, bool] = {}

    def of(self, handle: int, attributes: dict[int, Any]) -> str | None:
        """The qualified name of ``handle``; ``None`` where it has no name, or an empty one, as damage makes it."""
        specification = attributes.get(dw.AT_SPECIFICATION, -1)
        if specification >= 0:  # GCC repeats the name in type units, where only the declaration has a scope
            return self.of(specification, self._info.die(specification)[3])
        name = attributes.get(dw.AT_NAME)
        if not name:
            signature = attributes.get(dw.AT_SIGNATURE, handle)
            if signature not in (handle, -1):  # Clang names an enclosing class only in the type unit of its own
                return self.of(signature, self._info.die(signature)[3])
            name = last_source_name(attributes.get(dw.AT_LINKAGE_NAME, ""))
            return self.qualify(handle, name) if name else None
        found = self.qualify(handle, self.complete(handle, name))
        return ARGUMENT_LISTS.get(found, found) or None

    def complete(self, handle: int, name: str) -> str:
        """The name of ``handle`` that is spelled ``name``, with template arguments that the spelling does not tell."""
        by_clang = self._by_clang(handle)
        return self._instances.name(handle, name, by_clang=by_clang) if by_clang or "<lambda(" in name else name

    def _by_clang(self, handle: int) -> bool:
        """Whether Clang made a C++ unit; type units do not tell their producer."""
        unit = self._info.unit(handle)
        found = self._clang.get(unit.handle)
        if found is None:
            unit.load()
            clang = unit.producer is None or "clang" in unit.producer
            found = self._clang[unit.handle] = clang and unit.language in CPP
        return found

    @cached_property
    def _instances(self) -> NameCompleter:
        return self._completion(self._info, self)  # few libraries need it

    def normal(self, name: str) -> str:
        """The normal form of an unqualified name."""
        return name if name.isidentifier() else self._templates.normal(name)

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
