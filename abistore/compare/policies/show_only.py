"""Which findings are shown: by impact, element and action. The verdict and the counts stay what they are."""

from __future__ import annotations

from dataclasses import dataclass

from abistore.compare.policies.vocabulary import IMPACTS, meant
from abistore.compare.rule import load
from abistore.errors import UsageError

ELEMENTS = ("functions", "variables", "types", "enums", "library")
ACTIONS = ("added", "removed", "changed")


@dataclass(frozen=True, slots=True)
class ShowOnly:
    """The wanted impacts, elements and actions; a group without any wants all. Groups must all want a finding."""

    impacts: frozenset[str]
    elements: frozenset[str]
    actions: frozenset[str]

    def shows(self, kind: str, impact: str) -> bool:
        """Whether a finding of this kind, with this effective impact, is shown."""
        rule = load().get(kind)
        if rule is None:
            return True
        wanted = ((self.impacts, impact), (self.elements, rule.element), (self.actions, rule.action))
        return all(not group or value in group for group, value in wanted)


def parse_show_only(text: str) -> ShowOnly:
    """The filter that comma-separated tokens mean (``breaking,risk,functions``). Raises :class:`UsageError`."""
    tokens = [token.strip().lower().replace("-", "_") for token in text.split(",")]
    known = (*IMPACTS, *ELEMENTS, *ACTIONS)
    for token in tokens:
        if token not in known:
            raise UsageError(f"--show-only does not know {token!r}", meant(token, known, ""))
    return ShowOnly(*(frozenset(tokens) & frozenset(group) for group in (IMPACTS, ELEMENTS, ACTIONS)))
