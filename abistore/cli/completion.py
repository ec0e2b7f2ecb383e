"""``completion``: the script that teaches a shell our words."""

from __future__ import annotations

import click

from abistore.cli.options import Settings, output_options, pass_settings
from abistore.cli.output import answer

UNBROKEN = 'COMP_WORDBREAKS="${COMP_WORDBREAKS//@/}"\n'
"""Bash takes ``libfoo@1.2.0`` for three words unless told."""


@click.command("completion")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@output_options
@pass_settings
def completion_command(settings: Settings, /, *, shell: str) -> None:
    """Print the completion script of SHELL.

    For bash: abistore completion bash > ~/.local/share/bash-completion/completions/abistore
    """
    from click.shell_completion import get_completion_class

    from abistore.cli.main import COMPLETION, cli

    complete = get_completion_class(shell)
    assert complete is not None
    script = complete(cli, {}, "abistore", COMPLETION).source()
    if shell == "bash":
        script += UNBROKEN
    answer(settings, {"shell": shell, "script": script}, lambda: script)
