"""The export table of one side: which exports are the library's own, and which belong to language runtimes."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Final, TypeAlias

from abistore.model.declarations import EXPORTS, Name, is_number
from abistore.model.names.qualified import demangle, entity, last_component, outermost_of, template_of
from abistore.model.names.symbols import (
    MEMBER,
    REPLACEABLE,
    is_mangled,
    mangled_scope,
    plain_path,
    without_qualifiers,
)
from abistore.model.shapes import AnyShape, Import, Symbol, binding, symbol_type
from abistore.model.snapshot import Snapshot, Variants
from abistore.patterns import pattern

PLUGINS = r"lib(pi_|ur_adapter_|ur_loader)\w*"
"""Libraries that the DPC++ runtime opens for each backend: plugin interface (pi), later unified runtime (ur)."""

ENTRY_POINT = r"(pi|ur)(?=[A-Z])\w+"


def is_entry_point(name: Name, snapshot: Snapshot) -> bool:
    """Whether ``name`` is a function of the plugin interface, exported by a plugin."""
    return (
        name.kind == "function"
        and re.fullmatch(PLUGINS, snapshot.library) is not None
        and re.fullmatch(ENTRY_POINT, name.spelling) is not None
    )


STANDARD: Final = ("std", "__gnu_cxx", "__cxxabiv1", "__gnu_debug", "__gnu_parallel", "abi")
"""Top-level namespaces of the language runtime."""

RUNTIMES: Final = frozenset({"libstdc++", "libc++", "libc++abi", "libsupc++", "libgcc_s", "libunwind"})
"""Libraries for which the runtime's names are their own."""

SUPPORT: Final = (
    r"__cxa_\w+|__gxx_personality_\w+|__gcc_personality_\w+|__dynamic_cast|_Unwind_\w+|__(?:de)?register_frame\w*"
    r"|__emutls_\w+|__once_proxy|_ITM_\w+|__cpu_(?:model|indicator_init|features2)"
    r"|__(?:u?(?:div|mod|divmod|mul|cmp)|(?:add|sub|mul|neg|abs)v?|ash[lr]|lshr|c[lt]z|ffs|popcount|parity|clrsb"
    r"|bswap|pow|fix(?:uns)?|float(?:un)?|extend|trunc|eq|ne|lt|le|gt|ge|unord)(?:[hsdtxo][fci]){1,2}[2-4]?"
)
"""Functions that compilers call, of libgcc, libsupc++ and libunwind: ``__cxa_throw``, ``__divti3``."""

_START: Final = pattern(r"(?<![\w:$])[A-Za-z_]\w*")
"""The first name of each qualified name."""

_WORDS: Final = frozenset(
    [
        *("vtable", "VTT", "typeinfo", "name", "for", "guard", "variable", "transaction", "clone", "non", "virtual"),
        *("covariant", "return", "thunk", "to", "construction", "in", "reference", "temporary", "TLS", "init"),
        *("function", "wrapper", "operator", "const", "volatile", "restrict", "unsigned", "signed", "char", "short"),
        *("int", "long", "float", "double", "bool", "void", "wchar_t", "char8_t", "char16_t", "char32_t", "auto"),
        *("decltype", "nullptr_t", "new", "delete", "noexcept", "true", "false", "sizeof", "cxx11"),
        *("timespec", "tm", "lconv", "FILE"),
    ]
)
"""What stands beside names in what is demangled, and types of the C library."""

_RESERVED: Final = pattern(r"__|_[A-Z]")


@lru_cache(1 << 12)
def is_runtime_symbol(symbol: str) -> bool:
    """Whether ``symbol`` belongs to a runtime and mentions nothing else.

    ``std::hash<geo::Point>`` is what a library adds to it, and so are operators that replace the runtime's.
    """
    if not is_mangled(symbol):
        return symbol.startswith("_") and re.fullmatch(SUPPORT, symbol) is not None
    if "S" not in symbol and "__" not in symbol:
        return False
    if outermost_of(symbol) not in STANDARD:
        return False
    demangled = demangle(symbol)
    if demangled == symbol:
        return symbol[4:5].isdecimal() and _names_std_alone(symbol)  # and no operator of std
    if entity(demangled).startswith("operator"):
        return False
    return all(each in STANDARD or each in _WORDS or _RESERVED.match(each) for each in _START.findall(demangled))


_WRITTEN: Final = pattern(r"DF\d+|S[\dA-Z]*_|(?P<std>St)?(?P<length>\d+)")
"""A floating type (``DF128_``), a substitution, or the length of a name that is written out (section 5.1)."""


def _names_std_alone(symbol: str) -> bool:
    """Whether each name that is written out in ``symbol`` is one of ``std``, which the demangler here cannot read.

    ``_ZSt8to_charsPcS_DF128_`` is of GCC 13, and the C++ runtime of this machine may be older.
    """
    place = 2
    while found := _WRITTEN.search(symbol, place):
        if found["length"] and not found["std"]:
            return False
        place = found.end() + int(found["length"] or 0)
    return True


LIST: Final = Path(__file__).with_name("c_library.txt")

OWNERS: Final = RUNTIMES | {"libc", "libm", "libpthread", "librt", "libdl"}
"""The libraries that these names are for."""

ALLOCATORS: Final = frozenset({"malloc", "calloc", "realloc", "free", "aligned_alloc", "posix_memalign"})


def is_allocator(symbol: str) -> bool:
    """Whether programs and the C++ library let a function of this name replace the one that allocates memory."""
    return symbol in ALLOCATORS or REPLACEABLE.fullmatch(symbol) is not None


def is_of_runtime(symbol: str) -> bool:
    """Whether the C library has something of this name, or the C++ library a function that programs replace."""
    return symbol in _c_library() or is_allocator(symbol)


@cache
def _c_library() -> frozenset[str]:
    return frozenset(_words())


def _words() -> Iterator[str]:
    for line in LIST.read_text("ascii").splitlines():
        if not line.startswith("#"):
            yield from line.split()


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
        shapes = (shape for shapes in self._symbols.values() for shape in shapes if isinstance(shape, Symbol))
        return frozenset(word for shape in shapes for word in shape.table)

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


ScopePath: TypeAlias = tuple[str, ...]
"""A qualified name by its components: ``("geo", "detail")``."""


class OwnTypes:
    """The classes that the library defines, whoever declares them.

    So it is where the library exports a member of the class that no program emits, or something beside it in the same
    namespace, of which it needs nothing from other libraries: several libraries may share a namespace.
    """

    def __init__(self, symbols: Mapping[Name, Variants]) -> None:
        self._symbols = symbols

    def has(self, qualified: str) -> bool:
        """Whether the class ``qualified``, which is spelled without template arguments, is one of these."""
        path = tuple(qualified.split("::"))
        if path in self._scopes:
            return True
        if path[:-1] in self._scopes and path[:-1] not in self._shared:
            return True
        return path not in self._shared and self._is_called_after_another(path)

    def _is_called_after_another(self, path: ScopePath) -> bool:
        """Whether a class of the library's own beside this one has a name that this one goes on with a further word.

        ``JobPrivate`` beside ``Job`` is what the library keeps for each.
        """
        *around, own = path
        words = [place for place, letter in enumerate(own) if place and (letter.isupper() or letter == "_")]
        return any((*around, own[:place]) in self._classes for place in words)

    @cached_property
    def _classes(self) -> frozenset[ScopePath]:
        paths = (
            plain_path(name.spelling)
            for name, shapes in self._symbols.items()
            if name.kind == "function" and not is_weak(shapes)
        )
        return frozenset(path[:-1] for path in paths if len(path) > 1 and path[-1].lstrip("~") == path[-2])

    @cached_property
    def _scopes(self) -> frozenset[ScopePath]:
        """What the strong functions stand in; instances of templates may be of others."""
        found: set[ScopePath] = set()
        for name, shapes in self._symbols.items():
            if name.kind == "function" and not is_weak(shapes):
                found.update(_scopes(name.spelling))
        return frozenset(found)

    @cached_property
    def _shared(self) -> frozenset[ScopePath]:
        """The scopes of what the library has to find in others, and what is around these."""
        imports = (plain_path(name.spelling) for name in self._symbols if name.kind == "import")
        return frozenset(path[:length] for path in imports for length in range(1, len(path) + 1))


def _scopes(symbol: str) -> Iterator[ScopePath]:
    """What a function stands in; around a class too, which constructors and destructors tell from a namespace."""
    path = plain_path(symbol)
    if len(path) < 2 or "".join(f"{len(each)}{each}" for each in path) + "I" in symbol:
        return
    yield path[:-1]
    if len(path) > 2 and path[-1].lstrip("~") == path[-2]:
        yield path[:-2]
