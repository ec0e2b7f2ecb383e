"""Reading a ruling: a policy with suppressions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime

from abistore.compare.policies.ruling import Ruling
from abistore.errors import PolicyError
from abistore.limits import limits_for
from abistore.model.findings import RulingKey

__all__ = ["Ruling", "ruling"]


def ruling(
    policy: str | None = None, suppress: Sequence[str] = (), *, strict: bool = False, today: date | None = None
) -> Ruling | None:
    """The ruling of a policy (a profile or a file) and of suppression files; ``None`` if neither is given.

    ``today`` decides what has expired; the default is the day in UTC. Raises :class:`PolicyError`, also for
    suppressions that lack a reason, and with ``strict`` for those that have expired or select no declaration.
    """
    if policy == "":
        raise PolicyError("the policy is empty", "is a variable of the script unset?")
    if policy in {None, RulingKey().policy} and not suppress:
        return None
    with limits_for(0, "reading the policy and the suppressions"):
        return _read(policy, suppress, strict=strict, today=today)


def _read(policy: str | None, suppress: Sequence[str], *, strict: bool, today: date | None) -> Ruling:
    from abistore.compare.policies.policy import PROFILES, profile

    day = today or datetime.now(UTC).date()
    name = policy or RulingKey().policy
    if name in PROFILES:
        chosen = profile(name)
    else:
        from abistore.compare.policies.formats.policy_file import find_policy

        chosen = find_policy(name, day)
    if not suppress:
        return Ruling(chosen)
    from abistore.compare.policies.formats.reading import insist_on_reasons, load

    found = load(suppress, scheme=chosen.scheme, today=day, strict=strict)
    insist_on_reasons(found.entries)
    return Ruling(chosen, found)
