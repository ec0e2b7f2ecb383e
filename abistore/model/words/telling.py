"""What the name of a constant, member, namespace or version node tells of its use."""

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


_INTERNAL: Final = pattern(r"_*(?:\w+_)?(?:details?|internals?|impl|implementation|private|priv|aux)(?:_*v?\d+)?_*")


@lru_cache(1 << 12)
def is_internal_namespace(name: str) -> bool:
    """Whether a namespace says of itself that only the library is to name what stands in it: ``detail``, ``impl_``."""
    return _INTERNAL.fullmatch(name) is not None


def names_internals(qualified: str) -> bool:
    """Whether a qualified name has a scope in it that is called like an internal namespace."""
    return any(is_internal_namespace(each) for each in qualified.split("::")[:-1])
