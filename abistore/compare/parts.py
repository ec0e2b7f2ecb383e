"""Parts of declarations and of the library that deltas are about and that the model has no shape for."""

from __future__ import annotations

from dataclasses import dataclass

from abistore.model.findings import Impact
from abistore.model.names import Name
from abistore.model.shapes import AnyShape, Field, Import, Symbol, TypeRef


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a function: its position, counted from 1 and without ``this``, and its type."""

    position: int
    type: TypeRef


@dataclass(frozen=True, slots=True)
class Result:
    """What a function returns."""

    type: TypeRef


@dataclass(frozen=True, slots=True)
class InnerField:
    """A member of an anonymous struct or union member, at its ``offset`` (bits) in the named record around it.

    An ``alternative`` stands directly in a union.
    """

    field: Field
    alternative: bool = False


@dataclass(frozen=True, slots=True)
class Definition:
    """What a tag or alias name stands for, where the two sides do not even agree on that."""

    name: Name
    shape: AnyShape


@dataclass(frozen=True, slots=True)
class TagName:
    """The name of a record or enum whose content is the same under another name on the other side."""

    name: Name
    shape: AnyShape


@dataclass(frozen=True, slots=True)
class Variant:
    """One of several shapes that one name has, where the two sides' sets of shapes cannot be paired."""

    shape: AnyShape


@dataclass(frozen=True, slots=True)
class PrivateType:
    """A type that only the library's own sources define, and of which consumers hold pointers at most."""

    name: Name
    shape: AnyShape


@dataclass(frozen=True, slots=True)
class Unexplained:
    """A declaration that differs in what no rule looks at."""

    shape: AnyShape


@dataclass(frozen=True, slots=True)
class SymbolVersion:
    """One version under which a symbol is exported; ``default`` is what a new link binds to."""

    version: str | None
    default: bool


@dataclass(frozen=True, slots=True)
class VersionDefinition:
    """A version node that the library defines, and the exports that live in it."""

    version: str
    symbols: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VersionRequirement:
    """A version of another library without which this one does not load; ``floor`` is the highest of its family."""

    library: str
    version: str
    raises_floor: bool


@dataclass(frozen=True, slots=True)
class Dependency:
    """One needed library (``DT_NEEDED``)."""

    soname: str


@dataclass(frozen=True, slots=True)
class Feature:
    """One loader requirement of the library by name, e.g. ``DT_RELR``."""

    name: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Exports that changed in one systematic way: old and new spellings, sorted. The base of the mass patterns."""

    pairs: tuple[tuple[str, str], ...]
    before: str
    after: str


class Renaming(Batch):
    """Exports that got or lost a common prefix or suffix."""


class NamespaceMove(Batch):
    """Exports that moved to another inline (version) namespace."""


class TagFlip(Batch):
    """Exports whose only difference is an ABI tag, e.g. ``[abi:cxx11]``."""


class NodeMove(Batch):
    """Exports that moved from one version node to another."""


@dataclass(frozen=True, slots=True)
class Surface:
    """The export table as a whole: how many exports, and whether any of them is versioned."""

    exports: int
    versioned: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a comparison found so far, for advice that follows from it."""

    soname: str | None
    worst: Impact | None


@dataclass(frozen=True, slots=True)
class DefaultVersion:
    """The version of a symbol that a new link binds to."""

    version: str | None


@dataclass(frozen=True, slots=True)
class ForeignExports:
    """Exports of templates and inline functions that belong to other libraries, e.g. to ``std::``; sorted."""

    symbols: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InlineExports:
    """Weak copies of the library's own inline functions, templates and implicit class members; sorted."""

    symbols: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InternalExports:
    """Members and tables of classes that only the library's own source files define; sorted."""

    symbols: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InternalExport:
    """A member of a class that only the library's own source files define."""

    name: Name
    shape: AnyShape


@dataclass(frozen=True, slots=True)
class Instantiation:
    """A weak symbol of a template instantiation of which nothing is left."""

    symbol: Symbol


@dataclass(frozen=True, slots=True)
class Requalified:
    """A member function whose mangled name differs in its ``const``, ``volatile``, ``&`` or ``&&`` only."""

    symbol: str


@dataclass(frozen=True, slots=True)
class Linkage:
    """A function whose mangled name differs from a plain C name in nothing but the mangling."""

    symbol: str


@dataclass(frozen=True, slots=True)
class Lookalike:
    """A function that vanished beside one that came with the same signature and a similar name."""

    symbol: str


@dataclass(frozen=True, slots=True)
class Imports:
    """Undefined symbols that only one side has; sorted."""

    symbols: tuple[tuple[str, Import], ...]
