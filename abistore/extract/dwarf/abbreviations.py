"""The sections of a debug file, and the abbreviations that decode its entries (DWARF 5, section 7.5.3).

An abbreviation begins with an interpreting decoder. One that is used often replaces it by generated code: that is
nearly twice as fast, and costs as much as it saves in seventy-five entries.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from functools import cache, cached_property, lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, Final, Literal, Protocol, TypeAlias

import msgspec

from abistore.extract.dwarf import encoding as dw
from abistore.extract.dwarf.encoding import (
    EMPTY,
    LEB_FORMS,
    MEANINGS,
    REFERENCE,
    SIZES,
    Attributes,
    Decoder,
    FormReader,
    MalformedDwarf,
    Skipping,
    Specification,
    UnitFormat,
    fixed_forms,
    fixed_sizes,
    is_usable,
    meaning,
    skip_function,
    variable_reader,
)
from abistore.patterns import pattern


class StringTable(dict[int, str]):
    """The strings of one section, by their offset in it."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.data = data

    def close(self) -> None:
        """Forgets the section; the strings live on where they are used."""
        self.clear()
        self.data = b""

    def __missing__(self, offset: int) -> str:
        data = self.data
        if not 0 <= offset < len(data):
            raise MalformedDwarf(f"string offset {offset:#x} lies outside its section")
        text = self[offset] = data[offset : data.index(b"\0", offset)].decode("utf-8", "replace")
        return text


class NoStrings(StringTable):
    """Stands for the strings of a file that was not found: all empty."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(b"")

    def __missing__(self, offset: int) -> str:
        return ""


class IndexedStrings(dict[int, str]):
    """The strings of one unit, by their index in its string offsets table (DWARF 5, section 7.26)."""

    __slots__ = ("offset_of", "strings")

    def __init__(self, strings: StringTable, offset_of: Callable[[int], int]) -> None:
        super().__init__()
        self.strings = strings
        self.offset_of = offset_of

    def __missing__(self, index: int) -> str:
        text = self[index] = self.strings[self.offset_of(index)]
        return text


Stored: TypeAlias = tuple[int, int]
"""An attribute that has bytes in the entry, or ``UNKNOWN`` where it is not wanted, and its form."""

Step: TypeAlias = Callable[[Attributes, bytes, int, FormReader], int]
"""Adds the wanted values at a position, and gives the position after them."""

UNKNOWN = 0
"""The attribute code of what is stepped over."""


class ReadingPlan(msgspec.Struct, frozen=True):
    """How to read the wanted attributes of an entry: values that the abbreviation holds, then steps over the bytes."""

    constants: Attributes
    steps: tuple[Step, ...]

    def read(self, data: bytes, position: int, unit: FormReader) -> tuple[int, Attributes]:
        """The position after the attributes at ``position``, and the wanted ones."""
        values = self.constants.copy()
        for step in self.steps:
            position = step(values, data, position, unit)
        return position, values


def make_plan(specifications: tuple[Specification, ...], kept: frozenset[int], format: UnitFormat) -> ReadingPlan:
    """How to read the ``kept`` attributes of entries with these specifications."""
    constants = {each: value for each, form, value in specifications if form in EMPTY and each in kept}
    stored = [(each if each in kept else UNKNOWN, form) for each, form, _ in specifications if form not in EMPTY]
    return ReadingPlan(constants, _steps(tuple(stored), format))


@lru_cache(1 << 12)
def _steps(stored: tuple[Stored, ...], format: UnitFormat) -> tuple[Step, ...]:
    """Alternating runs of fixed forms and single variable ones.

    Remembered, because many abbreviations differ only in the values that they hold themselves.
    """
    fixed = fixed_forms(format)
    plan: list[Step] = []
    for is_fixed, group in groupby(stored, key=lambda each: each[1] in fixed):
        if is_fixed:
            plan.append(_fixed_forms(list(group), format))
        else:
            plan += [_variable_form(attribute, form) for attribute, form in group]
    return tuple(plan)


def _fixed_forms(stored: list[Stored], format: UnitFormat) -> Step:
    """Over forms of fixed size in a row: one unpacking gives the raw values of the wanted ones.

    Most that do not stand for themselves are strings, or references to entries of the unit.
    """
    fixed = fixed_forms(format)
    wanted = {attribute: form for attribute, form in stored if attribute}
    size = sum(SIZES[fixed[form]] for _, form in stored)
    if not wanted:
        return lambda values, data, position, unit: position + size
    layout = [fixed[form] if attribute else f"{SIZES[fixed[form]]}x" for attribute, form in stored]
    unpack = struct.Struct("".join([format.prefix, *layout])).unpack_from
    attributes = [attribute for attribute, _ in stored if attribute]
    strings = [each for each, form in wanted.items() if form == dw.FORM_STRP]
    references = [each for each, form in wanted.items() if MEANINGS.get(form) == REFERENCE]
    others = {each: meaning(form) for each, form in wanted.items() if each not in (*strings, *references)}
    interpreted = [(each, interpret) for each, interpret in others.items() if interpret is not None]

    def step(values: Attributes, data: bytes, position: int, unit: FormReader) -> int:
        values.update(zip(attributes, unpack(data, position)))  # noqa: B905, a keyword costs a fifth
        for attribute in strings:
            values[attribute] = unit.strings[values[attribute]]
        for attribute in references:
            values[attribute] += unit.handle
        for attribute, interpret in interpreted:
            values[attribute] = interpret(values[attribute], unit)
        return position + size

    return step


def _variable_form(attribute: int, form: int) -> Step:
    """Over one form of variable size."""
    skip = skip_function(form)
    if not attribute:
        return lambda values, data, position, unit: skip(data, position, unit)
    read, interpret = variable_reader(attribute, form), meaning(form)

    def step(values: Attributes, data: bytes, position: int, unit: FormReader) -> int:
        raw, position = read(data, position, unit)
        values[attribute] = raw if interpret is None else interpret(raw, unit)
        return position

    return step


SKIP_LEB = "while b[p]>127:p+=1\n p+=1"
BLOCK_FORMS = frozenset({dw.FORM_BLOCK, dw.FORM_EXPRLOC})


class _Source:
    """The lines of one function ``f(b, p, u)`` under construction: data, position, unit."""

    def __init__(self, specifications: tuple[Specification, ...], format: UnitFormat, kept: frozenset[int]) -> None:
        self.scope: dict[str, Any] = {"uleb": dw.unsigned, "sleb": dw.signed}
        self.lines: list[str] = []
        self.results: list[tuple[int, str]] = []
        self._layout: list[str] = []
        self._run: list[str] = []
        self._size = 0
        self._format = format
        fixed = fixed_forms(format)
        for attribute, form, constant in specifications:
            wanted = attribute in kept
            if form in EMPTY:
                if wanted:
                    self.results.append((attribute, repr(constant)))
            elif form in fixed:
                self._fixed(attribute, form, fixed[form], wanted)
            else:
                self._flush()
                self._variable(attribute, form, wanted)
        self._flush()

    def _result(self, attribute: int, form: int, variable: str) -> None:
        self.results.append((attribute, MEANINGS.get(form, "{v}").format(v=variable)))

    def _fixed(self, attribute: int, form: int, code: str, wanted: bool) -> None:
        self._size += SIZES[code]
        if wanted:
            variable = f"v{len(self.results)}"
            self._layout.append(code)
            self._run.append(variable)
            self._result(attribute, form, variable)
        else:
            self._layout.append(f"{SIZES[code]}x")

    def _flush(self) -> None:
        if self._run:
            name = f"S{len(self.scope)}"
            self.scope[name] = struct.Struct(self._format.prefix + "".join(self._layout)).unpack_from
            self.lines.append(f"{','.join(self._run)},={name}(b,p)")
        if self._size:
            self.lines.append(f"p+={self._size}")
        self._layout, self._run, self._size = [], [], 0

    def _variable(self, attribute: int, form: int, wanted: bool) -> None:
        variable = f"v{len(self.results)}"
        if form in LEB_FORMS:
            self.lines.append(
                f"{variable}=b[p];p+=1\n if {variable}>127:{variable},p=uleb(b,p-1)" if wanted else SKIP_LEB
            )
        elif form == dw.FORM_SDATA:
            self.lines.append(f"{variable},p=sleb(b,p)" if wanted else SKIP_LEB)
        elif form in BLOCK_FORMS:
            self.lines.append("e=b[p];p+=1\n if e>127:e,p=uleb(b,p-1)")
            self.lines.append(f"{variable}=b[p:p+e];p+=e" if wanted else "p+=e")
        else:
            name = f"F{len(self.scope)}"
            self.scope[name] = variable_reader(attribute, form) if wanted else skip_function(form)
            self.lines.append(f"{variable},p={name}(b,p,u)" if wanted else f"p={name}(b,p,u)")
        if wanted:
            self._result(attribute, form, variable)

    def compile(self, result: str) -> Callable[..., Any]:
        """The function whose last line returns ``result``."""
        exec("def f(b,p,u):\n " + "\n ".join([*self.lines, f"return {result}"]), self.scope)
        function: Callable[..., Any] = self.scope["f"]
        return function


def generate_decoder(specifications: tuple[Specification, ...], format: UnitFormat) -> Decoder:
    """A function that does what ``decode`` of a fresh abbreviation does."""
    source = _Source(specifications, format, dw.KEPT)
    return source.compile("p,{" + ",".join(f"{attribute}:{value}" for attribute, value in source.results) + "}")


def generate_skipper(specifications: tuple[Specification, ...], format: UnitFormat, *, leads: bool) -> Skipping:
    """A function that does what ``next`` of a fresh abbreviation does; ``leads``: to the sibling that is recorded."""
    if not leads:
        return _Source(specifications, format, frozenset()).compile("p")
    source = _Source(specifications, format, frozenset({dw.AT_SIBLING}))
    source.lines.insert(0, "s=p")
    source.lines += [f"h={source.results[0][1]}", "e=h-u.base"]
    return source.compile("e if s<e<=u.limit else u.forward(h,s)")


HOT_DECODER = 75
HOT_SKIPPER = 75
"""Uses after which generating code has paid for itself."""

DEFINING = frozenset({dw.AT_EXTERNAL, dw.AT_SPECIFICATION})
PLACED = frozenset({dw.AT_LOW_PC, dw.AT_RANGES})
UNNAMED = PLACED | {dw.AT_ABSTRACT_ORIGIN, dw.AT_SPECIFICATION}
VALUED = frozenset({dw.AT_CONST_VALUE, dw.AT_DECLARATION})

DIRECT = {
    dw.AT_NAME: dw.FORM_STRP,
    dw.AT_LINKAGE_NAME: dw.FORM_STRP,
    dw.AT_LOW_PC: dw.FORM_ADDR,
    dw.AT_SIBLING: dw.FORM_REF4,
    dw.AT_TYPE: dw.FORM_REF4,
}
"""The attributes that are read without decoding the entry, in the form where they can be."""

ONLY_SIBLING: Final = frozenset({dw.AT_SIBLING})

LEAF, PLAIN, FUNCTION, VARIABLE, NAMESPACE, UNPLACED, CONSTANT, RECORD, ENUM = range(9)
"""How the scan of namespace scope treats an entry: as one of no children and fixed size, as any other that it steps
over, or by its meaning; ``UNPLACED`` is a variable without a location, or a function without code, that an export may
be nevertheless; ``CONSTANT`` is a variable that is a value only. Plain numbers, because every entry is compared with
them; types that a scan remembers are last."""


class Abbreviation:
    """One kind of entry: its tag, its attributes and their forms.

    ``attributes`` is the set of attribute codes; ``extent`` the bytes of all attributes (-1: not fixed), and ``size``
    the same of a leaf (-1: not fixed, or not a leaf). ``opens`` tells that children follow and nothing says where they
    end. Places count from the code's end, and are -1 where not fixed: ``sibling_place`` is that of DW_AT_sibling where
    there are children, ``symbol_place`` that of the linkage name, or else of the name; ``type_place`` that of the type
    of a leaf of fixed size that completes no other entry. ``decode(data, position, unit)`` takes the position
    after the code and gives the position after the attributes, with the kept attributes. ``next(data, position, unit)``
    gives the position after the attributes, or of the next sibling where ``leads`` says that it is recorded.
    """

    __slots__ = (
        "_decoded", "_decoding", "_skipped", "_skipping", "address_place", "attributes", "decode", "extent", "format",
        "has_children", "has_code", "is_declaration", "is_nameable", "kind", "leads", "name_place", "next",
        "opens", "raw", "sibling_place", "size", "specifications", "symbol_place", "tag", "type_place",
    )  # fmt: skip

    decode: Decoder
    next: Skipping
    raw: bytes

    def __init__(
        self, tag: int, has_children: bool, specifications: tuple[Specification, ...], format: UnitFormat
    ) -> None:
        self.tag = tag
        self.has_children = has_children
        self.specifications = specifications
        self.format = format
        self.attributes = frozenset([attribute for attribute, _, _ in specifications])
        self.has_code = not PLACED.isdisjoint(self.attributes)
        self.is_declaration = dw.AT_DECLARATION in self.attributes
        self.is_nameable = tag == dw.TAG_SUBPROGRAM and _is_nameable(self.attributes)
        self.leads = has_children and dw.AT_SIBLING in self.attributes
        self.decode = self._decode_interpreted
        self.next = self._next_interpreted
        self._decoded = self._skipped = 0
        self._decoding: ReadingPlan | None = None
        self._skipping: ReadingPlan | None = None
        places, size = _places(specifications, format)
        self.name_place = places.get(dw.AT_NAME, -1)
        self.symbol_place = places.get(dw.AT_LINKAGE_NAME if dw.AT_LINKAGE_NAME in self.attributes else dw.AT_NAME, -1)
        self.address_place = places.get(dw.AT_LOW_PC, -1)
        is_whole = size >= 0 and not has_children and dw.AT_ABSTRACT_ORIGIN not in self.attributes
        self.type_place = places.get(dw.AT_TYPE, -1) if is_whole else -1
        self.sibling_place = places.get(dw.AT_SIBLING, -1) if has_children else -1
        self.kind = self._classify(size >= 0)
        self.extent = size
        self.size = -1 if has_children else size
        self.opens = has_children and not self.leads

    def _classify(self, is_fixed: bool) -> int:
        tag, attributes = self.tag, self.attributes
        if tag == dw.TAG_SUBPROGRAM and (self.has_children or self.has_code or self.is_declaration):
            return FUNCTION
        if tag == dw.TAG_VARIABLE and dw.AT_LOCATION in attributes:
            return VARIABLE
        if tag == dw.TAG_VARIABLE and DEFINING & attributes and not VALUED & attributes:
            return UNPLACED
        if tag == dw.TAG_VARIABLE and dw.AT_CONST_VALUE in attributes and dw.AT_NAME in attributes:
            return CONSTANT
        if self.is_nameable:
            return UNPLACED
        if tag in (dw.TAG_NAMESPACE, dw.TAG_MODULE):
            return NAMESPACE
        is_leaf = is_fixed and not self.has_children
        if tag in dw.RECORD_TAGS and not (is_leaf and self.is_declaration):
            return RECORD
        if tag == dw.TAG_ENUMERATION_TYPE:
            return ENUM
        return LEAF if is_leaf else PLAIN

    def _decode_interpreted(self, data: bytes, position: int, unit: FormReader) -> tuple[int, Attributes]:
        self._decoded += 1
        if self._decoded > HOT_DECODER:
            self.decode = generate_decoder(self.specifications, self.format)
            return self.decode(data, position, unit)
        if self._decoding is None:
            self._decoding = make_plan(self.specifications, dw.KEPT, self.format)
        return self._decoding.read(data, position, unit)

    def _next_interpreted(self, data: bytes, position: int, unit: FormReader) -> int:
        self._skipped += 1
        if self._skipped > HOT_SKIPPER:
            self.next = generate_skipper(self.specifications, self.format, leads=self.leads)
            return self.next(data, position, unit)
        if self._skipping is None:
            self._skipping = make_plan(self.specifications, ONLY_SIBLING if self.leads else frozenset(), self.format)
        end, values = self._skipping.read(data, position, unit)
        return unit.forward(values[dw.AT_SIBLING], position) if self.leads else end


def _is_nameable(attributes: frozenset[int]) -> bool:
    """Whether a function that has no code here may be found by its symbol: a compiler folded it with another one."""
    if dw.AT_EXTERNAL not in attributes or not UNNAMED.isdisjoint(attributes):
        return False
    return dw.AT_LINKAGE_NAME in attributes or dw.AT_DECLARATION not in attributes


def _places(specifications: tuple[Specification, ...], format: UnitFormat) -> tuple[dict[int, int], int]:
    """Where the attributes in ``DIRECT`` begin before the first variable form; the size of all (-1: variable)."""
    sizes = fixed_sizes(format)
    places: dict[int, int] = {}
    position = 0
    for attribute, form, _ in specifications:
        if attribute in DIRECT and DIRECT[attribute] == form:
            places[attribute] = position
        size = sizes.get(form)
        if size is None:
            return places, -1
        position += size
    return places, position


def _unusable(data: bytes, position: int, unit: FormReader) -> Any:
    raise MalformedDwarf("an entry uses an abbreviation that is not declared")


UNDECLARED = Abbreviation(0, False, (), UnitFormat(True, 4, 8, 4))
"""Stands in tables where no abbreviation has the code, so that using it is an error."""
UNDECLARED.decode = _unusable
UNDECLARED.next = _unusable
UNDECLARED.kind, UNDECLARED.size, UNDECLARED.extent = PLAIN, -1, -1

_LEB = rb"[\x80-\xff]*[\x00-\x7f]"
SPECIFICATION = pattern(_LEB + rb"(?:\x21" + _LEB + rb"|(?!\x21)" + _LEB + rb")")
"""An attribute and its form. DW_FORM_implicit_const (0x21) is followed by its value."""
END = b"\0\0"

LARGEST_GAP = 1 << 12
"""Bound on unused codes in a row; producers leave none."""

MOST_DECLARATIONS = 1 << 15
"""How many different declarations are remembered, over all tables and files."""


class UnreadAbbreviation(Abbreviation):
    """An abbreviation that no entry has used so far: the first question makes it read itself and become a plain one."""

    __slots__ = ()

    def __init__(self, raw: bytes, format: UnitFormat) -> None:
        self.raw = raw
        self.format = format

    def __getattr__(self, name: str) -> Any:
        tag, has_children, specifications = _read(self.raw)
        # A class without __getattr__ has its attributes looked up three times as fast.
        self.__class__ = Abbreviation  # type: ignore[assignment]  # both have the same slots
        Abbreviation.__init__(self, tag, has_children, specifications, self.format)
        return getattr(self, name)


class SharedAbbreviations(dict[bytes, Abbreviation]):
    """The abbreviations of one format by their bytes: equal declarations are one object, in whatever file they are."""

    def __init__(self, format: UnitFormat) -> None:
        super().__init__()
        self.format = format

    def __missing__(self, raw: bytes) -> Abbreviation:
        if len(self) >= MOST_DECLARATIONS:
            self.clear()
        found = self[raw] = UnreadAbbreviation(raw, self.format)
        return found


declared = cache(SharedAbbreviations)
"""The one table of each format."""

_codes: list[bytes] = []
"""The numbers from 1 on, as they are encoded."""


def read_table(data: bytes, position: int, format: UnitFormat) -> list[Abbreviation]:
    """The abbreviations of the table at ``position``, by code. Raises :class:`MalformedDwarf` where it has no end."""
    pieces = cut(data, position)
    if not all(map(bytes.startswith, pieces, _codes)):
        return _read_irregular(data, position, format)
    return [UNDECLARED, *map(declared(format).__getitem__, map(bytes.removeprefix, pieces, _codes))]


def cut(data: bytes, position: int) -> list[bytes]:
    """The declarations of a table that counts its codes from 1, with these and without the zeros at their ends.

    Two zeros end a declaration and three a table, unless the next code follows: then the first one is a value.
    Of any other table, some piece does not begin with the code that it should have.
    """
    pieces: list[bytes] = []
    while (end := data.find(b"\0\0\0", position)) >= 0:
        pieces += data[position:end].split(b"\0\0")
        position = end + 3
        if len(pieces) > MOST_DECLARATIONS:
            break
        while len(_codes) <= len(pieces):
            _codes.append(dw.encode(len(_codes) + 1))
        if not data.startswith(_codes[len(pieces)], position):
            return pieces
    return [b""]


def _read_irregular(data: bytes, position: int, format: UnitFormat) -> list[Abbreviation]:
    """A table that is empty or counts in another way, one declaration after the other."""
    known = declared(format)
    table = [UNDECLARED]
    code, position = dw.unsigned(data, position)
    while code:
        end = _end(data, position)
        if code >= len(table) + LARGEST_GAP:
            raise MalformedDwarf(f"abbreviation code {code:#x} is out of any bounds")
        table.extend([UNDECLARED] * (code + 1 - len(table)))
        table[code] = known[data[position:end]]
        code, position = dw.unsigned(data, end)
    return table


def _end(data: bytes, position: int) -> int:
    """Where the declaration ends whose tag is at ``position``: after its first specification of zeros."""
    position = dw.unsigned(data, position)[1] + 1
    while match := SPECIFICATION.match(data, position):
        position = match.end()
        if match[0] == END:
            return position
    raise MalformedDwarf("an abbreviation table has no end")


def _read(raw: bytes) -> tuple[int, bool, tuple[Specification, ...]]:
    """Tag, whether there are children, and attributes of a declaration; zeros at its end may be missing."""
    raw += b"\0\0\0"
    tag, position = dw.unsigned(raw, 0)
    pieces = SPECIFICATION.findall(raw, position + 1)
    return tag, raw[position] != 0, tuple(map(_specification, pieces[: pieces.index(END)]))


@lru_cache(MOST_DECLARATIONS)
def _specification(raw: bytes) -> Specification:
    attribute, position = dw.unsigned(raw, 0)
    form, position = dw.unsigned(raw, position)
    constant = dw.signed(raw, position)[0] if form == dw.FORM_IMPLICIT_CONST else 1
    if attribute == dw.AT_MIPS_LINKAGE_NAME:
        attribute = dw.AT_LINKAGE_NAME
    return attribute if is_usable(attribute, form) else UNKNOWN, form, constant


class DebugFile(Protocol):
    """What reading DWARF asks of a file. A binary format with DWARF in it supplies one.

    Sections are named as in ELF: ``.debug_info``, where Mach-O writes ``__debug_info``.
    """

    @property
    def path(self) -> Path:
        """Where the file is: split DWARF is searched beside it."""

    @property
    def size(self) -> int:
        """Its bytes, which limits of time and memory depend on."""

    @property
    def little(self) -> bool:
        """Whether numbers are little-endian."""

    @property
    def tls_addresses(self) -> range:
        """The link-time addresses of the TLS segment; empty where there is none."""

    @property
    def alternate_link(self) -> tuple[str, str] | None:
        """The name and identity of the file that ``dwz`` moved common entries to."""

    def has(self, name: str) -> bool:
        """Whether the file holds the contents of section ``name``."""

    def section(self, name: str) -> bytes:
        """The decompressed contents of section ``name``; empty where it is absent."""

    def sections_named(self, name: str) -> Iterator[bytes]:
        """The contents of every section ``name``: a ``.dwo`` file has several of one name."""

    def check_unchanged(self) -> None:
        """Raises :class:`abistore.errors.ExtractError` where the file was written to since it was opened."""

    def another(self, path: Path) -> DebugFile:
        """A further file of the same format, such as a ``.dwo`` file. Raises :class:`abistore.errors.InputError`."""


class DebugSections:
    """The debug sections of ``file``; with ``suffix`` ``.dwo`` those of a split DWARF file."""

    def __init__(self, file: DebugFile, suffix: Literal["", ".dwo"] = "") -> None:
        self.file = file
        self.suffix = suffix
        self.prefix = "<" if file.little else ">"
        self.order: Literal["little", "big"] = "little" if file.little else "big"
        self._bytes: dict[str, bytes] = {}
        self._tables: dict[tuple[int, UnitFormat], list[Abbreviation]] = {}

    def read(self, name: str) -> bytes:
        """The bytes of ``.debug_<name>``, empty where absent; in split files, of all sections of that name."""
        data = self._bytes.get(name)
        if data is None:
            full = f".debug_{name}{self.suffix}"
            data = b"".join(self.file.sections_named(full)) if self.suffix else self.file.section(full)
            self._bytes[name] = data
        return data

    def close(self) -> None:
        """Forgets what was read."""
        self._bytes.clear()
        for name in ("strings", "line_strings"):
            if name in vars(self):
                vars(self)[name].close()

    @property
    def info(self) -> bytes:
        """The units."""
        return self.read("info")

    @property
    def types(self) -> bytes:
        """The type units of DWARF 4."""
        return self.read("types")

    def is_types(self, data: bytes) -> bool:
        """Whether ``data`` is .debug_types."""
        return data is self.types and bool(data)

    @cached_property
    def strings(self) -> StringTable:
        """The strings of .debug_str."""
        return StringTable(self.read("str"))

    @cached_property
    def line_strings(self) -> StringTable:
        """The strings of .debug_line_str, which split files share with none."""
        return StringTable(self.read("line_str"))

    def table(self, offset: int, format: UnitFormat) -> list[Abbreviation]:
        """The abbreviation table at ``offset``."""
        key = (offset, format)
        table = self._tables.get(key)
        if table is None:
            table = self._tables[key] = read_table(self.read("abbrev"), offset, format)
        return table
