"""Why a stored snapshot may go."""

from __future__ import annotations

from typing import Literal, TypeAlias

PruneReason: TypeAlias = Literal["candidate", "replaced", "build"]
"""``candidate``: it failed its gate. ``replaced``: another took its label, or it was taken back. ``build``: its label
is of a build between releases, as ``git describe`` gives it."""
