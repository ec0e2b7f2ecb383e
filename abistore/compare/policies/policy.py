"""Policies: which impact each finding has in the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from msgspec.structs import replace

from abistore.compare.policies.conditions import Condition, OfKind
from abistore.compare.policies.facts import FindingFacts
from abistore.model.blake2 import blake2b
from abistore.model.findings import Finding, Impact, RulingFile

SDK_VENDOR = (
    "the source of an SDK's consumers is rebuilt and adapted with each release; what is built keeps running",
    {
        "enum_member_renamed": Impact.RISK,
        "param_default_value_removed": Impact.COMPATIBLE,
        "field_renamed": Impact.RISK,
        "method_access_changed": Impact.COMPATIBLE,
        "field_access_changed": Impact.COMPATIBLE,
        "removed_const_overload": Impact.COMPATIBLE,
    },
)
PLUGIN_ABI = (
    "host and plugins are built together by one toolchain, whose calling convention they share",
    {"calling_convention_changed": Impact.RISK},
)
LENIENT: Mapping[str, tuple[str, Mapping[str, Impact]]] = {
    "strict_abi": ("", {}),
    "sdk_vendor": SDK_VENDOR,
    "plugin_abi": PLUGIN_ABI,
}
"""The profiles: why, and the impact of kinds that are milder under each.

What is built keeps running under each of them: no profile touches what a release does to layouts, or to how objects are
passed, which follows from the class and not from the toolchain. A new name in an old place may be another thing in that
place, e.g. ``width, height`` that became ``h, w``: a rename stays a risk.
"""

PROFILES = tuple(LENIENT)


@dataclass(frozen=True, slots=True)
class Override:
    """Gives another impact to the findings for which all conditions hold. ``where`` names it in its file."""

    conditions: tuple[Condition, ...]
    impact: Impact
    reason: str
    where: str
    expires: date | None = None

    def applies(self, facts: FindingFacts) -> bool:
        """Whether it gives this finding its impact."""
        return all(condition.holds(facts) for condition in self.conditions)


@dataclass(frozen=True, slots=True)
class Policy:
    """Overrides in the order of their precedence: the first that applies decides, and the kind's default without any.

    ``scheme`` is how versions are ordered in ranges. ``expired`` are overrides that no longer hold.
    Advice has no weight that a policy could move.
    """

    name: str = "strict_abi"
    base: str = "strict_abi"
    overrides: tuple[Override, ...] = ()
    scheme: str = "auto"
    expired: tuple[Override, ...] = ()
    file: RulingFile | None = None

    @property
    def digest(self) -> str:
        """What the policy says, for the key of stored verdicts; empty for a profile: the engine covers those."""
        if self.file is None:
            return ""
        said = (self.name, self.base, self.overrides, self.scheme, self.expired)
        return blake2b(repr(said).encode(), digest_size=8).hexdigest()

    def judged(self, facts: FindingFacts) -> Finding:
        """The finding with its effective impact; where that is another one, with the default and the reason."""
        finding = facts.finding
        if finding.impact is Impact.ADVICE:
            return finding
        override = next((each for each in self.overrides if each.applies(facts)), None)
        if override is None or override.impact is finding.impact:
            return finding
        return replace(finding, impact=override.impact, default_impact=finding.impact, reason=override.reason)

    def notes(self) -> Iterable[str]:
        """What its owner should know: which overrides have expired."""
        for override in self.expired:
            yield f"{override.where} of policy {self.name} expired on {override.expires} and no longer holds"


def profile(name: str) -> Policy:
    """The built-in policy of this name, one of :data:`PROFILES`."""
    if name == STRICT.name:
        return STRICT
    from abistore.compare.policies.vocabulary import kinds

    known = kinds()
    reason, lenient = LENIENT[name]
    overrides = tuple(
        Override((OfKind(known[word]),), impact, reason, f"profile {name}") for word, impact in lenient.items()
    )
    return Policy(name, name, overrides)


STRICT = Policy()
"""The default: every kind has its own impact."""
