"""Regular expressions that are compiled when one is first used: most commands use few of those they import."""

from __future__ import annotations

import re
from typing import Any, AnyStr, Final, cast

_PARTS: Final = ("findall", "finditer", "fullmatch", "groups", "match", "search", "split", "sub", "subn")


def pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """``re.compile(text, flags)``, put off until it is used. One in a hundred seconds compiles some fifty."""
    return cast("re.Pattern[AnyStr]", _Pattern(text, flags))


class _Pattern:
    def __init__(self, text: Any, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = re.compile(self._text, self._flags)
        for part in _PARTS:
            setattr(self, part, getattr(compiled, part))  # the next call does not come here
        return getattr(compiled, name)
