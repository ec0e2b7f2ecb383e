"""``policy``: show and check policies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from abistore.cli.groups import SuggestingGroup
from abistore.cli.options.shared import SharedSettings, output_options, pass_settings
from abistore.cli.output import answer
from abistore.cli.tables import table
from abistore.cli.words import policy_words
from abistore.model.words.counting import counted

if TYPE_CHECKING:
    from abistore.service.judging.suppressing import PolicyCard

HEADS = ("impact", "selects", "where", "expires", "reason")


@click.group("policy", cls=SuggestingGroup)
def policy_command() -> None:
    """Show and check policies, which give findings another impact than their kind has."""


@policy_command.command("show")
@click.argument("policy", default="strict_abi", metavar="[NAME|FILE]", shell_complete=policy_words)
@output_options
@pass_settings
def show_command(settings: SharedSettings, /, *, policy: str) -> None:
    """Show the overrides of a policy in order; the first that applies decides."""
    from abistore.service.judging.suppressing import policy_card

    card = policy_card(policy)
    answer(settings, {"policy": card}, lambda: _text(card))


def _text(card: PolicyCard) -> str:
    head = f"{card.name}: base {card.base}, versions ordered as {card.versioning}"
    if not card.overrides:
        return f"{head}\nevery kind has its own impact; see `abistore changes`"
    rows = [
        (
            one.impact.label,
            one.selects,
            one.where,
            f"{one.expires}{' (expired)' if one.expired else ''}" if one.expires else "",
            one.reason,
        )
        for one in card.overrides
    ]
    return f"{head}\n{table(HEADS, rows)}"


@policy_command.command("check")
@click.argument("file", type=click.Path(readable=False))
@output_options
@pass_settings
def check_command(settings: SharedSettings, /, *, file: str) -> None:
    """Check a policy FILE. Exits with 64 and names the first error, if there is one."""
    from abistore.service.judging.suppressing import policy_card

    card = policy_card(file)
    expired = sum(one.expired for one in card.overrides)
    value = {"name": card.name, "digest": card.digest, "overrides": len(card.overrides), "expired": expired}
    answer(
        settings,
        {"policy": value},
        lambda: (
            f"{card.name}: sound, {counted(len(card.overrides), 'override')}{f', {expired} expired' if expired else ''}"
        ),
    )
