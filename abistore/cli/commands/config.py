"""``config``: what applies on a machine and in a project, and the schemas of its files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click
import msgspec
from click.core import ParameterSource

from abistore.arguments import Described
from abistore.cli.options import SharedSettings
from abistore.cli.output import answer, table
from abistore.cli.reading_options import defaults, places
from abistore.cli.reference import SCHEMAS, schema
from abistore.cli.verbs import group, verb
from abistore.errors import UsageError
from abistore.urls import masked

if TYPE_CHECKING:
    from abistore.service.project import Configuration
    from abistore.service.snapshots import HeaderOptions

config_command = group("config", "Show the settings of a project's abistore.toml; schemas; completion for shells.")

BASH = r"""_abistore_completion() {
    local line=${COMP_LINE:0:COMP_POINT} breaks=${COMP_WORDBREAKS//[^@:=]/} word before='' response type value
    word=${line##*[[:space:]]}
    [[ -z $word ]] && line+="''"
    # Bash begins a new word behind each of these marks, so the answer must not repeat what precedes the last
    [[ -n $breaks ]] && before=${word%"${word##*[$breaks]}"}
    [[ $word == -*=* ]] && before=${before#*=}
    response=$(env COMP_WORDS="$line" COMP_CWORD=-1 _ABISTORE_COMPLETE=bash_complete "$1")
    COMPREPLY=()
    while IFS=, read -r type value; do
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain)
                printf -v value %q "${value#"$before"}"
                COMPREPLY+=("$value")
                ;;
        esac
    done <<< "$response"
}

complete -o nosort -F _abistore_completion abistore
COMP_WORDBREAKS="${COMP_WORDBREAKS//@/}"
"""
"""Bash takes ``libfoo@baseline:main`` for several words, and would run a label with ``$(...)`` in it."""


@verb("completion", inside=config_command, store=False, gives={"shell": "builtins:str", "script": "builtins:str"})
def completion_command(settings: SharedSettings, shell: Literal["bash", "zsh", "fish"]) -> None:
    """Print the completion script of SHELL.

    For bash: abistore config completion bash > ~/.local/share/bash-completion/completions/abistore

    An installed package contains the scripts, and the manual page `man abistore`, below its share/.
    """
    script = completion_script(shell)
    answer(settings, {"shell": shell, "script": script}, lambda: script)


def completion_script(shell: str) -> str:
    """The script that lets a shell complete commands, options and stored releases."""
    if shell == "bash":
        return BASH
    from click.shell_completion import get_completion_class

    from abistore.cli.main import COMPLETION, cli

    complete = get_completion_class(shell)
    assert complete is not None
    source: str = complete(cli, {}, "abistore", COMPLETION).source()
    return source.replace('string split ","', 'string split -m 1 ","')  # fish: a word may hold a comma


@verb("schema", inside=config_command, store=False, gives={"name": "builtins:str", "schema": "builtins:dict"})
def schema_command(settings: SharedSettings, name: Annotated[str, Described(choices=lambda: tuple(SCHEMAS))]) -> None:
    """Print the JSON Schema of a file or an answer, for editors and validators.

    \b
    abistore config schema policy > policy-schema.json
    """
    text = schema(name)
    answer(settings, {"name": name, "schema": json.loads(text)}, text.rstrip)


COMMANDS = ("ingest", "gate", "compare", "verdict", "history", "whatif", "export")
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


@verb(
    "show",
    inside=config_command,
    store=False,
    gives={"file": "service.project:Configuration.path", "settings": "cli.commands.config:Setting[]"},
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
def show_command(
    settings: SharedSettings,
    command: str | None = None,
    arguments: Annotated[tuple[str, ...], Described(raw=True)] = (),
    *,
    config: Annotated[
        Path | None, Described("The file.", metavar="FILE", default="abistore.toml of the current folder")
    ] = None,
) -> None:
    """Show every setting that abistore.toml can make, its value, and what gave it that value.

    An option wins over a variable of the environment, that over the file, and the file over the default. With COMMAND
    and its ARGUMENTS, what that call would use is shown; nothing is run.

    \b
    abistore config show
    abistore config show gate --fail-on risk
    """
    from abistore.service.project import configuration

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
        raise UsageError(f"{name} has no settings in abistore.toml", f"name one of {', '.join(COMMANDS)}")
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
