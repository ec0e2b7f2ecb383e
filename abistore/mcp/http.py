"""Streamable HTTP: one server for both eras of the protocol, behind tokens and checks of who calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from signal import SIGINT, SIGTERM
from socket import socket

import anyio
import uvicorn
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from pydantic import AnyHttpUrl
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from abistore.mcp.listening import PATH, BearerToken, Listening, matching
from abistore.mcp.server import build_server
from abistore.mcp.settings import READ, Settings
from abistore.mcp.stdio import RecordedExchange, Recording
from abistore.urls import HIDDEN

INTERRUPTED = 130
GRACE = 1
"""Seconds that calls have to end in when the server is told to."""


def serve_http(
    settings: Settings,
    listening: Listening,
    known: Sequence[BearerToken],
    recording: Recording | None,
    say: Callable[[str], None],
) -> int:
    """Serve until a signal comes; the exit code. ``say`` is told the address. Raises :class:`UsageError`."""
    with listening.bind() as listener:
        url = listening.url(listener.getsockname()[1])
        app = Application(settings, listening, known, url)
        app.recording = recording
        say(url)
        return anyio.run(partial(_serve, app, listener, listening))


class Application:
    """All that is served at an address. Names and web pages that may not reach it are refused before anything else."""

    def __init__(self, settings: Settings, listening: Listening, known: Sequence[BearerToken], url: str) -> None:
        self.recording: Recording | None = None
        rules = TransportSecuritySettings(allowed_hosts=listening.hosts, allowed_origins=listening.origins)
        self.server = build_server(settings, auth=_auth(url), token_verifier=Verifier(known))
        self._checks = TransportSecurityMiddleware(rules)
        self._app: ASGIApp = self.server.streamable_http_app(
            streamable_http_path=PATH,
            max_request_body_size=listening.max_body_size,
            session_idle_timeout=listening.session_timeout,
            max_sessions=listening.max_sessions,
            transport_security=rules,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if self.recording is not None and scope["type"] == "http":
            exchange = RecordedExchange(self.recording, receive, send)
            receive, send = exchange.receive, exchange.send
        refused = await self._checks.validate_request(Request(scope)) if scope["type"] == "http" else None
        await (refused or self._app)(scope, receive, send)


class Verifier:
    """Tells the SDK who has a token."""

    def __init__(self, known: Sequence[BearerToken]) -> None:
        self._known = known

    async def verify_token(self, token: str) -> AccessToken | None:
        """Whose token it is. The answer does not hold it: nothing later can print it."""
        found = matching(self._known, token)
        if found is None:
            return None
        return AccessToken(token=HIDDEN, client_id=found.subject, subject=found.subject, scopes=list(found.scopes))


def _auth(url: str) -> AuthSettings:
    """Tokens are given by hand, so the server names itself as their issuer; it has no OAuth login."""
    issuer = AnyHttpUrl(url.removesuffix(PATH))
    return AuthSettings(
        issuer_url=issuer,
        resource_server_url=AnyHttpUrl(url),
        required_scopes=[READ],
        validate_token_resource=False,
    )


class _Listener(uvicorn.Server):
    """Signals end it through ``should_exit``, and not through uvicorn, which sends them to the process again."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _serve(app: Application, listener: socket, listening: Listening) -> int:
    serving = _Listener(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="on",
            limit_concurrency=4 * listening.max_sessions + 64,
            timeout_graceful_shutdown=GRACE,
        )
    )
    code = 0
    with anyio.open_signal_receiver(SIGINT, SIGTERM) as signals:

        async def wait() -> None:
            nonlocal code
            async for signal in signals:
                code = INTERRUPTED if signal == SIGINT else 0
                serving.force_exit = serving.should_exit
                serving.should_exit = True

        app.server.jobs.warm()
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(wait)
                await serving.serve([listener])
                group.cancel_scope.cancel()
        finally:
            app.server.jobs.close()
    return code
