"""Traits, parameters, values and attributes that only the text of a declaration shows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from ctypes import byref, c_int
from typing import Final

from msgspec.structs import replace

from abistore.extract.headers import cursors
from abistore.extract.headers.classes import ClassFacts
from abistore.extract.headers.compiled_code import InlineBodies, used_by_class
from abistore.extract.headers.cursors import Cursor, LibClang, PlatformAvailability, Text, Version
from abistore.extract.headers.tokens import INTERNAL, Definitions, SourceText, after, spelled
from abistore.model.declarations import Argument, Declared, Trait
from abistore.model.shapes import Field, Primitive, Record

LETTERS: Final = frozenset({4, 13, 15})
"""``char`` and ``wchar_t`` (CXTypeKind)."""


def length(lib: LibClang, parameter: Cursor) -> int:
    """The number of elements of an array parameter, as written or through an alias; 0 for others.

    Also 0 for text that is only read: it ends with a mark, and the number is only a maximum.
    """
    type = lib.getCanonicalType(lib.getCursorType(parameter))
    if type.kind != cursors.CONSTANT_ARRAY:
        return 0
    is_text = lib.getArrayElementType(type).kind in LETTERS and lib.isConstQualifiedType(type)
    return 0 if is_text else lib.bound(type) or 0


DEPRECATED: Final = 1
TERSE: Final = 17
"""CXPrintingPolicy_TerseOutput: declarations without bodies."""

MOST_PLATFORMS: Final = 32
NODISCARD: Final = re.compile(r"\[\[(?:\w+::)?nodiscard\b|\bwarn_unused(?:_result)?\b")
PROMISE: Final = re.compile(
    r"(?:__attribute__\(\(|\[\[gnu::)(?:__)?"
    r"(returns_nonnull|pure|const|malloc|assume_aligned\([^()]*\)|alloc_align\([^()]*\))(?:__)?(?!\w)"
)
"""Attributes of functions by which compilers leave something out of the code of callers."""
STOP: Final = re.compile(r"(?:__attribute__\(\(|\[\[(?:gnu|clang)::)(?:__)?(error|unavailable|warning)(?:__)?(?!\w)")
"""Attributes of what compilers refuse, or warn of, where it is used."""
TEXT: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
CONSTEXPR: Final = re.compile(r"\b(?:constexpr|consteval)\b")


class Attributes:
    """Reads the attributes of declarations, macros expanded."""

    def __init__(self, lib: LibClang) -> None:
        self._lib = lib
        self._policy: object = None

    def printed(self, cursor: Cursor) -> str:
        """A declaration as libclang prints it: with its attributes, without its body."""
        lib = self._lib
        if self._policy is None:
            self._policy = lib.getCursorPrintingPolicy(cursor)
            lib.PrintingPolicy_setProperty(self._policy, TERSE, 1)
        return lib.text(lib.getCursorPrettyPrinted(cursor, self._policy))

    def close(self) -> None:
        """Frees what printing needs."""
        if self._policy is not None:
            self._lib.PrintingPolicy_dispose(self._policy)
            self._policy = None

    def traits(self, cursor: Cursor, printed: str) -> Iterator[Trait]:
        """The traits that attributes give. ``printed`` is empty for a declaration without any."""
        if printed:
            if NODISCARD.search(printed):
                yield "nodiscard"
            stops = {match[1] for match in STOP.finditer(TEXT.sub("", printed))}
            if stops - {"warning"}:
                yield "refused"
            if "warning" in stops or self._lib.getCursorAvailability(cursor) == DEPRECATED:
                yield "deprecated"

    @staticmethod
    def promises(printed: str) -> tuple[str, ...]:
        """What a function promises its callers: ``pure``, ``returns_nonnull``, ``assume_aligned(64)``."""
        return tuple(sorted({each[1] for each in PROMISE.finditer(TEXT.sub("", printed))}))

    def availability(self, cursor: Cursor) -> tuple[str, ...]:
        """Since when a declaration is there, by platform: ``macos introduced=10.15 deprecated=11.0``."""
        lib = self._lib
        found = (PlatformAvailability * MOST_PLATFORMS)()
        flags, texts = (c_int(), c_int()), (Text(), Text())
        count = lib.getCursorPlatformAvailability(
            cursor, byref(flags[0]), byref(texts[0]), byref(flags[1]), byref(texts[1]), found, MOST_PLATFORMS
        )
        for text in texts:
            lib.disposeString(text)
        platforms = [self._platform(each) for each in found[: min(count, MOST_PLATFORMS)]]
        for each in found[: min(count, MOST_PLATFORMS)]:
            lib.disposeCXPlatformAvailability(byref(each))
        return tuple(sorted(platforms))

    def _platform(self, availability: PlatformAvailability) -> str:
        name = self._lib.getCString(availability.platform)
        words = [name.decode(errors="replace") if name else "unknown"]
        for word in ("introduced", "deprecated", "obsoleted"):
            version = _version(getattr(availability, word))
            if version:
                words.append(f"{word}={version}")
        if availability.unavailable:
            words.append("unavailable")
        return " ".join(words)


def _version(version: Version) -> str:
    parts = [version.major, version.minor, version.subminor]
    return ".".join(str(part) for part in parts if part >= 0)


INTEGER, STRING = 1, 4
"""CXEvalResultKind."""

LITERAL: Final = re.compile(r"[-+]?(?:0[xXbB])?[\da-fA-F']+[uUlLzZ]*|'(?:[^'\\]|\\.)*'")

LONGEST: Final = 8
"""How many bytes an integer has at most that libclang tells."""


class Constants:
    """Evaluates constants as the compiler does; what it cannot evaluate stays as written."""

    def __init__(self, lib: LibClang, text: SourceText) -> None:
        self._lib = lib
        self._text = text

    def of(self, variable: Cursor) -> str | None:
        """The value that a variable's declaration gives it; ``None`` where it gives none."""
        lib = self._lib
        initializer = lib.Cursor_getVarDeclInitializer(variable)
        if not initializer.d0 or initializer.kind in cursors.NOTHING:
            return None
        return self._evaluated(variable) or self._written(variable)

    def _evaluated(self, variable: Cursor) -> str | None:
        lib = self._lib
        type = lib.getCanonicalType(lib.getCursorType(variable))
        if type.kind not in cursors.SCALARS:
            return None
        result = lib.Cursor_Evaluate(variable)
        if not result:
            return None
        try:
            match lib.EvalResult_getKind(result):
                case 1 if (lib.size(type) or 0) <= LONGEST:
                    unsigned = lib.EvalResult_isUnsignedInt(result)
                    value = lib.EvalResult_getAsUnsigned if unsigned else lib.EvalResult_getAsLongLong
                    return _integer(value(result), type.kind)
                case 2:
                    return repr(lib.EvalResult_getAsDouble(result))
                case _:
                    return None
        finally:
            lib.EvalResult_dispose(result)

    def _written(self, variable: Cursor) -> str | None:
        text = self._text.declarator(variable)
        found = spelled(after(text, "=")) or spelled(text[text.find(b"{") :] if b"{" in text else b"")
        return found or None

    def expression(self, enumerator: Cursor, *, wide: bool) -> str | None:
        """The written value of an enumerator; ``None`` for none, and for a plain number unless ``wide``."""
        text = self._text.of(enumerator)
        if b"=" not in text:
            return None
        found = spelled(after(text, "="))
        return None if not wide and LITERAL.fullmatch(found) else found or None


def _integer(value: int, kind: int) -> str:
    return ("false", "true")[bool(value)] if kind == cursors.BOOL_TYPE else str(value)


NOEXCEPT: Final = frozenset({1, 4, 6, 9})
"""``throw()``, ``noexcept``, a destructor's own, ``__attribute__((nothrow))`` (CXCursor_ExceptionSpecificationKind)."""

COMPUTED: Final = 5
"""``noexcept`` of an expression."""

DUMMY: Final = re.compile(r"_*(?:dummy|unused|not_?used|placeholder|opaque|incomplete)\w*", re.IGNORECASE)
"""What the one member of a definition is called that only gives a handle a type."""


class Descriptions:
    """Makes :class:`Declared` of cursors."""

    def __init__(
        self, lib: LibClang, text: SourceText, bodies: InlineBodies, definitions: Definitions, *, cpp: bool
    ) -> None:
        self._lib = lib
        self.text = text
        self.bodies = bodies
        self.definitions = definitions
        self._cpp = cpp
        self._constants = Constants(lib, text)
        self.attributes = Attributes(lib)

    def function(self, cursor: Cursor, *traits: Trait, within: Sequence[Cursor] = ()) -> Declared:
        """A function, member or not. Of a template only what is ``within`` it: its own parameters are added later."""
        lib = self._lib
        static = self._is_static(cursor)
        inline = static or bool(lib.Cursor_isFunctionInlined(cursor))
        attributed = bool(lib.Cursor_hasAttrs(cursor))
        printed = self.attributes.printed(cursor) if inline or attributed else ""
        found: set[Trait] = {*traits, *self.attributes.traits(cursor, printed if attributed else "")}
        children = within or (lib.children(cursor) if inline or attributed else ())
        if inline:
            found.add("inline")
        if (static or not inline) and self.definitions.hold(cursor):
            found.add("defined")
        if CONSTEXPR.search(printed):
            found.add("constexpr")
        if any(each.kind == cursors.FINAL_ATTRIBUTE for each in children):
            found.add("final")
        if self._is_noexcept(cursor):
            found.add("noexcept")
        parameters = self._defaults_within(cursor, within) if within else self._parameters(cursor)
        defaults = self._with_defaults(cursor, parameters, within)
        compiled = self.bodies.of(cursor, children if inline or within else (), defaults, inline=inline)
        return Declared(
            traits=tuple(sorted(found)),
            parameters=parameters,
            body=compiled.body,
            uses=compiled.uses,
            availability=self.attributes.availability(cursor) if attributed else (),
            promises=self.attributes.promises(printed) if attributed and not inline else (),
        )

    def _is_static(self, cursor: Cursor) -> bool:
        """Whether each program has its own copy, through internal linkage."""
        return bool(self._lib.getCursorLinkage(cursor) == INTERNAL)

    def _is_noexcept(self, cursor: Cursor) -> bool:
        lib = self._lib
        kind = lib.getCursorExceptionSpecificationType(cursor)
        if kind == COMPUTED:
            return "noexcept" in lib.text(lib.getTypeSpelling(lib.getCanonicalType(lib.getCursorType(cursor))))
        return kind in NOEXCEPT or (kind == 0 and cursor.kind == cursors.DESTRUCTOR)

    def _parameters(self, cursor: Cursor) -> tuple[Argument, ...]:
        lib = self._lib
        count = lib.Cursor_getNumArguments(cursor)
        if count <= 0:
            return ()
        found = []
        written = b"=" in self.text.of(cursor)
        for index in range(count):
            parameter = lib.Cursor_getArgument(cursor, index)
            default = spelled(after(self.text.of(parameter), "=")) if written else ""
            found.append(Argument(lib.spelling(parameter), default or None, length(lib, parameter)))
        return tuple(found) if any(each != Argument() for each in found) else ()

    def _defaults_within(self, template: Cursor, within: Sequence[Cursor]) -> tuple[Argument, ...]:
        """The parameters of a function template by their defaults, where one has any: libclang lists none of them.

        Their names are left out: nobody binds a template to another language, which alone would use them.
        """
        if b"=" not in self.text.of(template):
            return ()
        texts = (self.text.of(each) for each in within if each.kind == cursors.PARAMETER)
        found = tuple(Argument(default=spelled(after(each, "=")) or None) for each in texts)
        return found if any(each.default for each in found) else ()

    def _with_defaults(
        self, cursor: Cursor, parameters: Sequence[Argument], within: Sequence[Cursor]
    ) -> Iterator[Cursor]:
        for index, each in enumerate(() if within else parameters):
            if each.default is not None:
                yield self._lib.Cursor_getArgument(cursor, index)
        yield from (each for each in within if each.kind == cursors.PARAMETER)

    def variable(self, cursor: Cursor) -> Declared:
        """A data object, and its value if it is a constant. One defined in a C++ header is in each program."""
        lib = self._lib
        found = set[Trait]()
        value = self._constants.of(cursor)
        if self._is_static(cursor) or (self._cpp and lib.isCursorDefinition(cursor)):
            found.add("inline")
        if value is not None:
            printed = self.attributes.printed(cursor)
            if CONSTEXPR.search(printed):
                found.add("constexpr")
            if "constexpr" in found or _is_const(lib, cursor):
                found.add("constant")
        declared = self._attributed(cursor, found, value)
        return replace(declared, uses=self.bodies.within([cursor])) if "inline" in found else declared

    def variable_template(self, cursor: Cursor) -> Declared:
        """A variable template, as it is printed."""
        printed = self.attributes.printed(cursor)
        value = spelled(after(printed.encode(), "="))
        found: set[Trait] = {"template", *self.attributes.traits(cursor, printed)}
        if CONSTEXPR.search(printed):
            found.update(("constexpr", "constant"))
        return Declared(traits=tuple(sorted(found)), value=value or None)

    def record(self, cursor: Cursor, facts: ClassFacts | None, shape: Record | None) -> Declared:
        """A class; facts of the definition only for the definition itself."""
        found = set[Trait]()
        if facts is not None:
            if self._lib.CXXRecord_isAbstract(facts.cursor):
                found.add("abstract")
            if any(each.kind == cursors.FINAL_ATTRIBUTE for each in facts.members):
                found.add("final")
            if any(each.kind == cursors.FRIEND for each in facts.members):
                found.add("befriends")
        if shape is not None and is_dummy(shape):
            found.add("dummy")
        declared = self._attributed(cursor, found, None)
        members = facts.members if facts is not None else ()
        expressions = tuple(self._initialized(members))
        return replace(declared, expressions=expressions, uses=used_by_class(self.bodies, members, expressions))

    def _initialized(self, members: Iterable[Cursor]) -> Iterator[tuple[str, str]]:
        """Data members with default member initialisers."""
        for each in members:
            if each.kind != cursors.FIELD:
                continue
            text = self.text.declarator(each)
            braces = text.rstrip().endswith(b"}")
            if b"=" in text or braces:
                written = spelled(after(text, "=")) or (spelled(text[text.find(b"{") :]) if braces else "")
                if written:
                    yield self._lib.spelling(each), written

    def enum(self, cursor: Cursor, enumerators: Iterable[Cursor]) -> Declared:
        """An enumeration, and the expressions of its values."""
        lib = self._lib
        wide = (lib.size(lib.getCursorType(cursor)) or 0) > LONGEST
        pairs = [(lib.spelling(each), self._constants.expression(each, wide=wide)) for each in enumerators]
        declared = self._attributed(cursor, set(), None)
        expressions = tuple([(name, text) for name, text in pairs if text is not None])
        return Declared(declared.traits, expressions=expressions, availability=declared.availability)

    def plain(self, cursor: Cursor) -> Declared:
        """Any other declaration."""
        return self._attributed(cursor, set(), None)

    def _attributed(self, cursor: Cursor, traits: set[Trait], value: str | None) -> Declared:
        availability: tuple[str, ...] = ()
        if self._lib.Cursor_hasAttrs(cursor):
            traits |= set(self.attributes.traits(cursor, self.attributes.printed(cursor)))
            availability = self.attributes.availability(cursor)
        return Declared(traits=tuple(sorted(traits)), value=value, availability=availability)


def _is_const(lib: LibClang, cursor: Cursor) -> bool:
    """Whether an object, or all that an array holds, is ``const``."""
    return bool(lib.isConstQualifiedType(lib.getCanonicalType(lib.getCursorType(cursor))))


def is_dummy(record: Record) -> bool:
    """Whether a definition only gives a handle a type: ``struct state { int dummy; };``."""
    match record:
        case Record(fields=(Field(type=Primitive()) as field,), bases=(), virtuals=()):
            return DUMMY.fullmatch(field.name) is not None
    return False
