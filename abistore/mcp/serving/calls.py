"""One place through which every call goes: bounds, errors, audit."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import anyio
import msgspec
from mcp import MCPError
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import INVALID_PARAMS, CallToolResult, InputRequiredResult, ResourceLink, TextContent
from mcp.types import Tool as ListedTool
from pydantic import ValidationError

from abistore import __version__
from abistore.mcp.jobs.messages import Done, Request
from abistore.mcp.jobs.pool import Jobs
from abistore.mcp.questions import Question
from abistore.mcp.refusals import Refusal, write_disabled
from abistore.mcp.resources.all import RESOURCES
from abistore.mcp.serving.asker import Asked, actor, asker, client
from abistore.mcp.serving.audit import Audit, AuditedCall, Status
from abistore.mcp.serving.caching import HINTS, hint
from abistore.mcp.serving.comparisons import Comparisons, Kept
from abistore.mcp.serving.deciding import Find, cannot_ask
from abistore.mcp.serving.envelope import failed, invalid, paths, without_folders
from abistore.mcp.serving.logs import configure
from abistore.mcp.serving.reading import ReadingServer
from abistore.mcp.serving.schemas import served
from abistore.mcp.serving.subscribers import Subscribers
from abistore.mcp.serving.subscribing import Subscribing
from abistore.mcp.serving.watcher import Watcher
from abistore.mcp.settings import WRITE, Settings, absolute
from abistore.mcp.tools.all import TO_FILE, WRITING
from abistore.mcp.tools.declaration import Tool
from abistore.model.labels.blanks import blank_in
from abistore.model.words.characters import in_line
from abistore.model.words.nearness import did_you_mean, near


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
        self, name: str, arguments: dict[str, Any], context: Asked | None = None
    ) -> CallToolResult | InputRequiredResult:
        """The answer of a tool, or an error that says what to do. Raises :class:`MCPError` for an unknown tool."""
        known = [tool.name for tool in await self.list_tools()]
        if name not in known and name not in WRITING:
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
        self, name: str, arguments: dict[str, Any], context: Asked | None
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

    def _check_may_write(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Raises :class:`Refusal` for what writes where the server only reads, or the token is for reading."""
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
        self.audit.trace(cause)
        return Refusal("INTERNAL", f"internal error: {type(cause).__name__}", "the server's log has the traceback")

    def _runner(self, tool: str) -> Any:
        async def run(context: Asked, decided: Question | None, **arguments: Any) -> CallToolResult:
            return await self.run_tool(tool, arguments, context, decided)

        return run

    def _finder(self, tool: Tool) -> Find | None:
        """What makes the question for a person; nothing where the tool has none, or nobody is to be asked."""
        if tool.asks is None or self.bounds.approvals == "auto":
            return None

        async def find(context: Asked, **arguments: Any) -> Question:
            request = self._request(tool.name, arguments, context)
            done = await self.jobs.run(msgspec.structs.replace(request, asking=True))
            return msgspec.json.decode(done.answer, type=Question)

        return find

    def _request(self, tool: str, arguments: dict[str, Any], context: Asked) -> Request:
        given = {name: value for name, value in arguments.items() if value is not None}
        return Request(tool, given, self.bounds, self.kept_for(arguments), actor(context))

    async def run_tool(
        self, tool: str, arguments: dict[str, Any], context: Asked, decided: Question | None = None
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
        done = await self.jobs.run(request, advance)
        links = await self._keep(tool, done)
        text = TextContent(type="text", text=done.answer)
        return CallToolResult(content=[text, *links], structured_content=json.loads(done.answer))

    async def _keep(self, tool: str, done: Done) -> list[ResourceLink]:
        """Keep what later calls ask for; links to what can be read now."""
        if tool == "abi_gate":
            self.gate = done.answer.encode()
            await self.subscribers.tell(self.subscribers.addresses & {RESOURCES["latest_gates"].uri}, lists=False)
        if done.keep is None:
            return []
        if tool != "abi_dump":
            self.comparisons.keep(*done.keep)
            return []
        self.dumps.keep(*done.keep)
        found = RESOURCES["dumped"]
        uri = found.uri.replace("{digest}", done.keep[0])
        size = len(done.keep[1])
        return [ResourceLink(type="resource_link", uri=uri, name="snapshot.json", mime_type=found.mime, size=size)]


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
