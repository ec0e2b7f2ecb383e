"""The named types of one snapshot, resolved."""

from __future__ import annotations

from functools import cached_property

from abistore.model.layout.layouts import Layouts
from abistore.model.mangling.symbols import is_mangled
from abistore.model.names import Name
from abistore.model.shapes import Alias, AnyShape, Array, Named, Pointer, Qualified, TypeRef
from abistore.model.snapshot import Snapshot

MOST_ALIASES = 64
"""A chain of typedefs longer than this is malformed input."""


class TypeSide:
    """One snapshot's named types, resolved. Answers are kept."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._bare: dict[TypeRef, tuple[TypeRef, frozenset[str]]] = {}
        self._pointees: dict[tuple[TypeRef, int], Name | None] = {}

    @cached_property
    def layouts(self) -> Layouts:
        """Sizes and alignments of this side's types."""
        return Layouts(self.snapshot)

    @cached_property
    def unbounded_are_sized(self) -> bool | None:
        """Whether compilers give an array without a bound the size 0, as GCC does in C; ``None`` where nothing says it.

        GCC in C++, and clang, have no size for an object that ends with such an array, and pass it in memory.
        """
        told, compilers = self.snapshot.provenance.languages, self.snapshot.provenance.compilers
        if any("clang" in each for each in compilers) or any("++" in each or "plus_plus" in each for each in told):
            return False
        if told:
            return True
        functions = (name.spelling for name in self.snapshot.entries.get("symbol", {}) if name.kind == "function")
        return False if any(map(is_mangled, functions)) else None

    def shape(self, name: Name) -> AnyShape | None:
        """The one declaration of ``name``; ``None`` where it has none or several."""
        variants = self.snapshot.described(name)
        return variants[0] if len(variants) == 1 else None

    def has(self, name: Name) -> bool:
        """Whether the side knows ``name`` at all."""
        return bool(self.snapshot.variants("layout", name) or self.snapshot.variants("source", name))

    def resolve(self, type: TypeRef) -> TypeRef:
        """``type`` with its outermost aliases replaced by what they stand for."""
        for _ in range(MOST_ALIASES):
            if not isinstance(type, Named) or type.name.kind != "alias":
                return type
            shape = self.shape(type.name)
            if not isinstance(shape, Alias):
                return type
            type = shape.target
        return type

    def bare(self, type: TypeRef) -> tuple[TypeRef, frozenset[str]]:
        """``type`` without outermost aliases and qualifiers, and these qualifiers."""
        known = self._bare.get(type)
        if known is None:
            qualifiers: set[str] = set()
            target = self.resolve(type)
            while isinstance(target, Qualified):
                qualifiers.update(target.qualifiers)
                target = self.resolve(target.target)
            known = self._bare[type] = target, frozenset(qualifiers)
        return known

    def meanings(self, type: TypeRef) -> tuple[TypeRef, ...]:
        """What ``type`` may be, without outermost aliases and qualifiers.

        Several, where translation units define an alias differently: Clang places ``_Base_ptr`` of a class that a unit
        does not define outside of it, where another class has one too.
        """
        target, _ = self.bare(type)
        if not isinstance(target, Named) or target.name.kind != "alias":
            return (target,)
        aliases = (each for each in self.snapshot.described(target.name) if isinstance(each, Alias))
        return tuple(self.bare(each.target)[0] for each in aliases) or (target,)

    def pointee(self, type: TypeRef, levels: int) -> Name | None:
        """The record or enum behind exactly ``levels`` pointers of ``type``."""
        if (type, levels) not in self._pointees:
            self._pointees[type, levels] = self._pointee(type, levels)
        return self._pointees[type, levels]

    def _pointee(self, type: TypeRef, levels: int) -> Name | None:
        bare, _ = self.bare(type)
        if levels:
            return self.pointee(bare.target, levels - 1) if isinstance(bare, Pointer) else None
        return bare.name if isinstance(bare, Named) else None

    def record_behind(self, name: Name) -> Name | None:
        """The record or enum that ``name`` is, or is an alias or array of."""
        type, _ = self.bare(Named(name))
        while isinstance(type, Array):
            type, _ = self.bare(type.element)
        return type.name if isinstance(type, Named) else None

    def levels(self, type: TypeRef) -> tuple[int, TypeRef]:
        """How many pointers ``type`` goes through, and what is behind the last."""
        type, _ = self.bare(type)
        count = 0
        while isinstance(type, Pointer):
            count += 1
            type, _ = self.bare(type.target)
        return count, type
