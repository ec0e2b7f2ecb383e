"""What the given headers declare, and all that it mentions: the entries of the ``source`` facet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from abistore.extract.dwarf.names.foreign import is_foreign
from abistore.extract.dwarf.shapes.special_members import settle_passing
from abistore.extract.headers.walk import kinds
from abistore.extract.headers.walk.classes import Classes
from abistore.extract.headers.walk.cursors import Cursor, LibClang, libclang
from abistore.extract.headers.walk.functions import FunctionShapes
from abistore.extract.headers.walk.records import RecordShapes
from abistore.extract.headers.walk.types import HeaderTypes
from abistore.model.budget import fitted
from abistore.model.cycles import without_cycle_collection
from abistore.model.digest import sort_variants
from abistore.model.names import Name, by_name
from abistore.model.shapes import Alias, AnyShape, Declared, Opaque
from abistore.model.snapshot import Location, Variants

if TYPE_CHECKING:
    from abistore.extract.headers.walk.kinds import Sort

TRANSPARENT = frozenset({kinds.NAMESPACE, kinds.LINKAGE, kinds.UNEXPOSED_DECL})


class Walked(msgspec.Struct, frozen=True):
    """What headers declare, and where. ``refused`` counts types that are too large to be spelled out."""

    entries: Mapping[Name, Variants]
    locations: Mapping[Name, Location]
    refused: int = 0


def declarations(unit: Any, public: Callable[[str], str | None], *, runtime: bool = False) -> Walked:
    """What the headers that ``public`` has a name for declare in a parsed ``clang.cindex.TranslationUnit``.

    ``public`` gets the name of a file as libclang has it. Types that public declarations need have no
    :class:`Declared` shape where another header declares them. ``runtime``: the library is the C++ runtime itself.
    """
    with without_cycle_collection():
        walk = PublicWalk(unit, public, runtime=runtime)
        walk.visit(walk.top)
        walk.complete()
        settle_passing(walk.entries, ())
        entries, refused = fitted(walk.described())
        return Walked(
            {name: sort_variants(shapes) for name, shapes in sorted(entries.items(), key=by_name)},
            walk.locations,
            refused + walk.types.references.budget.refused,
        )


class PublicWalk:
    """Visits public declarations, then the types that they mention."""

    def __init__(self, unit: Any, public: Callable[[str], str | None], *, runtime: bool) -> None:
        self.lib = lib = libclang()
        self.top = lib.children(lib.getTranslationUnitCursor(unit.obj))
        self.types = HeaderTypes(lib, lambda cursor: self.records.unnamed(cursor), runtime=runtime)
        self.classes = Classes(lib, lib.pointer_size(unit.obj))
        self.records = RecordShapes(self.types, self.classes, cpp=_is_cpp(lib, self.top))
        self.shapes = FunctionShapes(self.types, self.classes)
        self.entries: dict[Name, list[AnyShape]] = {}
        self.declared: dict[Name, Declared] = {}
        self.locations: dict[Name, Location] = {}
        self._public = public
        self._files: dict[int | None, str | None] = {None: None}
        self._read: set[Name] = set()
        self._visitors: dict[int, Callable[[Cursor, Location], None]] = {
            **dict.fromkeys(TRANSPARENT, self._scope),
            **dict.fromkeys(kinds.FUNCTIONS, self._function),
            **dict.fromkeys(kinds.RECORDS, self._record),
            kinds.VARIABLE: self._variable,
            kinds.ENUM: self._enum,
            kinds.TYPEDEF: self._alias,
            kinds.ALIAS: self._alias,
        }

    # --- what is public -------------------------------------------------------------------------------------------

    def visit(self, cursors: list[Cursor]) -> None:
        """Enters those of ``cursors`` that stand in public headers."""
        visitors, lib, files = self._visitors, self.lib, self._files
        for cursor in cursors:
            visitor = visitors.get(cursor.kind)
            if visitor is None:
                continue
            file, line, _ = lib.place(lib.getCursorLocation(cursor))
            name = files[file] if file in files else self._file(file)
            if name is not None:
                visitor(cursor, Location(name, line))

    def _file(self, file: int | None) -> str | None:
        found = self._files[file] = self._public(self.lib.text(self.lib.getFileName(file)))
        return found

    def _enter(self, name: Name, location: Location, shape: AnyShape | None, declared: Declared) -> None:
        shapes = self.entries.setdefault(name, [])
        if shape is not None and shape not in shapes:
            shapes.append(shape)
        self.declared.setdefault(name, declared)
        self.locations.setdefault(name, location)

    def _scope(self, cursor: Cursor, _: Location) -> None:
        self.visit(self.lib.children(cursor))

    def _function(self, cursor: Cursor, location: Location) -> None:
        names = self.shapes.names(cursor)
        if names and names[0] not in self.declared:
            shape = self.shapes.function(cursor)
            for name in names:
                self._enter(name, location, shape, Declared())

    def _variable(self, cursor: Cursor, location: Location) -> None:
        for name in self.shapes.names(cursor):
            if name not in self.declared:
                self._enter(name, location, self.shapes.variable(cursor), Declared())

    def _record(self, cursor: Cursor, location: Location) -> None:
        named = self.types.declared(cursor)
        name = getattr(named, "name", None)
        if not isinstance(name, Name):
            return
        self._enter(name, location, None, Declared())
        facts = self.classes.of(cursor)
        if facts is not None and facts.cursor.d0 == cursor.d0:
            self.locations[name] = location
            self.visit(facts.members)

    def _enum(self, cursor: Cursor, location: Location) -> None:
        named = self.types.declared(cursor)
        name = getattr(named, "name", None)
        if isinstance(name, Name):
            self._enter(name, location, None, Declared())

    def _alias(self, cursor: Cursor, location: Location) -> None:
        named = self.types.alias(cursor)
        name = getattr(named, "name", None)
        if isinstance(name, Name) and name.kind == "alias":
            self._enter(name, location, None, Declared())

    def described(self) -> dict[Name, list[AnyShape]]:
        """The entries: the shapes of each name, and what the text of its declaration tells."""
        return {
            name: [*shapes, *([self.declared[name]] if name in self.declared else [])]
            for name, shapes in self.entries.items()
        }

    # --- what it needs --------------------------------------------------------------------------------------------

    def complete(self) -> None:
        """Reads every type that was mentioned, until nothing new is."""
        mentioned = self.types.mentioned
        while len(self._read) < len(mentioned):
            for name in [name for name in mentioned if name not in self._read]:
                self._read.add(name)
                shape = self._mentioned(name, mentioned[name])
                if shape is not None and shape not in self.entries.setdefault(name, []):
                    self.entries[name].append(shape)

    def _mentioned(self, name: Name, cursor: Cursor) -> AnyShape | None:
        if name.kind == "alias":
            return Alias(self.types.of(self.lib.getTypedefDeclUnderlyingType(cursor)))
        if is_foreign(name.spelling, self.types.runtime):
            return self.records.foreign(cursor)
        if name.kind == "enum":
            return self.records.enum(cursor) or Opaque("enum")
        return self.records.of(cursor) or self._undefined(cursor)

    def _undefined(self, cursor: Cursor) -> AnyShape | None:
        """A handle; nothing for a template instance that no header needs complete."""
        sort: Sort = kinds.RECORDS.get(cursor.kind, "struct")
        instance = self.lib.Type_getNumTemplateArguments(self.lib.getCursorType(cursor)) >= 0
        return None if instance else Opaque(sort)


def _is_cpp(lib: LibClang, top: list[Cursor]) -> bool:
    """Whether a unit is C++: compilers define a macro that says so before anything else."""
    return any(each.kind == kinds.MACRO and lib.spelling(each) == "__cplusplus" for each in top)
