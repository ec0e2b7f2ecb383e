"""What templates declare: the templates themselves, and the public members of class templates."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from abistore.extract.headers import cursors
from abistore.extract.headers.cursors import Cursor
from abistore.extract.headers.declared_files import Collected, joined
from abistore.extract.headers.descriptions import Descriptions
from abistore.extract.headers.types import HeaderTypes
from abistore.extract.headers.written_text import ShownInternals, Templates
from abistore.model.declarations import Argument, Declared, Name, WrittenBase
from abistore.model.names.spelling import spell
from abistore.model.shapes import VOID, Access, Alias, Function, Method, Variable
from abistore.model.snapshot import Location


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
        """Note the bases of a class template."""
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
