"""Which strings of libstdc++ the exports of a library take: headers declare other symbols for the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from abistore.extract.headers.options import HeaderOptions
from abistore.model.cpp_names.demangle import demangle
from abistore.model.mangling.symbols import is_of_standard_library

MACRO: Final = "_GLIBCXX_USE_CXX11_ABI"
FORMER: Final = f"{MACRO}=0"

_STRING: Final = "Ss"
"""How mangled names abbreviate the strings from before C++11; identifiers may hold these letters, too."""

_CURRENT: Final = ("7__cxx11", "B5cxx11")


def as_built(headers: HeaderOptions, exports: Iterable[str]) -> HeaderOptions:
    """``headers`` with the macro that selects the strings from before C++11, where ``exports`` take no others.

    Compilers mangle them otherwise, so that no such export would have a declaration. What the caller defines stays.
    """
    if any(each.partition("=")[0] == MACRO for each in headers.defines) or not takes_former(exports):
        return headers
    return msgspec.structs.replace(headers, defines=(*headers.defines, FORMER))


def takes_former(exports: Iterable[str]) -> bool:
    """Whether ``exports`` take strings from before C++11, and none of them takes those since.

    What a static runtime brings along has both, and tells nothing about the library.
    """
    held = [each for each in exports if not is_of_standard_library(each)]
    if any(mark in each for each in held for mark in _CURRENT):
        return False
    return any("std::string" in demangle(each) for each in held if _STRING in each)
