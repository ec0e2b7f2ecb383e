"""How a prompt is declared: its arguments, and the task that it makes of them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from abistore.model.words.characters import json_text

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


IDS = frozenset({"comparison_id", "finding_id"})
LONGEST = 200
"""How many characters an argument of a prompt has at most."""

_ID = re.compile(r"[0-9A-Fa-f]{4,40}")


@dataclass(frozen=True, slots=True)
class Task:
    """A prompt: ``text`` names its arguments in braces, and so does ``about``, the address of what is sent with it.

    ``text`` may also name stored references that are made of them: ``baseline``, ``old`` and ``new``. ``writing`` is
    added where the server writes.
    """

    name: str
    description: str
    text: str
    about: str = ""
    arguments: tuple[str, ...] = field(default=())
    writing: str = ""

    def message(self, given: Mapping[str, str], *, allow_write: bool = False) -> str:
        """The task about what was given, each in quotes: nothing that is given can go on as a sentence of the task."""
        library = given.get("library", "")
        versions = {"old": given.get("from_version", ""), "new": given.get("to_version", "")}
        references = {"baseline": f"{library}@baseline", **{name: f"{library}@{v}" for name, v in versions.items()}}
        text = f"{self.text} {self.writing}" if allow_write and self.writing else self.text
        return text.format_map({name: quoted(text) for name, text in {**references, **given}.items()})


def fault(name: str, text: str) -> str:
    """Why a text cannot be an argument of this name; empty where it can."""
    if len(text) > LONGEST:
        return f"has more than {LONGEST} characters"
    if not text.isprintable():
        return "has characters that are not seen"
    if name in IDS and not _ID.fullmatch(text):
        return "is no id of an answer"
    return ""


def quoted(text: str) -> str:
    """A text as JSON has it."""
    return json_text(json.dumps(text, ensure_ascii=False))
