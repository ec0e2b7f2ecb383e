"""Blank values, as the unset variables of scripts give them: an error wherever a value may be given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from abistore.errors import UsageError

UNSET: Final = "is a variable of the script unset? give a value, or leave it out"


class Given(msgspec.Struct, frozen=True):
    """Words that a caller gives. Those that may be left out are ``None``, or as by default, where they are.

    Raises :class:`UsageError` for blank ones.
    """

    def __post_init__(self) -> None:
        """Refuse a blank word that is no default."""
        names = self.__struct_fields__
        unsaid = dict(zip(reversed(names), reversed(self.__struct_defaults__), strict=False))
        for name in names:
            value = getattr(self, name)
            if isinstance(value, str | tuple) and value != unsaid.get(name):
                check_not_blank(name, value)


def is_blank(text: str) -> bool:
    """Whether a text has nothing that can be seen."""
    return not any(each.isprintable() and not each.isspace() for each in text)


def check_not_blank(what: str, value: object) -> None:
    """Raise :class:`UsageError` where a value is a blank text, or has one in it; ``None`` is no value."""
    if (place := blank_in(what, value)) is not None:
        raise UsageError(f"{place} is empty", UNSET)


def blank_in(what: str, value: Any) -> str | None:
    """The first place in a value where a blank text stands; ``None`` where there is none."""
    if isinstance(value, str):
        return what if is_blank(value) else None
    inner: Any = ()
    if isinstance(value, Mapping):
        inner = ((f"{what}.{name}" if what else str(name), each) for name, each in value.items())
    elif isinstance(value, list | tuple | set | frozenset):
        inner = ((what, each) for each in value)
    return next((place for name, each in inner if (place := blank_in(name, each)) is not None), None)
