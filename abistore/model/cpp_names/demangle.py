"""Mangled C++ symbols as people write them: by the C++ runtime's own demangler, or as far as they are plain."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache

from abistore.model.cpp_names.normal import normal_name
from abistore.model.mangling.decorated import OF_TABLES, is_decorated
from abistore.model.mangling.symbols import ENCODED, is_mangled
from abistore.patterns import pattern

MAX_LENGTH = 1 << 14
MAX_OUTPUT = 1 << 16
"""Longer symbols stay mangled, and so do those that would become longer, which is known before."""

SURE_LENGTH, SURE_GROWTH = 1 << 12, 40
"""Names up to so long, or so many times as long as their symbol, get their normal form; real ones grow by 32 at most.

Of others a small file could hold hundreds, and spelling each in normal form takes a tenth of a second."""

SPECIAL_PREFIXES = {"TV": "vtable for ", "TI": "typeinfo for ", "TS": "typeinfo name for ", "TT": "VTT for "}

_SPECIAL = pattern(r"construction vtable for (?P<table>.+)-in-(?P<whole>.+)|(?P<thunk>non-virtual thunk to )")

RUNTIMES = ("libstdc++.so.6", "libc++abi.so.1", "libc++.1.dylib")


@lru_cache(1 << 18)
def demangle(symbol: str) -> str:
    """The normal form of what ``symbol`` names; ``symbol`` itself where it is not a mangled C++ name."""
    if not is_mangled(symbol) or not symbol.isascii() or len(symbol) > MAX_LENGTH:
        return symbol
    if is_decorated(symbol):
        from abistore.model.mangling.microsoft import demangled  # ELF files have none

        readable = demangled(symbol) or symbol
        return readable if readable == symbol or readable.startswith(OF_TABLES) else normal_name(readable)
    from abistore.model.mangling.length import is_short  # C has no such names

    text = _demangler()(symbol) if is_short(symbol) else None
    if not text or len(text) > MAX_OUTPUT:
        return symbol
    sure = len(text) <= max(SURE_LENGTH, SURE_GROWTH * len(symbol))
    return normal_demangled(text) if sure else text


def normal_demangled(text: str) -> str:
    """The normal form of a demangled name; the hyphens in what stands before one are no operators."""
    said = _SPECIAL.match(text)
    if said is None:
        return normal_name(text)
    if said["table"]:
        return f"construction vtable for {normal_name(said['table'])}-in-{normal_name(said['whole'])}"
    return said["thunk"] + normal_name(text[said.end("thunk") :])


@cache
def _demangler() -> Callable[[str], str | None]:
    return runtime_demangler() or plain_name


def runtime_demangler() -> Callable[[str], str | None] | None:
    """``__cxa_demangle`` of the C++ runtime (Itanium C++ ABI, section 3.4), or ``None`` without one."""
    import ctypes  # loads libffi and a C++ runtime: only for who demangles

    for library in RUNTIMES:
        try:
            loaded = ctypes.CDLL(library)
            function, release = loaded.__cxa_demangle, ctypes.CDLL(None).free
        except (OSError, AttributeError):
            continue
        break
    else:
        return None
    function.restype = ctypes.c_void_p
    function.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
    release.restype = None
    release.argtypes = [ctypes.c_void_p]

    def run(symbol: str) -> str | None:
        status = ctypes.c_int()
        address = function(symbol.encode(), None, None, ctypes.byref(status))
        if not address:
            return None
        try:
            return ctypes.string_at(address).decode("utf-8", "replace")
        finally:
            release(address)

    return run


def plain_name(symbol: str) -> str | None:
    """The qualified name without parameters, where the symbol spells it in plain identifiers; else ``None``.

    Itanium C++ ABI, section 5.1: ``_Z3fooi`` is ``foo``, ``_ZN3geo5ShapeD1Ev`` is ``geo::Shape::~Shape``.
    """
    match = ENCODED.match(symbol)
    if match is None:
        return None
    prefix, rest = SPECIAL_PREFIXES.get(match["special"], ""), symbol[match.end() :]
    components: list[str] = []
    while length := re.match(r"[1-9]\d{0,3}", rest):
        end = length.end() + int(length[0])
        components.append(
            "(anonymous namespace)" if rest[length.end() :].startswith("_GLOBAL__N") else rest[length.end() : end]
        )
        rest = rest[end:]
        if not match["nested"] or not components[-1]:
            break
    if components and rest.startswith(("C1", "C2", "D0", "D1", "D2")) and match["nested"]:
        components.append(("~" if rest[0] == "D" else "") + components[-1])
        rest = rest[2:]
    if not components or (match["nested"] and not rest.startswith("E")) or rest.startswith(("I", "B")):
        return None
    return prefix + "::".join(components)
