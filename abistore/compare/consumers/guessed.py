"""What consumers can name, see and allocate, guessed from debug information: files, signatures and symbols."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from abistore.compare.consumers.allocation import Allocation
from abistore.compare.consumers.constant_headers import ConstantHeaders
from abistore.compare.consumers.consumers import Chance, Concealment, Consumers, Owner, ReleaseExports
from abistore.compare.consumers.export_owner import Ownership
from abistore.compare.consumers.header_clues import HeaderClues
from abistore.compare.consumers.internal_exports import InternalDeclarations
from abistore.compare.consumers.private_members import PrivateMembers
from abistore.compare.reuse.carrying import Summaries, take_on
from abistore.compare.types.mentions import TypeUse, TypeUses
from abistore.compare.types.type_side import TypeSide
from abistore.model.names import Name
from abistore.model.reach.graph import Reach
from abistore.model.words.files import is_source

if TYPE_CHECKING:
    from abistore.compare.consumers.derived.handed_in import HandedIn


class GuessedConsumers(Consumers):
    """The consumers of a release of which no headers are given.

    ``files`` tells in which file each declaration stands.
    """

    def __init__(
        self, own: ReleaseExports, types: TypeSide, reach: Callable[[], Reach], files: Mapping[Name, str]
    ) -> None:
        self._own = own
        self._types = types
        self._reach = reach
        self._files = files

    def can_name(self, export: Name) -> bool:
        """Whether a public file declares ``export`` or its class, as far as is known."""
        return not self._internals.has(export)

    def private_header(self, export: Name) -> str:
        """The header beside the public ones that declares ``export``."""
        return self._internals.header(export)

    def out_of_reach(self, export: Name) -> bool:
        """Whether the export table has no copy of an inline function with access to the private ``export``."""
        return self._private_members.has(export)

    def concealment(self, export: Name) -> Concealment:
        """Whether a private header declares ``export``, or else only source files."""
        return "header" if self.private_header(export) else "internal"

    def owner(self, export: Name, other: ReleaseExports, *, gone: bool) -> Owner:
        """Whose ``export`` is, by its binding and its namespace."""
        return Ownership(self._own, other).of(export, gone=gone)

    def can_see(self, type: Name) -> bool:
        """Whether a public file defines ``type``, or an export reaches it through public types."""
        return not self._allocation.is_private(type)

    def can_include(self, type: Name) -> bool:
        """Whether the header that defines ``type`` is in the library's ``include`` folder, or declares exports."""
        return self._constants.can_include(self._files.get(type, ""))

    def can_look_into(self, type: Name, fields: Collection[str]) -> bool:
        """Without headers nobody knows the inline functions of a class."""
        return True

    def look_at(self, type: Name, field: str) -> bool:
        """Without headers nobody knows the inline functions of a class."""
        return False

    def offers(self, type: Name) -> bool:
        """No header was read."""
        return False

    def compilers_of(self, type: Name) -> Sequence[Name]:
        """None that is known: debug information does not tell code from code."""
        return ()

    def callers_of(self, export: Name) -> Sequence[Name]:
        """None that is known."""
        return ()

    def called_beside(self, type: Name) -> Sequence[Name]:
        """None that is known."""
        return ()

    def take_untyped(self) -> bool:
        """Not known without headers, and so taken for possible."""
        return True

    def hand_in(self, type: Name) -> Chance:
        """What signatures of the exports tell, where debug information describes everything that is met."""
        return self._handed_in.chance(type)

    def library_allocates(self, type: Name) -> bool:
        """Whether the signatures of the exports leave ``type`` to the library."""
        return self._allocation.library_allocates(type)

    def gets_arrays(self, type: Name) -> bool:
        """Whether functions tell a number along with the ``type`` that they hand out."""
        return self._allocation.hands_out_many(type)

    def hold(self, type: Name) -> bool:
        """Whether an export that can be named uses ``type`` by value."""
        return type in self._allocation.by_value

    def hold_beyond_standard(self, type: Name) -> bool:
        """Whether an export that can be named, and that is the library's own, uses ``type`` by value."""
        return type in self._allocation.held_by_own

    def passed_with(self, type: Name, stays: Callable[[Name], bool]) -> Sequence[Name]:
        """What the exports, function pointers and virtual methods take or return."""
        return self._allocation.passed_with(type, stays)

    def taken_with(self, type: Name, stays: Callable[[Name], bool]) -> Sequence[Name]:
        """What the exports, function pointers and virtual methods take."""
        return self._allocation.taken_with(type, stays)

    @cached_property
    def _clues(self) -> HeaderClues:
        return HeaderClues(self._own.snapshot, self._files, self._reach)

    @cached_property
    def _internals(self) -> InternalDeclarations:
        return InternalDeclarations(self._clues)

    @cached_property
    def _private_members(self) -> PrivateMembers:
        return PrivateMembers(self._clues)

    @cached_property
    def _constants(self) -> ConstantHeaders:
        return ConstantHeaders(self._own, self._files, self.can_see)

    @cached_property
    def _handed_in(self) -> HandedIn:
        from abistore.compare.consumers.derived import handed_in  # few vtables grow at their end

        layout = self._own.snapshot.entries.get("layout", {})
        offered = handed_in.Offered(
            layout, self.can_name, lambda type: not is_source(self._files.get(type, "")), told=False
        )
        return handed_in.HandedIn(offered, self._types)

    @cached_property
    def _uses(self) -> Summaries[TypeUse]:
        layout = self._own.snapshot.entries.get("layout", {})
        return Summaries(layout, TypeUses(self._types, lambda name: self._reach().mentions(name), layout).of)

    @cached_property
    def _allocation(self) -> Allocation:
        return Allocation(self._uses, self._internals, self._private_members, self._files, plain=self._is_plain)

    @property
    def _is_plain(self) -> bool:
        languages = self._own.snapshot.provenance.languages
        return not any("C++" in language or "plus_plus" in language for language in languages)

    def take_on(self, before: Consumers, changed: Collection[Name], resolving: Callable[[], Collection[Name]]) -> None:
        """Take the summaries of what is as it was, and all answers where the other summaries are equal too."""
        if not isinstance(before, GuessedConsumers):
            return
        known = vars(before)
        same_uses = "_uses" in known and self._uses.take_on(before._uses, resolving())
        if "_clues" not in known or (self._files is not before._files and self._files != before._files):
            return
        if not self._clues.take_on(before._clues, changed):
            return
        if "_private_members" in known:
            self._private_members.take_on(before._private_members)
        if "_internals" in known:
            self._internals.take_on(before._internals)
            if same_uses and "_allocation" in known and self._is_plain == before._is_plain:
                take_on(self._allocation, before._allocation)
