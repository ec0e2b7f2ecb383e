"""From a parsed translation unit to what public headers declare, declaration by declaration."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from abistore.errors import LimitExceeded
from abistore.extract.headers import cursors
from abistore.extract.headers import cursors as kinds
from abistore.extract.headers.classes import Classes
from abistore.extract.headers.collected import Collected, HeaderNames, PublicFiles
from abistore.extract.headers.compiled_code import CodeReferences, InlineBodies, MacroCode
from abistore.extract.headers.cursors import Cursor, LibClang, libclang
from abistore.extract.headers.descriptions import Descriptions
from abistore.extract.headers.faults import TYPED, Faults, declares_types, spread
from abistore.extract.headers.macros import (
    GUARD,
    RESERVED,
    Definition,
    Expansions,
    MacroUses,
    is_value,
    macros,
    public_definitions,
    public_macros,
    settle_handed,
    settle_macros,
)
from abistore.extract.headers.records import TOLD, FunctionShapes, PrivateMarks, RecordShapes, exact
from abistore.extract.headers.templates import TemplateWalk
from abistore.extract.headers.tokens import SIZE, Definitions, SourceText
from abistore.extract.headers.types import HeaderTypes
from abistore.extract.types import is_foreign
from abistore.model.constants import words
from abistore.model.declarations import TYPES, Declared, Name, Replacement, Use, blake2b, by_name
from abistore.model.hints import names_internals
from abistore.model.shapes import Alias, AnyShape, Enum, Foreign, Named, Opaque, Primitive, Record, TypeRef
from abistore.model.snapshot import Location, Variants, sort_variants
from abistore.model.structure import fitted, references, without_cycle_collection
from abistore.patterns import pattern

if TYPE_CHECKING:
    from abistore.model.shapes import Sort

UNNAMED = pattern(r"\((?:anonymous|unnamed|lambda)\b|type-parameter-|[#\n\"{};]| at /")
"""What no text can name, or what is no type yet."""


def unlaid_instances(types: HeaderTypes, collected: Collected) -> dict[Name, str]:
    """Template instances, and classes in them, without a layout; each as C++ spells it."""
    found = {name: _spelled_by_clang(types, name) for name in _without_layout(types, collected)}
    return {name: spelled for name, spelled in found.items() if not UNNAMED.search(spelled)}


def _without_layout(types: HeaderTypes, collected: Collected) -> Iterator[Name]:
    every = [shape for shapes in collected.shapes.values() for shape in shapes]
    mentioned = dict.fromkeys(name for shape in every for name, _ in references(shape))
    for name in sorted(dict.fromkeys([*types.mentioned, *mentioned, *types.unmet])):
        if name.kind != "record" or "<" not in name.spelling or is_foreign(name.spelling, types.runtime):
            continue
        if any(isinstance(shape, Record) for shape in collected.shapes.get(name, ())):
            continue
        cursor = types.mentioned.get(name)
        if cursor is None or _may_be_made(types.lib, cursor):
            yield name


def _may_be_made(lib: LibClang, cursor: Cursor) -> bool:
    """Whether a class comes from a template; a handle that is only declared inside one does not."""
    template: Cursor = lib.getSpecializedCursorTemplate(cursor)
    return template.kind not in cursors.NOTHING


def _spelled_by_clang(types: HeaderTypes, name: Name) -> str:
    """A class as libclang spells it, else as its name has it: values need not look alike in both."""
    lib, cursor = types.lib, types.mentioned.get(name)
    if cursor is None:
        return name.spelling
    return lib.text(lib.getTypeSpelling(lib.getCanonicalType(lib.getCursorType(cursor))))


TRANSPARENT: Final = frozenset({kinds.NAMESPACE, kinds.LINKAGE})
MAX_DEPTH: Final = 100
"""How many namespaces and classes may be nested in one another. Real code stays below 20."""

Visitor = Callable[[Cursor, Location], None]


class PublicWalk:
    """Visits public declarations. Mentioned types are noted, and read later."""

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
        """Whether an error changes a declaration; the members of a class may be sound all the same."""
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
        for each in [child for child in self._lib.children(cursor) if child.kind == kinds.NAMESPACE_REF][-1:]:
            self._open(
                cursor, self._lib.spelling(cursor), self._types.names.of(self._lib.getCursorReferenced(each)), location
            )

    def _open(self, cursor: Cursor, word: str, namespace: str, location: Location) -> None:
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
    """The shape of a typedef."""
    return Alias(types.of(types.lib.getTypedefDeclUnderlyingType(cursor)))


WHOLE: Final = (Record, Enum, Foreign)
"""What a type is made of."""


class Walked(msgspec.Struct, frozen=True):
    """The declarations of headers, and their locations. ``refused`` counts types that are too large to be spelled out.

    ``unlaid`` are template instances without a layout, as C++ spells them; ``unmade`` are those that do not compile,
    with the reason. ``padded`` are classes with padding at their end, ``vast`` those that the compiler is not asked
    about. ``lent`` are types of other projects. ``bare`` are the names of types of C that only a typedef names.
    """

    entries: Mapping[Name, Variants]
    locations: Mapping[Name, Location]
    refused: int = 0
    inline_namespaces: frozenset[str] = frozenset()
    unlaid: Mapping[Name, str] = {}
    unmade: Mapping[Name, str] = {}
    padded: frozenset[Name] = frozenset()
    vast: frozenset[Name] = frozenset()
    lent: frozenset[Name] = frozenset()
    bare: frozenset[str] = frozenset()


class Instantiations(NamedTuple):
    """Lines of instantiations to be ``left_out``, and names ``known`` already that need not be read again.

    ``faults`` are those of the headers before them.
    """

    left_out: Container[int]
    known: Mapping[Name, Variants]
    faults: Faults | None = None

    def shapes(self, name: Name) -> list[AnyShape]:
        """The shapes of a name that is known whole."""
        shapes = self.known.get(name, ())
        found: list[AnyShape] = [shape for shape in shapes if not isinstance(shape, Declared | Opaque)]
        return found if name.kind == "alias" or any(isinstance(each, WHOLE) for each in found) else []


NOTHING: Final = Instantiations((), {})


def declarations(unit: Any, names: HeaderNames, *, cpp: bool, runtime: bool = False) -> Walked:
    """Public declarations of a parsed ``clang.cindex.TranslationUnit`` of C or C++; ``names`` knows public files.

    Types that they need are public as well where a header beside a given one defines them; others get no
    :class:`Declared` shape. ``runtime``: the library is the C++ runtime itself.
    """
    with without_cycle_collection():
        walk = UnitWalk(unit, names, cpp=cpp, runtime=runtime, faults=Faults(libclang(), unit))
        return _settled(walk, walk.collected(), cpp=cpp)


def made_instances(unit: Any, names: HeaderNames, marker: str, made: Instantiations, *, runtime: bool) -> Walked:
    """The arguments of instances of the template ``marker`` in the unit's own text, and all that these mention."""
    with without_cycle_collection():
        walk = UnitWalk(unit, names, cpp=True, runtime=runtime, faults=made.faults)
        return _settled(walk, walk.made(marker, made), cpp=True)


def _settled(walk: UnitWalk, collected: Collected, *, cpp: bool) -> Walked:
    entries, refused = fitted(collected.entries())
    return Walked(
        {name: sort_variants(shapes) for name, shapes in sorted(entries.items(), key=by_name)},
        collected.locations,
        refused + walk.types.references.budget.refused,
        frozenset(collected.inline_namespaces),
        unlaid_instances(walk.types, collected) if cpp else {},
        padded=frozenset(walk.records.padded),
        vast=frozenset(walk.records.vast),
        lent=frozenset(collected.lent),
        bare=frozenset() if cpp else walk.types.without_tags(),
    )


def occupied(unit: Any, names: HeaderNames) -> frozenset[str]:
    """Public headers with content besides includes and include guards. Cheap: no type is looked at."""
    with without_cycle_collection():
        lib = libclang()
        top = lib.top(unit)
        place = PublicFiles(lib, names, unit.obj).place
        standing = (place(each) for each in top if each.kind not in kinds.PREPROCESSING)
        definitions = public_definitions(top, place)
        defined = (location for _, location, _ in macros(lib, SourceText(lib, unit.obj), definitions))
        return frozenset(location.file for location in (*standing, *defined) if location is not None)


class UnitWalk:
    """Visits public declarations and macros, then the types that they mention."""

    def __init__(
        self, unit: Any, names: HeaderNames, *, cpp: bool, runtime: bool, faults: Faults | None = None
    ) -> None:
        self._faults = faults
        self._lib = lib = libclang()
        self._top = lib.top(unit)
        self.types = HeaderTypes(lib, lambda cursor: self.records.unnamed(cursor), runtime=runtime)
        self._pointer = lib.pointer_size(unit.obj)
        classes = Classes(lib, self._pointer)
        self._files = PublicFiles(lib, names, unit.obj)
        self._text = SourceText(lib, unit.obj)
        marks = PrivateMarks(lib, self._text, self._files, self._top)
        self.records = RecordShapes(self.types, classes, marks, cpp=cpp)
        references = CodeReferences(lib, self.types.names, self._files.is_own)
        self._reached = references.layouts.met
        self._bodies = bodies = InlineBodies(lib, self._text, references, self._files.is_given)
        definitions = Definitions(lib, self._text, self._top, lambda file: self._is_own(unit, file), cpp=cpp)
        self._descriptions = Descriptions(lib, self._text, bodies, definitions, cpp=cpp)
        self._public = PublicWalk(self.types, classes, self.records, self._descriptions, self._files, faults=faults)
        self._read: set[Name] = set()

    def _is_own(self, unit: Any, file: int) -> bool:
        return self._files.is_own_file(file, self._lib.getLocationForOffset(unit.obj, file, 0))

    def collected(self) -> Collected:
        """Everything that was found."""
        found = self._public.collected
        self._public.visit(self._top)
        definitions = public_definitions(self._top, self._files.place)
        for name, location, declared in macros(self._lib, self._text, definitions):
            found.declare(name, location, declared)
        self._collect_mentioned(found)
        expansions = Expansions(self._lib, self._text, self._top, self._files.is_own)
        settle_macros(found, expansions, self._pointer)
        written = public_macros(self._lib, self._top, self._files.place)
        settle_handed(found, expansions, self._bodies.handed, written)
        uses = MacroUses(self._lib, self._text, self._top, self._files)
        for name, location, declared in replacements(definitions, found.declared, expansions, uses):
            found.declare(name, location, declared)
        self._collect_code_of_macros(found, expansions)
        return self._without_spoilt(found)

    def _without_spoilt(self, found: Collected) -> Collected:
        """What was found, except what errors spoil, what is composed of that, and what lacks missing files."""
        spoilt = self._public.spoilt
        if self._faults is not None and self._faults.lacks_files:
            spoilt |= {name for name, shapes in found.shapes.items() if declares_types(name, shapes)}
        for name in spread(spoilt, found.shapes) if spoilt else ():
            found.leave_out(name)
        return found

    def _collect_code_of_macros(self, found: Collected, expansions: Expansions) -> None:
        """Note what macros use, and read the types that only these use."""
        written = {name: each for name, each in found.declared.items() if "macro" in each.traits}
        named = {name.spelling: name for name, each in written.items() if each.replacement or words(each.value or "")}
        for macro, uses in MacroCode(self._bodies, self._top, expansions).of(named).items():
            found.declared[named[macro]] = replace(found.declared[named[macro]], uses=uses)
        self._read_reached(found, NOTHING)

    def made(self, marker: str, made: Instantiations) -> Collected:
        """The classes that the unit's own text instantiates the template ``marker`` for, and what they mention."""
        lib = self._lib
        for each in self._top:
            if each.kind in kinds.RECORDS and lib.spelling(each) == marker:
                _, line, _ = lib.place(lib.getCursorLocation(each))
                if line not in made.left_out:
                    self.types.of(lib.getCanonicalType(lib.Type_getTemplateArgumentAsType(lib.getCursorType(each), 0)))
        self._collect_mentioned(self._public.collected, made)
        return self._without_spoilt(self._public.collected)

    def _collect_mentioned(self, found: Collected, made: Instantiations = NOTHING) -> None:
        self._files.take_those_beside()
        self._read_mentioned(found, made, beside=True)
        self._read_reached(found, made)
        self._descriptions.attributes.close()
        _settle_wide(found)

    def _read_reached(self, found: Collected, made: Instantiations) -> None:
        for cursor in self._reached.values():
            self.types.declared(cursor)
        self._read_mentioned(found, made, beside=False)

    def _read_mentioned(self, found: Collected, made: Instantiations, *, beside: bool) -> None:
        """Read all types that are mentioned, and what these mention; ``beside``: by declarations and not by code."""
        mentioned = self.types.mentioned
        while len(self._read) < len(mentioned):
            for name in [name for name in mentioned if name not in self._read]:
                self._read.add(name)
                if self._files.is_lent(mentioned[name]):
                    found.lent.add(name)
                if shapes := made.shapes(name):
                    found.shapes[name] = shapes
                    continue
                if beside:
                    self._enter_beside(name, mentioned[name])
                found.add(name, self._mentioned(name, mentioned[name]))

    def _enter_beside(self, name: Name, cursor: Cursor) -> None:
        """Enter as public what a header beside a given one defines: programs that include the given one see it.

        Of an instance of a template this is the template.
        """
        template = self._lib.getSpecializedCursorTemplate(cursor)
        shown = cursor if template.kind in kinds.NOTHING else template
        defined = self._lib.getCursorDefinition(shown)
        if defined.kind not in kinds.NOTHING and not is_foreign(name.spelling, self.types.runtime):
            self._public.enter(defined)

    def _mentioned(self, name: Name, cursor: Cursor) -> AnyShape | None:
        if self._faults is not None and self._faults.spoil(self._defined(cursor)):
            self._public.spoilt.add(name)
            return None
        if name.kind == "alias":
            return alias_shape(self.types, cursor)
        if is_foreign(name.spelling, self.types.runtime):
            return self.records.foreign(cursor)
        if name.kind == "enum":
            return self.records.enum(cursor) or self._undefined(cursor)
        return self.records.of(cursor) or self._undefined(cursor)

    def _defined(self, cursor: Cursor) -> Cursor:
        found = self._lib.getCursorDefinition(cursor)
        return cursor if found.kind in kinds.NOTHING else found

    def _undefined(self, cursor: Cursor) -> AnyShape | None:
        """A handle; nothing for a template instance that need not be complete, nor for a definition with errors."""
        sort: Sort = "enum" if cursor.kind == kinds.ENUM else kinds.RECORDS.get(cursor.kind, "struct")
        instance = self._lib.Type_getNumTemplateArguments(self._lib.getCursorType(cursor)) >= 0
        defined = self._lib.getCursorDefinition(cursor).kind not in kinds.NOTHING
        return None if instance or defined else Opaque(sort)


def _settle_wide(found: Collected) -> None:
    """Set the exact values of enumerators of more than 64 bits; leave out enumerations with unknown ones."""
    for name, shapes in found.shapes.items():
        if name.kind == "enum" and any(isinstance(shape, Enum) and 8 * shape.size > TOLD for shape in shapes):
            written = dict(found.declared[name].expressions) if name in found.declared else {}
            known = [
                exact(shape, written, signed=_is_signed(shape.underlying, found)) if isinstance(shape, Enum) else shape
                for shape in shapes
            ]
            shapes[:] = [shape for shape in known if shape is not None]


def _is_signed(type: TypeRef | None, found: Collected) -> bool:
    for _ in range(len(found.shapes)):
        alias = found.shapes.get(type.name, []) if isinstance(type, Named) else []
        if not alias or not isinstance(alias[0], Alias):
            break
        type = alias[0].target
    spelling = type.name.spelling if isinstance(type, Named) else type.spelling if isinstance(type, Primitive) else ""
    return not spelling.startswith(("unsigned", "__uint128"))


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
    users: dict[str, set[str]] = {name: set() for name in names}
    for name, use in uses.of(names):
        used[name].add(use)
    for name in last:
        constant = known.get(Name("variable", name))
        macro = expansions.definition(name) if constant is None else None
        for token in names.intersection(macro.body if macro else words(constant.value or "") if constant else ()):
            used[token].add("macro")
            users[token].add(name)
    for name in [name for name in names if _is_helper(name, users[name], used)]:
        used[name].add("inside")
    for name in sorted(names):
        cursor, location = last[name]
        macro = expansions.definition(name)
        if macro is not None and _is_told(name, macro) and uses.is_kept(cursor, name):
            replacement = _replacement(macro, used[name])
            yield Name("variable", name), location, Declared(traits=("macro",), replacement=replacement)


def _is_helper(name: str, users: Collection[str], used: Mapping[str, Collection[Use]]) -> bool:
    """Whether a macro is there for others that headers use themselves, and is called by another first word than these.

    The tool that wrote them gave it its own name: ``GEO_SINCE(major) (TOOL_VALUE(major) > GEO_FIRST)``.
    """
    prefix = name.partition("_")[0]
    return bool(users) and all(
        not {"asked", "declaration"}.isdisjoint(used.get(each, ())) and each.partition("_")[0] != prefix
        for each in users
    )


def _is_told(name: str, macro: Definition) -> bool:
    return macro.parameters is not None or bool(macro.body) or GUARD.search(name) is None


def _replacement(macro: Definition, uses: set[Use]) -> Replacement:
    used = tuple(sorted(uses - {"declaration"} if _is_expression(macro) else uses))
    if macro.parameters is None:
        return Replacement(_digest_of(macro.body), used=used)
    named = len(macro.parameters) - macro.variadic
    numbers = {each: f"\1{number}" for number, each in enumerate(macro.parameters)}
    return Replacement(_digest_of([numbers.get(each, each) for each in macro.body]), named, macro.variadic, used)


def _is_expression(macro: Definition) -> bool:
    """Whether a macro is an expression for programs; ``EXPORT(x) x`` wraps declarations."""
    return is_value(macro.body) and not set(macro.body) <= {*(macro.parameters or ()), "(", ")"}


def _digest_of(found: Sequence[str]) -> str:
    text = "\0".join(found).encode(errors="replace")
    return blake2b(text, digest_size=SIZE).hexdigest() if found else ""
