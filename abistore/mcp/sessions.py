"""Who asks, the audit log, and subscriptions to changed resources in both eras of the protocol.

Subscriptions in both eras of the protocol: ``resources/subscribe``, and ``subscriptions/listen``.

The SDK serves the second by itself, and the first not at all. What this file takes from its inside is taken nowhere
else, and is why the package's minor version is pinned.
"""

from __future__ import annotations

import getpass
import json
import logging
import re
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Coroutine, Hashable, Iterable, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import anyio
from mcp import MCPError
from mcp.server import MCPServer, NotificationOptions
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged, ResourceUpdated
from mcp.types import (
    INVALID_PARAMS,
    EmptyResult,
    ResourceListChangedNotification,
    SubscribeRequestParams,
    UnsubscribeRequestParams,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from abistore.mcp.prompts import Look
from abistore.mcp.settings import WRITE, LogFormat, LogLevel, Refusal
from abistore.model.words import in_line, visible

_DIGITS = re.compile(r"[0-9a-fA-F]{6,32}")

MOST_BYTES = 64 << 20
"""What all reports together may take; the oldest goes first."""


class Kept:
    """At most ``most`` encoded things by what names them, the latest last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[str, bytes] = OrderedDict()

    def keep(self, identity: str, thing: bytes) -> None:
        """Keeps a thing, and lets the oldest go."""
        self._kept[identity] = thing
        self._kept.move_to_end(identity)
        while len(self._kept) > 1 and (len(self._kept) > self._most or self._size() > MOST_BYTES):
            self._kept.popitem(last=False)

    def get(self, identity: str) -> bytes | None:
        """The thing of this very name."""
        return self._kept.get(identity)

    def _size(self) -> int:
        return sum(map(len, self._kept.values()))


class Comparisons(Kept):
    """Encoded reports by the ids of comparisons."""

    def find(self, digits: str) -> bytes | None:
        """The report whose id begins with ``digits``. Raises :class:`Refusal` where several do."""
        if not _DIGITS.fullmatch(digits):
            raise Refusal(
                "INVALID_ARGUMENT", "comparison_id is not 6 or more hexadecimal digits", "take it from an answer"
            )
        found = [identity for identity in self._kept if identity.startswith(digits.lower())]
        if len(found) > 1:
            raise Refusal("AMBIGUOUS_REF", f"comparison_id {digits}: {', '.join(sorted(found))}", "give more digits")
        return self._kept[found[0]] if found else None


WhoAsks: TypeAlias = Context[Any, Any]

LONGEST_SUBJECT = 60
"""How many characters of a client's name are kept: it says what it likes."""


class Asker(NamedTuple):
    """``subject`` is empty where nobody has to say who they are."""

    subject: str
    may_write: bool


def asker() -> Asker:
    """Who asks in the call that is being answered."""
    from mcp.server.auth.middleware.auth_context import get_access_token

    token = get_access_token()
    return Asker("", True) if token is None else Asker(token.subject or "", WRITE in token.scopes)


def client(context: WhoAsks | None) -> tuple[str, str]:
    """The client's name and the request's id; nothing where the server itself asks."""
    try:
        request = context.request_context if context else None
    except ValueError:
        request = None
    if request is None or context is None:
        return "", ""
    parameters = request.session.client_params
    return parameters.client_info.name if parameters else "", str(request.request_id)


def actor(context: WhoAsks | None) -> str:
    """Who asks, as the store's audit names them: ``ana (mcp: claude-code)``."""
    who = in_line(asker().subject or _user(), LONGEST_SUBJECT)
    name = in_line(client(context)[0], LONGEST_SUBJECT)
    return f"{who} (mcp: {name})" if name else f"{who} (mcp)"


def _user() -> str:
    """Whoever started the server."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # in a container it may be a number without a name
        return "?"


Status: TypeAlias = Literal["ok", "asked", "timeout", "error", "cancelled"]

NAMES = {"old_input": "old", "new_input": "new"}
"""Arguments that the line calls otherwise."""

UNSAID = frozenset({"note", "reason", "cursor"})
"""Arguments whose text is nobody's business but the store's."""

LONGEST = 120
MOST = 40
"""How many arguments, and items of one, are told."""


class AuditedCall(NamedTuple):
    """What is told of a call."""

    tool: str
    arguments: Mapping[str, Any]
    seconds: float
    status: Status
    verdict: str = ""
    bytes_out: int = 0
    client: str = ""
    request: str = ""
    subject: str = ""


class Audit:
    """Writes calls to standard error, which no transport uses."""

    def __init__(self, format: LogFormat) -> None:
        self._format = format
        self._logger = logging.getLogger("abistore.mcp")
        self._logger.setLevel(logging.INFO)
        self._logger.propagate = False
        for handler in list(self._logger.handlers):
            self._logger.removeHandler(handler)
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(message)s"))
        self._logger.addHandler(handler)

    def write(self, call: AuditedCall) -> None:
        """One line about a call."""
        self._logger.info(_as_json(call) if self._format == "json" else _as_text(call))

    def warn(self, text: str) -> None:
        """One line about the server itself."""
        said = in_line(text, 400)
        self._logger.warning(
            json.dumps({"warning": said}) if self._format == "json" else f"WARNING: abistore.mcp: {said}"
        )

    def trace(self, error: BaseException | None) -> None:
        """The traceback of a bug; clients are told its class only."""
        self._logger.error("internal error", exc_info=error)


def _as_text(call: AuditedCall) -> str:
    inputs = "".join(f" {in_line(name, LONGEST)}={_word(value)}" for name, value in _inputs(call.arguments).items())
    verdict = f" verdict={call.verdict}" if call.verdict else ""
    subject = f" subject={_word(call.subject)}" if call.subject else ""
    head = f"INFO: abistore.mcp: tool={in_line(call.tool, LONGEST)}"
    return f"{head}{inputs} duration={call.seconds:.3f}s status={call.status}{verdict}{subject}"


def _as_json(call: AuditedCall) -> str:
    document: dict[str, Any] = {
        "tool": call.tool[:LONGEST],
        "inputs": _inputs(call.arguments),
        "duration_s": round(call.seconds, 3),
        "status": call.status,
        "verdict": call.verdict or None,
        "client": call.client[:LONGEST] or None,
        "request_id": call.request[:LONGEST] or None,
        "subject": call.subject or None,
        "bytes_out": call.bytes_out,
    }
    return json.dumps(document)


def _inputs(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        NAMES.get(name, name)[:LONGEST]: _without_folders(value)
        for name, value in islice(arguments.items(), MOST)
        if name not in UNSAID and value is not None
    }


def _without_folders(value: Any) -> Any:
    if isinstance(value, str) and "\n" in value:
        return f"({len(value):,} characters)"
    if isinstance(value, str):
        return re.split(r"[/\\]", value.rstrip("/\\"))[-1][:LONGEST]
    if isinstance(value, list | tuple):
        return [_without_folders(each) for each in value[:MOST]]
    if isinstance(value, Mapping):
        return [str(name)[:LONGEST] for name in sorted(value, key=str)[:MOST]]
    if isinstance(value, int) and value.bit_length() > 64:
        return "(a number that is too large)"
    return value


def _word(value: Any) -> str:
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    text = in_line(text, LONGEST)
    return json.dumps(text) if " " in text else text


class Shown(logging.Formatter):
    """Clients choose what warnings quote: no terminal obeys it."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as lines that do nothing but show."""
        return visible(super().format(record))


def configure(level: LogLevel) -> None:
    """Sets the log up, before the SDK does so in its own way."""
    root = logging.getLogger()
    if not root.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(Shown("%(levelname)s: %(name)s: %(message)s"))
        root.addHandler(handler)
    root.setLevel(level.upper())


MOST_SUBSCRIBED = 256
"""How many subscriptions a server has at once, of all clients together."""

LONGEST_ADDRESS = 2_000
"""How many characters an address may have."""

PATIENCE = 5.0
"""The seconds within which a client has to take a message; one that reads no more is told no more."""


class Subscriber:
    """A session of a handshake era, or, without ``session``, a stream of the stateless one, which the bus serves.

    ``lists`` tells whether it wants to know of libraries that come and go.
    """

    def __init__(self, session: ServerSession | None = None) -> None:
        self.session = session
        self.addresses: set[str] = set()
        self.lists = False


class Subscribers:
    """All subscribers by what keeps them: a connection, or a stream."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self._all: dict[Hashable, Subscriber] = {}
        self.changed = anyio.Event()
        """Set when somebody subscribes."""

    def __len__(self) -> int:
        return len(self._all)

    @property
    def addresses(self) -> frozenset[str]:
        """All that anybody subscribes to."""
        return frozenset().union(*(one.addresses for one in self._all.values()))

    def add(
        self, key: Hashable, addresses: Iterable[str], *, lists: bool, session: ServerSession | None = None
    ) -> None:
        """Add to what a subscriber wants to be told of. Raises :class:`MCPError` where that is too much."""
        wanted = set(addresses)
        known = self._all.get(key)
        taken = sum(len(one.addresses) for one in self._all.values())
        if taken + len(wanted - (known.addresses if known else set())) > MOST_SUBSCRIBED:
            raise MCPError(
                INVALID_PARAMS, f"at most {MOST_SUBSCRIBED} subscriptions are kept at once: unsubscribe from others"
            )
        if any(len(address) > LONGEST_ADDRESS for address in wanted):
            raise MCPError(INVALID_PARAMS, f"an address has at most {LONGEST_ADDRESS} characters")
        one = self._all.setdefault(key, Subscriber(session))
        one.addresses |= wanted
        one.lists |= lists
        self.changed.set()

    def drop(self, key: Hashable, address: str) -> None:
        """A subscriber wants to be told of an address no more."""
        if key in self._all:
            self._all[key].addresses.discard(address)

    def remove(self, key: Hashable) -> None:
        """A subscriber is gone."""
        self._all.pop(key, None)

    async def tell(self, addresses: Iterable[str], *, lists: bool) -> None:
        """Tell that ``addresses`` say something else and, with ``lists``, that libraries came or went."""
        told = sorted(addresses)
        for address in told:
            await self.bus.publish(ResourceUpdated(uri=address))
        if lists:
            await self.bus.publish(ResourcesListChanged())
        for key, one in list(self._all.items()):
            if one.session is not None:
                with anyio.move_on_after(PATIENCE) as waiting:
                    await _tell(one.session, [each for each in told if each in one.addresses], lists and one.lists)
                if waiting.cancelled_caught:
                    self.remove(key)


async def _tell(session: ServerSession, addresses: Iterable[str], lists: bool) -> None:
    for address in addresses:
        await session.send_resource_updated(address)
    if lists:
        await session.send_notification(ResourceListChangedNotification())


Ask: TypeAlias = Callable[[str, Collection[str]], Coroutine[Any, Any, Look]]

OF_FILE, OF_SERVER, AFTER_FAILURE = 0.25, 1.0, 2.0
"""The seconds between two looks: at the files of an SQLite store, at a database server, and after one that failed."""

SHARE = 4
"""A look that took a second is followed by this many of rest."""

COARSE = 2_000_000_000
"""Nanoseconds within which a file may be written twice and tell one time."""


class Watcher:
    """Tells subscribers of addresses that say something else than when it last looked.

    No connection stays open between two looks: it would keep the log of an SQLite file alive beside another file that
    takes its place, and whoever opens that would read both.
    """

    def __init__(self, subscribers: Subscribers, ask: Ask, say: Callable[[str], None]) -> None:
        self._subscribers = subscribers
        self._ask = ask
        self._say = say
        self._one = anyio.Lock()
        self._looking = anyio.Lock()
        self._forget()

    def _forget(self) -> None:
        self._mark = self._libraries = self._trouble = ""
        self._file: str | None = None
        self._stamp: object = None
        self._texts: dict[str, str | None] = {}

    async def begin(self, addresses: Iterable[str]) -> None:
        """Note what ``addresses`` say before their subscriber hears that it is one: nothing is missed from then on."""
        async with self._looking:
            new = [address for address in addresses if address not in self._texts]
            try:
                seen = await self._ask("", new)
            except Refusal as refusal:
                self._complain(refusal)
                self._texts |= dict.fromkeys(new)
                return
            self._texts |= {address: seen.texts.get(address) for address in new}
            if not self._mark:
                self._mark, self._libraries, self._file = seen.mark, seen.libraries, seen.file

    async def run(self) -> None:
        """Look until cancelled; where a server lives several times over, one of its lives looks for all."""
        async with self._one:
            while True:
                while not len(self._subscribers):
                    self._forget()
                    self._subscribers.changed = anyio.Event()
                    await self._subscribers.changed.wait()
                await anyio.sleep(await self._look())

    async def _look(self) -> float:
        """Tell what changed; the seconds after which to look again."""
        stamp = _stamp(self._file)
        if stamp is not None and stamp == self._stamp:
            return OF_FILE
        async with self._looking:
            began = time.monotonic()
            self._texts = {uri: self._texts[uri] for uri in self._subscribers.addresses if uri in self._texts}
            try:
                seen = await self._ask(self._mark, self._texts)
            except Refusal as refusal:
                self._complain(refusal)
                return AFTER_FAILURE
            told, lists = self._changed(seen)
        await self._subscribers.tell(told, lists=lists)
        if None in seen.texts.values():
            return AFTER_FAILURE
        self._stamp = stamp
        return max(OF_SERVER if seen.file is None else OF_FILE, SHARE * (time.monotonic() - began))

    def _changed(self, seen: Look) -> tuple[list[str], bool]:
        """The addresses that say something else, and whether libraries came or went."""
        self._recover()
        self._file = seen.file
        if seen.mark == self._mark:
            return [], False
        known, self._libraries = self._libraries, seen.libraries
        changed = [uri for uri, text in seen.texts.items() if text is not None and text != self._texts[uri]]
        self._texts |= {uri: seen.texts[uri] for uri in changed}
        if None not in seen.texts.values():  # one that cannot be read now is asked for again
            self._mark = seen.mark
        return changed, bool(known) and known != seen.libraries

    def _complain(self, refusal: Refusal) -> None:
        trouble = f"{refusal.code} {refusal.message}"
        if trouble != self._trouble:
            self._say(f"subscribers are not notified of changes: {refusal.message}; retrying")
        self._trouble = trouble

    def _recover(self) -> None:
        if self._trouble:
            self._say("subscribers are notified of changes again")
        self._trouble = ""


def _stamp(file: str | None) -> object:
    """What the files of an SQLite store tell of their last write; nothing for a database server.

    A write may leave a file that was written just before with the same time: such a stamp changes once more by itself.
    """
    if file is None:
        return None
    found = [_of(file), _of(f"{file}-wal")]
    last = max((each[2] for each in found if each), default=0)
    return (*found, time.time_ns() - last < COARSE)


def _of(file: str) -> tuple[int, int, int] | None:
    try:
        status = Path(file).stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


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
