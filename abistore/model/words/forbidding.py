"""Which names of members ask programs to leave these alone."""

from __future__ import annotations

import re

from abistore.patterns import pattern

_FORBIDDEN = pattern(r"do_?not_?(use|touch|access)|dont_?(use|touch|access)|internal_use", re.IGNORECASE)


def forbids_use(member: str) -> bool:
    """Whether a member of this name is the library's alone, whatever its type is: ``internal_donotuse``."""
    return _FORBIDDEN.search(member) is not None
