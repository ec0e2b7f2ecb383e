"""What a report carries of the kinds of change that occur in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from abistore.model.findings import Comparison
from abistore.report.model import ImpactLabel, KindCard, every
from abistore.service.kinds import kinds


def cards(comparison: Comparison) -> Iterator[KindCard]:
    """The kinds of a comparison's findings, the suppressed ones, advice and consequences too."""
    used = {finding.kind for finding in every((*comparison.findings, *comparison.suppressed, *comparison.advice))}
    for one in (kinds()[kind] for kind in sorted(used)):
        impact = cast(ImpactLabel, one.impact.label)
        yield KindCard(one.kind, one.title, one.why, one.fix, impact, one.evidence, one.element, one.action)
