"""Names of defaults: values to begin with, of which programs make or pass others."""

from __future__ import annotations

from abistore.patterns import pattern

_DEFAULTS = pattern(r"(?:^|[^A-Za-z]|(?<=[a-z]))(?:[Dd]efault|DEFAULT)s?(?![a-z])")


def is_default(name: str) -> bool:
    """Whether a function or constant is called a default: ``default_options``, ``GetDefaultPort``, ``PORT_DEFAULT``."""
    return _DEFAULTS.search(name) is not None
