"""The export table of one side: its names by spelling, and what these tell about whose the exports are."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from operator import itemgetter
from typing import TypeAlias

from abistore.compare.consumers.runtime_symbols import is_runtime_symbol
from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.emitted import class_behind
from abistore.model.cpp_names.qualified import entity, last_component, template_of
from abistore.model.mangling.symbols import MEMBER, VTABLE, is_mangled, mangled_scope, without_qualifiers
from abistore.model.names import EXPORTS, Name, is_number
from abistore.model.shapes import AnyShape
from abistore.model.snapshot import Variants
from abistore.model.tables import Import, Symbol
from abistore.model.words.elf_symbols import binding, symbol_type

Instance: TypeAlias = tuple[str, str]
"""A class template and its arguments: ``ns::Box``, ``<int>``."""


class ExportTable:
    """The exported functions and variables of one snapshot."""

    def __init__(self, symbols: Mapping[Name, Variants]) -> None:
        self._symbols = symbols
        self._unused_members: dict[Instance, Sequence[Name]] = {}
        self._plain_members: dict[str, Mapping[Instance, Sequence[Name]]] = {}

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
        return sum([any(isinstance(each, Symbol) and bool(each.version) for each in versions) for versions in symbols])

    @cached_property
    def of_several_versions(self) -> tuple[Name, ...]:
        """The exports that have more than one version."""
        return tuple([name for name, shapes in self._symbols.items() if len(shapes) > 1 and name.kind in EXPORTS])

    @cached_property
    def chosen_at_load_time(self) -> frozenset[Name]:
        """The exports that are IFUNCs."""
        return frozenset(name for name, shapes in self._symbols.items() if any(map(_is_chosen_at_load_time, shapes)))

    @cached_property
    def numbers(self) -> frozenset[Name]:
        """The exports of a DLL that have a number and no name."""
        return frozenset(filter(is_number, self._symbols))

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

    def imported(self, prefix: str) -> Iterator[str]:
        """The symbols that begin with ``prefix`` and that the library has to find in another."""
        for index in range(bisect_left(self._imports, prefix), len(self._imports)):
            if not self._imports[index].startswith(prefix):
                break
            yield self._imports[index]

    @cached_property
    def _imports(self) -> Sequence[str]:
        return sorted(
            name.spelling
            for name, shapes in self._symbols.items()
            if name.kind == "import" and any(isinstance(each, Import) and not each.weak for each in shapes)
        )

    @cached_property
    def _strong(self) -> Sequence[str]:
        return sorted(
            spelling
            for spelling, name in self.names.items()
            if spelling.startswith(MEMBER) and not is_weak(self._symbols[name])
        )

    @cached_property
    def instantiations(self) -> frozenset[Instance]:
        """The templates of which exports are members or instances, each with its arguments."""
        spellings = (each for each in self.names if is_mangled(each) and "I" in each)
        found = (template_of(entity(demangle(each))) for each in spellings)
        return frozenset(each for each in found if each[1])

    def unused_members(self, spelling: str) -> Sequence[Name]:
        """The members of the class template's instance of which ``spelling`` is one, if the library uses none itself.

        Compilers emit what a unit uses, and all members of what it instantiates explicitly. Destructors and what
        vtables mention are left out: they are emitted for a vtable, which optimisers may drop when they are done.
        """
        instance = template_of(entity(demangle(spelling)))
        if not instance[1] or not self._any_unused:
            return ()
        if instance not in self._unused_members:
            members = self._beside(spelling).get(instance, ())
            unused = all(any(map(_is_unused, self._symbols[name])) for name in members)
            self._unused_members[instance] = members if unused else ()
        return self._unused_members[instance]

    def _beside(self, spelling: str) -> Mapping[Instance, Sequence[Name]]:
        """The plain members whose symbols begin as ``spelling`` does before the member's own name, by their classes.

        They are few, or many ask for the same: operators have no name of their own, and constructors that of the class.
        """
        last = last_component(entity(demangle(spelling)))
        symbol = without_qualifiers(spelling)
        start = symbol[: max(symbol.find(f"{len(last)}{last}"), len(MEMBER))]
        if start not in self._plain_members:
            found = defaultdict[Instance, list[Name]](list)
            for name in self._beginning(start):
                instance = self._plain_member_of(name.spelling)
                if instance is not None:
                    found[instance].append(name)
            self._plain_members[start] = found
        return self._plain_members[start]

    def _beginning(self, start: str) -> Iterator[Name]:
        first = bisect_left(self._member_functions, start, key=itemgetter(0))
        for each, name in islice(self._member_functions, first, None):
            if not each.startswith(start):
                break
            yield name

    @cached_property
    def _member_functions(self) -> Sequence[tuple[str, Name]]:
        """The member functions by their symbols without qualifiers of ``this``, sorted."""
        functions = (item for item in self.names.items() if item[0].startswith(MEMBER) and item[1].kind == "function")
        return sorted((without_qualifiers(spelling), name) for spelling, name in functions)

    def _plain_member_of(self, spelling: str) -> Instance | None:
        """The instance of which a function is a member, unless it is a destructor or stands in a vtable."""
        subject = entity(demangle(spelling))
        if subject.endswith(">") or spelling in self._in_tables or last_component(subject).startswith("~"):
            return None
        return template_of(subject)

    @cached_property
    def _any_unused(self) -> bool:
        return any(_is_unused(shape) for shapes in self._symbols.values() for shape in shapes)

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


def is_unique(symbols: Variants) -> bool:
    """Whether an export is one in the whole process, as compilers make it of what each program has too."""
    return any(isinstance(each, Symbol) and binding(each) == "unique" for each in symbols)


def _is_unused(shape: AnyShape) -> bool:
    return isinstance(shape, Symbol) and shape.elf is not None and shape.elf.unused


def _is_strong(shape: AnyShape) -> bool:
    return not isinstance(shape, Symbol) or binding(shape) == "global"


def _is_chosen_at_load_time(shape: AnyShape) -> bool:
    return isinstance(shape, Symbol) and symbol_type(shape) == "ifunc"


def sized(old: Symbol, new: Symbol) -> bool:
    """Whether both sides tell the symbol's size, and the sizes differ by more than what may be padding."""
    if old.size > 0 and new.elf is not None and new.elf.empty:
        return True
    if old.size <= 0 or new.size <= 0:
        return False
    return least(old) > new.size or least(new) > old.size


def least(symbol: Symbol) -> int:
    """The fewest bytes that an object has: where the format records no sizes, what lies behind it may be padding."""
    facts = symbol.macho or symbol.pe
    return symbol.size - (facts.padding if facts else 0)
