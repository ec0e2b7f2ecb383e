"""The files of a translation unit, faulty declarations in them, and the numbers that they write."""

from __future__ import annotations

import ast
import operator
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from ctypes import byref, c_size_t
from functools import lru_cache
from typing import Any, Final, Protocol

import msgspec
from msgspec.structs import replace

from abistore.extract.headers import clang, cursors
from abistore.extract.headers.cursors import MACROS, Cursor, LibClang, SourceLocation, libclang
from abistore.extract.headers.tokens import defined_macros, unsure
from abistore.extract.headers.toolchain import MISSING
from abistore.extract.headers.types import HeaderTypes
from abistore.extract.types import is_foreign
from abistore.model.declarations import Argument, Declared, Name, Uses
from abistore.model.shapes import Alias, AnyShape, Enum, Function, Named, Primitive, Record, TypeRef, Variable
from abistore.model.snapshot import Location, Variants
from abistore.model.structure import references
from abistore.patterns import pattern


class HeaderNames(Protocol):
    """What files are called that libclang names."""

    def public(self, path: str, /) -> str | None:
        """The name of a file where it is one of the given headers."""

    def beside(self, path: str, /, *, system: bool) -> str | None:
        """That of one beside a given header or below. ``system``: it was found where the system's headers are."""

    def surrounds(self, path: str, /) -> bool:
        """Whether a file lies in a folder of given headers, or below, public or not."""

    def lent(self, path: str, /) -> bool:
        """Whether a file lies in a folder with headers of another project."""


class PublicFiles:
    """The given headers. Files are told apart by libclang's handles: each is asked about once.

    Most of what a unit holds stands in files of others, one thing behind the other: the last such file is kept by
    where it begins and ends among the places of the unit, and what stands there needs no further question.
    """

    def __init__(self, lib: LibClang, names: HeaderNames, unit: Any) -> None:
        self._lib = lib
        self._unit = unit
        self._names = names
        self._files: dict[int | None, str | None] = {None: None}
        self._given: dict[int | None, bool] = {None: False}
        self._around: dict[int | None, bool] = {None: False}
        self._lent: dict[int | None, bool] = {None: False}
        self._beside = False
        self._foreign = 0, 0

    def take_those_beside(self) -> None:
        """From now on what lies beside a given header is public as well."""
        self._files = {file: name for file, name in self._files.items() if file is None or name is not None}
        self._beside = True
        self._foreign = 0, 0

    def place(self, cursor: Cursor) -> Location | None:
        """Where a public declaration stands; ``None`` for one of another file."""
        location = self._lib.getCursorLocation(cursor)
        if self._foreign[0] <= location.data < self._foreign[1]:
            return None
        file, line, offset = self._lib.place(location)
        name = self._files[file] if file in self._files else self._name(file, location)
        if name is not None:
            return Location(name, line)
        if file is not None and location.data < MACROS:
            begin = location.data - offset
            self._foreign = begin, begin + self._size(file)
        return None

    def is_public_file(self, file: int | None) -> bool:
        """Whether a file of the unit is one of the given headers."""
        if not file:
            return False
        if file not in self._files:
            self._name(file, self._lib.getLocationForOffset(self._unit, file, 0))
        return self._files[file] is not None

    def is_given(self, cursor: Cursor) -> bool:
        """Whether a declaration stands in one of the given headers, whatever lies beside them."""
        file, _, _ = self._lib.place(self._lib.getCursorLocation(cursor))
        if file not in self._given:
            self._given[file] = self._names.public(self._lib.text(self._lib.getFileName(file))) is not None
        return self._given[file]

    def is_lent(self, cursor: Cursor) -> bool:
        """Whether a declaration stands in a header of another project."""
        file, _, _ = self._lib.place(self._lib.getCursorLocation(cursor))
        if file not in self._lent:
            self._lent[file] = self._names.lent(self._lib.text(self._lib.getFileName(file)))
        return self._lent[file]

    def _size(self, file: int) -> int:
        size = c_size_t()
        self._lib.getFileContents(self._unit, file, byref(size))
        return size.value

    def is_own(self, cursor: Cursor) -> bool:
        """Whether a declaration may be the library's: it stands beside public ones, or is no part of the system."""
        if self.place(cursor) is not None:
            return True
        location = self._lib.getCursorLocation(cursor)
        if not self._lib.Location_isInSystemHeader(location):
            return True
        file, _, _ = self._lib.place(location)
        if file not in self._around:
            self._around[file] = self._names.surrounds(self._lib.text(self._lib.getFileName(file)))
        return self._around[file]

    def is_own_file(self, file: int, location: SourceLocation) -> bool:
        """Whether a file may be the library's, of which ``location`` is a place."""
        public = self._files[file] if file in self._files else self._name(file, location)
        return public is not None or not self._lib.Location_isInSystemHeader(location)

    def _name(self, file: int | None, location: SourceLocation) -> str | None:
        path = self._lib.text(self._lib.getFileName(file))
        found = self._names.public(path)
        if found is None and self._beside:
            found = self._names.beside(path, system=bool(self._lib.Location_isInSystemHeader(location)))
        self._files[file] = found
        return found


DEFINED: Final = frozenset({"defined", "defined_within", "undefined"})
"""What is said of definitions that come with declarations, and of those that none comes with."""

OF_ALL: Final = DEFINED | {"friend"}
"""Traits of a name that each of its declarations must have."""


class Collected:
    """The shapes of names, what the text of public declarations tells, and where they stand."""

    def __init__(self) -> None:
        self.shapes: dict[Name, list[AnyShape]] = {}
        self.declared: dict[Name, Declared] = {}
        self.locations: dict[Name, Location] = {}
        self.inline_namespaces: set[str] = set()
        self.lent: set[Name] = set()

    def add(self, name: Name, shape: AnyShape | None) -> None:
        """Notes a shape of a name; equal ones are kept once."""
        shapes = self.shapes.setdefault(name, [])
        if shape is not None and shape not in shapes:
            shapes.append(shape)

    def declare(self, name: Name, location: Location, declared: Declared, *, defines: bool = False) -> None:
        """Notes a public declaration. The place of a definition, else the first, is where the name stands."""
        known = self.declared.get(name)
        self.declared[name] = declared if known is None else merged(known, declared)
        if defines or name not in self.locations:
            self.locations[name] = location
        self.shapes.setdefault(name, [])

    def forget(self, name: Name) -> None:
        """Takes back a declaration of which only text tells."""
        del self.declared[name], self.locations[name]
        if not self.shapes.get(name):
            self.shapes.pop(name, None)

    def leave_out(self, name: Name) -> None:
        """Takes back all that is known of a name."""
        for known in (self.shapes, self.declared, self.locations):
            known.pop(name, None)

    def entries(self) -> dict[Name, list[AnyShape]]:
        """All shapes of all names."""
        return {
            name: [*shapes, *([self.declared[name]] if name in self.declared else [])]
            for name, shapes in self.shapes.items()
            if shapes or name in self.declared
        }


def merged(one: Declared, other: Declared) -> Declared:
    """What several declarations of one name tell together.

    One outside a class makes a friend no hidden one; programs may include the one alone that no definition comes with.
    """
    traits = {*one.traits, *other.traits} - (({*one.traits} ^ {*other.traits}) & OF_ALL)
    return Declared(
        traits=tuple(sorted(traits)),
        parameters=_parameters(one.parameters, other.parameters),
        value=one.value if one.value is not None else other.value,
        body=one.body or other.body,
        template=_parameters(one.template, other.template),
        requires=one.requires or other.requires,
        expressions=one.expressions or other.expressions,
        availability=tuple(sorted({*one.availability, *other.availability})),
        meaning=one.meaning or other.meaning,
        within=one.within or other.within,
        handed=one.handed or other.handed,
        promises=tuple(sorted({*one.promises, *other.promises})),
        uses=joined(one.uses, other.uses),
        replacement=one.replacement or other.replacement,
        bases=one.bases or other.bases,
        shown=tuple(sorted({*one.shown, *other.shown})),
        abilities=one.abilities or other.abilities,
        instances=one.instances or other.instances,
    )


def joined(one: Uses | None, other: Uses | None) -> Uses | None:
    """What two pieces of code use."""
    if one is None or other is None:
        return one or other
    return Uses(
        members=tuple(sorted({*one.members, *other.members})),
        calls=tuple(sorted({*one.calls, *other.calls})),
        types=tuple(sorted({*one.types, *other.types})),
        objects=tuple(sorted({*one.objects, *other.objects})),
        fields=tuple(dict.fromkeys((*one.fields, *other.fields))),
    )


def defined_in_both(shape: AnyShape, others: Variants) -> AnyShape:
    """What one unit tells of a name that others declare too: defined it is where these know the definition as well."""
    if not isinstance(shape, Declared) or DEFINED.isdisjoint(shape.traits):
        return shape
    known = [each.traits for each in others if isinstance(each, Declared)]
    kept = [each for each in shape.traits if each not in DEFINED or all(each in traits for traits in known)]
    return msgspec.structs.replace(shape, traits=tuple(kept))


def _parameters(one: tuple[Argument, ...], other: tuple[Argument, ...]) -> tuple[Argument, ...]:
    if len(one) != len(other):
        return one or other
    pairs = zip(one, other, strict=True)
    return tuple([_both(*pair) for pair in pairs])


def _both(one: Argument, other: Argument) -> Argument:
    default = one.default if one.default is not None else other.default
    return Argument(one.name or other.name, default, max(one.length, other.length))


DEEPEST: Final = 64
"""A chain of aliases longer than this is not followed."""


def plainly_cast(found: Sequence[str], numbers: Mapping[str, str]) -> Iterator[str]:
    """The tokens ``found``, with the built-in type in a cast to one that has another name: ``(unsigned int) 3``."""
    place = 0
    while place < len(found):
        named = next((each for each in found[place + 1 : place + 3] if each != "enum"), "")
        for cast in (("(", named, ")"), ("(", "enum", named, ")")):
            if named in numbers and tuple(found[place : place + len(cast)]) == cast:
                yield from ("(", *numbers[named].split(), ")")
                place += len(cast)
                break
        else:
            yield found[place]
            place += 1


def numbers(found: Collected) -> Mapping[str, str]:
    """The enumerations, and other names of built-in types, with what each is."""
    types: dict[str, str] = {}
    for name in found.shapes:
        plain = _plain(Named(name), found) if name.kind in ("alias", "enum") else None
        if plain is not None:
            types[name.spelling] = plain
    return types


def _plain(type: TypeRef | None, found: Collected) -> str | None:
    for _ in range(DEEPEST):
        if isinstance(type, Primitive):
            return type.spelling
        shape = _shape(type.name, found) if isinstance(type, Named) else None
        if not isinstance(shape, Alias | Enum):
            return None
        type = shape.target if isinstance(shape, Alias) else shape.underlying
    return None


def _shape(name: Name, found: Collected) -> object:
    shapes = found.shapes.get(name, [])
    return shapes[0] if len(shapes) == 1 else None


SIZES: Final = {
    **{"char": 1, "signed char": 1, "unsigned char": 1, "float": 4, "double": 8},
    **{f"{sign}{word}": size for sign in ("", "unsigned ") for word, size in (("short", 2), ("int", 4))},
    **{"unsigned": 4, "signed": 4, "long long": 8, "unsigned long long": 8},
    **{f"{sign}int{bits}_t": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
"""Bytes that types have on every machine whose pointers have 4 or 8. ``long`` has 4 or 8 of its own."""

AS_POINTERS: Final = frozenset({"size_t", "ssize_t", "ptrdiff_t", "intptr_t", "uintptr_t"})

QUALIFIERS: Final = frozenset({"const", "volatile"})


def measured(found: Sequence[str], pointer: int) -> Iterator[str]:
    """The tokens ``found``, with its size in place of ``sizeof (T)`` where that is known. ``pointer`` is in bytes."""
    place = 0
    while place < len(found):
        end = found.index(")", place) if found[place : place + 2] == ("sizeof", "(") and ")" in found[place:] else place
        size = _size([each for each in found[place + 2 : end] if each not in QUALIFIERS], pointer)
        if size is None:
            yield found[place]
            place += 1
        else:
            yield from ("(", "(", "size_t", ")", str(size), ")")
            place = end + 1


def _size(words: Sequence[str], pointer: int) -> int | None:
    if pointer not in (4, 8) or not words:
        return None
    if words[-1] == "*" and all(each == "*" or each.isidentifier() for each in words):
        return pointer
    name = " ".join(words)
    return pointer if name in AS_POINTERS else SIZES.get(name)


TOLD: Final = 64
"""So many bits of a value libclang tells, the lowest."""

_CAST: Final = r"\(\s*(?:unsigned\s+|signed\s+)?__u?int128(?:_t)?(?:\s+unsigned|\s+signed)?\s*\)"
"""A cast to a type that holds every value. Others make an expression that is not understood."""

_SUFFIX: Final = r"\b(0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*)([uUlLzZ]*)\b"
_LONGEST: Final = 4096
_OPERATORS: Final[Mapping[type[ast.AST], Callable[..., int]]] = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul},
    **{ast.BitOr: operator.or_, ast.BitAnd: operator.and_, ast.BitXor: operator.xor},
    **{ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Invert: operator.invert},
}


def exact(enum: Enum, expressions: Mapping[str, str], *, signed: bool) -> Enum | None:
    """``enum`` with the values that the ``expressions`` of its enumerators have; ``None`` where one is not understood.

    ``signed`` is its underlying type. A value is understood only if its lowest bits are those that libclang tells.
    """
    bits = 8 * enum.size
    if bits <= TOLD:
        return enum
    known: dict[str, int] = {}
    value = -1
    for each in enum.enumerators:
        found = _value(expressions[each.name], known) if each.name in expressions else value + 1
        if found is None or (found - each.value) % (1 << TOLD):
            return None
        value = found % (1 << bits)
        if signed and value >> (bits - 1):
            value -= 1 << bits
        known[each.name] = value
    return replace(enum, enumerators=tuple([replace(each, value=known[each.name]) for each in enum.enumerators]))


def _value(text: str, known: Mapping[str, int]) -> int | None:
    """What a constant expression of wide integers and enumerators gives; ``None`` for any other."""
    if len(text) > _LONGEST or (re.search("[-~]", text) and any(map(_may_wrap, re.finditer(_SUFFIX, text)))):
        return None
    plain = re.sub(_SUFFIX, _number, re.sub(_CAST, " ", text))
    try:
        return _result(ast.parse(plain.strip(), mode="eval").body, known)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _may_wrap(match: re.Match[str]) -> bool:
    """Whether a number is unsigned and narrow, or may be, so that what it is subtracted from wraps too early."""
    return "u" in match[2].lower() or int(_number(match), 0) >= 1 << 31


def _number(match: re.Match[str]) -> str:
    digits = match[1].replace("'", "")
    octal = len(digits) > 1 and digits.isdigit() and digits.startswith("0")
    return f"0o{digits[1:]}" if octal else digits


def _result(node: ast.expr, known: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_result(operand, known))
        case ast.BinOp(left=left, op=ast.LShift(), right=right):
            return _result(left, known) << _places(_result(right, known))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_result(left, known), _result(right, known))
    raise ValueError(ast.dump(node))


def _places(count: int) -> int:
    if not 0 <= count < 2 * TOLD:
        raise ValueError(f"a shift by {count}")
    return count


_CONDITION = pattern(r"(?m)^[ \t]*(?:#|%:)[ \t]*(?:if|el|define\b.*\bdefined\b)(?:.*\\\r?\n)*.*$")
"""A directive that asks for macros, or gives such a question a name, with the lines that go on with it."""

_WORD = pattern(r"[A-Za-z_$][\w$]*")


def unasked(macros: Iterable[str], texts: Iterable[str]) -> Iterator[str]:
    """The ``macros`` (``NAME`` or ``NAME=VALUE``) that select nothing in the ``texts`` of headers.

    One that stands for nothing (``FOO_API=``) only matters where a condition asks for it, others wherever they are
    named. Names that the language reserves are asked for by the headers of the system.
    """
    found = set[str]()
    asked = set[str]()
    for text in texts:
        found.update(_WORD.findall(text))
        asked.update(word for line in _CONDITION.findall(text) for word in _WORD.findall(line))
    for macro in macros:
        name, equals, value = macro.partition("=")
        name = name.partition("(")[0]
        is_nothing = bool(equals) and not value
        if not name.startswith("_") and name not in (asked if is_nothing else found):
            yield macro


_EXTERNAL: Final = 4
_SCOPES: Final = frozenset({cursors.NAMESPACE, cursors.LINKAGE, cursors.UNEXPOSED_DECL})


def is_linked(name: Name, shapes: Variants) -> bool:
    """Whether a declaration is a function, variable or template, and no type, constant or macro."""
    if name.kind == "variable":
        return any(isinstance(each, Variable) for each in shapes)
    return name.kind == "function" or any("template" in each.traits for each in shapes if isinstance(each, Declared))


def linking_files(unit: Any) -> frozenset[str]:
    """The paths of the files that declare a function or variable with external linkage."""
    lib = libclang()
    found: dict[int, bool] = {}
    for cursor in lib.top(unit):
        file = lib.place(lib.getCursorLocation(cursor))[0]
        if file is not None and not found.get(file):
            found[file] = any(_links(lib, cursor))
    return frozenset(lib.text(lib.getFileName(file)) for file, links in found.items() if links)


def _links(lib: LibClang, cursor: Cursor) -> Iterator[bool]:
    if cursor.kind in (cursors.FUNCTION, cursors.VARIABLE):
        yield lib.getCursorLinkage(cursor) == _EXTERNAL
    elif cursor.kind in _SCOPES:
        for each in lib.children(cursor):
            yield from _links(lib, each)
    elif cursor.kind in (cursors.CLASS_TEMPLATE, cursors.FUNCTION_TEMPLATE):
        yield True
    elif cursor.kind in cursors.RECORDS:
        yield any(each.kind in cursors.FUNCTIONS for each in lib.children(cursor))


UNNAMED = pattern(r"\((?:anonymous|unnamed|lambda)\b|type-parameter-|[#\n\"{};]| at /")
"""What no text can name, or what is no type yet."""


def unlaid_instances(types: HeaderTypes, collected: Collected) -> dict[Name, str]:
    """Instances of templates, and classes in them, without a layout; each as C++ spells it."""
    found = {name: _spelled(types, name) for name in _without_layout(types, collected)}
    return {name: spelled for name, spelled in found.items() if not UNNAMED.search(spelled)}


def _without_layout(types: HeaderTypes, collected: Collected) -> Iterator[Name]:
    every = [shape for shapes in collected.shapes.values() for shape in shapes]
    mentioned = dict.fromkeys(name for shape in every for name, _ in references(shape))
    for name in sorted(dict.fromkeys([*types.mentioned, *mentioned, *types.unmet])):
        if name.kind != "record" or "<" not in name.spelling or is_foreign(name.spelling, types.runtime):
            continue
        if any(isinstance(shape, Record) for shape in collected.shapes.get(name, ())):
            continue
        cursor = types.mentioned.get(name)
        if cursor is None or _may_be_made(types.lib, cursor):
            yield name


def _may_be_made(lib: LibClang, cursor: Cursor) -> bool:
    """Whether a class comes from a template: a handle that headers only declare in one does not."""
    template: Cursor = lib.getSpecializedCursorTemplate(cursor)
    return template.kind not in cursors.NOTHING


def _spelled(types: HeaderTypes, name: Name) -> str:
    """A class as libclang spells it, else as its name has it: values need not look alike in both."""
    lib, cursor = types.lib, types.mentioned.get(name)
    if cursor is None:
        return name.spelling
    return lib.text(lib.getTypeSpelling(lib.getCanonicalType(lib.getCursorType(cursor))))


TYPED: Final = frozenset(
    {*cursors.FUNCTIONS, cursors.FUNCTION_TEMPLATE, cursors.VARIABLE, cursors.TYPEDEF, cursors.ALIAS}
)
"""What libclang gives the type ``int`` where its own has an error."""

_TEMPLATES: Final = frozenset({cursors.CLASS_TEMPLATE, cursors.PARTIAL_SPECIALIZATION, cursors.ALIAS_TEMPLATE})
_ENDING: Final = frozenset({*cursors.RECORDS, cursors.ENUM, cursors.TYPEDEF, cursors.VARIABLE, *_TEMPLATES})
"""What goes on to a semicolon, with attributes before it."""

_MOST_BEHIND = 400


class Faults:
    """Where a translation unit has errors.

    A type is what its text says but for bodies of functions; what stands behind a condition with an error might not be
    there at all.
    """

    def __init__(self, lib: LibClang, unit: Any) -> None:
        self._lib = lib
        self._places: dict[str, list[int]] = {}
        self._names: dict[int | None, str] = {None: ""}
        self.lacks_files = False
        for error in clang.errors(unit):
            self._places.setdefault(error.file, []).append(error.offset)
            self.lacks_files |= MISSING in error.message
        self.any = bool(self._places)
        self._texts = dict(clang.included_texts(unit)) if self.any else {}
        self._defined = defined_macros(unit) if self.lacks_files else None
        self._regions = lru_cache(None)(self._found_regions)
        self._sorted = lru_cache(None)(lambda file: sorted(self._places.get(file, ())))

    def _found_regions(self, file: str) -> list[tuple[int, int]]:
        return list(unsure(self._texts.get(file, b""), self._places.get(file, ()), self._defined))

    def spoil(self, cursor: Cursor) -> bool:
        """Whether a declaration is not what its text says."""
        if not self.any:
            return False
        if self._lib.isInvalidDeclaration(cursor) and (cursor.kind in TYPED or cursor.kind in cursors.RECORDS):
            return True
        file, begin, end = self._range(cursor)
        if any(first <= begin < last for first, last in self._regions(file)):
            return True
        if cursor.kind == cursors.TYPEDEF and self._is_of_spoilt(cursor):
            return True
        if cursor.kind not in _ENDING and cursor.kind not in TYPED:
            return False
        end = self._ended(file, end) if cursor.kind in _ENDING else self._next(file, end) + 1
        places = self._sorted(file)
        held = places[bisect_left(places, begin) : bisect_left(places, end)]
        return bool(held) and not self._in_bodies(cursor, held)

    def _is_of_spoilt(self, typedef: Cursor) -> bool:
        """Whether a typedef names a class that is spoilt, as ``typedef struct { ... } name;`` may."""
        lib = self._lib
        type = lib.getTypeDeclaration(lib.getCanonicalType(lib.getTypedefDeclUnderlyingType(typedef)))
        return type.kind in cursors.RECORDS and bool(lib.isInvalidDeclaration(type))

    def attributed(self, variable: Cursor) -> Cursor | None:
        """The class behind which a "variable" stands that may be an attribute of it: ``struct P { ... } PACKED;``.

        The macro may be one of a file that was not found.
        """
        if not self.lacks_files:
            return None
        type = self._lib.getTypeDeclaration(self._lib.getCursorType(variable))
        is_class = type.kind in cursors.RECORDS
        return type if is_class and self._range(type)[:2] == self._range(variable)[:2] else None

    def _in_bodies(self, cursor: Cursor, places: Iterable[int]) -> bool:
        bodies = [self._range(each) for each in self._bodies(cursor)]
        return all(any(begin <= place < end for _, begin, end in bodies) for place in places)

    def _bodies(self, cursor: Cursor) -> Iterator[Cursor]:
        for each in self._lib.children(cursor):
            if each.kind == cursors.COMPOUND:
                yield each
            elif each.kind in cursors.FUNCTIONS or each.kind in (
                cursors.FUNCTION_TEMPLATE,
                *cursors.RECORDS,
                *_TEMPLATES,
            ):
                yield from self._bodies(each)

    def _range(self, cursor: Cursor) -> tuple[str, int, int]:
        """The file of a declaration, where it begins, and where it ends: with the file if another one goes on."""
        lib = self._lib
        extent = lib.getCursorExtent(cursor)
        file, _, begin = lib.place(lib.getRangeStart(extent))
        last, _, end = lib.place(lib.getRangeEnd(extent))
        name = self._name(file)
        return name, begin, end if last == file else len(self._texts.get(name, b""))

    def _name(self, file: int | None) -> str:
        if file not in self._names:
            self._names[file] = self._lib.text(self._lib.getFileName(file))
        return self._names[file]

    def _next(self, file: str, end: int) -> int:
        """Where something stands behind a function: no semicolon, where a macro was read as one."""
        behind = self._texts.get(file, b"")[end : end + _MOST_BEHIND]
        return end + len(behind) - len(behind.lstrip())

    def _ended(self, file: str, end: int) -> int:
        """Where a declaration ends with its attributes."""
        found = self._texts.get(file, b"").find(b";", end, end + _MOST_BEHIND)
        return end if found < 0 else found + 1


def spread(spoilt: set[Name], shapes: Mapping[Name, Iterable[AnyShape]]) -> set[Name]:
    """The names that are spoilt, and those that are made of them, or mention a typedef that is ``int`` instead."""
    found = set(spoilt)
    while more := {name for name, each in shapes.items() if name not in found and _is_made_of(found, name, each)}:
        found |= more
    return found


def declares_types(function: Name, shapes: Iterable[AnyShape]) -> bool:
    """Whether a function of C declares a type within its parameters, of which no file before had a declaration.

    No program has such a type: ``int norm(const struct point *p)`` lacks the header of ``struct point``.
    """
    if function.kind != "function":
        return False
    inside = f"{function.spelling}()::"
    return any(each.spelling.startswith(inside) for shape in shapes for each, _ in references(shape, function))


def _is_made_of(spoilt: set[Name], name: Name, shapes: Iterable[AnyShape]) -> bool:
    """Whether a declaration has the layout of what is spoilt, a slot in its table, or a typedef of it in its types."""
    for shape in shapes:
        if (
            isinstance(shape, Function)
            and shape.method
            and shape.method.virtual != "no"
            and shape.method.owner in spoilt
        ):
            return True
        is_laid = isinstance(shape, Record | Alias)
        if any(
            each in spoilt and (each.kind == "alias" or (by_value and is_laid))
            for each, by_value in references(shape, name)
        ):
            return True
    return False
