"""What a piece of a library declares."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Access: TypeAlias = Literal["public", "protected", "private"]
Language: TypeAlias = Literal["c", "c++"]

PRIMITIVES = {
    "c": ("int", "char", "long", "double", "short", "float", "unsigned", "long long", "void *", "const char *"),
    "c++": (
        *("int", "char", "long", "double", "short", "bool", "float", "unsigned", "unsigned char", "long long"),
        *("void *", "const char *"),
    ),
}
"""Types without declarations, by language."""


@dataclass
class Field:
    """A data member. ``count`` is of an array, ``bits`` of a bit-field. Inline code reads one that is ``shown``."""

    name: str
    type: str
    count: int = 0
    bits: int = 0
    access: Access = "public"
    shown: bool = False
    alignment: int = 0


@dataclass
class Method:
    """A function of a class, defined in the library unless it is ``pure``."""

    name: str
    result: str = "int"
    parameters: list[str] = field(default_factory=lambda: ["int"])
    virtual: bool = False
    pure: bool = False
    const: bool = False
    static: bool = False
    access: Access = "public"


@dataclass
class Base:
    """A direct base class."""

    name: str
    virtual: bool = False


@dataclass
class Class:
    """A class, struct or union. The library alone defines an ``opaque`` one, a ``template`` has the parameter ``T``.

    ``destructor`` says before which method a virtual destructor stands; ``destroys`` and ``copies``, that the library
    defines a destructor, and constructors.
    """

    name: str
    union: bool = False
    bases: list[Base] = field(default_factory=list)
    members: list[Field | Method] = field(default_factory=list)
    destructor: int | None = None
    destroys: bool = False
    copies: bool = False
    packed: bool = False
    template: bool = False
    opaque: bool = False
    final: bool = False

    @property
    def fields(self) -> list[Field]:
        """Its data members."""
        return [each for each in self.members if isinstance(each, Field)]

    @property
    def methods(self) -> list[Method]:
        """Its functions."""
        return [each for each in self.members if isinstance(each, Method)]

    @property
    def is_plain(self) -> bool:
        """Whether it is a class that may have bases, functions and access."""
        return not (self.union or self.template or self.opaque)


@dataclass
class Enumeration:
    """An enumeration; ``underlying`` is empty where the compiler chooses."""

    name: str
    values: list[tuple[str, int]]
    underlying: str = ""
    scoped: bool = False


@dataclass
class Function:
    """A function outside of classes. An ``internal`` one is exported and stands in no header."""

    name: str
    result: str
    parameters: list[str]
    c: bool = False
    internal: bool = False


@dataclass
class Variable:
    """A variable; ``count`` is of an array."""

    name: str
    type: str
    count: int = 0


@dataclass
class Piece:
    """Declarations whose names all begin with ``prefix``, in an order in which each is declared before it is used."""

    prefix: str
    language: Language = "c++"
    classes: list[Class] = field(default_factory=list)
    enumerations: list[Enumeration] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)

    def named(self, name: str) -> Class | None:
        """The class of this name."""
        return next((each for each in self.classes if each.name == name), None)

    def bases(self, name: str) -> set[str]:
        """A class and all that it derives from."""
        own = self.named(name)
        return {name}.union(*(self.bases(each.name) for each in own.bases)) if own else {name}

    def is_abstract(self, name: str) -> bool:
        """Whether no object of a class can be made: a virtual function is left to derived classes."""
        return bool(self._pure(name))

    def has_virtual_base(self, name: str) -> bool:
        """Whether a class derives virtually, so that only an object tells where its bases are."""
        own = self.named(name)
        return own is not None and any(each.virtual or self.has_virtual_base(each.name) for each in own.bases)

    def _pure(self, name: str) -> set[str]:
        own, found = self.named(name), set[str]()
        if own is None:
            return found
        for base in own.bases:
            found |= self._pure(base.name)
        for method in own.methods:
            if method.virtual:
                (found.add if method.pure else found.discard)(method.name)
        return found

    @property
    def signatures(self) -> Iterable[tuple[str, list[str]]]:
        """Result and parameters of all functions and methods."""
        yield from ((each.result, each.parameters) for each in self.functions)
        yield from ((each.result, each.parameters) for own in self.classes for each in own.methods)

    @property
    def held(self) -> frozenset[str]:
        """What programs have objects of that functions take or return by value, with what these embed."""
        found = {type for result, parameters in self.signatures for type in (result, *parameters)}
        pending = [own for own in self.classes if own.name in found]
        while pending:
            own = pending.pop()
            inner = {each.type for each in own.fields} | {each.name for each in own.bases}
            pending += [each for each in self.classes if each.name in inner - found]
            found |= inner
        return frozenset(found)

    @property
    def instances(self) -> list[str]:
        """The instances of its templates that anything names, sorted."""
        named = {type for result, parameters in self.signatures for type in (result, *parameters)}
        named |= {each.type for own in self.classes for each in own.fields}
        return sorted({each.removesuffix(" *") for each in named if "<" in each})
