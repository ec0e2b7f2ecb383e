"""The interface that a comparison asks about the ABI surface of one release."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

from abistore.diffing.reuse import Derived
from abistore.diffing.surface.export_table import RUNTIMES, STANDARD, ExportTable, is_runtime_symbol, is_unique, is_weak
from abistore.diffing.types.vtables import is_destructor
from abistore.model.declarations import EXPORTS, Name
from abistore.model.names.qualified import (
    class_behind,
    demangle,
    entity,
    last_component,
    outermost_of,
    template_of,
)
from abistore.model.names.symbols import (
    CLASS_DATA,
    NEW_AND_DELETE,
    TYPEINFO,
    VTABLE,
    class_symbol,
    is_local,
    is_mangled,
    member_prefixes,
)
from abistore.model.shapes import Foreign, Function, Record, Variable
from abistore.model.snapshot import Snapshot
from abistore.model.words import PUBLIC, is_source

Owner: TypeAlias = Literal["own", "foreign", "inline", "instantiation"]
"""Whose an export is, see :meth:`Consumers.owner`."""


Concealment: TypeAlias = Literal["internal", "header", "undeclared"]
"""Why consumers cannot name an export, see :meth:`Consumers.concealment`."""


class ReleaseExports(msgspec.Struct, frozen=True):
    """A release and its export table."""

    snapshot: Snapshot
    exports: ExportTable


class Consumers(Derived, ABC):
    """The programs that were, or will be, built against one release.

    Debug information suggests what they can do (:mod:`abistore.diffing.surface.from_debug_info`), or headers show it
    (:mod:`abistore.diffing.surface.from_headers`). A comparison asks this interface, and does not know which.
    """

    @abstractmethod
    def can_name(self, export: Name) -> bool:
        """Whether sources of consumers can use ``export``: a header that they can include declares it."""

    @abstractmethod
    def private_header(self, export: Name) -> str:
        """The header that declares ``export`` and is not installed; empty where none is known.

        Or the version node that says of itself that it is private.
        """

    def prove_private(self, name: Name) -> bool:
        """Whether it is known that no consumer was compiled with a type or export, as headers show all of it."""
        return False

    def out_of_reach(self, export: Name) -> bool:
        """Whether ``export`` is a private member, and no inline function is known that may use it for programs."""
        return False

    def cannot_call(self, export: Name) -> bool:
        """Whether ``export`` passes a class that no header defines, and that programs have no object of.

        No call by value compiles, and a protected constructor is the library's own. Only headers tell.
        """
        return False

    @abstractmethod
    def concealment(self, export: Name) -> Concealment:
        """Why consumers cannot name ``export``.

        Its class is ``internal`` to source files; a private ``header`` declares it; or it is ``undeclared`` in the
        public headers, which are known.
        """

    @abstractmethod
    def owner(self, export: Name, other: ReleaseExports, *, gone: bool) -> Owner:
        """Whose ``export`` is, which the ``other`` release does not have; it is ``gone`` where that one is the later.

        ``own``: consumers find it in this library only. The others are C++ symbols, nearly all weak, which each unit
        that uses them may emit: ``foreign`` ones belong to the language runtime, to a namespace in which the library
        has no strong symbol, or to the inside of a library that exports C functions only; ``instantiation`` is a
        template's that is gone as a whole between equal toolchains, as an explicit one is that ``extern template``
        leaves to the library; ``inline`` is everything else.
        """

    @abstractmethod
    def can_see(self, type: Name) -> bool:
        """Whether consumers know what ``type`` is made of.

        They do not where the library allocates it and the file that defines it is a source file or a private header,
        nor where it is met only inside such types, or in fields whose name forbids to use them.
        """

    @abstractmethod
    def can_include(self, type: Name) -> bool:
        """Whether a header that consumers include defines ``type``, which no export mentions."""

    @abstractmethod
    def can_look_into(self, type: Name, fields: Collection[str]) -> bool:
        """Whether code that programs compile in may use one of these private ``fields`` of a class."""

    @abstractmethod
    def look_at(self, type: Name, field: str) -> bool:
        """Whether code that programs compile in is known to use this private ``field`` of a class."""

    @abstractmethod
    def offers(self, type: Name) -> bool:
        """Whether a header that was read defines ``type`` for consumers: they can use it without any export."""

    @abstractmethod
    def compilers_of(self, type: Name) -> Sequence[Name]:
        """The declarations whose code, which programs compile, has the layout of ``type``; sorted."""

    @abstractmethod
    def callers_of(self, export: Name) -> Sequence[Name]:
        """The declarations whose code, which programs compile, uses ``export``; sorted."""

    @abstractmethod
    def called_beside(self, type: Name) -> Sequence[Name]:
        """The exports that such code calls, and of which no header that was read tells what they take."""

    @abstractmethod
    def take_untyped(self) -> bool:
        """Whether consumers may hand the library objects of types that no signature tells, as ``void *``."""

    @abstractmethod
    def library_allocates(self, type: Name) -> bool:
        """Whether consumers hold pointers to ``type`` at most, and get them from the library.

        So it is where functions return such a pointer, or fill one in (``int open(handle **)``), and no export uses the
        type by value. Polymorphic classes never count: consumers may derive from them.
        """

    @abstractmethod
    def gets_arrays(self, type: Name) -> bool:
        """Whether the library hands out arrays of ``type``, through which consumers step by its size."""

    @abstractmethod
    def hold(self, type: Name) -> bool:
        """Whether consumers have objects of ``type``: an export takes, returns, is or embeds it by value."""

    @abstractmethod
    def hold_beyond_standard(self, type: Name) -> bool:
        """As :meth:`hold`, where functions of the standard library that were linked in do not count."""

    @abstractmethod
    def passed_with(self, type: Name, stays: Callable[[Name], bool]) -> Sequence[Name]:
        """What goes by value and is or embeds ``type``, sorted.

        Function pointers, virtual methods, or exports that stay and that consumers can name, take or return it.
        """

    @abstractmethod
    def taken_with(self, type: Name, stays: Callable[[Name], bool]) -> Sequence[Name]:
        """The part of :meth:`passed_with` that is taken, and not only returned."""


def is_accessible(shape: object) -> bool:
    """Whether anybody but the class and its friends can use a declaration.

    A private virtual function is in the vtables of classes that consumers derive. Nobody derives from a class with a
    private destructor.
    """
    if isinstance(shape, Function) and shape.method is not None:
        destroys = last_component(shape.display).startswith("~")
        return shape.method.access != "private" or (shape.method.virtual != "no" and not destroys)
    return not isinstance(shape, Variable) or shape.access != "private"


def is_for_derived(function: Function) -> bool:
    """Whether a function is a protected constructor, by which derived classes construct their base and nothing else."""
    method = function.method
    if method is None or method.access != "protected":
        return False
    return last_component(function.display) == last_component(method.owner.spelling)


class Ownership:
    """Tells whether consumers depend on a library for its exports that another release does not have."""

    def __init__(self, own: ReleaseExports, other: ReleaseExports) -> None:
        self._own = own
        self._other = other

    def of(self, name: Name, *, gone: bool) -> Owner:
        """Whose the export ``name`` is; whether an instantiation is lost is asked only where it is ``gone``."""
        if self.is_linked_in(name) or self._is_left_behind(name):
            return "foreign"
        symbols = self._own.snapshot.variants("symbol", name)
        if not (is_mangled(name.spelling) or is_unique(symbols)) or not is_weak(symbols) or self._is_keyed(name):
            return "own"
        if self._is_foreign(name):
            return "foreign"
        if not gone:
            return "inline"
        explicit = self._is_explicit(name)
        if self._is_lost_instantiation(name, explicit=explicit):
            return "instantiation"
        return "own" if explicit else "inline"

    def is_linked_in(self, name: Name) -> bool:
        """Whether ``name`` is a symbol of a runtime that is linked into the library, and not the library itself."""
        return is_runtime_symbol(name.spelling) and not self._is_runtime

    @property
    def _is_runtime(self) -> bool:
        return any(each.snapshot.library in RUNTIMES for each in (self._own, self._other))

    def _is_left_behind(self, name: Name) -> bool:
        """Whether ``name`` is what compilers emit for a template's instance or for an inline function, strong or not.

        Each program that uses these has its own. Link-time optimisation makes the symbols strong that it keeps. Asked
        where a library exports functions, and none of C++: nobody can use what is not inline of its classes. Headers
        that were read tell what else C++ programs may use.
        """
        exports = self._own.exports
        if not (is_mangled(name.spelling) and exports.has_functions) or exports.has_cpp_functions:
            return False
        if self._own.snapshot.entries.get("source"):
            return False
        if name.spelling.startswith(CLASS_DATA):
            return entity(demangle(name.spelling)).endswith(">")
        return is_local(name.spelling)

    def _is_foreign(self, name: Name) -> bool:
        both = self._own, self._other
        if self._is_runtime:
            return False
        if name.spelling.startswith(NEW_AND_DELETE):
            return True
        space = outermost_of(name.spelling)
        if any(_declares(each, Name("record", space)) for each in both):
            return False
        if space in STANDARD or not space:
            return space in STANDARD
        scopes = [each.exports.own_scopes for each in both]
        return any(scopes) and not any(space in each for each in scopes)

    def _is_explicit(self, name: Name) -> bool:
        """Whether the library instantiates the class of the member ``name`` explicitly.

        So it is where nothing in the library uses any of its members: what nobody uses is emitted for an explicit
        instantiation only. Where there is only one, it is unknown.
        """
        members = self._own.exports.unused_members(name.spelling)
        return len({entity(demangle(each.spelling)) for each in members}) > 1

    def _is_lost_instantiation(self, name: Name, *, explicit: bool) -> bool:
        if not explicit and self._may_have_other_compilers():
            return False
        subject = entity(demangle(name.spelling))
        template, arguments = template_of(subject)
        if not arguments or name.spelling.startswith(CLASS_DATA):
            return False
        exports = self._other.exports
        if subject.endswith(">"):  # a function template: deduced arguments are nobody's explicit instantiation
            return "&" not in arguments and template not in exports.templates
        return (template, arguments) not in exports.instantiations

    def _may_have_other_compilers(self) -> bool:
        """Whether compilers may explain which implicit instances both releases have.

        Stripped ELF files do not tell their compilers, and show whether the library uses an instance itself.
        """
        old, new = (set(each.snapshot.provenance.compilers) for each in (self._own, self._other))
        if old and new:
            return old != new
        return self._own.snapshot.target.format == "elf"

    def _is_keyed(self, name: Name) -> bool:
        """Whether ``name`` is emitted for a class with a key function in the library, and by nobody else.

        So it is where the library exports a member function of the class that is not inline; a virtual one, where debug
        information tells which these are.
        """
        if not name.spelling.startswith(CLASS_DATA):
            return False
        prefixes = member_prefixes(name.spelling)
        described = self._own.snapshot.variants("layout", Name("record", class_behind(name.spelling)))
        records = [each for each in described if isinstance(each, Record)]
        if records:
            prefixes = tuple(each for record in records for each in _virtual_functions(record, prefixes))
        return any(map(self._own.exports.has_strong, prefixes))


def _virtual_functions(record: Record, prefixes: Sequence[str]) -> Iterator[str]:
    """How the symbols begin of the virtual functions that a class declares; a destructor's is not given."""
    for method in record.virtuals:
        if method.symbol:
            yield method.symbol
        elif is_destructor(method):
            yield from (f"{prefix}D" for prefix in prefixes)
        else:
            yield from prefixes


def _declares(release: ReleaseExports, name: Name) -> bool:
    """Whether the debug information describes ``name`` as the library's own and not as a foreign type."""
    return any(not isinstance(shape, Foreign) for shape in release.snapshot.described(name))


def imported_members(name: Name, exports: ExportTable) -> tuple[str, ...]:
    """The members and tables of a class that a library imports; none where it defines others itself.

    What programs and libraries have each for themselves says nothing: copies of inline functions are weak.
    """
    if name.kind != "record" or not _is_plain(name.spelling) or exports_members(name, exports):
        return ()
    tables = [class_symbol(prefix, name.spelling) for prefix in (VTABLE, TYPEINFO)]
    starts = (*tables, *member_prefixes(tables[0]))
    return tuple(each for start in starts for each in exports.imported(start))


def in_headers_of_others(library: ReleaseExports, files: Mapping[Name, str]) -> Mapping[Name, tuple[str, ...]]:
    """What stands in headers of other libraries, each with the members of classes there that the library imports.

    A header is another library's where it defines such a class and no export stands in it; and so are those in its
    folder, where none stands in any of them: but headers of several projects lie side by side in one ``include``.
    Copies of its inline functions may be exported; each of its users has them.
    """
    imported: dict[str, list[str]] = {}
    own = set[str]()
    for name, file in files.items():
        if _is_exported(name, library):
            own |= {file, folder(file)}
        elif not is_source(file) and (found := imported_members(name, library.exports)):
            for place in (file, folder(file)):
                imported.setdefault(place, []).extend(found)
    own.update(place for place in imported if _is_shared(place))
    asked = {place: tuple(found) for place, found in imported.items() if place not in own}
    headers = ((name, file) for name, file in files.items() if not is_source(file))
    places = ((name, place) for name, file in headers for place in (file, folder(file)) if place in asked)
    return {name: asked[place] for name, place in places}


def _is_exported(name: Name, library: ReleaseExports) -> bool:
    """Whether the library defines and exports a function or variable, or members of a class."""
    if name.kind == "record":
        return exports_members(name, library.exports)
    return name.kind in EXPORTS and not is_weak(library.snapshot.variants("symbol", name))


def own_folders(library: ReleaseExports, files: Mapping[Name, str]) -> frozenset[str]:
    """The folders of the headers and sources in which exports of the library stand."""
    return frozenset(folder(file) for name, file in files.items() if _is_exported(name, library))


def folder(file: str) -> str:
    """The folder that a file lies in, with a slash at its end."""
    return f"{file.rpartition('/')[0]}/"


def _is_shared(place: str) -> bool:
    """Whether several projects keep headers in a folder: it is called ``include``, or is the top one."""
    return place == "/" or f"/{place}".endswith(f"/{PUBLIC}/")


def exports_members(name: Name, exports: ExportTable) -> bool:
    """Whether a library defines members of a class itself, other than copies of inline functions."""
    if name.kind != "record" or not _is_plain(name.spelling):
        return False
    return any(map(exports.has_strong, member_prefixes(class_symbol(VTABLE, name.spelling))))


def _is_plain(spelling: str) -> bool:
    """Whether the name of a class spells its symbols: it is no instance of a template and local to nothing."""
    return all(each.isidentifier() for each in spelling.split("::"))
