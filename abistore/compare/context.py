"""What a rule may ask beyond its delta: both snapshots, and what reaches what."""

from __future__ import annotations

from dataclasses import dataclass

from abistore.model.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Context:
    """The two snapshots that are being compared."""

    old: Snapshot
    new: Snapshot
