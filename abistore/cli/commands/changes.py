"""``changes`` and ``explain``: the kinds of change, and what each means."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click
import msgspec

from abistore.cli.options.shared import SharedSettings, output_options, pass_settings, store_command
from abistore.cli.output import answer, width
from abistore.cli.tables import table
from abistore.cli.words import explained_words
from abistore.model.words.counting import counted

if TYPE_CHECKING:
    from abistore.report.model import ChangeKind
    from abistore.service.catalogue import ExplainedKind

IDENTITY = re.compile(r"[0-9a-f]{6,20}(-\d+)?")
"""A finding's identity, or the beginning of one, such as its place. No kind is spelled like this."""


@click.command("changes")
@click.option(
    "--impact",
    type=click.Choice(("breaking", "api_break", "risk", "compatible", "notice", "advice")),
    help="Only kinds of this impact.",
)
@click.option(
    "--element",
    type=click.Choice(("functions", "variables", "types", "enums", "library")),
    help="Only kinds about these elements.",
)
@click.option(
    "--evidence", type=click.Choice(("symbol", "layout", "source")), help="Only kinds that this evidence shows."
)
@click.option(
    "--established",
    is_flag=True,
    help="List the names that other tools use instead, each with the kinds and cases that cover it.",
)
@output_options
@pass_settings
def changes_command(
    settings: SharedSettings, /, *, impact: str | None, element: str | None, evidence: str | None, established: bool
) -> None:
    """List all kinds of change with their default impact, worst first, and the variants that have another one.

    `abistore explain func_removed` tells more about one, `abistore explain func_removed.dispatched` about a variant.
    """
    if established:
        _established(settings)
        return
    from abistore.service.catalogue import by_kind, changes

    cards = changes(impact=impact, element=element, evidence=evidence)
    kinds = by_kind(cards)
    heads = ("kind", "impact", "element", "evidence", "title", "variants")
    rows = [_row(kind, every) for kind, every in kinds.items()]
    total = f"{counted(len(kinds), 'kind')}, {counted(len(cards), 'variant')}"
    answer(settings, {"count": len(cards), "changes": cards}, lambda: f"{table(heads, rows)}\n{total}")


def _row(kind: str, cards: tuple[ChangeKind, ...]) -> tuple[str, ...]:
    """A kind with the facts of its plain variant; of several others, those of the worst one without its title."""
    first, variants = cards[0], ", ".join(each.variant for each in cards if each.variant)
    title = "" if first.variant and len(cards) > 1 else first.title
    return kind, first.impact, first.element, first.evidence, title, variants


def _established(settings: SharedSettings) -> None:
    from abistore.service.catalogue import established

    names = tuple(established())
    rows = [
        (one.name, ", ".join(one.kinds) or "none", str(one.cases), str(one.near_misses), one.reason) for one in names
    ]
    heads = ("established name", "kinds", "cases", "near-misses", "why none")
    told = sum(bool(one.kinds) for one in names)
    answer(
        settings,
        {"count": len(names), "established": names},
        lambda: table(heads, rows, right=frozenset({2, 3})) + f"\n{told} of {len(names)} names have a kind",
    )


@click.command("explain")
@click.argument("what", metavar="KIND|FINDING", shell_complete=explained_words)
@store_command
def explain_command(settings: SharedSettings, /, *, what: str) -> None:
    """Explain a KIND of change, or a FINDING of a stored comparison by its identity or place.

    Shows what happens to programs built with the old release, how to avoid it, and an example: two sources and what is
    found. With -v, also similar sources that give no such finding.

    KIND may also be KIND.VARIANT, a name that other tools use, or one from an earlier release.
    """
    if IDENTITY.fullmatch(what):
        _explain_finding(settings, what)
        return
    from abistore.service.catalogue import explain

    found = explain(what)
    answer(settings, msgspec.structs.asdict(found), lambda: "\n\n".join(_explained(found, settings.verbosity > 0)))


def _explain_finding(settings: SharedSettings, identity: str) -> None:
    from abistore.cli.rendering import style_of
    from abistore.report.formats.text import one_finding
    from abistore.service.catalogue import changes, explain
    from abistore.service.history.explaining import findings

    found = findings(identity, database=settings.database)
    known = {kind.kind for kind in changes()}
    kinds = [explain(kind) for kind in sorted({one.change.kind for one in found.findings} & known)]

    def text() -> str:
        style = style_of(settings, full=True)
        blocks = [
            "\n".join((f"{one.old} -> {one.new}", *one_finding(one.change, one.declared, style)))
            for one in found.findings
        ]
        if found.more:
            blocks.append(f"{counted(found.more, 'older finding')} of this identity or place: not shown")
        return "\n\n".join((*dict.fromkeys(blocks), *(part for kind in kinds for part in _explained(kind, False))))

    answer(settings, {"findings": found.findings, "more": found.more, "kinds": kinds}, text)


def _explained(one: ExplainedKind, near_misses: bool) -> Iterator[str]:
    from abistore.report.documentation import labelled

    paragraphs = [
        f"{one.kind}: {one.title}",
        f"Impact: {one.impact}. Evidence: {one.evidence}. About: {one.element}, {one.action}.",
        *one.why.split("\n\n"),
        f"Fix: {one.fix}",
        *([f"Also called: {', '.join(one.aliases)}"] if one.aliases else []),
    ]
    yield from (textwrap.fill(paragraph, min(width(), 100)) for paragraph in paragraphs)
    if one.variants:
        rows = [(each.kind, each.impact, each.title) for each in one.variants]
        yield f"Other variants:\n{table(('kind', 'impact', 'title'), rows)}"
    if one.example:
        yield f"Example. {labelled(one.example, min(width(), 100))}"
    if one.near_misses and near_misses:
        yield f"Stays silent. {labelled(one.near_misses, min(width(), 100))}"
