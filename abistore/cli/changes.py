"""``changes`` and ``explain``: the kinds of change, and what each means."""

from __future__ import annotations

import textwrap

import click

from abistore.cli.options import Settings, output_options, pass_settings
from abistore.cli.output import answer, width
from abistore.cli.tables import table


@click.command("changes")
@click.option("--impact", type=click.Choice(("breaking", "api_break", "risk", "compatible")), help="Only this impact.")
@click.option(
    "--element", type=click.Choice(("functions", "variables", "types", "enums", "library")), help="Only this element."
)
@click.option("--evidence", type=click.Choice(("symbol", "layout", "source")), help="Only what this evidence proves.")
@output_options
@pass_settings
def changes_command(settings: Settings, /, *, impact: str | None, element: str | None, evidence: str | None) -> None:
    """List the kinds of change that are detected, worst first."""
    from abistore.service.catalogue import changes

    kinds = changes(impact=impact, element=element, evidence=evidence)
    rows = [(kind.kind, kind.impact.label, kind.element, kind.evidence, kind.title) for kind in kinds]
    answer(
        settings,
        {"count": len(kinds), "changes": kinds},
        lambda: table(("kind", "impact", "element", "evidence", "title"), rows) + f"\n{len(kinds)} kinds",
    )


@click.command("explain")
@click.argument("kind")
@output_options
@pass_settings
def explain_command(settings: Settings, /, *, kind: str) -> None:
    """Explain one KIND of change: what happens to a built consumer, and how to fix it."""
    from abistore.report.plain import plain
    from abistore.service.catalogue import ChangeKind, explain

    found = explain(kind)

    def text(one: ChangeKind) -> str:
        paragraphs = [
            f"{one.kind}: {one.title}",
            f"Impact: {one.impact.label}. Evidence: {one.evidence}. About: {one.element}, {one.action}.",
            *one.why.split("\n\n"),
            f"Fix: {one.fix}",
            *([f"Also called: {', '.join(one.aliases)}"] if one.aliases else []),
        ]
        return "\n\n".join(textwrap.fill(paragraph, min(width(), 100)) for paragraph in paragraphs)

    answer(settings, plain(found), lambda: text(found))
