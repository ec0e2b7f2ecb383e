"""Two releases that are being compared, and what is known of both together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from abistore.compare.differing import Differing, differing
from abistore.compare.side import SideFacts
from abistore.compare.types.equivalence import Equivalence
from abistore.compare.types.renamed_types import find_renames
from abistore.compare.types.sameness import Sameness
from abistore.compare.version_pairs import exported, still_meets
from abistore.model.cpp_names.builtins import INTEGERS
from abistore.model.findings import Side
from abistore.model.names import Name
from abistore.model.shapes import Function, Primitive, TypeRef

if TYPE_CHECKING:
    from abistore.compare.scopes.moves import Move

T = TypeVar("T")


class Renames(msgspec.Struct, frozen=True):
    """Records and enums that the releases have under two names: the new name by the old one, and the reverse."""

    targets: Mapping[Name, Name]
    origins: Mapping[Name, Name]


class Context:
    """The old and the new release, and questions about both that cost more than a look-up.

    Everything that takes two types takes the old release's first. Answers are kept. What is known of the two already
    (the names that differ, the renames, their cards) need not be worked out again. Where scopes made ``moves``,
    the new release is told under the old names.
    """

    def __init__(
        self,
        old: SideFacts,
        new: SideFacts,
        *,
        differing: Differing | None = None,
        renames: Renames | None = None,
        cards: tuple[Side, Side] | None = None,
        moves: Sequence[Move] = (),
    ) -> None:
        self.old, self.new = old, new
        self.moves = moves
        self.cards = cards
        self._differing = differing
        self._renames = renames
        self._affected: dict[Name, tuple[Name, ...]] = {}
        self._passed_with: dict[Name, Sequence[Name]] = {}
        self._worked_out: dict[tuple[object, ...], tuple[object, Any]] = {}

    @cached_property
    def differing(self) -> Differing:
        """The names that the two releases show in different ways."""
        return self._differing or differing(self.old.snapshot, self.new.snapshot)

    @cached_property
    def renames(self) -> Renames:
        """The types that were renamed."""
        if self._renames is not None:
            return self._renames
        # types are compared as if nothing was renamed until this is known: by an equivalence that is not kept
        unaware = Equivalence(self.old.types, self.new.types)
        both = all("layout" in side.snapshot.entries for side in (self.old, self.new))
        targets = find_renames(unaware, self.differing["layout" if both else "source"])
        return Renames(targets, {new: old for old, new in targets.items()})

    @cached_property
    def equivalence(self) -> Equivalence:
        """How far types of both releases are the same."""
        return Equivalence(self.old.types, self.new.types, self.renames.targets)

    def stored(self, old: TypeRef, new: TypeRef) -> Sameness:
        """How far memory laid out as ``old`` can be used as ``new``: fields, variables, what pointers point to."""
        return self.equivalence.stored(old, new)

    def passed(self, old: TypeRef, new: TypeRef) -> Sameness:
        """How far a value passed or returned as ``old`` arrives as ``new``; outermost ``const`` does not count."""
        return self.equivalence.passed(old, new)

    def once(self, work_out: Callable[..., T], *of: object) -> T:
        """What ``work_out`` gives for these objects and this context, kept for all rules that ask the same."""
        key = (work_out, *map(id, of))
        if key not in self._worked_out:
            self._worked_out[key] = of, work_out(*of, self)
        found: T = self._worked_out[key][1]
        return found

    @cached_property
    def same_toolchain(self) -> bool:
        """Whether both releases are known to come from the same compilers with the same recorded options."""
        old, new = (each.snapshot.provenance.compilers for each in (self.old, self.new))
        return bool(old) and set(old) == set(new)

    def mentioned_alike(self, name: Name) -> bool:
        """Whether a declaration mentions ``name`` in the same type in both releases, and so changed along with it.

        Where all uses changed too, as from ``callback *`` to ``callback``, they have findings of their own.
        """
        from abistore.compare.types.kept_mentions import mentions_alike  # few findings ask

        users = self.old.reach.users(name)
        return any(mentions_alike(name, user, self.old.snapshot, self.new.snapshot) for user in users)

    def exported(self, name: Name) -> bool:
        """Whether both releases export ``name``: only then can a consumer use it before and after."""
        return bool(self.old.variants("symbol", name) and self.new.variants("symbol", name))

    def has_own_copy(self, name: Name) -> bool:
        """Whether built programs have a function compiled in, or none: they do not call the old release's for it."""
        if not self.old.variants("symbol", name):
            return True
        return self.old.consumers.owner(name, self.new.exporting, gone=True) in ("inline", "foreign")

    def affected(self, name: Name) -> tuple[Name, ...]:
        """The exports of both releases through which programs built against the old one meet ``name``, sorted.

        For a function or variable that is itself. Exports that are gone have findings of their own and are left out,
        and so are those that no consumer can name.
        """
        if name.kind in ("function", "variable"):
            return (name,)
        if name not in self._affected:
            self._affected[name] = self._meeting(name)
        return self._affected[name]

    def _meeting(self, type: Name) -> tuple[Name, ...]:
        found, kept = self.old.met_through(type), self.new.snapshot.entries.get("symbol", {})
        plain = [each for each in found if kept.get(each) and len(kept[each]) == 1]
        if len(plain) == len(found):
            return tuple(plain)
        several = [each for each in found if still_meets(self.old, self.new, each, type)]
        return tuple(sorted({exported(self.old, self.new, each) for each in several}))

    def concerns(self, name: Name) -> bool:
        """Whether programs built against the old release meet ``name``: through exports, or in its public headers."""
        consumers = self.old.consumers
        return bool(self.affected(name)) or consumers.offers(name) or bool(consumers.compilers_of(name))

    @cached_property
    def taking_numbers(self) -> tuple[Name, ...]:
        """The exports of both releases that take or return a plain integer, sorted: constants pass through them."""
        side = self.old
        return tuple(
            name
            for name in sorted(side.exports.names.values())
            if self.exported(name) and _passes_integer(side, name) and side.consumers.can_name(name)
        )

    def passed_with(self, name: Name) -> Sequence[Name]:
        """What is or embeds ``name`` and is passed by value: by kept exports, callbacks and virtual methods."""
        if name not in self._passed_with:
            self._passed_with[name] = self.old.consumers.passed_with(name, self.exported)
        return self._passed_with[name]

    def taken_with(self, name: Name) -> Sequence[Name]:
        """What of :meth:`passed_with` is a parameter somewhere, and not only a result."""
        return self.old.consumers.taken_with(name, self.exported)


def _passes_integer(side: SideFacts, name: Name) -> bool:
    shape = side.shape(name)
    if not isinstance(shape, Function):
        return False
    types = (side.types.resolve(each) for each in (shape.result, *shape.parameters))
    return any(isinstance(each, Primitive) and each.spelling in INTEGERS for each in types)
