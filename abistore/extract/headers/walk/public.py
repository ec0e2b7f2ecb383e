"""What the given headers declare, one visit a declaration."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from msgspec.structs import replace

from abistore.errors import LimitExceeded
from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang
from abistore.extract.headers.walk.clang.files import PublicFiles
from abistore.extract.headers.walk.collected import Collected
from abistore.extract.headers.walk.faulty import TYPED, Faults
from abistore.extract.headers.walk.shapes.classes import Classes
from abistore.extract.headers.walk.shapes.functions import FunctionShapes
from abistore.extract.headers.walk.shapes.records import RecordShapes
from abistore.extract.headers.walk.shapes.types import HeaderTypes
from abistore.extract.headers.walk.templated import TemplateWalk
from abistore.extract.headers.walk.written.descriptions import Descriptions
from abistore.extract.types.foreign import is_foreign
from abistore.model.declared import Declared
from abistore.model.names import TYPES, Name
from abistore.model.shapes import Alias, Named, TypeRef
from abistore.model.snapshot import Location
from abistore.model.words.telling import names_internals

TRANSPARENT: Final = frozenset({kinds.NAMESPACE, kinds.LINKAGE})
MAX_DEPTH: Final = 100
"""How many namespaces and classes may be nested in one another. Real code stays below 20."""

Visitor = Callable[[Cursor, Location], None]


class PublicWalk:
    """Visits public declarations. Types that they mention are noted, and read later."""

    def __init__(
        self,
        types: HeaderTypes,
        classes: Classes,
        records: RecordShapes,
        descriptions: Descriptions,
        files: PublicFiles,
        *,
        faults: Faults | None,
    ) -> None:
        self._lib: LibClang = types.lib
        self._types = types
        self._classes = classes
        self._records = records
        self._shapes = FunctionShapes(types, classes)
        self._descriptions = descriptions
        self._place = files.place
        self._depth = 0
        self._met: set[int] = set()
        self._faults = faults if faults is not None and faults.any else None
        self.spoilt: set[Name] = set()
        self.collected = Collected()
        self._templates = TemplateWalk(types, descriptions, self.collected)
        self._visitors: dict[int, Visitor] = {
            **dict.fromkeys(TRANSPARENT, self._scope),
            **dict.fromkeys(kinds.FUNCTIONS, self._function),
            **dict.fromkeys(kinds.RECORDS, self._record),
            kinds.UNEXPOSED_DECL: self._unexposed,
            kinds.VARIABLE: self._variable,
            kinds.ENUM: self._enum,
            kinds.TYPEDEF: self._alias,
            kinds.ALIAS: self._alias,
            kinds.FRIEND: self._friend,
            kinds.USING: self._using,
            kinds.USING_DIRECTIVE: self._directive,
            kinds.NAMESPACE_ALIAS: self._namespace_alias,
            kinds.FUNCTION_TEMPLATE: self._templates.function,
            kinds.CLASS_TEMPLATE: self._templates.record,
            kinds.PARTIAL_SPECIALIZATION: self._templates.record,
            kinds.ALIAS_TEMPLATE: self._templates.alias,
            kinds.CONCEPT: self._templates.concept,
        }

    def enter(self, cursor: Cursor) -> None:
        """Enters ``cursor`` if it stands in a public header and was not met there."""
        if cursor.d0 not in self._met:
            self._met.add(cursor.d0)
            self.visit([cursor])

    def visit(self, cursors: Iterable[Cursor]) -> None:
        """Enters those of ``cursors`` that stand in public headers."""
        if self._depth >= MAX_DEPTH:
            raise LimitExceeded(f"declarations in the headers are nested more than {MAX_DEPTH} levels deep")
        self._depth += 1
        visitors, place, invalid = self._visitors, self._place, self._lib.isInvalidDeclaration
        for cursor in cursors:
            visitor = visitors.get(cursor.kind)
            if visitor is not None:
                location = place(cursor)
                if location is not None and not (cursor.kind in TYPED and invalid(cursor)):
                    self._met.add(cursor.d0)
                    if self._faults is None or not self._is_spoilt(cursor, location, self._faults):
                        visitor(cursor, location)
        self._depth -= 1

    def _is_spoilt(self, cursor: Cursor, location: Location, faults: Faults) -> bool:
        """Whether a declaration is not what its text says; the members of a class may be all the same."""
        attributed = faults.attributed(cursor) if cursor.kind == kinds.VARIABLE else None
        if attributed is not None:
            self._spoil(self._types.declared(attributed))
            return True
        if not faults.spoil(cursor):
            return False
        if cursor.kind in (*kinds.RECORDS, kinds.ENUM):
            self._spoil(self._types.declared(cursor))
        elif cursor.kind in (kinds.TYPEDEF, kinds.ALIAS):
            spelling = self._types.names.of(cursor)
            self.spoilt.update(Name(kind, spelling) for kind in TYPES)  # it may name what has no other name
        if cursor.kind in kinds.RECORDS:
            self._record(cursor, location)
        return True

    def _spoil(self, mention: TypeRef) -> None:
        if isinstance(mention, Named):
            self.spoilt.add(mention.name)

    def _scope(self, cursor: Cursor, _: Location) -> None:
        if cursor.kind == kinds.NAMESPACE and self._lib.Cursor_isInlineNamespace(cursor):
            name = self._types.names.qualify(cursor, self._lib.spelling(cursor))
            if not is_foreign(f"{name}::", self._types.runtime):
                self.collected.inline_namespaces.add(name)
        self.visit(self._lib.children(cursor))

    def _unexposed(self, cursor: Cursor, location: Location) -> None:
        """``extern "C"`` by another name, or a variable template."""
        if self._lib.spelling(cursor):
            self._templates.variable(cursor, location)
        else:
            self._scope(cursor, location)

    def _function(self, cursor: Cursor, location: Location) -> None:
        self._enter_function(cursor, location, self._descriptions.function(cursor))

    def _enter_function(self, cursor: Cursor, location: Location, declared: Declared) -> None:
        shape = None
        names = self._shapes.names(cursor)
        if not names and cursor.kind != kinds.FUNCTION:
            self._templates.outside(cursor)
        for name in names:
            if name not in self.collected.declared:
                shape = shape or self._shapes.function(cursor)
                self.collected.add(name, shape)
            self.collected.declare(name, location, declared)

    def _variable(self, cursor: Cursor, location: Location) -> None:
        names = self._shapes.names(cursor)
        if not names:
            self._templates.outside(cursor)
        for name in names:
            if name not in self.collected.declared:
                self.collected.add(name, self._shapes.variable(cursor))
            self.collected.declare(name, location, self._descriptions.variable(cursor))

    def _record(self, cursor: Cursor, location: Location) -> None:
        mention = self._types.declared(cursor)
        facts = self._classes.of(cursor)
        defines = facts is not None and facts.cursor.d0 == cursor.d0
        if isinstance(mention, Named):
            shape = self._records.of(cursor) if defines else None
            declared = self._descriptions.record(cursor, facts if shape is not None else None, shape)
            if facts is not None and "befriends" in declared.traits:
                declared = replace(declared, shown=self._templates.shown.by_friends(facts.members))
            self.collected.declare(mention.name, location, declared, defines=defines)
        if facts is not None and defines:
            own = facts.written.d0 == facts.cursor.d0  # else its functions are the template's, which is told by itself
            self.visit(each for each in facts.members if own or each.kind not in kinds.FUNCTIONS)

    def _enum(self, cursor: Cursor, location: Location) -> None:
        mention = self._types.declared(cursor)
        enumerators = [each for each in self._lib.children(cursor) if each.kind == kinds.ENUMERATOR]
        if isinstance(mention, Named):
            declared = self._descriptions.enum(cursor, enumerators)
            self.collected.declare(mention.name, location, declared, defines=bool(enumerators))
            return
        shape = self._records.enum(cursor)
        for value, each in zip(shape.enumerators if shape else (), enumerators, strict=False):
            name = Name("variable", self._types.names.qualify(cursor, value.name))
            first = self._types.names.qualify(cursor, self._lib.spelling(enumerators[0]))
            constant = Declared(traits=("constant",), value=str(value.value), within=first)
            self.collected.declare(name, self._place(each) or location, constant)

    def _alias(self, cursor: Cursor, location: Location) -> None:
        mention = self._types.alias(cursor)
        if isinstance(mention, Named) and mention.name.kind == "alias":
            self.collected.declare(mention.name, location, self._descriptions.plain(cursor))

    def _friend(self, cursor: Cursor, location: Location) -> None:
        """A function that a class declares as its friend; others are found by their own declarations."""
        for each in self._lib.children(cursor):
            if each.kind == kinds.FUNCTION and not (self._faults and self._faults.spoil(each)):
                self._enter_function(each, location, self._descriptions.function(each, "friend"))

    def _directive(self, cursor: Cursor, location: Location) -> None:
        """``using namespace v1;`` beside ``namespace v1``: as with an inline one, programs need not write ``v1``."""
        lib, names = self._lib, self._types.names
        for each in [child for child in lib.children(cursor) if child.kind == kinds.NAMESPACE_REF][-1:]:
            namespace = lib.getCursorReferenced(each)
            name = names.qualify(namespace, lib.spelling(namespace))
            if names.scope(namespace) == names.scope(cursor) != "":
                self.collected.inline_namespaces.add(name)
            else:
                self._open(cursor, lib.spelling(namespace), name, location)

    def _namespace_alias(self, cursor: Cursor, location: Location) -> None:
        """Another name of a namespace."""
        for each in [child for child in self._lib.children(cursor) if child.kind == kinds.NAMESPACE_REF][-1:]:
            self._open(
                cursor, self._lib.spelling(cursor), self._types.names.of(self._lib.getCursorReferenced(each)), location
            )

    def _open(self, cursor: Cursor, word: str, namespace: str, location: Location) -> None:
        """Note that programs find what stands in an internal namespace without naming that."""
        names = self._types.names
        if names_internals(f"{namespace}::") and not names_internals(f"{names.scope(cursor)}::"):
            name = Name("alias", names.qualify(cursor, word))
            self.collected.declare(name, location, Declared(traits=("using",), value=namespace))

    def _using(self, cursor: Cursor, location: Location) -> None:
        lib = self._lib
        found = lib.getCursorReferenced(cursor)
        if found.kind == kinds.OVERLOADED and lib.getNumOverloadedDecls(found):
            found = lib.getOverloadedDecl(found, 0)
        if not found.d0 or found.kind in kinds.NOTHING:
            return
        name = Name("alias", self._types.names.qualify(cursor, lib.spelling(cursor)))
        declared = Declared(traits=("using",), value=self._types.names.of(found))
        self.collected.declare(name, location, declared)


def alias_shape(types: HeaderTypes, cursor: Cursor) -> Alias:
    """What a typedef stands for."""
    return Alias(types.of(types.lib.getTypedefDeclUnderlyingType(cursor)))
