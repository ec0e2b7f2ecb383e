"""The words that a shell offers for an argument. The store is asked only when TAB is pressed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

from abistore.cli.options.shared import SharedSettings, file_words
from abistore.errors import AbistoreError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def library_words(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """The stored libraries."""
    from abistore.service.completing import libraries

    return _items(_stored(lambda: libraries(database=_database(ctx))), start)


def reference_words(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """The stored releases."""
    from abistore.service.completing import references

    return _items(_stored(lambda: references(start, database=_database(ctx))), start)


def operand_words(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """The stored releases, else files: Bash takes one or the other."""
    found = [] if "/" in start else reference_words(ctx, parameter, start)
    return found or file_words(ctx, parameter, start)


def channel_words(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """The baseline channels of the library in the command line."""
    from abistore.service.completing import channels

    return _items(_stored(lambda: channels(_library(ctx), database=_database(ctx))), start)


def against_words(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """What a release may be judged against."""
    from abistore.service.completing import counterparts

    return _items(_stored(lambda: counterparts(_library(ctx), database=_database(ctx))), start)


def since_words(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """The releases that a question to the history may begin at."""
    return [item for item in against_words(ctx, parameter, start) if item.value != "prev"]


def policy_words(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """The built-in policies, else files: Bash takes one or the other."""
    from abistore.service.completing import policies

    return _items(policies(), start) or file_words(ctx, parameter, start)


def kind_words(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """The kinds of change."""
    from abistore.service.catalogue import changes

    return _items((each.kind for each in changes()), start)


def explained_words(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """The kinds of change, and the findings of stored verdicts once the first digit is there."""
    return [*kind_words(ctx, parameter, start), *(finding_words(ctx, parameter, start) if start else [])]


def finding_words(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """The identities of findings in stored verdicts."""
    from abistore.service.completing import identities

    return _items(_stored(lambda: identities(start, database=_database(ctx))), start)


def _items(words: Iterable[str], start: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    # a shell takes a line feed for the end of a word
    return [CompletionItem(word) for word in words if word.startswith(start) and word.isprintable()]


def _library(ctx: click.Context) -> str | None:
    """The library that earlier arguments name, alone or in a reference."""
    named = ctx.params.get("library") or ctx.params.get("reference")
    first = next((one.name for one in ctx.command.params if isinstance(one, click.Argument)), None)
    if not named and first in {"library", "reference"}:
        named = next(iter(ctx.args), None)  # click leaves arguments there while an option has no value yet
    return named.partition("@")[0] if named else None


def _database(ctx: click.Context) -> str | None:
    settings = ctx.find_object(SharedSettings)
    return settings.database if settings is not None else None


def _stored(ask: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
    """What the store answers; nothing if it cannot, as a message would land in the line being typed."""
    try:
        return ask()
    except AbistoreError:
        return ()
