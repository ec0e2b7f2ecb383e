"""Reading a ruling: a policy with suppressions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime

from msgspec.structs import replace

from abistore.compare.policies.ruling import Ruling
from abistore.errors import PolicyError
from abistore.limits import limits_for
from abistore.model.findings import Comparison, RulingKey
from abistore.model.history import Release

__all__ = ["DEFAULT", "Ruling", "key_of", "ruling", "with_files"]

DEFAULT = "strict_abi"


def key_of(by: Ruling | None, old: Release, new: Release) -> RulingKey:
    """What a verdict about two releases by a ruling, or by the strict policy, is stored under."""
    return by.between(old.version, new.version).key if by else RulingKey()


def with_files(comparison: Comparison, by: Ruling | None) -> Comparison:
    """A remembered comparison with the files of this ruling; it may be stored from other files that say the same."""
    if by is None:
        return comparison
    return replace(comparison, policy_file=by.policy.file, suppression_files=by.suppressions.files)


def ruling(
    policy: str | None = None, suppress: Sequence[str] = (), *, strict: bool = False, today: date | None = None
) -> Ruling | None:
    """The ruling of a policy (a profile or a file) and of suppression files; ``None`` if neither is given.

    ``today`` decides what has expired; the default is the day in UTC. Raises :class:`PolicyError`, with ``strict`` also
    for suppressions that have expired or lack a reason.
    """
    if policy == "":
        raise PolicyError("the policy is empty", "is a variable of the script unset?")
    if policy in {None, DEFAULT} and not suppress:
        return None
    with limits_for(0, "reading the policy and the suppressions"):
        return _read(policy, suppress, strict=strict, today=today)


def _read(policy: str | None, suppress: Sequence[str], *, strict: bool, today: date | None) -> Ruling:
    from abistore.compare.policies.policy import PROFILES, profile

    day = today or datetime.now(UTC).date()
    name = policy or DEFAULT
    if name in PROFILES:
        chosen = profile(name)
    else:
        from abistore.compare.policies.formats.policy_file import find_policy

        chosen = find_policy(name, day)
    if not suppress:
        return Ruling(chosen)
    from abistore.compare.policies.formats.reading import load

    return Ruling(chosen, load(suppress, scheme=chosen.scheme, today=day, strict=strict))
