"""Resources, prompts and completions, as the protocol asks for them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import msgspec
from mcp import MCPError
from mcp.server import MCPServer
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.shared.uri_template import UriTemplate
from mcp.types import (
    INVALID_PARAMS,
    Annotations,
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
    Role,
    TextContent,
    TextResourceContents,
)

from abistore.mcp.completions import COMPLETE
from abistore.mcp.jobs.messages import Request
from abistore.mcp.jobs.pool import Jobs
from abistore.mcp.prompts.all import TASKS
from abistore.mcp.prompts.declaration import ARGUMENTS, LONGEST, Task, fault
from abistore.mcp.refusals import Refusal
from abistore.mcp.resources.all import RESOURCES
from abistore.mcp.resources.declaration import JSON, ReadableResource
from abistore.mcp.resources.text import INDEX, PART, Part
from abistore.mcp.serving.comparisons import Comparisons, Kept
from abistore.mcp.serving.envelope import paths, without_folders
from abistore.mcp.settings import Settings
from abistore.mcp.watching import WATCH, Look, decode_seen
from abistore.model.words.characters import in_line

NOTHING: Mapping[str, str] = {}
_PAGE = re.compile(r"offset=([0-9]{1,12})(?:&digest=([0-9a-f]{12}))?")
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
        fixed = [Resource(uri=each.uri, **_described(each)) for each in RESOURCES.values() if not each.is_template]
        return [*fixed, *(_page_of(library) for library in await self._words("library"))]

    async def list_resource_templates(self) -> list[ResourceTemplate]:
        """Those whose address has variables."""
        return [
            ResourceTemplate(uri_template=each.uri, **_described(each))
            for each in RESOURCES.values()
            if each.is_template
        ]

    async def read_resource(
        self, uri: Any, context: Context[Any, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        """The text at an address. Raises :class:`ResourceError`."""
        found = matched(str(uri))
        if found is None:
            raise ResourceNotFoundError(f"Unknown resource: {in_line(str(uri), LONGEST)}")
        resource, arguments, part = found
        try:
            kept = self.kept_of(resource, arguments)
            given = {**arguments, PART: msgspec.to_builtins(part)}
            done = await self.jobs.run(Request(resource.name, given, self.bounds, kept))
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
                description=task.description,
                arguments=list(map(_argument, task.arguments)),
            )
            for task in TASKS.values()
        ]

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[Any, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        """A task, with what it is about. Raises :class:`MCPError`."""
        if name not in TASKS:
            raise MCPError(INVALID_PARAMS, f"Unknown prompt: {in_line(name, LONGEST)}", {"known": sorted(TASKS)})
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
        return Completion(values=await self._words(argument.name, argument.value[:LONGEST], given))

    async def _words(self, argument: str, start: str = "", given: Mapping[str, str] = NOTHING) -> list[str]:
        """Words for an argument; none where the store cannot be read."""
        asked = {"argument": argument, "start": start, "given": dict(given)}
        try:
            done = await self.jobs.run(Request(COMPLETE, asked, self.bounds))
        except Refusal:
            return []
        words: list[str] = json.loads(done.answer)
        return words


def _page_of(library: str) -> Resource:
    page = RESOURCES["history_page"]
    uri = UriTemplate.parse(page.uri).expand({"library": library})
    shown = in_line(library, LONGEST)
    told = "The releases of a library, with verdicts."
    return Resource(uri=uri, name=shown, description=told, mime_type=page.mime, annotations=annotated(page))


def _argument(name: str) -> PromptArgument:
    return PromptArgument(name=name, description=ARGUMENTS[name], required=True)


def matched(uri: str) -> tuple[ReadableResource, dict[str, Any], Part] | None:
    """The resource at an address, what the address says of it, and which part of it is asked for."""
    address, _, asked = uri.partition("?")
    page = _PAGE.fullmatch(asked)
    if asked and page is None:
        return None
    part = Part(address, int(page[1]), page[2] or "") if page else Part(address)
    for resource in RESOURCES.values():
        if not resource.is_template and resource.uri == address:
            return resource, {}, part
        found = UriTemplate.parse(resource.uri).match(address) if resource.is_template else None
        if found is not None:
            return resource, dict(found), part
    return None


def _described(resource: ReadableResource) -> dict[str, Any]:
    return {
        "name": resource.name,
        "description": resource.description,
        "mime_type": resource.mime,
        "annotations": annotated(resource),
    }


def annotated(resource: ReadableResource) -> Annotations:
    """For whom a resource is, and how much it matters: people read pages, agents read all."""
    read_by: list[Role] = ["assistant"] if resource.mime.endswith("json") else ["user", "assistant"]
    return Annotations(audience=read_by, priority=resource.priority)


def _given(task: Task, arguments: Mapping[str, Any]) -> dict[str, str]:
    missing = [name for name in task.arguments if not arguments.get(name)]
    if missing:
        raise MCPError(INVALID_PARAMS, f"{task.name}: missing {', '.join(missing)}")
    given = {name: str(arguments[name]) for name in task.arguments}
    for name, text in given.items():
        if wrong := fault(name, text):
            raise MCPError(INVALID_PARAMS, f"{task.name}: {name} {wrong}")
    return given
