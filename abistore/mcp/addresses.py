"""Addresses of resources: which one is meant, how it is listed, and which of them answers link to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, quote

from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.uri_template import UriTemplate
from mcp.types import Annotations, Resource, ResourceLink, Role
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from abistore.mcp.prompts import LONGEST_ARGUMENT
from abistore.mcp.resources import JSON, RESOURCES, Part, ReadableResource
from abistore.model.words import in_line

_PART: Mapping[str, re.Pattern[str]] = {
    "offset": re.compile(r"[0-9]{1,12}"),
    "digest": re.compile(r"[0-9a-f]{12}"),
    "limit": re.compile(r"[1-9][0-9]{0,5}"),
}
"""What an address may say behind its ``?``."""


def matched(uri: str) -> tuple[ReadableResource, dict[str, Any], Part] | None:
    """The resource at an address, what the address says of it, and which part of it is asked for."""
    address, _, asked = uri.partition("?")
    for resource in RESOURCES.values():
        found = UriTemplate.parse(resource.uri).match(address) if resource.is_template else None
        if found is not None or resource.uri == address:
            part = _part(address, asked, resource)
            return None if part is None else (resource, dict(found or {}), part)
    return None


def _part(address: str, asked: str, resource: ReadableResource) -> Part | None:
    """Which part is asked for; nothing where the address cannot ask so. A snapshot without some items is none."""
    if not asked:
        return Part(address)
    given = dict(parse_qsl(asked, keep_blank_values=True))
    if not given or not all(name in _PART and _PART[name].fullmatch(value) for name, value in given.items()):
        return None
    limit, offset = given.get("limit"), given.get("offset")
    if limit and (resource.mime != JSON or resource.uri.endswith("snapshot.json")):
        return None
    digest = given.get("digest", "")
    place = f"{address}?limit={limit}" if limit else address
    return Part(place, int(offset) if offset else None, digest, int(limit) if limit else None)


def page_of(library: str) -> Resource:
    """The page of a library, as a list has it."""
    page = RESOURCES["history_page"]
    uri = UriTemplate.parse(page.uri).expand({"library": library})
    shown = in_line(library, LONGEST_ARGUMENT)
    told = "The releases of a library, with verdicts."
    return Resource(uri=uri, name=shown, description=told, mime_type=page.mime, annotations=annotated(page))


def described(resource: ReadableResource) -> dict[str, Any]:
    """What a list says of a resource."""
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


LINKED: Mapping[str, str] = {
    "comparison_id": "abistore://comparisons/{}/report.md",
    "kind": "abistore://docs/kinds/{}",
    "library": "abistore://libraries/{}/history.md",
}
"""The page that says more about what a member of an answer names: the first that an answer has is linked to."""


def linked(document: Mapping[str, Any]) -> list[ResourceLink]:
    """A link to what an answer is about: the report or snapshot whose address it tells, or else a page."""
    uri = document.get("report_uri") or document.get("snapshot_uri") or ""
    about = next((name for name in LINKED if isinstance(document.get(name), str)), "")
    uri = uri or (LINKED[about].format(quote(document[about], safe="")) if about else "")
    found = matched(uri)
    if found is None:
        return []
    name, size = uri.rpartition("/")[2], document.get("bytes")
    return [ResourceLink(type="resource_link", uri=uri, name=name, mime_type=found[0].mime, size=size)]


MINUTE, DAY = 60_000, 86_400_000
"""In milliseconds."""

HINTS: Mapping[CacheableMethod, CacheHint] = {
    "tools/list": CacheHint(ttl_ms=MINUTE, scope="public"),
    "prompts/list": CacheHint(ttl_ms=MINUTE, scope="public"),
    "resources/templates/list": CacheHint(ttl_ms=MINUTE, scope="public"),
}
"""Lists that only another version of the server has otherwise."""


async def hint(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Let what an address with a digest says be kept for a day, for whoever asked; the rest not at all."""
    result = await call_next(ctx)
    if ctx.method == "resources/read" and ctx.protocol_version in MODERN_PROTOCOL_VERSIONS and isinstance(result, dict):
        found = matched(str((ctx.params or {}).get("uri")))
        lasts = found is not None and found[0].lasts
        return {**result, "ttlMs": DAY if lasts else 0, "cacheScope": "private"}
    return result
