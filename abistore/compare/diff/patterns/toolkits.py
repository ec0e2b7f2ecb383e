"""Needed libraries that gave way to another major release of themselves, and what of this library follows from it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from abistore.compare.context import Context
from abistore.compare.diff.dependencies import SYSTEM
from abistore.compare.diff.parts import ToolkitMove
from abistore.compare.diff.patterns.renamed_exports import grouped, pairs_of
from abistore.compare.side import SideFacts
from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.emitted import class_behind, variant
from abistore.model.cpp_names.qualified import entity, last_component, scope
from abistore.model.deltas import Changed, Subject
from abistore.model.labels.sonames import family, library_name
from abistore.model.mangling.symbols import is_mangled
from abistore.model.names import SELF, TYPES, Name
from abistore.model.shapes import AnyShape, Record
from abistore.model.tables import Import

TOOLKIT = "@"
"""Stands for a class of the toolkit in a text that is compared with another release's."""

Sonames = tuple[str, ...]


def moved_libraries(context: Context) -> tuple[Sonames, Sonames]:
    """The needed libraries that gave way to another release of the same family, and these, in the same order."""
    old, new = context.old.library, context.new.library
    if old is None or new is None or old.needed == new.needed:
        return (), ()
    gone, come = (
        {family(each): each for each in some if each not in others and library_name(each) not in SYSTEM}
        for some, others in ((old.needed, new.needed), (new.needed, old.needed))
    )
    both = sorted(gone.keys() & come.keys())
    return tuple(gone[each] for each in both), tuple(come[each] for each in both)


class Toolkit:
    """The classes of libraries that moved, as both releases know them."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.before, self.after = moved_libraries(context)

    @cached_property
    def _old(self) -> frozenset[str]:
        return _classes(self._context.old, self.before)

    @cached_property
    def _new(self) -> frozenset[str]:
        return _classes(self._context.new, self.after)

    def without_names(self, text: str, *, old: bool) -> str:
        """The text of one side with a sign in place of each class of the toolkit."""
        pattern = self._old_pattern if old else self._new_pattern
        return text if pattern is None else pattern.sub(TOOLKIT, text)

    @cached_property
    def _old_pattern(self) -> re.Pattern[str] | None:
        return _any_of(self._old)

    @cached_property
    def _new_pattern(self) -> re.Pattern[str] | None:
        return _any_of(self._new)

    def called(self, *, old: bool) -> Callable[[str], tuple[str, str]]:
        """What an export of one side is called without the toolkit's names."""
        return lambda symbol: (self.without_names(demangle(symbol), old=old), variant(symbol))

    def defines(self, name: Name) -> bool:
        """Whether a declaration is a class of the toolkit, an instance of a template of it, or a member of one."""
        text = name.spelling if name.kind in TYPES else entity(demangle(name.spelling))
        return any(self.without_names(text, old=old).startswith(TOOLKIT) for old in (True, False))

    def changed_types(self) -> Iterator[Name]:
        """The classes of the toolkit that lie in memory otherwise, and of which programs make objects."""
        old, new = self._context.old, self._context.new
        after = new.snapshot.entries.get("layout", {})
        for name in old.snapshot.entries.get("layout", {}):
            if name.kind == "record" and name in after and self.defines(name):
                lies_otherwise = _storage(old.shape(name)) != _storage(new.shape(name))
                if lies_otherwise and not old.consumers.library_allocates(name) and self._context.affected(name):
                    yield name


def toolkit_move(context: Context, gone: Sequence[str], come: Sequence[str]) -> Changed[ToolkitMove] | None:
    """What follows from libraries that moved: exports called by their classes, and classes that lie otherwise.

    ``gone`` and ``come`` are the exports that one side alone has. ``None`` where no library moved, or nothing follows.
    """
    if not all(moved_libraries(context)):
        return None
    toolkit = context.once(Toolkit)

    before, after = (
        grouped([each for each in some if is_mangled(each)], toolkit.called(old=old))
        for some, old in ((gone, True), (come, False))
    )
    pairs = tuple(pairs_of({key: each for key, each in before.items() if TOOLKIT in key[0]}, after))
    types = tuple(sorted(toolkit.changed_types()))
    if not pairs and not types:
        return None
    move = ToolkitMove(toolkit.before, toolkit.after, pairs, types)
    return Changed(Subject(SELF, f"toolkit {', '.join(map(family, toolkit.before))}"), move, move)


def _classes(side: SideFacts, libraries: Sonames) -> frozenset[str]:
    """The classes that these libraries define: the library imports members of them, or has them from such headers."""
    symbols = set(_imported(side, libraries))
    imported = {found for symbol in symbols if (found := _class_of(symbol))}
    beside = {name.spelling for name, asked in side.borrowed.items() if name.kind in TYPES and symbols & {*asked}}
    return frozenset(filter(None, map(_template, imported | beside)))


def _imported(side: SideFacts, libraries: Sonames) -> Iterator[str]:
    """The C++ symbols that the library expects from one of these, or from any where the file does not tell."""
    for name, shapes in side.snapshot.entries.get("symbol", {}).items():
        wanted = (isinstance(each, Import) and each.library in (None, *libraries) for each in shapes)
        if name.kind == "import" and is_mangled(name.spelling) and any(wanted):
            yield name.spelling


def _class_of(symbol: str) -> str:
    """The class that a symbol shows to be one: it has a table, a constructor or destructor, or a constant member."""
    if emitted := class_behind(symbol):
        return emitted
    text = demangle(symbol)
    around = scope(entity(text))
    made = last_component(around) == last_component(entity(text)).removeprefix("~")
    return around if made or text.endswith(" const") else ""


def _template(spelling: str) -> str:
    """The class or class template, without arguments; empty for one of the standard library."""
    name = spelling.partition("<")[0]
    return "" if name.startswith(("std::", "__gnu_cxx::")) else name


def _any_of(names: Iterable[str]) -> re.Pattern[str] | None:
    longest_first = sorted(names, key=lambda each: (-len(each), each))
    return re.compile(rf"(?<![\w:])(?:{'|'.join(map(re.escape, longest_first))})(?!\w)") if longest_first else None


def _storage(shape: AnyShape | None) -> object:
    """How an object lies in memory as far as programs that make some have it compiled in."""
    if not isinstance(shape, Record):
        return None
    slots = tuple((method.display, method.slot) for method in shape.virtuals)
    return shape.size, shape.alignment, shape.passing, shape.has_vptr, slots
