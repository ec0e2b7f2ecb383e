"""The options that choose the policy, the suppressions, and which findings are shown."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from abistore.cli.options.project import project_option
from abistore.cli.options.shared import file_words
from abistore.cli.words import policy_words

_policy_option = click.option(
    "--policy",
    metavar="NAME|FILE",
    shell_complete=policy_words,
    help="The policy: strict_abi, sdk_vendor, plugin_abi or a YAML file.  [default: strict_abi]",
)
_suppress_option = click.option(
    "--suppress",
    multiple=True,
    shell_complete=file_words,
    metavar="FILE",
    help="Take the findings that this file accepts out of the verdict: YAML, libabigail's INI, or "
    "skip-symbols:FILE or skip-types:FILE. May be repeated.",
)
strict_option = click.option(
    "--strict-suppressions", is_flag=True, help="Refuse suppressions that have expired or select no declaration."
)


def ruling_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--policy`` and the options of suppressions, and pass the ruling as ``by``."""

    @wraps(command)
    def wrapped(*positional: Any, **named: Any) -> Any:
        policy, suppress, strict = named.pop("policy"), named.pop("suppress"), named.pop("strict_suppressions")
        by = None
        if policy is not None or suppress:
            from abistore.service.judging.ruling import ruling

            by = ruling(policy, suppress, strict=strict)
        return command(*positional, **named, by=by)

    return project_option(_policy_option(_suppress_option(strict_option(wrapped))))


def show_only_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--show-only``, and pass the filter as ``shown``."""

    @wraps(command)
    def wrapped(*positional: Any, **named: Any) -> Any:
        from abistore.service.judging.filtering import show_only

        shown = show_only(named.pop("show_only"))
        return command(*positional, **named, shown=shown)

    return click.option(
        "--show-only",
        metavar="TOKENS",
        help="Show these changes only, e.g. breaking,risk,functions,removed: any of the impacts given, of the elements "
        "(functions, variables, types, enums, library) and of the actions (added, removed, changed). "
        "The verdict stays.",
    )(wrapped)
