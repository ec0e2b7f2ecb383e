"""What code in the public headers of a release can see of the insides of classes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Final

from abistore.compare.consumers.export_table import is_weak
from abistore.compare.consumers.headers.texts import needs_no_body
from abistore.compare.consumers.headers.types import BODY, PublicTypes
from abistore.compare.types.closed_classes import ClosedClasses, outermost, owner_of
from abistore.compare.types.closed_enums import ClosedEnum
from abistore.model.cpp_names.qualified import last_component, plain_template, scope
from abistore.model.declared import COPIED, Declared
from abistore.model.mangling.symbols import primary
from abistore.model.names import Name
from abistore.model.shapes import Function
from abistore.model.snapshot import FRIENDS, LAYOUTS_IN_CODE, TYPES_IN_BODIES, Variants

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
        """What headers declare in classes, by its qualified name."""
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
    """Whether it is an operator that compares and that programs have compiled in."""
    copied = any(isinstance(each, Declared) and not COPIED.isdisjoint(each.traits) for each in shapes)
    operators = (each for each in shapes if isinstance(each, Function) and COMPARISON.search(each.display))
    return any(copied or needs_no_body(each) for each in operators)


def _has_body(shapes: Variants) -> bool:
    return any(isinstance(each, Declared) and each.body is not None for each in shapes)
