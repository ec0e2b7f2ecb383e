"""Which exports the public headers of a release make public."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from abistore.diffing.surface.compiled import CompiledFunctions, CompiledTypes
from abistore.diffing.surface.consumers import is_accessible, is_for_derived
from abistore.diffing.surface.header_types import PublicClasses
from abistore.diffing.types.sameness import TypeSide
from abistore.model.declarations import TYPES, Declared, Name
from abistore.model.names.qualified import (
    class_behind,
    demangle,
    entity,
    last_component,
    plain_template,
    scope,
    without_arguments,
)
from abistore.model.names.symbols import (
    LOCAL,
    LOCAL_CLASS_DATA,
    OF_CLASS,
    is_mangled,
    made_for,
    may_be_template,
    primary,
)
from abistore.model.shapes import (
    AnyShape,
    Foreign,
    Function,
    Named,
    Opaque,
    Pointer,
    Qualified,
    Record,
    TypeRef,
    Variable,
)
from abistore.model.snapshot import LAYOUTS_IN_CODE, UNTAKEN, Snapshot, Variants
from abistore.model.structure import references
from abistore.model.words import matcher


class Overload(NamedTuple):
    """One function of a set: its symbol, its parameters, and how many of them a call must give."""

    name: Name
    function: Function
    required: int


def overload_sets(declared: Mapping[Name, Variants]) -> Mapping[Name, tuple[Overload, ...]]:
    """The functions that headers declare, by what a program calls them: ``function geo::norm``."""
    found: dict[str, list[Overload]] = {}
    for name, shapes in declared.items():
        function = next((each for each in shapes if isinstance(each, Function)), None)
        text = next((each for each in shapes if isinstance(each, Declared)), None)
        if name.kind != "function" or function is None or text is None or not _is_callable(function):
            continue
        given = [each.default is None for each in text.parameters]
        required = sum(given) if len(given) == len(function.parameters) else len(function.parameters)
        found.setdefault(function.display, []).append(Overload(name, function, required))
    return {Name("function", display): tuple(each) for display, each in found.items()}


def _is_callable(function: Function) -> bool:
    method = function.method
    return method is None or (method.access == "public" and not method.deleted)


Standing: TypeAlias = Literal["public", "private", "undeclared", "unknown"]
"""What headers say of an export: declared, private to its class, not declared, or nothing, since some did not parse."""


class PublicApi(PublicClasses):
    """The exports of one release, as its public headers declare them."""

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__(snapshot)
        self._compiled = CompiledFunctions(snapshot, self.texts)
        self._standings: dict[Name, Standing] = {}
        self.compiled_types = CompiledTypes(self._source, self.texts)

    def standing(self, export: Name) -> Standing:
        """What the headers say of ``export``, which may be what a compiler makes for a class or a function."""
        if export not in self._standings:
            self._standings[export] = self._read_standing(export)
        return self._standings[export]

    def _read_standing(self, export: Name) -> Standing:
        spelling = export.spelling
        if self.is_called(spelling) or self.is_called(primary(spelling)):
            return "public"
        declared = self.declaration(export)
        found = self._declared_standing(export, declared)
        if found == "undeclared" and self._is_offered_by_macro(export):
            return "unknown"
        if found == "unknown" and self._aside is not None and not self._may_be_aside(export):
            return "undeclared"
        if found != "public" or not self._closed or (declared is not None and self.texts[declared].copied):
            return found
        owner = class_behind(spelling) or scope(entity(demangle(spelling)))
        return "private" if Name("record", owner) in self._closed else found

    def proves_private(self, name: Name) -> bool:
        """Whether headers show that no program was compiled with ``name``: they are all that programs include.

        No text of theirs declares an export or defines a type, no code in them uses it, nor does a branch that was not
        read, or a header that they include and that was not given, have its name.
        """
        plain = self._plain_name(name)
        if not self._tells(LAYOUTS_IN_CODE, UNTAKEN) or plain in self.beside:
            return False
        records = (shape for shape in self._layout.get(name, ()) if isinstance(shape, Record))
        if self.compiled_types.may_use(plain, {field.name for record in records for field in record.fields}):
            return False
        if name.kind not in TYPES:
            return self.standing(name) == "undeclared"
        if name in self.compiled_types or self._is_dummy(name):
            return False
        if "<" in name.spelling and self._is_nameable(name.spelling):
            return False
        return self.definition(name) in ("hidden", "unmentioned") and not self.is_internal(name)

    def _is_dummy(self, type: Name) -> bool:
        return any(isinstance(shape, Declared) and "dummy" in shape.traits for shape in self._source.get(type, ()))

    @staticmethod
    def _plain_name(name: Name) -> str:
        spelling = name.spelling
        qualified = entity(demangle(spelling)) if is_mangled(spelling) else spelling
        return last_component(qualified).partition("<")[0].removeprefix("~")

    def _is_offered_by_macro(self, export: Name) -> bool:
        """Whether a branch of the headers that was not read may declare ``export``."""
        return bool(self.offered_by_macro) and self._plain_name(export) in self.offered_by_macro

    def _may_be_aside(self, export: Name) -> bool:
        """Whether a header that did not parse has the name of ``export``, or of its class, or it has none in text."""
        plain = self._plain_name(export)
        if not plain.isidentifier() or class_behind(export.spelling):
            return True
        around = last_component(scope(entity(demangle(export.spelling)))) if is_mangled(export.spelling) else ""
        return self._is_aside(plain) or self._is_aside(around)

    @cached_property
    def _is_aside(self) -> Callable[[str], bool]:
        return matcher(self._aside or ())

    @cached_property
    def _closed(self) -> frozenset[Name]:
        """The nested classes that are private to the class around them, and that no accessible function shows."""
        closed = {name for name in self._source if name.kind == "record" and self.texts[name].closed}
        for name in self._source if closed else ():
            text = self.texts[name]
            if name.kind in ("function", "variable") and text.accessible and text.owner not in closed:
                for shape in self._source[name]:
                    closed.difference_update(each for each, _ in references(shape))
        return frozenset(closed)

    def _declared_standing(self, export: Name, declared: Name | None) -> Standing:
        spelling = export.spelling
        if declared is not None:
            return "public" if self.texts[declared].accessible else "private"
        if not is_mangled(spelling):
            return self._absent
        if spelling.startswith(LOCAL_CLASS_DATA):
            return "undeclared"
        if spelling.startswith(OF_CLASS):
            return self._of_class(class_behind(spelling))
        return self._of_mangled(spelling)

    def declaration(self, export: Name) -> Name | None:
        """The declaration of ``export`` in a public header; ``None`` without one."""
        for spelling in dict.fromkeys((export.spelling, primary(export.spelling))):
            for kind in ("function", "variable"):
                found = self._spelled.get((kind, spelling))
                if found is not None:
                    return found
        return None

    def is_uncallable(self, export: Name, types: TypeSide) -> bool:
        """Whether headers declare ``export``, and it passes by value a class of which they show no definition.

        A call is ill-formed (C++ [expr.call], C17 6.5.2.2). A virtual function is called through its slot: who
        overrides it is not known. A protected constructor may also ask for an object that the library keeps to itself.
        """
        declared = self.declaration(export)
        if declared is None or self.is_called(export.spelling):
            return False
        shape = next((each for each in self._source[declared] if isinstance(each, Function)), None)
        if shape is None or shape.is_virtual:
            return False
        passed = (types.bare(each)[0] for each in (shape.result, *shape.parameters))
        return any(map(self._is_undefined_class, passed)) or self._asks_for_withheld(declared, shape, types)

    def _is_undefined_class(self, type: TypeRef) -> bool:
        return isinstance(type, Named) and type.name.kind == "record" and self.is_incomplete(type.name)

    def _asks_for_withheld(self, declared: Name, shape: Function, types: TypeSide) -> bool:
        """Whether a constructor for derived classes asks for an object of which headers give programs none.

        ``class JobPrivate;`` and ``protected: explicit Job(JobPrivate &data);``: the library's own derived classes use
        it, and programs another constructor.
        """
        if not is_for_derived(shape):
            return False
        text = next((each for each in self._source[declared] if isinstance(each, Declared)), Declared())
        defaults = [each.default for each in text.parameters] or [None] * len(shape.parameters)
        asked = [each for each, default in zip(shape.parameters, defaults, strict=False) if default is None]
        targets = [types.bare(each.target)[0] for each, _ in map(types.bare, asked) if isinstance(each, Pointer)]
        return any(
            isinstance(each, Named) and self._is_undefined_class(each) and not self._is_given(each.name)
            for each in targets
        )

    def _is_given(self, type: Name) -> bool:
        """Whether headers give programs an object of a class or its address, as far as their declarations tell."""
        return type in self._given or any(type.spelling in each for each in self._given_instances)

    @cached_property
    def _given(self) -> frozenset[Name]:
        plain = (found for name, found in self._source.items() if "<" not in name.spelling)
        return frozenset(each for shapes in plain for shape in shapes for each in _gives(shape))

    @cached_property
    def _given_instances(self) -> tuple[str, ...]:
        """The instances of templates that programs get objects of, and that may give them what they hold."""
        instances = (each.spelling for each in self._given if "<" in each.spelling)
        return tuple(each for each in instances if not each.startswith(SOLE_OWNERS))

    def is_compiled_here(self, export: Name) -> bool:
        """Whether public headers declare ``export`` without a body, so that nobody but the library compiles it."""
        declared = self.declaration(export)
        return declared is not None and not self.texts[declared].copied and "<" not in demangle(export.spelling)

    def is_compiled_by_programs(self, export: Name) -> bool:
        """Whether headers define ``export`` for all who include them."""
        return self._compiled.has(export, self.declaration(export))

    def is_instantiated(self, export: Name) -> bool:
        """Whether ``export`` is a member of an instance that headers leave to the library, as the template declares it.

        ``extern template class Box<int>;`` keeps compilers from making members of it, inline ones too.
        """
        if not is_mangled(export.spelling) or class_behind(export.spelling) or self.declaration(export) is not None:
            return False
        subject = entity(demangle(export.spelling))
        instance = scope(subject)
        plain = plain_template(instance)
        if plain is None or not self.declares(Name("record", instance)):
            return False
        return f"{plain[0]}::{last_component(subject)}" in self._templates

    def is_left_to_library(self, export: Name) -> bool:
        """Whether ``export`` is an instance of a function template of which headers show no body, or leave instances.

        No program makes it: it is linked to, as ``extern template int total<int>(int *, int *);`` says.
        """
        if not self._left_templates or not self.complete or not may_be_template(export.spelling):
            return False
        return without_arguments(entity(demangle(export.spelling))).replace("<...>", "") in self._left_templates

    @property
    def _absent(self) -> Standing:
        return "undeclared" if self.complete else "unknown"

    @cached_property
    def _unexported(self) -> frozenset[str]:
        """The names of public functions that the library does not export as the headers spell their symbols."""
        return frozenset(
            text.display for name, text in self.texts.items() if text.display and name not in self._symbols
        )

    def _of_class(self, owner: str) -> Standing:
        """The standing of what is emitted for a class: its own. From one that is not defined, nobody derives."""
        name = Name("record", owner)
        if self.definition(name) == "hidden":
            return self._absent
        included = self.complete and self.definition(name) == "included"
        return "public" if included or self.declares(name) or self._is_nameable(owner) else self._absent

    def _of_mangled(self, symbol: str) -> Standing:
        subject_symbol = made_for(symbol)
        if subject_symbol is not None:
            return self.standing(Name("function", subject_symbol))
        subject = entity(demangle(symbol))
        if self.is_private_instance(subject):
            return "private"
        if self._is_nameable(subject) or subject in self._unexported:
            return "public"
        if symbol.startswith(LOCAL):  # exported for the copies of an inline function to share
            return "public" if "<" not in subject and self._may_be_shared(symbol) else self._absent
        owner = Name("record", scope(subject))
        if self.declares(owner) and self.definition(owner) == "public":
            return "public" if _may_be_implicit(subject, owner.spelling) else "undeclared"
        return self._absent

    def _may_be_shared(self, symbol: str) -> bool:
        """Whether programs may compile the function that the object ``symbol`` is local to, and so have the object too.

        ``Log &Log::shared() { static Log log; return log; }`` in a header is such a function. None is where headers are
        in C, or where the class is the library's and no header shows it.
        """
        function = entity(demangle(symbol))  # the outermost one that the object stands in
        return not self.in_c and not self.is_unshown(Name("record", scope(function)))


def _may_be_implicit(subject: str, owner: str) -> bool:
    """Whether a member function may be one that the compiler makes where nobody declares it."""
    last = last_component(subject)
    return last in (last_component(owner), "operator=") or last.startswith("~")


SOLE_OWNERS: Final = ("std::unique_ptr<", "QScopedPointer<")
"""Templates whose objects delete what they point to: a second owner would delete it again."""


def _gives(shape: AnyShape) -> Iterator[Name]:
    """The types of which programs get objects by a declaration, from its result, its members or a callback.

    A pointer or reference that a function takes asks for an object. What it points to may be filled in.
    """
    match shape:
        case Function() if not is_accessible(shape):
            return
        case Function() if not shape.is_virtual:
            filled = (each for each in shape.parameters if not _asks_for_class(each))
            shape = replace(shape, parameters=tuple(filled), method=None)
        case Record():
            shape = replace(shape, fields=tuple(each for each in shape.fields if each.access != "private"))
        case Variable() if shape.access == "private":
            return
        case Opaque() | Foreign() | Declared():
            return
    yield from (each for each, _ in references(shape))


def _asks_for_class(parameter: TypeRef) -> bool:
    """Whether a parameter is a class, or points to one."""
    while isinstance(parameter, Qualified):
        parameter = parameter.target
    target = parameter.target if isinstance(parameter, Pointer) else parameter
    while isinstance(target, Qualified):
        target = target.target
    return isinstance(target, Named) and target.name.kind == "record" and "<" not in target.name.spelling
