"""Streamable HTTP: one server for both eras of the protocol, behind tokens and checks of who calls."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from signal import SIGINT, SIGTERM
from socket import socket
from time import monotonic

import anyio
import uvicorn
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from mcp.types import INVALID_REQUEST
from pydantic import AnyHttpUrl
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from abistore.mcp.jobs import RETRY_SECONDS
from abistore.mcp.listening import PATH, BearerToken, Listening, matching, with_defaults
from abistore.mcp.server import RecordedExchange, Recording, build_server
from abistore.mcp.settings import READ, Settings
from abistore.urls import HIDDEN

INTERRUPTED = 130
GRACE = 1
"""Seconds that calls have to end in when the server is told to."""

BODY_SECONDS = 20
"""How long the body of a request may take to arrive."""


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
        self._bounds = RequestBounds(listening, known)
        self._app: ASGIApp = self.server.streamable_http_app(
            streamable_http_path=PATH,
            max_request_body_size=listening.max_body_size,
            session_idle_timeout=listening.session_timeout,
            max_sessions=listening.max_sessions,
            transport_security=rules,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self.recording is not None:
            exchange = RecordedExchange(self.recording, receive, send)
            receive, send = exchange.receive, exchange.send
        refused = await self._checks.validate_request(Request(scope))
        if refused is not None:
            await refused(scope, receive, send)
            return
        await self._bounds.admit(self._app, scope, receive, send)


class RequestBounds:
    """What of HTTP is bounded before the SDK reads it: the time of a body, and the sessions of one subject.

    A subject has at most a quarter of all sessions, so that no one client takes them all.
    """

    def __init__(
        self, listening: Listening, known: Sequence[BearerToken], *, body_seconds: float = BODY_SECONDS
    ) -> None:
        self._known = known
        self._body_seconds = body_seconds
        self._longest = listening.session_timeout
        self._most = max(1, listening.max_sessions // 4)
        self._bytes = listening.max_body_size
        self._sessions: dict[str, tuple[str, float]] = {}

    async def admit(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Have ``app`` answer a request whose body arrived in time, of a subject that has room for it."""
        request = Request(scope)
        session = request.headers.get(MCP_SESSION_ID_HEADER, "")
        if session in self._sessions:
            self._sessions[session] = self._sessions[session][0], monotonic()
        subject = self._subject(request)
        if subject and not session and self._open(subject) >= self._most:
            await _refused("Too many open sessions of this token", 429)(scope, receive, send)
            return
        with anyio.move_on_after(self._body_seconds) as reading:
            body = await _body(receive, self._bytes)
        if reading.cancelled_caught:
            await _refused(f"The body did not arrive within {self._body_seconds:g} seconds", 408)(scope, receive, send)
        elif body is not None:  # else the client left
            told = _greeted(body) if subject and not session else body
            await app(scope, _replayed(told, receive), self._noting(subject, session, request.method, send))

    def _subject(self, request: Request) -> str:
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        found = matching(self._known, given.strip()) if kind.lower() == "bearer" else None
        return found.subject if found else ""

    def _open(self, subject: str) -> int:
        """The sessions of a subject that were used within the time after which they end."""
        ended = monotonic() - self._longest
        self._sessions = {key: (who, used) for key, (who, used) in self._sessions.items() if used > ended}
        return sum(who == subject for who, _ in self._sessions.values())

    def _noting(self, subject: str, session: str, method: str, send: Send) -> Send:
        """``send`` that notes a session that begins, and one that ends."""

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:
                begun = Headers(raw=message.get("headers", [])).get(MCP_SESSION_ID_HEADER)
                if begun and not session:
                    self._sessions[begun] = subject, monotonic()
                if method == "DELETE":
                    self._sessions.pop(session, None)
            await send(message)

        return noting


async def _body(receive: Receive, most: int) -> list[Message] | None:
    """The messages of a whole body, or of the first bytes beyond ``most``; nothing where the client left."""
    messages: list[Message] = []
    size = 0
    while size <= most:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        messages.append(message)
        size += len(message.get("body", b""))
        if not message.get("more_body"):
            break
    return messages


def _greeted(messages: list[Message]) -> list[Message]:
    """A body; where it is a handshake, with defaults for what the client leaves out."""
    body = b"".join(each.get("body", b"") for each in messages)
    if b'"initialize"' not in body or messages[-1].get("more_body"):
        return messages
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return messages
    if not isinstance(document, dict) or document.get("method") != "initialize":
        return messages
    if not isinstance(document.get("params", {}), dict):
        return messages
    whole = {**document, "params": with_defaults(document.get("params"))}
    return [{"type": "http.request", "body": json.dumps(whole).encode(), "more_body": False}]


def _replayed(messages: list[Message], receive: Receive) -> Receive:
    """``receive`` that begins with messages that have arrived."""
    left = iter(messages)

    async def again() -> Message:
        message = next(left, None)
        return await receive() if message is None else message

    return again


def _refused(message: str, status: int) -> Response:
    """An error of JSON-RPC for a request that nobody read."""
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": INVALID_REQUEST, "message": message}}
    headers = {"Retry-After": str(RETRY_SECONDS)}
    return Response(json.dumps(body), status_code=status, media_type="application/json", headers=headers)


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
    """Tokens are given by hand: no login is named to clients, as there is none."""
    return AuthSettings(
        issuer_url=AnyHttpUrl(url.removesuffix(PATH)),
        resource_server_url=None,
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
