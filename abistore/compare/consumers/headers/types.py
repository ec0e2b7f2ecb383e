"""What the public headers of a release say of types: where programs find what they are made of."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import Final, Literal, TypeAlias

from abistore.compare.consumers.headers.arguments import classes_among_arguments
from abistore.compare.consumers.headers.own_types import OwnTypes
from abistore.compare.consumers.headers.texts import HeaderTexts
from abistore.model.cpp_names.qualified import outside, scope, without_arguments
from abistore.model.declared import Declared
from abistore.model.mangling.symbols import VTABLE, class_symbol, member_prefixes
from abistore.model.names import TYPES, Name
from abistore.model.references import references
from abistore.model.shapes import Alias, AnyShape, Enum, Foreign, Function, Named, Opaque, Record, VirtualMethod

Definition: TypeAlias = Literal["public", "included", "hidden", "unmentioned"]
"""Where consumers find the definition of a type: in a public header, in one that a public header includes, or nowhere.

Headers that mention a ``hidden`` type only declare it, or give it a dummy definition.
"""


BODY: Final = frozenset({"constexpr", "defined", "inline"})
"""What is said of functions whose bodies programs see."""


class PublicTypes(HeaderTexts):
    """The types of one release, as its public headers declare and define them."""

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
        """The outermost namespaces, and classes, in which given headers declare types."""
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
