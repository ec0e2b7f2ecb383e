"""``mcp``: serve agents, and what helps to set that up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from abistore.cli.main import SuggestingGroup
from abistore.cli.options import FILE, SharedSettings, store_command
from abistore.cli.output import answer, error_document, note, say_error, table, write_json
from abistore.errors import InputError, UsageError
from abistore.installing import how_to_install
from abistore.mcp.listening import Listening, tokens
from abistore.mcp.settings import Settings, folders, variable
from abistore.model.words import visible

if TYPE_CHECKING:
    from abistore.mcp.stdio import Recording

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
    from abistore.mcp.stdio import Recording

    file = options["debug_rpc"]
    with Recording(file) if file else nullcontext() as recording:
        if file:
            say(f"abistore mcp: every message is written to {file}, which is as private as your libraries are")
        if transport == HTTP:
            return _serve_http(settings, options, recording, say)
        from abistore.mcp.stdio import serve_stdio

        say("abistore mcp: serving on standard input and output")
        return serve_stdio(settings, recording)


def _serve_http(
    settings: Settings, options: Mapping[str, Any], recording: Recording | None, say: Callable[[str], None]
) -> int:
    where, known = listening(options), tokens(options["token_file"])
    from abistore.mcp.http import serve_http

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


NO_SDK = 2
"""The exit code where the extra is not installed."""


@click.group("mcp", cls=SuggestingGroup)
def mcp_command() -> None:
    """Serve agents by MCP, and help to set that up."""


def bound_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option for each bound of a call. A flag wins over its environment variable."""
    defaults = Settings()
    for name, said in (
        ("history_limit", "How many comparisons of files are kept for later questions."),
        ("max_response_units", "The longest answer, in units of 4 bytes."),
        ("max_concurrency", "How many calls are worked on at once; others wait."),
        ("max_memory", "The memory that a process may take for a call, in bytes."),
        ("max_file_size", "The largest file that is read, in bytes."),
        ("timeout", "The seconds after which the work of a call is ended."),
    ):
        kind = type(getattr(defaults, name))
        command = click.option(
            f"--{name.replace('_', '-')}",
            type=kind,
            default=getattr(defaults, name),
            show_default=True,
            envvar=variable(name),
            show_envvar=True,
            help=said,
        )(command)
    return click.option(
        "--log-format",
        type=click.Choice(("text", "json")),
        default="text",
        show_default=True,
        envvar=variable("log_format"),
        show_envvar=True,
        help="How calls are logged on standard error.",
    )(command)


def writing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of servers that write."""
    for option in (
        click.option(
            "--export-root",
            type=click.Path(exists=True, file_okay=False),
            envvar=variable("export_root"),
            show_envvar=True,
            help="With --allow-write: the folder below which abi_dump may write files.",
        ),
        click.option(
            "--approvals",
            type=click.Choice(("human", "auto")),
            default="human",
            show_default=True,
            envvar=variable("approvals"),
            show_envvar=True,
            help="Who decides what is hard to take back: a person, whom the client asks, or nobody.",
        ),
        click.option(
            "--allow-write",
            is_flag=True,
            envvar=variable("allow_write"),
            show_envvar=True,
            help="Serve the tools that write to the database, too.",
        ),
    ):
        command = option(command)
    return command


@mcp_command.command("serve")
@click.option("--check", is_flag=True, help="Check the settings and the database, and exit.")
@transport_options
@click.option(
    "--log-level",
    type=click.Choice(("debug", "info", "warning", "error")),
    default="warning",
    show_default=True,
    envvar=variable("log_level"),
    show_envvar=True,
    help="What is said on standard error beside the lines about calls.",
)
@bound_options
@writing_options
@store_command
@click.pass_context
def serve_command(
    context: click.Context, settings: SharedSettings, /, *, check: bool, transport: str, **given: Any
) -> int:
    """Serve MCP on standard input and output, until the client closes them, or over HTTP.

    A client starts this by itself: `abistore mcp config` prints what to write into its configuration. Nothing is
    written to the database without --allow-write. Each call is logged on standard error.

    HTTP is served to those who have a token, on this machine only unless --allow-remote is said.
    """
    _require_sdk(context, settings)
    options = {name: given.pop(name) for name in OPTIONS if name in given}
    roots = read_roots(transport, options["read_root"])
    started = Settings(database=settings.database, read_roots=roots, **given)
    if check:
        from abistore.mcp.clients import readiness

        reached = checked(transport, options)
        told = {"ready": readiness(started), "reached": reached}
        answer(settings, told, lambda: f"{readiness(started).line}, on {reached}")
        return 0
    import gc

    gc.enable()  # other commands end soon, and need none
    return serve(transport, started, options, partial(note, settings))


@mcp_command.command("token")
@click.argument("file", type=FILE)
@click.option("--subject", default="token", show_default=True, help="Whoever gets it; the log of calls names them.")
@click.option("--write", is_flag=True, help="Allow the tools that write too, where the server has any.")
@store_command
def token_command(settings: SharedSettings, /, *, file: Path, subject: str, write: bool) -> None:
    """Add a new token to FILE, for `mcp serve --transport streamable-http --token-file FILE`.

    The file is made for you alone. Each of its lines is a token, its subject and its scope. It is not printed: a client
    gets the first word of the line.
    """
    from abistore.mcp.listening import add

    scope = add(file, subject, write=write)
    told = {"file": str(file), "subject": subject, "scope": scope}
    answer(settings, told, lambda: f"{file}: a token for {subject}, with {scope}")


@mcp_command.command("tools")
@click.option("--schema", is_flag=True, help="Show the schemas of arguments and answers too.")
@writing_options
@store_command
@click.pass_context
def tools_command(context: click.Context, settings: SharedSettings, /, *, schema: bool, **writing: Any) -> None:
    """List the tools that are served."""
    _require_sdk(context, settings)
    from abistore.mcp.server import tools

    listed = tools(Settings(database=settings.database, **writing))
    shown = listed if schema else [{name: each[name] for name in ("name", "description")} for each in listed]

    def text() -> str:
        import json

        if schema:
            return json.dumps(listed, indent=2)
        return table(
            ("tool", "what it does"), [(each["name"], each["description"].partition("\n")[0]) for each in listed]
        )

    answer(settings, {"tools": shown}, text)


@mcp_command.command("resources")
@store_command
@click.pass_context
def resources_command(context: click.Context, settings: SharedSettings, /) -> None:
    """List the addresses that can be read, and the templates of more."""
    _require_sdk(context, settings)
    from abistore.mcp.server import resources

    listed = resources(Settings(database=settings.database))
    rows = [(each.get("uri") or each["uriTemplate"], each["description"].partition("\n")[0]) for each in listed]
    answer(settings, {"resources": listed}, lambda: table(("address", "what it is"), rows))


@mcp_command.command("prompts")
@store_command
@click.pass_context
def prompts_command(context: click.Context, settings: SharedSettings, /) -> None:
    """List the prompts, with the arguments that each takes."""
    _require_sdk(context, settings)
    from abistore.mcp.server import prompts

    listed = prompts(Settings(database=settings.database))
    rows = [
        (each["name"], ", ".join(argument["name"] for argument in each["arguments"]), each["description"])
        for each in listed
    ]
    answer(settings, {"prompts": listed}, lambda: table(("prompt", "arguments", "what it is for"), rows))


@mcp_command.command("call")
@click.argument("tool")
@click.argument("arguments", nargs=-1, metavar="[NAME=VALUE]...")
@bound_options
@writing_options
@store_command
@click.pass_context
def call_command(
    context: click.Context, settings: SharedSettings, /, *, tool: str, arguments: tuple[str, ...], **bounds: Any
) -> int:
    """Call TOOL as an agent would, and print its answer as JSON.

    A list is given as JSON, or with commas: abistore mcp call abi_compare old_input=libfoo@1.0 new_input=libfoo@latest
    """
    _require_sdk(context, settings)
    from abistore.mcp.server import call

    given = dict(_pair(word) for word in arguments)
    found = call(Settings(database=settings.database, **bounds), tool, given)
    click.echo(visible(found.text))
    return InputError.exit_code if found.failed else 0


def _pair(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals:
        raise UsageError(f"{word}: an argument is NAME=VALUE", "see `abistore mcp tools --schema` for the names")
    return name, value


@mcp_command.command("config")
@click.argument("client", type=click.Choice(("claude-code", "claude-desktop", "cursor", "vscode")))
@click.option(
    "--uvx",
    is_flag=True,
    help="Have uvx install the server from the checkout or wheel of this installation, and start it.",
)
@click.option("--allow-write", is_flag=True, help="Have it started with the tools that write, too.")
@click.option("--url", help="Reach a server that runs, over HTTP.")
@store_command
def config_command(settings: SharedSettings, /, *, client: str, uvx: bool, allow_write: bool, url: str | None) -> None:
    """Print what the configuration file of CLIENT needs to start the server.

    With --url it needs no command but the token of that server. No token or password is written into a file that
    people share.
    """
    from abistore.mcp.clients import reaching, starting

    if url and (uvx or allow_write):
        told = "--uvx and --allow-write are for a server that the client starts"
        raise UsageError(f"--url {url}: {told}", "give --allow-write to `abistore mcp serve`")
    found = reaching(client, url) if url else starting(client, settings.database, uvx=uvx, allow_write=allow_write)
    for line in found.notes:
        note(settings, line)
    answer(settings, {"client": client, "file": found.file, "config": found.config}, lambda: found.text)


def _require_sdk(context: click.Context, settings: SharedSettings) -> None:
    """Leave where the extra is not installed."""
    if find_spec("mcp") is not None:
        return
    error = UsageError("the MCP server needs the package mcp", f"install it: {how_to_install('mcp')}")
    if settings.json:
        write_json(error_document(error))
    else:
        say_error(error.message, error.hint)
    context.exit(NO_SDK)
