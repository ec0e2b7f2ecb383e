"""Parts of declarations and of the library that deltas are about and that the model has no shape for."""

from __future__ import annotations

import msgspec

from abistore.model.declarations import Name
from abistore.model.findings import Impact
from abistore.model.shapes import AnyShape, Field, Import, Record, Symbol, TypeRef


class Parameter(msgspec.Struct, frozen=True):
    """One parameter of a function: its position, counted from 1 and without ``this``, and its type."""

    position: int
    type: TypeRef


class Result(msgspec.Struct, frozen=True):
    """What a function returns."""

    type: TypeRef


class FieldGroup(msgspec.Struct, frozen=True):
    """Fields that together take the storage of other fields on the other side: ``int x, y`` for ``point p``."""

    fields: tuple[Field, ...]


class NamedShape(msgspec.Struct, frozen=True):
    """A declaration with its name, which may be another one on the other side."""

    name: Name
    shape: AnyShape


class DefinitionKind(NamedShape, frozen=True):
    """A name that stands for different kinds of types: a struct before, an alias now."""


class TagName(NamedShape, frozen=True):
    """The name of a record or enum whose content is the same under another name on the other side."""


class Variant(msgspec.Struct, frozen=True):
    """One of several shapes that one name has, where the two sides' sets of shapes cannot be paired."""

    shape: AnyShape


class PrivateType(NamedShape, frozen=True):
    """A type that only the library's own sources define, and of which consumers hold pointers at most."""


class OpaqueType(NamedShape, frozen=True):
    """A type of which public headers prove that programs do not see into it."""


class PrivateTail(NamedShape, frozen=True):
    """The members of a record behind the first ones, ``shown`` in number, which are all that public headers have."""

    shown: int


class DependencyType(NamedShape, frozen=True):
    """A type that another library defines, of which this one hands on pointers at most."""


class PrivateData(NamedShape, frozen=True):
    """A class of which only private data members differ that programs hold as bytes."""


class UnusedEnum(NamedShape, frozen=True):
    """An enumeration that no export names, of a header of which nothing tells that consumers can include it."""


class DescribedClass(msgspec.Struct, frozen=True):
    """A class that the debug information of GCC describes on one side only: it leaves out none but those with vtables.

    ``shape`` is ``None`` where it does not.
    """

    shape: Record | None


class Unexplained(msgspec.Struct, frozen=True):
    """A declaration with a difference that no rule explains."""

    shape: AnyShape


class SymbolVersion(msgspec.Struct, frozen=True):
    """One version under which a symbol is exported; ``default`` is what a new link binds to."""

    version: str | None
    default: bool


class VersionDefinition(msgspec.Struct, frozen=True):
    """A version node that the library defines, and the exports that live in it."""

    version: str
    symbols: tuple[str, ...] = ()


class VersionRequirement(msgspec.Struct, frozen=True):
    """A version of another library without which this one does not load; ``floor`` is the highest of its family."""

    library: str
    version: str
    raises_floor: bool


class Dependency(msgspec.Struct, frozen=True):
    """One needed library (``DT_NEEDED``)."""

    soname: str


class Feature(msgspec.Struct, frozen=True):
    """One loader requirement of the library by name, e.g. ``DT_RELR``."""

    name: str


class Batch(msgspec.Struct, frozen=True):
    """Exports that changed in one systematic way: old and new spellings, sorted. The base of the mass patterns."""

    pairs: tuple[tuple[str, str], ...]
    before: str
    after: str


class Renaming(Batch, frozen=True):
    """Exports that got or lost a common prefix or suffix."""


class NamespaceMove(Batch, frozen=True):
    """Exports that moved to another inline (version) namespace."""


class DeclaredMove(Batch, frozen=True):
    """Declarations that moved to another inline (version) namespace, and no export with them."""


class DeclaredRenaming(Batch, frozen=True):
    """Declarations of a namespace that programs write, and that has another name."""


class TagFlip(Batch, frozen=True):
    """Exports whose only difference is an ABI tag, e.g. ``[abi:cxx11]``."""


class TagChange(Batch, frozen=True):
    """Exports whose only difference is an ABI tag of the library's own."""


class ToolkitMove(msgspec.Struct, frozen=True):
    """Needed libraries that gave way to another major release of themselves, each to the one in its place.

    ``pairs`` are exports that are called by their classes, before and after; ``types`` are classes of theirs of which
    programs make objects, and that lie in memory otherwise.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    types: tuple[Name, ...]


class NodeMove(Batch, frozen=True):
    """Exports that moved from one version node to another."""


class BehindNumber(msgspec.Struct, frozen=True):
    """What is behind an export of a DLL that has a number and no name: the names of one function or object, sorted."""

    names: tuple[str, ...]


class ExportNumbers(msgspec.Struct, frozen=True):
    """The numbers of named exports of a DLL that have another one on the other side, sorted by name."""

    numbers: tuple[tuple[str, int], ...]


class ExportCounts(msgspec.Struct, frozen=True):
    """The export table as a whole: how many exports, and whether any of them is versioned."""

    exports: int
    versioned: int


class WorstImpact(msgspec.Struct, frozen=True):
    """The worst impact found so far. Advice follows from it: whether to bump the SONAME."""

    soname: str | None
    worst: Impact | None


class DefaultVersion(msgspec.Struct, frozen=True):
    """The version of a symbol that a new link binds to."""

    version: str | None


class TakenName(msgspec.Struct, frozen=True):
    """A new export with the name of a function of the C or C++ library; ``version`` as it is exported."""

    symbol: str
    version: str | None


class VersionCode(msgspec.Struct, frozen=True):
    """The version of a symbol whose code or data programs get that ask for a certain one."""

    version: str | None


class ExportList(msgspec.Struct, frozen=True):
    """Exports that come or go for one reason; sorted."""

    symbols: tuple[str, ...]


class ForeignExports(ExportList, frozen=True):
    """Exports of templates and inline functions that belong to other libraries, e.g. to ``std::``; sorted."""


class InlineExports(ExportList, frozen=True):
    """Weak copies of the library's own inline functions, templates and implicit class members; sorted."""


class InternalExports(ExportList, frozen=True):
    """Members and tables of classes that only the library's own source files define; sorted."""


class UnexportedDeclaration(NamedShape, frozen=True):
    """A function or variable that headers define and that no release exports."""


class InternalExport(NamedShape, frozen=True):
    """A member of a class that only the library's own source files define."""


class UndeclaredExports(ExportList, frozen=True):
    """Exports that only private headers declare, and these headers; both sorted."""

    headers: tuple[str, ...]


class UndeclaredExport(NamedShape, frozen=True):
    """An export that only the private header ``header`` declares; this is empty where it is not known."""

    header: str


class OmittedExport(NamedShape, frozen=True):
    """An export of which public headers prove that no program was compiled with it."""


class OmittedExports(ExportList, frozen=True):
    """Exports that the public headers, which are known, do not declare; sorted."""


class ReexportedExports(ExportList, frozen=True):
    """Exports that the ``libraries`` may have which the new side re-exports, and which were not read; sorted."""

    libraries: tuple[str, ...]


class Agreement(msgspec.Struct, frozen=True):
    """What headers and debug information of one side say of a type: empty where they agree."""

    header: str = ""
    binary: str = ""


class UnreachedType(NamedShape, frozen=True):
    """A type that public headers define, of which no export gets objects."""


class InstructionSetVariants(ExportList, frozen=True):
    """Variants of one function by instruction set; sorted. It may be ``dispatched`` by a function that stays."""

    dispatched: bool


class PrivateMemberExports(ExportList, frozen=True):
    """Private members that no inline function is known to use; sorted."""


class UncallableExports(ExportList, frozen=True):
    """Functions that pass a class which public headers only declare, and of which programs have no object; sorted."""


class PrivateMemberExport(NamedShape, frozen=True):
    """A private member that no inline function is known to use."""


class UncallableExport(NamedShape, frozen=True):
    """A function that passes a class which public headers only declare, and give programs no object of."""


class Instantiation(msgspec.Struct, frozen=True):
    """A weak symbol of a template instantiation that is gone as a whole."""

    symbol: Symbol


class RenamedSymbol(msgspec.Struct, frozen=True):
    """A function that only one side exports, beside the one of the other side that is the same function."""

    symbol: str


class Requalified(RenamedSymbol, frozen=True):
    """A member function whose mangled name differs in its ``const``, ``volatile``, ``&`` or ``&&`` only."""


class Rekeyed(RenamedSymbol, frozen=True):
    """A function or variable whose decorated name (Visual C++) differs in the class keys of its types only."""


class Redecorated(RenamedSymbol, frozen=True):
    """A function or variable whose decorated name (Visual C++) differs in the letters behind its name only."""


class Linkage(RenamedSymbol, frozen=True):
    """A function whose mangled name differs from a plain C name in nothing but the mangling."""


class Lookalike(RenamedSymbol, frozen=True):
    """A function that was removed, and the only added one of its signature, of a similar name or in its place."""


class VariableLookalike(RenamedSymbol, frozen=True):
    """A variable that was removed, and the only added one of its type, of a similar name or in its place."""


class Imports(msgspec.Struct, frozen=True):
    """Undefined symbols that only one side has; sorted."""

    symbols: tuple[tuple[str, Import], ...]


class Unprovided(msgspec.Struct, frozen=True):
    """Imports that none of the libraries has which the file says that it needs."""

    symbols: tuple[str, ...]


class Provider(msgspec.Struct, frozen=True):
    """A library that is to provide undefined symbols; both sides name the same ones, sorted."""

    library: str
    symbols: tuple[str, ...]


class InlineNamespace(msgspec.Struct, frozen=True):
    """A namespace whose members programs also find in the namespace around it."""

    scope: str


class InMode(msgspec.Struct, frozen=True):
    """What programs of one ``mode`` meet of a declaration: its worst finding, with the ``value`` of one side."""

    mode: str
    impact: Impact
    said: str
    value: str | None
    part: str = ""
    affected: tuple[Name, ...] = ()


class PublicHeader(msgspec.Struct, frozen=True):
    """A header that consumers include, by its name in the folder of headers; one ``inside`` only by another one."""

    file: str
    inside: bool = False


class HeaderIncludes(msgspec.Struct, frozen=True):
    """A public header, and others that it includes."""

    file: str
    includes: tuple[str, ...]


class WrittenMember(msgspec.Struct, frozen=True):
    """What a header writes behind a member: the expression of an enumerator, or how a data member is initialised."""

    text: str


class Toolchain(msgspec.Struct, frozen=True):
    """The recorded compiler options that layouts, calls and mangled names depend on; sorted."""

    options: tuple[str, ...]


class CallOptions(msgspec.Struct, frozen=True):
    """The recorded compiler options of which it is known which calls they concern; sorted."""

    options: tuple[str, ...]


class ReleasedLibrary(msgspec.Struct, frozen=True):
    """A library of a release, and the SONAME that it has.

    ``target`` says which build of the library it is, where the other side has another one.
    """

    name: str
    soname: str | None
    target: str = ""


class PackagedLibrary(msgspec.Struct, frozen=True):
    """The package of a distribution that has a library."""

    package: str


class PackagedSoname(msgspec.Struct, frozen=True):
    """The SONAME of a library in a package of a distribution, on whose name other packages depend."""

    package: str
    soname: str


class SiblingNeed(msgspec.Struct, frozen=True):
    """A SONAME that a library asks for, and that a library of its release has or had."""

    library: str
    soname: str


class SiblingSymbol(msgspec.Struct, frozen=True):
    """A symbol that a library needs, and the library of its release that provides it."""

    symbol: str
    provider: str


class SiblingVersion(msgspec.Struct, frozen=True):
    """A symbol version that a library asks another one of its release for."""

    version: str
    provider: str


class DoubleExports(msgspec.Struct, frozen=True):
    """Symbols that two libraries of a release export."""

    other: str
    names: tuple[Name, ...]


class SharedRecord(msgspec.Struct, frozen=True):
    """A record that two libraries of a release describe: ``shape`` as ``library`` does."""

    library: str
    shape: Record


class SourceBreak(msgspec.Struct, frozen=True):
    """What stops sources from compiling that name a declaration which only the library is to name."""

    what: str
    value: str | None


class BuildMode(msgspec.Struct, frozen=True):
    """What units were compiled with, where it is one of several modes by ``name``: one value, or those that occur."""

    name: str
    values: tuple[str, ...]


class RecordedOptions(msgspec.Struct, frozen=True):
    """The recorded compiler options that the ABI depends on; ``None`` where the compilers record none."""

    options: tuple[str, ...] | None
