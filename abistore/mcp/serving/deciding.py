"""Asking a person, through the client, before a tool writes what is hard to take back.

Clients of the handshake era are asked in mid-call. Those of the stateless era get the question as the answer, and call
again with what the person said: the question is then made anew, and what was said counts for the very same text only.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from inspect import Parameter, Signature
from typing import Annotated, Any, TypeAlias

from mcp import MCPError
from mcp.server.mcpserver import AcceptedElicitation, Context, Elicit, ElicitationResult, Resolve
from mcp.types import MISSING_REQUIRED_CLIENT_CAPABILITY
from pydantic import BaseModel, Field

from abistore.mcp.questions import Question
from abistore.mcp.refusals import Refusal

Find: TypeAlias = Callable[..., Coroutine[Any, Any, Question]]

FOUND, DECISION = "found_question", "found_decision"
"""The parameters by which a tool gets the question, and what was decided. Clients do not see them."""


class Consent(BaseModel):
    """What a person is asked for."""

    agree: bool = Field(description="Whether to do it")


NOTHING_TO_DECIDE = Consent(agree=True)


def resolved(find: Find, own: list[Parameter]) -> list[Parameter]:
    """The parameters that a tool has beside its ``own``: the question that ``find`` makes of these, and its answer."""

    async def question(context: Context[Any, Any], **arguments: Any) -> Question:
        return await find(context, **arguments)

    declare_parameters(question, [Parameter("context", Parameter.KEYWORD_ONLY, annotation=Context), *own])
    asked = Annotated[Question, Resolve(question)]

    async def decision(found: Question) -> Elicit[Consent] | Consent:
        return Elicit(found.text, Consent) if found.text else NOTHING_TO_DECIDE

    declare_parameters(decision, [Parameter("found", Parameter.KEYWORD_ONLY, annotation=asked)])
    answered = Annotated[ElicitationResult[Consent], Resolve(decision)]
    annotated = ((FOUND, asked), (DECISION, answered))
    return [Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation) for name, annotation in annotated]


def declare_parameters(function: Callable[..., Any], parameters: list[Parameter]) -> None:
    """Have the SDK read ``parameters`` off a function that takes any arguments."""
    function.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # functions take any attribute
    function.__annotations__ = {each.name: each.annotation for each in parameters}


def agreed(arguments: dict[str, Any]) -> Question | None:
    """The question that was decided, which is taken out of the arguments. Raises :class:`Refusal` where by a no."""
    found: Question | None = arguments.pop(FOUND, None)
    decision = arguments.pop(DECISION, None)
    if found is None or (isinstance(decision, AcceptedElicitation) and decision.data.agree):
        return found
    hint = "do not ask again unless the user wants it"
    raise Refusal("DECLINED", "the user was asked, and did not agree: nothing was written", hint)


def cannot_ask(error: MCPError, tool: str) -> MCPError:
    """The error of the protocol for a client that cannot ask anybody, in our words."""
    if error.code != MISSING_REQUIRED_CLIENT_CAPABILITY:
        return error
    message = (
        f"{tool}: a person has to decide this, and the client declares no elicitation (form) by which to ask. "
        "Nothing was written. Use a client that can ask, or start the server with --approvals auto"
    )
    return MCPError(error.code, message, error.error.data)
