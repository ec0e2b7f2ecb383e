"""Names of which parts are not known: ``list_*_of``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fnmatch import translate
from typing import Final

ANY: Final = "*"
"""Stands for any characters, or none."""


def matcher(words: Iterable[str]) -> Callable[[str], bool]:
    """Whether a name is one of these, in which :data:`ANY` may stand."""
    known = frozenset(words)
    patterns = [translate(each) for each in sorted(known) if ANY in each]
    pattern = re.compile("|".join(patterns)) if patterns else None
    return lambda name: name in known or (pattern is not None and pattern.match(name) is not None)
