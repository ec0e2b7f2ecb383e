"""Tools and prompts that ask the client: by requests of their own, or by answers that ask for input."""

from __future__ import annotations

import json
from typing import Any

from mcp import MCPError
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CallToolResult,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    SamplingMessage,
)

from tests.mcp.conformance.contents import answered, text

Round = CallToolResult | InputRequiredResult


def form(message: str, **properties: dict[str, Any]) -> ElicitRequest:
    """A form of which every field must be filled in."""
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def sampling(question: str, most: int = 100) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=text(question))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=most))


NAME = form("What is your name?", name={"type": "string"})
CONFIRM = form("Please confirm", ok={"type": "boolean"})
STATUSES = ["active", "inactive", "pending"]
DEFAULTS = form(
    "Check the defaults",
    name={"type": "string", "default": "John Doe"},
    age={"type": "integer", "default": 30},
    score={"type": "number", "default": 95.5},
    status={"type": "string", "enum": STATUSES, "default": "active"},
    verified={"type": "boolean", "default": True},
)


def titled(*titles: str) -> list[dict[str, str]]:
    return [{"const": f"value{number}", "title": title} for number, title in enumerate(titles, 1)]


OPTIONS = ["option1", "option2", "option3"]
ENUMS = form(
    "Choose",
    untitledSingle={"type": "string", "enum": OPTIONS},
    titledSingle={"type": "string", "oneOf": titled("First Option", "Second Option", "Third Option")},
    legacyEnum={
        "type": "string",
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti={"type": "array", "items": {"type": "string", "enum": OPTIONS}},
    titledMulti={"type": "array", "items": {"anyOf": titled("First Choice", "Second Choice", "Third Choice")}},
)


async def _pushed(context: Context, request: ElicitRequest) -> str:
    """What the client answers to a form that is sent as a request."""
    asked = request.params
    assert isinstance(asked, ElicitRequestFormParams)
    told = await context.session.elicit_form(asked.message, asked.requested_schema, context.request_id)
    return f"action={told.action}, content={json.dumps(told.content)}"


async def test_elicitation(message: str, context: Context) -> CallToolResult:
    """Asks for a name and an address."""
    described = {"username": "User's response", "email": "User's email address"}
    fields = {name: {"type": "string", "description": said} for name, said in described.items()}
    return answered(text(f"User response: {await _pushed(context, form(message, **fields))}"))


async def test_elicitation_sep1034_defaults(context: Context) -> CallToolResult:
    """Asks with a default for every type."""
    return answered(text(f"Elicitation completed: {await _pushed(context, DEFAULTS)}"))


async def test_elicitation_sep1330_enums(context: Context) -> CallToolResult:
    """Asks to choose, in every form of a choice."""
    return answered(text(f"Elicitation completed: {await _pushed(context, ENUMS)}"))


async def test_sampling(prompt: str, context: Context) -> CallToolResult:
    """Asks the client's model."""
    told = await context.session.send_request(sampling(prompt), CreateMessageResult)
    return answered(text(f"LLM response: {_said(told)}"))


def _said(told: object) -> str:
    """An answer to any request for input, as a text."""
    match told:
        case ElicitResult():
            return json.dumps(told.content)
        case CreateMessageResult():
            return getattr(told.content, "text", "no text")
        case ListRootsResult():
            return ", ".join(str(root.uri) for root in told.roots)
    raise TypeError(type(told).__name__)


def _round(context: Context, requests: dict[str, InputRequest], *, state: str | None = None) -> Round:
    """What the client told; asked again where anything is missing, or is no answer to what was asked."""
    told = context.input_responses or {}
    if all(_fits(request, told.get(key)) for key, request in requests.items()) and context.request_state == state:
        return answered(text(" ".join([*(_said(told[key]) for key in requests), f"{state}-ok" if state else ""])))
    return InputRequiredResult(input_requests=requests, request_state=state)


def _fits(request: InputRequest, told: object) -> bool:
    match request:
        case ElicitRequest():
            return isinstance(told, ElicitResult) and (told.action != "accept" or bool(told.content))
        case CreateMessageRequest():
            return isinstance(told, CreateMessageResult)
        case ListRootsRequest():
            return isinstance(told, ListRootsResult)


async def test_input_required_result_elicitation(context: Context) -> Round:
    """Greets by the name that the client tells."""
    return _round(context, {"user_name": NAME})


async def test_input_required_result_sampling(context: Context) -> Round:
    """Tells what the client's model answers."""
    return _round(context, {"capital_question": sampling("What is the capital of France?")})


async def test_input_required_result_list_roots(context: Context) -> Round:
    """Tells the client's roots."""
    return _round(context, {"client_roots": ListRootsRequest()})


async def test_input_required_result_request_state(context: Context) -> Round:
    """Asks with a state that comes back."""
    return _round(context, {"confirm": CONFIRM}, state="state")


async def test_input_required_result_tampered_state(context: Context) -> Round:
    """Asks with a state that nobody may change."""
    return _round(context, {"confirm": CONFIRM}, state="state")


async def test_input_required_result_multiple_inputs(context: Context) -> Round:
    """Asks for everything at once."""
    greeting = sampling("Generate a greeting", 50)
    return _round(context, {"user_name": NAME, "greeting": greeting, "client_roots": ListRootsRequest()}, state="state")


async def test_input_required_result_multi_round(context: Context) -> Round:
    """Asks twice."""
    if context.request_state is None or "step1" in (context.input_responses or {}):
        first = _round(context, {"step1": form("Step 1: What is your name?", name={"type": "string"})}, state="one")
        if isinstance(first, InputRequiredResult):
            return first
    color = form("Step 2: What is your favorite color?", color={"type": "string"})
    return _round(context, {"step2": color}, state="two")


async def test_input_required_result_capabilities(context: Context) -> Round:
    """Asks only for what the client can answer."""
    able = context.client_capabilities
    requests: dict[str, InputRequest] = {"greeting": sampling("Generate a greeting")} if able and able.sampling else {}
    if able and able.elicitation:
        requests["user_name"] = NAME
    return _round(context, requests)


async def test_streaming_elicitation(context: Context) -> Round:
    """Tells progress, and asks then."""
    await context.report_progress(1, 2)
    return _round(context, {"user_name": NAME})


async def test_missing_capability(context: Context) -> CallToolResult:
    """Needs a client that has a model."""
    able = context.client_capabilities
    if able is None or able.sampling is None:
        needed = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "the client has no model", needed)
    return answered(text("it has"))


async def test_input_required_result_prompt(context: Context) -> list[UserMessage] | InputRequiredResult:
    """Asks before it becomes a prompt."""
    asked = _round(context, {"user_context": form("What context should the prompt use?", context={"type": "string"})})
    return asked if isinstance(asked, InputRequiredResult) else [UserMessage(asked.content[0])]


TOOLS = (
    test_elicitation,
    test_elicitation_sep1034_defaults,
    test_elicitation_sep1330_enums,
    test_sampling,
    test_input_required_result_elicitation,
    test_input_required_result_sampling,
    test_input_required_result_list_roots,
    test_input_required_result_request_state,
    test_input_required_result_tampered_state,
    test_input_required_result_multiple_inputs,
    test_input_required_result_multi_round,
    test_input_required_result_capabilities,
    test_streaming_elicitation,
    test_missing_capability,
)


def register(server: MCPServer[Any]) -> None:
    """Adds all of them to a server."""
    for tool in TOOLS:
        server.add_tool(tool, structured_output=False)
    server.prompt()(test_input_required_result_prompt)
