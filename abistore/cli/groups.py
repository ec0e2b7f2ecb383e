"""Groups of commands that suggest what was meant by a name that none of them has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import click

from abistore.errors import UsageError

OTHER_WORDS: Final = {
    "add": "ingest",
    "clear": "baseline set LIBRARY --clear",
    "diff": "compare",
    "extract": "dump",
    "ls": "list",
    "remove": "db forget",
    "store": "ingest",
    "withdraw": "release tag LIBRARY@VERSION withdrawn",
    "yank": "release tag LIBRARY@VERSION withdrawn",
}
"""What other tools call a command."""

WORDS: Final = "abistore.words"
"""What stands behind a command's name, in the context's ``meta``."""

GIVEN: Final = "abistore.given"
"""The options with one value that a command line has so far, in the context's ``meta``."""


class SuggestingGroup(click.Group):
    """A group that answers a name that it has not with those nearest to it, and with the place where one stands."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options before a command's name. Raises :class:`UsageError` for one given twice, or empty."""
        if ctx.parent is None and not ctx.resilient_parsing:
            _check_given(ctx, self, args)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names. Raises :class:`UsageError` with what was likely meant as the hint."""
        word, known = args[0], self.list_commands(ctx)
        if word not in known and not word.startswith("-") and not ctx.resilient_parsing:
            from abistore.model.words.nearness import did_you_mean, near

            meant = [f"`{each}`" for each in _elsewhere(ctx.find_root(), word)] or near(word, known)
            raise UsageError(f"no command is called {word}", did_you_mean(meant, f"see `{ctx.command_path} --help`"))
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:
            ctx.meta[WORDS] = tuple(rest)
            own = click.Context(command, ctx, command.name, **command.context_settings)
            _check_given(own, command, rest)
        return name, command, rest


def _check_given(ctx: click.Context, command: click.Command, words: Sequence[str]) -> None:
    """Raise :class:`UsageError` where an option that takes one value has two, and where any value is empty.

    Of two only the last would count, unsaid, whether it stands before the command's name or behind it. An empty one
    would be taken for none.
    """
    values, _, given = command.make_parser(ctx).parse_args(list(words))
    for each in given:
        if each.name is not None and isinstance(values.get(each.name), str | list | tuple):
            from abistore.model.labels.blanks import check_not_blank  # the overview gives no values

            shown = each.opts[0] if isinstance(each, click.Option) else each.human_readable_name
            check_not_blank(shown, values.get(each.name))
    seen: set[str] = ctx.meta.setdefault(GIVEN, set())
    for each in given:
        if isinstance(each, click.Option) and not (each.multiple or each.is_flag or each.count):
            if each.opts[0] in seen:
                raise UsageError(f"{each.opts[0]} is given twice", "only one counts: leave the other out")
            seen.add(each.opts[0])


def _elsewhere(root: click.Context, word: str) -> Iterator[str]:
    """Commands that may be meant: those of this name in other groups, and what other tools call by it."""
    program = root.command_path
    if word in OTHER_WORDS:
        yield f"{program} {OTHER_WORDS[word]}"
    if isinstance(root.command, click.Group):
        for name in root.command.list_commands(root):
            inner = root.command.get_command(root, name)
            if isinstance(inner, click.Group) and word in inner.list_commands(root):
                yield f"{program} {name} {word}"
            elif name == word:
                yield f"{program} {name}"
