"""What a class's vtable holds, slot by slot, on one side of a comparison."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

from abistore.diffing.reuse import Note, Watched
from abistore.diffing.types.sameness import TypeSide
from abistore.model.declarations import Name
from abistore.model.names.spelling import declare, spell
from abistore.model.names.symbols import is_const_member
from abistore.model.shapes import VOID, Base, Function, Named, Record, VirtualMethod
from abistore.model.snapshot import Variants
from abistore.model.words import is_decorated
from abistore.patterns import pattern

Members: TypeAlias = dict[Name, list[Function]]

PURE = frozenset({"__cxa_pure_virtual", "_purecall"})
"""What stands in the slot of a pure virtual function."""

HANDLING = pattern(r"~|operator=$")
"""How the names of functions read that destroy and assign objects."""

DEEPEST = 64
"""Classes that derive through more levels than this are malformed input."""


IMPLICIT = VirtualMethod("~", "", None, VOID)
"""A destructor that compilers make, since a base has a virtual one (Itanium C++ ABI, 2.5.2)."""


class VirtualTables:
    """The classes of one side as callers of virtual methods see them."""

    def __init__(self, side: TypeSide) -> None:
        self.side = side
        self._slots: dict[Name, Mapping[int, VirtualMethod]] = {}
        self._polymorphic: dict[Name, bool] = {}

    @property
    def records_pure(self) -> bool:
        """Whether the debug information tells pure methods; that of GCC calls all of them just virtual."""
        return not any("GNU" in compiler for compiler in self.side.snapshot.provenance.compilers)

    @cached_property
    def records_slots(self) -> bool:
        """Whether the debug information tells slots: a PDB file of MinGW's ABI has none of any class."""
        snapshot = self.side.snapshot
        if snapshot.target.format != "pe":
            return True
        every = (shape for shapes in snapshot.entries.get("layout", {}).values() for shape in shapes)
        virtuals = [each for shape in every if isinstance(shape, Record) for each in shape.virtuals]
        return not virtuals or any(each.slot is not None for each in virtuals)

    @cached_property
    def _destructors(self) -> int:
        """The slots of a destructor: Visual C++ has one that destroys, and frees where it is told to."""
        snapshot = self.side.snapshot
        names = snapshot.entries.get("symbol", ()) if snapshot.target.format == "pe" else ()
        return 1 if any(is_decorated(name.spelling) for name in names) else 2

    @property
    def hides_only_dynamic(self) -> bool:
        """Whether a class that is not described has a vtable: GCC describes all others, and Clang leaves out more."""
        compilers = self.side.snapshot.provenance.compilers
        return bool(compilers) and all("GNU" in compiler for compiler in compilers)

    @cached_property
    def own_bits(self) -> dict[Name, int]:
        """Where the last members of classes end, as far as that was asked; in bits."""
        return {}

    def record(self, base: Base) -> tuple[Name, Record] | None:
        """The class that ``base`` derives from; ``None`` where it is not described."""
        type, _ = self.side.bare(base.type)
        shape = self.side.shape(type.name) if isinstance(type, Named) else None
        return (type.name, shape) if isinstance(type, Named) and isinstance(shape, Record) else None

    def is_polymorphic(self, record: Record) -> bool:
        """Whether objects of ``record`` hold a vtable pointer, their own or that of a base."""
        if record.has_vptr or record.virtuals or any(base.virtual for base in record.bases):
            return True
        return any(self._is_base_polymorphic(*base) for base in map(self.record, record.bases) if base is not None)

    def _is_base_polymorphic(self, name: Name, record: Record) -> bool:
        if name not in self._polymorphic:
            seen = {name: record}
            pending = [name]
            while pending:
                each = seen[pending.pop()]
                bases = dict(found for found in map(self.record, each.bases) if found is not None)
                if each.has_vptr or each.virtuals or any(base.virtual for base in each.bases):
                    break
                if any(self._polymorphic.get(base) for base in bases):
                    break
                further = {
                    base: shape for base, shape in bases.items() if base not in seen and base not in self._polymorphic
                }
                seen |= further
                pending += further
            else:
                self._polymorphic.update(dict.fromkeys(seen, False))
                return False
            self._polymorphic[name] = True
        return self._polymorphic[name]

    def inherited(self, record: Record, depth: int = 0) -> Mapping[int, VirtualMethod]:
        """The slots that the primary base brings, whose vtable the class continues (Itanium C++ ABI, section 2.4)."""
        primary = self.primary(record)
        return {} if primary is None else self._named_slots(*primary, depth + 1)

    def primary(self, record: Record) -> tuple[Name, Record] | None:
        """The base whose vtable the class continues: the first non-virtual one with a vtable.

        Without one it is the first virtual base that is a vtable pointer only.
        """
        nearly_empty = None
        for base in record.bases:
            found = self.record(base)
            if found is None or not self.is_polymorphic(found[1]):
                continue
            if base.offset == 0:
                return found
            if base.virtual and found[1].size == self.side.snapshot.target.bits // 8:
                nearly_empty = nearly_empty or found
        return nearly_empty

    def has_one_table(self, record: Record, depth: int = 0) -> bool:
        """Whether the vtable has no parts for bases that lie behind the start of the object, nor for virtual ones."""
        bases = [found for found in map(self.record, record.bases) if found is not None]
        polymorphic = [each for each in bases if self.is_polymorphic(each[1])]
        if not polymorphic or depth == DEEPEST:
            return not polymorphic
        return polymorphic == [self.primary(record)] and self.has_one_table(polymorphic[0][1], depth + 1)

    def slots(self, record: Record, depth: int = 0) -> Mapping[int, VirtualMethod]:
        """The primary vtable of ``record`` from its first function on; both slots of a destructor hold it.

        A destructor that no class of the primary bases writes, and that overrides one of a further base, is the last.
        """
        own = {
            slot: method
            for method in record.virtuals
            if method.slot is not None
            for slot in range(method.slot, method.slot + (self._destructors if is_destructor(method) else 1))
        }
        found = {**(self.inherited(record, depth) if depth < DEEPEST else {}), **own}
        if not any(map(is_destructor, (*record.virtuals, *found.values()))) and self.has_virtual_destructor(record):
            first = max(found, default=-1) + 1
            found |= dict.fromkeys(range(first, first + self._destructors), IMPLICIT)
        return found

    def has_virtual_destructor(self, record: Record) -> bool:
        """Whether a class or a base of it declares a virtual destructor. That of the class is one, written or not."""
        pending, seen = [record], set[Name]()
        while pending:
            each = pending.pop()
            if any(map(is_destructor, each.virtuals)):
                return True
            bases = dict(found for found in map(self.record, each.bases) if found is not None)
            pending += [shape for name, shape in bases.items() if name not in seen]
            seen |= bases.keys()
        return False

    def _named_slots(self, name: Name, record: Record, depth: int) -> Mapping[int, VirtualMethod]:
        known = self._slots.get(name)
        if known is None:
            known = self._slots[name] = self.slots(record, depth)
        return known

    def methods(self, owner: Name) -> list[Function]:
        """The member functions of a class that the evidence describes."""
        return [shape for shapes in self._methods.get(owner, {}).values() for shape in shapes]

    @cached_property
    def _methods(self) -> Mapping[Name, Members]:
        found: dict[Name, Members] = {}
        entries = self.side.snapshot.entries
        for name in {**entries.get("layout", {}), **entries.get("source", {})}:
            for owner, shape in _members(name, self.side.snapshot.described(name)):
                found.setdefault(owner, {}).setdefault(name, []).append(shape)
        return found

    def carry(self, before: VirtualTables, changed: Collection[Name]) -> None:
        """Take the members of classes from the tables of a release before, but for those of the ``changed`` names."""
        if "_methods" not in vars(before) or "_methods" in vars(self):
            return
        found = dict(before._methods)
        for name in changed:
            for owner, _ in _members(name, before.side.snapshot.described(name)):
                found[owner] = {other: shapes for other, shapes in found[owner].items() if other != name}
            for owner, shape in _members(name, self.side.snapshot.described(name)):
                own = found.get(owner, {})
                found[owner] = {**own, name: [*own.get(name, ()), shape]}
        self._methods = found

    def watched(self, side: TypeSide, note: Note) -> VirtualTables:
        """The same for the types of ``side``, which tells ``note`` of every class whose members it looks at."""
        found = VirtualTables(side)
        found._methods = Watched(self._methods, note, "members")
        return found

    def has_plain(self, owner: Name, method: VirtualMethod) -> bool:
        """Whether ``owner`` exports what ``method`` is called as a function that is not virtual.

        Destructors have no symbol of their own in a vtable's description and are sought by name.
        """
        wanted = Name("function", method.symbol)
        shapes = self.side.snapshot.described(wanted) if method.symbol else self._namesakes(owner, method.display)
        return any(isinstance(each, Function) and each.method and each.method.virtual == "no" for each in shapes)

    def _namesakes(self, owner: Name, display: str) -> Iterator[Function]:
        return (each for each in self.methods(owner) if each.display == f"{owner.spelling}::{display}")

    def may_be_derived_from(self, owner: Name) -> bool:
        """Whether consumers may write classes that derive from ``owner``.

        They cannot where all of its exported constructors are private, since every class has one.
        """
        found = [shape for shapes in self.constructors(owner).values() for shape in shapes]
        return not found or any(each.method and each.method.access != "private" for each in found)

    def handling(self, owner: Name) -> Mapping[Name, Sequence[Function]]:
        """The functions of a class that destroy and assign its objects, by name, as far as somebody declared them."""
        return {
            name: own
            for name, shapes in self._methods.get(owner, {}).items()
            if (own := [each for each in shapes if HANDLING.match(each.display.rpartition("::")[2])])
        }

    def constructors(self, owner: Name) -> Mapping[Name, Sequence[Function]]:
        """The constructors among the member functions of a class that the evidence describes, by name."""
        simple = owner.spelling.partition("<")[0].rpartition("::")[2]
        return {
            name: own
            for name, shapes in self._methods.get(owner, {}).items()
            if (own := [each for each in shapes if each.display.rpartition("::")[2] == simple])
        }


def _members(name: Name, variants: Variants) -> Iterator[tuple[Name, Function]]:
    """The classes of which ``name`` is a member function, each beside its declaration."""
    for shape in variants:
        if name.kind == "function" and isinstance(shape, Function) and shape.method is not None:
            yield shape.method.owner, shape


def is_destructor(method: VirtualMethod) -> bool:
    """Whether ``method`` is a destructor. In the Itanium C++ ABI it has two slots: one destroys, one also frees."""
    return method.display.startswith("~")


def same_method(old: VirtualMethod, new: VirtualMethod) -> bool:
    """Whether one overrides or is the other: same name and parameters, whatever class declares them."""
    if is_destructor(old) and is_destructor(new):
        return True
    return (old.display, old.parameters) == (new.display, new.parameters)


def spelled(method: VirtualMethod) -> str:
    """``method`` as a class declares it."""
    return f"virtual {plainly(method)}{' = 0' if method.pure else ''}"


def plainly(method: VirtualMethod) -> str:
    """``method`` as a class would declare it that is not virtual."""
    text = f"{method.display}({', '.join(map(spell, method.parameters))})"
    if is_const_member(method.symbol):
        text += " const"
    return text if is_destructor(method) else declare(method.result, text)
