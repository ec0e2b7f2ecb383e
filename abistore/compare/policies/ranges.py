"""Ranges of versions: ``>=1.2, <2.0``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from abistore.errors import PolicyError, UsageError
from abistore.model.labels.versions import check_version, reading, series

BOUND = re.compile(r"(?P<relation><=|>=|<|>|==|!=)\s*(?P<version>[^\s,<>=!]+)")

RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True, slots=True)
class VersionRange:
    """The versions within all bounds, in the order of the scheme (:mod:`abistore.model.labels.versions`)."""

    bounds: tuple[tuple[str, str], ...]
    scheme: str = "auto"

    def __contains__(self, version: str) -> bool:
        """Whether a version is in the range; one that the scheme cannot read is not, nor is one of another series."""
        key = reading(version, self.scheme)
        return key is not None and all(
            series(bound, self.scheme) == series(version, self.scheme)
            and RELATIONS[relation](key, reading(bound, self.scheme))
            for relation, bound in self.bounds
        )


def parse_range(text: str, scheme: str, where: str) -> VersionRange:
    """The range that ``text`` describes. Raises :class:`PolicyError`."""
    bounds = []
    for part in text.split(","):
        match = BOUND.fullmatch(part.strip())
        if match is None:
            raise PolicyError(f"{where}: {text!r} is not a range of versions", "write bounds, e.g. '>=1.2, <2.0'")
        bounds.append((match["relation"], match["version"]))
        try:
            check_version(match["version"], scheme)
        except UsageError as error:
            raise PolicyError(f"{where}: {error.message}", error.hint) from error
    return VersionRange(tuple(bounds), scheme)
