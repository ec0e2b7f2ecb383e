"""Templates: their parameters and constraints, what they show of internal types, and their public members."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from ctypes import c_uint
from typing import Final

from msgspec.structs import replace

from abistore.extract.headers import cursors
from abistore.extract.headers.collected import Collected, joined
from abistore.extract.headers.compiled_code import BODIES
from abistore.extract.headers.cursors import CONTINUE, VISITOR, Cursor, LibClang, Type
from abistore.extract.headers.descriptions import Descriptions
from abistore.extract.headers.tokens import SourceText, after, spelled, tokens
from abistore.extract.headers.types import HeaderTypes, Names, by_position, in_own_words
from abistore.model.declarations import Argument, Declared, Name, WrittenBase
from abistore.model.hints import names_internals
from abistore.model.names.spelling import spell
from abistore.model.shapes import VOID, Access, Alias, Function, Method, Special, TypeRef, Variable
from abistore.model.snapshot import Location

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


NAME_IN_TYPE: Final = re.compile(r"(?<!::)\b[A-Za-z_]\w*")

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
        return Special(NAME_IN_TYPE.sub(lambda word: values.get(word[0], word[0]), text) if values else text)

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


class TemplateWalk:
    """Enters templates. Their types depend on arguments: they are told by their spelling, parameters by position."""

    def __init__(self, types: HeaderTypes, descriptions: Descriptions, collected: Collected) -> None:
        self._lib = types.lib
        self._types = types
        self._descriptions = descriptions
        self._collected = collected
        self._values: dict[str, str] = {}
        self._templates = Templates(types.lib, types.names, descriptions.text)
        self.shown = ShownInternals(types.lib, types.names, descriptions.text)

    def record(self, cursor: Cursor, location: Location) -> None:
        """A class template or partial specialization, and what it shows its users."""
        children = self._lib.children(cursor)
        name = Name("record", self._types.names.of(cursor))
        declared = self._templated(self._descriptions.plain(cursor), cursor, children)
        told = {*declared.traits, *self._descriptions.definitions.traits(cursor)}
        declared = replace(declared, traits=tuple(sorted(told)), shown=self.shown.by(cursor, children))
        defines = bool(self._lib.isCursorDefinition(cursor))
        self._collected.declare(name, location, declared, defines=defines)
        outer, self._values = self._values, self._templates.values(children)
        if defines:
            self._inherit(name, [each for each in children if each.kind == cursors.BASE])
        for member in children if defines else ():
            self._member(member, location)
        self._values = outer
        self._use(name, [each for each in children if not self._is_entered(each)] if defines else ())

    def outside(self, cursor: Cursor) -> None:
        """A member of a class template, or of a class in one, that is defined behind it."""
        owner = self._types.names.owner(cursor)
        while owner.kind in cursors.RECORDS:
            owner = self._types.names.owner(owner)
        if owner.kind in cursors.CLASSES:
            self._use(Name("record", self._types.names.of(owner)), [cursor])

    def _inherit(self, template: Name, specifiers: Sequence[Cursor]) -> None:
        known = self._collected.declared.get(template)
        if known is not None and specifiers:
            bases = tuple([self._base(each) for each in specifiers])
            self._collected.declared[template] = replace(known, bases=bases)

    def _base(self, specifier: Cursor) -> WrittenBase:
        lib = self._lib
        type = lib.getCursorType(specifier)
        written = spell(self._templates.type(type, self._values))
        template = lib.getTypeDeclaration(lib.getCanonicalType(type))
        if template.kind == cursors.CLASS_TEMPLATE:  # is spelled without its scope
            written = self._types.names.of(template) + written[written.find("<") :]
        access = cursors.ACCESS.get(lib.getCXXAccessSpecifier(specifier), "public")
        return WrittenBase(written, bool(lib.isVirtualBase(specifier)), access)

    def _use(self, template: Name, members: Sequence[Cursor]) -> None:
        """Note what code in a class template uses that is no function of its own."""
        known = self._collected.declared.get(template)
        uses = self._descriptions.bodies.within(members)
        if known is not None and uses is not None:
            self._collected.declared[template] = replace(known, uses=joined(known.uses, uses))

    def _is_entered(self, member: Cursor) -> bool:
        """Whether a member is a function that is told by itself, as all are that others than the class can name."""
        code = member.kind in cursors.FUNCTIONS or member.kind == cursors.FUNCTION_TEMPLATE
        return code and cursors.ACCESS.get(self._lib.getCXXAccessSpecifier(member), "public") != "private"

    def _member(self, cursor: Cursor, location: Location) -> None:
        access = cursors.ACCESS.get(self._lib.getCXXAccessSpecifier(cursor), "public")
        if access == "private":
            return
        if cursor.kind in cursors.FUNCTIONS or cursor.kind == cursors.FUNCTION_TEMPLATE:
            self.function(cursor, location)
        elif cursor.kind in (cursors.FIELD, cursors.VARIABLE):
            self._field(cursor, location, access)
        elif cursor.kind in cursors.RECORDS and self._lib.Cursor_isAnonymousRecordDecl(cursor):
            for each in self._lib.children(cursor):
                self._member(each, location)
        elif cursor.kind in (cursors.TYPEDEF, cursors.ALIAS):
            self._alias(cursor, location, Declared(traits=("template",)))

    def function(self, cursor: Cursor, location: Location) -> None:
        """A function template, or a function of a class template."""
        lib = self._lib
        children = lib.children(cursor) if cursor.kind == cursors.FUNCTION_TEMPLATE else []
        type = lib.getCursorType(cursor)
        count = max(0, lib.getNumArgTypes(type))
        values = {**self._values, **self._templates.values(children)}
        taken = [lib.getUnqualifiedType(lib.getArgType(type, index)) for index in range(count)]
        parameters = tuple(self._templates.type(each, values) for each in taken)  # ``f(const int)`` is ``f(int)``
        declared = self._templated(self._descriptions.function(cursor, within=children), cursor, children)
        owner = self._types.names.owner(cursor)
        if children and owner.kind not in (cursors.CLASS_TEMPLATE, cursors.PARTIAL_SPECIALIZATION):
            declared = replace(declared, shown=self.shown.by(cursor, children))
        method = self._method(cursor, owner) if owner.kind in cursors.CLASSES else None
        if self._is_undefined(cursor, method):
            declared = replace(declared, traits=tuple(sorted({*declared.traits, "undefined"})))
        made = lib.getTemplateCursorKind(cursor) if cursor.kind == cursors.FUNCTION_TEMPLATE else cursor.kind
        shape = Function(
            display=self._types.names.of(cursor),
            result=VOID if made in cursors.STRUCTORS else self._templates.type(lib.getResultType(type), values),
            parameters=parameters,
            variadic=bool(lib.isFunctionTypeVariadic(type)),
            method=method,
        )
        spelling = self._templates.signature(cursor, parameters, declared.template)
        words = [*(method.qualifiers if method else ()), *([method.reference] if method and method.reference else [])]
        name = Name("function", " ".join([spelling, *words]))
        self._collected.add(name, shape)
        self._collected.declare(name, location, declared)

    def _is_undefined(self, cursor: Cursor, method: Method | None) -> bool:
        """Whether programs have to find all instances in the library."""
        if method is not None and (method.deleted or method.defaulted or method.virtual == "pure"):
            return False
        return self._lib.getCursorDefinition(cursor).kind in cursors.NOTHING

    def _method(self, cursor: Cursor, owner: Cursor) -> Method:
        lib = self._lib
        virtual = bool(lib.CXXMethod_isVirtual(cursor))
        return Method(
            Name("record", self._types.names.of(owner)),
            cursors.ACCESS.get(lib.getCXXAccessSpecifier(cursor), "public"),
            static=bool(lib.CXXMethod_isStatic(cursor)),
            virtual="pure" if virtual and lib.CXXMethod_isPureVirtual(cursor) else "virtual" if virtual else "no",
            qualifiers=("const",) if lib.CXXMethod_isConst(cursor) else (),
            reference=("", "&", "&&")[lib.Type_getCXXRefQualifier(lib.getCursorType(cursor))],
            explicit=bool(lib.CXXMethod_isExplicit(cursor)),
            deleted=bool(lib.CXXMethod_isDeleted(cursor)),
            defaulted=bool(lib.CXXMethod_isDefaulted(cursor)),
        )

    def _field(self, cursor: Cursor, location: Location, access: Access) -> None:
        around = self._types.names.owner(cursor)
        while around.kind in cursors.RECORDS and self._lib.Cursor_isAnonymousRecordDecl(around):
            around = self._types.names.owner(around)
        owner = Name("record", self._types.names.of(around))
        display = f"{owner.spelling}::{self._lib.spelling(cursor)}"
        name = Name("variable", display)
        self._collected.add(
            name, Variable(display, self._templates.type(self._lib.getCursorType(cursor), self._values), owner, access)
        )
        self._collected.declare(name, location, Declared(traits=("template",)))

    def alias(self, cursor: Cursor, location: Location) -> None:
        """An alias template."""
        children = self._lib.children(cursor)
        declared = self._templated(self._descriptions.plain(cursor), cursor, children)
        declared = replace(declared, shown=self.shown.by(cursor, children))
        for each in children:
            if each.kind == cursors.ALIAS:
                self._alias(each, location, declared)

    def _alias(self, cursor: Cursor, location: Location, declared: Declared) -> None:
        name = Name("alias", self._types.names.of(cursor))
        target = self._templates.type(self._lib.getTypedefDeclUnderlyingType(cursor), self._values)
        self._collected.add(name, Alias(target))
        self._collected.declare(name, location, declared)

    def variable(self, cursor: Cursor, location: Location) -> None:
        """A variable template, of which libclang tells no more than its text."""
        declared = self._descriptions.variable_template(cursor)
        declared = replace(
            declared, shown=self.shown.by_variable(cursor, self._descriptions.attributes.printed(cursor))
        )
        name = Name("variable", self._types.names.of(cursor))
        self._collected.declare(name, location, declared)

    def concept(self, cursor: Cursor, location: Location) -> None:
        """A concept: a condition on types."""
        declared = Declared(
            traits=("concept",),
            template=self._templates.parameters(self._lib.children(cursor)),
            requires=self._templates.condition(cursor),
        )
        self._collected.declare(Name("variable", self._types.names.of(cursor)), location, declared)

    def _templated(self, declared: Declared, cursor: Cursor, children: Sequence[Cursor]) -> Declared:
        template: tuple[Argument, ...] = self._templates.parameters(children)
        return replace(
            declared,
            traits=tuple(sorted({*declared.traits, "template"})),
            template=template,
            requires=self._templates.requires(cursor, children),
        )
