"""The process that works: answers one request after the other, each within limits, until the server is gone."""

from __future__ import annotations

import os
import sys
import traceback

import msgspec

from abistore.confinement import confined
from abistore.interface import AbistoreError, asked_by
from abistore.limits import limits
from abistore.mcp.answers.units import as_text, encoded, units
from abistore.mcp.call import Call
from abistore.mcp.completions import COMPLETE, candidates
from abistore.mcp.jobs.messages import Done, Request, decode_request, encode
from abistore.mcp.jobs.remembering import Answers, question_of
from abistore.mcp.refusals import Refusal, refusal_of
from abistore.mcp.resources.all import RESOURCES
from abistore.mcp.resources.text import PART, Part, paged
from abistore.mcp.tools.all import tools_of
from abistore.mcp.watching import WATCH, seen
from abistore.process import serving
from abistore.process.protocol import Answered, Failed, Progress, Say, resident

ANSWERS = Answers()
"""What this process has answered already."""

BUSY_SECONDS = "10"
"""How long a call waits for a locked database, unless the environment says otherwise: an agent can ask again."""


def serve(descriptor: int) -> None:
    """Answers the requests that come over the socket ``descriptor``."""
    os.environ.setdefault("ABISTORE_BUSY_SECONDS", BUSY_SECONDS)
    os.chdir("/")  # a file in the folder of whoever started the server is nobody's operand
    serving.serve(descriptor, lambda data, _descriptor, say: reply(decode_request(data), say))


def reply(request: Request, say: Say) -> Answered | Failed:
    """The answer to a request, or why there is none."""
    try:
        return _done(request, say)
    except Refusal as refusal:
        return _failed(refusal)
    except AbistoreError as error:
        return _failed(refusal_of(error))
    except Exception as error:  # a defect of one tool ends its call, and not the server's work
        traceback.print_exc(file=sys.stderr)
        message = f"internal error: {type(error).__name__}"
        return _failed(Refusal("INTERNAL", message, "this is a defect of abistore; the server's log has the traceback"))


def _done(request: Request, say: Say) -> Answered | Failed:
    settings = request.settings
    call = Call(
        request.tool,
        request.arguments,
        settings,
        kept=request.kept,
        actor=request.actor,
        decided=request.decided,
        progress=lambda what, done: say(Progress(what, done)),
    )
    asked_by(request.actor)
    with confined(settings.read_roots), limits(settings.timeout, settings.max_memory, request.tool):
        question = question_of(request)
        found = ANSWERS.find(question) if question else None
        if found is not None:
            return msgspec.structs.replace(found, resident=resident())
        answered = _worked(request, call)
        if question is not None:
            ANSWERS.keep(question, answered)
        return answered


def _worked(request: Request, call: Call) -> Answered | Failed:
    """The answer, or that it is too long; any other refusal is raised."""
    try:
        return Answered(encode(Done(_answer(request, call), call.keep)), resident())
    except Refusal as refusal:
        if refusal.code != "LIMIT":
            raise
        return _failed(refusal)


def _answer(request: Request, call: Call) -> str:
    tool = tools_of(request.settings).get(request.tool)
    if tool and tool.asks and request.asking:
        return encoded(tool.asks(call, **request.arguments)).decode()
    if tool:
        if tool.asks and request.settings.approvals == "human" and request.decided is None:
            raise Refusal("INTERNAL", f"{request.tool}: nobody was asked", "nothing was written")
        answer = as_text(tool(call, **request.arguments))
        _check_length(answer, request.settings.max_response_units)
        return answer
    if request.tool == COMPLETE:
        return encoded(candidates(call, **request.arguments)).decode()
    if request.tool == WATCH:
        return encoded(seen(call, **request.arguments)).decode()
    arguments = dict(request.arguments)
    part = msgspec.convert(arguments.pop(PART), Part)
    return paged(RESOURCES[request.tool](call, **arguments), part)


def _check_length(answer: str, most: int) -> None:
    length = units(answer.encode())
    if length > most:
        hint = "ask for less: a smaller limit, detail_level='summary', or a filter"
        raise Refusal("LIMIT", f"the answer has {length:,} units of 4 bytes, and {most:,} are allowed", hint)


def _failed(refusal: Refusal) -> Failed:
    return Failed(refusal.code, refusal.message, refusal.hint, resident())
