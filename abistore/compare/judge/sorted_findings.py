"""Findings in the order of reports. Adding or removing one does not sort the others again."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from abistore.model.findings import Finding, order


class SortedFindings:
    """Findings, worst first. Adding or removing one leaves the others in place."""

    def __init__(self) -> None:
        self._keys: list[tuple[object, ...]] = []
        self._findings: list[Finding] = []

    @property
    def findings(self) -> Sequence[Finding]:
        """All findings in order."""
        return self._findings

    def add(self, finding: Finding) -> None:
        """Put a finding in its place."""
        key = order(finding)
        place = bisect_right(self._keys, key)
        self._keys.insert(place, key)
        self._findings.insert(place, finding)

    def remove(self, finding: Finding) -> None:
        """Take out a finding that was put in."""
        place = bisect_left(self._keys, order(finding))
        while self._findings[place] is not finding:
            place += 1
        del self._keys[place], self._findings[place]

    def including(self, more: Iterable[Finding]) -> tuple[Finding, ...]:
        """These and some others, in order."""
        if not self._findings:
            return tuple(sorted(more, key=order))
        found = SortedFindings()
        found._keys, found._findings = [*self._keys], [*self._findings]
        for each in more:
            found.add(each)
        return tuple(found._findings)
