"""The processes in which tools do their work: one call at a time, killed when it takes too much."""

from __future__ import annotations

import math
import os
import sys
import traceback
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, date, datetime
from functools import partial
from hashlib import blake2b
from typing import Any, NamedTuple

import anyio
import msgspec
from anyio import from_thread, to_thread

from abistore.files import confined
from abistore.interface import AbistoreError, AuditRecord, asked_by, db_audit, open_store
from abistore.limits import limits
from abistore.mcp.answers import as_text, encoded, units_sent
from abistore.mcp.operands import Call, Question
from abistore.mcp.prompts import COMPLETE, WATCH, candidates, seen
from abistore.mcp.resources import PART, RESOURCES, Part, paged
from abistore.mcp.settings import Code, Refusal, Settings, refusal_of
from abistore.mcp.tools.all import TOOLS, tools_of
from abistore.mcp.vocabulary import for_agents, in_answer
from abistore.process import Answered, Child, Ended, Failed, Progress, Say, answer_requests, resident


class Request(msgspec.Struct, frozen=True):
    """Asks for the answer of a tool, the text of a resource, or completions.

    ``kept`` is the report of the comparison that the arguments name, ``beside`` that of an earlier one, and ``actor``
    who asks, for the store's audit. With ``asking`` the question is wanted that a person decides before the tool
    writes; ``decided`` is one that was decided.
    """

    tool: str
    arguments: dict[str, Any]
    settings: Settings
    kept: bytes | None = None
    beside: bytes | None = None
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

MOST_BYTES = 8 << 20
UNSTORED = frozenset(
    {"abi_store_stats", "abi_help", "abi_list_changes", "abi_explain_change", "docs", "kind", "schema"}
)
"""What tells something else than the content of the store: how large its files are, what is documented."""


QUICK = frozenset(
    {
        *UNSTORED,
        COMPLETE,
        WATCH,
        "abi_list",
        "abi_finding",
        "abi_findings",
        "latest_gates",
        "dumped",
        "library",
        "libraries",
    }
)
"""What reads no file and judges nothing: it has a process of its own, and waits for no long work."""


class StoreQuestion(NamedTuple):
    """A request, the last change of the store that it is about, and the day: approvals and suppressions end."""

    request: bytes
    changed: tuple[AuditRecord, ...]
    day: date | None = None


class Answers:
    """The answers that were asked for last, as many as fit into :data:`MOST_BYTES`."""

    def __init__(self) -> None:
        self._kept: OrderedDict[StoreQuestion, Answered | Failed] = OrderedDict()
        self._bytes = 0

    def find(self, question: StoreQuestion) -> Answered | Failed | None:
        """The answer that was given before."""
        found = self._kept.get(question)
        if found is not None:
            self._kept.move_to_end(question)
        return found

    def keep(self, question: StoreQuestion, answer: Answered | Failed) -> None:
        """Keep an answer, and let the oldest go; one that is too long is not kept."""
        if _size(answer) > MOST_BYTES // 4:
            return
        self._kept[question] = answer
        self._bytes += _size(answer)
        while self._bytes > MOST_BYTES:
            _, gone = self._kept.popitem(last=False)
            self._bytes -= _size(gone)


def question_of(request: Request) -> StoreQuestion | None:
    """What is asked, where nothing but the store can change the answer; nothing where files are named."""
    if not _is_remembered(request.tool) or _names_file(request.arguments.values()):
        return None
    with suppress(AbistoreError), open_store(request.settings.database, read_only=True) as store:
        return StoreQuestion(blake2b(encode(request)).digest(), db_audit(limit=1, database=store), today())
    return None  # the tool says what is wrong with the store


def today() -> date:
    """The day by which approvals and suppressions hold."""
    return datetime.now(UTC).date()


def _is_remembered(name: str) -> bool:
    return name not in UNSTORED and (name in RESOURCES or name in TOOLS)


def _names_file(values: Iterable[Any]) -> bool:
    """Whether a value is a path, or names the library whose headers are at one: ``libfoo=/include/foo``."""
    for value in values:
        if isinstance(value, str) and (value.startswith("/") or "=/" in value):
            return True
        if isinstance(value, list | Mapping) and _names_file(value.values() if isinstance(value, Mapping) else value):
            return True
    return False


def _size(answer: Answered | Failed) -> int:
    return len(answer.message) if isinstance(answer, Failed) else len(answer.data)


ANSWERS = Answers()
"""What this process has answered already."""

BUSY_SECONDS = "10"
"""How long a call waits for a locked database, unless the environment says otherwise: an agent can ask again."""


def serve(descriptor: int) -> None:
    """Answers the requests that come over the socket ``descriptor``."""
    os.environ.setdefault("ABISTORE_BUSY_SECONDS", BUSY_SECONDS)
    os.chdir("/")  # a file in the folder of whoever started the server is nobody's operand
    answer_requests(descriptor, lambda data, _descriptor, say: reply(decode_request(data), say))


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
        beside=request.beside,
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
        answer = as_text(_served(in_answer(msgspec.to_builtins(tool(call, **request.arguments))), request.settings))
        _check_length(answer, request.settings.max_response_units)
        return answer
    if request.tool == COMPLETE:
        return encoded(candidates(call, **request.arguments)).decode()
    if request.tool == WATCH:
        return encoded(seen(call, **request.arguments)).decode()
    arguments = dict(request.arguments)
    part = msgspec.convert(arguments.pop(PART), Part)
    return paged(RESOURCES[request.tool](call, **arguments), part)


def _served(answer: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """An answer whose ``next`` names the tools of this server alone."""
    tools = tools_of(settings)
    following = [each for each in answer.get("next", ()) if each["tool"] in tools]
    return {**answer, "next": following} if "next" in answer else answer


def _check_length(answer: str, most: int) -> None:
    length = units_sent(answer)
    if length > most:
        hint = "ask for less: a smaller limit, detail_level='summary', or a filter"
        raise Refusal("LIMIT", f"the answer has {length:,} units of 4 bytes, and {most:,} are allowed", hint)


def _failed(refusal: Refusal) -> Failed:
    return Failed(refusal.code, for_agents(refusal.message), for_agents(refusal.hint), resident())


RETRY_SECONDS = 10
"""When a call that was answered ``BUSY`` may come again."""

KEEP = 512 << 20
"""A process with more bytes of memory after a call works on no further one."""

Advance = Callable[[str, float], Coroutine[Any, Any, None]]


def _busy(request: Request) -> Refusal:
    waited = f"{request.settings.max_wait:g}s"
    message = f"{request.tool}: the server is busy, and no other call ended within {waited}"
    return Refusal("BUSY", message, f"nothing was done: call again in {RETRY_SECONDS} seconds")


class Lane:
    """Room for so many calls at once, and for so many of one subject."""

    def __init__(self, most: int, each: int) -> None:
        self._room = anyio.Semaphore(most)
        self._each = each
        self._subjects: dict[str, anyio.Semaphore] = {}  # as many as there are tokens

    @asynccontextmanager
    async def entered(self, subject: str) -> AsyncIterator[None]:
        """Wait for room. A subject that has all that is its own holds up no other one."""
        if not subject:
            async with self._room:
                yield
            return
        own = self._subjects.setdefault(subject, anyio.Semaphore(self._each))
        async with own, self._room:
            yield


class Jobs:
    """At most ``most`` processes for long work, and one for what is quick; a call waits for one of its kind.

    Where subjects are told apart, the last process for long work is for another one than has all others.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lanes: tuple[Lane, Lane] | None = None
        self._idle: list[Child] = []
        self._all: set[Child] = set()

    @property
    def running(self) -> tuple[int, ...]:
        """The processes that there are."""
        return tuple(child.pid for child in self._all if child.pid is not None)

    async def run(self, request: Request, advance: Advance | None = None, subject: str = "") -> Done:
        """The answer to a request of a subject, which is empty where nobody says who they are.

        Raises :class:`Refusal`; what takes longer than the timeout is ended, and what would wait longer than
        ``max_wait`` is not begun. So is the work of a call that is cancelled.
        """
        if self._lanes is None:  # in the loop that runs them
            self._lanes = Lane(1, 1), Lane(self._most, max(1, self._most - 1))
        is_quick = request.tool in QUICK and not _names_file(request.arguments.values())
        lane = self._lanes[0 if is_quick else 1]
        async with AsyncExitStack() as held:
            with anyio.move_on_after(request.settings.max_wait) as waiting:
                await held.enter_async_context(lane.entered("" if is_quick else subject))
            if waiting.cancelled_caught:
                raise _busy(request)
            child = self._taken()
            with anyio.move_on_after(request.settings.timeout):
                return self._kept(child, await self._asked(child, request, advance))
            raise Refusal(
                "TIMEOUT",
                f"{request.tool} timed out after {request.settings.timeout:g}s",
                "ask for less, or start the server with a higher --timeout",
            )

    def warm(self) -> None:
        """Starts the first process, which gets ready while the client says who it is."""
        child = self._taken()
        child.start()
        self._idle.append(child)

    def _taken(self) -> Child:
        if self._idle:
            return self._idle.pop()
        child = Child("abistore.mcp.jobs")
        self._all.add(child)
        return child

    async def _asked(self, child: Child, request: Request, advance: Advance | None) -> Answered | Failed:
        try:
            ask = partial(child.ask, encode(request), progress=advancing(advance) if advance else None)
            return await to_thread.run_sync(ask, abandon_on_cancel=True)
        except Ended as ended:
            self._all.discard(child)
            message = f"{request.tool}: the process that worked on it ended ({ended.how})"
            code: Code = "LIMIT" if ended.how == "killed" else "INTERNAL"
            raise Refusal(code, message, "call again, or ask for less") from None
        except BaseException:  # a call that is cancelled too ends its process
            child.close()
            self._all.discard(child)
            raise

    def _kept(self, child: Child, reply: Answered | Failed) -> Done:
        if reply.resident > KEEP:
            child.kill()
            self._all.discard(child)
        else:
            self._idle.append(child)
        if isinstance(reply, Failed):
            raise Refusal(msgspec.convert(reply.kind, Code), reply.message, reply.hint)
        return decode_done(reply.data)

    def close(self) -> None:
        """Ends all processes; those that work are killed."""
        for child in self._all:
            child.close()
        self._all.clear()
        self._idle.clear()


def advancing(advance: Advance) -> Callable[[Progress], None]:
    """In a thread: tells the event loop of progress, which never goes back."""
    told = -math.inf

    def tell(progress: Progress) -> None:
        nonlocal told
        if progress.done > told:
            told = progress.done
            from_thread.run(advance, progress.what, progress.done)

    return tell
