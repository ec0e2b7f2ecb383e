"""What a declaration needs that names stored types: stand-ins of the same size and alignment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from abistore.extract.headers.options import Language
from abistore.model.cpp_names.declarators import declare
from abistore.model.declared import Declared
from abistore.model.layout.layouts import Layouts
from abistore.model.mangling.symbols import is_mangled
from abistore.model.names import TYPES, Name
from abistore.model.references import references
from abistore.model.shapes import Alias, AnyShape, Enum, Foreign, Named, Record
from abistore.model.snapshot import Snapshot

ALWAYS: Final = "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n"
WORD: Final = re.compile(r"[A-Za-z_]\w*")
DEFINED: Final = re.compile(
    r"\b(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+([A-Za-z_]\w*)\s*(?:final\s*)?[:{]"
)


def language_of(snapshot: Snapshot) -> Language:
    """The language of the library's consumers: C++ where it exports mangled names."""
    return "c++" if any(is_mangled(name.spelling) for name in snapshot.entries.get("symbol", ())) else "c"


def prelude(snapshot: Snapshot, text: str, language: Language) -> str:
    """A header with the stored types that ``text`` names and does not define itself.

    Records are only as large and as aligned as those that they stand for; enumerations and aliases are whole. A class
    within a class has no stand-in.
    """
    made = _StandIns(snapshot, language, frozenset(DEFINED.findall(text)))
    words = set(WORD.findall(text))
    for name in sorted(_types(snapshot)):
        if name.spelling.rpartition("::")[2] in words:
            made.add(name)
    return ALWAYS + "".join(made.lines)


def _types(snapshot: Snapshot) -> Iterator[Name]:
    facets = (snapshot.entries.get(facet, {}) for facet in ("layout", "source"))
    return (name for name in {name for entries in facets for name in entries} if name.kind in TYPES)


class _StandIns:
    """Declares types, those first that others need."""

    def __init__(self, snapshot: Snapshot, language: Language, defined: frozenset[str]) -> None:
        self.lines: list[str] = []
        self._snapshot = snapshot
        self._language = language
        self._defined = defined
        self._layouts = Layouts(snapshot)
        self._seen: set[Name] = set()

    def add(self, name: Name) -> None:
        """Declare ``name``, once."""
        shapes = self._snapshot.variants("layout", name) or self._snapshot.variants("source", name)
        shape = next((each for each in shapes if not isinstance(each, Declared)), None)
        parts = tuple(name.spelling.split("::"))
        if name in self._seen or shape is None or any(WORD.fullmatch(part) is None for part in parts):
            return
        self._seen.add(name)
        if any(Name("record", "::".join(parts[:end])) in self._records for end in range(1, len(parts))):
            return
        if isinstance(shape, Alias):
            for other, _ in references(shape, name):
                self.add(other)
        self._write(parts, self._text(name, parts[-1], shape))

    @property
    def _records(self) -> Iterable[Name]:
        return {*self._snapshot.entries.get("layout", ()), *self._snapshot.entries.get("source", ())}

    def _write(self, parts: tuple[str, ...], text: str) -> None:
        if text:
            opened = "".join(f"namespace {each} {{ " for each in parts[:-1])
            self.lines.append(f"{opened}{text}{' }' * (len(parts) - 1)}\n")

    def _text(self, name: Name, own: str, shape: AnyShape) -> str:
        match shape:
            case Alias(target=target):
                return "" if own in self._defined else f"typedef {self._tagged(declare(target, own), shape)};"
            case Enum():
                return "" if own in self._defined else self._enum(own, shape)
            case Record() | Foreign() if shape.size:
                return self._record(own, name, shape)
        return f"struct {own};{self._same(own)}" if name.kind == "record" else ""

    def _record(self, own: str, name: Name, shape: Record | Foreign) -> str:
        sort = "union" if shape.sort == "union" else "struct"
        if own in self._defined:
            return f"{sort} {own};{self._same(own, sort)}"
        alignment = self._layouts.alignment(Named(name)) or 1
        bytes = f"unsigned char bytes[{shape.size}] __attribute__((aligned({alignment})));"
        return f"{sort} {own} {{ {bytes} }};{self._same(own, sort)}"

    def _enum(self, own: str, shape: Enum) -> str:
        values = ", ".join(f"{each.name} = {each.value}" for each in shape.enumerators)
        return f"enum {own} {{ {values} }};{self._same(own, 'enum')}"

    def _same(self, own: str, sort: str = "struct") -> str:
        """In C, a tag needs its keyword, which whoever writes one declaration may leave out."""
        alias = self._snapshot.variants("layout", Name("alias", own)) or self._snapshot.variants(
            "source", Name("alias", own)
        )
        return f" typedef {sort} {own} {own};" if self._language == "c" and not alias else ""

    def _tagged(self, text: str, shape: Alias) -> str:
        """An alias of a record by its tag, in C."""
        target = shape.target
        if self._language == "c++" or not isinstance(target, Named):
            return text
        return f"{'enum' if target.name.kind == 'enum' else 'struct'} {text}" if target.name.kind != "alias" else text
