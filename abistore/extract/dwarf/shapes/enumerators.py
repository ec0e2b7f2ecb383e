"""Enumerators by qualified name: some compilers spell template arguments by name, others by value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes.forms import Attributes
from abistore.extract.dwarf.entries.walk import parts
from abistore.extract.dwarf.shapes.records import read_enum
from abistore.extract.dwarf.shapes.type_source import TypeSource

ARGUMENT: Final = re.compile(r"(?<=[<,])\s?((?:\w+::)*\w+)(?=[,>])")
"""A template argument that may be an enumerator."""


class EnumeratorSpellings:
    """Gives ``(geo::Color)1`` for ``geo::Color::red``, and nothing for whatever is no known enumerator."""

    def __init__(self, types: TypeSource) -> None:
        self._types = types
        self._known: dict[str, str | None] = {}

    def within(self, name: str) -> bool:
        """Whether an enumerator is among the template arguments in ``name``."""
        return any(self.value(text) is not None for text in ARGUMENT.findall(name))

    def value(self, text: str) -> str | None:
        """What stands for the enumerator ``text``; ``None`` where it is none that is known."""
        if text not in self._known:
            self._known[text] = self._value(text) if text.replace("::", "").isidentifier() else None
        return self._known[text]

    def _value(self, text: str) -> str | None:
        """The value that stands for the enumerator ``text``, cast to its type."""
        scope, _, name = text.rpartition("::")
        for holder in self._named(scope) if scope else ():
            if self._types.info.die(holder)[1].tag == dw.TAG_ENUMERATION_TYPE:
                enums = [holder]
            else:
                enums = [part for part, tag, _ in self._inside(holder) if tag == dw.TAG_ENUMERATION_TYPE]
            for enum in enums:
                if (value := self._of(enum).get(name)) is not None:
                    return value
        return self._unscoped.get(text)

    def _named(self, spelling: str) -> Iterator[int]:
        """The classes and enumerations of this qualified name, at namespace scope or in a class."""
        types = self._types
        outer, _, last = spelling.rpartition("::")
        for handle in types.info.definitions(last):
            if types.spellings.of(handle, types.info.attributes(handle)) == spelling:
                yield handle
        for holder in self._named(outer) if outer else ():
            for part, _, attributes in self._inside(holder):
                named = attributes.get(dw.AT_NAME) == last and dw.AT_DECLARATION not in attributes
                if named:
                    yield part

    def _inside(self, holder: int) -> Iterator[tuple[int, int, Attributes]]:
        """The classes and enumerations in a class, as :func:`parts` gives them, or from units of their own."""
        info = self._types.info
        for part, tag, attributes in parts(info.die(holder), dw.COMPOSITE_TAGS):
            signature: int = attributes.get(dw.AT_SIGNATURE, -1)
            yield (part, tag, attributes) if signature < 0 else (signature, tag, info.attributes(signature))

    def _of(self, handle: int) -> dict[str, str]:
        """The enumerators of an enumeration with their values; empty for one without a name."""
        types = self._types
        die = types.info.die(handle)
        type = types.spellings.of(handle, die[3])
        return {each.name: f"({type}){each.value}" for each in read_enum(types, die).enumerators} if type else {}

    @cached_property
    def _unscoped(self) -> dict[str, str]:
        """The enumerators at namespace scope that are used without the name of their enumeration."""
        types, found = self._types, dict[str, str]()
        types.info.definitions("")  # every unit has its classes listed once it is asked for one
        for unit in types.info.units:
            for start in unit.classes if unit.is_scanned else ():
                if unit.at(start)[0].tag == dw.TAG_ENUMERATION_TYPE:
                    handle = unit.base + start
                    if dw.AT_ENUM_CLASS not in types.info.attributes(handle):
                        for name, value in self._of(handle).items():
                            found.setdefault(types.spellings.qualify(handle, name), value)
        return found
