"""``config``: what the project's file, the environment and the options settle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
import msgspec
from click.core import ParameterSource

from abistore.cli.groups import SuggestingGroup
from abistore.cli.options.project import defaults, places
from abistore.cli.options.shared import FILE, SharedSettings, output_options, pass_settings
from abistore.cli.output import answer
from abistore.cli.tables import table
from abistore.errors import UsageError
from abistore.urls import masked

if TYPE_CHECKING:
    from abistore.service.project.configuration import Configuration
    from abistore.service.snapshots import HeaderOptions

COMMANDS = ("ingest", "gate", "compare", "verdict", "history", "whatif", "dump")
"""The commands whose settings are shown where none is named."""

Source = Literal["option", "environment", "file", "default"]
SOURCES: dict[ParameterSource | None, Source] = {
    ParameterSource.COMMANDLINE: "option",
    ParameterSource.ENVIRONMENT: "environment",
    ParameterSource.DEFAULT_MAP: "file",
}


class Setting(msgspec.Struct, frozen=True):
    """One setting. ``where`` names the option, the variable or the file that gave the value."""

    key: str
    value: Any
    source: Source
    where: str = ""


@click.group("config", cls=SuggestingGroup)
def config_command() -> None:
    """Show what a project's abistore.toml settles."""


@config_command.command("show", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--config", type=FILE, metavar="FILE", help="The file.  [default: abistore.toml of the current folder]")
@output_options
@click.argument("command", required=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@pass_settings
def show_command(
    settings: SharedSettings, /, *, config: Path | None, command: str | None, arguments: tuple[str, ...]
) -> None:
    """Show every setting that abistore.toml can make, its value, and what gave it that value.

    An option wins over a variable of the environment, that over the file, and the file over the default. With COMMAND
    and its ARGUMENTS, what that call would use is shown; nothing is run.

    \b
    abistore config show
    abistore config show gate --fail-on risk
    """
    from abistore.service.project.configuration import configuration

    said = configuration(config)
    found = {each.key: each for name in ((command,) if command else COMMANDS) for each in _of(name, arguments, said)}
    ordered = sorted(found.values(), key=lambda each: ("." in each.key, each.key))
    document = {"file": str(said.path) if said.path else None, "settings": ordered}
    answer(settings, document, lambda: _text(said.path, ordered))


def _of(name: str, arguments: tuple[str, ...], said: Configuration) -> Iterator[Setting]:
    """The settings of one command, called with these arguments."""
    from abistore.service.database import locate

    command = _command(name)
    shared = SharedSettings()
    own = defaults(command, said)
    context = command.make_context(
        name, list(arguments), parent=_root(), obj=shared, default_map=own, resilient_parsing=True
    )
    for parameter, key, _ in places(command, said):
        yield _setting(context, parameter, key, context.params.get(parameter), said)
    if context.get_parameter_source("db") is not None:
        yield _setting(context, "db", "db", locate(shared.database), said)
    if said.headers is not None and any(each.name == "header" for each in command.params):
        yield from _headers(said.headers, str(said.path))


def _headers(said: HeaderOptions, where: str) -> Iterator[Setting]:
    """What the file says of headers; where it names several libraries, of each."""
    for each in (said, *said.others):
        prefix = f"headers.{each.library}" if said.others and each.library else "headers"
        for key in each.__struct_fields__:
            if key not in ("configured", "others") and (value := getattr(each, key)):
                yield Setting(f"{prefix}.{key}", _plain(value), "file", where)


def _command(name: str) -> click.Command:
    root = _root()
    assert isinstance(root.command, click.Group)
    found = root.command.get_command(root, name)
    if found is None or not any(parameter.name == "config" for parameter in found.params):
        raise UsageError(f"{name} takes nothing from abistore.toml", f"name one of {', '.join(COMMANDS)}")
    return found


def _root() -> click.Context:
    from abistore.cli.main import cli

    return click.Context(cli, info_name="abistore", **cli.context_settings)


def _setting(context: click.Context, parameter: str, key: str, value: Any, said: Configuration) -> Setting:
    source = SOURCES.get(context.get_parameter_source(parameter), "default")
    option = next(each for each in context.command.params if each.name == parameter)
    if source == "environment":
        where = str(option.envvar)
    else:
        where = {"option": option.opts[0], "file": str(said.path)}.get(source, "")
    return Setting(key, _plain(value), source, where)


def _plain(value: Any) -> Any:
    """A value as JSON and text show it: paths as text, secrets hidden."""
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return masked(str(value)) if isinstance(value, str | Path) else value


def _text(path: Path | None, found: list[Setting]) -> str:
    head = str(path) if path else "no abistore.toml in this folder"
    rows = [(each.key, _shown(each.value), _from(each)) for each in found]
    return f"{head}\n{table(('setting', 'value', 'from'), rows)}"


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value)) or "-"
    return {None: "-", "": "-", True: "yes", False: "no"}.get(value, str(value))


def _from(setting: Setting) -> str:
    return setting.where or "default"
