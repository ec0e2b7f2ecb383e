"""The terms on which a comparison is judged."""

from __future__ import annotations

from collections.abc import Sequence

from abistore.model.findings import Finding, RulingFile


class Terms:
    """The strict terms: each finding has the impact of its kind, and none is suppressed.

    Terms act before consequences are folded under their causes: a milder impact of a cause, or its suppression, hides
    no consequence that weighs more or befalls another declaration.
    """

    policy = "strict_abi"
    policy_digest = ""
    suppression_digest = ""
    policy_file: RulingFile | None = None
    suppression_files: tuple[RulingFile, ...] = ()

    def __init__(self) -> None:
        self.suppressed: list[Finding] = []

    def judge(self, found: Sequence[Finding]) -> list[Finding]:
        """The findings that count, each with its effective impact; the others are kept in ``suppressed``."""
        return list(found)

    def notes(self) -> tuple[str, ...]:
        """What the owner of a policy or of suppressions should know."""
        return ()
