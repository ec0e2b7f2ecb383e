"""Symbols of the C++ and C runtimes that a static runtime brings into a library, strong ones too."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.emitted import outermost_of
from abistore.model.cpp_names.qualified import entity
from abistore.model.mangling.symbols import is_mangled
from abistore.patterns import pattern

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
