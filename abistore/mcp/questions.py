"""What a person decides before a tool writes."""

from __future__ import annotations

import msgspec


class Question(msgspec.Struct, frozen=True):
    """A question for a person; ``text`` is empty where nobody has to decide.

    ``facts`` are what the decision rests on: the write checks them again, in its transaction.
    """

    text: str
    facts: dict[str, str]
