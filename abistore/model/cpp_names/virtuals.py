"""Virtual methods: the words that only headers have, and which method overrides which."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from abistore.model.cpp_names.qualified import last_component
from abistore.model.declared import Declared
from abistore.model.mangling.symbols import qualifiers
from abistore.model.names import Name
from abistore.model.shapes import Named, Record, TypeRef, VirtualMethod
from abistore.model.snapshot import Snapshot

OverrideKey: TypeAlias = tuple[str, tuple[TypeRef, ...], tuple[str, ...]]
"""The name, the types of the parameters and the qualifiers."""


def traits(method: VirtualMethod, snapshot: Snapshot) -> tuple[str, ...]:
    """The words that only a header has, in source order: ``noexcept``, ``final``."""
    shapes = snapshot.variants("source", Name("function", method.symbol)) if method.symbol else ()
    said = {trait for shape in shapes if isinstance(shape, Declared) for trait in shape.traits}
    return tuple(word for word in ("noexcept", "final") if word in said)


def override_key(method: VirtualMethod) -> OverrideKey:
    """The key that a method shares with those that it overrides. All destructors share one."""
    last = last_component(method.display)
    return ("~", (), ()) if last.startswith("~") else (last, method.parameters, qualifiers(method.symbol))


def inherited(record: Record, snapshot: Snapshot) -> frozenset[OverrideKey]:
    """The override keys of all virtual methods in the base classes of ``record``, direct and indirect."""
    return frozenset(override_key(method) for base in _bases(record, snapshot) for method in base.virtuals)


def _bases(record: Record, snapshot: Snapshot) -> Iterator[Record]:
    seen: set[Name] = set()
    pending = [base.type for base in record.bases]
    while pending:
        type = pending.pop()
        if not isinstance(type, Named) or type.name in seen:
            continue
        seen.add(type.name)
        for shape in snapshot.described(type.name):
            if isinstance(shape, Record):
                yield shape
                pending += [base.type for base in shape.bases]
