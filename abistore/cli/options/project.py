"""The project's file, from which options take what the command line leaves out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click
import msgspec

from abistore.cli.options.shared import FILE
from abistore.service.project.location import project_file

if TYPE_CHECKING:
    from abistore.service.project.configuration import Configuration
    from abistore.service.snapshots import HeaderOptions

META = "abistore.project"

NOT_TAKEN = {("compare", "allow"), ("compare", "consumers"), ("compare", "library")}
"""What a command does not take of the file: two files that are compared are no releases of a line."""


def project_headers() -> HeaderOptions | None:
    """The headers that the project's file gives the command that runs; ``None`` without a file."""
    found: Configuration | None = click.get_current_context().meta.get(META)
    return found.headers if found else None


def project_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--config``, once: options that are not given default to what the project's file says."""
    if any(parameter.name == "config" for parameter in getattr(command, "__click_params__", ())):
        return command
    return click.option(
        "--config",
        type=FILE,
        metavar="FILE",
        is_eager=True,
        expose_value=False,
        callback=_take,
        help="The project's file, which says what options default to.  [default: abistore.toml of the current folder]",
    )(command)


def _take(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Have the options of a command default to what the file says."""
    path = value or project_file()
    if ctx.resilient_parsing or path is None:
        return
    from abistore.service.project.configuration import configuration

    ctx.meta[META] = found = configuration(path)
    ctx.default_map = defaults(ctx.command, found)


def defaults(command: click.Command, said: Configuration) -> dict[str, Any]:
    """What the file says of each option of a command, by the name of the parameter."""
    return {name: value for name, key, value in places(command, said) if value not in (None, False, "", ())}


def places(command: click.Command, said: Configuration) -> Iterator[tuple[str, str, Any]]:
    """Each option of a command that has a place in the file: its parameter, the key, and what the file says."""
    own = getattr(said, command.name or "", None)
    for parameter in command.params:
        key = key_of(parameter)
        if parameter.name is None or (command.name, key) in NOT_TAKEN:
            continue
        if isinstance(own, msgspec.Struct) and key in own.__struct_fields__:
            yield parameter.name, f"{command.name}.{key}", getattr(own, key)
        elif key in said.__struct_fields__ and key not in {"path", "headers"}:
            yield parameter.name, key, getattr(said, key)


def key_of(parameter: click.Parameter) -> str:
    """The key that stands for an option: its first long name, as ``fail_on`` for ``--fail-on``."""
    if not isinstance(parameter, click.Option):
        return ""
    return next((name for name in parameter.opts if name.startswith("--")), "").removeprefix("--").replace("-", "_")
