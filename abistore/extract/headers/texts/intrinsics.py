"""Another compiler's headers of intrinsics as libclang can read them: types and declarations, without the bodies.

The bodies call functions that gcc, or a clang of that version, alone has built in. What other headers make of
intrinsics only needs declarations::

    extern __inline __m128 __attribute__((__gnu_inline__, __always_inline__, __artificial__))
    _mm_add_ps (__m128 __A, __m128 __B)
    { return (__m128) ((__v4sf)__A + (__v4sf)__B); }

The types stay those of the compiler, with their sizes and alignments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

VECTORS: Final = """\
#ifndef ABISTORE_VECTORS
#define ABISTORE_VECTORS
typedef long long __m64 __attribute__((__vector_size__(8), __aligned__(8)));
typedef float __m128 __attribute__((__vector_size__(16), __aligned__(16)));
typedef double __m128d __attribute__((__vector_size__(16), __aligned__(16)));
typedef long long __m128i __attribute__((__vector_size__(16), __aligned__(16)));
typedef float __m256 __attribute__((__vector_size__(32), __aligned__(32)));
typedef double __m256d __attribute__((__vector_size__(32), __aligned__(32)));
typedef long long __m256i __attribute__((__vector_size__(32), __aligned__(32)));
typedef float __m512 __attribute__((__vector_size__(64), __aligned__(64)));
typedef double __m512d __attribute__((__vector_size__(64), __aligned__(64)));
typedef long long __m512i __attribute__((__vector_size__(64), __aligned__(64)));
#endif
"""
"""What headers of another compiler say of vectors where not even their declarations can be read."""

_BODY: Final = re.compile(r"(?<=\))\s*\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}")
_OPTIMIZED: Final = re.compile(r"^#[ \t]*ifdef[ \t]+__OPTIMIZE__\b", re.MULTILINE)
"""Before functions that are macros otherwise, which call what is built in."""

_STATEMENT: Final = re.compile(
    r"^(#[ \t]*define[ \t]+\w+[ \t]*\([^)\n]*\))[ \t]*(?:\\\n[ \t]*)?do\b(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE
)
"""A macro that is a statement, of which nothing but its name matters: ``_MM_TRANSPOSE4_PS``."""

_PREFETCH: Final = re.compile(r"^extern\b[^;{}#]*\b_mm_prefetch\s*\([^;{}]*\);", re.MULTILINE)
"""A function that libclang knows itself, with other parameters."""

_PREFETCHED: Final = "#define _mm_prefetch(P, I) __builtin_prefetch(P)"


def declared(text: str) -> str:
    """A header of intrinsics without the bodies of its functions."""
    declarations = _BODY.sub(";", _OPTIMIZED.sub("#if 1", text))
    return _PREFETCH.sub(_PREFETCHED, _STATEMENT.sub(r"\1 do { } while (0)", declarations))


@lru_cache(2)
def declared_files(files: tuple[str, ...]) -> Mapping[str, str]:
    """What is read in place of each of these headers."""
    texts = {file: Path(file).read_text(encoding="utf-8", errors="replace") for file in files}
    return MappingProxyType({file: declared(text) for file, text in texts.items()})
