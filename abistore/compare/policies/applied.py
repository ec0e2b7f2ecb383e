"""Applying a policy and suppressions to what the rules found."""

from __future__ import annotations

from collections.abc import Sequence

from abistore.compare.context import Context
from abistore.compare.policies.facts import FindingFacts
from abistore.compare.policies.policy import STRICT, Policy
from abistore.compare.policies.suppression import NOTHING, Suppressions
from abistore.compare.policies.terms import Terms
from abistore.compare.rule import load
from abistore.model.findings import Finding


class Ruled(Terms):
    """The terms that a policy and suppressions set, and what they did."""

    def __init__(self, context: Context, policy: Policy | None, suppressions: Suppressions | None) -> None:
        super().__init__()
        self._context = context
        self._rules = load()
        self._policy = policy or STRICT
        self._suppressions = suppressions or NOTHING
        self.policy = self._policy.name
        self.policy_file = self._policy.file
        self.suppression_files = self._suppressions.files

    @property
    def policy_digest(self) -> str:
        """What the policy says."""
        return self._policy.digest

    @property
    def suppression_digest(self) -> str:
        """What the suppressions say."""
        return self._suppressions.digest

    def judge(self, found: Sequence[Finding]) -> list[Finding]:
        """The findings that count, each with its effective impact; the others are kept in ``suppressed``."""
        judged = [self._policy.judged(self._facts(finding)) for finding in found]
        if not self._suppressions.entries:
            return judged
        kept, suppressed, used = self._suppressions.split([self._facts(finding) for finding in judged])
        self.suppressed += suppressed
        self.used |= used
        return kept

    def notes(self) -> tuple[str, ...]:
        """Which overrides and suppressions expired, matched nothing or lack a reason."""
        return (*self._policy.notes(), *self._suppressions.notes(self.used))

    def _facts(self, finding: Finding) -> FindingFacts:
        return FindingFacts(finding, self._rules[finding.kind], self._context)
