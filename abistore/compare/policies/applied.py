"""A ruling at work in one comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from abistore.compare.context import Context
from abistore.compare.rule import RULES
from abistore.model.findings import Finding, RulingKey

if TYPE_CHECKING:
    from abistore.compare.policies.facts import FindingFacts
    from abistore.compare.policies.ruling import Ruling
    from abistore.compare.policies.suppression import Suppression


class AppliedRuling:
    """What a ruling makes of the findings of one comparison; ``suppressed`` and ``used`` say what it took, and by what.
    ``overruled`` are suppressions that would have hidden what public code leads to.

    Without a ruling each finding keeps the impact of its kind, and none is suppressed. It acts before consequences are
    folded under their causes: a cause that is milder now, or suppressed, hides no consequence that weighs more or hits
    another declaration.
    """

    def __init__(self, context: Context, by: Ruling | None) -> None:
        self._context = context
        self.by = by
        self.key = by.key if by else RulingKey()
        self.suppressed: list[Finding] = []
        self.used: set[Suppression] = set()
        self.overruled: dict[Suppression, str] = {}

    def judge(self, found: Sequence[Finding]) -> list[Finding]:
        """The findings that count, each with its effective impact; the others are kept in ``suppressed``."""
        if self.by is None:
            return list(found)
        judged = [self.by.policy.judged(self._facts(finding)) for finding in found]
        if not self.by.suppressions.entries:
            return judged
        facts = [self._facts(finding) for finding in judged]
        kept, suppressed, used = self.by.suppressions.split(facts)
        self.overruled |= self.by.suppressions.overruled(facts)
        self.suppressed += suppressed
        self.used |= used
        return kept

    def notes(self) -> tuple[str, ...]:
        """Which overrides and suppressions expired, matched nothing or lack a reason."""
        return (*self.by.policy.notes(), *self.by.suppressions.notes(self.used, self.overruled)) if self.by else ()

    def _facts(self, finding: Finding) -> FindingFacts:
        from abistore.compare.policies.facts import FindingFacts  # without a ruling none are asked for

        return FindingFacts(finding, RULES[finding.kind], self._context)
