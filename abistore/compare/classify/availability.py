"""On which systems a declaration is available, as attributes of it say."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from abistore.model.declared import Declared

_NEVER: Final = (1 << 31,)


class Availability(msgspec.Struct, frozen=True):
    """The first release of a system that has a declaration, and the first that has it no more."""

    introduced: tuple[int, ...] = ()
    obsoleted: tuple[int, ...] = _NEVER


def is_narrower(old: Declared, new: Declared) -> bool:
    """Whether a release of some system has the ``old`` declaration and not the ``new`` one.

    What says nothing of a system is available on all its releases.
    """
    before, after = _by_platform(old), _by_platform(new)
    always = Availability()
    pairs = ((before.get(each, always), after.get(each, always)) for each in before.keys() | after.keys())
    return any(new.introduced > old.introduced or new.obsoleted < old.obsoleted for old, new in pairs)


def _by_platform(declared: Declared) -> dict[str, Availability]:
    return {text.split()[0]: _availability(text) for text in declared.availability if text.strip()}


def _availability(text: str) -> Availability:
    if "unavailable" in text.split():
        return Availability(_NEVER, ())
    found = dict(word.split("=", 1) for word in text.split() if "=" in word)
    introduced, obsoleted = (_version(found.get(each, "")) for each in ("introduced", "obsoleted"))
    return Availability(introduced, obsoleted or _NEVER)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d{1,9}", text))
