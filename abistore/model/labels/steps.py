"""How large a step a release declares to be."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, Literal, TypeAlias

import msgspec

AUTO: Final = "auto"
"""The version scheme of a library for which none is declared: labels of all conventions are read."""

Versioning: TypeAlias = Literal["semantic", "calendar", "libtool", "serial", "unknown"]


class Step(IntEnum):
    """How large a step a release is, or declares to be."""

    NONE = 0
    PATCH = 1
    MINOR = 2
    MAJOR = 3

    @property
    def label(self) -> str:
        """The step as it is written in reports and JSON: ``minor``."""
        return self.name.lower()


class Promise(msgspec.Struct, frozen=True):
    """What two labels say: how they are read, and the step that they declare; ``None`` if they promise nothing.

    ``breaking`` is the step that may break in this scheme, and ``adding`` the one that may add: ``minor`` and ``patch``
    in ``0.x``. ``lowered``: the new label is below the old one. ``unreleased``: the new side is no release of its own,
    such as ``1.9.4-14-g126bde0``.
    """

    versioning: Versioning
    declared: Step | None
    breaking: Step = Step.MAJOR
    adding: Step = Step.MINOR
    lowered: bool = False
    unreleased: bool = False

    @property
    def may_break(self) -> bool:
        """Whether the labels declare a release that may break."""
        return self.declared is not None and self.declared >= self.breaking


NO_PROMISE: Final = Promise("unknown", None)
"""What is said by labels that nobody can read, and where there are none."""
