"""Whose an export is: the library's own, another library's template, or a copy that each of its users has too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from abistore.compare.context import Context
from abistore.compare.entities import CLASS_DATA, entity, is_weak, template_of, top_level
from abistore.compare.side import Side
from abistore.model.cpp_names.demangle import demangle
from abistore.model.names import Name

STANDARD = ("std", "__gnu_cxx", "__cxxabiv1", "__gnu_debug", "__gnu_parallel", "abi")
"""Top-level namespaces of the language runtime."""

Owner: TypeAlias = Literal["own", "foreign", "inline", "instantiation"]
"""Whose an export is, see :meth:`Ownership.of`."""


class Ownership:
    """Sorts the exports of two snapshots by whether consumers depend on the library for them."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def of(self, side: Side, name: Name) -> Owner:
        """Whose the export ``name`` of one ``side`` is.

        ``own``: consumers find it here only. The others are weak C++ symbols, which each unit that uses them may emit:
        ``foreign`` ones belong to the language runtime or to a namespace in which the library has no strong symbol;
        ``instantiation`` is a template's that vanished as a whole between equal toolchains, as an explicit one does
        that ``extern template`` leaves to the library; ``inline`` is everything else.
        """
        weak = is_weak(side.snapshot.variants("symbol", name))
        if not name.spelling.startswith("_Z") or not weak or _keyed(side, name):
            return "own"
        if self._is_foreign(name):
            return "foreign"
        return "instantiation" if side is self._context.old_side and self._is_lost_instantiation(name) else "inline"

    def among(self, side: Side, spellings: Iterable[str], owner: Owner) -> list[str]:
        """Those of ``spellings`` that are ``owner``'s exports of one ``side``."""
        names = side.exports.names
        return [each for each in spellings if self.of(side, names[each]) == owner]

    def _is_foreign(self, name: Name) -> bool:
        if self._context.is_runtime:
            return False
        demangled = demangle(name.spelling)
        if entity(demangled).startswith(("operator new", "operator delete")):
            return True
        outermost = top_level(demangled)
        if any(self._context.declares(Name("record", outermost), side) for side in ("old", "new")):
            return False
        if outermost in STANDARD or not outermost:
            return outermost in STANDARD
        scopes = self._context.old_side.exports.own_scopes, self._context.new_side.exports.own_scopes
        return any(scopes) and not any(outermost in each for each in scopes)

    def _is_lost_instantiation(self, name: Name) -> bool:
        compilers = self._context.old.provenance.compilers, self._context.new.provenance.compilers
        if all(compilers) and not self._context.same_toolchain:
            return False
        subject = entity(demangle(name.spelling))
        template, arguments = template_of(subject)
        if not arguments or name.spelling.startswith(CLASS_DATA):
            return False
        exports = self._context.new_side.exports
        if subject.endswith(">"):  # a function template: deduced arguments are nobody's explicit instantiation
            return "&" not in arguments and template not in exports.templates
        return (template, arguments) not in exports.instantiations


def _keyed(side: Side, name: Name) -> bool:
    """Whether ``name`` is emitted for a class with a key function in the library, and by nobody else.

    So it is where the library exports a member function of the class that is not inline.
    """
    if not name.spelling.startswith(CLASS_DATA):
        return False
    inner = name.spelling[4:]
    inner = inner[1:-1] if inner.startswith("N") else inner
    return any(side.exports.has_strong(start + inner) for start in ("_ZN", "_ZNK", "_ZNV"))
