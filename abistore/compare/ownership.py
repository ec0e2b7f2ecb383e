"""Whose an export is: the library's own, another library's template, or a copy that each of its users has too."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Literal, TypeAlias

from abistore.compare.context import Context
from abistore.compare.entities import CLASS_DATA, entity, is_weak, mangled_scope, template_of, top_level
from abistore.model.demangle import demangle
from abistore.model.names import Name
from abistore.model.snapshot import Snapshot

STANDARD = ("std", "__gnu_cxx", "__cxxabiv1", "__gnu_debug", "__gnu_parallel", "abi")
"""Top-level namespaces of the language runtime."""

Owner: TypeAlias = Literal["own", "foreign", "inline", "instantiation"]
"""Whose an export is, see :meth:`Ownership.of`."""


class Ownership:
    """Sorts the exports of two snapshots by whether consumers depend on the library for them."""

    def __init__(self, context: Context, old: Mapping[str, Name], new: Mapping[str, Name]) -> None:
        self._context = context
        self._sides = ((context.old, old), (context.new, new))

    def of(self, snapshot: Snapshot, name: Name) -> Owner:
        """Whose the export ``name`` of ``snapshot`` is.

        ``own``: consumers find it here only. The others are weak C++ symbols, which each unit that uses them may emit:
        ``foreign`` ones belong to the language runtime or to a namespace in which the library has no strong symbol;
        ``instantiation`` is a template's that vanished as a whole between equal toolchains, as an explicit one does
        that ``extern template`` leaves to the library; ``inline`` is everything else.
        """
        if not name.spelling.startswith("_Z") or not is_weak(snapshot, name) or self._keyed(snapshot, name):
            return "own"
        if self._is_foreign(name):
            return "foreign"
        return "instantiation" if snapshot is self._context.old and self._is_lost_instantiation(name) else "inline"

    def among(self, snapshot: Snapshot, spellings: Iterable[str], owner: Owner) -> list[str]:
        """Those of ``spellings`` that are ``owner``'s exports in ``snapshot``."""
        names = self._sides[0 if snapshot is self._context.old else 1][1]
        return [each for each in spellings if self.of(snapshot, names[each]) == owner]

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
        return bool(self._own_scopes) and outermost not in self._own_scopes

    @cached_property
    def _own_scopes(self) -> frozenset[str]:
        """The outermost namespaces with a strong symbol, and all classes at global scope."""
        own: set[str] = set()
        for snapshot, names in self._sides:
            for spelling, name in names.items():
                outermost, is_class = mangled_scope(spelling)
                if outermost and outermost not in own and (is_class or not is_weak(snapshot, name)):
                    own.add(outermost)
        return frozenset(own)

    def _keyed(self, snapshot: Snapshot, name: Name) -> bool:
        """Whether ``name`` is emitted for a class with a key function in the library, and by nobody else.

        So it is where the library exports a member function of the class that is not inline.
        """
        if not name.spelling.startswith(CLASS_DATA):
            return False
        inner = name.spelling[4:]
        inner = inner[1:-1] if inner.startswith("N") else inner
        strong = self._strong[0 if snapshot is self._context.old else 1]
        return any(_has_prefix(strong, start + inner) for start in ("_ZN", "_ZNK", "_ZNV"))

    @cached_property
    def _strong(self) -> tuple[list[str], ...]:
        """The sorted strong C++ functions of each side."""
        return tuple(
            sorted(each for each, name in names.items() if each.startswith("_ZN") and not is_weak(snapshot, name))
            for snapshot, names in self._sides
        )

    def _is_lost_instantiation(self, name: Name) -> bool:
        compilers = self._context.old.provenance.compilers, self._context.new.provenance.compilers
        if all(compilers) and not self._context.same_toolchain:
            return False
        subject = entity(demangle(name.spelling))
        template, arguments = template_of(subject)
        if not arguments or name.spelling.startswith(CLASS_DATA):
            return False
        if subject.endswith(">"):  # a function template: deduced arguments are nobody's explicit instantiation
            return "&" not in arguments and template not in self._new_templates
        return f"{template}{arguments}" not in self._new_instantiations

    @cached_property
    def _new_instantiations(self) -> frozenset[str]:
        return frozenset(f"{template}{arguments}" for template, arguments in self._new_template_names)

    @cached_property
    def _new_templates(self) -> frozenset[str]:
        return frozenset(template for template, _ in self._new_template_names)

    @cached_property
    def _new_template_names(self) -> frozenset[tuple[str, str]]:
        spellings = (each for each in self._sides[1][1] if each.startswith("_Z") and "I" in each)
        found = (template_of(entity(demangle(each))) for each in spellings)
        return frozenset(each for each in found if each[1])


def _has_prefix(ordered: Sequence[str], prefix: str) -> bool:
    index = bisect_left(ordered, prefix)
    return index < len(ordered) and ordered[index].startswith(prefix)
