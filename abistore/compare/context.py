"""What a rule may ask beyond its delta: both snapshots, and what reaches what."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from abistore.compare.equivalence import Equivalence, Sameness
from abistore.model.names import SELF, Facet, Name
from abistore.model.reach import Reach
from abistore.model.shapes import AnyShape, Function, Library, TypeRef
from abistore.model.snapshot import Snapshot

RUNTIMES = frozenset({"libstdc++", "libc++", "libc++abi", "libsupc++", "libgcc_s"})
"""Libraries for which the standard library's names are their own."""


@dataclass(frozen=True)
class Context:
    """The two snapshots that are being compared, and questions about them that cost more than a look-up.

    Everything that takes types takes the old side's first; a name is looked up on the side that the method names.
    """

    old: Snapshot
    new: Snapshot
    _affected: dict[Name, tuple[Name, ...]] = field(default_factory=dict, repr=False)

    @cached_property
    def old_reach(self) -> Reach:
        """Which names the old side's exports reach."""
        return Reach(self.old)

    @cached_property
    def new_reach(self) -> Reach:
        """Which names the new side's exports reach."""
        return Reach(self.new)

    @cached_property
    def equivalence(self) -> Equivalence:
        """Whether a type of the old side is one of the new side."""
        return Equivalence(self.old, self.new)

    def stored(self, old: TypeRef, new: TypeRef) -> Sameness:
        """How far memory laid out as ``old`` can be used as ``new``: fields, variables, what pointers point to."""
        return self.equivalence.stored(old, new)

    def passed(self, old: TypeRef, new: TypeRef) -> Sameness:
        """How far a value passed or returned as ``old`` arrives as ``new``; outermost ``const`` does not count."""
        return self.equivalence.passed(old, new)

    def old_shape(self, name: Name, facet: Facet = "layout") -> AnyShape | None:
        """The old side's one shape of ``name``; ``None`` where it has none or several."""
        return _only(self.old, facet, name)

    def new_shape(self, name: Name, facet: Facet = "layout") -> AnyShape | None:
        """The new side's one shape of ``name``; ``None`` where it has none or several."""
        return _only(self.new, facet, name)

    @cached_property
    def old_library(self) -> Library | None:
        """The old file's own facts."""
        shape = self.old_shape(SELF, "symbol")
        return shape if isinstance(shape, Library) else None

    @cached_property
    def new_library(self) -> Library | None:
        """The new file's own facts."""
        shape = self.new_shape(SELF, "symbol")
        return shape if isinstance(shape, Library) else None

    @cached_property
    def is_runtime(self) -> bool:
        """Whether the library is a C++ runtime, to which ``std::`` belongs."""
        return self.old.library in RUNTIMES or self.new.library in RUNTIMES

    @cached_property
    def same_toolchain(self) -> bool:
        """Whether both sides are known to come from the same compilers with the same recorded options."""
        old, new = self.old.provenance.compilers, self.new.provenance.compilers
        return bool(old) and set(old) == set(new)

    def exported(self, name: Name) -> bool:
        """Whether both sides export ``name``: only then can a consumer use it before and after."""
        return bool(self.old.variants("symbol", name)) and bool(self.new.variants("symbol", name))

    def affected(self, name: Name) -> tuple[Name, ...]:
        """The exports of both sides through which consumers built against the old side meet ``name``, sorted.

        For a function or variable that is itself. Exports that are gone have their own findings and are left out.
        """
        if name.kind in ("function", "variable"):
            return (name,)
        known = self._affected.get(name)
        if known is None:
            known = tuple(export for export in self.old_reach.exports_reaching(name) if self.exported(export))
            self._affected[name] = known
        return known

    def by_value(self, name: Name) -> bool:
        """Whether an old export takes, returns, is or embeds ``name`` itself, so that consumers hold objects of it."""
        return name in self.old_reach.by_value

    def library_allocates(self, name: Name) -> bool:
        """Whether consumers get their objects of ``name`` from the library and hold them by pointer only.

        So it is where no export uses it by value and at least one function returns a pointer to it, or fills in one
        through a pointer to a pointer (``int open(handle **)``).
        """
        return not self.by_value(name) and name in self._handed_out

    @cached_property
    def _handed_out(self) -> frozenset[Name]:
        given: set[Name] = set()
        for name, variants in self.old.entries.get("layout", {}).items():
            if name.kind == "function":
                for shape in variants:
                    if isinstance(shape, Function):
                        given.update(self._gives(shape))
        return frozenset(given)

    def _gives(self, function: Function) -> set[Name]:
        resolve = self.equivalence.old_side
        given = {resolve.pointee(function.result, 1)} | {resolve.pointee(each, 2) for each in function.parameters}
        return {name for name in given if name is not None}


def _only(snapshot: Snapshot, facet: Facet, name: Name) -> AnyShape | None:
    variants = snapshot.variants(facet, name)
    return variants[0] if len(variants) == 1 else None
