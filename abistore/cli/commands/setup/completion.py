"""``completion``: the script that lets a shell complete commands, options and stored releases."""

from __future__ import annotations

import click

from abistore.cli.options.shared import SharedSettings, output_options, pass_settings
from abistore.cli.output import answer

BASH = r"""_abistore_completion() {
    local line=${COMP_LINE:0:COMP_POINT} breaks=${COMP_WORDBREAKS//[^@:=]/} word before='' response type value
    word=${line##*[[:space:]]}
    [[ -z $word ]] && line+="''"
    # Bash begins a new word behind each of these marks, so the answer must not repeat what stands before the last
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


@click.command("completion")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@output_options
@pass_settings
def completion_command(settings: SharedSettings, /, *, shell: str) -> None:
    """Print the completion script of SHELL.

    For bash: abistore completion bash > ~/.local/share/bash-completion/completions/abistore

    An installed package brings the scripts, and the manual page `man abistore`, below its share/.
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
