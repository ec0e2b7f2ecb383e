"""What the server asks a process that works for it, and what that answers."""

from __future__ import annotations

from typing import Any

import msgspec

from abistore.mcp.questions import Question
from abistore.mcp.settings import Settings


class Request(msgspec.Struct, frozen=True):
    """Asks for the answer of a tool, the text of a resource, or completions.

    ``kept`` is the report of the comparison that the arguments name; ``actor`` is who asks, for the store's audit. With
    ``asking`` the question is wanted that a person decides before the tool writes; ``decided`` is one that was decided.
    """

    tool: str
    arguments: dict[str, Any]
    settings: Settings
    kept: bytes | None = None
    actor: str = ""
    asking: bool = False
    decided: Question | None = None


class Done(msgspec.Struct, frozen=True):
    """The answer as JSON, and a report that is to be kept under an id."""

    answer: str
    keep: tuple[str, bytes] | None = None


encode = msgspec.msgpack.encode
decode_request = msgspec.msgpack.Decoder(Request).decode
decode_done = msgspec.msgpack.Decoder(Done).decode
