"""What the name of a constant, member or version node tells of its use."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from abistore.patterns import pattern

_DEFAULTS = pattern(r"(?:^|[^A-Za-z]|(?<=[a-z]))(?:[Dd]efault|DEFAULT)s?(?![a-z])")


def is_default(name: str) -> bool:
    """Whether a function or constant is called a default: ``default_options``, ``GetDefaultPort``, ``PORT_DEFAULT``."""
    return _DEFAULTS.search(name) is not None


_FORBIDDEN = (
    "donotuse",
    "donottouch",
    "donotaccess",
    "dontuse",
    "donttouch",
    "dontaccess",
    "internaluse",
)


def forbids_use(member: str) -> bool:
    """Whether a member of this name is the library's alone, whatever its type is: ``internal_donotuse``."""
    words = member.lower().replace("_", "")
    return any(each in words for each in _FORBIDDEN)


_PRIVATE: Final = pattern(r"(?i)(?:private|internal)(?![a-z])")


@lru_cache(1 << 10)
def is_private_node(version: str | None) -> bool:
    """Whether a version node says of itself that it is private or internal.

    ``GLIBC_PRIVATE``, ``Qt_5_PRIVATE_API``, ``SUNWprivate_1.1`` and ``FBSDprivate_1.0`` are such nodes. A version
    script puts there what other libraries of the same project need, and nobody else is to use.
    """
    return version is not None and _PRIVATE.search(version) is not None
