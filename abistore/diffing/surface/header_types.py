"""What public headers show of types and of the insides of classes."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Final, Literal, TypeAlias

import msgspec

from abistore.diffing.reuse import Derived, Summaries
from abistore.diffing.surface.consumers import is_accessible
from abistore.diffing.surface.export_table import OwnTypes, is_weak
from abistore.diffing.types.closed_classes import ClosedClasses, ClosedEnum, outermost, owner_of
from abistore.model.declarations import COPIED, TYPES, Declared, Name
from abistore.model.hints import forbids_use, is_internal_namespace, is_private_node
from abistore.model.names.qualified import last_component, outside, plain_template, scope, without_arguments
from abistore.model.names.symbols import VTABLE, class_symbol, member_prefixes, primary
from abistore.model.shapes import Alias, AnyShape, Enum, Foreign, Function, Named, Opaque, Record, VirtualMethod
from abistore.model.snapshot import FRIENDS, LAYOUTS_IN_CODE, TYPES_IN_BODIES, HeadersRead, Snapshot, Variants
from abistore.model.structure import references
from abistore.model.words import file_name, matcher
from abistore.patterns import pattern

_CLASS: Final = pattern(r"(?<![\w:&(])[A-Za-z_]\w*(?:::[A-Za-z_]\w*)+")
"""A type in a namespace or class. What stands behind ``&`` or ``(`` is an object, a function or a value's type."""


def classes_among_arguments(qualified: str) -> Iterator[str]:
    """``geo::Box`` and ``geo::Walker`` of ``geo::List<geo::Box<geo::Walker>*>::clear``, without their own arguments.

    What is nested in an instance (``geo::Box<int>::Row``) is left out.
    """
    for token, begin, end in outside(qualified):
        if token == "<":
            yield from (match[0] for match in _CLASS.finditer(qualified, begin + 1, end - 1))


class HeaderText(msgspec.Struct, frozen=True):
    """What headers say of one declaration.

    It is ``public`` where a given header declares it, and ``accessible`` unless it is private to a class. ``template``
    is its name where it is a template. ``copied`` and ``defined`` functions are compiled into every program,
    and those of the classes within a template that is ``defined_within``; ``display`` is the name of one that is not
    copied. Inline bodies, and what else programs compile, use further ``members``, ``calls`` and ``types``; they have
    ``objects`` and use the places of ``fields``. A nested class may be ``closed`` to programs; ``owner`` is the class
    of a member.
    """

    public: bool = False
    accessible: bool = True
    template: str = ""
    copied: bool = False
    defined: bool = False
    defined_within: bool = False
    display: str = ""
    closed: bool = False
    owner: Name | None = None
    members: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    objects: tuple[Name, ...] = ()
    fields: tuple[str, ...] = ()


def internal_types(snapshot: Snapshot, read: HeadersRead) -> frozenset[Name]:
    """The types that such headers define, also where debug information has another path of the header."""
    files = internal_files(read)
    places = snapshot.locations.items() if files else ()
    source = snapshot.entries.get("source", {})
    in_build = _BuildPaths(read.files)
    return frozenset(
        name
        for name, place in places
        if name.kind in TYPES
        and (place.file in files or (_is_defined(source.get(name, ())) and in_build.header(place.file) in files))
    )


def _is_defined(shapes: Variants) -> bool:
    """Whether a given header defines a type."""
    is_public = any(isinstance(shape, Declared) for shape in shapes)
    return is_public and any(isinstance(shape, Record | Enum | Alias) for shape in shapes)


class _BuildPaths:
    """Which given header a path of debug information means: ``include/geo/a.h``, or ``a.h`` of a build elsewhere."""

    def __init__(self, headers: Collection[str]) -> None:
        self._called: dict[str, list[str]] = {}
        for each in headers:
            self._called.setdefault(file_name(each), []).append(each)

    def header(self, path: str) -> str | None:
        """The header, of which a definition is known to be in a given one; ``None`` where it may be several."""
        headers = self._called.get(file_name(path), [])
        if path in headers:
            return path
        within = [each for each in headers if path.endswith(f"/{each}")]
        around = [each for each in headers if each.endswith(f"/{path}")]
        return max(within, key=len) if within else around[0] if len(around) == 1 else None


def internal_files(read: HeadersRead) -> frozenset[str]:
    """The given headers in a folder that is called internal (``foo/private/``), as far as no other leads to them."""
    internal = {file for file in read.files if any(map(is_internal_namespace, file.split("/")[:-1]))}
    if not internal or len(internal) == len(read.files):
        return frozenset()
    includes = {each.file: each.includes for each in read.outlines}
    pending = [file for file in read.files if file not in internal]
    while pending:
        come = internal.intersection(includes.get(pending.pop(), ()))
        internal -= come
        pending += come
    return frozenset(internal)


class HeaderTexts(Derived):
    """The public headers of one release, as far as they parsed; ``complete`` tells whether all that they declare did.

    Bodies that did not may use whatever is called as one of their words. From headers that are ``in_c`` programs get no
    function of C++.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._source: Mapping[Name, Variants] = snapshot.entries.get("source", {})
        self._symbols: Mapping[Name, Variants] = snapshot.entries.get("symbol", {})
        self._layout: Mapping[Name, Variants] = snapshot.entries.get("layout", {})
        self.complete = snapshot.evidence_of("source").declares_all
        read = snapshot.provenance.headers
        self.in_c = isinstance(read, HeadersRead) and self.complete and read.language == "c"
        self._facts = read.facts if isinstance(read, HeadersRead) else ()
        self._unread = read.unread if isinstance(read, HeadersRead) else ()
        self._untaken = read.untaken if isinstance(read, HeadersRead) else ()
        self._behind = read.behind if isinstance(read, HeadersRead) else ()
        self._aside = read.aside if isinstance(read, HeadersRead) else None
        self._internal = internal_types(snapshot, read) if isinstance(read, HeadersRead) else frozenset()
        self.texts = Summaries(self._source, self._text)

    def _tells(self, *facts: str) -> bool:
        """Whether all headers parsed, and were asked for what was not always asked for."""
        return self.complete and all(fact in self._facts for fact in facts)

    def _text(self, name: Name) -> HeaderText:
        shapes = self._source.get(name, ())
        found = [shape for shape in shapes if isinstance(shape, Declared)]
        described = next((shape for shape in shapes if not isinstance(shape, Declared)), None)
        if not found:
            return HeaderText()
        text = found[0]
        display = described.display if isinstance(described, Function) else ""
        template = (display or name.spelling) if "template" in text.traits else ""
        copied = text.body is not None or not COPIED.isdisjoint(text.traits) or needs_no_body(described)
        accessible = copied or is_accessible(described)
        compiled = [each for each in (text.body, text.uses if accessible else None) if each is not None]
        return HeaderText(
            public=True,
            accessible=accessible,
            template=template,
            copied=copied,
            defined="defined" in text.traits,
            defined_within="defined_within" in text.traits,
            display="" if copied else display,
            closed=isinstance(described, Record) and described.access != "public",
            owner=owner_of(described),
            members=tuple([member for each in compiled for member in each.members]),
            calls=tuple([call for each in compiled for call in each.calls]),
            types=tuple([type for each in compiled for type in each.types]),
            objects=tuple([type for each in compiled for type in each.objects]),
            fields=tuple([field for each in compiled for field in each.fields]),
        )

    def declares(self, type: Name) -> bool:
        """Whether a given header declares ``type``."""
        return type in self._source and self.texts[type].public

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
    def _templates(self) -> frozenset[str]:
        return frozenset(text.template for text in self.texts.values() if text.template)

    @cached_property
    def _called(self) -> frozenset[str]:
        """What inline bodies use of the library: it is linked by name, whoever declares it."""
        return frozenset(call for text in self.texts.values() for call in text.calls)

    @cached_property
    def _is_unread(self) -> Callable[[str], bool]:
        return matcher(self._unread)

    def is_called(self, symbol: str) -> bool:
        """Whether an inline body uses a symbol, or may."""
        return symbol in self._called or self._is_unread(symbol)

    @cached_property
    def beside(self) -> frozenset[str]:
        """The names in branches of the headers that were not read, and in headers that they include."""
        return frozenset(self._behind).union(*(each.names for each in self._untaken))

    @cached_property
    def offered_by_macro(self) -> frozenset[str]:
        """Those in branches of which headers do not say that they are the library's own: ``#ifdef FOO_INTERNAL``."""
        branches = (each.names for each in self._untaken if not is_private_node(each.condition))
        return frozenset(name for names in branches for name in names)

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


def needs_no_body(shape: object) -> bool:
    """Whether a function is declared ``= default`` or ``= delete``."""
    method = shape.method if isinstance(shape, Function) else None
    return method is not None and (method.defaulted or method.deleted)


Definition: TypeAlias = Literal["public", "included", "hidden", "unmentioned"]
"""Where consumers find the definition of a type: in a public header, in one that a public header includes, or nowhere.

Headers that mention a ``hidden`` type only declare it, or give it a dummy definition.
"""


BODY: Final = frozenset({"constexpr", "defined", "inline"})
"""What is said of functions whose bodies programs see."""


class PublicTypes(HeaderTexts):
    """The types of one release, as its public headers declare and define them."""

    def is_internal(self, type: Name) -> bool:
        """Whether a header defines ``type`` that says to be internal by its folder, and that no other one includes."""
        return type in self._internal

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
                return "hidden" if "dummy" in text.traits or self.is_internal(type) else "public"
            return "public" if self._is_instance(type.spelling) else "included"
        return None

    def is_incomplete(self, type: Name) -> bool:
        """Whether ``type`` is a class of the library's own that headers only declare: all say no more than its name.

        Programs may find what another library's class is made of in a header of that. A dummy definition is one.
        """
        if not self.complete or "<" in type.spelling or self._stated(type) is not None:
            return False
        return self.definition(type) == "hidden" and self._own_types.has(type.spelling)

    def is_unshown(self, type: Name) -> bool:
        """Whether ``type`` is a class of the library's own of which headers show no more than its name.

        Not so where headers mention what they only include, and that stands in the same namespace: so may this.
        """
        if not self.complete or self.definition(type) not in ("hidden", "unmentioned"):
            return False
        if not self._own_types.has(type.spelling) or type.spelling.split("::")[0] in self._included_spaces:
            return False
        members = member_prefixes(class_symbol(VTABLE, type.spelling))
        inside = (f"{type.spelling}::", *members)  # a namespace may be called so
        return not any(name.spelling.startswith(inside) for name in self._source)

    @cached_property
    def _included_spaces(self) -> frozenset[str]:
        """The outermost namespaces, and classes, of types that stand in headers which given ones include."""
        types = (name for name in self._source if name.kind in TYPES and self.definition(name) == "included")
        return frozenset(name.spelling.split("::")[0] for name in types)

    @cached_property
    def _own_types(self) -> OwnTypes:
        return OwnTypes(self._symbols)

    def _is_instance(self, qualified: str) -> bool:
        """Whether ``qualified`` is an instance of a public template, or a member of one."""
        return "<" in qualified and any(each in self._templates for each in templates_in(qualified))

    def _is_nameable(self, qualified: str) -> bool:
        """Whether programs can name ``qualified``, an instance of a public template or a member of one.

        None can where an argument is a class of the library's own that no header declares.
        """
        return self._is_instance(qualified) and not any(map(self._is_unheard_of, classes_among_arguments(qualified)))

    def _is_unheard_of(self, type: str) -> bool:
        """Whether headers say nothing of a class of the library's own, in a namespace of which they declare others.

        What is nested in a public class may be told nowhere: headers do not show what is private.
        """
        if not self.complete or type.split("::")[0] not in self._spaces or not self._own_types.has(type):
            return False
        around = type
        while around:
            if around in self._templates or any(Name(kind, around) in self._source for kind in TYPES):
                return False
            around = scope(around)
        return not any(Name(kind, type) in self._mentioned for kind in TYPES)

    @cached_property
    def _spaces(self) -> frozenset[str]:
        types = (name.spelling for name, text in self.texts.items() if name.kind in TYPES and text.public)
        return frozenset(each.split("::")[0] for each in types if "::" in each)

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
        """What the declarations of the headers name, and instances of those that they leave to the library."""
        declared = ((name, shape) for name, variants in self._source.items() for shape in variants)
        shapes = chain(declared, self._left_to_library())
        return frozenset(each for name, shape in shapes for each, _ in references(shape, name))

    def _left_to_library(self) -> Iterator[tuple[Name, AnyShape]]:
        """The exports that are instances of templates which headers only declare: programs are linked to these."""
        templates = self._left_templates
        for name, shapes in self._layout.items() if templates else ():
            if name.kind == "function" and name in self._symbols:
                for shape in shapes:
                    if isinstance(shape, Function) and "<" in shape.display and _template(shape.display) in templates:
                        yield name, shape

    @cached_property
    def _left_templates(self) -> frozenset[str]:
        """The templates of functions that headers only declare, or name in ``extern template``."""
        return frozenset(
            self.texts[name].template
            for name, shapes in self._source.items()
            if name.kind == "function" and any(map(_is_only_declared, shapes))
        )

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
        if method.pure:
            return False
        if f"{type.spelling}::{method.display}" in self._compiled_elsewhere:
            return True
        text = self._spelled.get(("function", method.symbol)) if method.symbol else None
        return text is not None and not self.texts[text].copied

    @cached_property
    def _compiled_elsewhere(self) -> frozenset[str]:
        return frozenset(text.display for text in self.texts.values() if text.display)


def _is_only_declared(shape: AnyShape) -> bool:
    """Whether it is what a header says of a template that it does not define."""
    return isinstance(shape, Declared) and "template" in shape.traits and BODY.isdisjoint(shape.traits)


def _template(qualified: str) -> str:
    """What an instance is of, without arguments: ``Box::put`` of ``Box<int>::put``."""
    return without_arguments(qualified).replace("<...>", "")


def templates_in(qualified: str) -> Iterator[str]:
    """The templates in a qualified name, without arguments: ``Box`` and ``Box::put`` of ``Box<int>::put<T>``."""
    head, place = "", 0
    for token, begin, end in outside(qualified):
        if token == "<":
            head += qualified[place:begin]
            place = end
            yield head


COMPARISON: Final = re.compile(r"\boperator(?:<=>|==|!=|<|>|<=|>=)$")
"""Operators that compilers write where they are declared ``= default``."""


class PublicClasses(PublicTypes):
    """The classes of one release, and the code that has access to their private members."""

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

        Code that is not known may be. So it is with private enumerations, see :class:`ClosedEnum`.
        """
        if type.kind == "enum":
            return self._is_closed_enum(type)
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

    def _is_closed_enum(self, type: Name) -> bool:
        around = outermost(type, self._source)
        if around is None or not self._tells(FRIENDS, TYPES_IN_BODIES, LAYOUTS_IN_CODE):
            return False
        members = self._within(around)
        if self.definition(around) != "public" or not all(map(self._is_known, members)):
            return False
        inside = f"{around.spelling}::"
        nested = (name for name in self._source if name.spelling.startswith(inside))
        within = {name: self._source[name] for name in (around, *nested, *members)}
        hidden = {each for each in members if not self.texts[each].accessible}
        closed = ClosedEnum(type, within, hidden)
        texts = self.texts.values()
        objects = (each.spelling for text in texts for each in text.objects)
        used = {each for text in texts for each in (*text.members, *text.types, *text.fields)}.union(objects)
        return not closed.is_shown() and not closed.is_used(used)

    @cached_property
    def _closed_classes(self) -> dict[Name, ClosedClasses | None]:
        return {}

    def is_private_instance(self, qualified: str) -> bool:
        """Whether ``qualified`` is an instance of a private member template that no code in the headers can use.

        Headers only declare such a template. Bodies of other templates do not tell all that they call, and a class
        does not tell who its friends are: where either may have access, the instance is as good as a public one.
        """
        if not self._private_templates or not self._tells(FRIENDS, TYPES_IN_BODIES):
            return False
        template = (plain_template(qualified) or ("",))[0]
        if template not in self._private_templates:
            return False
        owner = Name("record", scope(template))
        if owner not in self._written:
            self._written[owner] = self._read_class(owner)
        written = self._written[owner]
        return written is not None and not any(_evaluates(each, last_component(template)) for each in written)

    def _read_class(self, type: Name) -> Sequence[Declared] | None:
        """What headers say of a class and of all in it; ``None`` where code that they do not tell of has access."""
        members = self._within(type)
        known = "<" not in type.spelling and self.definition(type) == "public"
        if not known or any("befriends" in each.traits for each in self._declared(type)):
            return None
        if any(map(self._is_generic, members)):
            return None
        nested = (name for name in self._source if name.spelling.startswith(f"{type.spelling}::"))
        return [each for name in (type, *members, *nested) for each in self._declared(name)]

    @cached_property
    def _written(self) -> dict[Name, Sequence[Declared] | None]:
        return {}

    @cached_property
    def _private_templates(self) -> frozenset[str]:
        """The function templates that are private to their class, and that the headers neither define nor use."""
        names = [name for name, text in self.texts.items() if text.template and name.kind == "function"]
        others = {self.texts[name].template for name in names if self._is_generic(name)}
        return frozenset(self.texts[name].template for name in names) - others

    def _is_generic(self, member: Name) -> bool:
        """Whether it is a template of which programs may compile instances; code in it uses what nobody knows.

        A body that ``extern template`` goes with is not told of; that of a private one matters where it is used.
        """
        template = self.texts[member].template
        if not template or member.kind != "function" or template in self.used_members:
            return bool(template)
        methods = [each.method for each in self._source[member] if isinstance(each, Function)]
        hidden = bool(methods) and all(each is not None and each.access == "private" for each in methods)
        return not hidden or any(not BODY.isdisjoint(each.traits) for each in self._declared(member))

    def _declared(self, name: Name) -> list[Declared]:
        return [shape for shape in self._source[name] if isinstance(shape, Declared)]

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
        found: dict[Name, str] = {}
        for name, shapes in self._source.items():
            owner = next((each for each in map(owner_of, shapes) if each is not None), None)
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


def _evaluates(text: Declared, word: str) -> bool:
    """Whether a declaration has ``word`` in an expression outside bodies, or brings in what is called so."""
    values = [text.value, *(value for _, value in text.expressions), *(each.default for each in text.parameters)]
    return "using" in text.traits or any(value is not None and word in value for value in values)


def is_pure(shapes: Variants) -> bool:
    """Whether it is a virtual function that its class leaves to others."""
    return any(isinstance(each, Function) and each.method and each.method.virtual == "pure" for each in shapes)


def _is_comparison(shapes: Variants) -> bool:
    copied = any(isinstance(each, Declared) and not COPIED.isdisjoint(each.traits) for each in shapes)
    operators = (each for each in shapes if isinstance(each, Function) and COMPARISON.search(each.display))
    return any(copied or needs_no_body(each) for each in operators)


def _has_body(shapes: Variants) -> bool:
    return any(isinstance(each, Declared) and each.body is not None for each in shapes)
