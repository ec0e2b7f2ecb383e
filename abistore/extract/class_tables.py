"""What vtables point to in formats without sizes, and which functions compiler options call differently.

A vtable is offsets, the type information of its class, then functions; the part for another base follows with the same
type information (Itanium C++ ABI, section 2.5). Whatever else follows is not the table's.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from abistore.model.declarations import Name
from abistore.model.format_gaps import Concern
from abistore.model.names.symbols import CLASS_DATA, TYPEINFO, TYPEINFO_NAME, VTABLE, primary
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

MOST_WORDS: Final = 1 << 12
"""Words of one table that are read. The largest vtables of real libraries have a few hundred."""

MOST_IN_ALL: Final = 1 << 20
"""Words of all tables together."""

OF_ALL: Final = (TYPEINFO_NAME, f"{VTABLE}N10__cxxabiv1")
"""How the symbols begin that type information points to whatever the class is."""

_MOST_OFFSETS: Final = 1 << 8
"""Offsets before the type information: one for each virtual base, and for each function of such a base."""

_MOST_ZEROS: Final = 1 << 6

_FLAGS_OF_BASES: Final = 0x10
"""``__vmi_class_type_info::__flags`` is smaller."""

_NO_BASE, _ONE_BASE, _MANY_BASES = _SORTS = ("17__class_type_info", "20__si_class_type_info", "21__vmi_class_type_info")

Word = int | str | None
"""What stands at a place: an address of the file, the symbol that is bound there, or no pointer."""


def named_words(table: str, words: Iterable[str]) -> tuple[str, ...]:
    """The words of ``table`` without what all of its kind hold: that it is one, and of which class."""
    own = TYPEINFO + table[len(TYPEINFO) :]
    found = tuple("" if each == own or each.startswith(OF_ALL) else each for each in words)
    return found if any(found) else ()


def names_at(symbols: Iterable[tuple[int, str]]) -> Mapping[int, str]:
    """The symbol at each address; none where unrelated ones share it."""
    found: dict[int, set[str]] = {}
    for address, symbol in symbols:
        found.setdefault(address, set()).add(symbol if symbol.startswith(CLASS_DATA) else primary(symbol))
    return {address: next(iter(names)) for address, names in found.items() if len(names) == 1}


def is_table(symbol: str) -> bool:
    """Whether ``symbol`` is a vtable or type information."""
    return symbol.startswith((VTABLE, TYPEINFO))


def pages_of(starts: Iterable[int], ends: Sequence[int], width: int, page: int) -> frozenset[int]:
    """The pages that tables may reach into: up to what stands behind them, and not further than is read."""
    found: set[int] = set()
    for start in starts:
        place = bisect_right(ends, start)
        end = min(ends[place] if place < len(ends) else start, start + MOST_WORDS * width)
        found.update(range(start // page, end // page + 1))
    return frozenset(found)


class Image(msgspec.Struct, frozen=True):
    """A file as its loader sees it.

    ``plain`` reads a number of four bytes. ``ends`` are the addresses at which something begins that has a name, or at
    which a section ends; in order.
    """

    width: int
    word: Callable[[int], Word]
    plain: Callable[[int], int]
    is_code: Callable[[int], bool]
    names: Mapping[int, str]
    ends: tuple[int, ...]


class Table(msgspec.Struct, frozen=True):
    """The words of a table as the symbols that they point to, and the most bytes that it has: 0 where nobody can tell.

    ``padding`` is how many of them may lie behind it.
    """

    words: tuple[str, ...] = ()
    size: int = 0
    padding: int = 0


class TableReader:
    """Reads the tables of classes of one image, all together within :data:`MOST_IN_ALL` words."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self._left = MOST_IN_ALL

    def table(self, symbol: str, address: int) -> Table:
        """The vtable or the type information that ``symbol`` names."""
        words = self._upto(address)
        found = self._vtable(address, words) if symbol.startswith(VTABLE) else self._typeinfo(address, words)
        named = named_words(symbol, map(self._named, found.words))
        return Table(named, found.most * self._image.width, (found.most - found.size) * self._image.width)

    def functions(self, address: int) -> tuple[str, ...]:
        """The functions that stand one after the other at ``address``."""
        found: list[str] = []
        for number in range(self._upto(address)):
            word = self._at(address, number)
            if not self._is_function(word):
                break
            found.append(self._named(word))
        return tuple(found)

    def _vtable(self, start: int, most: int) -> _Words:
        """All parts of a vtable. Without type information there is one that is known to be its own."""
        found, own = self._part(start, 0, most)
        while own is not None:
            part, typeinfo = self._part(start, len(found), most)
            if not part or typeinfo != own:
                return _Words(tuple(found), len(found), len(found) + self._more(start, len(found), most))
            found += part
        return _Words(tuple(found))

    def _part(self, start: int, at: int, most: int) -> tuple[list[Word], Word]:
        """Offsets, the type information, and functions, from word ``at`` on; empty where something else stands."""
        for number in range(at, min(most, at + _MOST_OFFSETS)):
            word = self._at(start, number)
            if self._is_function(word):
                alone = number - at >= 2
                return ([None] * (number - at) + self._run(start, number, most) if alone else []), None
            if word is not None:
                if number == at:
                    break
                return [*[None] * (number - at), word, *self._slots(start, number + 1, most)], word
        return [], None

    def _slots(self, start: int, at: int, most: int) -> list[Word]:
        """Functions, and zeros between them: a pure function of a runtime that was not linked in is one."""
        found = self._run(start, at, most)
        while (zeros := self._zeros(start, at + len(found), most)) and (
            more := self._run(start, at + len(found) + zeros, most)
        ):
            found += [*[None] * zeros, *more]
        return found

    def _run(self, start: int, at: int, most: int) -> list[Word]:
        found: list[Word] = []
        while at + len(found) < most and self._is_function(word := self._at(start, at + len(found))):
            found.append(word)
        return found

    def _more(self, start: int, at: int, most: int) -> int:
        """How many words from ``at`` on may be of the table, too: a zero may be padding, or a pure function.

        One zero and an address of data are the beginning of the next vtable.
        """
        zeros = self._zeros(start, at, most)
        if zeros == 1 and at + 1 < most and self._at(start, at + 1) is not None:
            return 0
        return zeros if zeros < _MOST_ZEROS else most - at

    def _zeros(self, start: int, at: int, most: int) -> int:
        """How many words from ``at`` on are zero, up to a few."""
        for number in range(min(most - at, _MOST_ZEROS)):
            place = start + (at + number) * self._image.width
            halves = range(place, place + self._image.width, 4)
            if self._at(start, at + number) is not None or any(map(self._image.plain, halves)):
                return number
        return max(0, min(most - at, _MOST_ZEROS))

    def _typeinfo(self, start: int, most: int) -> _Words:
        """Two words of every class; one for a single base; flags, a number, and two for each of several bases.

        Whose vtable stands first tells which. Where it has no name, bases that have one tell.
        """
        first = self._at(start, 0)
        sort = self._vtable_of(first)
        none = _Words((first, None), *((2, 2) if sort is not None else ()))
        if sort == _NO_BASE or most < 3:
            return none
        second = self._at(start, 2)
        if sort == _ONE_BASE or (sort is None and self._is_typeinfo(second)):
            return _Words((first, None, second), 3, 3)
        bases = self._several(start, most)
        if sort == _MANY_BASES or any(map(self._is_typeinfo, bases)):
            return _Words((first, None, *bases), 2 + len(bases), 2 + len(bases))
        return none

    def _several(self, start: int, most: int) -> tuple[Word, ...]:
        """Flags, a number, and so many pairs of a base and its place; empty where these words are no such list."""
        width = self._image.width
        flags, count = (self._image.plain(start + 2 * width + offset) for offset in (0, 4))
        numbers = 8 // width
        if not 0 <= flags < _FLAGS_OF_BASES or not 0 < count <= (most - 2 - numbers) // 2:
            return ()
        bases = [self._at(start, 2 + numbers + 2 * number) for number in range(count)]
        return (*[None] * numbers, *(each for base in bases for each in (base, None)))

    def _vtable_of(self, word: Word) -> str | None:
        """The class of type information by its vtable, behind whose first two words objects point."""
        name = word if isinstance(word, str) else self._image.names.get((word or 0) - 2 * self._image.width, "")
        return next((each for each in _SORTS if each in name), None)

    # --- words ----------------------------------------------------------------------------------------------------

    def _upto(self, address: int) -> int:
        place = bisect_right(self._image.ends, address)
        end = self._image.ends[place] if place < len(self._image.ends) else address
        return min(MOST_WORDS, (end - address) // self._image.width, self._left)

    def _at(self, start: int, number: int) -> Word:
        self._left -= 1
        return self._image.word(start + number * self._image.width)

    def _is_function(self, word: Word) -> bool:
        return (
            self._image.is_code(word) if isinstance(word, int) else bool(word) and not str(word).startswith(CLASS_DATA)
        )

    def _is_typeinfo(self, word: Word) -> bool:
        return self._named(word).startswith(TYPEINFO)

    def _named(self, word: Word) -> str:
        return self._image.names.get(word, "") if isinstance(word, int) else word or ""


class _Words(msgspec.Struct, frozen=True):
    """Words of a table; it has between ``size`` and ``most`` of them, which is 0 where nobody can tell."""

    words: tuple[Word, ...]
    size: int = 0
    most: int = 0


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
