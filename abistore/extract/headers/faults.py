"""Errors of the compiler: how messages name them, and which declarations they spoil."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from ctypes import POINTER, byref, c_uint, c_void_p
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, Final, NamedTuple

import msgspec

from abistore.errors import HeaderError
from abistore.extract.headers import clang, cursors
from abistore.extract.headers.clang import Diagnostic
from abistore.extract.headers.cursors import ClangToken, Cursor, LibClang, SourceLocation, libclang
from abistore.extract.headers.tokens import SourceText, tokens
from abistore.model.declarations import Name
from abistore.model.shapes import Alias, AnyShape, Function, Record
from abistore.model.structure import references
from abistore.model.words import ANY, matcher

MISSING = "file not found"
"""In what clang says of an include that it does not find; it may go on with what finds it."""

_OF_CPP = re.compile(r"[a-z][a-z_0-9]*")

MOST_LACKING = 20
"""How many missing files the evidence names."""


class HeaderFault(msgspec.Struct, frozen=True):
    """An error in a header, or in what it includes. ``header`` is the given header that leads there, if any.

    ``own``: it is in the text of given headers; elsewhere it need not affect what they declare. ``defines`` are
    definitions of undefined macros that its line uses as attributes. ``refuses``: the header says ``#error``.
    """

    header: str
    own: bool
    said: str
    defines: tuple[str, ...] = ()
    refuses: bool = False

    @property
    def is_missing_file(self) -> bool:
        """Whether a file is not found, which no other language or standard mends."""
        return MISSING in self.said

    @property
    def missing(self) -> str:
        """The name of a file that is not found, as it is included; empty for other errors."""
        return self.said.split("'")[1] if self.is_missing_file and "'" in self.said else ""


def is_of_cpp(fault: HeaderFault) -> bool:
    """Whether the missing file may be a header of C++ itself: lower case, and without a suffix ([headers])."""
    return _OF_CPP.fullmatch(fault.missing) is not None


def nothing_parsed(count: int, aside: Mapping[str, Sequence[HeaderFault]]) -> HeaderError:
    """The error where no header parses: the first three causes, and how to mend them."""
    first = once_each(faults[0] for faults in aside.values())[:3]
    said = "; ".join(fault.said for fault in first)
    return HeaderError(
        f"{'the header does not parse' if count == 1 else f'none of the {count} headers parses'}: {said}",
        hint_of([*first, *with_missing_macros(aside)]),
        lacking(fault for faults in aside.values() for fault in faults),
    )


def once_each(faults: Iterable[HeaderFault]) -> list[HeaderFault]:
    """The errors, each missing file once."""
    found = dict[str, HeaderFault]()
    for fault in faults:
        found.setdefault(fault.missing or fault.said, fault)
    return list(found.values())


def lacking(faults: Iterable[HeaderFault]) -> tuple[str, ...]:
    """The missing files, those that most headers lack first; :data:`MOST_LACKING` at most."""
    told = {(fault.missing, fault.header) for fault in faults if fault.missing}
    count = Counter(name for name, _ in told)
    return tuple(sorted(count, key=lambda name: (-count[name], name))[:MOST_LACKING])


def with_missing_macros(aside: Mapping[str, Sequence[HeaderFault]]) -> list[HeaderFault]:
    """The errors of headers that are set aside at which a macro may be missing."""
    return [fault for faults in aside.values() for fault in faults if fault.defines]


def hint_of(faults: Iterable[HeaderFault], *, hide: Sequence[str] = ()) -> str:
    """How to mend what did not parse: what to give, or which headers to ``hide``, which are then not parsed at all."""
    cure = _cure(list(faults))
    if not hide:
        return cure
    options = " ".join(f"--private-header {each}" for each in hide)
    return f"{cure}; if programs do not include {'it' if len(hide) == 1 else 'them'} directly: {options}"


def _cure(faults: Sequence[HeaderFault]) -> str:
    names = sorted({fault.missing for fault in faults} - {""})
    if standard := sorted({fault.missing for fault in faults if fault.missing and is_of_cpp(fault)}):
        return (
            f"{' and '.join(standard[:3])}: C++ standard headers: pass the library's system with --sysroot, or "
            "install a C++ compiler for it"
        )
    if names:
        return f"pass the folder that contains {' and '.join(names[:3])} with --include-dir"
    if macros := sorted({each for fault in faults for each in fault.defines})[:3]:
        named = " and ".join(each.partition("=")[0].partition("(")[0] for each in macros)
        defines = " ".join(f"--define {each}" if "(" not in each else f"--define '{each}'" for each in macros)
        return f"if the build defines {named}: {defines}; or pass the defining header, or its folder with --include-dir"
    return (
        "add the missing setting with --define, --std, --language or --clang-arg, or exclude the header with "
        "--private-header"
    )


_DIRECTIVE: Final = re.compile(
    rb"^[ \t]*#[ \t]*(?:(if|ifdef|ifndef|elif|else|endif)\b|pragma[ \t]+(pack)[ \t]*\()(?:[^\n\\]|\\.)*",
    re.MULTILINE | re.DOTALL,
)
_OUTSIDE: Final = re.compile(rb"//[^\n]*|/\*.*?(?:\*/|$)|\"[^\"\n]*\"|\b\d[\w.]*", re.DOTALL)
_WORD: Final = re.compile(rb"[A-Za-z_]\w*")
_WORDS: Final = frozenset(
    {b"if", b"ifdef", b"ifndef", b"elif", b"defined", b"pragma", b"pack", b"push", b"pop", b"show"}
)
_RESERVED: Final = re.compile(rb"_[A-Z_]")
"""How the names of macros begin that compilers and systems define, or not."""


def unsure(text: bytes, errors: Iterable[int], defined: Container[str] | None) -> Iterator[tuple[int, int]]:
    """Regions whose declarations may differ: those under a condition that is not known.

    A condition is not known if it has an error or, where files were missing, asks for a macro that is not ``defined``.
    The same holds for packing behind a pragma, up to the next one.
    """
    places = list(errors)
    open_at: list[int | None] = []
    packed: int | None = None
    for match in _DIRECTIVE.finditer(text):
        word, start = match[1], match.start()
        if word is None:
            if packed is not None:
                yield packed, start
            packed = start if _is_unknown(match[0], defined) else None
            continue
        if word.startswith(b"if"):
            open_at.append(None)
        if word == b"endif":
            if open_at and (begin := open_at.pop()) is not None:
                yield begin, match.end()
        elif open_at and open_at[-1] is None and word != b"else":
            failed = any(start <= each <= match.end() for each in places)
            open_at[-1] = start if failed or _is_unknown(match[0], defined) else None
    yield from ((begin, len(text)) for begin in (*open_at, packed) if begin is not None)


def _is_unknown(directive: bytes, defined: Container[str] | None) -> bool:
    if defined is None:
        return False
    words = set(_WORD.findall(_OUTSIDE.sub(b" ", directive))) - _WORDS
    return any(not _RESERVED.match(each) and each.decode() not in defined for each in words)


_LONGEST = 500
"""Characters of a line that are looked at."""

_NAME = r"(?P<name>[A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9])"
_TAKES = r"(?P<takes>[ \t]*\([^()]*\))?"

_ATTRIBUTES = (
    re.compile(
        rf"\b(?:class|struct|union)[ \t]+{_NAME}{_TAKES}[ \t]+\w+[ \t]*(?:final\b|[:{{;]|$)"
    ),  # class FOO_API Foo {
    re.compile(rf"\)[ \t]*(?:const[ \t]+)?{_NAME}{_TAKES}[ \t]*[;{{]"),  # int f(int) FOO_NOTHROW;
    re.compile(rf"^[ \t]*(?:[\w:<>]+[ \t*&]+)+{_NAME}{_TAKES}[ \t]+\w+[ \t]*\("),  # int FOO_CALL f(int);
    re.compile(  # extern FOO_API int v;
        rf"(?:^|[{{;>]|\bextern\b)[ \t]*{_NAME}{_TAKES}[ \t]+[\w:]+[^();=,]*[ \t*&]\w+[ \t]*[(;\[=]"
    ),
    re.compile(rf"^[ \t]*{_NAME}{_TAKES}[ \t]*;?$"),  # FOO_BEGIN_DECLS, FOO_NO_COPY(Foo);
)
_AROUND_TYPES = re.compile(rf"^[ \t]*(?:extern[ \t]+)?{_NAME}[ \t]*\([^()]+\)[ \t]*\w+[ \t]*\(")
"""``FOO_EXPORT(int) f(int);``"""


def defined_macros(unit: Any) -> frozenset[str]:
    """The macros that are defined anywhere in a parsed unit."""
    lib = libclang()
    top = lib.top(unit)
    return frozenset(lib.spelling(each) for each in top if each.kind == cursors.MACRO)


def used_as_attributes(line: str) -> Iterator[tuple[str, str]]:
    """Names in a line at the place of attributes, each with a definition that makes it empty."""
    line = line[:_LONGEST].rstrip()
    if found := _AROUND_TYPES.search(line):
        yield found["name"], f"{found['name']}(type)=type"
        return
    for pattern in _ATTRIBUTES:
        for found in pattern.finditer(line):
            yield found["name"], f"{found['name']}{'(...)' if found['takes'] else ''}="


TYPED: Final = frozenset(
    {*cursors.FUNCTIONS, cursors.FUNCTION_TEMPLATE, cursors.VARIABLE, cursors.TYPEDEF, cursors.ALIAS}
)
"""What libclang gives the type ``int`` where its own has an error."""

_TEMPLATES: Final = frozenset({cursors.CLASS_TEMPLATE, cursors.PARTIAL_SPECIALIZATION, cursors.ALIAS_TEMPLATE})
_ENDING: Final = frozenset({*cursors.RECORDS, cursors.ENUM, cursors.TYPEDEF, cursors.VARIABLE, *_TEMPLATES})
"""What goes on to a semicolon, with attributes before it."""

_MOST_BEHIND = 400


class Faults:
    """The errors of a translation unit, and which declarations they spoil.

    Errors in function bodies spoil no type. Declarations under a condition with an error might not exist at all.
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
        """Whether an error changes a declaration."""
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
        """The class of a "variable" that may be an attribute: ``struct P { ... } PACKED;`` of a missing file."""
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
        """The file, begin and end of a cursor; to the end of the file where another file continues it."""
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
        found = self._texts.get(file, b"").find(b";", end, end + _MOST_BEHIND)
        return end if found < 0 else found + 1


def spread(spoilt: set[Name], shapes: Mapping[Name, Iterable[AnyShape]]) -> set[Name]:
    """The spoilt names, and those composed of them or mentioning a typedef that became ``int``."""
    found = set(spoilt)
    while more := {name for name, each in shapes.items() if name not in found and _is_made_of(found, name, each)}:
        found |= more
    return found


def declares_types(function: Name, shapes: Iterable[AnyShape]) -> bool:
    """Whether a function of C declares a type in its parameter list, unknown before.

    No program has such a type: ``int norm(const struct point *p)`` lacks the header of ``struct point``.
    """
    if function.kind != "function":
        return False
    inside = f"{function.spelling}()::"
    return any(each.spelling.startswith(inside) for shape in shapes for each, _ in references(shape, function))


def _is_made_of(spoilt: set[Name], name: Name, shapes: Iterable[AnyShape]) -> bool:
    """Whether a declaration contains a spoilt layout, vtable slot or typedef."""
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


_SPLICE: Final = re.compile(rb"\\[ \t]*\r?\n")

_CODE_WORD: Final = re.compile(r"[A-Za-z_$\x80-\U0010ffff][\w$]*")

_PASTED: Final = re.compile(r"[\w$\x80-\U0010ffff]+")
_LABEL: Final = re.compile(r'(?:u8|[uUL])?"([\w$.]+)"')
"""A string that may be a symbol, as in ``__asm__("name")``."""

_PASTES: Final = frozenset({"##", "%:%:"})
_MARKS: Final = frozenset({"#", "%:"})
_DIRECTIVES: Final = frozenset({"include", "include_next", "import", "embed"})


def unread_words(unit: Any, errors: Iterable[Diagnostic]) -> frozenset[str] | None:
    """The words of the functions that contain all ``errors`` of a unit of C, with the symbols that they may mean.

    Wildcards where a macro pastes a name from its arguments. ``None`` where an error is elsewhere, and where the
    function's text is not known: it includes a file, or pastes a name of arguments alone.
    """
    places: dict[str, set[int]] = {}
    for error in errors:
        if error.fatal or not error.file:
            return None
        places.setdefault(error.file, set()).add(error.offset)
    return _UnreadBodies(unit).words(places)


class _Replaced(NamedTuple):
    """A macro: the names of its parameters, and its replacement."""

    parameters: frozenset[str]
    body: Sequence[str]


class _UnreadBodies:
    def __init__(self, unit: Any) -> None:
        self._lib = libclang()
        self._unit = unit.obj
        self._top = self._lib.top(unit)
        self._text = SourceText(self._lib, unit.obj)
        self._names: dict[int | None, str] = {None: ""}

    def words(self, places: Mapping[str, set[int]]) -> frozenset[str] | None:
        left = {file: set(offsets) for file, offsets in places.items()}
        written: list[str] = []
        for file, begin, text in self._functions(places):
            held = {place for place in places[file] if begin <= place < begin + len(text)}
            if held:
                left[file] -= held
                written += tokens(_SPLICE.sub(b"", text))
        if any(left.values()) or _includes(written):
            return None
        return self._followed(written)

    def _functions(self, files: Collection[str]) -> Iterator[tuple[str, int, bytes]]:
        """The texts of the functions that some files define, with the whole uses of macros that write parts of them."""
        lib = self._lib
        uses = [self._range(each) for each in self._top if each.kind == cursors.EXPANSION]
        for function in self._top:
            if function.kind != cursors.FUNCTION or not lib.isCursorDefinition(function):
                continue
            file, begin, end = self._range(function)
            if self._name(file) in files:
                end = max([end, *(last for used, first, last in uses if used == file and first <= end <= last)])
                yield self._name(file), begin, self._text.between(file, begin, end)

    def _range(self, cursor: Cursor) -> tuple[int | None, int, int]:
        """Where in a file something stands as the parser tells places: that of a macro, for what it writes."""
        extent = self._lib.getCursorExtent(cursor)
        first, begin = self._place(self._lib.getRangeStart(extent))
        last, end = self._place(self._lib.getRangeEnd(extent))
        return (first, begin, end) if first == last else (None, 0, 0)

    def _place(self, location: SourceLocation) -> tuple[int | None, int]:
        file, offset = c_void_p(), c_uint()
        self._lib.getExpansionLocation(location, byref(file), None, None, byref(offset))
        return file.value, offset.value

    def _name(self, file: int | None) -> str:
        if file not in self._names:
            self._names[file] = self._lib.text(self._lib.getFileName(file))
        return self._names[file]

    def _followed(self, written: list[str]) -> frozenset[str] | None:
        """The words of a text and, transitively, of the macros among them."""
        pending, found = [_Replaced(frozenset(), written)], set[str]()
        while pending:
            for word in _words_read(pending.pop()):
                if set(word) == {ANY}:
                    return None
                if word not in found:
                    found.add(word)
                    pending += self._called(word)
        return frozenset(found | self._symbols(found))

    def _called(self, word: str) -> list[_Replaced]:
        names = filter(matcher([word]), self._macros) if ANY in word else [word]
        return [self._definition(macro) for name in names for macro in self._macros.get(name, ())]

    @cached_property
    def _macros(self) -> Mapping[str, list[Cursor]]:
        found: dict[str, list[Cursor]] = {}
        for each in self._top:
            if each.kind == cursors.MACRO:
                found.setdefault(self._lib.spelling(each), []).append(each)
        return found

    def _definition(self, macro: Cursor) -> _Replaced:
        """What a macro stands for, which may be one of the command line or of the compiler."""
        lib, first, count = self._lib, POINTER(ClangToken)(), c_uint()
        lib.tokenize(self._unit, lib.getCursorExtent(macro), byref(first), byref(count))
        try:
            _, *body = [lib.text(lib.getTokenSpelling(self._unit, first[place])) for place in range(count.value)]
        finally:
            lib.disposeTokens(self._unit, first, count)
        if not lib.Cursor_isMacroFunctionLike(macro):
            return _Replaced(frozenset(), body)
        end = body.index(")")
        return _Replaced(frozenset({"__VA_ARGS__", *body[:end]}), body[end + 1 :])

    def _symbols(self, words: set[str]) -> set[str]:
        lib, shared, meant = self._lib, {cursors.FUNCTION, cursors.VARIABLE}, matcher(words)
        return {lib.linked(each) for each in self._top if each.kind in shared and meant(lib.spelling(each))}


def _words_read(macro: _Replaced) -> Iterator[str]:
    """The names in a macro's replacement; pasted ones with wildcards for its parameters."""
    body = macro.body
    for token in body:
        if _CODE_WORD.fullmatch(token):
            yield token
        elif label := _LABEL.fullmatch(token):
            yield label[1]
    joined = ""
    for place, token in enumerate(body):
        if token in _PASTES and place and body[place - 1] != ",":
            joined = joined or _part(macro, body[place - 1])
            joined += "".join(_part(macro, each) for each in body[place + 1 : place + 2])
        elif joined and body[place - 1] not in _PASTES:
            yield joined
            joined = ""
    if joined:
        yield joined


def _part(macro: _Replaced, token: str) -> str:
    return token if _PASTED.fullmatch(token) and token not in macro.parameters else ANY


def _includes(written: list[str]) -> bool:
    return any(mark in _MARKS and directive in _DIRECTIVES for mark, directive in pairwise(written))
