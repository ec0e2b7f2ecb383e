"""Fixing the order that the lines of an older database have, before a new label can change it.

Before schema 0004, ``auto`` was the first scheme that read all labels of a line, so that a label could re-sort the
others. A line whose order was not that of today's ``auto`` keeps it by a scheme of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from abistore.model.history import LineKey, Release
from abistore.model.labels.steps import AUTO
from abistore.model.labels.versions import SCHEMES, SPECIFIED, position
from abistore.store.database.audit import record
from abistore.store.database.database import Database
from abistore.store.releases.lines import set_own_scheme
from abistore.store.releases.releases import lines, releases, scheme_of

SCHEMES_OF_LINES: Final = "0004"
"""The schema since which a line can have a scheme."""

_FOREIGN_TO_PEP440 = re.compile(r"\+|-\d|\d[A-Za-z]+$")
"""What PEP 440 reads otherwise than it was meant, so that ``auto`` left it to other schemes."""


def settle(database: Database) -> None:
    """Fix the scheme of each line whose order today's ``auto`` would change."""
    for line in lines(database):
        if scheme_of(database, line) == AUTO:
            _settle(database, line)


def _settle(database: Database, line: LineKey) -> None:
    ordered = releases(database, line.library, line.target, line.profile)
    chosen = _chosen_before(ordered)
    read, natural = SPECIFIED[chosen], SPECIFIED["plain"]
    before = sorted(ordered, key=lambda one: (read(one.version), natural(one.version), one.version))
    if before == list(ordered):
        return
    if before != sorted(ordered, key=lambda one: position(one.version, one.sequence, chosen)):
        # git-describe labels came before their tags: the one order that is not kept
        record(database, "", "scheme", str(line), f"auto; latest {ordered[-1].version}, was {before[-1].version}")
        return
    set_own_scheme(database, line, chosen)
    record(database, "", "scheme", str(line), f"{chosen}, as it was ordered; was auto")


def _chosen_before(ordered: Sequence[Release]) -> str:
    """What ``auto`` was for the labels of a line."""
    return next(scheme for scheme in SCHEMES if all(_meant(scheme, release.version) for release in ordered))


def _meant(scheme: str, label: str) -> bool:
    if scheme == "pep440" and _FOREIGN_TO_PEP440.search(label):
        return False
    return SPECIFIED[scheme](label) is not None
