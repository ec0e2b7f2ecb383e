"""One place for every call and reading: bounds, errors, and tools as the SDK serves them.

Asking a person, through the client, before a tool writes what is hard to take back.

Clients of the handshake era are asked in mid-call. Those of the stateless era get the question as the answer, and call
again with what the person said: the question is then made anew, and what was said counts for the very same text only.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from inspect import Parameter, Signature
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, TypeAlias

import anyio
import msgspec
from mcp import MCPError
from mcp.server import MCPServer
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import AcceptedElicitation, Context, Elicit, ElicitationResult, Resolve
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.mcpserver.tools import Tool as ServedTool
from mcp.shared.uri_template import UriTemplate
from mcp.types import (
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CallToolResult,
    Completion,
    CompletionArgument,
    CompletionContext,
    EmbeddedResource,
    GetPromptResult,
    InputRequiredResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    PromptReference,
    Resource,
    ResourceTemplate,
    ResourceTemplateReference,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)
from mcp.types import Tool as ListedTool
from pydantic import BaseModel, Field, ValidationError

from abistore import __version__
from abistore.mcp.addresses import HINTS, described, hint, linked, matched, page_of
from abistore.mcp.answers import as_text, output_schema, shallow
from abistore.mcp.jobs import RETRY_SECONDS, Done, Jobs, Request
from abistore.mcp.operands import EARLIER, Question, is_handle
from abistore.mcp.prompts import ARGUMENTS, COMPLETE, LONGEST_ARGUMENT, TASKS, WATCH, Look, Task, decode_seen, fault
from abistore.mcp.resources import INDEX, JSON, PART, RESOURCES, ReadableResource
from abistore.mcp.sessions import (
    Audit,
    AuditedCall,
    Comparisons,
    Kept,
    Status,
    Subscribers,
    Subscribing,
    Watcher,
    WhoAsks,
    actor,
    asker,
    client,
    configure,
)
from abistore.mcp.settings import WRITE, Refusal, Settings, absolute, write_disabled
from abistore.mcp.tools.all import PROVING, TO_FILE, WRITING
from abistore.mcp.tools.declaration import Tool
from abistore.model.labels import blank_in
from abistore.model.words import did_you_mean, in_line, near

LONGEST = 1_000
"""How many characters of a message or hint are sent."""

_FOLDERS = re.compile(r"(?<![\w:/.@~-])~?/(?:[^\s/:'\",;()]+/)+(?=[^\s/])")
"""The folders before a file's name; neither an address's nor ``operator/``."""


def failed(refusal: Refusal, paths: Sequence[str]) -> CallToolResult:
    """The error that a refused call is answered with. It has no structured content: clients would check its type.

    ``paths`` are those that the message may quote.
    """
    document: dict[str, Any] = {
        "status": "error",
        "error": _shown(refusal.message, paths),
        "code": refusal.code,
        "hint": _shown(refusal.hint, paths),
    }
    if refusal.code == "BUSY":
        document["retry_after_seconds"] = RETRY_SECONDS
    return CallToolResult(content=[TextContent(type="text", text=as_text(document))], is_error=True)


def _shown(text: str, paths: Sequence[str]) -> str:
    return without_folders(text, paths)[:LONGEST]


def without_folders(text: str, known: Sequence[str]) -> str:
    """``text`` with base names where it had paths; ``known`` ones may have spaces."""
    for path in sorted(known, key=len, reverse=True):
        text = text.replace(path, path.rstrip("/").rpartition("/")[2])
    return _FOLDERS.sub("", text)


def paths(value: Any) -> list[str]:
    """Every absolute path among some values."""
    if isinstance(value, str):
        return [value] if value.startswith("/") and len(value) > 1 else []
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return [path for each in inner for path in paths(each)]


def invalid(error: ValidationError, known: list[str]) -> Refusal:
    """Why arguments do not fit a tool, in our own words; ``known`` are the arguments that it has."""
    told = [_problem(each) for each in error.errors(include_url=False, include_context=False)]
    unknown = [str(each["loc"][0]) for each in error.errors() if each["type"] == "extra_forbidden" and each["loc"]]
    if unknown:
        hint = did_you_mean(near(unknown[0], known), f"its arguments are {', '.join(sorted(known))}")
    elif any(each["type"] == "string_type" and isinstance(each["input"], int | float) for each in error.errors()):
        hint = 'give versions and references as strings, e.g. "2.10": as a number, 2.10 becomes 2.1'
    else:
        hint = "tools/list shows the type of each argument"
    return Refusal("INVALID_ARGUMENT", "; ".join(told), hint)


def _problem(error: Any) -> str:
    where = ".".join(map(str, error["loc"])) or "arguments"
    what = "unknown argument" if error["type"] == "extra_forbidden" else error["msg"]
    return f"{where}: {what[0].lower()}{what[1:]}"


NOTHING: Mapping[str, str] = {}
MESSAGE = 1_000
"""How many characters a message of an error has at most."""


class ReadingServer(MCPServer[Any]):
    """A server with the resources and prompts of abistore."""

    bounds: Settings
    jobs: Jobs
    comparisons: Comparisons
    dumps: Kept
    gate: bytes | None

    async def list_resources(self) -> list[Resource]:
        """Those with an address of their own, and a page for each library that is stored: the first hundred."""
        fixed = [Resource(uri=each.uri, **described(each)) for each in RESOURCES.values() if not each.is_template]
        return [*fixed, *(page_of(library) for library in await self._words("library"))]

    async def list_resource_templates(self) -> list[ResourceTemplate]:
        """Those whose address has variables."""
        return [
            ResourceTemplate(uri_template=each.uri, **described(each))
            for each in RESOURCES.values()
            if each.is_template
        ]

    async def read_resource(
        self, uri: Any, context: Context[Any, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        """The text at an address. Raises :class:`ResourceError`."""
        found = matched(str(uri))
        if found is None:
            raise ResourceNotFoundError(f"Unknown resource: {in_line(str(uri), LONGEST_ARGUMENT)}")
        resource, arguments, part = found
        try:
            kept = self.kept_of(resource, arguments)
            given = {**arguments, PART: msgspec.to_builtins(part)}
            done = await self.jobs.run(Request(resource.name, given, self.bounds, kept), subject=asker().subject)
        except Refusal as refusal:
            kind = ResourceNotFoundError if refusal.code in {"NOT_FOUND", "INVALID_ARGUMENT"} else ResourceError
            said = f"{refusal.message}: {refusal.hint}" if refusal.hint else refusal.message
            raise kind(in_line(without_folders(said, paths([self.bounds.database])), MESSAGE)) from refusal
        listed = done.answer.startswith(INDEX)
        mime = JSON if listed else resource.mime if part.offset is None else "text/plain"
        return [ReadResourceContents(content=done.answer, mime_type=mime)]

    async def look(self, mark: str, uris: Collection[str]) -> Look:
        """What addresses say now; unknown ones say nothing. Raises :class:`Refusal`."""
        found = {uri: matched(uri) for uri in uris}
        asked = {uri: (one[0].name, one[1]) for uri, one in found.items() if one is not None}
        done = await self.jobs.run(Request(WATCH, {"mark": mark, "addresses": asked}, self.bounds))
        return decode_seen(done.answer)

    def kept_of(self, resource: ReadableResource, arguments: Mapping[str, Any]) -> bytes | None:
        """The answer that the server has kept for a resource. Raises :class:`Refusal`."""
        if resource.name == "latest_gates":
            return self.gate
        return self.dumps.get(arguments["digest"]) if resource.name == "dumped" else self.kept_for(arguments)

    def kept_for(self, arguments: Mapping[str, Any]) -> bytes | None:
        """The report of the comparison that arguments name, where it is kept. Raises :class:`Refusal`."""
        digits = arguments.get("comparison_id")
        return None if digits is None else self.comparisons.find(digits)

    async def list_prompts(self) -> list[Prompt]:
        """All of them."""
        return [
            Prompt(
                name=task.name,
                title=task.title,
                description=task.description,
                arguments=[
                    *(_argument(name, required=True) for name in task.arguments),
                    *(_argument(name, required=False) for name in task.optional),
                ],
            )
            for task in TASKS.values()
        ]

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[Any, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        """A task, with what it is about. Raises :class:`MCPError`."""
        if name not in TASKS:
            raise MCPError(
                INVALID_PARAMS, f"Unknown prompt: {in_line(name, LONGEST_ARGUMENT)}", {"known": sorted(TASKS)}
            )
        task = TASKS[name]
        given = _given(task, arguments or {})
        text = task.message(given, allow_write=self.bounds.allow_write)
        messages = [PromptMessage(role="user", content=TextContent(type="text", text=text))]
        if about := await self._about(task, given):
            messages.append(PromptMessage(role="user", content=about))
        return GetPromptResult(description=task.description, messages=messages)

    async def _about(self, task: Task, given: Mapping[str, str]) -> EmbeddedResource | None:
        """What a task is about; nothing where it was not judged yet: the task says how to ask."""
        if not task.about:
            return None
        uri = UriTemplate.parse(task.about).expand(given)
        try:
            read = await self.read_resource(uri)
        except ResourceError:
            return None
        (contents,) = [each for each in read if isinstance(each, ReadResourceContents)]
        text = TextResourceContents(uri=uri, text=str(contents.content), mime_type=contents.mime_type)
        return EmbeddedResource(type="resource", resource=text)

    async def complete(
        self,
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion:
        """Words for an argument."""
        given = dict(context.arguments or {}) if context else {}
        return Completion(values=await self._words(argument.name, argument.value[:LONGEST_ARGUMENT], given))

    async def _words(self, argument: str, start: str = "", given: Mapping[str, str] = NOTHING) -> list[str]:
        """Words for an argument; none where the store cannot be read."""
        asked = {"argument": argument, "start": start, "given": dict(given)}
        try:
            done = await self.jobs.run(Request(COMPLETE, asked, self.bounds))
        except Refusal:
            return []
        words: list[str] = json.loads(done.answer)
        return words


def _argument(name: str, *, required: bool) -> PromptArgument:
    title = name.replace("_", " ").capitalize()
    return PromptArgument(name=name, title=title, description=ARGUMENTS[name], required=required)


def _given(task: Task, arguments: Mapping[str, Any]) -> dict[str, str]:
    missing = [name for name in task.arguments if not arguments.get(name)]
    if missing:
        raise MCPError(INVALID_PARAMS, f"{task.name}: missing {', '.join(missing)}")
    said = (*task.arguments, *(name for name in task.optional if arguments.get(name)))
    given = {name: str(arguments[name]) for name in said}
    for name, text in given.items():
        if wrong := fault(name, text):
            raise MCPError(INVALID_PARAMS, f"{task.name}: {name} {wrong}")
    return given


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
    raise Refusal("DECLINED", "the user declined: nothing was written", hint)


def cannot_ask(error: MCPError, tool: str) -> MCPError:
    """The error of the protocol for a client that cannot ask anybody, in our words."""
    if error.code != MISSING_REQUIRED_CLIENT_CAPABILITY:
        return error
    message = (
        f"{tool}: a person must confirm this, but the client does not support elicitation (form). Nothing was "
        "written. Use a client that can ask, or start the server with --approvals auto"
    )
    return MCPError(error.code, message, error.error.data)


Serve = Callable[..., Any]


def served(tool: Tool, serve: Serve, find: Find | None = None) -> ServedTool:
    """A tool as the SDK knows it: ``serve(context, question, **arguments)`` is called with arguments that fit.

    Arguments that it does not have are refused. Where there is ``find``, it makes the question that a person decides
    first.
    """

    async def call(context: Context[Any, Any], **arguments: Any) -> CallToolResult:
        result: CallToolResult = await serve(context, agreed(arguments), **arguments)
        return result

    if find is None:
        return _unasked(tool).model_copy(update={"fn": call})
    parameters = _parameters(tool)
    return _described_argument(tool, call, [*parameters, *resolved(find, parameters)])


@cache
def _unasked(tool: Tool) -> ServedTool:
    """A tool that nobody decides about first, made once: servers of one process serve copies that call their own."""

    async def call(**arguments: Any) -> CallToolResult:
        raise AssertionError(f"{tool.name} is called by a server's copy of it")

    return _described_argument(tool, call, _parameters(tool))


def _parameters(tool: Tool) -> list[Parameter]:
    return [each.replace(kind=Parameter.KEYWORD_ONLY) for each in tool.parameters()]


def _described_argument(tool: Tool, call: Callable[..., Any], parameters: list[Parameter]) -> ServedTool:
    """A tool with the schemas that clients are told."""
    own = Parameter("context", Parameter.KEYWORD_ONLY, annotation=Context)
    declare_parameters(call, [own, *parameters])
    found = ServedTool.from_function(
        call,
        name=tool.name,
        title=tool.title,
        description=tool.description,
        annotations=_annotations(tool),
        structured_output=False,
    )
    model = found.fn_metadata.arg_model
    model.model_config["extra"] = "forbid"
    model.model_rebuild(force=True)
    found.parameters = lean(model.model_json_schema())
    # published, and not checked again by the SDK: msgspec has written the answer of this very type
    found.fn_metadata.output_schema = shallow(output_schema(tool.answer_type()))
    return found


def _annotations(tool: Tool) -> ToolAnnotations:
    """All four hints. Every tool gives the same answer to the same call, and none reaches beyond this machine."""
    return ToolAnnotations(
        read_only_hint=not tool.writes,
        destructive_hint=tool.destroys,
        idempotent_hint=True,
        open_world_hint=False,
    )


def lean(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of arguments without titles and least values; what may be left out is not said by ``null`` too."""
    schema = {name: value for name, value in schema.items() if name != "title"}
    schema["properties"] = {name: _schema_argument(value) for name, value in schema.get("properties", {}).items()}
    return schema


def _schema_argument(schema: dict[str, Any]) -> dict[str, Any]:
    found = {name: value for name, value in schema.items() if name not in {"title", "anyOf", "minimum"}}
    if found.get("default", ...) in (None, False):
        del found["default"]
    choices = [choice for choice in schema.get("anyOf", ()) if choice != {"type": "null"}]
    # several vendors refuse unions: the first choice is told, and the others are accepted all the same
    return {**choices[0], **found} if choices else found


class Server(ReadingServer):
    """A server whose tools work in processes that can be killed, and never fail without saying why."""

    def __init__(self, settings: Settings, tools: Mapping[str, Tool], jobs: Jobs | None, **described: Any) -> None:
        root = settings.export_root and str(Path(settings.export_root).absolute())
        self.bounds = msgspec.structs.replace(settings, database=absolute(settings.database), export_root=root)
        self.jobs = jobs or Jobs(settings.max_concurrency)
        self.comparisons = Comparisons(settings.history_limit)
        self.dumps = Kept(settings.history_limit)
        self.gate: bytes | None = None
        self.audit = Audit(settings.log_format)
        configure(settings.log_level)
        self.usual = {name: {one.name: one.default for one in tool.parameters()} for name, tool in tools.items()}
        self.writing = {name for name, tool in tools.items() if tool.writes}
        served_tools = [served(tool, self._runner(name), self._finder(tool)) for name, tool in tools.items()]
        self.subscribers = Subscribers()
        self.watcher = Watcher(self.subscribers, self.look, self.warn)
        super().__init__(
            "abistore",
            version=__version__,
            tools=served_tools,
            lifespan=self._living,
            subscriptions=self.subscribers.bus,
            cache_hints=HINTS,
            **described,
        )
        self.completion()(self.complete)  # type: ignore[no-untyped-call]  # the SDK leaves it untyped
        Subscribing(self.subscribers, self.watcher).install(self)
        self.middleware.append(hint)

    @asynccontextmanager
    async def _living(self, server: object) -> AsyncIterator[None]:
        """What runs as long as the server does."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.watcher.run)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    def warn(self, text: str) -> None:
        """Tell in the log what is wrong with the server, without folders of this machine."""
        self.audit.warn(without_folders(text, paths([self.bounds.database])))

    async def list_tools(self) -> list[ListedTool]:
        """All tools that whoever asks may call."""
        listed = await super().list_tools()
        return listed if asker().may_write else [tool for tool in listed if tool.name not in self.writing]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: WhoAsks | None = None
    ) -> CallToolResult | InputRequiredResult:
        """The answer of a tool, or an error that says what to do. Raises :class:`MCPError` for an unknown tool."""
        known = [tool.name for tool in await self.list_tools()]
        if name not in known and name not in self.usual and not self._is_switched_off(name):
            raise MCPError(
                INVALID_PARAMS, f"Unknown tool: {in_line(name, 80)}. {did_you_mean(near(name, known), '')}".strip()
            )
        began = monotonic()
        status: Status = "cancelled"
        result: CallToolResult | InputRequiredResult | None = None
        try:
            result, status = await self._answered(name, arguments, context)
            return result
        except MCPError as error:
            status = "error"
            raise cannot_ask(error, name) from error
        finally:
            seconds = monotonic() - began
            told = AuditedCall(name, arguments, seconds, status, *_sent(result), *client(context), asker().subject)
            self.audit.write(told)

    async def _answered(
        self, name: str, arguments: dict[str, Any], context: WhoAsks | None
    ) -> tuple[CallToolResult | InputRequiredResult, Status]:
        try:
            self._check_may_write(name, arguments)
            _check_said(arguments)
            found = await super().call_tool(name, arguments, context)
            return found, "asked" if isinstance(found, InputRequiredResult) else "ok"
        except Refusal as error:
            refusal = error
        except ToolError as error:
            refusal = await self._refusal(name, error.__cause__)
        return failed(
            refusal, paths([arguments, self.bounds.database])
        ), "timeout" if refusal.code == "TIMEOUT" else "error"

    def _is_switched_off(self, name: str) -> bool:
        """Whether a tool is one that this server has with another option."""
        return (name in WRITING and not self.bounds.allow_write) or (name in PROVING and not self.bounds.allow_witness)

    def _check_may_write(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Raises :class:`Refusal` for what writes where the server only reads, or the token is for reading, and for
        what starts compilers where the server may not."""
        if name in PROVING and not self.bounds.allow_witness:
            hint = "start the server with --allow-witness (ABISTORE_MCP_ALLOW_WITNESS=1)"
            raise Refusal("WRITE_DISABLED", f"{name}: this server starts no compiler", hint)
        to_file = arguments.get(TO_FILE) is not None and name == "abi_dump"
        if name in WRITING and not self.bounds.allow_write:
            raise write_disabled(name)
        if to_file and name not in self.writing:
            raise write_disabled(f"{name} with {TO_FILE}", "start the server with --allow-write and --export-root")
        if (name in WRITING or to_file) and not asker().may_write:
            hint = f"ask with a token of the scope {WRITE}: `abistore mcp token --write`"
            raise Refusal("WRITE_DISABLED", f"{name}: this token is for reading", hint)

    async def _refusal(self, name: str, cause: BaseException | None) -> Refusal:
        if isinstance(cause, Refusal):
            return cause
        if isinstance(cause, ValidationError):
            (tool,) = (each for each in await self.list_tools() if each.name == name)
            return invalid(cause, list(tool.input_schema.get("properties", {})))
        if isinstance(cause, ToolError) and isinstance(cause.__cause__, ValueError):  # the answer to a question
            hint = "the answer to an elicitation of this server is {'agree': true} or {'agree': false}"
            return Refusal("DECLINED", "the user's answer does not say whether to do it: nothing was written", hint)
        self.audit.trace(cause)
        return Refusal("INTERNAL", f"internal error: {type(cause).__name__}", "the server's log has the traceback")

    def _runner(self, tool: str) -> Any:
        async def run(context: WhoAsks, decided: Question | None, **arguments: Any) -> CallToolResult:
            return await self.run_tool(tool, arguments, context, decided)

        return run

    def _finder(self, tool: Tool) -> Find | None:
        """What makes the question for a person; nothing where the tool has none, or nobody is to be asked."""
        if tool.asks is None or self.bounds.approvals == "auto":
            return None

        async def find(context: WhoAsks, **arguments: Any) -> Question:
            request = self._request(tool.name, arguments, context)
            done = await self.jobs.run(msgspec.structs.replace(request, asking=True), subject=asker().subject)
            return msgspec.json.decode(done.answer, type=Question)

        return find

    def _request(self, tool: str, arguments: dict[str, Any], context: WhoAsks) -> Request:
        usual = self.usual[tool]
        given = {name: value for name, value in arguments.items() if value != usual.get(name)}
        beside = self.kept_for({"comparison_id": arguments.get(EARLIER)}) if is_handle(arguments.get(EARLIER)) else None
        return Request(tool, given, self.bounds, self.kept_for(arguments), beside, actor(context))

    async def run_tool(
        self, tool: str, arguments: dict[str, Any], context: WhoAsks, decided: Question | None = None
    ) -> CallToolResult:
        """The answer of a tool to arguments that fit. Raises :class:`Refusal`.

        ``decided`` is the question that a person has decided, where the tool asks one.
        """

        async def advance(what: str, done: float) -> None:
            await context.report_progress(done, 1.0, what)

        request = self._request(tool, arguments, context)
        if decided is not None:
            who = f"{request.actor}, a person agreed" if decided.text else request.actor
            request = msgspec.structs.replace(request, decided=decided, actor=who)
        done = await self.jobs.run(request, advance, asker().subject)
        await self._keep(tool, done)
        text, document = TextContent(type="text", text=done.answer), json.loads(done.answer)
        return CallToolResult(content=[text, *linked(document)], structured_content=document)

    async def _keep(self, tool: str, done: Done) -> None:
        """Keep what later calls ask for."""
        if tool == "abi_gate":
            self.gate = done.answer.encode()
            await self.subscribers.tell(self.subscribers.addresses & {RESOURCES["latest_gates"].uri}, lists=False)
        if done.keep is not None:
            kept = self.dumps if tool == "abi_dump" else self.comparisons
            kept.keep(*done.keep)


def _check_said(arguments: Mapping[str, Any]) -> None:
    """Raises :class:`Refusal` for an empty argument: it would be taken for none."""
    if (place := blank_in("", arguments)) is not None:
        raise Refusal("INVALID_ARGUMENT", f"{place} is empty", "give a value, or leave it out")


def _sent(result: CallToolResult | InputRequiredResult | None) -> tuple[str, int]:
    """The verdict of an answer, and the bytes of its text."""
    if not isinstance(result, CallToolResult):
        return "", 0
    size = sum(len(block.text.encode()) for block in result.content if isinstance(block, TextContent))
    return str((result.structured_content or {}).get("verdict") or ""), size
