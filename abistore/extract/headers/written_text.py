"""Text of headers beside declarations: other macros, templates, and what could not be parsed."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from ctypes import POINTER, byref, c_uint, c_void_p
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, NamedTuple

from abistore.extract.headers import cursors
from abistore.extract.headers.clang import Diagnostic
from abistore.extract.headers.compiled_code import BODIES
from abistore.extract.headers.conditions import APART
from abistore.extract.headers.cursors import (
    CONTINUE,
    VISITOR,
    ClangToken,
    Cursor,
    LibClang,
    SourceLocation,
    Type,
    libclang,
)
from abistore.extract.headers.declared_files import PublicFiles
from abistore.extract.headers.macros import RESERVED, Definition, Expansions, is_value
from abistore.extract.headers.tokens import SIZE, SourceText, after, spelled, tokens
from abistore.extract.headers.types import Names, by_position, in_own_words
from abistore.model.constants import words
from abistore.model.declarations import Argument, Declared, Name, Replacement, Use, blake2b
from abistore.model.shapes import Special, TypeRef
from abistore.model.snapshot import Location
from abistore.model.words import ANY, matcher, names_internals

GUARD: Final = re.compile(
    r"(?i)_(?:h|hh|hpp|hxx|inl|ipp|inc|incl|guard)_*$|_(?:h_)?included_*$|^have_|_have_|^config_h"
)
"""How include guards are called, and what ``configure`` finds out about a system."""

ABSENT: Final = re.compile(
    rb"\#[ \t]*(?:ifndef[ \t]+|if[ \t]+!?[ \t]*defined[ \t]*\(?[ \t]*)(\w+)[ \t]*\)?[ \t]*"
    rb"(?:/\*[^\n]*?\*/|//[^\n]*)?\s*\#[ \t]*define[ \t]+$"
)
"""What stands before the definition of an include guard, and of a default."""

ENDED: Final = re.compile(rb"(?:[^\n]*\\\n)*[^\n]*\n\s*\#[ \t]*endif")
"""What stands behind that of a default; a guard holds a whole header."""

SETTLED: Final = re.compile(rb"\#(?<![^\s]\#)[ \t]*(?P<word>define|undef)[ \t]+(?P<name>\w+)")
"""What defines a macro or takes it back; the last one in a file counts."""

FARTHEST: Final = 300
"""Characters before a definition that are looked at."""


class MacroUses:
    """Where public headers use macros themselves, and where they take them back."""

    def __init__(self, lib: LibClang, text: SourceText, top: Sequence[Cursor], files: PublicFiles) -> None:
        self._lib, self._text, self._top, self._files = lib, text, top, files
        self._ends: dict[int, dict[bytes, int]] = {}

    def of(self, names: Container[str]) -> Iterator[tuple[str, Use]]:
        """Uses of macros in text and conditions."""
        for cursor in self._top:
            if cursor.kind == cursors.EXPANSION and self._files.place(cursor) is not None:
                name = self._lib.spelling(cursor)
                if name in names:
                    yield name, "asked" if self._is_asked(cursor) else "declaration"

    def _is_asked(self, cursor: Cursor) -> bool:
        """Whether a use stands in a directive, which may go on over lines."""
        file, _, place = self._lib.place(self._lib.getCursorLocation(cursor))
        text = self._text.file(file) if file else b""
        begin = text.rfind(b"\n", 0, place) + 1
        while text.endswith((b"\\\n", b"\\\r\n"), max(0, begin - 3), begin):
            begin = text.rfind(b"\n", 0, begin - 1) + 1
        return text[begin:place].lstrip().startswith(b"#")

    def is_kept(self, cursor: Cursor, name: str) -> bool:
        """Whether a macro is no include guard, and nothing takes it back behind its definition."""
        file, begin, end = self._text.extent(cursor)
        if file is None:
            return False
        is_guard = end - begin == len(name.encode()) and self._is_guard(name, self._text.file(file), begin, end)
        return not is_guard and not self._is_taken_back(name, file, end)

    def _is_guard(self, name: str, text: bytes, begin: int, end: int) -> bool:
        absent = ABSENT.search(text, max(0, begin - FARTHEST), begin)
        return absent is not None and absent[1].decode() == name and not ENDED.match(text, end)

    def _is_taken_back(self, name: str, file: int, end: int) -> bool:
        """Another header that takes a macro back is one that others include last: what is left there is internal."""
        own = self._taken_back(file).get(name.encode(), -1)
        return own >= end or any(where != file for where in self._elsewhere.get(name.encode(), ()))

    @cached_property
    def _elsewhere(self) -> dict[bytes, list[int]]:
        """The library's files that take macros back, by macro."""
        found: dict[bytes, list[int]] = {}
        files = {self._lib.getIncludedFile(each) for each in self._top if each.kind == cursors.INCLUSION}
        for file in filter(self._files.is_public_file, files):
            for name in self._taken_back(file):
                found.setdefault(name, []).append(file)
        return found

    def _taken_back(self, file: int) -> dict[bytes, int]:
        """The macros that are not defined any more at the end of a file, and where it takes them back."""
        if file not in self._ends:
            text = self._text.file(file)
            last = {each["name"]: each for each in SETTLED.finditer(text)} if b"undef" in text else {}
            self._ends[file] = {name: each.start() for name, each in last.items() if each["word"] == b"undef"}
        return self._ends[file]


def replacements(
    defined: Iterable[tuple[Cursor, Location]],
    known: Mapping[Name, Declared],
    expansions: Expansions,
    uses: MacroUses,
) -> Iterator[tuple[Name, Location, Declared]]:
    """Public macros that are none of the constants ``known``, each by its last definition."""
    last = {expansions.spelled(cursor): (cursor, location) for cursor, location in defined}
    names = {name for name in last if Name("variable", name) not in known and not RESERVED.match(name)}
    used: dict[str, set[Use]] = {name: set() for name in names}
    for name, use in uses.of(names):
        used[name].add(use)
    for name in last:
        constant = known.get(Name("variable", name))
        macro = expansions.definition(name) if constant is None else None
        for token in names.intersection(macro.body if macro else words(constant.value or "") if constant else ()):
            used[token].add("macro")
    for name in sorted(names):
        cursor, location = last[name]
        macro = expansions.definition(name)
        if macro is not None and _is_told(name, macro) and uses.is_kept(cursor, name):
            replacement = _replacement(macro, used[name])
            yield Name("variable", name), location, Declared(traits=("macro",), replacement=replacement)


def _is_told(name: str, macro: Definition) -> bool:
    return macro.parameters is not None or bool(macro.body) or GUARD.search(name) is None


def _replacement(macro: Definition, uses: set[Use]) -> Replacement:
    used = tuple(sorted(uses - {"declaration"} if _is_expression(macro) else uses))
    if macro.parameters is None:
        return Replacement(_digest(macro.body), used=used)
    named = len(macro.parameters) - macro.variadic
    numbers = {each: f"\1{number}" for number, each in enumerate(macro.parameters)}
    return Replacement(_digest([numbers.get(each, each) for each in macro.body]), named, macro.variadic, used)


def _is_expression(macro: Definition) -> bool:
    """Whether a macro is written in expressions, as those of programs; ``EXPORT(x) x`` is around declarations."""
    return is_value(macro.body) and not set(macro.body) <= {*(macro.parameters or ()), "(", ")"}


def _digest(found: Sequence[str]) -> str:
    text = "\0".join(found).encode(errors="replace")
    return blake2b(text, digest_size=SIZE).hexdigest() if found else ""


RECURSE: Final = 2
TYPES: Final = frozenset({cursors.TYPE_REF, cursors.TEMPLATE_REF})
VALUES: Final = frozenset({cursors.MEMBER_REF, cursors.OVERLOADED, 101, 102, cursors.CALL})
"""Uses of functions and objects, whose types are deduced."""

TYPED: Final = frozenset({*cursors.FUNCTIONS, cursors.FUNCTION_TEMPLATE, cursors.FIELD, cursors.VARIABLE})
QUALIFIED: Final = re.compile(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)+")


class ShownInternals:
    """Finds the types of internal namespaces that users of a declaration get objects of, or inherit from.

    What only bodies use, private members, and what is asked for its value (``detail::is_box<T>::value``) are not shown.
    """

    def __init__(self, lib: LibClang, names: Names, text: SourceText) -> None:
        self._lib = lib
        self._names = names
        self._text = text
        self._known: dict[int, str] = {}

    def by(self, cursor: Cursor, children: Sequence[Cursor]) -> tuple[str, ...]:
        """What a template shows, by qualified names in order."""
        found: set[str] = set()
        if cursor.kind in cursors.CLASSES:
            self._members(children, found)
        else:
            self._declaration(cursor, children, found)
        return tuple(sorted(found))

    def by_friends(self, members: Iterable[Cursor]) -> tuple[str, ...]:
        """What the friends of a class show."""
        found: set[str] = set()
        self._members([each for each in members if each.kind == cursors.FRIEND], found)
        return tuple(sorted(found))

    def by_variable(self, cursor: Cursor, printed: str) -> tuple[str, ...]:
        """What a variable template may show: the names in its text, in each scope around it."""
        parts = self._names.scope(cursor).split("::")
        scopes = ["::".join([*parts[:length], ""]) for length in range(len(parts) + 1)]
        words = [each.lstrip(":") for each in QUALIFIED.findall(printed) if names_internals(each)]
        return tuple(sorted({f"{scope.lstrip(':')}{word}" for word in words for scope in scopes}))

    def _members(self, members: Iterable[Cursor], found: set[str]) -> None:
        lib = self._lib
        for each in members:
            hidden = cursors.ACCESS.get(lib.getCXXAccessSpecifier(each), "public") == "private"
            if hidden and each.kind not in (cursors.FRIEND, cursors.BASE):
                continue
            inner = lib.children(each)
            if each.kind in cursors.CLASSES:
                self._members(inner, found)
            elif each.kind == cursors.FRIEND:
                for befriended in inner:
                    self._declaration(befriended, lib.children(befriended), found)
            else:
                self._declaration(each, inner, found)

    def _declaration(self, cursor: Cursor, children: Sequence[Cursor], found: set[str]) -> None:
        text = self._typed(cursor)
        by_body = b"auto" in text and b"->" not in text
        for each in children:
            if by_body or each.kind not in BODIES:
                self._walk(each, found, deduced=by_body or b"decltype" in text)

    def _typed(self, cursor: Cursor) -> bytes:
        """The type of a declaration as it is written."""
        if cursor.kind in TYPED:
            return self._lib.type_name(self._lib.getCursorType(cursor)).encode()
        return self._text.of(cursor)

    def _walk(self, part: Cursor, found: set[str], *, deduced: bool) -> None:
        used = TYPES | VALUES if deduced else TYPES

        def visit(cursor: Cursor, _parent: Cursor, _data: c_uint) -> int:
            if not deduced and cursors.is_expression(cursor.kind):
                return int(CONTINUE)
            if cursor.kind in used:
                self._note(cursor, found)
            return RECURSE

        if deduced or not cursors.is_expression(part.kind):
            if part.kind in used:
                self._note(part, found)
            self._lib.visitChildren(part, VISITOR(visit), None)

    def _note(self, use: Cursor, found: set[str]) -> None:
        lib = self._lib
        referenced: Cursor = lib.getCursorReferenced(use)
        if referenced.kind == cursors.OVERLOADED and lib.getNumOverloadedDecls(referenced):
            referenced = lib.getOverloadedDecl(referenced, 0)
        if not referenced.d0 or referenced.kind in cursors.TEMPLATE_PARAMETERS or referenced.kind in cursors.NOTHING:
            return
        name = self._known.get(referenced.d0)
        if name is None:
            name = self._names.of(referenced)
            self._known[referenced.d0] = name = name if names_internals(name) else ""
        if name:
            found.add(name)


WORD: Final = re.compile(r"(?<!::)\b[A-Za-z_]\w*")
REQUIRES: Final = re.compile(rb"\brequires\b")


class Templates:
    """Reads what stands in angle brackets, and what depends on it."""

    def __init__(self, lib: LibClang, names: Names, text: SourceText) -> None:
        self._lib = lib
        self._names = names
        self._text = text

    def parameters(self, children: Sequence[Cursor]) -> tuple[Argument, ...]:
        """The parameters as they are written, each with its default."""
        found = []
        for each in children:
            if each.kind in cursors.TEMPLATE_PARAMETERS:
                text = self._text.of(each)
                default = after(text, "=")
                head = text[: len(text) - len(default)].rstrip()
                head = head.removesuffix(b"=") if default else head
                found.append(Argument(spelled(head), spelled(default) or None))
        return tuple(found)

    def requires(self, template: Cursor, children: Sequence[Cursor]) -> str | None:
        """The constraints: those behind the parameters, and those behind a function."""
        file, begin, end = self._text.extent(template)
        if REQUIRES.search(self._text.between(file, begin, end)) is None:
            return None
        found = [each for each in children if cursors.is_expression(each.kind) and self._is_required(each, file, begin)]
        written = [spelled(self._text.of(each)) for each in found]
        return " && ".join(each for each in written if each) or None

    def _is_required(self, expression: Cursor, file: int | None, begin: int) -> bool:
        """Whether ``requires`` stands before an expression; constructors have others, with which members begin."""
        own, place, _ = self._text.extent(expression)
        return own == file and tokens(self._text.between(file, begin, place))[-1:] == ["requires"]

    def condition(self, concept: Cursor) -> str | None:
        """What a concept asks for."""
        return spelled(after(self._text.of(concept), "=")) or None

    def values(self, children: Sequence[Cursor]) -> dict[str, str]:
        """What stands in a signature for the parameters that are values, which libclang spells by name."""
        parameters = [each for each in children if each.kind in cursors.TEMPLATE_PARAMETERS]
        pairs = [(self._lib.spelling(each), f"#{place}") for place, each in enumerate(parameters)]
        return {
            name: pairs[place][1]
            for place, (name, _) in enumerate(pairs)
            if parameters[place].kind == cursors.VALUE_PARAMETER
        }

    def type(self, type: Type, values: Mapping[str, str]) -> TypeRef:
        """A type that depends on template parameters, which are numbered: ``const #0&``."""
        lib = self._lib
        found = lib.type_name(lib.getCanonicalType(type))
        text = by_position(in_own_words(found, lib.type_name(type), values) if values else found)
        return Special(WORD.sub(lambda word: values.get(word[0], word[0]), text) if values else text)

    def signature(self, function: Cursor, parameters: Sequence[TypeRef], template: Sequence[Argument]) -> str:
        """The name of a function template, or of a function of a class template: it has no mangled one."""
        listed = ", ".join(each.spelling if isinstance(each, Special) else str(each) for each in parameters)
        parameters_of = ", ".join(introduced(each.name) for each in template)
        name = self._names.of(function)
        return f"{name}{f'<{parameters_of}>' if template else ''}({listed})"


def introduced(parameter: str) -> str:
    """A template parameter without its name: ``typename`` of ``class T``."""
    words = tokens(parameter.encode())
    if len(words) > 1 and words[-1].isidentifier():
        words = words[:-1]
    return spelled(" ".join("typename" if each == "class" else each for each in words).encode())


Named = Callable[[str], str | None]
"""What a file is called that is the library's; ``None`` for any other."""

_QUIET: Final = re.compile(
    r'(?:\s|extern|"C"|[{}]|noexcept|throw ?\( ?\)|inline|__inline(?:__)?|static|nullptr|NULL|\( ?\( ?void ?\) ?0 ?\))*'
)
"""What makes no other declaration, as ``extern "C" {`` for C++ and nothing for C."""

_TOUCHED_DIRECTIVES: Final = re.compile(rb"^[ \t]*(?:\#|%:)(?![ \t]*pragma\b)(?:[^\n\\]|\\\r?\n|\\.)*", re.MULTILINE)
"""What declares nothing by itself; a pragma may pack what follows."""

_TOUCHED_WORD: Final = re.compile(rb"[A-Za-z_]\w*")


def touched(first: ReadUnit, second: ReadUnit) -> frozenset[str]:
    """The headers of a library in which two units of them may declare something else."""
    apart = {file for file, _ in first.passed ^ second.passed}
    found = {file for file in apart if _declares(first, second, file)}
    differing = _differing(first.macros, second.macros)
    return frozenset({*found, *first.using(differing), *second.using(differing)})


class ReadUnit:
    """What one unit passed over of the library's headers, and the macros that these define."""

    def __init__(self, unit: Any, named: Named) -> None:
        self._lib = lib = libclang()
        self._text = SourceText(lib, unit.obj)
        self._top = lib.top(unit)
        self._named = named
        self._names: dict[int | None, str | None] = {None: None}
        self._files: dict[str, int] = {}
        self._texts: dict[str, list[bytes]] = {}
        self.passed = frozenset(self._passed(unit.obj))
        self.macros = {
            lib.spelling(each): self._text.of(each)
            for each in self._top
            if each.kind == cursors.MACRO and self._file(each) is not None
        }

    def using(self, macros: Collection[str]) -> Iterator[str]:
        """The headers that use some of these macros."""
        for each in self._top if macros else ():
            if each.kind == cursors.EXPANSION and (file := self._file(each)) and self._lib.spelling(each) in macros:
                yield file

    def lines(self, file: str, first: int, last: int) -> bytes:
        """The text between two lines, without comments."""
        if file not in self._texts:
            self._texts[file] = APART.sub(_blank, self._text.file(self._files[file])).split(b"\n")
        return b"\n".join(self._texts[file][first : last - 1])

    def _file(self, cursor: Cursor) -> str | None:
        file, _, _ = self._lib.place(self._lib.getCursorLocation(cursor))
        return self._name(file)

    def _name(self, file: int | None) -> str | None:
        if file not in self._names:
            self._names[file] = self._named(self._lib.text(self._lib.getFileName(file)))
        return self._names[file]

    def _passed(self, unit: Any) -> Iterator[tuple[str, tuple[int, int]]]:
        """The header and the lines of each text that was passed over."""
        lib = self._lib
        ranges = lib.getAllSkippedRanges(unit)
        try:
            for number in range(ranges.contents.count):
                file, begin, _ = lib.place(lib.getRangeStart(ranges.contents.ranges[number]))
                _, end, _ = lib.place(lib.getRangeEnd(ranges.contents.ranges[number]))
                if file is not None and (name := self._name(file)) is not None:
                    self._files[name] = file
                    yield name, (begin, end)
        finally:
            lib.disposeSourceRangeList(ranges)


def _blank(match: re.Match[bytes]) -> bytes:
    """A comment without its text; what is no comment as it is."""
    found = match[0]
    return found if found[:1] != b"/" else b" " + b"\n" * found.count(b"\n")


def _declares(first: ReadUnit, second: ReadUnit, file: str) -> bool:
    """Whether the text that only one of them passed over holds more than directives."""
    for own, other in ((first, second), (second, first)):
        for each, lines in own.passed - other.passed:
            text = _TOUCHED_DIRECTIVES.sub(b"", own.lines(file, *lines)) if each == file else b""
            if not _QUIET.fullmatch(spelled(text)):
                return True
    return False


def _differing(first: Mapping[str, bytes], second: Mapping[str, bytes]) -> frozenset[str]:
    """The macros that differ, by themselves or by others that they name; those that make no difference are left out."""
    apart = {name for name in first.keys() | second.keys() if first.get(name) != second.get(name)}
    found = {name for name in apart if not (_is_quiet(name, first) and _is_quiet(name, second))}
    fresh = set(found)
    words = (
        {
            name: {each.decode() for each in _TOUCHED_WORD.findall(text)} - {name}
            for name, text in {**first, **second}.items()
        }
        if fresh
        else {}
    )
    while fresh:
        fresh = {name for name, used in words.items() if name not in found and not used.isdisjoint(fresh)}
        found |= fresh
    return frozenset(found)


def _is_quiet(name: str, macros: Mapping[str, bytes]) -> bool:
    return name not in macros or _QUIET.fullmatch(spelled(macros[name][len(name) :])) is not None


_SPLICE: Final = re.compile(rb"\\[ \t]*\r?\n")
_WORD: Final = re.compile(r"[A-Za-z_$\x80-\U0010ffff][\w$]*")
_PASTED: Final = re.compile(r"[\w$\x80-\U0010ffff]+")
_LABEL: Final = re.compile(r'(?:u8|[uUL])?"([\w$.]+)"')
"""A string that may be a symbol, as in ``__asm__("name")``."""

_PASTES: Final = frozenset({"##", "%:%:"})
_MARKS: Final = frozenset({"#", "%:"})
_DIRECTIVES: Final = frozenset({"include", "include_next", "import", "embed"})


def unread_words(unit: Any, errors: Iterable[Diagnostic]) -> frozenset[str] | None:
    """The words of the functions that hold all ``errors`` of a unit of C, with the symbols that they may stand for.

    Where a macro pastes a name together of its arguments, these are wildcards. ``None`` where an error stands
    elsewhere, and where what a function becomes is not known: it includes a file, or pastes a name of arguments alone.
    """
    places: dict[str, set[int]] = {}
    for error in errors:
        if error.fatal or not error.file:
            return None
        places.setdefault(error.file, set()).add(error.offset)
    return _UnreadBodies(unit).words(places)


class _Macro(NamedTuple):
    """A macro: the names of its parameters, and what it stands for."""

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
        """The words of a text, of the macros that these may be, and so on."""
        pending, found = [_Macro(frozenset(), written)], set[str]()
        while pending:
            for word in _words(pending.pop()):
                if set(word) == {ANY}:
                    return None
                if word not in found:
                    found.add(word)
                    pending += self._called(word)
        return frozenset(found | self._symbols(found))

    def _called(self, word: str) -> list[_Macro]:
        """The macros of that name: which definition holds in a body is not asked."""
        names = filter(matcher([word]), self._macros) if ANY in word else [word]
        return [self._definition(macro) for name in names for macro in self._macros.get(name, ())]

    @cached_property
    def _macros(self) -> Mapping[str, list[Cursor]]:
        found: dict[str, list[Cursor]] = {}
        for each in self._top:
            if each.kind == cursors.MACRO:
                found.setdefault(self._lib.spelling(each), []).append(each)
        return found

    def _definition(self, macro: Cursor) -> _Macro:
        """What a macro stands for, which may be one of the command line or of the compiler."""
        lib, first, count = self._lib, POINTER(ClangToken)(), c_uint()
        lib.tokenize(self._unit, lib.getCursorExtent(macro), byref(first), byref(count))
        try:
            _, *body = [lib.text(lib.getTokenSpelling(self._unit, first[place])) for place in range(count.value)]
        finally:
            lib.disposeTokens(self._unit, first, count)
        if not lib.Cursor_isMacroFunctionLike(macro):
            return _Macro(frozenset(), body)
        end = body.index(")")
        return _Macro(frozenset({"__VA_ARGS__", *body[:end]}), body[end + 1 :])

    def _symbols(self, words: set[str]) -> set[str]:
        """What the linker calls the functions and variables of these names."""
        lib, shared, meant = self._lib, {cursors.FUNCTION, cursors.VARIABLE}, matcher(words)
        return {lib.linked(each) for each in self._top if each.kind in shared and meant(lib.spelling(each))}


def _words(macro: _Macro) -> Iterator[str]:
    """The names in what a macro stands for; one that is pasted together with wildcards for its parameters."""
    body = macro.body
    for token in body:
        if _WORD.fullmatch(token):
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


def _part(macro: _Macro, token: str) -> str:
    """What a token adds to a name that is pasted together."""
    return token if _PASTED.fullmatch(token) and token not in macro.parameters else ANY


def _includes(written: list[str]) -> bool:
    return any(mark in _MARKS and directive in _DIRECTIVES for mark, directive in pairwise(written))
