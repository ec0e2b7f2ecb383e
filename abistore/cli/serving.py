"""The options of ``mcp serve`` beside the bounds of calls: the transport, and who may use it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from abistore.cli.options.shared import FILE
from abistore.mcp.settings import Settings, folders, variable
from abistore.mcp.transports.listening import Listening
from abistore.mcp.transports.tokens import tokens

if TYPE_CHECKING:
    from abistore.mcp.transports.recording import Recording

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

HTTP = "streamable-http"
DEFAULTS = Listening()


def transport_options(command: Decorated) -> Decorated:
    """Add ``--transport``, and where and for whom HTTP is served. A flag wins over its environment variable."""
    for name, parameters in reversed(list(OPTIONS.items())):
        command = click.option(
            f"--{name.replace('_', '-')}",
            name,
            envvar=variable(name),
            show_envvar=True,
            show_default="default" in parameters,
            **parameters,
        )(command)
    return command


OPTIONS: Mapping[str, dict[str, Any]] = {
    "transport": {
        "type": click.Choice(("stdio", HTTP)),
        "default": "stdio",
        "help": "How clients reach the server.",
    },
    "host": {"default": DEFAULTS.host, "help": "HTTP: the address to listen on."},
    "port": {"type": click.IntRange(0, 65535), "default": DEFAULTS.port, "help": "HTTP: the port; 0 takes a free one."},
    "allow_remote": {"is_flag": True, "help": "HTTP: listen on an address that other machines reach."},
    "allowed_host": {
        "multiple": True,
        "metavar": "HOST",
        "help": "HTTP: a name by which clients call the server; repeatable.",
    },
    "allowed_origin": {
        "multiple": True,
        "metavar": "ORIGIN",
        "help": "HTTP: a web site whose pages may call the server; repeatable.",
    },
    "read_root": {
        "multiple": True,
        "type": FILE,
        "metavar": "FOLDER",
        "help": "Read files below it only; repeatable. Without one, HTTP reads none, and stdio all that you can.",
    },
    "token_file": {
        "type": FILE,
        "help": "HTTP: the file of tokens, which `abistore mcp token` makes; else ABISTORE_MCP_TOKEN holds one.",
    },
    "debug_rpc": {
        "type": FILE,
        "help": "Write every message in and out to a file, as JSON lines without tokens and notes.",
    },
    "session_timeout": {
        "type": float,
        "default": DEFAULTS.session_timeout,
        "help": "HTTP: the seconds without a request after which a session ends.",
    },
    "max_sessions": {"type": int, "default": DEFAULTS.max_sessions, "help": "HTTP: how many sessions may be open."},
    "max_body_size": {"type": int, "default": DEFAULTS.max_body_size, "help": "HTTP: the largest request, in bytes."},
}


def listening(given: Mapping[str, Any]) -> Listening:
    """Where HTTP is served. Raises :class:`UsageError`."""
    return Listening(
        host=given["host"],
        port=given["port"],
        allow_remote=given["allow_remote"],
        allowed_hosts=given["allowed_host"],
        allowed_origins=given["allowed_origin"],
        session_timeout=given["session_timeout"],
        max_sessions=given["max_sessions"],
        max_body_size=given["max_body_size"],
    )


def read_roots(transport: str, given: Sequence[Path]) -> tuple[str, ...] | None:
    """The folders below which files are read. Over HTTP no file is read where none is given."""
    return folders(given) if given or transport == HTTP else None


def serve(transport: str, settings: Settings, options: Mapping[str, Any], say: Callable[[str], None]) -> int:
    """Serve until there is nobody left to serve; the exit code."""
    from abistore.mcp.transports.recording import Recording

    file = options["debug_rpc"]
    with Recording(file) if file else nullcontext() as recording:
        if file:
            say(f"abistore mcp: every message is written to {file}, which is as private as your libraries are")
        if transport == HTTP:
            return _serve_http(settings, options, recording, say)
        from abistore.mcp.transports.stdio import serve_stdio

        say("abistore mcp: serving on standard input and output")
        return serve_stdio(settings, recording)


def _serve_http(
    settings: Settings, options: Mapping[str, Any], recording: Recording | None, say: Callable[[str], None]
) -> int:
    where, known = listening(options), tokens(options["token_file"])
    from abistore.mcp.transports.http import serve_http

    if where.allow_remote:
        say("abistore mcp: other machines can ask, and what they send is not encrypted: put a proxy with TLS before it")
    return serve_http(settings, where, known, recording, lambda url: say(f"abistore mcp: serving on {url}"))


def checked(transport: str, options: Mapping[str, Any]) -> str:
    """How clients would reach the server: HTTP needs tokens, names and a free port. Raises :class:`UsageError`."""
    if transport != HTTP:
        return "standard input and output"
    where, _ = listening(options), tokens(options["token_file"])
    hosts = where.hosts
    with where.bind() as listener:
        return f"{where.url(listener.getsockname()[1])}, called by {', '.join(hosts)}"
