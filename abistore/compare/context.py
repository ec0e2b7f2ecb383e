"""What a rule may ask beyond its delta: both snapshots, and what reaches what."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from abistore.compare.consumers.consumers import Consumers
from abistore.compare.reuse.difference import Differing, differing
from abistore.compare.side import SideFacts
from abistore.compare.types.equivalence import Equivalence, Sameness
from abistore.compare.types.kept_mentions import mentions_alike
from abistore.compare.types.renamed_types import find_renames
from abistore.compare.types.vtables import VirtualTables
from abistore.model.deltas import Changed
from abistore.model.findings import Side
from abistore.model.names import SELF, Facet, Name
from abistore.model.reach import Reach
from abistore.model.shapes import AnyShape, Library, TypeRef
from abistore.model.snapshot import Snapshot

T = TypeVar("T")


class Renames(NamedTuple):
    """The records and enums that the sides have under two names: the new name by the old one, and the reverse."""

    targets: Mapping[Name, Name]
    origins: Mapping[Name, Name]


class KnownDifferences(NamedTuple):
    """What is known of two snapshots before they are compared: their sides, the names that differ, and their cards."""

    old: SideFacts
    new: SideFacts
    differing: Differing
    cards: tuple[Side, Side] | None = None
    renames: Renames | None = None


class Context:
    """The two snapshots that are being compared, and questions about them that cost more than a look-up.

    Everything that takes types takes the old side's first; a name is looked up on the side that the method names.
    """

    def __init__(self, old: Snapshot, new: Snapshot, known: KnownDifferences | None = None) -> None:
        self.old = old
        self.new = new
        self.old_side, self.new_side = known[:2] if known else (SideFacts(old), SideFacts(new))
        self.cards = known.cards if known else None
        self._differing = known.differing if known else None
        self._renames = known.renames if known else None
        self._affected: dict[Name, tuple[Name, ...]] = {}
        self._passed_with: dict[Name, Sequence[Name]] = {}
        self._between: dict[tuple[object, TypeRef, TypeRef], Any] = {}
        self._once: dict[tuple[object, int], tuple[Changed[Any], Any]] = {}

    @property
    def differing(self) -> Differing:
        """The names that the two sides show in different ways."""
        if self._differing is None:
            self._differing = differing(self.old, self.new)
        return self._differing

    @property
    def old_reach(self) -> Reach:
        """The types that the old side's exports reach."""
        return self.old_side.reach

    @property
    def new_reach(self) -> Reach:
        """The types that the new side's exports reach."""
        return self.new_side.reach

    @cached_property
    def equivalence(self) -> Equivalence:
        """Compares types of the old side with types of the new side."""
        old, new = self.old_side.types, self.new_side.types
        if self._renames:
            return Equivalence(old, new, self._renames.targets)
        # what is compared while renames are sought is compared without them, and must not be remembered
        return Equivalence(old, new, find_renames(Equivalence(old, new), self.differing["layout"]))

    @property
    def renames(self) -> Mapping[Name, Name]:
        """Records and enums of the old side that the new side has under another name."""
        return self.equivalence.renames

    @property
    def old_consumers(self) -> Consumers:
        """Programs built against the old side."""
        return self.old_side.consumers

    @property
    def new_consumers(self) -> Consumers:
        """Programs that will be built against the new side."""
        return self.new_side.consumers

    def renamed_from(self, name: Name) -> Name | None:
        """The record or enum of the old side that the new side has under this ``name``, which is another."""
        return self.origins.get(name)

    @cached_property
    def origins(self) -> Mapping[Name, Name]:
        """The old names of renamed types, by their new names."""
        return self._renames.origins if self._renames else {new: old for old, new in self.renames.items()}

    def stored(self, old: TypeRef, new: TypeRef) -> Sameness:
        """How far memory laid out as ``old`` can be used as ``new``: fields, variables, what pointers point to."""
        return self.equivalence.stored(old, new)

    def passed(self, old: TypeRef, new: TypeRef) -> Sameness:
        """How far a value passed or returned as ``old`` arrives as ``new``; outermost ``const`` does not count."""
        return self.equivalence.passed(old, new)

    @property
    def old_tables(self) -> VirtualTables:
        """The vtables of the old side's classes."""
        return self.old_side.tables

    @property
    def new_tables(self) -> VirtualTables:
        """The vtables of the new side's classes."""
        return self.new_side.tables

    @property
    def old_undescribed(self) -> frozenset[Name]:
        """The old side's classes whose layout the evidence leaves out."""
        return self.old_side.undescribed

    @property
    def new_undescribed(self) -> frozenset[Name]:
        """The new side's classes whose layout the evidence leaves out."""
        return self.new_side.undescribed

    def once(self, whole: Changed[Any], work_out: Callable[[Changed[Any], Context], T]) -> T:
        """What is worked out of a declaration's change for all of its parts."""
        key = (work_out, id(whole))
        if key not in self._once:
            self._once[key] = whole, work_out(whole, self)
        found: T = self._once[key][1]
        return found

    def between(self, old: TypeRef, new: TypeRef, work_out: Callable[[TypeRef, TypeRef, Context], T]) -> T:
        """What is worked out of two types for all who ask."""
        key = (work_out, old, new)
        if key not in self._between:
            self._between[key] = work_out(old, new, self)
        found: T = self._between[key]
        return found

    def old_shape(self, name: Name, facet: Facet = "layout") -> AnyShape | None:
        """The old side's one shape of ``name``; ``None`` where it has none or several."""
        return _only(self.old, facet, name)

    def new_shape(self, name: Name, facet: Facet = "layout") -> AnyShape | None:
        """The new side's one shape of ``name``; ``None`` where it has none or several."""
        return _only(self.new, facet, name)

    @cached_property
    def old_library(self) -> Library | None:
        """What the old file says of itself: SONAME, needed libraries, hardening."""
        shape = self.old_shape(SELF, "symbol")
        return shape if isinstance(shape, Library) else None

    @cached_property
    def new_library(self) -> Library | None:
        """What the new file says of itself: SONAME, needed libraries, hardening."""
        shape = self.new_shape(SELF, "symbol")
        return shape if isinstance(shape, Library) else None

    @cached_property
    def same_toolchain(self) -> bool:
        """Whether both sides are known to come from the same compilers with the same recorded options."""
        old, new = self.old.provenance.compilers, self.new.provenance.compilers
        return bool(old) and set(old) == set(new)

    def mentioned_alike(self, name: Name) -> bool:
        """Whether a declaration of both sides mentions ``name`` in the same type, so that it changed along with it.

        Where all uses changed too, as from ``callback *`` to ``callback``, they have findings of their own.
        """
        return any(mentions_alike(name, user, self.old, self.new) for user in self.old_reach.users(name))

    def exported(self, name: Name) -> bool:
        """Whether both sides export ``name``: only then can a consumer use it before and after."""
        return bool(self.old.variants("symbol", name)) and bool(self.new.variants("symbol", name))

    def affected(self, name: Name) -> tuple[Name, ...]:
        """The exports of both sides through which consumers built against the old side meet ``name``, sorted.

        For a function or variable that is itself. Exports that are gone have their own findings and are left out, and
        so are those that no consumer can name.
        """
        if name.kind in ("function", "variable"):
            return (name,)
        known = self._affected.get(name)
        if known is None:
            known = tuple(
                export
                for export in self.old_reach.exports_reaching(name)
                if self.exported(export) and self.old_consumers.can_name(export)
            )
            self._affected[name] = known
        return known

    def passed_with(self, name: Name) -> Sequence[Name]:
        """What the exports of both sides, callbacks and virtual methods pass by value that is or embeds ``name``."""
        known = self._passed_with.get(name)
        if known is None:
            known = self._passed_with[name] = self.old_consumers.passed_with(name, self.exported)
        return known


def _only(snapshot: Snapshot, facet: Facet, name: Name) -> AnyShape | None:
    variants = snapshot.variants(facet, name)
    return variants[0] if len(variants) == 1 else None
