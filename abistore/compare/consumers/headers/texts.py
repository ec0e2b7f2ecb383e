"""What the public headers of a release say of each declaration."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from typing import Self

import msgspec

from abistore.compare.consumers.consumers import is_accessible
from abistore.compare.reuse.carrying import Summaries, take_on
from abistore.compare.types.closed_classes import owner_of
from abistore.model.declared import COPIED, Declared
from abistore.model.mangling.symbols import primary
from abistore.model.names import Name
from abistore.model.shapes import Function, Record
from abistore.model.snapshot import HeadersRead, Snapshot, Variants
from abistore.model.words.telling import forbids_use, is_private_node
from abistore.model.words.wildcards import matcher


class HeaderText(msgspec.Struct, frozen=True):
    """What headers say of one declaration.

    It is ``public`` where a given header declares it, and ``accessible`` unless it is private to a class. ``template``
    is its name where it is a template. ``copied`` and ``defined`` functions are compiled into every program,
    and those of the classes within a template that is ``defined_within``; ``display`` is the name of one that is not
    copied. Inline bodies, and what else programs compile, use further ``members``, ``calls`` and ``types``; they have
    ``objects`` and use the places of ``fields``. A nested class may be ``closed`` to programs; ``owner`` is the class
    of a member.
    """

    public: bool = False
    accessible: bool = True
    template: str = ""
    copied: bool = False
    defined: bool = False
    defined_within: bool = False
    display: str = ""
    closed: bool = False
    owner: Name | None = None
    members: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    objects: tuple[Name, ...] = ()
    fields: tuple[str, ...] = ()


class HeaderTexts:
    """The public headers of one release, as far as they parsed; ``complete`` tells whether all that they declare did.

    Bodies that did not may use whatever is called as one of their words. From headers that are ``in_c`` programs get no
    function of C++.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._source: Mapping[Name, Variants] = snapshot.entries.get("source", {})
        self._symbols: Mapping[Name, Variants] = snapshot.entries.get("symbol", {})
        self._layout: Mapping[Name, Variants] = snapshot.entries.get("layout", {})
        self.complete = snapshot.evidence_of("source").declares_all
        read = snapshot.provenance.headers
        self.in_c = isinstance(read, HeadersRead) and self.complete and read.language == "c"
        self._facts = read.facts if isinstance(read, HeadersRead) else ()
        self._unread = read.unread if isinstance(read, HeadersRead) else ()
        self._untaken = read.untaken if isinstance(read, HeadersRead) else ()
        self._behind = read.behind if isinstance(read, HeadersRead) else ()
        self._aside = read.aside if isinstance(read, HeadersRead) else None
        self.texts = Summaries(self._source, self._text)

    def take_on(self, before: Self, changed: Collection[Name]) -> bool:
        """Take what is known of the release before; whether headers say the same."""
        same = self.texts.take_on(before.texts, changed)
        same = same and self._reading == before._reading
        exported = (self._symbols.get(name) == before._symbols.get(name) for name in changed)
        if same and all(exported):
            take_on(self, before)
            # these follow signatures, not texts
            for told in (
                "_closed",
                "_closed_classes",
                "_compares_members",
                "_mentioned",
                "_private_templates",
                "_written",
                "_included_spaces",
            ):
                vars(self).pop(told, None)
        return same

    @property
    def _reading(self) -> tuple[object, ...]:
        return self.complete, self.in_c, self._facts, self._unread, self._untaken, self._behind, self._aside

    def _tells(self, *facts: str) -> bool:
        """Whether all headers parsed, and were asked for what was not always asked for."""
        return self.complete and all(fact in self._facts for fact in facts)

    def _text(self, name: Name) -> HeaderText:
        shapes = self._source.get(name, ())
        found = [shape for shape in shapes if isinstance(shape, Declared)]
        described = next((shape for shape in shapes if not isinstance(shape, Declared)), None)
        if not found:
            return HeaderText()
        text = found[0]
        display = described.display if isinstance(described, Function) else ""
        template = (display or name.spelling) if "template" in text.traits else ""
        copied = text.body is not None or not COPIED.isdisjoint(text.traits) or needs_no_body(described)
        accessible = copied or is_accessible(described)
        compiled = [each for each in (text.body, text.uses if accessible else None) if each is not None]
        return HeaderText(
            public=True,
            accessible=accessible,
            template=template,
            copied=copied,
            defined="defined" in text.traits,
            defined_within="defined_within" in text.traits,
            display="" if copied else display,
            closed=isinstance(described, Record) and described.access != "public",
            owner=owner_of(described),
            members=tuple([member for each in compiled for member in each.members]),
            calls=tuple([call for each in compiled for call in each.calls]),
            types=tuple([type for each in compiled for type in each.types]),
            objects=tuple([type for each in compiled for type in each.objects]),
            fields=tuple([field for each in compiled for field in each.fields]),
        )

    def declares(self, type: Name) -> bool:
        """Whether a given header declares ``type``."""
        return type in self._source and self.texts[type].public

    @cached_property
    def _spelled(self) -> Mapping[tuple[str, str], Name]:
        """Public functions and variables by kind and symbol; a constructor or destructor by its first symbol too."""
        found: dict[tuple[str, str], Name] = {}
        for name in self._source:
            if name.kind in ("function", "variable") and self.texts[name].public:
                found.setdefault((name.kind, name.spelling), name)
                found.setdefault((name.kind, primary(name.spelling)), name)
        return found

    @cached_property
    def _templates(self) -> frozenset[str]:
        return frozenset(text.template for text in self.texts.values() if text.template)

    @cached_property
    def _called(self) -> frozenset[str]:
        """What inline bodies use of the library: it is linked by name, whoever declares it."""
        return frozenset(call for text in self.texts.values() for call in text.calls)

    @cached_property
    def _is_unread(self) -> Callable[[str], bool]:
        """Whether bodies that could not be read may use what is called so."""
        return matcher(self._unread)

    def is_called(self, symbol: str) -> bool:
        """Whether an inline body uses a symbol, or may."""
        return symbol in self._called or self._is_unread(symbol)

    @cached_property
    def beside(self) -> frozenset[str]:
        """The names in branches of the headers that were not read, and in headers that they include."""
        return frozenset(self._behind).union(*(each.names for each in self._untaken))

    @cached_property
    def offered_by_macro(self) -> frozenset[str]:
        """Those in branches of which headers do not say that they are the library's own: ``#ifdef FOO_INTERNAL``."""
        branches = (each.names for each in self._untaken if not is_private_node(each.condition))
        return frozenset(name for names in branches for name in names)

    @cached_property
    def used_members(self) -> frozenset[str]:
        """The members that inline bodies use although access or names forbid it, qualified."""
        used = {member for text in self.texts.values() for member in text.members}
        return frozenset(used | set(self._perhaps_used()))

    def _perhaps_used(self) -> Iterator[str]:
        """The members whose names forbid to use them, and that bodies which could not be read may use."""
        for name, shapes in self._source.items() if self._unread else ():
            fields = (field.name for shape in shapes if isinstance(shape, Record) for field in shape.fields)
            yield from (f"{name.spelling}::{each}" for each in fields if forbids_use(each) and self._is_unread(each))


def needs_no_body(shape: object) -> bool:
    """Whether a function is declared ``= default`` or ``= delete``."""
    method = shape.method if isinstance(shape, Function) else None
    return method is not None and (method.defaulted or method.deleted)
