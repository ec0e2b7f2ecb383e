"""The export table of one side: its names by spelling, and what these tell about whose the exports are."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cached_property

from abistore.compare.consumers.runtime_symbols import is_runtime_symbol
from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.emitted import class_behind
from abistore.model.cpp_names.qualified import entity, last_component, template_of
from abistore.model.mangling.symbols import MEMBER, VTABLE, is_mangled, mangled_scope
from abistore.model.names import Name
from abistore.model.shapes import AnyShape, Symbol
from abistore.model.snapshot import Variants
from abistore.model.words.elf_symbols import binding, symbol_type


class ExportTable:
    """The exported functions and variables of one snapshot."""

    def __init__(self, symbols: Mapping[Name, Variants]) -> None:
        self._symbols = symbols

    @cached_property
    def names(self) -> Mapping[str, Name]:
        """Each export by its spelling; a function goes before a variable of the same."""
        found: dict[str, Name] = {}
        for name in self._symbols:
            if name.kind == "function" or (name.kind == "variable" and name.spelling not in found):
                found[name.spelling] = name
        return found

    @cached_property
    def versioned(self) -> int:
        """How many exports have a version."""
        symbols = map(self._symbols.__getitem__, self.names.values())
        return sum([any(map(_has_version, versions)) for versions in symbols])

    @cached_property
    def chosen_at_load_time(self) -> frozenset[Name]:
        """The exports that are IFUNCs."""
        return frozenset(name for name, shapes in self._symbols.items() if any(map(_is_chosen_at_load_time, shapes)))

    @cached_property
    def own_scopes(self) -> frozenset[str]:
        """The outermost namespaces with a strong symbol, and all classes at global scope."""
        own: set[str] = set()
        for spelling, name in self.names.items():
            outermost, is_class = mangled_scope(spelling)
            if outermost and outermost not in own and (is_class or not is_weak(self._symbols[name])):
                own.add(outermost)
        return frozenset(own)

    @cached_property
    def has_functions(self) -> bool:
        """Whether any function is exported."""
        return any(name.kind == "function" for name in self.names.values())

    @cached_property
    def has_cpp_functions(self) -> bool:
        """Whether a C++ function is exported, other than the runtime's."""
        cpp = (each for each, name in self.names.items() if name.kind == "function" and is_mangled(each))
        return not all(map(is_runtime_symbol, cpp))

    def has_strong(self, prefix: str) -> bool:
        """Whether a strong C++ function begins with ``prefix``."""
        index = bisect_left(self._strong, prefix)
        return index < len(self._strong) and self._strong[index].startswith(prefix)

    @cached_property
    def _strong(self) -> Sequence[str]:
        return sorted(
            spelling
            for spelling, name in self.names.items()
            if spelling.startswith(MEMBER) and not is_weak(self._symbols[name])
        )

    @cached_property
    def instantiations(self) -> frozenset[tuple[str, str]]:
        """The templates of which exports are members or instances, each with its arguments."""
        spellings = (each for each in self.names if is_mangled(each) and "I" in each)
        found = (template_of(entity(demangle(each))) for each in spellings)
        return frozenset(each for each in found if each[1])

    @cached_property
    def unused_instances(self) -> Mapping[tuple[str, str], Sequence[Name]]:
        """The instances of class templates of which the library uses no member itself, each with its members.

        Compilers emit what a unit uses, and all members of what it instantiates explicitly. Destructors and what
        vtables mention are left out: they are emitted for a vtable, which optimisers may drop when they are done.
        """
        members: dict[tuple[str, str], list[Name]] = {}
        used = set[tuple[str, str]]()
        for spelling, name in self.names.items():
            if spelling.startswith(MEMBER) and "I" in spelling and name.kind == "function" and self._any_unused:
                subject = entity(demangle(spelling))
                if spelling in self._in_tables or subject.endswith(">") or last_component(subject).startswith("~"):
                    continue
                instance = template_of(subject)
                members.setdefault(instance, []).append(name)
                if not any(isinstance(each, Symbol) and each.elf and each.elf.unused for each in self._symbols[name]):
                    used.add(instance)
        return {instance: names for instance, names in members.items() if instance[1] and instance not in used}

    @cached_property
    def _any_unused(self) -> bool:
        shapes = (shape for shapes in self._symbols.values() for shape in shapes)
        return any(isinstance(shape, Symbol) and shape.elf is not None and shape.elf.unused for shape in shapes)

    @cached_property
    def _in_tables(self) -> frozenset[str]:
        """What the vtables mention."""
        shapes = (shape for shapes in self._symbols.values() for shape in shapes if isinstance(shape, Symbol))
        return frozenset(word for shape in shapes for word in shape.table)

    @cached_property
    def tabled(self) -> frozenset[str]:
        """The classes whose vtables were read."""
        return frozenset(class_behind(each) for each, name in self.names.items() if self._has_table(each, name))

    def _has_table(self, spelling: str, name: Name) -> bool:
        tables = (shape for shape in self._symbols[name] if isinstance(shape, Symbol) and shape.table)
        return spelling.startswith(VTABLE) and any(tables)

    @cached_property
    def templates(self) -> frozenset[str]:
        """The templates among these."""
        return frozenset(template for template, _ in self.instantiations)


def is_weak(symbols: Variants) -> bool:
    """Whether every version of an export is weak or unique: code that others may have compiled too."""
    return not any(map(_is_strong, symbols))


def _is_strong(shape: AnyShape) -> bool:
    return not isinstance(shape, Symbol) or binding(shape) == "global"


def _has_version(shape: AnyShape) -> bool:
    return isinstance(shape, Symbol) and bool(shape.version)


def _is_chosen_at_load_time(shape: AnyShape) -> bool:
    return isinstance(shape, Symbol) and symbol_type(shape) == "ifunc"
