"""What the public headers of one release declare, and which exports belong to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from typing import Final, Literal, TypeAlias

import msgspec

from abistore.compare.consumers.compiled.functions import CompiledFunctions
from abistore.compare.consumers.consumers import is_accessible
from abistore.compare.consumers.export_table import is_weak
from abistore.compare.reuse.carrying import Summaries, take_on
from abistore.compare.types.closed_classes import ClosedClasses, outermost
from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.emitted import class_behind
from abistore.model.cpp_names.qualified import entity, last_component, outside, plain_template, scope
from abistore.model.declared import Declared
from abistore.model.mangling.symbols import LOCAL, LOCAL_CLASS_DATA, OF_CLASS, is_mangled, made_for, primary
from abistore.model.names import Name
from abistore.model.references import references
from abistore.model.shapes import Alias, Enum, Foreign, Function, Named, Opaque, Record, Variable, VirtualMethod
from abistore.model.snapshot import FRIENDS, TYPES_IN_BODIES, HeadersRead, Snapshot, Variants
from abistore.model.words.forbidding import forbids_use
from abistore.model.words.wildcards import matcher

Standing: TypeAlias = Literal["public", "private", "undeclared", "unknown"]
"""What headers say of an export: declared, private to its class, not declared, or nothing, since some did not parse."""

Definition: TypeAlias = Literal["public", "included", "hidden", "unmentioned"]
"""Where consumers find the definition of a type: in a public header, in one that a public header includes, or nowhere.

Headers that mention a ``hidden`` type only declare it, or give it a dummy definition.
"""

COPIED: Final = frozenset({"constexpr", "inline", "template"})
"""What is said of functions that every program compiles for itself."""

COMPARISON: Final = re.compile(r"\boperator(?:<=>|==|!=|<|>|<=|>=)$")
"""Operators that compilers write where they are declared ``= default``."""


class HeaderText(msgspec.Struct, frozen=True):
    """What headers say of one declaration.

    It is ``public`` where a given header declares it, and ``accessible`` unless it is private to a class. ``template``
    is its name where it is a template. ``copied`` and ``defined`` functions are compiled into every program;
    ``display`` is the name of one that is not copied. Inline bodies use further ``members``, ``calls`` and ``types``. A
    nested class may be ``closed`` to programs; ``owner`` is the class of a member.
    """

    public: bool = False
    accessible: bool = True
    template: str = ""
    copied: bool = False
    defined: bool = False
    display: str = ""
    closed: bool = False
    owner: Name | None = None
    members: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    types: tuple[str, ...] = ()


class PublicApi:
    """The public headers of one release, as far as they parsed; ``complete`` tells whether all that they declare did.

    Bodies that did not may use whatever is called as one of their words.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._source: Mapping[Name, Variants] = snapshot.entries.get("source", {})
        self._symbols: Mapping[Name, Variants] = snapshot.entries.get("symbol", {})
        self._layout: Mapping[Name, Variants] = snapshot.entries.get("layout", {})
        self.complete = snapshot.evidence_of("source").declares_all
        read = snapshot.provenance.headers
        self._facts = read.facts if isinstance(read, HeadersRead) else ()
        self._unread = read.unread if isinstance(read, HeadersRead) else ()
        self.texts = Summaries(self._source, self._text)
        self._compiled = CompiledFunctions(snapshot, self.texts)
        self._standings: dict[Name, Standing] = {}

    def take_on(self, before: PublicApi, changed: Collection[Name]) -> bool:
        """Take what is known of the release before; whether headers say the same."""
        same = self.texts.take_on(before.texts, changed)
        same = same and self._reading == before._reading
        exported = (self._symbols.get(name) == before._symbols.get(name) for name in changed)
        if same and all(exported):
            take_on(self, before)
            # these follow signatures, not texts
            for told in ("_closed", "_closed_classes", "_compares_members", "_mentioned"):
                vars(self).pop(told, None)
        return same

    @property
    def _reading(self) -> tuple[bool, tuple[str, ...], tuple[str, ...]]:
        return self.complete, self._facts, self._unread

    def _text(self, name: Name) -> HeaderText:
        shapes = self._source.get(name, ())
        found = [shape for shape in shapes if isinstance(shape, Declared)]
        described = next((shape for shape in shapes if not isinstance(shape, Declared)), None)
        if not found:
            return HeaderText()
        text = found[0]
        display = described.display if isinstance(described, Function) else ""
        template = (display or name.spelling) if "template" in text.traits else ""
        copied = text.body is not None or not COPIED.isdisjoint(text.traits) or _needs_no_body(described)
        return HeaderText(
            public=True,
            accessible=copied or is_accessible(described),
            template=template,
            copied=copied,
            defined="defined" in text.traits,
            display="" if copied else display,
            closed=isinstance(described, Record) and described.access != "public",
            owner=_owner(described),
            members=text.body.members if text.body else (),
            calls=text.body.calls if text.body else (),
            types=text.body.types if text.body else (),
        )

    # exports

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
        if found != "public" or not self._closed or (declared is not None and self.texts[declared].copied):
            return found
        owner = class_behind(spelling) or scope(entity(demangle(spelling)))
        return "private" if Name("record", owner) in self._closed else found

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

    @property
    def _absent(self) -> Standing:
        return "undeclared" if self.complete else "unknown"

    @cached_property
    def _spelled(self) -> Mapping[tuple[str, str], Name]:
        """Public functions and variables by kind and symbol; a constructor or destructor by its first symbol too."""
        found: dict[tuple[str, str], Name] = {}
        for name in self._source:
            if name.kind in ("function", "variable") and self.texts[name].public:
                found.setdefault((name.kind, name.spelling), name)
                found.setdefault((name.kind, primary(name.spelling)), name)
        return found

    @cached_property
    def _called(self) -> frozenset[str]:
        """What inline bodies use of the library: it is linked by name, whoever declares it."""
        return frozenset(call for text in self.texts.values() for call in text.calls)

    @cached_property
    def _is_unread(self) -> Callable[[str], bool]:
        """Whether bodies that could not be read may use what is called so."""
        return matcher(self._unread)

    def is_called(self, symbol: str) -> bool:
        """Whether an inline body uses a symbol, or may."""
        return symbol in self._called or self._is_unread(symbol)

    @cached_property
    def used_members(self) -> frozenset[str]:
        """The members that inline bodies use although access or names forbid it, qualified."""
        used = {member for text in self.texts.values() for member in text.members}
        return frozenset(used | set(self._perhaps_used()))

    def _perhaps_used(self) -> Iterator[str]:
        """The members whose names forbid to use them, and that bodies which could not be read may use."""
        for name, shapes in self._source.items() if self._unread else ():
            fields = (field.name for shape in shapes if isinstance(shape, Record) for field in shape.fields)
            yield from (f"{name.spelling}::{each}" for each in fields if forbids_use(each) and self._is_unread(each))

    @cached_property
    def _templates(self) -> frozenset[str]:
        return frozenset(text.template for text in self.texts.values() if text.template)

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
        return "public" if included or self.declares(name) or self._is_instance(owner) else self._absent

    def _of_mangled(self, symbol: str) -> Standing:
        subject_symbol = made_for(symbol)
        if subject_symbol is not None:
            return self.standing(Name("function", subject_symbol))
        subject = entity(demangle(symbol))
        if self._is_instance(subject) or subject in self._unexported:
            return "public"
        if symbol.startswith(LOCAL):  # exported for the copies of an inline function to share
            return self._absent if "<" in subject else "public"
        owner = Name("record", scope(subject))
        if self.declares(owner) and self.definition(owner) == "public":
            return "public" if _may_be_implicit(subject, owner.spelling) else "undeclared"
        return self._absent

    def _is_instance(self, qualified: str) -> bool:
        """Whether ``qualified`` is an instance of a public template, or a member of one."""
        return "<" in qualified and any(each in self._templates for each in templates_in(qualified))

    # types

    def definition(self, type: Name) -> Definition:
        """Where consumers find what ``type`` is made of."""
        stated = self._stated(type)
        if stated is not None:
            return stated
        if "<" in type.spelling and self._is_completed(type):
            return "public"
        shapes = self._source.get(type, ())
        return "hidden" if any(isinstance(shape, Opaque) for shape in shapes) else "unmentioned"

    def _stated(self, type: Name) -> Definition | None:
        """What the headers themselves say; ``None`` where they do not tell what ``type`` is made of."""
        shapes = self._source.get(type, ())
        text = next((shape for shape in shapes if isinstance(shape, Declared)), None)
        if text is not None and len(shapes) == 1:  # a template, a using-declaration
            return "public"
        if any(isinstance(shape, Record | Enum | Alias | Foreign) for shape in shapes):
            if text is not None:
                return "hidden" if "dummy" in text.traits else "public"
            return "public" if self._is_instance(type.spelling) else "included"
        return None

    def _is_completed(self, type: Name) -> bool:
        """Whether programs instantiate what headers only name: ``Box<int> *`` for a ``Box`` that they define.

        Headers that use a pointer to it leave it to programs to have it made, for what they can see themselves.
        """
        pending, seen = [type], {type}
        while pending:
            each = pending.pop()
            if each not in self._mentioned or self._defined.isdisjoint(templates_in(each.spelling)):
                return False
            for argument in self._arguments(each):
                stated = self._stated(argument)
                if stated == "hidden":
                    return False
                if stated is None and argument not in seen:
                    seen.add(argument)
                    pending.append(argument)
        return True

    def _arguments(self, instance: Name) -> list[Name]:
        """The types that an instance of a template holds, but for those of other libraries."""
        records = (shape for shape in self._layout.get(instance, ()) if isinstance(shape, Record))
        named = (each.name for record in records for each in record.arguments if isinstance(each, Named))
        return [each for each in named if not any(isinstance(shape, Foreign) for shape in self._layout.get(each, ()))]

    @cached_property
    def _mentioned(self) -> frozenset[Name]:
        """What the declarations of the headers name."""
        shapes = ((name, shape) for name, variants in self._source.items() for shape in variants)
        return frozenset(each for name, shape in shapes for each, _ in references(shape, name))

    @cached_property
    def _defined(self) -> frozenset[str]:
        """The templates of classes that headers define, as far as they have members."""
        return frozenset(scope(name.spelling) for name, text in self.texts.items() if text.template)

    def is_keyless(self, type: Name) -> bool:
        """Whether every unit that needs the vtable of ``type`` emits it (Itanium C++ ABI, section 5.2.3).

        So it is where a public header defines a class in which each virtual function is pure or inline: the class has
        no key function, which one unit alone defines. Instances of templates may be left to one unit in other ways.
        """
        shape = next((shape for shape in self._source.get(type, ()) if isinstance(shape, Record)), None)
        if shape is None or self.definition(type) != "public" or "<" in type.spelling:
            return False
        return not any(self._is_key(type, method) for method in shape.virtuals)

    def _is_key(self, type: Name, method: VirtualMethod) -> bool:
        """Whether some source file defines a virtual function that is not pure."""
        if method.pure:
            return False
        if f"{type.spelling}::{method.display}" in self._compiled_elsewhere:
            return True
        text = self._spelled.get(("function", method.symbol)) if method.symbol else None
        return text is not None and not self.texts[text].copied

    @cached_property
    def _compiled_elsewhere(self) -> frozenset[str]:
        """The names of public functions that headers declare and leave to a source file."""
        return frozenset(text.display for text in self.texts.values() if text.display)

    def can_look_into(self, type: Name, fields: Collection[str]) -> bool:
        """Whether code in the headers may use one of these private ``fields`` of a class.

        So it may where not all of that code is known: of friends, of templates and of headers that are only included.
        Constructors initialise members where these are declared with values.
        """
        if not self._tells(FRIENDS) or self.definition(type) != "public" or "<" in type.spelling:
            return True
        if self._compares_members:
            return True
        texts = (shape for shape in self._source[type] if isinstance(shape, Declared))
        if any("befriends" in each.traits or each.expressions for each in texts) or not all(
            map(self._is_known, self._within(type))
        ):
            return True
        return any(f"{type.spelling}::{field}" in self.used_members for field in fields)

    def is_closed(self, type: Name) -> bool:
        """Whether no program was compiled with what a private nested class is made of, see :class:`ClosedClasses`.

        Code that is not known may be.
        """
        if type.kind != "record" or not self._tells(FRIENDS, TYPES_IN_BODIES) or self.definition(type) != "public":
            return False
        around = outermost(type, self._source)
        if around is None or self.definition(around) != "public":
            return False
        if around not in self._closed_classes:
            members = self._within(around)
            known = all(map(self._is_known, members)) and not any(map(self._is_made_here, members))
            used = self.used_members | {each for text in self.texts.values() for each in text.types}
            found = ClosedClasses(around, members, self._source, used) if known else None
            self._closed_classes[around] = found
        classes = self._closed_classes[around]
        return classes is not None and classes.has(type)

    @cached_property
    def _closed_classes(self) -> dict[Name, ClosedClasses | None]:
        return {}

    def _tells(self, *facts: str) -> bool:
        """Whether all headers parsed, and were asked for what was not always asked for."""
        return self.complete and all(fact in self._facts for fact in facts)

    def _is_made_here(self, member: Name) -> bool:
        """Whether every program has its own copy of a variable, and initialises it at run time."""
        texts = (shape for shape in self._source[member] if isinstance(shape, Declared))
        copied = member.kind == "variable" and self.texts[member].copied
        return copied and any("constant" not in each.traits for each in texts)

    def _within(self, type: Name) -> list[Name]:
        """The functions and variables that are declared in a class, and in the classes in it."""
        inside = f"{type.spelling}::"
        return [name for name in self._owned if self._owned[name].startswith(inside)]

    @cached_property
    def _owned(self) -> Mapping[Name, str]:
        """What headers declare in classes, by its qualified name."""
        found: dict[Name, str] = {}
        for name, shapes in self._source.items():
            owner = next((each for each in map(_owner, shapes) if each is not None), None)
            if owner is not None:
                found[name] = f"{owner.spelling}::"
            elif self.texts[name].template:
                found[name] = name.spelling
        return found

    def _is_known(self, member: Name) -> bool:
        """Whether a member has its body in the headers, or in the library and nowhere else."""
        text = self.texts[member]
        if text.template or text.copied:
            return not text.template
        symbols = self._symbols.get(member) or self._symbols.get(Name(member.kind, primary(member.spelling)))
        return (bool(symbols) and not is_weak(symbols or ())) or is_pure(self._source[member])

    @cached_property
    def _compares_members(self) -> bool:
        """Whether the compiler writes a comparison, which looks at all members of a class."""
        functions = (shapes for name, shapes in self._source.items() if name.kind == "function")
        return any(_is_comparison(shapes) and not _has_body(shapes) for shapes in functions)

    def declares(self, type: Name) -> bool:
        """Whether a given header declares ``type``."""
        return type in self._source and self.texts[type].public


def templates_in(qualified: str) -> Iterator[str]:
    """The templates in a qualified name, without arguments: ``Box`` and ``Box::put`` of ``Box<int>::put<T>``."""
    head, place = "", 0
    for token, begin, end in outside(qualified):
        if token == "<":
            head += qualified[place:begin]
            place = end
            yield head


def is_pure(shapes: Variants) -> bool:
    """Whether it is a virtual function that its class leaves to others."""
    return any(isinstance(each, Function) and each.method and each.method.virtual == "pure" for each in shapes)


def _is_comparison(shapes: Variants) -> bool:
    """Whether it is an operator that compares and that programs have compiled in."""
    copied = any(isinstance(each, Declared) and not COPIED.isdisjoint(each.traits) for each in shapes)
    operators = (each for each in shapes if isinstance(each, Function) and COMPARISON.search(each.display))
    return any(copied or _needs_no_body(each) for each in operators)


def _has_body(shapes: Variants) -> bool:
    return any(isinstance(each, Declared) and each.body is not None for each in shapes)


def _owner(shape: object) -> Name | None:
    if isinstance(shape, Function):
        return shape.method.owner if shape.method else None
    return shape.owner if isinstance(shape, Variable) else None


def _needs_no_body(shape: object) -> bool:
    """Whether a function is declared ``= default`` or ``= delete``."""
    method = shape.method if isinstance(shape, Function) else None
    return method is not None and (method.defaulted or method.deleted)


def _may_be_implicit(subject: str, owner: str) -> bool:
    """Whether a member function may be one that the compiler makes where nobody declares it."""
    last = last_component(subject)
    return last in (last_component(owner), "operator=") or last.startswith("~")
