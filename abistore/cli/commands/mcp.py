"""``mcp``: serve agents, what configuration files of clients need, and whether the server could answer."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple
from urllib.parse import urlsplit

import click
import msgspec
from msgspec.structs import asdict

from abistore import __version__
from abistore.arguments import Described
from abistore.cli.options import SharedSettings
from abistore.cli.output import answer, fail, note, table
from abistore.cli.verbs import Options, group, verb
from abistore.errors import InputError, UsageError
from abistore.installing import how_to_install, source
from abistore.mcp.listening import Listening, tokens
from abistore.mcp.settings import Approvals, LogFormat, LogLevel, Settings, absolute, folders, variable
from abistore.model.envelope import AnswerError
from abistore.model.words import counted, visible
from abistore.urls import masked

if TYPE_CHECKING:
    from abistore.mcp.server import Recording

HTTP = "streamable-http"
DEFAULTS = Settings()
NO_SDK = 2
"""The exit code where the extra is not installed."""


class TransportOptions(Options, frozen=True):
    """How clients reach the server. A flag wins over its environment variable."""

    title: ClassVar[str] = "Transport"
    transport: Annotated[
        Literal["stdio", "streamable-http"],
        Described("How clients reach the server.", variable=variable("transport"), main=True),
    ] = "stdio"
    host: Annotated[str, Described("HTTP: the address to listen on.", variable=variable("host"), main=True)] = (
        "127.0.0.1"
    )
    port: Annotated[
        int, Described("HTTP: the port; 0 takes a free one.", least=0, most=65535, variable=variable("port"), main=True)
    ] = 8765
    allow_remote: Annotated[
        bool,
        Described("HTTP: allow an address that other machines can reach.", variable=variable("allow_remote")),
    ] = False
    allowed_host: Annotated[
        tuple[str, ...],
        Described(
            "HTTP: a host name that clients use for the server. May be repeated.",
            metavar="HOST",
            variable=variable("allowed_host"),
        ),
    ] = ()
    allowed_origin: Annotated[
        tuple[str, ...],
        Described(
            "HTTP: an origin whose pages may call the server. May be repeated.",
            metavar="ORIGIN",
            variable=variable("allowed_origin"),
        ),
    ] = ()
    read_root: Annotated[
        tuple[Path, ...],
        Described(
            "Read only files below this folder. May be repeated. Without it, HTTP reads no files, and stdio all "
            "files of the user.",
            metavar="FOLDER",
            variable=variable("read_root"),
            main=True,
        ),
    ] = ()
    token_file: Annotated[
        Path | None,
        Described(
            "HTTP: the token file, written by `abistore mcp token`; else ABISTORE_MCP_TOKEN contains one.",
            variable=variable("token_file"),
            main=True,
        ),
    ] = None
    debug_rpc: Annotated[
        Path | None,
        Described(
            "Write every message in and out to a file, as JSON lines without tokens and notes.",
            variable=variable("debug_rpc"),
        ),
    ] = None
    session_timeout: Annotated[
        float,
        Described("HTTP: the idle seconds after which a session ends.", variable=variable("session_timeout")),
    ] = 1800.0
    max_sessions: Annotated[
        int, Described("HTTP: the maximum number of sessions.", variable=variable("max_sessions"))
    ] = 100
    max_body_size: Annotated[
        int, Described("HTTP: the maximum size of a request, in bytes.", variable=variable("max_body_size"))
    ] = 4 << 20

    def listening(self) -> Listening:
        """Where HTTP is served. Raises :class:`UsageError`."""
        return Listening(
            host=self.host,
            port=self.port,
            allow_remote=self.allow_remote,
            allowed_hosts=self.allowed_host,
            allowed_origins=self.allowed_origin,
            session_timeout=self.session_timeout,
            max_sessions=self.max_sessions,
            max_body_size=self.max_body_size,
        )

    def roots(self) -> tuple[str, ...] | None:
        """The folders below which files are read. Over HTTP no file is read where none is given."""
        return folders(self.read_root) if self.read_root or self.transport == HTTP else None


class BoundOptions(Options, frozen=True):
    """What bounds a call, and how calls are logged."""

    title: ClassVar[str] = "Bounds and log"
    history_limit: Annotated[
        int,
        Described("The number of comparisons kept for later calls.", variable=variable("history_limit")),
    ] = DEFAULTS.history_limit
    max_response_units: Annotated[
        int, Described("The maximum length of an answer, in units of 4 bytes.", variable=variable("max_response_units"))
    ] = DEFAULTS.max_response_units
    max_concurrency: Annotated[
        int, Described("The number of concurrent calls; others wait.", variable=variable("max_concurrency"))
    ] = DEFAULTS.max_concurrency
    max_wait: Annotated[
        float,
        Described(
            "How many seconds a call waits for others before it is answered BUSY.", variable=variable("max_wait")
        ),
    ] = DEFAULTS.max_wait
    max_memory: Annotated[
        int,
        Described("The memory limit for a call, in bytes.", variable=variable("max_memory")),
    ] = DEFAULTS.max_memory
    max_file_size: Annotated[
        int, Described("The maximum size of a file, in bytes.", variable=variable("max_file_size"))
    ] = DEFAULTS.max_file_size
    timeout: Annotated[float, Described("The time limit for a call, in seconds.", variable=variable("timeout"))] = (
        DEFAULTS.timeout
    )
    log_format: Annotated[
        LogFormat, Described("How calls are logged on standard error.", variable=variable("log_format"))
    ] = "text"


class ServedOptions(Options, frozen=True):
    """Which tools are served."""

    title: ClassVar[str] = "Tools"
    toolsets: Annotated[
        str,
        Described(
            "Serve these sets of tools alone: review, history, admin, with commas between. abi_help is always served.",
            metavar="NAMES",
            variable=variable("toolsets"),
        ),
    ] = ""
    tools: Annotated[
        str,
        Described("Serve these tools alone, or beside --toolsets.", metavar="NAMES", variable=variable("tools")),
    ] = ""


class WritingOptions(Options, frozen=True):
    """What agents may write and start."""

    title: ClassVar[str] = "What agents may do"
    allow_write: Annotated[
        bool,
        Described("Also serve the tools that write to the database.", variable=variable("allow_write"), main=True),
    ] = False
    allow_witness: Annotated[
        bool,
        Described("Also serve abi_witness, which starts compilers.", variable=variable("allow_witness")),
    ] = False
    approvals: Annotated[
        Approvals,
        Described(
            "Who confirms changes that are hard to undo: a person, asked by the client, or nobody.",
            variable=variable("approvals"),
        ),
    ] = "human"
    export_root: Annotated[
        str | None,
        Described(
            "With --allow-write: the folder where abi_dump may write files.",
            metavar="FOLDER",
            variable=variable("export_root"),
        ),
    ] = None

    def check(self) -> None:
        """Raise :class:`UsageError` for a folder that is none."""
        if self.export_root is not None and not Path(self.export_root).is_dir():
            raise UsageError(f"--export-root {self.export_root}: not a folder", "name a folder that exists")


def serve(transport: TransportOptions, settings: Settings, say: Callable[[str], None]) -> int:
    """Serve until there is nobody left to serve; the exit code."""
    from abistore.mcp.server import Recording

    file = transport.debug_rpc
    with Recording(file) if file else nullcontext() as recording:
        if file:
            say(f"abistore mcp: every message is written to {file}; keep it as private as your libraries")
        if transport.transport == HTTP:
            return _serve_http(settings, transport, recording, say)
        from abistore.mcp.server import serve_stdio

        say("abistore mcp: serving on standard input and output")
        return serve_stdio(settings, recording)


def _serve_http(
    settings: Settings, transport: TransportOptions, recording: Recording | None, say: Callable[[str], None]
) -> int:
    where, known = transport.listening(), tokens(transport.token_file)
    from abistore.mcp.http import serve_http

    if where.allow_remote:
        say("abistore mcp: reachable from other machines without encryption; use a proxy with TLS")
    return serve_http(settings, where, known, recording, lambda url: say(f"abistore mcp: serving on {url}"))


def checked(transport: TransportOptions) -> str:
    """How clients would reach the server: HTTP needs tokens, names and a free port. Raises :class:`UsageError`."""
    if transport.transport != HTTP:
        return "standard input and output"
    where, _ = transport.listening(), tokens(transport.token_file)
    hosts = where.hosts
    with where.bind() as listener:
        return f"{where.url(listener.getsockname()[1])}, called by {', '.join(hosts)}"


mcp_command = group("mcp", "Serve agents by MCP, and set up clients.")


@verb("serve", inside=mcp_command, gives={"ready": "cli.commands.mcp:readiness", "reached": "builtins:str"})
def serve_command(
    settings: SharedSettings,
    *,
    check: Annotated[bool, Described("Check the settings and the database, and exit.")] = False,
    log_level: Annotated[
        LogLevel,
        Described("The log level on standard error, in addition to the log of calls.", variable=variable("log_level")),
    ] = "warning",
    transport: TransportOptions,
    bounds: BoundOptions,
    served: ServedOptions,
    writing: WritingOptions,
) -> int:
    """Serve MCP on standard input and output, until the client closes them, or over HTTP.

    A client starts this by itself: `abistore mcp config` prints what to write into its configuration. Nothing is
    written to the database without --allow-write. Each call is logged on standard error.

    HTTP needs a token, and serves only this machine unless --allow-remote is given.
    """
    _require_sdk(settings)
    started = Settings(
        database=settings.database,
        read_roots=transport.roots(),
        log_level=log_level,
        **asdict(bounds),
        **asdict(served),
        **asdict(writing),
    )
    if check:
        from abistore.mcp.tools.all import tools_of  # who serves has them already

        tools_of(started)  # names of tools and toolsets may be wrong
        reached = checked(transport)
        told = {"ready": readiness(started), "reached": reached}
        answer(settings, told, lambda: f"{readiness(started).line}, on {reached}")
        return 0
    import gc

    gc.enable()  # other commands end soon, and need none
    return serve(transport, started, partial(note, settings))


@verb("token", inside=mcp_command, gives=dict.fromkeys(("file", "subject", "scope"), "builtins:str"))
def token_command(
    settings: SharedSettings,
    file: Path,
    *,
    subject: Annotated[str, Described("The owner of the token, for the log of calls.")] = "token",
    write: Annotated[bool, Described("Also allow the tools that write, if the server has any.")] = False,
) -> None:
    """Add a new token to FILE, for `mcp serve --transport streamable-http --token-file FILE`.

    The file is made for you alone. Each of its lines is a token, its subject and its scope. It is not printed: a client
    gets the first word of the line.
    """
    from abistore.mcp.listening import add

    scope = add(file, subject, write=write)
    told = {"file": str(file), "subject": subject, "scope": scope}
    answer(settings, told, lambda: f"{file}: a token for {subject}, with {scope}")


@verb("tools", inside=mcp_command, gives={"tools": "builtins:list"})
def tools_command(
    settings: SharedSettings,
    *,
    schema: Annotated[bool, Described("Also show the schemas of arguments and answers.")] = False,
    served: ServedOptions,
    writing: WritingOptions,
) -> None:
    """List the tools that are served."""
    _require_sdk(settings)
    from abistore.mcp.server import tools

    listed = tools(Settings(database=settings.database, **asdict(served), **asdict(writing)))
    shown = listed if schema else [{name: each[name] for name in ("name", "description")} for each in listed]

    def text() -> str:
        import json

        if schema:
            return json.dumps(listed, indent=2)
        return table(
            ("tool", "what it does"), [(each["name"], each["description"].partition("\n")[0]) for each in listed]
        )

    answer(settings, {"tools": shown}, text)


@verb("resources", inside=mcp_command, gives={"resources": "builtins:list"})
def resources_command(settings: SharedSettings) -> None:
    """List the addresses that can be read, and the templates of more."""
    _require_sdk(settings)
    from abistore.mcp.server import resources

    listed = resources(Settings(database=settings.database))
    rows = [(each.get("uri") or each["uriTemplate"], each["description"].partition("\n")[0]) for each in listed]
    answer(settings, {"resources": listed}, lambda: table(("address", "what it is"), rows))


@verb("prompts", inside=mcp_command, gives={"prompts": "builtins:list"})
def prompts_command(settings: SharedSettings) -> None:
    """List the prompts, with the arguments that each takes."""
    _require_sdk(settings)
    from abistore.mcp.server import prompts

    listed = prompts(Settings(database=settings.database))
    rows = [
        (each["name"], ", ".join(argument["name"] for argument in each["arguments"]), each["description"])
        for each in listed
    ]
    answer(settings, {"prompts": listed}, lambda: table(("prompt", "arguments", "what it is for"), rows))


@verb("call", inside=mcp_command, gives={"answer": "builtins:dict"})
def call_command(
    settings: SharedSettings,
    tool: str,
    arguments: Annotated[tuple[str, ...], Described(metavar="[NAME=VALUE]...")] = (),
    *,
    bounds: BoundOptions,
    writing: WritingOptions,
) -> int:
    """Call TOOL as an agent would, and print its answer as JSON.

    A list is given as JSON, or with commas: abistore mcp call abi_compare old_input=libfoo@1.0 new_input=libfoo@latest
    """
    _require_sdk(settings)
    from abistore.mcp.server import call

    given = dict(_pair(word) for word in arguments)
    found = call(Settings(database=settings.database, **asdict(bounds), **asdict(writing)), tool, given)
    if settings.json:
        import json

        told = json.loads(found.text)
        error = AnswerError(str(told["code"]), told["error"], told.get("hint", "")) if found.failed else None
        answer(settings, {"answer": told}, str, error=error)
    else:
        click.echo(visible(found.text))
    return InputError.exit_code if found.failed else 0


def _pair(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals:
        raise UsageError(
            f"{word}: not an argument of the form NAME=VALUE", "see `abistore mcp tools --schema` for the names"
        )
    return name, value


@verb("config", inside=mcp_command, gives={"client": "builtins:str", "file": "builtins:str", "config": "builtins:dict"})
def config_command(
    settings: SharedSettings,
    client: Literal["claude-code", "claude-desktop", "cursor", "vscode"],
    *,
    uvx: Annotated[
        bool,
        Described("Let uvx install and start the server from this installation's checkout or wheel."),
    ] = False,
    allow_write: Annotated[bool, Described("Start it with the tools that write, too.")] = False,
    url: Annotated[str | None, Described("Use a running server over HTTP.")] = None,
) -> None:
    """Print what the configuration file of CLIENT needs to start the server.

    With --url it needs no command but the token of that server. No token or password is written into a file that
    people share.
    """

    if url and (uvx or allow_write):
        told = "--uvx and --allow-write apply to a server that the client starts"
        raise UsageError(f"--url {url}: {told}", "pass --allow-write to `abistore mcp serve`")
    found = reaching(client, url) if url else starting(client, settings.database, uvx=uvx, allow_write=allow_write)
    for line in found.notes:
        note(settings, line)
    answer(settings, {"client": client, "file": found.file, "config": found.config}, lambda: found.text)


@verb("skill", inside=mcp_command, store=False, gives={"skill": "builtins:str"})
def skill_command(settings: SharedSettings) -> None:
    """Print a skill for agents: how to review with abistore.

    Write it to SKILL.md in a folder of the client's skills.
    """

    answer(settings, {"skill": skill()}, lambda: skill().rstrip())


def _require_sdk(settings: SharedSettings) -> None:
    if find_spec("mcp") is not None:
        return
    fail(settings, UsageError("the MCP server needs the package mcp", f"install it: {how_to_install('mcp')}"))
    click.get_current_context().exit(NO_SDK)


class ClientFormat(NamedTuple):
    """Where a client reads its servers: below ``key`` of ``file``.

    ``reference`` is what it replaces by a secret, so that its file holds none; empty where it replaces nothing.
    """

    file: str
    key: str
    reference: str


CLIENTS: Mapping[str, ClientFormat] = {
    "claude-code": ClientFormat(".mcp.json", "mcpServers", "${{{name}}}"),
    "claude-desktop": ClientFormat("claude_desktop_config.json", "mcpServers", ""),
    "cursor": ClientFormat(".cursor/mcp.json", "mcpServers", "${{env:{name}}}"),
    "vscode": ClientFormat(".vscode/mcp.json", "servers", "${{input:{name}}}"),
}

TOKEN = variable("token")
DATABASE = "ABISTORE_DB"
BRIDGE = "mcp-remote@0.15.1"
"""The npm package by which Claude Desktop, which only starts commands, reaches a server over HTTP."""


class Snippet(NamedTuple):
    """What to write into ``file``; ``notes`` tell what else there is to do."""

    file: str
    config: dict[str, Any]
    notes: tuple[str, ...]

    @property
    def text(self) -> str:
        """The file's contents, where it has no other servers."""
        return json.dumps(self.config, indent=2)


def starting(client: str, database: str | None, *, uvx: bool = False, allow_write: bool = False) -> Snippet:
    """The configuration of a client that starts the server. A database whose URL has a password is left out of it.

    ``uvx`` installs the server first, from what this abistore was installed from. Raises :class:`UsageError` where that
    is not known.
    """
    one_word = re.sub(r"\s", "%20", database or "")  # a password may hold spaces, at which a text would be cut
    secret = masked(one_word) != one_word
    given = absolute(database)
    words = [*_command(uvx), *([] if secret or not given else ["--db", given])]
    words += ["--allow-write"] if allow_write else []
    server: dict[str, Any] = {"type": "stdio", "command": words[0], "args": words[1:]}
    if client == "claude-desktop":
        del server["type"]
    notes: list[str] = []
    if client == "claude-code" and not secret:
        notes.append(f"or run: claude mcp add abistore -- {shlex.join(words)}")
    if secret:
        server |= _environment(client)
        notes.append(f"the database's URL has a password: {_kept(client, DATABASE, 'it')}")
    return _snippet(client, server, notes, DATABASE if secret else "")


def reaching(client: str, url: str) -> Snippet:
    """The configuration of a client that reaches a server over HTTP. Raises :class:`UsageError` for another address."""
    address = urlsplit(url)
    if address.scheme not in {"http", "https"} or not address.hostname or "@" in address.netloc:
        raise UsageError("--url: not the URL of a server", "e.g. --url http://127.0.0.1:8765/mcp")
    notes = [f"the server's token, which `abistore mcp token FILE` makes: {_kept(client, TOKEN, 'it')}"]
    if client == "claude-desktop":
        header = "Authorization:${" + TOKEN + "}"  # no space: Windows would cut the argument there
        server = {"command": "npx", "args": ["-y", BRIDGE, url, "--header", header], "env": {TOKEN: "Bearer TOKEN"}}
        return _snippet(client, server, notes, "")
    authorization = f"Bearer {CLIENTS[client].reference.format(name=TOKEN)}"
    typed = {} if client == "cursor" else {"type": "http"}
    return _snippet(client, {**typed, "url": url, "headers": {"Authorization": authorization}}, notes, TOKEN)


def _command(uvx: bool) -> list[str]:
    if not uvx:
        return ["abistore-mcp"]
    found = source()
    if found is None:
        told = "--uvx: what this abistore was installed from is not known, or no longer there"
        raise UsageError(told, "leave it out, or install abistore from a checkout or a wheel that stays")
    return ["uvx", "--from", found.with_extra("mcp"), "abistore-mcp"]


def _environment(client: str) -> dict[str, Any]:
    reference = CLIENTS[client].reference
    return {"env": {DATABASE: reference.format(name=DATABASE)}} if reference else {}


def _kept(client: str, name: str, what: str) -> str:
    """Where a secret is, which the file that others may see does not hold."""
    if client == "vscode":
        return f"VS Code asks for {what} once, and keeps {what} for you"
    if client == "claude-desktop" and name == TOKEN:
        return f"put {what} in the place of TOKEN; the file is yours alone"
    return f"set {name} in the client's environment"


def _snippet(client: str, server: Mapping[str, Any], notes: list[str], secret: str) -> Snippet:
    """``secret`` is the variable that VS Code asks for."""
    file, key, _ = CLIENTS[client]
    config: dict[str, Any] = {key: {"abistore": dict(server)}}
    if client == "vscode" and secret:
        asked = {"type": "promptString", "id": secret, "description": f"abistore: {secret}", "password": True}
        config["inputs"] = [asked]
    return Snippet(file, config, (f"write this into {file}", *notes))


def skill() -> str:
    """The file by which agents learn how to review with abistore, for the folder of skills of a client."""
    return files("abistore.mcp").joinpath("SKILL.md").read_text()


class Readiness(msgspec.Struct, frozen=True):
    """What a server would serve."""

    version: str
    revision: str
    releases: int
    libraries: int

    @property
    def line(self) -> str:
        """The same for people."""
        stored = f"{counted(self.releases, 'release')} of {counted(self.libraries, 'library', 'libraries')}"
        return f"abistore mcp {self.version}: ready, {stored}, schema {self.revision}"


def readiness(settings: Settings) -> Readiness:
    """What a server of these settings would serve. Raises :class:`StoreError`."""
    from abistore.service.administration import db_stats
    from abistore.service.database import open_store

    with open_store(settings.database, read_only=True) as store:
        stats = db_stats(database=store)
    return Readiness(__version__, stats.revision, stats.releases, stats.libraries)
