"""What reports about a line's releases are made of."""

from __future__ import annotations

from datetime import datetime

import msgspec

from abistore.model.findings import RulingKey, Verdict
from abistore.model.history import LineKey


class MatrixRelease(msgspec.Struct, frozen=True):
    """A release of a matrix."""

    version: str
    date: datetime
    soname: str | None


class UnjudgedPair(msgspec.Struct, frozen=True):
    """Two releases about which there is no verdict, and why."""

    old: str
    new: str
    reason: str


class Matrix(msgspec.Struct, frozen=True):
    """Which of a line's releases can replace which, by ``policy``.

    ``verdicts`` has a row for each release that programs were built against, and in it a verdict for each release that
    they run on, both in the order of ``releases``; ``None`` for a release and itself, for older ones unless
    ``downgrades`` were asked for, and for the ``unjudged``. ``partial`` says in the same way of which verdicts one side
    shows less than the other, so that something may have gone unseen.
    """

    line: LineKey
    releases: tuple[MatrixRelease, ...]
    verdicts: tuple[tuple[Verdict | None, ...], ...]
    partial: tuple[tuple[bool, ...], ...]
    downgrades: bool = False
    policy: str = RulingKey().policy
    unjudged: tuple[UnjudgedPair, ...] = ()
