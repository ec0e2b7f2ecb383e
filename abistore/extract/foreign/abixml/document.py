"""ABIXML documents: read as a stream into plain elements, with every use of entities refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final
from xml.parsers import expat

from abistore.errors import ExtractError, LimitExceeded

MAX_DEPTH: Final = 256
MOST_BITS: Final = 1 << 62
PIECE: Final = 1 << 16
SCOPES: Final = frozenset({"namespace-decl", "class-decl", "union-decl"})
UNNAMED_SCOPE: Final = "(anonymous namespace)"


class Element:
    """One element; ``scope`` is the qualified name of the namespace or class around it."""

    __slots__ = ("attributes", "folder", "parts", "scope", "tag")

    def __init__(self, tag: str, attributes: Mapping[str, str], scope: str, folder: str) -> None:
        self.tag = tag
        self.attributes = attributes
        self.parts: list[Element] = []
        self.scope = scope
        self.folder = folder

    def get(self, attribute: str, default: str = "") -> str:
        """The value of an attribute."""
        return self.attributes.get(attribute, default)

    def says(self, attribute: str) -> bool:
        """Whether an attribute is ``yes``."""
        return self.attributes.get(attribute) == "yes"

    def number(self, attribute: str) -> int | None:
        """An attribute that is a decimal number; ``None`` where it is none."""
        return decimal(self.attributes.get(attribute, ""))

    @property
    def size(self) -> int:
        """The size in bytes; 0 where there is none, or one that nothing has."""
        bits = self.number("size-in-bits") or 0
        return bits // 8 if 0 < bits < MOST_BITS else 0

    def children(self, tag: str) -> Iterator[Element]:
        """The parts with this tag."""
        return (part for part in self.parts if part.tag == tag)

    def everything(self) -> Iterator[Element]:
        """The element and all that is in it."""
        pending = [self]
        while pending:
            found = pending.pop()
            yield found
            pending += reversed(found.parts)

    @property
    def spelling(self) -> str:
        """The name, qualified by the scope."""
        return f"{self.scope}::{self.get('name')}" if self.scope else self.get("name")


def decimal(text: str) -> int | None:
    """A decimal number of at most 20 digits."""
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdecimal() and len(digits) <= 20 else None


def read_document(data: bytes, label: str) -> Element:
    """The root element of an ABIXML document. Raises :class:`ExtractError`, :class:`LimitExceeded`."""
    builder = _Builder(label)
    try:
        for start in range(0, len(data), PIECE):
            builder.parser.Parse(data[start : start + PIECE], False)
        builder.parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise ExtractError(f"{label}: malformed XML: {error}", "make the file anew with abidw") from error
    except (ValueError, LookupError) as error:  # an encoding that Python does not have, or that is none
        raise ExtractError(f"{label}: the encoding of the XML cannot be read", "make it anew with abidw") from error
    assert builder.root is not None  # or else expat had found no element
    return builder.root


class _Builder:
    def __init__(self, label: str) -> None:
        self.root: Element | None = None
        self._label = label
        self._open: list[Element] = []
        self._texts: dict[str, str] = {}
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.EntityDeclHandler = self._refuse

    def _refuse(self, *_: object) -> None:
        raise ExtractError(
            f"{self._label}: declares a document type or entities, which ABIXML has none of",
            "a hostile file is likely; make it anew with abidw",
        )

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise LimitExceeded(f"{self._label}: elements are nested more than {MAX_DEPTH} levels deep")
        known = self._texts
        kept = {known.setdefault(key, key): known.setdefault(value, value) for key, value in attributes.items()}
        scope, folder = "", ""
        if self._open:
            outer = self._open[-1]
            scope, folder = outer.scope, outer.folder
            if outer.tag in SCOPES:
                name = outer.get("name") or UNNAMED_SCOPE
                scope = known.setdefault(joined := f"{scope}::{name}" if scope else name, joined)
        element = Element(known.setdefault(tag, tag), kept, scope, kept.get("comp-dir-path", folder))
        if self._open:
            self._open[-1].parts.append(element)
        else:
            self.root = element
        self._open.append(element)

    def _end(self, _tag: str) -> None:
        self._open.pop()
