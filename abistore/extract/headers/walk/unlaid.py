"""The instances of templates that headers mention and never use whole: libclang tells no layout of those."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang
from abistore.extract.headers.walk.shapes.types import HeaderTypes
from abistore.extract.types.foreign import is_foreign
from abistore.model.names import Name
from abistore.model.references import references
from abistore.model.shapes import Record
from abistore.patterns import pattern

if TYPE_CHECKING:
    from abistore.extract.headers.walk.collected import Collected

UNNAMED = pattern(r"\((?:anonymous|unnamed|lambda)\b|type-parameter-|[#\n\"{};]| at /")
"""What no text can name, or what is no type yet."""


def unlaid_instances(types: HeaderTypes, collected: Collected) -> dict[Name, str]:
    """Instances of templates, and classes in them, without a layout; each as C++ spells it."""
    found = {name: _spelled(types, name) for name in _without_layout(types, collected)}
    return {name: spelled for name, spelled in found.items() if not UNNAMED.search(spelled)}


def _without_layout(types: HeaderTypes, collected: Collected) -> Iterator[Name]:
    every = [shape for shapes in collected.shapes.values() for shape in shapes]
    mentioned = dict.fromkeys(name for shape in every for name, _ in references(shape))
    for name in sorted(dict.fromkeys([*types.mentioned, *mentioned, *types.unmet])):
        if name.kind != "record" or "<" not in name.spelling or is_foreign(name.spelling, types.runtime):
            continue
        if any(isinstance(shape, Record) for shape in collected.shapes.get(name, ())):
            continue
        cursor = types.mentioned.get(name)
        if cursor is None or _may_be_made(types.lib, cursor):
            yield name


def _may_be_made(lib: LibClang, cursor: Cursor) -> bool:
    """Whether a class comes from a template: a handle that headers only declare in one does not."""
    template: Cursor = lib.getSpecializedCursorTemplate(cursor)
    return template.kind not in kinds.NOTHING


def _spelled(types: HeaderTypes, name: Name) -> str:
    """A class as libclang spells it, else as its name has it: values need not look alike in both."""
    lib, cursor = types.lib, types.mentioned.get(name)
    if cursor is None:
        return name.spelling
    return lib.text(lib.getTypeSpelling(lib.getCanonicalType(lib.getCursorType(cursor))))
