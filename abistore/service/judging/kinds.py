"""What a report carries of the kinds of change that occur in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from abistore.compare.rule import load
from abistore.model.findings import Comparison
from abistore.report.model import ImpactLabel, KindCard, every


def cards(comparison: Comparison) -> Iterator[KindCard]:
    """The kinds of a comparison's findings, the suppressed ones, advice and consequences too."""
    used = {finding.kind for finding in every((*comparison.findings, *comparison.suppressed, *comparison.advice))}
    for rule in (load()[kind] for kind in sorted(used)):
        yield KindCard(
            rule.kind,
            rule.title,
            rule.why,
            rule.fix,
            cast(ImpactLabel, rule.impact.label),
            rule.evidence,
            rule.element,
            rule.action,
        )
