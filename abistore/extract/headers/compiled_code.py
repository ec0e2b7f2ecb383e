"""Code of headers that programs compile: inline bodies, templates, macros and initialisers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from ctypes import c_uint
from typing import Final, NamedTuple

from abistore.extract.headers import cursors
from abistore.extract.headers.cursors import VISITOR, Cursor, LibClang, SourceLocation, SourceRange, Type
from abistore.extract.headers.macros import FARTHEST, Expansions, Handed, words_with
from abistore.extract.headers.tokens import SourceText, digest
from abistore.extract.headers.types import Names
from abistore.model.declarations import InlineBody, Name, Uses
from abistore.model.hints import forbids_use
from abistore.model.words import ANY

NAMED, MEMBER, UNARY, SUBSCRIPT, BINARY, COMPOUND_ASSIGNMENT, NEW, SIZEOF = 101, 102, 112, 113, 114, 115, 134, 136
"""Expressions: ``a``, ``a.b``, ``-a``, ``a[b]``, ``a + b``, ``a += b``, ``new``, ``sizeof``."""

COMPOUND_LITERAL, INITIALIZER_LIST, FUNCTIONAL_CAST = 118, 119, 128
"""``(type){...}``, ``{...}``, ``type(...)``."""

HOLDING: Final = frozenset({cursors.VARIABLE, SUBSCRIPT, BINARY, COMPOUND_LITERAL, INITIALIZER_LIST, FUNCTIONAL_CAST})
"""What has an object of its type, copies one, or steps by its size."""

STEPPING: Final = {UNARY: frozenset({1, 2, 3, 4}), BINARY: frozenset({6, 7}), COMPOUND_ASSIGNMENT: frozenset({25, 26})}
"""The operators that step over an object behind a pointer: increments and decrements, sums and differences."""

LOOKED_AT: Final = frozenset(
    {*HOLDING, *STEPPING, NAMED, MEMBER, cursors.MEMBER_REF, cursors.CALL, NEW, cursors.TYPE_REF}
)
"""What is looked at in code for layouts."""

DEEPEST: Final = 8
"""How many templates are looked for arguments in one another."""


class CodeLayouts:
    """Finds the types whose layouts code depends on: ``met``, with their declarations.

    What depends on template arguments depends on no layout yet.
    """

    def __init__(self, lib: LibClang, names: Names, own: Callable[[Cursor], bool]) -> None:
        self._lib = lib
        self._names = names
        self._own = own
        self.met: dict[Name, Cursor] = {}
        self._types: dict[int, Name | None] = {}
        self._fields: dict[int, str | None] = {}
        self._parts: dict[int | None, tuple[Name, ...]] = {}
        self._calls: dict[int, tuple[Name, ...]] = {}

    def objects(self, cursor: Cursor, parent: int, referenced: Cursor | None) -> Sequence[Name]:
        """The types of which a use has objects; ``parent`` is the kind of what it stands in, ``referenced`` what it
        names.
        """
        lib = self._lib
        kind = cursor.kind
        if kind == cursors.CALL and referenced is not None:
            found = self._passed(cursor, referenced)
        elif kind == NAMED and referenced is not None and referenced.kind == cursors.ENUMERATOR:
            found = tuple(self.named(lib.getCursorSemanticParent(referenced)))
        elif kind == NEW or (kind in STEPPING and self._steps(cursor)):
            found = self._held(lib.getPointeeType(lib.getCanonicalType(lib.getCursorType(cursor))))
        else:
            found = ()
        if kind in HOLDING or parent == SIZEOF:
            found = (*found, *self._held(lib.getCursorType(cursor)))
        return found

    def field(self, referenced: Cursor) -> str | None:
        """The qualified name of a data member of the library's own classes."""
        if referenced.kind != cursors.FIELD:
            return None
        key = referenced.d0
        if key not in self._fields:
            self._fields[key] = self._field(referenced)
        return self._fields[key]

    def _field(self, field: Cursor) -> str | None:
        lib = self._lib
        owner: Cursor = lib.getCursorSemanticParent(field)
        while owner.kind in cursors.RECORDS and lib.Cursor_isAnonymous(owner):
            owner = lib.getCursorSemanticParent(owner)
        found = next(self.named(owner), None)
        return f"{found.spelling}::{lib.spelling(field)}" if found is not None else None

    def _steps(self, cursor: Cursor) -> bool:
        unary = cursor.kind == UNARY
        operator = self._lib.getCursorUnaryOperatorKind if unary else self._lib.getCursorBinaryOperatorKind
        return operator(cursor) in STEPPING[cursor.kind]

    def _passed(self, call: Cursor, called: Cursor) -> tuple[Name, ...]:
        if called.kind == cursors.CONSTRUCTOR:
            return self._held(self._lib.getCursorType(call))
        if called.kind not in cursors.FUNCTIONS:
            return ()
        if called.d0 not in self._calls:
            self._calls[called.d0] = tuple(self._signature(self._lib.getCursorType(called)))
        return self._calls[called.d0]

    def _signature(self, type: Type) -> Iterator[Name]:
        lib = self._lib
        yield from self._held(lib.getResultType(type))
        for index in range(max(0, lib.getNumArgTypes(type))):
            yield from self._held(lib.getArgType(type, index))

    def _held(self, type: Type) -> tuple[Name, ...]:
        """The classes and enumerations of the library that are part of an object: itself, its items, its arguments."""
        if type.d0 not in self._parts:
            self._parts[type.d0] = tuple(self._parts_of(type, 0))
        return self._parts[type.d0]

    def _parts_of(self, type: Type, depth: int) -> Iterator[Name]:
        lib = self._lib
        type = lib.getCanonicalType(type)
        while type.kind in cursors.ARRAYS:
            type = lib.getCanonicalType(lib.getArrayElementType(type))
        if type.kind not in (cursors.RECORD_TYPE, cursors.ENUM_TYPE) or depth > DEEPEST:
            return
        yield from self.named(lib.getTypeDeclaration(type))
        for index in range(max(0, lib.Type_getNumTemplateArguments(type))):
            yield from self._parts_of(lib.Type_getTemplateArgumentAsType(type, index), depth + 1)

    def named(self, declaration: Cursor) -> Iterator[Name]:
        """What a type of the library's own is called; nothing for all else."""
        key = declaration.d0
        if key not in self._types:
            self._types[key] = self._name(declaration)
        if (found := self._types[key]) is not None:
            yield found

    def _name(self, declaration: Cursor) -> Name | None:
        """What a type of the library's own is called that has a name outside of functions and of templates."""
        lib = self._lib
        known = declaration.kind in cursors.RECORDS or declaration.kind == cursors.ENUM
        if not known or lib.Cursor_isAnonymous(declaration) or not self._own(declaration):
            return None
        owner = self._names.owner(declaration)
        while owner.kind in cursors.RECORDS:
            owner = self._names.owner(owner)
        if owner.kind not in (cursors.UNIT, cursors.NAMESPACE):
            return None
        name = Name("enum" if declaration.kind == cursors.ENUM else "record", self._names.of(declaration))
        self.met.setdefault(name, declaration)
        return name


RECURSE: Final = 2
USES: Final = frozenset({cursors.TYPE_REF, cursors.MEMBER_REF, 101, 102, 103, 134, 135})
"""Uses of types, of members, of declarations, calls, ``new`` and ``delete``."""

SEEN: Final = USES | LOOKED_AT
EXTERNAL: Final = 4
"""CXLinkage_External."""

PRIVATE: Final = 3
"""CX_CXXPrivate."""

Own = Callable[[Cursor], bool]
"""Whether a declaration may be the library's own, and not another library's or the system's."""


class Used(NamedTuple):
    """What a piece of code uses; types by name. ``fields`` are in the order in which they are named first."""

    members: set[str]
    symbols: set[str]
    types: set[str]
    objects: set[Name]
    fields: dict[str, None]

    @classmethod
    def nothing(cls) -> Used:
        """An empty collection."""
        return cls(set(), set(), set(), set(), {})

    def add(self, other: Used) -> None:
        """Add all that another piece of code uses."""
        self.members.update(other.members)
        self.symbols.update(other.symbols)
        self.types.update(other.types)
        self.objects.update(other.objects)
        self.fields.update(other.fields)

    @property
    def sorted(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[Name, ...], tuple[str, ...]]:
        """All of it in order."""
        names = tuple(sorted(self.members)), tuple(sorted(self.symbols)), tuple(sorted(self.types))
        return *names, tuple(sorted(self.objects)), tuple(self.fields)

    @property
    def noted(self) -> Uses | None:
        """All of it in order; ``None`` where it is nothing."""
        return Uses(*self.sorted) if any(self) else None


class Use(NamedTuple):
    """A use of something in code, and the kind of its parent."""

    cursor: Cursor
    parent: int


class CodeReferences:
    """Finds the declarations that code refers to. What depends on template arguments refers to nothing yet."""

    def __init__(self, lib: LibClang, names: Names, own: Own) -> None:
        self._lib = lib
        self._names = names
        self.is_own = own
        self.layouts = CodeLayouts(lib, names, own)
        self._members: dict[int, str | None] = {}
        self._symbols: dict[int, str | None] = {}
        self._friends: dict[int, frozenset[int]] = {}

    def within(self, part: Cursor) -> list[Use]:
        """The uses in a statement or expression, itself among them."""
        found = [Use(part, 0)] if part.kind in SEEN else []

        def visit(cursor: Cursor, parent: Cursor, _data: c_uint) -> int:
            if cursor.kind in SEEN or parent.kind == SIZEOF:
                found.append(Use(cursor, parent.kind))
            return RECURSE

        self._lib.visitChildren(part, VISITOR(visit), None)
        return found

    def note(self, use: Use, by: Cursor, used: Used, chosen: Used) -> None:
        """Note what a use refers to, which stands in the declaration ``by``; the functions that a call in a template
        may choose among ``chosen``.
        """
        cursor = use.cursor
        referenced: Cursor | None = self._lib.getCursorReferenced(cursor) if cursor.kind in USES else None
        used.objects.update(self.layouts.objects(cursor, use.parent, referenced))
        if referenced is None:
            return
        if (field := self.layouts.field(referenced)) is not None:
            used.fields[field] = None
        if referenced.kind == cursors.OVERLOADED:
            for each in self._reachable(referenced, by):
                self._add(each, chosen.members, chosen)
        elif referenced.d0:
            self._add(referenced, used.types if cursor.kind == cursors.TYPE_REF else used.members, used)

    def name(self, declaration: Cursor, used: Used) -> None:
        """Note a declaration that code names: a function or variable, a data member, or a type of an object."""
        used.objects.update(self.layouts.named(declaration))
        if (field := self.layouts.field(declaration)) is not None:
            used.fields[field] = None
        self._add(declaration, used.members, used)

    def _add(self, referenced: Cursor, named: set[str], used: Used) -> None:
        key = referenced.d0
        if key not in self._members:
            self._members[key], self._symbols[key] = self._member(referenced), self._symbol(referenced)
        if (member := self._members[key]) is not None:
            named.add(member)
        if (symbol := self._symbols[key]) is not None:
            used.symbols.add(symbol)

    def _reachable(self, overloaded: Cursor, by: Cursor) -> Iterator[Cursor]:
        """The functions that one name stands for, without the private ones to which ``by`` has no access."""
        lib = self._lib
        around: Sequence[int] | None = None
        for index in range(lib.getNumOverloadedDecls(overloaded)):
            each: Cursor = lib.getOverloadedDecl(overloaded, index)
            if lib.getCXXAccessSpecifier(each) == PRIVATE:
                around = around or list(self._around(by))
                owner: Cursor = lib.getCursorSemanticParent(each)
                if lib.getCanonicalCursor(owner).d0 not in around and self._befriended(owner).isdisjoint(around):
                    continue
            yield each

    def _around(self, cursor: Cursor) -> Iterator[int]:
        lib = self._lib
        while cursor.d0 and cursor.kind not in (cursors.UNIT, cursors.NAMESPACE):
            yield lib.getCanonicalCursor(cursor).d0
            cursor = lib.getCursorSemanticParent(cursor)

    def _befriended(self, owner: Cursor) -> frozenset[int]:
        if owner.d0 not in self._friends:
            lib = self._lib
            friends = [child for child in lib.children(owner) if child.kind == cursors.FRIEND]
            named = (each for friend in friends for each in lib.children(friend)[-1:])
            shown = (lib.getCursorReferenced(each) if each.kind == cursors.TYPE_REF else each for each in named)
            self._friends[owner.d0] = frozenset(lib.getCanonicalCursor(each).d0 for each in shown)
        return self._friends[owner.d0]

    def _member(self, cursor: Cursor) -> str | None:
        """The qualified name of a member that is private or protected, or whose name forbids to use it."""
        lib = self._lib
        hidden = lib.getCXXAccessSpecifier(cursor) in cursors.HIDDEN
        if not hidden and not (cursor.kind == cursors.FIELD and forbids_use(lib.spelling(cursor))):
            return None
        return self._names.of(cursor) if self.is_own(cursor) else None

    def _is_built_in(self, cursor: Cursor) -> bool:
        """Whether the compiler itself declares a function, where its name is used first: no type stands before it."""
        if cursor.kind != cursors.FUNCTION:
            return False
        extent: SourceRange = self._lib.getCursorExtent(cursor)
        name: SourceLocation = self._lib.getCursorLocation(cursor)
        return name.data == extent.begin

    def _symbol(self, cursor: Cursor) -> str | None:
        """The name by which the linker finds a function or variable; ``None`` where each program has its own copy."""
        lib = self._lib
        if cursor.kind not in cursors.FUNCTIONS and cursor.kind != cursors.VARIABLE:
            return None
        if lib.getCursorLinkage(cursor) != EXTERNAL or self._is_built_in(cursor) or not self.is_own(cursor):
            return None
        if cursor.kind == cursors.VARIABLE:
            return lib.linked(cursor) or None
        if lib.Cursor_isFunctionInlined(cursor) or lib.CXXMethod_isVirtual(cursor) or lib.CXXMethod_isDefaulted(cursor):
            return None
        if cursor.kind in cursors.STRUCTORS:
            return next((each for each in lib.mangled(cursor) if "C1E" in each or "D1E" in each), None)
        return lib.linked(cursor) or None


BODIES: Final = frozenset({cursors.COMPOUND, cursors.TRY})
TYPES: Final = frozenset({*cursors.RECORDS, cursors.CLASS_TEMPLATE, cursors.PARTIAL_SPECIALIZATION, cursors.FRIEND})
"""What has further declarations in it."""

CODE: Final = frozenset({*cursors.FUNCTIONS, cursors.FUNCTION_TEMPLATE})
VALUES: Final = frozenset({cursors.FIELD, cursors.VARIABLE})
NAMING: Final = frozenset({101, 102, cursors.CALL})
"""Expressions that name a function."""


class Compiled(NamedTuple):
    """What programs compile of a function: its inline body, and who else uses the library's internals."""

    body: InlineBody | None
    uses: Uses | None


class InlineBodies:
    """Reads the bodies of inline functions and templates."""

    def __init__(
        self, lib: LibClang, text: SourceText, references: CodeReferences, is_given: Callable[[Cursor], bool]
    ) -> None:
        self.lib = lib
        self._text = text
        self._references = references
        self._is_given = is_given
        self._helpers: dict[int, tuple[Used, dict[int, Cursor]]] = {}
        self._called: dict[int, str | None] = {}
        self.handed: dict[str, set[Handed]] = {}
        """The names that stand in calls of the library's functions, each with the functions that are called with it."""

    def of(self, function: Cursor, children: Sequence[Cursor], defaults: Iterable[Cursor], *, inline: bool) -> Compiled:
        """The body of an ``inline`` function or a template, with what initialises members before it.

        ``defaults`` are the parameters that have one.
        """
        used, chosen = Used.nothing(), Used.nothing()
        for parameter in defaults:
            self._value(parameter, chosen)
        body = next((each for each in children if each.kind in BODIES), None)
        if body is None:
            return Compiled(None, chosen.noted)
        parts = self._parts(function, children, body)
        for part in parts:
            self._read(part, function, used if inline else chosen, chosen)
        if not inline:
            return Compiled(None, chosen.noted)
        file, begin, end = self._text.extent(body)
        start = self._text.extent(parts[0])
        text = self._text.between(file, min(begin, start[1]) if start[0] == file else begin, end)
        return Compiled(InlineBody(digest(text), *used.sorted), chosen.noted)

    def within(self, members: Iterable[Cursor]) -> Uses | None:
        """What all code in these members of a class uses, and in the classes in them."""
        found = Used.nothing()
        self._members(members, found)
        return found.noted

    def is_own(self, cursor: Cursor) -> bool:
        """Whether a declaration may be the library's own."""
        return self._references.is_own(cursor)

    def name(self, declaration: Cursor, used: Used) -> None:
        """Note that code names a function, a data member, or an object of a type, where no cursor tells of that."""
        self._references.name(declaration, used)
        if declaration.kind in cursors.FUNCTIONS:
            helpers: dict[int, Cursor] = {}
            self._meet_function(declaration, helpers)
            for helper in self._reached(helpers):
                used.add(self._helpers[helper.d0][0])

    def _members(self, members: Iterable[Cursor], found: Used) -> None:
        for each in members:
            if each.kind in CODE:
                self._function(each, found)
            elif each.kind in VALUES:
                self._value(each, found)
            elif each.kind in TYPES:
                self._members(self.lib.children(each), found)

    def _function(self, function: Cursor, found: Used) -> None:
        children = self.lib.children(function)
        for parameter in children:
            if parameter.kind == cursors.PARAMETER:
                self._value(parameter, found)
        body = next((each for each in children if each.kind in BODIES), None)
        for part in self._parts(function, children, body) if body is not None else ():
            self._read(part, function, found, found)

    def _value(self, declaration: Cursor, found: Used) -> None:
        """Read the value of a declaration, which is its last child."""
        for value in self.lib.children(declaration)[-1:]:
            if cursors.is_expression(value.kind):
                self._read(value, declaration, found, found)

    def _parts(self, function: Cursor, children: Sequence[Cursor], body: Cursor) -> Sequence[Cursor]:
        first = self._initializer(function, children)
        return [body] if first is None else children[first:]

    def _initializer(self, function: Cursor, children: Sequence[Cursor]) -> int | None:
        """Which of a constructor's children begins the initialisers: what stands before the name only qualifies it."""
        lib = self.lib
        template = function.kind == cursors.FUNCTION_TEMPLATE
        if (lib.getTemplateCursorKind(function) if template else function.kind) != cursors.CONSTRUCTOR:
            return None
        name = lib.place(lib.getCursorLocation(function))[2]
        for place, each in enumerate(children):
            if each.kind in cursors.INITIALIZERS and self._text.extent(each)[1] > name:
                return place
        return None

    def _read(self, part: Cursor, by: Cursor, used: Used, chosen: Used) -> None:
        helpers: dict[int, Cursor] = {}
        for use in self._references.within(part):
            self._references.note(use, by, used, chosen)
            if use.cursor.kind == cursors.CALL and used is not chosen:
                self._hand(use.cursor)
            self._meet(use.cursor, helpers)
        for helper in self._reached(helpers):
            used.add(self._helpers[helper.d0][0])

    def _meet(self, use: Cursor, helpers: dict[int, Cursor]) -> None:
        """Note a called function that only a header defines which was not given."""
        if use.kind in NAMING:
            self._meet_function(self.lib.getCursorReferenced(use), helpers)

    def _meet_function(self, function: Cursor, helpers: dict[int, Cursor]) -> None:
        if function.kind in cursors.FUNCTIONS and self._references.is_own(function):
            definition: Cursor = self.lib.getCursorDefinition(function)
            if definition.kind not in cursors.NOTHING and not self._is_given(definition):
                helpers.setdefault(definition.d0, definition)

    def _reached(self, helpers: dict[int, Cursor]) -> Iterable[Cursor]:
        pending, seen = list(helpers.values()), set(helpers)
        for helper in pending:
            if helper.d0 not in self._helpers:
                self._helpers[helper.d0] = self._of_helper(helper)
            pending += (each for key, each in self._helpers[helper.d0][1].items() if key not in seen)
            seen.update(self._helpers[helper.d0][1])
        return pending

    def _of_helper(self, helper: Cursor) -> tuple[Used, dict[int, Cursor]]:
        used, called = Used.nothing(), dict[int, Cursor]()
        children = self.lib.children(helper)
        body = next((each for each in children if each.kind in BODIES), None)
        for part in self._parts(helper, children, body) if body is not None else ():
            for use in self._references.within(part):
                self._references.note(use, helper, used, used)
                self._meet(use.cursor, called)
        return used, called

    def _hand(self, call: Cursor) -> None:
        function = self._function_called(self.lib.getCursorReferenced(call))
        if function is not None:
            file, begin, end = self._text.extent(call)
            first = max(0, begin - FARTHEST)
            around = self._text.between(file, first, end + FARTHEST).decode("latin-1")
            for word, handed in words_with(around, begin - first, end - first, function):
                self.handed.setdefault(word, set()).add(handed)

    def _function_called(self, cursor: Cursor) -> str | None:
        """The name of a called library function; ``None`` for anything else."""
        key = cursor.d0
        if key not in self._called:
            own = bool(key) and cursor.kind in cursors.FUNCTIONS and self._references.is_own(cursor)
            self._called[key] = self.lib.spelling(cursor) if own else None
        return self._called[key]


def used_by_class(
    bodies: InlineBodies, members: Sequence[Cursor], initialized: Iterable[tuple[str, str]]
) -> Uses | None:
    """What the friend templates that a class defines use, and the initialisers of its members."""
    lib = bodies.lib
    friends = [child for each in members if each.kind == cursors.FRIEND for child in lib.children(each)]
    compiled = [each for each in friends if each.kind == cursors.FUNCTION_TEMPLATE]
    named = {name for name, _ in initialized}
    if named and _is_constructed_here(lib, members):
        compiled += [each for each in members if each.kind == cursors.FIELD and lib.spelling(each) in named]
    return bodies.within(compiled) if compiled else None


def _is_constructed_here(lib: LibClang, members: Iterable[Cursor]) -> bool:
    """Whether programs may compile a constructor of a class: one in its headers, or an implicit one.

    Copy and move constructors take what the other object has.
    """
    constructors = [each for each in members if _constructs(lib, each) and not lib.CXXMethod_isDeleted(each)]
    new = [each for each in constructors if not _copies(lib, each)]
    return not new or any(_is_defined_here(lib, each) for each in new)


def _constructs(lib: LibClang, member: Cursor) -> bool:
    template = member.kind == cursors.FUNCTION_TEMPLATE
    return bool((lib.getTemplateCursorKind(member) if template else member.kind) == cursors.CONSTRUCTOR)


def _copies(lib: LibClang, constructor: Cursor) -> bool:
    return bool(lib.CXXConstructor_isCopyConstructor(constructor) or lib.CXXConstructor_isMoveConstructor(constructor))


def _is_defined_here(lib: LibClang, constructor: Cursor) -> bool:
    if constructor.kind == cursors.FUNCTION_TEMPLATE or lib.CXXMethod_isDefaulted(constructor):
        return True
    found: Cursor = lib.getCursorDefinition(constructor)
    return found.kind not in cursors.NOTHING


MEMBER_OF: Final = frozenset({".", "->"})
POINTING: Final = frozenset({"*", "&", "&&", "::"})
"""What is written behind a type of which a macro has no object by that."""

AROUND: Final = frozenset({cursors.NAMESPACE, cursors.LINKAGE, cursors.UNEXPOSED_DECL})
MOST: Final = 1_000
"""Tokens of a macro, with those of the macros that it names."""


class MacroCode:
    """The functions, members and objects that macros name, as far as the library's own headers declare these.

    A member is known by its name alone: each class that has one so called is looked into. One of a class that no header
    defines is told without a class, and a name that is pasted of others with ``*`` for what macros are given.
    """

    def __init__(self, bodies: InlineBodies, top: Iterable[Cursor], expansions: Expansions) -> None:
        self._bodies = bodies
        self._lib = bodies.lib
        self._top = top
        self._expansions = expansions

    def of(self, macros: Iterable[str]) -> Mapping[str, Uses]:
        """What each of these macros uses that uses anything."""
        tokens = {name: tuple(self._tokens(name)) for name in macros}
        words = {each for found in tokens.values() for each in found if each.isidentifier()}
        declared = self._declared(words) if words else {}
        used = {name: self._used(found, declared) for name, found in tokens.items()}
        return {name: found for name, each in used.items() if (found := each.noted) is not None}

    def _tokens(self, macro: str) -> Iterator[str]:
        """The text of a macro and, behind it, of the macros that it names; parameters are left out."""
        pending, seen, count = [macro], {macro}, 0
        while pending and count < MOST:
            definition = self._expansions.definition(pending.pop())
            for token in definition.body if definition is not None else ():
                if definition is not None and token in (definition.parameters or ()):
                    token = "0"
                elif token not in seen and self._expansions.definition(token) is not None:
                    pending.append(token)
                seen.add(token)
                count += 1
                yield token

    def _used(self, tokens: tuple[str, ...], declared: Mapping[str, list[Cursor]]) -> Used:
        used = Used.nothing()
        for place, token in enumerate(tokens):
            before, behind = tokens[place - 1 : place], tokens[place + 1 : place + 2]
            for cursor in declared.get(token, ()):
                is_member = cursor.kind == cursors.FIELD
                has_object = cursor.kind not in cursors.RECORDS or POINTING.isdisjoint(behind)
                if is_member != MEMBER_OF.isdisjoint(before) and has_object:
                    self._bodies.name(cursor, used)
            if token.isidentifier() and not MEMBER_OF.isdisjoint(before) and not _has_member(used, token):
                used.fields[f"::{token}"] = None
        used.symbols.update(_pasted(tokens))
        return used

    def _declared(self, words: Collection[str]) -> Mapping[str, list[Cursor]]:
        """What the library's headers declare by these words, outside of classes but for data members."""
        found: dict[str, list[Cursor]] = {}
        pending = list(self._top)
        while pending:
            cursor = pending.pop()
            if cursor.kind in AROUND:
                pending += self._lib.children(cursor) if self._bodies.is_own(cursor) else ()
            elif cursor.kind in cursors.RECORDS or cursor.kind in (cursors.FUNCTION, cursors.VARIABLE, cursors.FIELD):
                word = self._lib.spelling(cursor)
                if (word in words or cursor.kind in cursors.RECORDS) and self._bodies.is_own(cursor):
                    found.setdefault(word, []).append(cursor)
                    if cursor.kind in cursors.RECORDS:
                        pending += self._lib.children(cursor)
        return found


def _has_member(used: Used, name: str) -> bool:
    return any(each.rpartition("::")[2] == name for each in used.fields)


def _pasted(tokens: tuple[str, ...]) -> Iterator[str]:
    """The names that ``##`` makes, where a part of each is known: ``foo_*_of`` of ``foo_##what##_of``."""
    for place, token in enumerate(tokens):
        if token != "##" or tokens[place - 2 : place - 1] == ("##",):
            continue
        parts = list(tokens[place - 1 : place])
        while tokens[place : place + 1] == ("##",):
            parts += tokens[place + 1 : place + 2]
            place += 2
        name = "".join(each if each.isidentifier() else ANY for each in parts)
        if ANY in name and name.strip(ANY):
            yield name
