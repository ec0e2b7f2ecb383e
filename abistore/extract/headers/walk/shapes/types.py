"""From libclang's types to type references; every declaration that they mention is noted."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from abistore.errors import LimitExceeded
from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang, Type
from abistore.extract.headers.walk.shapes.arguments import TemplateArguments
from abistore.extract.headers.walk.shapes.names import Names
from abistore.extract.types.foreign import is_foreign
from abistore.extract.types.references import References
from abistore.model.cpp_names.declarators import spell
from abistore.model.names import Name
from abistore.model.shapes import VOID, Array, Enum, Inline, Procedure, Qualified, Record, TypeRef

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
    """The references of one translation unit, each type read once.

    Reading a reference never reads the members of what has a name: ``mentioned`` keeps its declaration by name.
    ``unmet`` are classes that members of instances need and that no declaration was met of.
    ``runtime`` tells that the library is the C++ runtime itself.
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
            kinds.ELABORATED: lambda type: self.of(lib.Type_getNamedType(type)),
            kinds.TYPEDEF_TYPE: lambda type: self.alias(lib.getTypeDeclaration(type)),
            kinds.RECORD_TYPE: lambda type: self.declared(lib.getTypeDeclaration(type)),
            kinds.ENUM_TYPE: lambda type: self.declared(lib.getTypeDeclaration(type)),
            kinds.POINTER: lambda type: self.references.pointer(self.of(lib.getPointeeType(type))),
            kinds.BLOCK_POINTER: lambda type: self.references.pointer(self.of(lib.getPointeeType(type))),
            kinds.LVALUE_REFERENCE: lambda type: self.references.pointer(self.of(lib.getPointeeType(type)), "&"),
            kinds.RVALUE_REFERENCE: lambda type: self.references.pointer(self.of(lib.getPointeeType(type)), "&&"),
            kinds.MEMBER_POINTER: self._member_pointer,
            kinds.ATOMIC: lambda type: self.references.qualified(self.of(lib.Type_getValueType(type)), "atomic"),
            kinds.NULLPTR: lambda type: self.references.primitive("std::nullptr_t", lib.size(type) or 0),
            **dict.fromkeys(kinds.PROTOTYPES, self.procedure),
            **dict.fromkeys(kinds.ARRAYS, self._array),
            kinds.VECTOR: self._vector,
            kinds.EXTENDED_VECTOR: self._vector,
            kinds.UNEXPOSED: self._unexposed,
            kinds.AUTO: self._unexposed,
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
        if canonical.kind in kinds.ARRAYS:
            element = self.lib.getArrayElementType(type)
            inner = element if element.kind != kinds.INVALID else self.lib.getArrayElementType(canonical)
            return self.references.pointer(self.of(inner))
        found = self.of(type)
        if canonical.kind in kinds.PROTOTYPES:
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
        """The mention of a record or enum, which is noted; spelled out where it has no name."""
        if self._bound is not None and self._is_within_template(cursor):
            return self._unresolved(self.names.of(cursor))
        if self.lib.Cursor_isAnonymous(cursor):
            return self._inline(cursor)
        named = self.references.named("enum" if cursor.kind == kinds.ENUM else "record", self.names.of(cursor))
        if named.name not in self.mentioned:
            self.mentioned[named.name] = cursor
        return named

    def alias(self, cursor: Cursor) -> TypeRef:
        """The mention of a typedef; of what it stands for where it belongs to the standard library."""
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
        type = lib.Type_getNamedType(underlying) if underlying.kind == kinds.ELABORATED else underlying
        if type.kind not in (kinds.RECORD_TYPE, kinds.ENUM_TYPE):
            return False
        declaration = lib.getTypeDeclaration(type)
        if lib.Cursor_isAnonymous(declaration) or self.names.of(declaration) != spelling:
            return False
        usr = lib.text(lib.getCursorUSR(declaration))
        return any(mark in usr for mark in NAMED_BY_TYPEDEF)

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
        if type.kind == kinds.VOID_TYPE:
            return VOID
        size = lib.size(type)
        if type.kind == kinds.DEPENDENT or size is None:
            return self.references.special(lib.type_name(plain) or "unknown type")
        spelling = lib.type_name(plain)
        return self.references.primitive(spelling, size)

    def _array(self, type: Type) -> TypeRef:
        element = self.of(self.lib.getArrayElementType(type))
        count = self.lib.bound(type) if type.kind == kinds.CONSTANT_ARRAY else None
        return self.references.array(element, count, False)

    def _vector(self, type: Type) -> TypeRef:
        return Array(self.of(self.lib.getElementType(type)), self.lib.elements(type), vector=True)

    def procedure(self, type: Type) -> TypeRef:
        """A function type, with the qualifiers of a member function's object."""
        lib = self.lib
        count = lib.getNumArgTypes(type)
        parameters = tuple([self.parameter(lib.getArgType(type, index)) for index in range(count)])
        variadic = bool(lib.isFunctionTypeVariadic(type)) and type.kind != kinds.FUNCTION_NO_PROTOTYPE
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
        """Parentheses, ``decltype``, template instances and whatever else libclang does not tell apart."""
        lib = self.lib
        if lib.getNumArgTypes(type) >= 0:
            return self.procedure(type)
        canonical = lib.getCanonicalType(type)
        if canonical.kind not in (kinds.UNEXPOSED, kinds.INVALID, kinds.AUTO):
            return self.of(canonical)
        if self._bound is not None:
            return self._dependent(canonical)
        return self._primitive(canonical if canonical.kind != kinds.INVALID else type)

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
        if template.kind != kinds.CLASS_TEMPLATE or count <= 0:
            own = self._within is not None and template.kind in kinds.CLASSES
            if own and self._within is not None and self.names.of(template) == self._within[0]:
                return self._within[1]
            return self._unresolved(spelled)
        arguments = [lib.Type_getTemplateArgumentAsType(type, index) for index in range(count)]
        if any(each.kind == kinds.INVALID for each in arguments):
            return self._unresolved(spelled)
        listed = ", ".join([spell(self.of(each)) for each in arguments])
        return self.references.named("record", f"{self.names.of(template)}<{listed}>")

    def _unresolved(self, spelled: str) -> TypeRef:
        self.resolved = False
        return self.references.special(spelled)

    def _is_within_template(self, cursor: Cursor) -> bool:
        owner = self.names.owner(cursor)
        while owner.kind in kinds.RECORDS:
            owner = self.names.owner(owner)
        return owner.kind in (kinds.CLASS_TEMPLATE, kinds.PARTIAL_SPECIALIZATION)
