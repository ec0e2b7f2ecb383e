"""Foreign names: those of the standard library and the compiler's runtime."""

from __future__ import annotations

from typing import Final

PREFIXES: Final = (
    "std::", "__gnu_cxx::", "__cxxabiv1::", "__gnu_debug::", "__gnu_parallel::", "__gnu_pbds::", "__gnu_internal::",
    "__gnu_profile::", "__pstl::",
)  # fmt: skip
BUILTINS: Final = frozenset({"__va_list_tag", "__va_list", "__builtin_va_list", "__gnuc_va_list"})
RUNTIMES: Final = ("libstdc++.", "libc++.", "libc++abi.", "libsupc++.")


def is_runtime(soname: str | None) -> bool:
    """Whether a library of this SONAME is itself the C++ runtime, so that the types of ``std`` are its own."""
    return soname is not None and soname.startswith(RUNTIMES)


def is_foreign(spelling: str, runtime: bool) -> bool:
    """Whether a type of this name is not the library's own ABI; ``runtime``: the library is the C++ runtime."""
    return spelling in BUILTINS or (not runtime and spelling.startswith(PREFIXES))
