"""Type references: from the numbers of type records to what shapes are made of."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from abistore.extract.pdb import leaves as leaf
from abistore.extract.pdb.builtin_types import NOTHING, builtin, size_of
from abistore.extract.pdb.leaves import number, raw_text
from abistore.extract.pdb.type_records import TypeRecords, flags
from abistore.extract.types.foreign import is_foreign
from abistore.model.budget import TOO_LARGE, TypeBudget
from abistore.model.cpp_names.normal import normal_name, qualified
from abistore.model.names import Name
from abistore.model.shapes import (
    VOID,
    AnyShape,
    Array,
    Enum,
    Inline,
    MemberPointer,
    Named,
    Pointer,
    Procedure,
    Record,
    Special,
    TypeRef,
)

MAX_DEPTH: Final = 100
UNNAMED: Final = ("<unnamed-", "<anonymous-", "__unnamed", "<unnamed_")

_CONST, _VOLATILE = 1, 2
_MODES: Final[dict[int, Literal["*", "&", "&&"]]] = {0: "*", 1: "&", 4: "&&"}
_MEMBERS: Final = frozenset({2, 3})

Describe: TypeAlias = "Callable[[PdbTypes, int], AnyShape]"


class PdbTypes:
    """Turns the numbers of types into references, each once. Named types that are met wait in ``pending``.

    ``describe`` gives the shape of a record or enumeration, for those that have no name. A pointer takes ``word``
    bytes. ``runtime``: the library is the C++ runtime, so that the types of ``std`` are its own.
    """

    def __init__(
        self, records: TypeRecords, aliases: dict[int, str], describe: Describe, *, word: int, runtime: bool
    ) -> None:
        self.records = records
        self.word = word
        self.runtime = runtime
        self._describe = describe
        self.pending: list[tuple[Name, int]] = []
        self.budget = TypeBudget()
        self.inlined: dict[int, TypeRef] = {}
        self._aliases = aliases
        self._known: dict[int, TypeRef] = {}
        self._met = set[Name]()
        self._depth = 0

    def of(self, index: int) -> TypeRef:
        """The type of number ``index``."""
        if index < self.records.first:
            return builtin(index)
        found = self._known.get(index)
        if found is None:
            self._known[index] = TOO_LARGE  # what a damaged type that is part of itself finds
            self._depth += 1
            found = self.budget.within(self._made(index)) if self._depth <= MAX_DEPTH else TOO_LARGE
            self._depth -= 1
            self._known[index] = found
        return found

    def _made(self, index: int) -> TypeRef:
        kind, data = self.records.record(index)
        if kind in leaf.DEFINED:
            return self._named(index)
        if kind == leaf.MODIFIER:
            target, words = struct.unpack_from("<IH", data)
            return qualified(self.of(target), _qualifiers(words & _CONST, words & _VOLATILE, 0))
        if kind == leaf.POINTER:
            return self._pointer(data)
        if kind == leaf.ARRAY:
            return self._array(data)
        if kind in (leaf.PROCEDURE, leaf.MEMBER_FUNCTION):
            return self.procedure(index)
        if kind == leaf.BIT_FIELD:
            return self.of(struct.unpack_from("<I", data)[0])
        return Special(f"type of the form {kind:#x}")

    def _pointer(self, data: bytes) -> TypeRef:
        target, said = struct.unpack_from("<II", data)
        mode = said >> 5 & 7
        if mode in _MEMBERS:
            (owner,) = struct.unpack_from("<I", data, 8)
            made: TypeRef = MemberPointer(self.of(owner), self.of(target))
        else:
            made = Pointer(self.of(target), _MODES.get(mode, "*"))
        return qualified(made, _qualifiers(said >> 10 & 1, said >> 9 & 1, said >> 12 & 1))

    def _array(self, data: bytes) -> TypeRef:
        (element,) = struct.unpack_from("<I", data)
        size, _ = number(data, 8)
        each = self.size(element)
        made = self.of(element)
        return Array(made, size // each if each and size else None)

    def procedure(self, index: int) -> Procedure:
        """The function type of number ``index``, without ``this``."""
        kind, data = self.records.record(index)
        if kind == leaf.PROCEDURE:
            result, _, _, _, listed = struct.unpack_from("<IBBHI", data)
        elif kind == leaf.MEMBER_FUNCTION:
            result, _, _, _, _, _, listed = struct.unpack_from("<IIIBBHI", data)
        else:
            raise IndexError(f"type {index:#x} is no function")
        kind, data = self.records.record(listed)
        (count,) = struct.unpack_from("<I", data)
        numbers = struct.unpack_from(f"<{min(count, len(data) // 4 - 1)}I", data, 4) if count else ()
        variadic = bool(numbers) and numbers[-1] == NOTHING
        taken = tuple(map(self.of, numbers[:-1] if variadic else numbers))
        return Procedure(VOID if result == NOTHING else self.of(result), taken, variadic)

    # --- names ----------------------------------------------------------------------------------------------------

    def spelling(self, index: int) -> str:
        """The name of a record or enumeration; empty where it has none."""
        kind, data = self.records.record(index)
        at = 12 if kind == leaf.ENUM else number(data, 8 if kind == leaf.UNION else 16)[1]
        name = raw_text(data, at).decode("utf-8", "backslashreplace")
        last = name.rpartition("::")[2]
        if last.startswith(UNNAMED):
            alias = self._aliases.get(index, "")
            return "" if alias.rpartition("::")[2].startswith(UNNAMED) else normal_name(alias)
        return normal_name(name)

    def _named(self, index: int) -> TypeRef:
        defined = self.records.definition(index)
        spelling = self.spelling(defined)
        kind, _ = self.records.record(defined)
        if not spelling:
            return self.inlined.get(defined) or self._inline(defined)
        name = Name("enum" if kind == leaf.ENUM else "record", spelling)
        if name not in self._met:
            self._met.add(name)
            self.pending.append((name, defined))
        return Named(name)

    def _inline(self, index: int) -> TypeRef:
        shape = self._describe(self, index)
        made: TypeRef = Inline(shape) if isinstance(shape, Record | Enum) else Special("type without a name")
        self.inlined[index] = made
        return made

    def is_foreign(self, name: Name) -> bool:
        """Whether the type is of the standard library, and this library is not that."""
        return is_foreign(name.spelling, self.runtime)

    # --- sizes ----------------------------------------------------------------------------------------------------

    def size(self, index: int, depth: int = 0) -> int:
        """How many bytes a type takes; 0 where nothing tells."""
        if index < self.records.first:
            return size_of(index, self.word)
        kind, data = self.records.record(index)
        if depth > MAX_DEPTH:
            return 0
        if kind in (leaf.MODIFIER, leaf.BIT_FIELD):
            return self.size(struct.unpack_from("<I", data)[0], depth + 1)
        if kind == leaf.POINTER:
            return int(struct.unpack_from("<I", data, 4)[0]) >> 13 & 63
        if kind == leaf.ARRAY:
            return number(data, 8)[0]
        if kind == leaf.ENUM:
            return self.size(struct.unpack_from("<I", data, 4)[0], depth + 1)
        if kind in leaf.RECORDS:
            _, data = self.records.record(self.records.definition(index))
            return number(data, 8 if kind == leaf.UNION else 16)[0]
        return 0


def is_declaration(data: bytes) -> bool:
    """Whether a record or enumeration is declared only."""
    return bool(flags(data) & leaf.FORWARD)


def _qualifiers(const: int, volatile: int, restrict: int) -> tuple[str, ...]:
    return tuple(word for word, said in (("const", const), ("restrict", restrict), ("volatile", volatile)) if said)
