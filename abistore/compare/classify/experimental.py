"""Namespaces called ``experimental``: what they declare may change, and leaves them once it is stable."""

from __future__ import annotations

from typing import Final

from abistore.model.mangling.symbols import MEMBER, is_mangled
from abistore.model.names import Name

_WORD: Final = "experimental"
_MANGLED: Final = f"{len(_WORD)}{_WORD}"


def is_experimental(name: Name) -> bool:
    """Whether ``name`` stands in a namespace ``experimental``."""
    if is_mangled(name.spelling):
        return name.spelling.startswith(MEMBER) and _MANGLED in name.spelling
    return f"{_WORD}::" in name.spelling


def graduated(name: Name) -> Name:
    """What ``name`` is called once it is stable: outside the namespace."""
    word = _MANGLED if is_mangled(name.spelling) else f"{_WORD}::"
    return Name(name.kind, name.spelling.replace(word, "", 1))
