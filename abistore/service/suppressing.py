"""Writing candidates for suppressions, and looking at policies and suppressions that exist."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Literal

from abistore.model.findings import Impact
from abistore.report.outline import Change, Report

if TYPE_CHECKING:
    from abistore.compare.policies.conditions import Condition
    from abistore.compare.policy import Override, Policy
    from abistore.compare.suppression import Suppression

HEAD = """\
# Candidates for suppressions: {old} -> {new}, policy {policy}.
# Review each one. Delete what must be repaired; write into reason why the rest is right for your consumers.
# --strict-suppressions refuses an entry whose reason is empty.
"""


@dataclass(frozen=True, slots=True)
class Listed:
    """One suppression: where it stands, what it selects, and whether it holds today."""

    where: str
    label: str
    selects: str
    reason: str
    expires: date | None
    state: Literal["holds", "expired", "unexplained"]


@dataclass(frozen=True, slots=True)
class Decided:
    """One override of a policy, in the order of precedence."""

    where: str
    selects: str
    impact: Impact
    reason: str
    expires: date | None
    expired: bool


@dataclass(frozen=True, slots=True)
class PolicyCard:
    """What a policy says."""

    name: str
    base: str
    versioning: str
    digest: str
    overrides: tuple[Decided, ...]


def suggest(report: Report, *, least: Impact = Impact.API_BREAK) -> tuple[str, int]:
    """A YAML file with one narrow suppression for each change that weighs at least ``least``, and their number.

    The reasons are empty: a person has to write them.
    """
    changes = [change for change in report.changes if Impact[change.impact.upper()] >= least]
    head = HEAD.format(old=_comment(str(report.old)), new=_comment(str(report.new)), policy=_comment(report.policy))
    entries = [_entry(change) for change in changes]
    return head + ("suppressions:\n" + "".join(entries) if entries else "suppressions: []\n"), len(entries)


def _entry(change: Change) -> str:
    kinds = dict.fromkeys((change.kind, *(each.kind for each in _own(change))))
    lines = [
        f"# {change.impact}: {_comment(change.display)}: {_comment(change.description)}",
        f"# {_comment(change.old_value or '(none)')} -> {_comment(change.new_value or '(none)')}",
        *([f"# declared at {_comment(change.source_location)}"] if change.source_location else []),
        f"# affects {change.affected_count} exports" if change.affected_count else "",
    ]
    keys: list[tuple[str, object]] = []
    if change.subject in {"record", "enum", "alias"}:
        keys.append(("type", change.symbol))
    elif change.symbol:
        keys.append(("symbol", change.symbol))
    keys.append(("change_kind", list(kinds)))
    if change.part and len(kinds) == 1:
        keys.append(("member", change.part))
    keys.append(("reason", ""))
    said = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in keys]
    comments = "".join(f"  {line}\n" for line in lines if line)
    return comments + "".join(f"  {'- ' if number == 0 else '  '}{line}\n" for number, line in enumerate(said))


def _own(change: Change) -> Iterator[Change]:
    """What follows for the same declaration."""
    for each in change.consequences:
        if each.symbol == change.symbol:
            yield each
        yield from _own(each)


def _comment(text: str) -> str:
    shown = re.sub(r"[^\x20-\x7e\xa0-\ud7ff]+", " ", text)
    return shown if len(shown) <= 160 else f"{shown[:157]}..."


def listed(words: Sequence[str], *, strict: bool = False, today: date | None = None) -> tuple[Listed, ...]:
    """Every entry of suppression files. Raises :class:`PolicyError`, in strict mode as a comparison does."""
    from abistore.compare.policies.reading import load

    found = load(words, scheme="auto", today=_day(today), strict=strict)
    return (
        *(_listed(entry, expired=False) for entry in found.entries),
        *(_listed(each, expired=True) for each in found.expired),
    )


def _listed(entry: Suppression, *, expired: bool) -> Listed:
    state: Literal["holds", "expired", "unexplained"] = (
        "expired" if expired else "holds" if entry.reason else "unexplained"
    )
    return Listed(entry.where, entry.label, _said(entry.conditions), entry.reason, entry.expires, state)


def policy_card(name: str, *, today: date | None = None) -> PolicyCard:
    """What the profile or policy file called ``name`` says. Raises :class:`PolicyError`."""
    from abistore.service.ruling import ruling

    by = ruling(name, today=_day(today))
    policy = by.policy if by else _strict()
    overrides = (
        *(_decided(each, expired=False) for each in policy.overrides),
        *(_decided(each, expired=True) for each in policy.expired),
    )
    return PolicyCard(policy.name, policy.base, policy.scheme, policy.digest, overrides)


def _strict() -> Policy:
    from abistore.compare.policy import STRICT

    return STRICT


def _decided(override: Override, *, expired: bool) -> Decided:
    return Decided(
        override.where, _said(override.conditions), override.impact, override.reason, override.expires, expired
    )


def _said(conditions: Sequence[Condition]) -> str:
    from abistore.compare.policies.conditions import in_words

    return "; ".join(map(in_words, conditions))


def _day(today: date | None) -> date:
    return today or datetime.now(UTC).date()
