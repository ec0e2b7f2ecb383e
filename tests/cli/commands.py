"""Every command of the command line with words that it takes, found in click's own tree: a new one is in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import click

from abistore.cli.main import cli

SERVER = ("mcp", "serve")
"""The command that answers no question, and reads standard input to its end."""

Words = Mapping[str, str | Path]
"""What stands for an argument or option of a name (``reference``, ``-o``), or of a verb's (``site -o``)."""


def commands() -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """The words of each command, and the command: ``("db", "init")``."""
    yield from _below((), cli)


def _below(words: tuple[str, ...], command: click.Command) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if not isinstance(command, click.Group):
        yield words, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        yield from _below((*words, name), inner)


def calls(values: Words, *options: str, known: Callable[[str], bool] = lambda _: True) -> Iterator[list[str]]:
    """One call of every command: its arguments by ``values``, what it requires, and those ``options`` that it has."""
    for words, command in commands():
        if words != SERVER and known(" ".join(words)):
            yield [*words, *_given(words[0], command, values, options), *_arguments(words, command, values)]


def _given(verb: str, command: click.Command, values: Words, options: tuple[str, ...]) -> Iterator[str]:
    for parameter in command.params:
        if not isinstance(parameter, click.Option):
            continue
        wanted = [each for each in options if each in parameter.opts] or parameter.opts[: parameter.required]
        for option in wanted:
            yield option
            if not (parameter.is_flag or parameter.count):
                yield str(values.get(f"{verb} {option}", values.get(option, "x")))


def _arguments(words: tuple[str, ...], command: click.Command, values: Words) -> Iterator[str]:
    for parameter in command.params:
        if not isinstance(parameter, click.Argument):
            continue
        name = parameter.name or ""
        if isinstance(parameter.type, click.Choice):
            if parameter.required:
                yield parameter.type.choices[0]
        else:
            yield str(_value(f"{words[0]} {name}", parameter, values))


def _value(qualified: str, argument: click.Argument, values: Words) -> str | Path:
    """What stands for an argument. A path must be given: a command may write there, and what it writes stays."""
    if qualified in values:
        return values[qualified]
    name = argument.name or ""
    return values[name] if isinstance(argument.type, click.Path) else values.get(name, values["reference"])
