"""Families of one function by instruction set: ``blend_sse41``, ``blend_avx2`` and ``blend_neon``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

_SET = (
    r"(?i)(?P<base>\w*[a-z0-9])_(?:mmx|sse[234]?|ssse3|sse4_?[12]|avx|avx2|avx512\w{0,8}|bmi[12]?|fma[34]?|neon|asimd|sve2?"
    r"|altivec|vsx|msa|lsx|lasx|rvv|wasm_?simd)"
)
"""Compiled when a name is first looked at: few comparisons do."""


def families(gone: Iterable[str], before: Collection[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The functions of which variants are ``gone``, each with these, where there were two or more of it ``before``."""
    variants: dict[str, list[str]] = {}
    for spelling in sorted(gone):
        if found := re.fullmatch(_SET, spelling):
            variants.setdefault(found["base"], []).append(spelling)
    for base, own in sorted(variants.items()):
        if len(own) > 1 or any(
            each.startswith(f"{base}_") and re.fullmatch(_SET, each) for each in before if each not in own
        ):
            yield base, tuple(own)
