"""What the given headers declare, and all that it mentions: the entries of the ``source`` facet."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, libclang
from abistore.extract.headers.walk.clang.files import HeaderNames, PublicFiles
from abistore.extract.headers.walk.faulty import Faults, declares_types, spread
from abistore.extract.headers.walk.public import PublicWalk, alias_shape
from abistore.extract.headers.walk.shapes.classes import Classes
from abistore.extract.headers.walk.shapes.records import RecordShapes
from abistore.extract.headers.walk.shapes.types import HeaderTypes
from abistore.extract.headers.walk.unlaid import unlaid_instances
from abistore.extract.headers.walk.written.compiled.bodies import InlineBodies
from abistore.extract.headers.walk.written.compiled.macro_code import MacroCode
from abistore.extract.headers.walk.written.compiled.references import CodeReferences
from abistore.extract.headers.walk.written.definitions import Definitions
from abistore.extract.headers.walk.written.descriptions import Descriptions
from abistore.extract.headers.walk.written.expansion import Expansions
from abistore.extract.headers.walk.written.handing import public_macros, settle_handed
from abistore.extract.headers.walk.written.macros import macros, public_definitions, settle_macros
from abistore.extract.headers.walk.written.numbers.wide_values import TOLD, exact
from abistore.extract.headers.walk.written.replacing import MacroUses, replacements
from abistore.extract.headers.walk.written.tokens import SourceText
from abistore.extract.types.foreign import is_foreign
from abistore.model.budget import fitted
from abistore.model.cycles import without_cycle_collection
from abistore.model.declared import Declared
from abistore.model.digest import sort_variants
from abistore.model.names import Name, by_name
from abistore.model.shapes import Alias, AnyShape, Enum, Foreign, Named, Opaque, Primitive, Record, TypeRef
from abistore.model.snapshot import Location, Variants
from abistore.model.values.texts import words

if TYPE_CHECKING:
    from abistore.extract.headers.walk.collected import Collected
    from abistore.model.shapes import Sort


WHOLE: Final = (Record, Enum, Foreign)
"""What a type is made of."""


class Walked(msgspec.Struct, frozen=True):
    """What headers declare, and where. ``refused`` counts types that are too large to be spelled out.

    ``unlaid`` are instances of templates without a layout, as C++ spells them; ``unmade`` are those that cannot be
    made, with the reason. ``padded`` are classes with padding at their end.
    """

    entries: Mapping[Name, Variants]
    locations: Mapping[Name, Location]
    refused: int = 0
    inline_namespaces: frozenset[str] = frozenset()
    unlaid: Mapping[Name, str] = {}
    unmade: Mapping[Name, str] = {}
    padded: frozenset[Name] = frozenset()


class Instantiations(NamedTuple):
    """Which instantiations are ``left_out``, by line, and what is ``known`` already and need not be read again.

    ``faults`` are those of the headers behind which they stand.
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
    """What the headers that ``names`` calls public declare in a parsed ``clang.cindex.TranslationUnit`` of C or C++.

    Types that public declarations need are public as well where a header beside a given one defines them; they have
    no :class:`Declared` shape where any other does. ``runtime``: the library is the C++ runtime itself.
    """
    with without_cycle_collection():
        walk = UnitWalk(unit, names, cpp=cpp, runtime=runtime, faults=Faults(libclang(), unit))
        return _settled(walk, walk.collected(), cpp=cpp)


def made_instances(unit: Any, names: HeaderNames, marker: str, made: Instantiations, *, runtime: bool) -> Walked:
    """What classes mean, and all that they mention, which the arguments of instances of a template ``marker`` are.

    These are instantiated in the text of the unit itself.
    """
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
    )


def occupied(unit: Any, names: HeaderNames) -> frozenset[str]:
    """The public headers in which anything stands at all, but includes and their own guards.

    That is cheap to tell: no type is looked at. What stands there may be no declaration.
    """
    with without_cycle_collection():
        lib = libclang()
        top = lib.top(unit)
        place = PublicFiles(lib, names, unit.obj).place
        standing = (place(each) for each in top if each.kind not in kinds.PREPROCESSING)
        definitions = public_definitions(lib, top, place)
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
        self.records = RecordShapes(self.types, classes, cpp=cpp)
        self._files = PublicFiles(lib, names, unit.obj)
        self._text = SourceText(lib, unit.obj)
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
        definitions = public_definitions(self._lib, self._top, self._files.place)
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
        """What was found without what errors lie in, what is made of that, and what files that are missing declare."""
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
        """The definition of what is mentioned, where there is one."""
        found = self._lib.getCursorDefinition(cursor)
        return cursor if found.kind in kinds.NOTHING else found

    def _undefined(self, cursor: Cursor) -> AnyShape | None:
        """A handle; nothing for a template instance that no header needs complete, nor for a definition with errors."""
        sort: Sort = "enum" if cursor.kind == kinds.ENUM else kinds.RECORDS.get(cursor.kind, "struct")
        instance = self._lib.Type_getNumTemplateArguments(self._lib.getCursorType(cursor)) >= 0
        defined = self._lib.getCursorDefinition(cursor).kind not in kinds.NOTHING
        return None if instance or defined else Opaque(sort)


def _settle_wide(found: Collected) -> None:
    """Give enumerators of more than 64 bits their exact values; leave an enumeration out where they are not known."""
    for name, shapes in found.shapes.items():
        if name.kind == "enum" and any(isinstance(shape, Enum) and 8 * shape.size > TOLD for shape in shapes):
            written = dict(found.declared[name].expressions) if name in found.declared else {}
            known = [
                exact(shape, written, signed=_is_signed(shape.underlying, found)) if isinstance(shape, Enum) else shape
                for shape in shapes
            ]
            shapes[:] = [shape for shape in known if shape is not None]


def _is_signed(type: TypeRef | None, found: Collected) -> bool:
    """Whether an integer type, which may have other names, is signed."""
    for _ in range(len(found.shapes)):
        alias = found.shapes.get(type.name, []) if isinstance(type, Named) else []
        if not alias or not isinstance(alias[0], Alias):
            break
        type = alias[0].target
    spelling = type.name.spelling if isinstance(type, Named) else type.spelling if isinstance(type, Primitive) else ""
    return not spelling.startswith(("unsigned", "__uint128"))
