"""Subscriptions in both eras of the protocol: ``resources/subscribe``, and ``subscriptions/listen``.

The SDK serves the second by itself, and the first not at all. What this file takes from its inside is taken nowhere
else, and is why the package's minor version is pinned.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from mcp.server import MCPServer, NotificationOptions
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.types import EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from abistore.mcp.serving.subscribers import Subscribers
from abistore.mcp.serving.watcher import Watcher

Asked = ServerRequestContext[Any, Any]


class Subscribing:
    """Serves the subscriptions of one server."""

    def __init__(self, subscribers: Subscribers, watcher: Watcher) -> None:
        self._subscribers = subscribers
        self._watcher = watcher

    def install(self, server: MCPServer[Any]) -> None:
        """Let a server that was given the bus of the subscribers serve both eras."""
        inside = server._lowlevel_server
        inside.add_request_handler("resources/subscribe", SubscribeRequestParams, self._subscribe)
        inside.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, self._unsubscribe)
        inside.create_initialization_options = partial(  # type: ignore[method-assign]  # its one caller has no options
            inside.create_initialization_options, NotificationOptions(resources_changed=True)
        )
        server.middleware.append(self._observe)

    async def _subscribe(self, context: Asked, asked: SubscribeRequestParams) -> EmptyResult:
        self._keep(context, str(asked.uri))
        await self._watcher.begin([str(asked.uri)])
        return EmptyResult()

    async def _unsubscribe(self, context: Asked, asked: UnsubscribeRequestParams) -> EmptyResult:
        self._subscribers.drop(_connection(context), str(asked.uri))
        return EmptyResult()

    async def _observe(self, ctx: Asked, call_next: CallNext) -> HandlerResult:
        """See who listens; in the older eras, who has read the list is told that it changed."""
        modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        if ctx.method == "subscriptions/listen" and modern:
            return await self._listen(ctx, call_next)
        if ctx.method == "resources/list" and not modern:
            self._keep(ctx)
            await self._watcher.begin([])
        return await call_next(ctx)

    async def _listen(self, context: Asked, proceed: CallNext) -> HandlerResult:
        wanted = (context.params or {}).get("notifications")
        wanted = wanted if isinstance(wanted, Mapping) else {}
        uris = wanted.get("resourceSubscriptions")
        addresses = [uri for uri in uris if isinstance(uri, str)] if isinstance(uris, list) else []
        lists = wanted.get("resourcesListChanged") is True
        stream = object()
        try:
            if addresses or lists:
                self._subscribers.add(stream, addresses, lists=lists)
                await self._watcher.begin(addresses)
            return await proceed(context)
        finally:
            self._subscribers.remove(stream)

    def _keep(self, context: Asked, *addresses: str) -> None:
        """Note what a session wants to be told of, until it ends."""
        connection = _connection(context)
        self._subscribers.add(connection, addresses, lists=True, session=context.session)
        if _KEPT not in connection.state:
            connection.state[_KEPT] = True
            connection.exit_stack.callback(self._subscribers.remove, connection)


_KEPT = "abistore.subscriber"


def _connection(context: Asked) -> Connection:
    return context.session._connection
