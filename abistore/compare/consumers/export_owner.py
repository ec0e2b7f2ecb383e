"""Whose an export is: the library's own, another library's template, or a copy that each of its users has too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from abistore.compare.consumers.consumers import Owner, ReleaseExports
from abistore.compare.consumers.export_table import is_unique, is_weak
from abistore.compare.consumers.runtime_symbols import RUNTIMES, STANDARD, is_runtime_symbol
from abistore.compare.types.vtables import is_destructor
from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.emitted import class_behind, outermost_of
from abistore.model.cpp_names.qualified import entity, last_component, scope, template_of
from abistore.model.declared import Declared
from abistore.model.mangling.symbols import CLASS_DATA, NEW_AND_DELETE, is_local, is_mangled, member_prefixes
from abistore.model.names import Name
from abistore.model.shapes import Foreign, Function, Record
from abistore.model.snapshot import Variants


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
        that were read may have classes and templates for C++ programs all the same.
        """
        exports = self._own.exports
        if not (is_mangled(name.spelling) and exports.has_functions) or exports.has_cpp_functions:
            return False
        if any(map(_is_cpp, self._own.snapshot.entries.get("source", {}).items())):
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

        So it is where nothing in the library uses any member that is not virtual: what nobody uses is emitted for an
        explicit instantiation only. Where nothing tells that one is not virtual, or there is only one, it is unknown.
        """
        members = self._own.exports.unused_members(name.spelling)
        plain = [each for each in members if self._is_plain(each)]
        return bool(plain) and len({entity(demangle(each.spelling)) for each in members}) > 1

    def _is_plain(self, member: Name) -> bool:
        """Whether ``member`` is known not to be virtual: by its name, the class's vtable or debug information."""
        subject = entity(demangle(member.spelling))
        owner = scope(subject)
        if last_component(subject) == last_component(owner) or owner in self._own.exports.tabled:
            return True
        shapes = self._own.snapshot.variants("layout", member)
        return any(isinstance(each, Function) and each.method and each.method.virtual == "no" for each in shapes)

    def _is_lost_instantiation(self, name: Name, *, explicit: bool) -> bool:
        compilers = [set(each.snapshot.provenance.compilers) for each in (self._own, self._other)]
        if all(compilers) and compilers[0] != compilers[1] and not explicit:
            return False
        subject = entity(demangle(name.spelling))
        template, arguments = template_of(subject)
        if not arguments or name.spelling.startswith(CLASS_DATA):
            return False
        exports = self._other.exports
        if subject.endswith(">"):  # a function template: deduced arguments are nobody's explicit instantiation
            return "&" not in arguments and template not in exports.templates
        return (template, arguments) not in exports.instantiations

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


def _is_cpp(declaration: tuple[Name, Variants]) -> bool:
    """Whether what a header declares is a function of C++ or a template."""
    name, shapes = declaration
    return is_mangled(name.spelling) or any(isinstance(each, Declared) and "template" in each.traits for each in shapes)


def _declares(release: ReleaseExports, name: Name) -> bool:
    """Whether the debug information describes ``name`` as the library's own and not as a foreign type."""
    return any(not isinstance(shape, Foreign) for shape in release.snapshot.described(name))
