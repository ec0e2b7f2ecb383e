"""Which exports are other libraries' templates and inline functions, emitted here because this library uses them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from abistore.compare.context import Context
from abistore.compare.entities import entity, is_weak, top_level
from abistore.model.demangle import demangle
from abistore.model.names import Name
from abistore.model.snapshot import Snapshot

STANDARD = ("std", "__gnu_cxx", "__cxxabiv1", "__gnu_debug", "__gnu_parallel", "abi")
"""Top-level namespaces of the language runtime."""


def _is_class(outermost: str, subject: str) -> bool:
    """Whether the qualified name ``subject`` shows that ``outermost`` is a class: a constructor, or its own tables."""
    rest = subject[len(outermost) :]
    return not rest or rest.startswith("<") or rest.lstrip(":~").partition("(")[0] == outermost


class Foreigners:
    """Tells exports that are not the library's own.

    So are weak symbols whose outermost namespace belongs to the language runtime, or holds no strong symbol of the
    library while other namespaces do: both sides' consumers compiled their own copies.
    """

    def __init__(self, context: Context, old: Mapping[str, Name], new: Mapping[str, Name]) -> None:
        self._context = context
        self._sides = ((context.old, old), (context.new, new))

    @cached_property
    def _own(self) -> frozenset[str]:
        """The outermost namespaces with a strong symbol, and all classes at global scope."""
        own: set[str] = set()
        for snapshot, names in self._sides:
            for spelling, name in names.items():
                if spelling.startswith("_Z"):
                    subject = entity(demangle(spelling))
                    outermost = top_level(subject)
                    if not is_weak(snapshot, name) or _is_class(outermost, subject):
                        own.add(outermost)
        return frozenset(own - {""})

    def is_foreign(self, snapshot: Snapshot, name: Name) -> bool:
        """Whether the export ``name`` of ``snapshot`` belongs to another library."""
        if self._context.is_runtime or not name.spelling.startswith("_Z") or not is_weak(snapshot, name):
            return False
        demangled = demangle(name.spelling)
        if entity(demangled).startswith(("operator new", "operator delete")):
            return True
        outermost = top_level(demangled)
        if outermost in STANDARD or not outermost:
            return outermost in STANDARD
        return bool(self._own) and outermost not in self._own

    def among(self, snapshot: Snapshot, spellings: Iterable[str]) -> list[str]:
        """Those of ``spellings`` that are foreign exports of ``snapshot``."""
        names = dict(self._sides[0][1] if snapshot is self._context.old else self._sides[1][1])
        return [each for each in spellings if self.is_foreign(snapshot, names[each])]
