"""Groups of commands that suggest the nearest names for a misspelled one."""

from __future__ import annotations

import click

from abistore.errors import UsageError


class SuggestingGroup(click.Group):
    """A group that answers a misspelled command with the nearest names."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names. Raises :class:`UsageError` with the nearest names as the hint."""
        word, known = args[0], self.list_commands(ctx)
        if word not in known and not word.startswith("-") and not ctx.resilient_parsing:
            from abistore.model.words.nearness import did_you_mean, near

            hint = did_you_mean(near(word, known), f"see `{ctx.command_path} --help`")
            raise UsageError(f"no command is called {word}", hint)
        return super().resolve_command(ctx, args)
