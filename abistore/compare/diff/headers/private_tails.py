"""Records of which public headers show the first members only: the library alone knows what stands behind them."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from abistore.compare.context import Context
from abistore.compare.diff.parts import PrivateTail
from abistore.compare.side import SideFacts
from abistore.model.names import Name
from abistore.model.shapes import AnyShape, Field, Record
from abistore.model.snapshot import HeadersRead, only_described


class ShownPart(NamedTuple):
    """A record as far as headers show it, and what stands behind that."""

    shown: Record
    tail: PrivateTail
    lying: tuple[object, ...]
    """How the tail lies from its own start: what only moved as a whole, as the shown members before it, is the same."""


def shown_parts(context: Context, names: tuple[Name, Name], shapes: tuple[AnyShape, AnyShape]) -> tuple[ShownPart, ...]:
    """Both sides' records, divided; nothing where programs may notice what stands behind the members they know.

    Such a header ends the record, or hides the rest from everybody but the library::

        struct engine { int state; /* the first members of an object that the library makes */
        #ifdef LIB_INTERNAL
            struct queue *jobs;
        #endif
        };

    Programs hold pointers to such an object at most. One of their own would have no room for the rest.
    """
    old, consumers = names[0], context.old.consumers
    if not consumers.library_allocates(old) or consumers.gets_arrays(old) or consumers.hold(old):
        return ()
    sides = (context.old, context.new)
    found = [_divided(*each) for each in zip(sides, names, shapes, strict=True)]
    parts = tuple(each for each in found if each is not None)
    return parts if len(parts) == len(sides) and _is_withheld(old, context.old) else ()


def _divided(side: SideFacts, name: Name, shape: AnyShape) -> ShownPart | None:
    """A record of debug information, divided where its header ends; ``None`` where they tell otherwise or the same."""
    header = only_described(side.variants("source", name))
    if not isinstance(header, Record) or not isinstance(shape, Record) or shape.sort == "union":
        return None
    count = len(header.fields)
    if not 0 < count < len(shape.fields) or header.fields != shape.fields[:count]:
        return None
    if (header.sort, header.bases, header.virtuals) != (shape.sort, shape.bases, shape.virtuals):
        return None
    if header.size > shape.size or only_described(side.variants("layout", name)) != shape:
        return None
    shown = replace(shape, fields=header.fields, size=header.size, alignment=header.alignment)
    tail = shape.fields[count:]
    return ShownPart(shown, PrivateTail(name, replace(shape, fields=tail), count), _lying(tail, shape))


def _lying(tail: tuple[Field, ...], record: Record) -> tuple[object, ...]:
    start = tail[0].offset
    fields = tuple(replace(each, offset=each.offset - start) for each in tail)
    return (*fields, 8 * record.size - start, record.alignment)


def _is_withheld(name: Name, side: SideFacts) -> bool:
    """Whether the header leaves members out on purpose, and is none of a release that did not have them yet.

    A condition in it does not hold for programs, or the library was built with a definition in another file.
    """
    read, file = side.snapshot.provenance.headers, side.files.get(name, "")
    if not isinstance(read, HeadersRead) or not file:
        return False
    asked = (each for condition in read.conditions if not condition.held for each in condition.files)
    return any(_is_one(file, each) for each in asked) or not any(_is_one(file, each) for each in read.files)


def _is_one(file: str, header: str) -> bool:
    """Whether the file of debug information may be this header: ``src/lib.h`` is ``lib.h``."""
    return f"/{file}".endswith(f"/{header}") or f"/{header}".endswith(f"/{file}")
