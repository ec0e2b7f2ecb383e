"""The policy and suppressions that a comparison is judged by: read, shown, and suggested."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from abistore.diffing.judge.judged import Ruling as Ruling
from abistore.errors import PolicyError
from abistore.limits import limits_for
from abistore.model.findings import Impact, RulingKey
from abistore.model.words import counted, in_line, json_text
from abistore.report.model import Report, ReportedFinding, every
from abistore.report.outline import with_short_paths
from abistore.report.wording import location_of

if TYPE_CHECKING:
    from abistore.diffing.policy import Condition, Override
    from abistore.diffing.policy_documents import SourceFile
    from abistore.diffing.suppression import Suppression


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


def policy_schema() -> dict[str, Any]:
    """The JSON Schema of a policy file."""
    from abistore.diffing.policy_documents import PolicyDocument

    return PolicyDocument.model_json_schema()


def suppression_schema() -> dict[str, Any]:
    """The JSON Schema of a file of suppressions."""
    from abistore.diffing.suppression_files import SuppressionDocument

    return SuppressionDocument.model_json_schema()


def _read(policy: str | None, suppress: Sequence[str], *, strict: bool, today: date | None) -> Ruling:
    from abistore.diffing.policy import PROFILES, profile

    day = today or datetime.now(UTC).date()
    name = policy or RulingKey().policy
    if name in PROFILES:
        chosen = profile(name)
    else:
        from abistore.diffing.policy_documents import find_policy

        chosen = find_policy(name, day)
    if not suppress:
        return Ruling(chosen)
    from abistore.diffing.suppression_files import insist_on_reasons, load

    files, shipped = _shipped(suppress)
    found = load(files, scheme=chosen.scheme, today=day, strict=strict, shipped=shipped)
    insist_on_reasons(found.entries)
    return Ruling(chosen, found)


def _shipped(words: Sequence[str]) -> tuple[list[str], list[SourceFile]]:
    """The words that name files, and the suppressions in packages and folders that others name."""
    from abistore.diffing.policy_documents import source_of
    from abistore.service.snapshots import shipped_suppressions

    files: list[str] = []
    found: list[SourceFile] = []
    for word in words:
        shipped = shipped_suppressions(word)
        if shipped is None:
            files.append(word)
        elif not shipped:
            raise PolicyError(f"{word}: the package ships no suppressions (*.abignore)", "leave it out of --suppress")
        else:
            found += (source_of(Path(word) / inner, data) for inner, data in shipped)
    return files, found


HEAD = """\
# Candidates for suppressions: {old} -> {new}, policy {policy}.
# Review each one. Delete what must be repaired; write into reason why the rest is right for your consumers.
# An entry without a reason is an error.
"""


COMMENT = 160
"""How many characters of a name or value a comment shows."""


class ListedSuppression(msgspec.Struct, frozen=True):
    """One suppression: its place in its file, what it selects, and whether it holds today."""

    where: str
    label: str
    selects: str
    reason: str
    expires: date | None
    state: Literal["holds", "expired", "unexplained"]


class ListedOverride(msgspec.Struct, frozen=True):
    """One override of a policy, in the order of precedence."""

    where: str
    selects: str
    impact: Impact
    reason: str
    expires: date | None
    expired: bool


class PolicyCard(msgspec.Struct, frozen=True):
    """What a policy says."""

    name: str
    base: str
    versioning: str
    digest: str
    overrides: tuple[ListedOverride, ...]


class Suggestion(msgspec.Struct, frozen=True):
    """A YAML file of suppressions to review, and how many it has."""

    yaml: str
    count: int


def suggest(report: Report, *, least: Impact = Impact.API_BREAK) -> Suggestion:
    """A YAML file of suppressions for the findings of at least the impact ``least``, to be reviewed.

    Each is for one declaration; consequences for other declarations have their own. A person must write the reasons.
    """
    by_declaration: dict[tuple[str, str], list[ReportedFinding]] = {}
    report = with_short_paths(report)  # the file is for a repository
    for finding in every(report.changes):
        if Impact[finding.impact.upper()] >= least:
            by_declaration.setdefault((finding.subject, finding.symbol), []).append(finding)
    head = HEAD.format(old=_comment(str(report.old)), new=_comment(str(report.new)), policy=_comment(report.policy))
    entries = [_entry(findings) for findings in by_declaration.values()]
    listed = "suppressions:\n" + "".join(entries) if entries else "suppressions: []\n"
    return Suggestion(head + listed, len(entries))


def _entry(findings: Sequence[ReportedFinding]) -> str:
    first = findings[0]
    comments = [line for finding in findings for line in _suppression_text(finding)]
    keys: list[tuple[str, object]] = []
    if first.symbol:
        keys.append(("type" if first.subject in {"record", "enum", "alias"} else "symbol", first.symbol))
    keys.append(("change_kind", list(dict.fromkeys(finding.kind for finding in findings))))
    if first.part and len(findings) == 1:
        keys.append(("member", first.part))
    keys.append(("reason", ""))
    said = [f"{key}: {json_text(json.dumps(value, ensure_ascii=False))}" for key, value in keys]
    lines = [f"  # {line}\n" for line in comments]
    lines += [f"  {'- ' if number == 0 else '  '}{line}\n" for number, line in enumerate(said)]
    return "".join(lines)


def _suppression_text(finding: ReportedFinding) -> Iterator[str]:
    where = f" ({_comment(location_of(finding))})" if finding.source_location else ""
    part = f": {_comment(finding.part)}" if finding.part else ""
    yield f"{finding.impact}: {_comment(finding.display)}{part}: {_comment(finding.description)}{where}"
    values = (each or "(none)" for each in finding.shown)
    yield f"  {' -> '.join(map(_comment, values))}; affects {counted(finding.affected_count, 'export')}"


def _comment(text: str) -> str:
    """``text`` in one line, without anything that YAML takes for a line's end."""
    return in_line(text, COMMENT)


def suppressions(
    words: Sequence[str], *, strict: bool = False, today: date | None = None
) -> tuple[ListedSuppression, ...]:
    """Every entry of suppression files. Raises :class:`PolicyError`; ``strict`` is as in :func:`ruling`."""
    from abistore.diffing.suppression_files import load

    with limits_for(0, "reading the suppressions"):
        found = load(words, scheme="auto", today=_day(today), strict=strict)
    return (
        *(_listed(entry, expired=False) for entry in found.entries),
        *(_listed(each, expired=True) for each in found.expired),
    )


def _listed(entry: Suppression, *, expired: bool) -> ListedSuppression:
    state: Literal["holds", "expired", "unexplained"] = (
        "expired" if expired else "holds" if entry.reason else "unexplained"
    )
    return ListedSuppression(entry.where, entry.label, _said(entry.conditions), entry.reason, entry.expires, state)


def policy_card(name: str, *, today: date | None = None) -> PolicyCard:
    """What the profile or policy file called ``name`` says. Raises :class:`PolicyError`."""

    policy = (ruling(name, today=_day(today)) or Ruling()).policy
    overrides = (
        *(_decided(each, expired=False) for each in policy.overrides),
        *(_decided(each, expired=True) for each in policy.expired),
    )
    return PolicyCard(policy.name, policy.base, policy.scheme, policy.digest, overrides)


def _decided(override: Override, *, expired: bool) -> ListedOverride:
    return ListedOverride(
        override.where, _said(override.conditions), override.impact, override.reason, override.expires, expired
    )


def _said(conditions: Sequence[Condition]) -> str:
    from abistore.diffing.policy import in_words

    return "; ".join(map(in_words, conditions))


def _day(today: date | None) -> date:
    return today or datetime.now(UTC).date()
