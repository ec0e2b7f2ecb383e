"""What came of bringing one store into another."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from abistore.model.history import LineKey

Side: TypeAlias = Literal["here", "there"]
"""Which side wins where both say something else: the store that is written to, or what is brought into it."""

Came: TypeAlias = Literal["added", "known", "replaced", "kept", "conflict", "refused"]


class MergedRelease(msgspec.Struct, frozen=True):
    """A release, or a candidate, of what was brought in.

    ``added`` is new here, ``known`` was here with this content, ``replaced`` took the place of another content of this
    version, ``kept`` left that in its place, and a ``conflict`` waits for a word which of both is right. What is
    ``refused`` has a name that no command could say, and is left out.
    """

    line: LineKey
    version: str
    status: Came
    digest: str
    candidate: bool = False
    why: str = ""


class Merged(msgspec.Struct, frozen=True):
    """What was brought into a store, or would be: the numbers count what was not there.

    ``earlier`` are snapshots that were replaced or taken back where they came from. ``conflicts`` name what both sides
    say otherwise, and ``notes`` what stays as it is here. ``left_out`` says of releases and baselines that stand there
    why they did not come: no command could say their names.
    """

    source: str
    dry_run: bool
    changed: bool
    releases: tuple[MergedRelease, ...] = ()
    earlier: int = 0
    baseline_moves: int = 0
    verdicts: int = 0
    findings: int = 0
    reviews: int = 0
    approvals: int = 0
    consumers: int = 0
    audit_records: int = 0
    conflicts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
