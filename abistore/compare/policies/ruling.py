"""A ruling: a policy with suppressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from abistore.model.findings import RulingKey

if TYPE_CHECKING:
    from abistore.compare.policies.policy import Policy
    from abistore.compare.policies.suppression import Suppressions


def _strict() -> Policy:
    from abistore.compare.policies.policy import STRICT

    return STRICT


def _nothing() -> Suppressions:
    from abistore.compare.policies.suppression import NOTHING

    return NOTHING


class Ruling(Struct, frozen=True):
    """What findings are judged by: a policy and suppressions, read and checked."""

    policy: Policy = field(default_factory=_strict)
    suppressions: Suppressions = field(default_factory=_nothing)

    @property
    def key(self) -> RulingKey:
        """What verdicts by this ruling are stored under."""
        return RulingKey(self.policy.name, self.policy.digest, self.suppressions.digest)

    def between(self, old_version: str | None, new_version: str | None) -> Ruling:
        """The ruling without the suppressions that are meant for other versions than these two."""
        return replace(self, suppressions=self.suppressions.between(old_version, new_version))
