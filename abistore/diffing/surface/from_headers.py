"""What consumers can name, see and allocate, as the public headers of a release tell."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec.structs import replace

from abistore.diffing.reuse import Summaries
from abistore.diffing.surface.allocation import Allocation
from abistore.diffing.surface.compiled import counted_results
from abistore.diffing.surface.consumers import Concealment, Consumers, Owner, Ownership, ReleaseExports
from abistore.diffing.surface.export_table import is_entry_point, is_weak
from abistore.diffing.surface.public_api import PublicApi
from abistore.diffing.types.mentions import NONE, Names, TypeUse, TypeUses
from abistore.diffing.types.sameness import TypeSide
from abistore.model.declarations import Declared, Name, is_number
from abistore.model.names.qualified import class_behind, demangle, entity, last_component, scope
from abistore.model.names.symbols import CLASS_DATA, is_mangled
from abistore.model.reach import DECLARING, Mentions
from abistore.model.shapes import VOID, AnyShape, Field, Foreign, Named, Pointer, Primitive, Record, Symbol
from abistore.model.snapshot import Variants, exported_as
from abistore.model.structure import references
from abistore.model.words import is_source


class ToldConsumers(Consumers):
    """The consumers of a release whose public headers were read.

    Where headers did not parse, what they may declare is unknown: absence proves nothing, and what remains open is
    ``guessed``. What the other headers declare, they do.
    """

    def __init__(self, own: ReleaseExports, types: TypeSide, guessed: Consumers, files: Mapping[Name, str]) -> None:
        self._own = own
        self._types = types
        self._guessed = guessed
        self._files = files
        self._api = PublicApi(own.snapshot)

    # exports

    def can_name(self, export: Name) -> bool:
        """Whether a public header declares ``export``, or an inline function in one uses it.

        Symbols that only programs linked earlier can ask for are kept for these. An export by number has no name that
        headers could declare; its author gave it the number for programs to ask by.
        """
        standing = self._api.standing(export)
        if standing == "unknown":
            return self._guessed.can_name(export)
        if standing in ("public", "private") or is_number(export):
            return True
        return is_entry_point(export, self._own.snapshot) or self._is_kept(export)

    def _is_kept(self, export: Name) -> bool:
        """Whether no new link binds to ``export``: it has former versions only (``name@VER``)."""
        symbols = [each for each in self._own.snapshot.variants("symbol", export) if isinstance(each, Symbol)]
        return bool(symbols) and not any(each.default for each in symbols)

    def concealment(self, export: Name) -> Concealment:
        """What the headers say of ``export``; where they say nothing, what is guessed."""
        return self._guessed.concealment(export) if self._api.standing(export) == "unknown" else "undeclared"

    def prove_private(self, name: Name) -> bool:
        """Whether all headers parsed, and neither they nor what they include have ``name`` where programs use it."""
        return self._api.proves_private(name)

    def out_of_reach(self, export: Name) -> bool:
        """Whether ``export`` is private to a class, and no inline function in the headers uses it."""
        standing = self._api.standing(export)
        return standing == "private" or (standing == "unknown" and self._guessed.out_of_reach(export))

    def cannot_call(self, export: Name) -> bool:
        """Whether a call would pass an object of a class of the library that no header defines or gives to programs."""
        return self._api.is_uncallable(export, self._types)

    def private_header(self, export: Name) -> str:
        """The header that declares ``export`` as far as debug information tells; it is none of the public ones."""
        if self._api.standing(export) == "unknown":
            return self._guessed.private_header(export)
        file = self._files.get(export, "")
        return "" if is_source(file) else file

    def owner(self, export: Name, other: ReleaseExports, *, gone: bool) -> Owner:
        """Whose ``export`` is. What headers declare without a body, or as ``extern template``, no program has.

        What they define, whoever calls it has, be it inline or not.
        """
        if gone and self._api.is_compiled_by_programs(export):
            return "inline"
        if self._api.is_compiled_here(export) or (gone and self._api.is_instantiated(export)):
            return "own"
        if export.spelling.startswith(CLASS_DATA) and self._api.is_keyless(
            Name("record", class_behind(export.spelling))
        ):
            return "inline" if is_weak(self._own.snapshot.variants("symbol", export)) else "own"
        found = Ownership(self._own, other).of(export, gone=gone)
        if found == "foreign" and self._api.declaration(export) is not None:
            return "inline"
        if gone and found == "inline" and self._api.is_left_to_library(export):
            return "instantiation"
        return found

    # types

    def can_see(self, type: Name) -> bool:
        """Whether a public header defines ``type``, or includes one that does and lets consumers have objects of it.

        What is met only in fields whose names ask consumers to leave them alone is the library's (``internal_donotuse``
        in a union that gives room to it), unless inline functions look into it. So is a private nested class that
        programs hold pointers to at most. What only former versions of exports take was in former headers.
        """
        if type in self._of_former_versions:
            return self._guessed.can_see(type)
        if type in self._set_apart or self._api.is_closed(type) or self._api.is_internal(type):
            return False
        definition = self._api.definition(type)
        if definition == "public" or self._is_foreign(type):
            return True
        if not self._api.complete:
            return self._guessed.can_see(type)
        used = type in self._allocation.by_value or not self._allocation.library_allocates(type)
        return definition == "included" and (used or type in self._api.compiled_types or self._is_number(type))

    @cached_property
    def _of_former_versions(self) -> frozenset[Name]:
        """The types that versions of exports mention which new links do not get, and that no header has now."""
        snapshot = self._own.snapshot
        if not self._own.exports.of_several_versions:
            return frozenset()
        symbols, layout = snapshot.entries.get("symbol", {}), snapshot.entries.get("layout", {})
        pending = [name for name in layout if exported_as(name, symbols) != name]
        found: set[Name] = set()
        while pending:
            shapes = layout.get(pending.pop(), ())
            come = {each for shape in shapes for each, _ in references(shape)} - found
            found |= come
            pending += come
        return frozenset(each for each in found if each not in snapshot.entries.get("source", {}))

    def _is_number(self, type: Name) -> bool:
        """Whether ``type`` is another name of a number, which programs read and write behind pointers too."""
        return type.kind == "alias" and isinstance(self._types.bare(Named(type))[0], Primitive)

    def _is_foreign(self, type: Name) -> bool:
        shapes = (shape for facet in DECLARING for shape in self._own.snapshot.variants(facet, type))
        return any(isinstance(shape, Foreign) for shape in shapes)

    def can_include(self, type: Name) -> bool:
        """Whether a public header defines ``type``, or may do so."""
        return self.offers(type) or (not self._api.complete and self._guessed.can_include(type))

    def can_look_into(self, type: Name, fields: Collection[str]) -> bool:
        """Whether an inline body in the headers uses one of these private ``fields``, or may."""
        return self._api.can_look_into(type, fields)

    def look_at(self, type: Name, field: str) -> bool:
        """Whether an inline body in the headers uses this private field."""
        return f"{type.spelling}::{field}" in self._api.used_members

    def offers(self, type: Name) -> bool:
        """Whether a public header defines ``type``."""
        return self._api.declares(type) and self._api.definition(type) == "public"

    def library_allocates(self, type: Name) -> bool:
        """Whether the signatures in the headers leave ``type`` to the library, or no header defines it."""
        if self._api.definition(type) not in ("unmentioned", "hidden"):
            found = self._allocation.library_allocates(type) and (type in self._used or not self.offers(type))
            found = found and not ("<" in type.spelling and type in self._constructed)
            return found and (self._api.complete or self._guessed.library_allocates(type))
        return self._api.complete or self._guessed.library_allocates(type)

    @cached_property
    def _constructed(self) -> Names:
        """The instances of templates of which the library exports constructors: programs make objects with these."""
        names = (name.spelling for name in self._own.exports.names.values() if name.kind == "function")
        subjects = (entity(demangle(each)) for each in names if is_mangled(each) and "I" in each and "C1" in each)
        owners = ((scope(each), last_component(each)) for each in subjects)
        return frozenset(Name("record", owner) for owner, last in owners if last_component(owner) == last)

    def gets_arrays(self, type: Name) -> bool:
        """Whether functions that headers declare tell a number along with the ``type`` that they hand out."""
        counted = type in self._counted_results and type not in self._allocation.taken_alone
        known = counted or self._allocation.hands_out_many(type)
        return known or (not self._api.complete and self._guessed.gets_arrays(type))

    @cached_property
    def _counted_results(self) -> Names:
        source = self._own.snapshot.entries.get("source", {})
        return counted_results({name: each for name, each in source.items() if self.can_name(name)}, self._types)

    def hold(self, type: Name) -> bool:
        """Whether a public declaration uses ``type`` by value."""
        held = type in self._allocation.by_value or ("<" in type.spelling and type in self._constructed)
        return held or (not self._api.complete and self._guessed.hold(type))

    def hold_beyond_standard(self, type: Name) -> bool:
        """Whether a public declaration that is the library's own uses ``type`` by value."""
        known = type in self._allocation.held_by_own
        return known or (not self._api.complete and self._guessed.hold_beyond_standard(type))

    def passed_with(self, type: Name, stays: Callable[[Name], bool]) -> Sequence[Name]:
        """What public functions, function pointers and virtual methods take or return."""
        found = set(self._allocation.passed_with(type, stays))
        if not self._api.complete:
            found.update(self._guessed.passed_with(type, stays))
        return sorted(found)

    def taken_with(self, type: Name, stays: Callable[[Name], bool]) -> Sequence[Name]:
        """What public functions, function pointers and virtual methods take."""
        found = set(self._allocation.taken_with(type, stays))
        if not self._api.complete:
            found.update(self._guessed.taken_with(type, stays))
        return sorted(found)

    @cached_property
    def _used(self) -> Names:
        """What the functions and variables of the headers lead to, but for what only forbidden fields hold."""
        looked_into = {member.rpartition("::")[0] for member in self._api.used_members}
        return self._led_to(lambda name, use: use.usable | (use.embeds if name.spelling in looked_into else NONE))

    @cached_property
    def _set_apart(self) -> Names:
        """The records that the functions and variables of the headers lead to through forbidden fields only."""
        if all(use.usable >= use.embeds for use in self._uses.values()):
            return NONE
        inside = self._led_to(lambda _, use: use.usable | use.embeds) - self._used
        return frozenset(name for name in inside if name.kind == "record")

    def _led_to(self, leads: Callable[[Name, TypeUse], Names]) -> Names:
        """What the functions and variables of the headers lead to, by what ``leads`` names of each declaration."""
        pending = [name for name in self._uses if name.kind in ("function", "variable")]
        found = set(pending)
        while pending:
            name = pending.pop()
            come = leads(name, self._uses[name]) - found
            found |= come
            pending += come
        return frozenset(found)

    def compilers_of(self, type: Name) -> Sequence[Name]:
        """The public declarations whose code has objects of ``type``, or uses its members."""
        return self._api.compiled_types.users(type)

    def callers_of(self, export: Name) -> Sequence[Name]:
        """The public declarations whose code uses ``export``."""
        return self._api.compiled_types.callers(export)

    def called_beside(self, type: Name) -> Sequence[Name]:
        """The functions of headers that were not given, which such code calls."""
        return self._api.compiled_types.called_beside(type)

    def take_untyped(self) -> bool:
        """Whether a function that programs can call takes or hands out what its signature does not tell."""
        return self._passes_untyped

    @cached_property
    def _passes_untyped(self) -> bool:
        untyped = (name for name, use in self._uses.items() if use.untyped and name.kind == "function")
        return not all(map(self.out_of_reach, untyped))

    @cached_property
    def _uses(self) -> Summaries[TypeUse]:
        """What the headers' declarations do with types; members that nobody reaches lead nowhere."""
        source = self._own.snapshot.entries.get("source", {})
        shapes = _Described(source, lambda name, shape: _open_to_consumers(name, shape, self._types, self._api))
        return Summaries(source, TypeUses(self._types, shapes.mentions, shapes).of, follows="library")

    @cached_property
    def _allocation(self) -> Allocation:
        unnameable = _Unnameable(self._api)
        return Allocation(self._uses, unnameable, unnameable, {})


class _Unnameable:
    """What the headers leave out, as :class:`Allocation` asks for it."""

    def __init__(self, api: PublicApi) -> None:
        self._api = api

    def has(self, export: Name) -> bool:
        return self._api.standing(export) != "public"

    @cached_property
    def classes(self) -> frozenset[Name]:
        return frozenset(name for name in self._api.texts if self._api.definition(name) == "hidden")

    @property
    def concealed(self) -> frozenset[Name]:
        """The same: their definitions are private."""
        return self.classes


class _Described(Mapping[Name, Variants]):
    """The shapes that headers give declarations, each as ``shown``; of text alone what code in it has objects of."""

    def __init__(self, source: Mapping[Name, Variants], shown: Callable[[Name, AnyShape], AnyShape]) -> None:
        self._source = source
        self._shown = shown

    def __getitem__(self, name: Name) -> Variants:
        shapes = self._source[name]
        return tuple(
            [self._shown(name, shape) for shape in shapes if not isinstance(shape, Declared) or references(shape)]
        )

    def __iter__(self) -> Iterator[Name]:
        return iter(self._source)

    def __len__(self) -> int:
        return len(self._source)

    def mentions(self, name: Name) -> Mentions:
        """What each shape of ``name`` mentions."""
        return tuple([references(shape, name) for shape in self.get(name, ())])


def _open_to_consumers(name: Name, shape: AnyShape, types: TypeSide, api: PublicApi) -> AnyShape:
    """A record without what its private pointers lead to, unless inline functions follow them."""
    if not isinstance(shape, Record) or all(field.access != "private" for field in shape.fields):
        return shape

    def shown(field: Field) -> Field:
        leads_on = field.access != "private" or f"{name.spelling}::{field.name}" in api.used_members
        pointer = not leads_on and isinstance(types.bare(field.type)[0], Pointer)
        return replace(field, type=Pointer(VOID)) if pointer else field

    return replace(shape, fields=tuple(map(shown, shape.fields)))
