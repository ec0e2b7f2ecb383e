"""How a prompt is declared: its arguments, and the task that it makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ARGUMENTS: Mapping[str, str] = {
    "library": "Library name as stored",
    "version": "Version label of the release",
    "new_input": "The new build: a stored reference, or an absolute path",
    "comparison_id": "From an earlier answer",
    "finding_id": "id of the finding",
    "from_version": "Version label of the old release",
    "to_version": "Version label of the new release",
}
"""What clients are told of the arguments."""


@dataclass(frozen=True, slots=True)
class Task:
    """A prompt: ``text`` names its arguments in braces, and so does ``about``, the address of what is sent with it."""

    name: str
    description: str
    text: str
    about: str = ""
    arguments: tuple[str, ...] = field(default=())

    def message(self, given: Mapping[str, str]) -> str:
        """The task about what was given."""
        return self.text.format_map(given)
