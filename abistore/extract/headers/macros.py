"""Macros: expanded, evaluated, passed to functions as arguments, and replacements without a value."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import accumulate
from typing import Final, NamedTuple

from msgspec.structs import replace

from abistore.extract.headers import cursors
from abistore.extract.headers import cursors as kinds
from abistore.extract.headers.collected import Collected, PublicFiles
from abistore.extract.headers.cursors import Cursor, LibClang
from abistore.extract.headers.tokens import SourceText, spelled, tokens
from abistore.model.constants import constant, words
from abistore.model.declarations import Declared, Meaning, Name, Use
from abistore.model.names.symbols import is_mangled
from abistore.model.shapes import Alias, Enum, Function, Named, Primitive, TypeRef
from abistore.model.snapshot import Location

DEEPEST: Final = 64
"""A chain of aliases longer than this is not followed."""


def plainly_cast(found: Sequence[str], numbers: Mapping[str, str]) -> Iterator[str]:
    """The tokens ``found``, with built-in types in casts to their aliases: ``(unsigned int) 3``."""
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
    """Enumerations and aliases of built-in types, with the built-in type of each."""
    types: dict[str, str] = {}
    for name in found.shapes:
        plain = _plain_type(Named(name), found) if name.kind in ("alias", "enum") else None
        if plain is not None:
            types[name.spelling] = plain
    return types


def _plain_type(type: TypeRef | None, found: Collected) -> str | None:
    for _ in range(DEEPEST):
        if isinstance(type, Primitive):
            return type.spelling
        shape = _only_shape(type.name, found) if isinstance(type, Named) else None
        if not isinstance(shape, Alias | Enum):
            return None
        type = shape.target if isinstance(shape, Alias) else shape.underlying
    return None


def _only_shape(name: Name, found: Collected) -> object:
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
    """The tokens ``found``, with known sizes in place of ``sizeof (T)``. ``pointer`` is in bytes."""
    place = 0
    while place < len(found):
        end = found.index(")", place) if found[place : place + 2] == ("sizeof", "(") and ")" in found[place:] else place
        size = _size_of([each for each in found[place + 2 : end] if each not in QUALIFIERS], pointer)
        if size is None:
            yield found[place]
            place += 1
        else:
            yield from ("(", "(", "size_t", ")", str(size), ")")
            place = end + 1


def _size_of(words: Sequence[str], pointer: int) -> int | None:
    if pointer not in (4, 8) or not words:
        return None
    if words[-1] == "*" and all(each == "*" or each.isidentifier() for each in words):
        return pointer
    name = " ".join(words)
    return pointer if name in AS_POINTERS else SIZES.get(name)


MOST: Final = 400
"""How many tokens are handled for one macro. Those that stand for a value have few; some double at each step."""

WORD: Final = re.compile(r"[A-Za-z_$][\w$]*")

_DEFINITION: Final = re.compile(rb"^[ \t]*\#[ \t]*define[ \t](?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL)


class Definition(NamedTuple):
    """A macro: its parameters (``None`` without a list), its replacement, and whether it is the library's.

    The last parameter of a ``variadic`` one takes all further arguments.
    """

    parameters: tuple[str, ...] | None
    body: tuple[str, ...]
    own: bool
    variadic: bool = False


class Expansion(NamedTuple):
    """An expanded text, and whether macros of others took part."""

    tokens: tuple[str, ...]
    borrowed: bool


class TooLong(Exception):
    """The expansion is too long to be followed."""


class Expansions:
    """Expands texts by the macros of a translation unit as defined at its end."""

    def __init__(
        self, lib: LibClang, text: SourceText, top: Iterable[Cursor], is_own: Callable[[Cursor], bool]
    ) -> None:
        self._lib, self._text, self._top, self._is_own = lib, text, top, is_own
        self._read: dict[str, Definition | None] = {}

    def of(self, name: str, value: str) -> Expansion | None:
        """What the macro ``name`` becomes of which ``value`` is the text; ``None`` where it is not followed."""
        try:
            return _Expanding(self.definition).expanded(tokens(value.encode()), name)
        except TooLong:
            return None

    def written(self, name: str, kept: Container[str]) -> tuple[str, ...]:
        """The tokens of a macro in which all others are expanded but those ``kept``; it is given zeros.

        Nothing where it is not followed.
        """
        macro = self.definition(name)
        if macro is None:
            return ()
        body = ["0" if token in (macro.parameters or ()) else token for token in macro.body]
        expanding = _Expanding(lambda word: None if word in kept else self.definition(word))
        try:
            return expanding.expanded(body, name).tokens
        except TooLong:
            return ()

    def spelled(self, cursor: Cursor) -> str:
        """The name of a macro."""
        return self._lib.spelling(cursor)

    def is_unknown(self, name: str) -> bool:
        """Whether a name stands in the definitions of macros at most, and nowhere else in any file of the unit."""
        word = re.compile(rb"(?<!\w)%s(?!\w)" % name.encode())
        return not any(word.search(_DEFINITION.sub(b"", text)) for text in self._texts if name.encode() in text)

    @cached_property
    def _texts(self) -> list[bytes]:
        files = {self._lib.getIncludedFile(each) for each in self._top if each.kind == kinds.INCLUSION}
        return [self._text.file(each) for each in files if each]

    @cached_property
    def _defined(self) -> Mapping[str, Cursor]:
        spelling = self._lib.spelling
        return {spelling(each): each for each in self._top if each.kind == kinds.MACRO}

    def definition(self, name: str) -> Definition | None:
        """The last definition of a macro; ``None`` where there is none that can be read."""
        if name not in self._read:
            cursor = self._defined.get(name)
            self._read[name] = None if cursor is None else self._written(cursor)
        return self._read[name]

    def _written(self, cursor: Cursor) -> Definition | None:
        name, *rest = tokens(self._text.of(cursor)) or [""]
        if not name:
            return None
        if not self._lib.Cursor_isMacroFunctionLike(cursor):
            return Definition(None, tuple(rest), self._is_own(cursor))
        end = rest.index(")") if ")" in rest else 0
        named = [each for each in rest[1:end] if each not in (",", "...")]
        variadic = rest[end - 1] == "..."
        if variadic and rest[end - 2] in ("(", ","):
            named.append("__VA_ARGS__")
        return Definition(tuple(named), tuple(rest[end + 1 :]), self._is_own(cursor), variadic)


def meaning(expansion: Expansion, constants: Mapping[str, str], pointer: int) -> Meaning | None:
    """The value of an expanded text, in which enumerators and other ``constants`` have theirs.

    ``pointer`` is the size of a pointer in bytes, on which those of other types depend.
    """
    known = (constants.get(each, each) for each in _qualified(measured(expansion.tokens, pointer)))
    value = constant(" ".join(known))
    return None if value is None else Meaning(value, expansion.borrowed)


def _qualified(found: Iterable[str]) -> Iterator[str]:
    """Tokens, with the parts of a qualified name joined."""
    pending = ""
    for token in found:
        if token == "::" or pending.endswith("::"):
            pending += token
            continue
        if pending:
            yield pending
        pending = token
    if pending:
        yield pending


class _Expanding:
    """One expansion, and what it has cost so far."""

    def __init__(self, definition: Callable[[str], Definition | None]) -> None:
        self._definition = definition
        self._handled = 0
        self._borrowed = False

    def expanded(self, found: Sequence[str], name: str) -> Expansion:
        return Expansion(tuple(self._of(found, frozenset({name}))), self._borrowed)

    def _of(self, found: Sequence[str], hidden: frozenset[str]) -> list[str]:
        """``found`` without macros but the ``hidden`` ones, which are being expanded."""
        if len(found) > MOST:
            raise TooLong
        result: list[str] = []
        place = 0
        while place < len(found):
            token = found[place]
            place += 1
            self._handled += 1
            if self._handled > MOST:
                raise TooLong
            macro = self._definition(token) if WORD.fullmatch(token) and token not in hidden else None
            if macro is None:
                result.append(token)
                continue
            body: Sequence[str] = macro.body
            if macro.parameters is not None:
                arguments, end = _arguments(found, place)
                if arguments is not None and macro.variadic:
                    arguments = _gathered(arguments, len(macro.parameters) - 1)
                if arguments is None or len(arguments) != len(macro.parameters):
                    result.append(token)
                    continue
                place = end
                body = self._filled(macro, arguments, hidden)
            self._borrowed |= not macro.own
            result += self._of(body, hidden | {token})
        return result

    def _filled(self, macro: Definition, arguments: Sequence[list[str]], hidden: frozenset[str]) -> list[str]:
        """The body of a macro with its arguments."""
        if len(macro.body) > MOST:
            raise TooLong
        given = dict(zip(macro.parameters or (), arguments, strict=True))
        result: list[str] = []
        body = macro.body
        for place, token in enumerate(body):
            before, after = body[place - 1] if place else "", body[place + 1] if place + 1 < len(body) else ""
            raw = given.get(token)
            if before == "#" and raw is not None:
                result[-1:] = [f'"{spelled(" ".join(raw).encode())}"']
            elif before == "##" and result[:-1]:
                pasted = [token] if raw is None else raw
                if result[-2] == ",":  # an extension of GNU: a comma before all further arguments, if there are any
                    result[-2:] = [",", *pasted] if pasted else []
                    continue
                result[-2:] = [result[-2] + "".join(pasted[:1]), *pasted[1:]]
            elif raw is None:
                result.append(token)
            else:
                result += raw if after == "##" else self._of(raw, hidden)
        return result


def _gathered(arguments: list[list[str]], fixed: int) -> list[list[str]]:
    """Arguments of which all behind the ``fixed`` ones are one, with their commas."""
    rest = [token for each in arguments[fixed:] for token in (",", *each)]
    return [*arguments[:fixed], rest[1:]]


def _arguments(found: Sequence[str], place: int) -> tuple[list[list[str]] | None, int]:
    """The arguments that begin at ``place``, and where they end; ``None`` where there are none."""
    if place >= len(found) or found[place] != "(":
        return None, place
    depth, arguments = 0, list[list[str]]([[]])
    for end in range(place, len(found)):
        token = found[end]
        depth += (token == "(") - (token == ")")
        if not depth:
            return ([] if arguments == [[]] else arguments), end + 1
        if token == "," and depth == 1:
            arguments.append([])
        elif end > place:
            arguments[-1].append(token)
    return None, place


RESERVED: Final = re.compile(r"_[A-Z_]")
"""How names begin that belong to compilers: ``__GNUC__``, ``_POSIX_SOURCE``; include guards are often so."""

UNDEFINED: Final = re.compile(rb"^[ \t]*\#[ \t]*undef[ \t]+(\w+)", re.MULTILINE)
NO_VALUE: Final = frozenset(
    {
        *("__attribute__", "__attribute", "__declspec", "__extension__", "__inline", "__inline__", "_Pragma"),
        *("extern", "static", "inline", "constexpr", "namespace", "using", "typedef", "template", "typename"),
        *("if", "do", "while", "for", "return", "else", "switch", "goto", "throw", "try", "class", "struct"),
        *("const", "volatile", "restrict", "__restrict", "register", "virtual", "override", "final", "noexcept"),
        *("void", "enum", "union", "public", "private", "protected", "friend", "explicit", "mutable", "alignas"),
        *("[", "{", "}", ";", ",", ")", "="),
        *("__restrict__", "__const", "__volatile__", "__forceinline", "_Noreturn", "__noreturn", "asm", "__asm__"),
        *("__thread", "_Thread_local", "thread_local", "consteval", "constinit", "_Alignas", "_Nonnull", "_Nullable"),
        *("__cdecl", "__stdcall", "__fastcall", "__vectorcall", "__thiscall", "_cdecl", "_stdcall"),
    }
)
"""What begins a piece of a declaration or statement, and no value."""

ENDING: Final = frozenset({";", "{", "}", ",", "("})
"""What ends no value."""

Place = Callable[[Cursor], "Location | None"]
"""Where a public macro is defined; ``None`` for one of another file."""


def public_definitions(top: Iterable[Cursor], place: Place) -> list[tuple[Cursor, Location]]:
    """The definitions of macros in public headers, in the order in which they are read."""
    found = ((cursor, place(cursor)) for cursor in top if cursor.kind == kinds.MACRO)
    return [(cursor, location) for cursor, location in found if location is not None]


def macros(
    lib: LibClang, text: SourceText, defined: Iterable[tuple[Cursor, Location]]
) -> Iterator[tuple[Name, Location, Declared]]:
    """Public object-like macros with a value. The last definition counts, and none that its file undefines again."""
    found: dict[str, tuple[Location, str]] = {}

    @cache
    def undefined(file: int) -> dict[bytes, int]:
        return {match[1]: match.start() for match in UNDEFINED.finditer(text.file(file))}

    for cursor, location in defined:
        if lib.Cursor_isMacroFunctionLike(cursor):
            continue
        name = lib.spelling(cursor)
        value = None if RESERVED.match(name) else _value(text, cursor, name, undefined)
        if value is None:
            found.pop(name, None)
        else:
            found[name] = location, value
    for name, (location, value) in found.items():
        yield Name("variable", name), location, Declared(traits=("constant", "macro"), value=value)


def is_value(words: Sequence[str]) -> bool:
    """Whether the tokens of a macro stand for a value."""
    return bool(words) and words[0] not in NO_VALUE and words[-1] not in ENDING


def is_initializer(words: Sequence[str]) -> bool:
    """Whether a macro is an initialiser: ``{17, 0}``, or ``(struct lock){17, 0}``.

    A block of statements has a semicolon in it.
    """
    if not words or words[0] not in "{(" or words[-1] != "}" or ";" in words:
        return False
    depths = list(accumulate((each in "{(") - (each in ")}") for each in words))
    return min(depths) == depths[-1] == 0


def settle_macros(found: Collected, expansions: Expansions, pointer: int) -> None:
    """Evaluate macros that name others; leave out those that name pieces of declarations.

    Those without a value that name what no header has are ``unresolved``.
    A macro that expands to a function's name stands for that: ``NAME(saxpy)`` for ``saxpy_``.
    ``pointer`` is the size of a pointer in bytes.
    """
    constants, types, functions = dict(_constants(found)), numbers(found), frozenset(_functions(found))
    for name, declared in list(found.declared.items()):
        if "macro" not in declared.traits or declared.value is None or not words(declared.value):
            continue
        expansion = expansions.of(name.spelling, declared.value)
        if expansion is None:
            continue
        if "constant" in declared.traits and not (is_value(expansion.tokens) or is_initializer(expansion.tokens)):
            found.forget(name)
        else:
            plain = expansion._replace(tokens=tuple(plainly_cast(expansion.tokens, types)))
            known = meaning(plain, constants, pointer) or _function_named(expansion, declared.value, functions)
            lacks = known is None and any(map(expansions.is_unknown, _in_capitals(expansion.tokens)))
            traits = tuple(sorted({*declared.traits, "unresolved"})) if lacks else declared.traits
            found.declared[name] = replace(declared, meaning=known, traits=traits)


def _in_capitals(found: Iterable[str]) -> Iterator[str]:
    return (each for each in found if "_" in each[1:] and each[0] != "_" and each.isidentifier() and each.isupper())


def _functions(found: Collected) -> Iterator[str]:
    return (shape.display for shapes in found.shapes.values() for shape in shapes if isinstance(shape, Function))


def _function_named(expansion: Expansion, text: str, functions: Container[str]) -> Meaning | None:
    """The fact that a macro expands to a function's name that its own text does not show."""
    word = expansion.tokens[0] if len(expansion.tokens) == 1 else text
    return Meaning(word, expansion.borrowed) if word != text and word in functions else None


def _constants(found: Collected) -> Iterator[tuple[str, str]]:
    """The values of enumerators, as programs name them, and of constants that are no macros."""
    for name, shapes in found.shapes.items():
        for shape in shapes:
            if name.kind == "enum" and isinstance(shape, Enum) and not shape.scoped:
                around = name.spelling.rpartition("::")[0]
                for each in shape.enumerators:
                    yield f"{around}::{each.name}" if around else each.name, str(each.value)
    for name, declared in found.declared.items():
        if "constant" in declared.traits and declared.value is not None and not words(declared.value):
            yield name.spelling, declared.value


def _value(text: SourceText, cursor: Cursor, name: str, undefined: Callable[[int], dict[bytes, int]]) -> str | None:
    """What a macro stands for; ``None`` where it is no value, or no longer defined at the end of its file.

    ``undefined`` tells where a file takes each macro back for the last time.
    """
    file, begin, end = text.extent(cursor)
    if file is None:
        return None
    replacement = text.between(file, begin, end)[len(name.encode()) :]
    found = tokens(replacement)
    if not (is_value(found) or is_initializer(found)):
        return None
    return None if undefined(file).get(name.encode(), -1) >= end else spelled(replacement)


CALLED: Final = re.compile(rf"({WORD.pattern}) \(")
EQUALS: Final = re.compile(
    rf"\s*(?:[=!<>]=|[<>&](?![<>&]))[\s(]*({WORD.pattern})\b(?![\s)]*[-+*/%][\s(]*{WORD.pattern})"
)
"""What stands behind a call with whose result a constant is compared, or that it masks.

``CURRENT - AGE`` is compared as the difference of two, which neither tells alone.
"""

EQUALLED: Final = re.compile(rf"(?<![-+*/%])(?<![-+*/%]\s)\b({WORD.pattern})[\s)]*[=!<>]=[\s(]*$")
"""What stands before such a call."""

COMPUTED: Final = re.compile(r"[-+*/%]\s*$")
"""What stands before a call whose result is computed with before it is compared."""

JOINED: Final = (
    re.compile(rf"({WORD.pattern})[\s)]*(?:[+*/%]|-(?!>))[\s(]*$"),
    re.compile(rf"[\s)]*(?:[+*/%]|-(?!>))[\s(]*({WORD.pattern})"),
)
"""What stands before and behind a name that another one is added to, subtracted from and the like."""

FARTHEST: Final = 200
"""Characters before and behind a call that are looked at."""


class Handed(NamedTuple):
    """A function called with a name, or whose result is compared with it, and what is computed of both."""

    function: str
    beside: tuple[str, ...] = ()


def words_with(text: str, begin: int, end: int, function: str) -> Iterator[tuple[str, Handed]]:
    """The names in a call of ``function`` in ``text``, or compared with its result."""
    for found in WORD.finditer(text, begin, end):
        ahead = JOINED[0].search(text[max(begin, found.start() - FARTHEST) : found.start()])
        behind = JOINED[1].match(text, found.end(), end)
        yield found[0], Handed(function, tuple(match[1] for match in (ahead, behind) if match))
    ahead_of_call = text[max(0, begin - FARTHEST) : begin]
    result = None if COMPUTED.search(ahead_of_call) else EQUALS.match(text, end, end + FARTHEST)
    for match in (result, EQUALLED.search(ahead_of_call)):
        if match:
            yield match[1], Handed(function)


def settle_handed(
    found: Collected, expansions: Expansions, called: Mapping[str, Iterable[Handed]], written: Iterable[str]
) -> None:
    """Note which functions of the library programs pass macros to, by code that the headers generate.

    ``called`` are the names in calls by inline functions, with the called functions; ``written`` are all public macros.
    ``CURRENT - AGE`` is the difference of two, which neither shows alone.
    """
    constants = {name.spelling: name for name, declared in found.declared.items() if _has_value(name, found)}
    if not constants:
        return
    takes = _Takers(found)
    handed = {word: set(called[word]) for word in constants.keys() & called.keys()}
    for macro in written:
        if macro not in constants:
            for word, call in _calls(expansions.written(macro, constants.keys()), constants.keys()):
                handed.setdefault(word, set()).add(call)
    for word, calls in handed.items():
        alone = {call.function for call in calls if constants.keys().isdisjoint(call.beside)}
        if taking := tuple(sorted(filter(takes, alone))):
            name = constants[word]
            found.declared[name] = replace(found.declared[name], handed=taking)


def public_macros(lib: LibClang, top: Iterable[Cursor], place: Place) -> Iterator[str]:
    """The macros that public headers define, each once."""
    cursors = (each for each in top if each.kind == kinds.MACRO and place(each) is not None)
    return iter(dict.fromkeys(map(lib.spelling, cursors)))


def _has_value(name: Name, found: Collected) -> bool:
    declared = found.declared[name]
    return "macro" in declared.traits and (declared.meaning is not None or constant(declared.value or "") is not None)


def _calls(found: Collection[str], constants: Collection[str]) -> Iterator[tuple[str, Handed]]:
    text = "" if frozenset(constants).isdisjoint(found) else " ".join(found)
    for match in CALLED.finditer(text):
        found_in = words_with(text, match.start(), _closed(text, match.end()), match[1])
        yield from ((word, call) for word, call in found_in if word in constants)


def _closed(text: str, begin: int) -> int:
    """The position behind the parenthesis that closes the one before ``begin``; tokens have spaces between."""
    depth, place = 1, begin
    for match in re.finditer(r"(?<= )[()](?= |$)", text[begin:]):
        depth += 1 if match[0] == "(" else -1
        place = begin + match.end()
        if not depth:
            break
    return place


class _Takers:
    """Decides by name whether a function is the library's, or an inline one that calls the library."""

    def __init__(self, found: Collected) -> None:
        self._linked = [
            name.spelling
            for name, declared in found.declared.items()
            if name.kind == "function"
            and ("inline" not in declared.traits or (declared.body is not None and declared.body.calls))
        ]
        self._plain = frozenset(self._linked)
        self._mangled = "\n".join(each for each in self._linked if is_mangled(each))

    def __call__(self, function: str) -> bool:
        """A mangled symbol holds the name of its function after the name's length."""
        return function in self._plain or f"{len(function)}{function}" in self._mangled


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

FARTHEST_BEFORE: Final = 300
"""Characters before a definition that are looked at."""


class MacroUses:
    """Where public headers use or undefine macros themselves."""

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
        absent = ABSENT.search(text, max(0, begin - FARTHEST_BEFORE), begin)
        return absent is not None and absent[1].decode() == name and not ENDED.match(text, end)

    def _is_taken_back(self, name: str, file: int, end: int) -> bool:
        """Another header that takes a macro back is one that others include last: what is left there is internal."""
        own = self._taken_back(file).get(name.encode(), -1)
        return own >= end or any(where != file for where in self._elsewhere.get(name.encode(), ()))

    @cached_property
    def _elsewhere(self) -> dict[bytes, list[int]]:
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
