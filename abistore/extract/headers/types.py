"""From libclang's types to type references, with template arguments and qualified names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from abistore.errors import LimitExceeded
from abistore.extract.headers import cursors
from abistore.extract.headers.cursors import Cursor, LibClang, Type
from abistore.extract.types import References, is_foreign
from abistore.model.declarations import Name
from abistore.model.names.qualified import normal_name, plain_template
from abistore.model.names.spelling import spell
from abistore.model.shapes import VOID, Array, Enum, Inline, Procedure, Qualified, Record, Special, TypeRef

POSITION: Final = re.compile(r"type-parameter-(\d+)-(\d+)")
IDENTIFIER: Final = re.compile(r"(?<![\w:])[A-Za-z_]\w*(?!\w|::)")
"""A name that nothing qualifies, and that qualifies nothing."""

RESERVED: Final = re.compile(r"_[A-Z_]")
"""How names begin that only the standard library gives its parameters."""

UNNAMED: Final = normal_name("(anonymous class)")
ANONYMOUS_NAMESPACE: Final = "(anonymous namespace)"

Arguments = Callable[[Cursor, Type], "str | None"]
"""Gives the template arguments of a class with their brackets; ``None`` for what is no template instance."""


class Names:
    """Names by declaration, each worked out once. ``arguments`` completes those of template instances."""

    def __init__(self, lib: LibClang, arguments: Arguments) -> None:
        self._lib = lib
        self._arguments = arguments
        self._known: dict[int, str] = {}
        self._scopes: dict[int, str] = {}

    def of(self, cursor: Cursor) -> str:
        """The qualified name of a declaration."""
        found = self._known.get(cursor.d0)
        if found is None:
            found = self._known[cursor.d0] = self.qualify(cursor, self._own(cursor))
        return found

    def qualify(self, cursor: Cursor, name: str) -> str:
        """``name`` in the scope of a declaration."""
        scope = self.scope(cursor)
        return f"{scope}::{name}" if scope else name

    def scope(self, cursor: Cursor) -> str:
        """The namespace or class that a declaration belongs to; empty for the outermost."""
        return self._spelled_scope(self._lib.getCursorSemanticParent(cursor))

    def owner(self, cursor: Cursor) -> Cursor:
        """The class or namespace that a declaration belongs to, without ``extern "C"`` between."""
        parent: Cursor = self._lib.getCursorSemanticParent(cursor)
        while parent.kind in (cursors.LINKAGE, cursors.UNEXPOSED_DECL):
            parent = self._lib.getCursorSemanticParent(parent)
        return parent

    def _spelled_scope(self, parent: Cursor) -> str:
        kind = parent.kind
        if kind == cursors.UNIT or not parent.d0:
            return ""
        found = self._scopes.get(parent.d0)
        if found is None:
            if kind == cursors.NAMESPACE:
                name = self._lib.spelling(parent)
                found = self.qualify(parent, name if name.isidentifier() else ANONYMOUS_NAMESPACE)
            elif kind in cursors.FUNCTIONS or kind == cursors.FUNCTION_TEMPLATE:
                found = f"{self.qualify(parent, self._lib.spelling(parent))}()"
            elif kind in cursors.RECORDS or kind in (
                cursors.ENUM,
                cursors.CLASS_TEMPLATE,
                cursors.PARTIAL_SPECIALIZATION,
            ):
                found = self.of(parent)
            else:
                found = self.scope(parent)
            self._scopes[parent.d0] = found
        return found

    def _own(self, cursor: Cursor) -> str:
        lib = self._lib
        if cursor.kind in cursors.RECORDS:
            if lib.Cursor_isAnonymous(cursor):
                return UNNAMED
            arguments = self._arguments(cursor, lib.getCursorType(cursor))
            name = lib.spelling(cursor)
            return name if arguments is None else f"{name}{arguments}"
        if cursor.kind == cursors.PARTIAL_SPECIALIZATION:
            spelled = lib.type_name(lib.getCanonicalType(lib.getCursorType(cursor)))
            values = [lib.spelling(each) for each in lib.children(cursor) if each.kind == cursors.VALUE_PARAMETER]
            return by_position(in_own_words(spelled, lib.text(lib.getCursorDisplayName(cursor)), values))
        name = lib.spelling(cursor)
        if cursor.kind in cursors.STRUCTORS:
            name = name.partition("<")[0]
        return name if name.isidentifier() else normal_name(name)


def in_own_words(spelled: str, written: str, values: Iterable[str]) -> str:
    """A dependent type with its own template's names for its ``values``, as in ``written``.

    libclang spells equal types as the first one in the unit, which may be the standard library's.
    """
    here = dict.fromkeys(IDENTIFIER.findall(written))
    there = dict.fromkeys(IDENTIFIER.findall(spelled))
    own = [name for name in here if name in set(values) and name not in there]
    others = [name for name in there if RESERVED.match(name) and name not in here]
    if not own or len(own) != len(others):
        return spelled
    names = dict(zip(others, own, strict=True))
    return IDENTIFIER.sub(lambda word: names.get(word[0], word[0]), spelled)


def by_position(text: str) -> str:
    """``text`` with template parameters as numbers: ``#0`` of the template itself, ``#1.0`` of a member template."""
    return POSITION.sub(lambda match: f"#{match[2]}" if match[1] == "0" else f"#{match[1]}.{match[2]}", text)


INTEGER: Final = 4
PACK: Final = 8


class TemplateArguments:
    """Reads the arguments of template instances; ``reference`` gives those of types."""

    def __init__(self, lib: LibClang, reference: Callable[[Type], TypeRef]) -> None:
        self._lib = lib
        self._reference = reference
        self._parameters: dict[int, list[Cursor]] = {}

    def spelled(self, cursor: Cursor, type: Type) -> str | None:
        """The arguments of a class with their brackets; ``None`` where it is no template instance."""
        if self._lib.Type_getNumTemplateArguments(type) < 0:
            return None
        return f"<{', '.join([_spelled(each) for each in self._of(cursor, type)])}>"

    def references(self, cursor: Cursor, type: Type) -> tuple[TypeRef, ...]:
        """The arguments of a class as :class:`Record` has them: a value as its spelling."""
        if self._lib.Type_getNumTemplateArguments(type) < 0:
            return ()
        found = self._of(cursor, type)
        return tuple([Special(_value(each)) if isinstance(each, str) else each for each in found])

    def _of(self, cursor: Cursor, type: Type) -> Iterator[TypeRef | str]:
        """Each argument: a type, or a value in the normal form of ``T<value>``."""
        lib = self._lib
        written: list[str] | None = None
        packed = any(
            lib.Cursor_getTemplateArgumentKind(cursor, index) == PACK
            for index in range(lib.Cursor_getNumTemplateArguments(cursor))
        )
        for index in range(lib.Type_getNumTemplateArguments(type)):
            argument = lib.Type_getTemplateArgumentAsType(type, index)
            if argument.kind != cursors.INVALID:
                yield self._reference(lib.getCanonicalType(argument))
            elif not packed and lib.Cursor_getTemplateArgumentKind(cursor, index) == INTEGER:
                yield self._integer(cursor, index)
            else:
                if written is None:
                    written = self._written(cursor)
                yield normal_name(f"T<{written[index]}>")[2:-1] if index < len(written) else "value"

    def _integer(self, cursor: Cursor, index: int) -> str:
        """An integer or enumerator; the parameter of the template tells its type."""
        lib = self._lib
        type = self._type_of_parameter(cursor, index)
        value = lib.Cursor_getTemplateArgumentValue(cursor, index)
        if type is None or type.kind in (cursors.UNEXPOSED, cursors.AUTO):
            return str(value)
        integer = type
        if type.kind == cursors.ENUM_TYPE:
            integer = lib.getCanonicalType(lib.getEnumDeclIntegerType(lib.getTypeDeclaration(type)))
        if integer.kind in cursors.UNSIGNED:
            value = lib.Cursor_getTemplateArgumentUnsignedValue(cursor, index)
        return normal_name(f"T<({spell(self._reference(lib.getUnqualifiedType(type)))}){value}>")[2:-1]

    def _type_of_parameter(self, cursor: Cursor, index: int) -> Type | None:
        lib = self._lib
        template = lib.getSpecializedCursorTemplate(cursor)
        while template.kind == cursors.PARTIAL_SPECIALIZATION:
            template = lib.getSpecializedCursorTemplate(template)
        if not template.d0:
            return None
        if template.d0 not in self._parameters:
            children = lib.children(template)
            self._parameters[template.d0] = [each for each in children if each.kind in cursors.TEMPLATE_PARAMETERS]
        parameters = self._parameters[template.d0]
        if index >= len(parameters) or parameters[index].kind != cursors.VALUE_PARAMETER:
            return None
        found: Type = lib.getCanonicalType(lib.getCursorType(parameters[index]))
        return found

    def _written(self, cursor: Cursor) -> list[str]:
        found = plain_template(self._lib.text(self._lib.getCursorDisplayName(cursor)))
        return [] if found is None else found[1]


def _spelled(argument: TypeRef | str) -> str:
    return argument if isinstance(argument, str) else spell(argument)


def _value(spelled: str) -> str:
    """A value without its cast to an enumeration: ``1`` of ``(geo::Color)1``, as in debug information."""
    return spelled.rpartition(")")[2] if spelled.startswith("(") and spelled[-1:].isdigit() else spelled


NAMED_BY_TYPEDEF: Final = ("@SA@", "@UA@", "@EA@")
"""In a USR, before the typedef that gives a type its only name."""

PARAMETER: Final = re.compile(r"type-parameter-0-(\d+)")
MAX_DEPTH: Final = 100
"""How many types may be nested in one another without a name between them. Real code stays below 20."""

CALLED_ON: Final = re.compile(r"const|volatile|&&|&")
"""What stands behind the parameters of a member function."""

Unnamed = Callable[[Cursor], "Record | Enum | None"]
"""Reads a record or enum without a name."""


class HeaderTypes:
    """Type references of one translation unit, each type read once.

    Reading a reference never reads the members of a named type: ``mentioned`` keeps its declaration by name.
    ``unmet`` are classes without a declaration that members of instances need.
    ``runtime``: the library is the C++ runtime itself.
    """

    def __init__(self, lib: LibClang, unnamed: Unnamed, *, runtime: bool) -> None:
        self.lib = lib
        self.runtime = runtime
        self.references = References()
        self.names = Names(lib, self._arguments)
        self.arguments = TemplateArguments(lib, self.of)
        self.mentioned: dict[Name, Cursor] = {}
        self.unmet: dict[Name, None] = {}
        self.resolved = True
        self._depth = 0
        self._bound: Mapping[int, TypeRef] | None = None
        self._within: tuple[str, TypeRef] | None = None
        self._unnamed = unnamed
        self._open: set[int] = set()
        self._memo: dict[int, TypeRef] = {}
        self._builders: dict[int, Callable[[Type], TypeRef]] = {
            cursors.ELABORATED: lambda type: self.of(lib.Type_getNamedType(type)),
            cursors.TYPEDEF_TYPE: lambda type: self.alias(lib.getTypeDeclaration(type)),
            cursors.RECORD_TYPE: lambda type: self.declared(lib.getTypeDeclaration(type)),
            cursors.ENUM_TYPE: lambda type: self.declared(lib.getTypeDeclaration(type)),
            cursors.POINTER_TYPE: lambda type: self.references.pointer(self.of(lib.getPointeeType(type))),
            cursors.BLOCK_POINTER: lambda type: self.references.pointer(self.of(lib.getPointeeType(type))),
            cursors.LVALUE_REFERENCE: lambda type: self.references.pointer(self.of(lib.getPointeeType(type)), "&"),
            cursors.RVALUE_REFERENCE: lambda type: self.references.pointer(self.of(lib.getPointeeType(type)), "&&"),
            cursors.MEMBER_POINTER: self._member_pointer,
            cursors.ATOMIC: lambda type: self.references.qualified(self.of(lib.Type_getValueType(type)), "atomic"),
            cursors.NULLPTR: lambda type: self.references.primitive("std::nullptr_t", lib.size(type) or 0),
            **dict.fromkeys(cursors.PROTOTYPES, self.procedure),
            **dict.fromkeys(cursors.ARRAYS, self._array),
            cursors.VECTOR: self._vector,
            cursors.EXTENDED_VECTOR: self._vector,
            cursors.UNEXPOSED: self._unexposed,
            cursors.AUTO: self._unexposed,
        }

    def of(self, type: Type) -> TypeRef:
        """The reference of ``type``."""
        found = self._memo.get(type.d0)
        if found is None:
            if self._depth >= MAX_DEPTH:
                raise LimitExceeded(f"a type in the headers is nested more than {MAX_DEPTH} levels deep")
            self._depth += 1
            try:
                found = self._qualified(self._builders.get(type.kind, self._primitive)(type), type)
            finally:
                self._depth -= 1
            self._memo[type.d0] = found
        return found

    def parameter(self, type: Type) -> TypeRef:
        """A parameter's type: arrays and functions are pointers, and its own ``const`` is the callee's business."""
        canonical = self.lib.getCanonicalType(type)
        if canonical.kind in cursors.ARRAYS:
            element = self.lib.getArrayElementType(type)
            inner = element if element.kind != cursors.INVALID else self.lib.getArrayElementType(canonical)
            return self.references.pointer(self.of(inner))
        found = self.of(type)
        if canonical.kind in cursors.PROTOTYPES:
            return self.references.pointer(found)
        if isinstance(found, Qualified):
            kept = tuple(each for each in found.qualifiers if each not in ("const", "volatile"))
            if kept != found.qualifiers:
                found = Qualified(found.target, kept) if kept else found.target
        return found

    def _qualified(self, found: TypeRef, type: Type) -> TypeRef:
        lib = self.lib
        if isinstance(found, Procedure):
            return found
        if lib.isConstQualifiedType(type):
            found = self.references.qualified(found, "const")
        if lib.isVolatileQualifiedType(type):
            found = self.references.qualified(found, "volatile")
        if lib.isRestrictQualifiedType(type):
            found = self.references.qualified(found, "restrict")
        return found

    # --- named declarations ---------------------------------------------------------------------------------------

    def declared(self, cursor: Cursor) -> TypeRef:
        """The reference to a record or enum, which is noted; spelled out where it has no name."""
        if self._bound is not None and self._is_within_template(cursor):
            return self._unresolved(self.names.of(cursor))
        if self.lib.Cursor_isAnonymous(cursor):
            return self._inline(cursor)
        named = self.references.named("enum" if cursor.kind == cursors.ENUM else "record", self.names.of(cursor))
        if named.name not in self.mentioned:
            self.mentioned[named.name] = cursor
        return named

    def alias(self, cursor: Cursor) -> TypeRef:
        """The reference to a typedef; to its target where it belongs to the standard library."""
        lib = self.lib
        underlying = lib.getTypedefDeclUnderlyingType(cursor)
        spelling = self.names.of(cursor)
        if is_foreign(spelling, self.runtime) or self._names_unnamed(underlying, spelling):
            return self.of(underlying)
        alias = self.references.named("alias", spelling)
        if alias.name not in self.mentioned:
            self.mentioned[alias.name] = cursor
        return alias

    def _names_unnamed(self, underlying: Type, spelling: str) -> bool:
        """Whether the type that the typedef ``spelling`` is of has no other name."""
        lib = self.lib
        type = lib.Type_getNamedType(underlying) if underlying.kind == cursors.ELABORATED else underlying
        if type.kind not in (cursors.RECORD_TYPE, cursors.ENUM_TYPE):
            return False
        declaration = lib.getTypeDeclaration(type)
        if lib.Cursor_isAnonymous(declaration) or self.names.of(declaration) != spelling:
            return False
        usr = lib.text(lib.getCursorUSR(declaration))
        return any(mark in usr for mark in NAMED_BY_TYPEDEF)

    def without_tags(self) -> frozenset[str]:
        """The names of the mentioned records and enums of C that are a typedef's."""
        lib = self.lib
        found = ((name, lib.text(lib.getCursorUSR(cursor))) for name, cursor in self.mentioned.items())
        return frozenset(
            name.spelling
            for name, usr in found
            if name.kind != "alias" and usr.endswith(tuple(f"{mark}{name.spelling}" for mark in NAMED_BY_TYPEDEF))
        )

    def _inline(self, cursor: Cursor) -> TypeRef:
        if cursor.d0 in self._open:
            return self.references.special("enclosing unnamed type")
        self._open.add(cursor.d0)
        try:
            shape = self._unnamed(cursor)
            return self.references.special("unnamed type") if shape is None else self.references.inline(Inline(shape))
        finally:
            self._open.discard(cursor.d0)

    def _arguments(self, cursor: Cursor, type: Type) -> str | None:
        return self.arguments.spelled(cursor, type)

    # --- types without a declaration of their own -----------------------------------------------------------------

    def _primitive(self, type: Type) -> TypeRef:
        lib = self.lib
        plain = lib.getUnqualifiedType(type)
        if type.kind == cursors.VOID_TYPE:
            return VOID
        size = lib.size(type)
        if type.kind == cursors.DEPENDENT or size is None:
            return self.references.special(lib.type_name(plain) or "unknown type")
        spelling = lib.type_name(plain)
        return self.references.primitive(spelling, size)

    def _array(self, type: Type) -> TypeRef:
        element = self.of(self.lib.getArrayElementType(type))
        count = self.lib.bound(type) if type.kind == cursors.CONSTANT_ARRAY else None
        return self.references.array(element, count, False)

    def _vector(self, type: Type) -> TypeRef:
        return Array(self.of(self.lib.getElementType(type)), self.lib.elements(type), vector=True)

    def procedure(self, type: Type) -> TypeRef:
        """A function type, with the qualifiers of a member function's object."""
        lib = self.lib
        count = lib.getNumArgTypes(type)
        parameters = tuple([self.parameter(lib.getArgType(type, index)) for index in range(count)])
        variadic = bool(lib.isFunctionTypeVariadic(type)) and type.kind != cursors.FUNCTION_NO_PROTOTYPE
        return self.references.procedure(self.of(lib.getResultType(type)), parameters, variadic)

    def _member_pointer(self, type: Type) -> TypeRef:
        lib = self.lib
        pointee = lib.getPointeeType(type)
        target = self.of(pointee)
        if isinstance(target, Procedure):
            spelled = lib.type_name(lib.getCanonicalType(pointee))
            for word in CALLED_ON.findall(spelled.rpartition(")")[2]):
                target = self.references.qualified(target, word)
        return self.references.member_pointer(self.of(lib.Type_getClassType(type)), target)

    def _unexposed(self, type: Type) -> TypeRef:
        """Parentheses, ``decltype``, template instances and others that libclang does not distinguish."""
        lib = self.lib
        if lib.getNumArgTypes(type) >= 0:
            return self.procedure(type)
        canonical = lib.getCanonicalType(type)
        if canonical.kind not in (cursors.UNEXPOSED, cursors.INVALID, cursors.AUTO):
            return self.of(canonical)
        if self._bound is not None:
            return self._dependent(canonical)
        return self._primitive(canonical if canonical.kind != cursors.INVALID else type)

    # --- the members of template instances, by those of the template ------------------------------------------------

    def substituted(
        self, type: Type, arguments: Mapping[int, TypeRef], instance: Cursor, template: Cursor
    ) -> TypeRef | None:
        """A type of a member of ``template`` as ``instance`` has it; ``None`` where that cannot be told."""
        outer = self._memo, self._bound, self._within, self.resolved
        within = None if instance.d0 == template.d0 else (self.names.of(template), self.declared(instance))
        self._memo, self._bound, self._within, self.resolved = {}, arguments, within, True
        try:
            found = self.of(type)
            return found if self.resolved else None
        finally:
            self._memo, self._bound, self._within, self.resolved = outer

    def _dependent(self, type: Type) -> TypeRef:
        lib = self.lib
        spelled = lib.type_name(lib.getUnqualifiedType(type))
        match = PARAMETER.fullmatch(spelled)
        if match is not None and self._bound is not None and int(match[1]) in self._bound:
            return self._bound[int(match[1])]
        template = lib.getTypeDeclaration(type)
        count = lib.Type_getNumTemplateArguments(type)
        if template.kind != cursors.CLASS_TEMPLATE or count <= 0:
            own = self._within is not None and template.kind in cursors.CLASSES
            if own and self._within is not None and self.names.of(template) == self._within[0]:
                return self._within[1]
            return self._unresolved(spelled)
        arguments = [lib.Type_getTemplateArgumentAsType(type, index) for index in range(count)]
        if any(each.kind == cursors.INVALID for each in arguments):
            return self._unresolved(spelled)
        listed = ", ".join([spell(self.of(each)) for each in arguments])
        return self.references.named("record", f"{self.names.of(template)}<{listed}>")

    def _unresolved(self, spelled: str) -> TypeRef:
        self.resolved = False
        return self.references.special(spelled)

    def _is_within_template(self, cursor: Cursor) -> bool:
        owner = self.names.owner(cursor)
        while owner.kind in cursors.RECORDS:
            owner = self.names.owner(owner)
        return owner.kind in (cursors.CLASS_TEMPLATE, cursors.PARTIAL_SPECIALIZATION)
