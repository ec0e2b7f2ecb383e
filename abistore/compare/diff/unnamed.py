"""How an export differs that no consumer can name or use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from abistore.compare.consumers.consumers import Consumers
from abistore.compare.diff.parts import (
    InternalExport,
    OmittedExport,
    PrivateMemberExport,
    UncallableExport,
    UndeclaredExport,
)
from abistore.model.deltas import Changed, Subject
from abistore.model.names import Name
from abistore.model.shapes import Access, AnyShape, Function, Method, Variable
from abistore.model.tables import Symbol


def unnamed(consumers: Consumers, export: Name, old: AnyShape, new: AnyShape) -> Changed[Any]:
    """The delta of an export that no consumer can name; it says so, unless it tells of its binding alone."""
    told = isinstance(old, Symbol) and isinstance(new, Symbol) and _alike(old, new)
    if told and consumers.concealment(export) == "undeclared":
        return Changed(Subject(export), old, new)
    return concealed(consumers, export, old, new)


def concealed(consumers: Consumers, export: Name, old: AnyShape, new: AnyShape) -> Changed[Any]:
    """The delta of an export that no consumer can name; it says so, and which private header declares it."""
    subject = Subject(export)
    if consumers.concealment(export) == "internal":
        return Changed(subject, InternalExport(export, old), InternalExport(export, new))
    if consumers.prove_private(export):
        return Changed(subject, OmittedExport(export, old), OmittedExport(export, new))
    header = consumers.private_header(export)
    return Changed(subject, UndeclaredExport(export, old, header), UndeclaredExport(export, new, header))


def _alike(old: Symbol, new: Symbol) -> bool:
    """Whether programs that use the symbol notice no difference: only how it is bound differs."""
    return (old.type, old.size) == (new.type, new.size) and not any(refilled(old, new))


def refilled(old: Symbol, new: Symbol) -> Iterator[tuple[str, str]]:
    """The words of a vtable or of type information that point to another symbol, as far as both sides know them."""
    for before, after in zip(old.table, new.table, strict=False):
        if before and after and before != after:
            yield before, after


def unused(export: Name, old: AnyShape, new: AnyShape) -> Changed[Any]:
    """The delta of a private member that programs do not use."""
    return Changed(Subject(export), PrivateMemberExport(export, old), PrivateMemberExport(export, new))


def uncalled(export: Name, old: AnyShape, new: AnyShape) -> Changed[Any]:
    """The delta of a function that programs can name, and cannot call."""
    return Changed(Subject(export), UncallableExport(export, old), UncallableExport(export, new))


def differs_in_access(old: AnyShape, new: AnyShape) -> bool:
    """Whether a member of a class is accessible from other places than before: that is a change of its own."""
    return _access(old) != _access(new)


def _access(shape: AnyShape) -> Access | None:
    match shape:
        case Function(method=Method(access=access)) | Variable(access=access):
            return access
        case _:
            return None
