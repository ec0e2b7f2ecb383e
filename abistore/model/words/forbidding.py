"""Which names of members ask programs to leave these alone."""

from __future__ import annotations

_FORBIDDEN = (
    *("donotuse", "donottouch", "donotaccess"),
    *("dontuse", "donttouch", "dontaccess"),
    "internaluse",
)


def forbids_use(member: str) -> bool:
    """Whether a member of this name is the library's alone, whatever its type is: ``internal_donotuse``."""
    words = member.lower().replace("_", "")
    return any(each in words for each in _FORBIDDEN)
