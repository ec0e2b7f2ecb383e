"""The names of the C and C++ libraries' functions and variables: no other library of a process has them for itself."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from abistore.compare.consumers.runtime_symbols import RUNTIMES
from abistore.model.mangling.symbols import REPLACEABLE

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
