"""The manual page, made of the commands and their help."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

EXIT_CODES = (
    ("0", "compatible, or done"),
    ("2", "a source break: built programs work, some sources stop compiling"),
    ("4", "a binary break: some built programs fail"),
    ("64 and above", "a failure; the message names what, and what to do next"),
)

VARIABLES = (
    ("ABISTORE_DB", "The database: a file, or a URL."),
    ("ABISTORE_BUSY_SECONDS", "How long to wait for a locked database, 60 by default."),
    ("DEBUGINFOD_URLS", "Servers of debug files."),
    ("NO_COLOR, FORCE_COLOR", "Whether text is coloured."),
)


def manual(command: click.Group) -> str:
    """The manual page of all commands, in roff for section 1."""
    context = click.Context(command, info_name="abistore", **command.context_settings)
    return "\n".join(_page(command, context)) + "\n"


def _page(command: click.Group, context: click.Context) -> Iterator[str]:
    first, *rest = _paragraphs(command)
    yield '.\\" Generated from --help by python docs/generate.py'
    yield from (".TH ABISTORE 1", ".nh", ".ad l")
    yield from (".SH NAME", f"abistore \\- {_text(first[0].lower() + first[1:].rstrip('.'))}")
    yield from (".SH SYNOPSIS", ".B abistore", _text("[OPTIONS] COMMAND [ARGUMENTS]..."))
    yield ".SH DESCRIPTION"
    yield from _joined([first, *rest])
    yield ".SH OPTIONS"
    yield from _options(command, context)
    yield ".SH COMMANDS"
    yield from _commands(command, context)
    yield ".SH EXIT STATUS"
    yield from _terms(EXIT_CODES)
    yield ".SH ENVIRONMENT"
    yield from _terms(VARIABLES)
    yield ".SH EXAMPLES"
    yield from (".nf", _text("abistore compare libfoo.so.1.2 libfoo.so.1.3"))
    yield from (_text("abistore ingest libfoo.so --version 1.3"), _text("abistore history libfoo"), ".fi")


def _commands(group: click.Group, context: click.Context) -> Iterator[str]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        own = click.Context(command, parent=context, info_name=name)
        if isinstance(command, click.Group):
            yield from _commands(command, own)
            continue
        usage = " ".join(command.collect_usage_pieces(own))
        yield f'.SS "{_text(own.command_path)}"'
        yield f".B {_text(own.command_path)}"
        yield from (_text(usage), ".PP")
        yield from _joined(_paragraphs(command))
        yield from _options(command, own)


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    records = (each.get_help_record(context) for each in command.params)
    told = [record for record in records if record is not None and record[1]]
    # click keeps a command's own --help as the first context of the process spelled it
    yield from _terms([*told, (", ".join(context.help_option_names), "Show this message and exit.")])


def _terms(rows: list[tuple[str, str]] | tuple[tuple[str, str], ...]) -> Iterator[str]:
    for term, text in rows:
        yield from (".TP", f".B {_text(term)}", _text(" ".join(text.split())))


def _paragraphs(command: click.Command) -> list[str]:
    """The paragraphs of a command's help, each in one line."""
    parts = inspect.cleandoc(command.help or command.short_help or "").split("\f")[0].split("\n\n")
    return [" ".join(part.replace("\b", " ").split()) for part in parts if part.strip()]


def _joined(paragraphs: list[str]) -> Iterator[str]:
    for paragraph in paragraphs:
        yield from (_text(paragraph), ".PP")


def _text(text: str) -> str:
    """``text`` as roff: nothing in it is a request or an escape."""
    plain = text.replace("\\", "\\(rs").replace("-", "\\-").replace('"', "\\(dq").replace("`", "\\(ga")
    plain = plain.replace("|", "|\\:").replace("'", "\\(aq").replace("~", "\\(ti").replace("^", "\\(ha")
    return f"\\&{plain}" if plain.startswith(".") else plain
