"""Types of the standard library and the compiler's runtime."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.classify.making.standard_blocks import is_block_of_another
from abistore.compare.context import Context
from abistore.compare.rule import Note, rule
from abistore.model.deltas import Changed
from abistore.model.findings import Impact
from abistore.model.shapes import Foreign
from abistore.model.words.counting import counted


def _foreign(type: Changed[Foreign]) -> tuple[str, str] | None:
    old, new = type.old, type.new
    sizes = None not in (old.size, new.size) and old.size != new.size
    alignments = None not in (old.alignment, new.alignment) and old.alignment != new.alignment
    return (_storage(old), _storage(new)) if sizes or alignments else None


def _storage(type: Foreign) -> str:
    aligned = "" if type.alignment is None else f", aligned to {type.alignment}"
    return ("unknown size" if type.size is None else counted(type.size, "byte")) + aligned


def _hold(type: Changed[Foreign], context: Context) -> bool:
    """Whether programs have objects of a type themselves, and not only those that its own functions make for them."""
    return context.old.consumers.hold(type.subject.name) and not is_block_of_another(type, context)


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed")
def type_foreign_layout_changed(type: Changed[Foreign], context: Context) -> Iterator[Note]:
    """A standard library type that exports use by value has another size or alignment.

    The library was built against another standard library, or with another mode of it. Objects that programs built
    against the old one pass or embed do not fit.

    Fix: build with the same standard library and the same settings of it (``_GLIBCXX_USE_CXX11_ABI``, debug modes).
    """
    storage = _foreign(type)
    if storage is not None and _hold(type, context):
        yield Note("the storage differs", *storage)


@rule(Impact.RISK, variant="pointee", evidence="layout", element="types", action="changed")
def type_foreign_layout_changed_pointee(type: Changed[Foreign], context: Context) -> Iterator[Note]:
    """A standard library type that exports use by address has another size or alignment.

    Code compiled for the new standard library uses objects that programs made with the old one. A class that only the
    standard library may name (``std::_Sp_counted_ptr_inplace<Impl>``, in which ``std::make_shared`` counts) is told
    here too where it changed along with what it holds, and only the standard library's functions have it by value.

    Fix: build with the same standard library and the same settings of it.
    """
    storage = _foreign(type)
    if storage is not None and not _hold(type, context):
        yield Note("the storage differs", *storage)
