"""The messages between the server and a process that works for it."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from abistore.mcp.questions import Question
from abistore.mcp.refusals import Code
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


class Progress(msgspec.Struct, frozen=True, tag=True):
    """What is done now, and which part of it is."""

    what: str
    done: float


class Done(msgspec.Struct, frozen=True, tag=True):
    """The answer as JSON, and a report that is to be kept under an id."""

    answer: str
    keep: tuple[str, bytes] | None
    resident: int


class Failed(msgspec.Struct, frozen=True, tag=True):
    """Why there is no answer."""

    code: Code
    message: str
    hint: str
    resident: int


Reply: TypeAlias = Progress | Done | Failed

_decode_reply = msgspec.msgpack.Decoder(Progress | Done | Failed).decode
decode_request = msgspec.msgpack.Decoder(Request).decode
encode = msgspec.msgpack.encode


def decode_reply(data: bytes) -> Reply:
    """A message of the process."""
    reply: Reply = _decode_reply(data)
    return reply
