"""Version nodes that a library keeps for itself, by their names."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from abistore.patterns import pattern

_PRIVATE: Final = pattern(r"(?i)(?:private|internal)(?![a-z])")


@lru_cache(1 << 10)
def is_private_node(version: str | None) -> bool:
    """Whether a version node says of itself that it is private or internal.

    ``GLIBC_PRIVATE``, ``Qt_5_PRIVATE_API``, ``SUNWprivate_1.1`` and ``FBSDprivate_1.0`` are such nodes. A version
    script puts there what other libraries of the same project need, and nobody else is to use.
    """
    return version is not None and _PRIVATE.search(version) is not None
