"""Applying a policy and suppressions to what the rules found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from abistore.compare.context import Context
from abistore.compare.policies.facts import Facts
from abistore.compare.policy import STRICT, Policy
from abistore.compare.rule import Rule
from abistore.compare.suppression import Suppression, Suppressions
from abistore.model.findings import Finding


@dataclass
class Terms:
    """The terms on which one comparison is judged, and what they did.

    They act before consequences are folded under their causes: a milder impact of a cause, or its suppression, hides
    no consequence that weighs more or befalls another declaration.
    """

    context: Context
    rules: Mapping[str, Rule]
    policy: Policy
    suppressions: Suppressions
    suppressed: list[Finding] = field(default_factory=list)
    used: set[Suppression] = field(default_factory=set)

    def judge(self, found: Sequence[Finding]) -> list[Finding]:
        """The findings that count, each with its effective impact; the others are kept in ``suppressed``."""
        if self.policy is STRICT and not self.suppressions.entries:
            return list(found)
        judged = [self.policy.judged(self._facts(finding)) for finding in found]
        if not self.suppressions.entries:
            return judged
        kept, suppressed, used = self.suppressions.split([self._facts(finding) for finding in judged])
        self.suppressed += suppressed
        self.used |= used
        return kept

    def notes(self) -> tuple[str, ...]:
        """What the owner of the policy or the suppressions should know."""
        return (*self.policy.notes(), *self.suppressions.notes(self.used))

    def _facts(self, finding: Finding) -> Facts:
        return Facts(finding, self.rules[finding.kind], self.context)
