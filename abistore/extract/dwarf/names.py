"""The qualified names of entries, spelled as every compiler would spell them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from operator import is_
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

import msgspec

from abistore.extract.dwarf import encoding as dw
from abistore.extract.dwarf.walk import parts
from abistore.model.declarations import Name
from abistore.model.names.qualified import normal_name, plain_template, qualified
from abistore.model.names.symbols import BUILTIN_WORDS, INTEGERS, enclosing_functions
from abistore.model.shapes import Alias, AnyShape, Named, Qualified, TypeRef
from abistore.model.structure import mentioned, with_types
from abistore.patterns import pattern

if TYPE_CHECKING:
    from abistore.extract.dwarf.encoding import Attributes
    from abistore.extract.dwarf.info import DebugInfo
    from abistore.extract.dwarf.units import Unit
    from abistore.extract.dwarf.walk import Scope


class TemplateNames:
    """Gives what :func:`normal_name` gives for names as debug information spells them, and remembers their parts."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._arguments: dict[str, str] = {}

    def normal(self, name: str) -> str:
        """The normal form of an unqualified or qualified name."""
        found = self._names.get(name)
        if found is None:
            parts = split(name) if name[-1:] == ">" else None
            found = normal_name(name) if parts is None else self._join(*parts)
            self._names[name] = self._names[found] = found
        return found

    def _join(self, head: str, arguments: list[str]) -> str:
        return f"{head}<{', '.join([self._argument(argument) for argument in arguments])}>"

    def _argument(self, text: str) -> str:
        found = self._arguments.get(text)
        if found is None:
            parts = split(text) if text[-1:] == ">" else None
            # An argument that is no plain template is read in its place, not as a name: it may be a type or a value.
            found = normal_name(f"T<{text}>")[2:-1] if parts is None else self._join(*parts)
            self._arguments[text] = found
        return found


def split(text: str) -> tuple[str, list[str]] | None:
    """The name and the arguments of a plain template whose own name is in normal form."""
    found = plain_template(text)
    return found if found is not None and _is_plain(found[0]) else None


def _is_plain(head: str) -> bool:
    return head.replace("::", "").isidentifier() and normal_name(head) == head


SOURCE_NAME: Final = pattern(r"[1-9][0-9]{0,3}")
ANONYMOUS_NAMESPACE: Final = "(anonymous namespace)"
C: Final = frozenset({0x01, 0x02, 0x0C, 0x1D, 0x2C, 0x3E})
"""DW_LANG_C89, C, C99, C11, C17 and C23."""

CPP: Final = frozenset({0x04, 0x19, 0x1A, 0x21, 0x2A, 0x2B, 0x3A})
"""DW_LANG_C_plus_plus, and its standards of 2003, 2011, 2014, 2017, 2020 and 2023."""
ARGUMENT_LISTS: Final = {"typedef __va_list_tag __va_list_tag": "__va_list_tag", "std::__va_list": "__va_list"}
"""What g++ calls the record behind ``va_list``, and Clang on Arm, by what C calls it."""

Completion: TypeAlias = "Callable[[DebugInfo, Spellings], NameCompleter]"
"""Makes what completes the names of one debug file."""


class NameCompleter(Protocol):
    """Completes the names of template instances whose spelling does not tell all arguments."""

    def name(self, handle: int, name: str, *, by_clang: bool) -> str:
        """The unqualified normal name of the entry ``handle`` that is spelled ``name``, with all its arguments."""


class Spellings:
    """Names of DIEs by their scope: namespaces, classes, and functions as their name and ``()``.

    ``unnamed`` spells a class without a name of its own that is a scope of others; ``completion`` is called where a
    name lacks template arguments.
    """

    def __init__(self, info: DebugInfo, unnamed: Callable[[int], str], completion: Completion) -> None:
        self._info = info
        self._completion = completion
        self._unnamed = unnamed
        self._templates = TemplateNames()
        self._scopes: dict[Scope, str] = {(): ""}
        self._parts: dict[int, str] = {}
        self._clang: dict[int, bool] = {}

    def of(self, handle: int, attributes: dict[int, Any]) -> str | None:
        """The qualified name of ``handle``; ``None`` where it has no name, or an empty one, as damage makes it."""
        specification = attributes.get(dw.AT_SPECIFICATION, -1)
        if specification >= 0:  # GCC repeats the name in type units, where only the declaration has a scope
            return self.of(specification, self._info.die(specification)[3])
        name = attributes.get(dw.AT_NAME)
        if not name:
            signature = attributes.get(dw.AT_SIGNATURE, handle)
            if signature not in (handle, -1):  # Clang names an enclosing class only in the type unit of its own
                return self.of(signature, self._info.die(signature)[3])
            name = last_source_name(attributes.get(dw.AT_LINKAGE_NAME, ""))
            return self.qualify(handle, name) if name else None
        found = self.qualify(handle, self.complete(handle, name))
        return ARGUMENT_LISTS.get(found, found) or None

    def complete(self, handle: int, name: str) -> str:
        """The name of ``handle`` that is spelled ``name``, with template arguments that the spelling does not tell."""
        by_clang = self._by_clang(handle)
        return self._instances.name(handle, name, by_clang=by_clang) if by_clang or "<lambda(" in name else name

    def _by_clang(self, handle: int) -> bool:
        """Whether Clang made a C++ unit; type units do not tell their producer."""
        unit = self._info.unit(handle)
        found = self._clang.get(unit.handle)
        if found is None:
            unit.load()
            clang = unit.producer is None or "clang" in unit.producer
            found = self._clang[unit.handle] = clang and unit.language in CPP
        return found

    @cached_property
    def _instances(self) -> NameCompleter:
        return self._completion(self._info, self)  # few libraries need it

    def normal(self, name: str) -> str:
        """The normal form of an unqualified name."""
        return name if name.isidentifier() else self._templates.normal(name)

    def qualify(self, handle: int, name: str) -> str:
        """``name`` in the scope of ``handle``."""
        return self.join(self._info.scope(handle), name)

    def join(self, scope: Scope, name: str) -> str:
        """``name`` in ``scope``."""
        if not name.isidentifier():
            name = self._templates.normal(name)
        return f"{self.spell(scope)}::{name}" if scope else name

    def spell(self, scope: Scope) -> str:
        """The qualified name of a scope; empty for the outermost."""
        found = self._scopes.get(scope)
        if found is None:
            last = scope[-1]
            found = self._part(last) if isinstance(last, int) else self.join(scope[:-1], last or ANONYMOUS_NAMESPACE)
            self._scopes[scope] = found
        return found

    def _part(self, handle: int) -> str:
        """The qualified name of a class or function that is a scope."""
        found = self._parts.get(handle)
        if found is None:
            _, abbreviation, _, attributes = self._info.die(handle)
            while dw.AT_NAME not in attributes and attributes.get(dw.AT_ABSTRACT_ORIGIN, -1) >= 0:
                handle = attributes[dw.AT_ABSTRACT_ORIGIN]
                attributes = self._info.die(handle)[3]
            spelling = self.of(handle, attributes)
            if spelling is None:
                spelling = self._unnamed(handle)
            found = self._parts[handle] = f"{spelling}()" if abbreviation.tag == dw.TAG_SUBPROGRAM else spelling
        return found


def last_source_name(mangled: str) -> str:
    """The last ``<source-name>`` of a mangled type name, empty where there is none (Itanium C++ ABI, 5.1.2).

    GCC writes the mangled name on a class that only a typedef names, and drops a typedef that nobody mentions.
    """
    end = mangled.removesuffix("E")
    for match in SOURCE_NAME.finditer(end):
        if match.end() + int(match[0]) == len(end):
            return end[match.end() :]
    return ""


COMPLEX_PARTS: Final = {8: "float", 16: "double"}
ENDIANITIES: Final = {1: "big-endian", 2: "little-endian"}
KNOWN: Final = BUILTIN_WORDS | INTEGERS.keys() | {"half"}
BY_ENCODING: Final = {
    (0x02, 1): "bool",
    (0x04, 4): "float",
    (0x04, 8): "double",
    (0x05, 2): "short",
    (0x05, 4): "int",
    (0x05, 8): "long",
    (0x06, 1): "char",
    (0x07, 2): "unsigned short",
    (0x07, 4): "unsigned int",
    (0x07, 8): "unsigned long",
    (0x08, 1): "unsigned char",
}
"""The usual built-in type of an encoding and a size in bytes (DWARF 5, 7.8)."""


def spelling_of_base(unit: Unit, attributes: Attributes) -> str:
    """The spelling of a DW_TAG_base_type.

    In C++, g++ gives some built-in types the name of a typedef that a template declares for them, mostly ``type``.
    """
    spelling: str = attributes.get(dw.AT_NAME, "unnamed base type")
    size = attributes.get(dw.AT_BYTE_SIZE, 0)
    if spelling == "complex":  # clang, for all of them
        spelling = f"_Complex {COMPLEX_PARTS.get(size, 'long double')}"
    elif spelling not in KNOWN and spelling.isidentifier() and spelling[0] != "_" and _by_gcc_from_cpp(unit):
        spelling = BY_ENCODING.get((attributes.get(dw.AT_ENCODING, 0), size), spelling)
    if dw.AT_ENDIANITY in attributes:
        spelling = f"{spelling} {ENDIANITIES.get(attributes[dw.AT_ENDIANITY], 'foreign-endian')}"
    return spelling


def _by_gcc_from_cpp(unit: Unit) -> bool:
    return unit.language in CPP and (unit.producer or "").startswith("GNU")


DESTROYED: Final = pattern(r"E(\d*)_D[0-5]Ev$")
MEMBER: Final = pattern(r"E(\d*)_(?:C[0-5]E|cl[EI])")
"""After a closure's parameters: its number, and what of its members is named."""
METHODS: Final = frozenset({dw.TAG_SUBPROGRAM})


def ordinal_of(info: DebugInfo, handle: int) -> int | None:
    """The number, from 1, of the closure ``handle`` among those of its scope with the same parameters.

    ``None`` for what is no closure, and for one without linkage.
    """
    found = None
    for _, _, attributes in parts(info.die(handle), METHODS):
        symbol = attributes.get(dw.AT_LINKAGE_NAME)
        if symbol is not None and "Ul" in symbol:
            if match := DESTROYED.search(symbol):
                return _ordinal(match[1])
            found = found or _of_member(symbol)
    return found


def _of_member(symbol: str) -> int | None:
    """By a member whose parameters or template arguments may mention closures too, behind its own.

    Each enclosing closure stands before it with its call operator; each enclosing function begins with a ``Z``.
    """
    numbers = MEMBER.findall(symbol)
    enclosing = max(0, enclosing_functions(symbol) - 1)
    return _ordinal(numbers[min(enclosing, len(numbers) - 1)]) if numbers else None


def _ordinal(number: str) -> int:
    """``Ul...E_`` is the first closure, ``Ul...E0_`` the second."""
    return int(number) + 2 if number else 1


class AliasMeaning(msgspec.Struct, frozen=True):
    """One meaning of an alias: its mention, what it stands for, and where it is declared.

    The first meaning is mentioned by the alias's own name, further ones by names that no source can hold.
    """

    mention: Named
    target: TypeRef
    place: tuple[str, int]


Meanings: TypeAlias = dict[Name, list[AliasMeaning]]


def meaning_of(alias: Named, target: TypeRef, place: tuple[str, int], meanings: Meanings) -> AliasMeaning:
    """The meaning of one use of ``alias``, one that is known or another."""
    known = meanings.setdefault(alias.name, [])
    for meaning in known:
        if meaning.target is target or meaning.target == target:
            return meaning
    if known:
        alias = Named(Name("alias", f"{alias.name.spelling}\0{len(known)}"))
    known.append(AliasMeaning(alias, target, place))
    return known[-1]


def resolve_alias_templates(entries: dict[Name, list[AnyShape]], aliases: Meanings) -> None:
    """Enters the aliases; puts their targets in place of those that one declaration gives several meanings.

    A name with several declarations keeps its meanings as variants.
    """
    targets: dict[Name, TypeRef] = {}
    for name, meanings in aliases.items():
        if len({meaning.place for meaning in meanings}) == 1 < len(meanings):
            targets.update((meaning.mention.name, meaning.target) for meaning in meanings)
        else:
            targets.update((meaning.mention.name, meanings[0].mention) for meaning in meanings[1:])
            entries[name] = [Alias(meaning.target) for meaning in meanings]
    if targets:
        resolved = _Resolved(targets)
        for name, shapes in entries.items():
            if not all(map(resolved.keeps, shapes)):
                entries[name] = distinct(map(resolved.shape, shapes))


def distinct(shapes: Iterable[AnyShape]) -> list[AnyShape]:
    """``shapes`` without repetitions."""
    found: list[AnyShape] = []
    for shape in shapes:
        if shape not in found:
            found.append(shape)
    return found


class _Resolved:
    """Rewrites types, each once. ``targets`` says what stands in place of the mentions of these names."""

    def __init__(self, targets: dict[Name, TypeRef]) -> None:
        self._targets = targets
        self._known: dict[int, tuple[TypeRef, TypeRef]] = {}
        self._kept: set[int] = set()

    def keeps(self, shape: AnyShape) -> bool:
        """Whether ``shape`` mentions nothing that is replaced: most do, and the types of most were seen before."""
        types = mentioned(shape)
        return self._kept.issuperset(map(id, types)) or all(map(is_, map(self.of, types), types))

    def shape(self, shape: AnyShape) -> AnyShape:
        """``shape`` with targets in place of mentions; the same object, and looked at no further, without any."""
        return shape if self.keeps(shape) else with_types(shape, self.of)

    def of(self, type: TypeRef) -> TypeRef:
        """``type`` with targets in place of mentions; the same object where it mentions none."""
        known = self._known.get(id(type))
        if known is None:
            self._known[id(type)] = type, type  # what mentions itself through an alias ends here
            known = self._known[id(type)] = type, self._rewritten(type)
            if known[1] is type:
                self._kept.add(id(type))
        return known[1]

    def _rewritten(self, type: TypeRef) -> TypeRef:
        if isinstance(type, Named):
            target = self._targets.get(type.name)
            return type if target is None else self.of(target)
        found = with_types(type, self.of)
        if found is not type and isinstance(found, Qualified):
            return qualified(found.target, found.qualifiers)
        return found
