"""Template instances by their complete names, and classes that units declare with some members only.

Clang leaves template arguments out (``-gsimple-template-names``) or spells enumerators by name, and GCC does not number
closures: the entries of arguments and enumerations complete the names.

A class with a vtable is described where that is emitted (GCC), or where its constructors are (Clang). Other units
declare it with the members that they define or call; they know its definition, so it is no handle.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from abistore.extract.dwarf import encoding as dw
from abistore.extract.dwarf.encoding import MALFORMED, Attributes
from abistore.extract.dwarf.names import CPP, ordinal_of, split
from abistore.extract.dwarf.records import TEMPLATE_PARAMETERS, RecordMembers, TypeSource, fit, read_enum
from abistore.extract.dwarf.types import MAX_DEPTH, SORTS, TRANSPARENT, TypeReferences
from abistore.extract.dwarf.walk import Die, children, name_at, parts, tagged
from abistore.model.declarations import Name
from abistore.model.names.qualified import CLOSURE, normal_name, number_closure
from abistore.model.names.spelling import spell
from abistore.model.shapes import (
    Alias,
    AnyShape,
    Function,
    Named,
    Opaque,
    Primitive,
    Record,
    TypeRef,
    Variable,
    VirtualMethod,
)
from abistore.model.structure import embedded

if TYPE_CHECKING:
    from abistore.extract.dwarf.info import DebugInfo
    from abistore.extract.dwarf.names import Spellings
    from abistore.model.shapes import Sort

ARGUMENT: Final = re.compile(r"(?<=[<,])\s?((?:\w+::)*\w+)(?=[,>])")
"""A template argument that may be an enumerator."""


class EnumeratorSpellings:
    """Gives ``(geo::Color)1`` for ``geo::Color::red``, and nothing for whatever is no known enumerator."""

    def __init__(self, types: TypeSource) -> None:
        self._types = types
        self._known: dict[str, str | None] = {}

    def within(self, name: str) -> bool:
        """Whether an enumerator is among the template arguments in ``name``."""
        return any(self.value(text) is not None for text in ARGUMENT.findall(name))

    def value(self, text: str) -> str | None:
        """What stands for the enumerator ``text``; ``None`` where it is none that is known."""
        if text not in self._known:
            self._known[text] = self._value(text) if text.replace("::", "").isidentifier() else None
        return self._known[text]

    def _value(self, text: str) -> str | None:
        """The value that stands for the enumerator ``text``, cast to its type."""
        scope, _, name = text.rpartition("::")
        for holder in self._named(scope) if scope else ():
            if self._types.info.die(holder)[1].tag == dw.TAG_ENUMERATION_TYPE:
                enums = [holder]
            else:
                enums = [part for part, tag, _ in self._inside(holder) if tag == dw.TAG_ENUMERATION_TYPE]
            for enum in enums:
                if (value := self._of(enum).get(name)) is not None:
                    return value
        return self._unscoped.get(text)

    def _named(self, spelling: str) -> Iterator[int]:
        """The classes and enumerations of this qualified name, at namespace scope or in a class."""
        types = self._types
        outer, _, last = spelling.rpartition("::")
        for handle in types.info.definitions(last):
            if types.spellings.of(handle, types.info.attributes(handle)) == spelling:
                yield handle
        for holder in self._named(outer) if outer else ():
            for part, _, attributes in self._inside(holder):
                named = attributes.get(dw.AT_NAME) == last and dw.AT_DECLARATION not in attributes
                if named:
                    yield part

    def _inside(self, holder: int) -> Iterator[tuple[int, int, Attributes]]:
        """The classes and enumerations in a class, as :func:`parts` gives them, or from units of their own."""
        info = self._types.info
        for part, tag, attributes in parts(info.die(holder), dw.COMPOSITE_TAGS):
            signature: int = attributes.get(dw.AT_SIGNATURE, -1)
            yield (part, tag, attributes) if signature < 0 else (signature, tag, info.attributes(signature))

    def _of(self, handle: int) -> dict[str, str]:
        """The enumerators of an enumeration with their values; empty for one without a name."""
        types = self._types
        die = types.info.die(handle)
        type = types.spellings.of(handle, die[3])
        return {each.name: f"({type}){each.value}" for each in read_enum(types, die).enumerators} if type else {}

    @cached_property
    def _unscoped(self) -> dict[str, str]:
        """The enumerators at namespace scope that are used without the name of their enumeration."""
        types, found = self._types, dict[str, str]()
        types.info.definitions("")  # every unit has its classes listed once it is asked for one
        for unit in types.info.units:
            for start in unit.classes if unit.is_scanned else ():
                if unit.at(start)[0].tag == dw.TAG_ENUMERATION_TYPE:
                    handle = unit.base + start
                    if dw.AT_ENUM_CLASS not in types.info.attributes(handle):
                        for name, value in self._of(handle).items():
                            found.setdefault(types.spellings.qualify(handle, name), value)
        return found


FORMAL_PARAMETERS: Final = frozenset({dw.TAG_FORMAL_PARAMETER})
NAMED_TAGS: Final = frozenset(SORTS)
LOOKED_THROUGH: Final = TRANSPARENT | {
    dw.TAG_POINTER_TYPE,
    dw.TAG_REFERENCE_TYPE,
    dw.TAG_RVALUE_REFERENCE_TYPE,
    dw.TAG_ARRAY_TYPE,
}


class CanonicalTypes(TypeReferences):
    """Types as template arguments spell them: through aliases, and without entering what they mention."""

    def __init__(self, info: DebugInfo, spellings: Spellings) -> None:
        super().__init__(info, TemplateInstances, runtime=False)
        self.spellings = spellings

    def define(self, spelling: str, handle: int, die: Die) -> TypeRef:
        """The mention of the record or enum ``spelling``."""
        return self.references.named("enum" if die[1].tag == dw.TAG_ENUMERATION_TYPE else "record", spelling)

    def _alias(self, handle: int, die: Die) -> TypeRef:
        return self.anonymous.named_by(handle, die[3]) or self.of(die[3])


class TemplateInstances:
    """Completes the names of classes and functions by their template arguments, each once.

    A name that needs nothing is remembered as text: other units repeat it.
    """

    def __init__(self, info: DebugInfo, spellings: Spellings) -> None:
        self._info = info
        self._spellings = spellings
        self._types = CanonicalTypes(info, spellings)
        self._known: dict[int, str] = {}
        self._settled: dict[str, str] = {}
        self._enumerators = EnumeratorSpellings(self._types)

    def name(self, handle: int, name: str, *, by_clang: bool) -> str:
        """The unqualified normal name of the entry ``handle`` that is spelled ``name``, with all its arguments."""
        found = self._settled.get(name) or self._known.get(handle)
        if found is None:
            plain = self._spellings.normal(name)
            self._known[handle] = plain  # a class among its own arguments ends here
            found = self._known[handle] = self._completed(handle, plain, by_clang)
            if found == plain and "<" in plain and CLOSURE not in plain:
                self._settled[name] = plain
        return found

    def _completed(self, handle: int, name: str, by_clang: bool) -> str:
        if CLOSURE in name:
            return self._with_closures(name, self._info.die(handle))
        if not by_clang:
            return name
        if "<" not in name:
            return self._from_arguments(name, self._info.die(handle))
        return normal_name(name, self._enumerators.value) if self._enumerators.within(name) else name

    # --- closures -------------------------------------------------------------------------------------------------

    def _with_closures(self, name: str, die: Die) -> str:
        """``name`` with the numbers of the closures in its arguments; unchanged where its entries do not match."""
        written = split(name)
        if written is None:
            return name
        head, arguments = written
        entries = list(self._arguments(die))
        if len(entries) != len(arguments):
            return name
        return f"{head}<{', '.join(map(self._argument, arguments, entries))}>"

    def _argument(self, text: str, entry: Die) -> str:
        is_type = entry[1].tag == dw.TAG_TEMPLATE_TYPE_PARAMETER
        return self._type_argument(text, entry[3]) if is_type and CLOSURE in text else text

    def _type_argument(self, text: str, attributes: Attributes) -> str:
        """``text`` with the complete names of all classes that the type mentions."""
        position = 0
        mentioned = list(self._mentioned(attributes))
        for handle in mentioned:
            entry = self._info.attributes(handle)
            plain, full = self._plain(handle, entry), self._spellings.of(handle, entry)
            if full is None or plain is None:
                ordinal = ordinal_of(self._info, handle) if len(mentioned) == 1 else None
                return text if ordinal is None else number_closure(text, ordinal)
            at = text.find(plain, position)
            if at >= 0:
                text = f"{text[:at]}{full}{text[at + len(plain) :]}"
                position = at + len(full)
        return text

    def _mentioned(self, attributes: Attributes, depth: int = 0) -> Iterator[int]:
        """The records and enums that an entry's type is made of, in the order in which it is spelled."""
        handle: int = attributes.get(dw.AT_TYPE, -1)
        if handle < 0 or depth > MAX_DEPTH:
            return
        die = self._info.die(handle)
        tag, inner = die[1].tag, die[3]
        if tag in NAMED_TAGS:
            signature: int = inner.get(dw.AT_SIGNATURE, handle)
            if signature >= 0:
                yield signature
        elif tag in LOOKED_THROUGH:
            yield from self._mentioned(inner, depth + 1)
        elif tag == dw.TAG_SUBROUTINE_TYPE:
            yield from self._mentioned(inner, depth + 1)
            yield from self._of_parameters(die, depth)
        elif tag == dw.TAG_PTR_TO_MEMBER_TYPE:
            owner = {dw.AT_TYPE: inner.get(dw.AT_CONTAINING_TYPE, -1)}
            target = self._info.die(inner[dw.AT_TYPE]) if inner.get(dw.AT_TYPE, -1) >= 0 else die
            function = target[1].tag == dw.TAG_SUBROUTINE_TYPE
            yield from self._mentioned(target[3] if function else inner, depth + 1)
            yield from self._mentioned(owner, depth + 1)
            if function:
                yield from self._of_parameters(target, depth)

    def _of_parameters(self, function: Die, depth: int) -> Iterator[int]:
        for _, _, part in parts(function, FORMAL_PARAMETERS):
            if dw.AT_ARTIFICIAL not in part:
                yield from self._mentioned(part, depth + 1)

    def _plain(self, handle: int, attributes: Attributes) -> str | None:
        """The qualified name of a class as names that mention it spell it; ``None`` where it has no name."""
        name = attributes.get(dw.AT_NAME)
        if name is None:
            return None
        found: str = self._spellings.normal(name)
        scope = self._info.scope(handle)
        if scope and isinstance(scope[-1], int):
            outer = self._plain(scope[-1], self._info.attributes(scope[-1]))
            return None if outer is None else f"{outer}::{found}"
        return f"{self._spellings.spell(scope)}::{found}" if scope else found

    # --- names without arguments ----------------------------------------------------------------------------------

    def _from_arguments(self, name: str, die: Die) -> str:
        """``name`` with the arguments that its entry has; unchanged where it has none or one has no spelling."""
        if not self._is_simplified(name, die):
            return name
        arguments = [self._spelled(entry) for entry in self._arguments(die)]
        if None in arguments:
            return name
        return self._spellings.normal(f"{name}<{', '.join(map(str, arguments))}>")

    def _is_simplified(self, name: str, die: Die) -> bool:
        """Whether an entry with a plain name is a template's instance: Clang puts a class's arguments first."""
        unit, abbreviation, position, attributes = die
        if not abbreviation.has_children:
            return False
        if abbreviation.tag in dw.RECORD_TAGS:
            return unit.at(position)[0].tag in TEMPLATE_PARAMETERS
        return abbreviation.tag == dw.TAG_SUBPROGRAM and f"{name}I" in attributes.get(dw.AT_LINKAGE_NAME, "")

    def _spelled(self, entry: Die) -> str | None:
        """A template argument in normal form; ``None`` where its entry does not tell it."""
        attributes = entry[3]
        match entry[1].tag:
            case dw.TAG_TEMPLATE_TYPE_PARAMETER:
                return spell(self._types.of(attributes))
            case dw.TAG_TEMPLATE_VALUE_PARAMETER:
                return self._value(entry)
        name = attributes.get(dw.AT_GNU_TEMPLATE_NAME)
        return None if name is None else normal_name(name)

    # --- arguments ------------------------------------------------------------------------------------------------

    def _arguments(self, die: Die) -> Iterator[Die]:
        """The entries of the template arguments, those in packs one by one."""
        unit, abbreviation, position, _ = die
        if abbreviation.has_children:
            for _, child, after in tagged(unit, position, TEMPLATE_PARAMETERS):
                end, attributes = child.decode(unit.data, after, unit)
                entry = unit, child, end, attributes
                if child.tag == dw.TAG_GNU_TEMPLATE_PARAMETER_PACK:
                    yield from self._arguments(entry)
                else:
                    yield entry

    def _value(self, entry: Die) -> str | None:
        """An integer or enumerator; ``None`` for any other value."""
        unit, _, _, attributes = entry
        value: Any = attributes.get(dw.AT_CONST_VALUE)
        of = self._types.of(attributes)
        if isinstance(value, bytes):
            value = int.from_bytes(value, unit.order)
        if type(value) is not int or not isinstance(of, Named | Primitive):
            return None
        value = fit(value, 8 * self._types.byte_size(attributes), self._types.is_signed(attributes))
        return normal_name(f"T<({spell(of)}){value}>")[2:-1]


class ShownMembers:
    """Reads the members that declarations of classes have, in all units that were scanned."""

    def __init__(self, types: TypeReferences) -> None:
        self._types = types

    def shape(self, name: Name, sort: Sort, handle: int) -> Opaque:
        """The class ``name``, which ``handle`` declares and no unit describes."""
        defined = False
        virtuals: dict[tuple[str, str], VirtualMethod] = {}
        plain = self._types.info.attributes(handle).get(dw.AT_NAME, "")
        for each in dict.fromkeys((handle, *self._index.get(plain, ()))):
            try:
                die = self._types.info.die(each)
                if self._shows(each, die, name):
                    defined = defined or _is_known(die)
                    for method in RecordMembers(self._types, die).read_virtuals():
                        virtuals.setdefault((method.display, method.symbol), method)
            except MALFORMED:  # the scan of this unit has recorded what is wrong with it
                continue
        return Opaque(sort, defined, tuple(sorted(virtuals.values(), key=_place)))

    def _shows(self, handle: int, die: Die, name: Name) -> bool:
        """Whether an entry declares the class ``name`` in C++ and has members."""
        unit, abbreviation, _, attributes = die
        shows = abbreviation.has_children and dw.AT_SIGNATURE not in attributes
        return shows and unit.language in CPP and self._types.spellings.of(handle, attributes) == name.spelling

    @cached_property
    def _index(self) -> Mapping[str, list[int]]:
        found: dict[str, list[int]] = {}
        for unit in self._types.info.units:
            for start in unit.containers if unit.is_scanned and unit.language in CPP else ():
                abbreviation, position = unit.at(start)
                if abbreviation.is_declaration and abbreviation.tag in dw.RECORD_TAGS:
                    found.setdefault(name_at(unit, abbreviation, position), []).append(unit.base + start)
        return found


def _is_known(die: Die) -> bool:
    """Whether a unit knows the definition of a class that it declares.

    GCC lists template arguments of complete instances only; Clang may list those of any.
    """
    unit, _, position, _ = die
    by_gcc = (unit.producer or "").startswith("GNU")
    return any(by_gcc or child.tag not in TEMPLATE_PARAMETERS for _, child, _ in children(unit, position))


def _place(method: VirtualMethod) -> tuple[bool, int, str, str]:
    return method.slot is None, method.slot or 0, method.display, method.symbol


def needed_whole(entries: Mapping[Name, Sequence[AnyShape]]) -> set[Name]:
    """The types of objects: of members, bases, variables, parameters and results. Units that have these know them."""
    found: set[Name] = set()
    pending = [name for shapes in entries.values() for shape in shapes for name in _objects(shape)]
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += (each for shape in entries.get(name, ()) if isinstance(shape, Alias) for each in embedded(shape))
    return found


def _objects(shape: AnyShape) -> Iterable[Name]:
    match shape:
        case Record() | Variable():
            return embedded(shape)
        case Function():
            return (each.name for each in (shape.result, *shape.parameters) if isinstance(each, Named))
        case _:
            return ()
