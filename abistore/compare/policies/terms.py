"""The terms on which a comparison is judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from abistore.model.findings import Finding, RulingFile

if TYPE_CHECKING:
    from abistore.compare.policies.suppression import Suppression


class Terms:
    """The strict terms: each finding has the impact of its kind, and none is suppressed.

    Terms act before consequences are folded under their causes: a milder impact of a cause, or its suppression, hides
    no consequence that weighs more or befalls another declaration. ``used`` are the suppressions that took a finding.
    """

    policy = "strict_abi"
    policy_file: RulingFile | None = None
    suppression_files: tuple[RulingFile, ...] = ()

    def __init__(self) -> None:
        self.suppressed: list[Finding] = []
        self.used: set[Suppression] = set()

    @property
    def policy_digest(self) -> str:
        """What the policy says; empty for a profile."""
        return ""

    @property
    def suppression_digest(self) -> str:
        """What the suppressions say; empty without any."""
        return ""

    def judge(self, found: Sequence[Finding]) -> list[Finding]:
        """The findings that count, each with its effective impact; the others are kept in ``suppressed``."""
        return list(found)

    def notes(self) -> tuple[str, ...]:
        """What the owner of a policy or of suppressions should know."""
        return ()
