"""What only the text of a declaration tells: traits, parameters, values, bodies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang
from abistore.extract.headers.walk.shapes.classes import ClassFacts
from abistore.extract.headers.walk.written.attributes import CONSTEXPR, Attributes
from abistore.extract.headers.walk.written.compiled.bodies import InlineBodies
from abistore.extract.headers.walk.written.compiled.made_here import used_by_class
from abistore.extract.headers.walk.written.constants import LONGEST, Constants
from abistore.extract.headers.walk.written.definitions import INTERNAL, Definitions
from abistore.extract.headers.walk.written.lengths import length
from abistore.extract.headers.walk.written.tokens import SourceText, after, spelled
from abistore.model.declared import Argument, Declared, Trait
from abistore.model.shapes import Field, Primitive, Record

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
        """A function, member or not; of a template, without what the template adds, but what is ``within`` it."""
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
        if any(each.kind == kinds.FINAL_ATTRIBUTE for each in children):
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
        """Whether each program has one of its own, by internal linkage."""
        return bool(self._lib.getCursorLinkage(cursor) == INTERNAL)

    def _is_noexcept(self, cursor: Cursor) -> bool:
        lib = self._lib
        kind = lib.getCursorExceptionSpecificationType(cursor)
        if kind == COMPUTED:
            return "noexcept" in lib.text(lib.getTypeSpelling(lib.getCanonicalType(lib.getCursorType(cursor))))
        return kind in NOEXCEPT or (kind == 0 and cursor.kind == kinds.DESTRUCTOR)

    def _parameters(self, cursor: Cursor) -> tuple[Argument, ...]:
        """The parameters by name, default and length; nothing where no parameter has any."""
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
        texts = (self.text.of(each) for each in within if each.kind == kinds.PARAMETER)
        found = tuple(Argument(default=spelled(after(each, "=")) or None) for each in texts)
        return found if any(each.default for each in found) else ()

    def _with_defaults(
        self, cursor: Cursor, parameters: Sequence[Argument], within: Sequence[Cursor]
    ) -> Iterator[Cursor]:
        """The parameters with defaults, and what of a template may have one."""
        for index, each in enumerate(() if within else parameters):
            if each.default is not None:
                yield self._lib.Cursor_getArgument(cursor, index)
        yield from (each for each in within if each.kind == kinds.PARAMETER)

    def variable(self, cursor: Cursor) -> Declared:
        """A data object, and its value where it is a constant. One that a header of C++ defines is in each program."""
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
        """A class; what only its definition tells where this is it."""
        found = set[Trait]()
        if facts is not None:
            if self._lib.CXXRecord_isAbstract(facts.cursor):
                found.add("abstract")
            if any(each.kind == kinds.FINAL_ATTRIBUTE for each in facts.members):
                found.add("final")
            if any(each.kind == kinds.FRIEND for each in facts.members):
                found.add("befriends")
        if shape is not None and is_dummy(shape):
            found.add("dummy")
        declared = self._attributed(cursor, found, None)
        members = facts.members if facts is not None else ()
        expressions = tuple(self._initialized(members))
        return replace(declared, expressions=expressions, uses=used_by_class(self.bodies, members, expressions))

    def _initialized(self, members: Iterable[Cursor]) -> Iterator[tuple[str, str]]:
        """Data members with what they are initialised with where no constructor does it."""
        for each in members:
            if each.kind != kinds.FIELD:
                continue
            text = self.text.declarator(each)
            braces = text.rstrip().endswith(b"}")
            if b"=" in text or braces:
                written = spelled(after(text, "=")) or (spelled(text[text.find(b"{") :]) if braces else "")
                if written:
                    yield self._lib.spelling(each), written

    def enum(self, cursor: Cursor, enumerators: Iterable[Cursor]) -> Declared:
        """An enumeration, and what its values are written as."""
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
