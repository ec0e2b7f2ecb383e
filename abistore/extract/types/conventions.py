"""Which functions are called differently because of options that their units were compiled with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from abistore.model.names import Name
from abistore.model.recorded.call_options import Concern
from abistore.model.shapes import (
    Alias,
    AnyShape,
    Array,
    Function,
    Inline,
    Named,
    Pointer,
    Primitive,
    Procedure,
    Qualified,
    Record,
    TypeRef,
    VirtualMethod,
)

DEEPEST: Final = 12
"""How far types are followed: into members, and behind pointers."""

FLOATS: Final = frozenset({"float", "double", "long double", "_Float16", "__fp16", "_Float32", "_Float64"})
LONG_DOUBLE: Final = "long double"
ARGUMENT_REGISTERS: Final = 6
"""The integer registers for arguments on x86-64."""


class PassedTypes(msgspec.Struct, frozen=True):
    """The types that go in and out of a call."""

    result: TypeRef
    parameters: tuple[TypeRef, ...]
    variadic: bool = False
    this: bool = False

    @property
    def values(self) -> tuple[TypeRef, ...]:
        """The types of all that goes by value."""
        return (self.result, *self.parameters)


def settle_conventions(
    entries: Mapping[Name, list[AnyShape]],
    options: Mapping[Name, tuple[tuple[Concern, str], ...]],
    *,
    pointer: int,
) -> None:
    """Functions have the options of their units as their calling convention where these concern them.

    So they do where a parameter or result is passed differently: one of their own, or one of a callback or virtual
    function that they hand over. ``pointer`` is the size of pointers in bytes.
    """
    calls = _Calls(entries, pointer)
    for name, given in options.items():
        shapes = entries[name]
        for index, shape in enumerate(shapes):
            if isinstance(shape, Function) and shape.calling_convention is None:
                concerned = [word for concern, word in given if calls.concern(shape, concern)]
                if concerned:
                    shapes[index] = replace(shape, calling_convention=" ".join(concerned))


class _Calls:
    """The types of a library, as far as calls depend on them."""

    def __init__(self, entries: Mapping[Name, list[AnyShape]], pointer: int) -> None:
        self._entries = entries
        self._pointer = pointer

    def concern(self, function: Function, concern: Concern) -> bool:
        """Whether an option concerns a function, or what it hands over."""
        method = function.method
        this = method is not None and not method.static
        own = PassedTypes(function.result, function.parameters, function.variadic, this)
        calls = [own, *(each for type in own.values for each in self._handed(type, set(), DEEPEST))]
        return any(self._concerns(each, concern) for each in calls)

    def _concerns(self, call: PassedTypes, concern: Concern) -> bool:
        match concern:
            case "arguments":
                return bool(call.parameters) or call.this or call.variadic or self._is_small(call.result, 9)
            case "integer registers":
                integers = any(not self._is_float(each) for each in call.parameters)
                return not call.variadic and (integers or call.this or self._record(call.result) is not None)
            case "stack":
                return not call.variadic and bool(call.parameters or call.this)
            case "small structs":
                return self._is_small(call.result, 0)
            case "floats alone":
                return any(self._is_float(each, but=LONG_DOUBLE) for each in call.values)
            case "float results":
                return self._is_float(call.result)
            case "long double":
                return any(self._mentions(each, LONG_DOUBLE, set(), DEEPEST) for each in call.values)
            case "floats":
                return any(self._is_float(leaf) for each in call.values for leaf in self._leaves(each, DEEPEST))
            case "vectors of 32" | "vectors of 64":
                width = int(concern.rpartition(" ")[2])
                leaves = (leaf for each in call.values for leaf in self._leaves(each, DEEPEST))
                return any(isinstance(leaf, Array) and self._width(leaf) == width for leaf in leaves)
            case "empty classes":
                crowded = len(call.parameters) + call.this > ARGUMENT_REGISTERS
                return crowded and any(self._is_empty(each) for each in call.parameters)
            case "every call":
                return True
            case "shown elsewhere":
                return False

    # --- what goes by value ---------------------------------------------------------------------------------------

    def _bare(self, type: TypeRef) -> TypeRef:
        """A type without qualifiers and other names."""
        for _ in range(DEEPEST):
            if isinstance(type, Qualified):
                type = type.target
            elif isinstance(type, Named) and isinstance(alias := self._shape(type.name), Alias):
                type = alias.target
            else:
                break
        return type

    def _shape(self, name: Name) -> AnyShape | None:
        shapes = self._entries.get(name, ())
        return shapes[0] if len(shapes) == 1 else None

    def _record(self, type: TypeRef) -> Record | None:
        """The record that goes by value as itself; ``None`` for other types, and where the address of a copy goes."""
        bare = self._bare(type)
        shape = bare.shape if isinstance(bare, Inline) else self._shape(bare.name) if isinstance(bare, Named) else None
        return shape if isinstance(shape, Record) and shape.passing != "reference" else None

    def _is_small(self, type: TypeRef, least: int) -> bool:
        """Whether a record of at least so many bytes may be returned in registers: two of them."""
        record = self._record(type)
        if record is None or not least <= record.size <= 2 * self._pointer:
            return False
        return self._pointer > 4 or record.size & (record.size - 1) == 0

    def _is_empty(self, type: TypeRef) -> bool:
        record = self._record(type)
        return record is not None and record.size == 1 and not record.fields

    def _is_float(self, type: TypeRef, *, but: str = "") -> bool:
        bare = self._bare(type)
        return isinstance(bare, Primitive) and bare.spelling in FLOATS and bare.spelling != but

    def _width(self, vector: Array) -> int | None:
        element = self._bare(vector.element)
        if not vector.vector or vector.count is None or not isinstance(element, Primitive):
            return None
        return vector.count * element.size

    def _leaves(self, type: TypeRef, depth: int) -> Iterator[TypeRef]:
        """What an object is made of in the end: scalars, pointers and vectors; the parts of complex numbers too."""
        bare, record = self._bare(type), self._record(type)
        if record is not None:
            parts = [field.type for field in record.fields] + [base.type for base in record.bases]
        elif isinstance(bare, Array) and not bare.vector:
            parts = [bare.element]
        else:
            if isinstance(bare, Primitive) and bare.spelling.startswith("_Complex "):
                bare = Primitive(bare.spelling.removeprefix("_Complex "), bare.size // 2)
            yield bare
            return
        for part in parts if depth else ():
            yield from self._leaves(part, depth - 1)

    # --- what is behind pointers ----------------------------------------------------------------------------------

    def _mentions(self, type: TypeRef, spelling: str, seen: set[TypeRef], depth: int) -> bool:
        """Whether programs and the library share memory of a built-in type through a value of ``type``."""
        bare = self._bare(type)
        if bare in seen or not depth:
            return False
        seen.add(bare)
        if isinstance(bare, Primitive):
            return bare.spelling.removeprefix("_Complex ") == spelling
        return any(self._mentions(each, spelling, seen, depth - 1) for each in self._parts(bare))

    def _parts(self, bare: TypeRef) -> Iterator[TypeRef]:
        """What users of a type can get at: what pointers point to, elements, public members and bases."""
        match bare:
            case Pointer():
                yield bare.target
            case Array():
                yield bare.element
            case Named() | Inline():
                shape = bare.shape if isinstance(bare, Inline) else self._shape(bare.name)
                if isinstance(shape, Record) and not shape.handle:
                    yield from (field.type for field in shape.fields if field.access == "public")
                    yield from (base.type for base in shape.bases)
            case _:
                return

    def _handed(self, type: TypeRef, seen: set[TypeRef], depth: int) -> Iterator[PassedTypes]:
        """The callbacks and virtual functions that users of a value of ``type`` can call or supply."""
        bare = self._bare(type)
        if bare in seen or not depth:
            return
        seen.add(bare)
        if isinstance(bare, Procedure):
            yield PassedTypes(bare.result, bare.parameters, bare.variadic)
            for each in (bare.result, *bare.parameters):
                yield from self._handed(each, seen, depth - 1)
        yield from map(_virtual, self._virtuals(bare))
        for each in self._parts(bare):
            yield from self._handed(each, seen, depth - 1)

    def _virtuals(self, bare: TypeRef) -> tuple[VirtualMethod, ...]:
        shape = self._shape(bare.name) if isinstance(bare, Named) else None
        return shape.virtuals if isinstance(shape, Record) else ()


def _virtual(method: VirtualMethod) -> PassedTypes:
    return PassedTypes(method.result, method.parameters, this=True)
