"""The ledger as a file that a team reviews: YAML or JSON, bounded and checked."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field

from abistore.compare.policies.formats.documents import StrictDocument, place_of, read_source, read_yaml
from abistore.errors import PolicyError, UsageError
from abistore.model.history import DEFAULT_PROFILE
from abistore.model.judging.approvals import EVERY_TARGET, FOREVER, Approval, ApprovedFacts, origin_of
from abistore.model.labels.blanks import check_not_blank
from abistore.model.names import Kind
from abistore.model.words.characters import json_text
from abistore.service.approvals.terms import check_finding, scope_of, until_of
from abistore.service.labels import check_label, check_note

MOST = 5_000
"""How many approvals a file may have: a person reviews it."""

HEAD = """\
# Breaks that are accepted. `abistore approvals sync FILE` makes the database say what this file says.
# Review each: the finding is what abistore calls the change; `what` says it in words, and is checked against it.
"""


class WhatIsApproved(StrictDocument):
    """The finding in words, so that a person can review the file. It must match the identity."""

    kind: str = Field(description="The kind of change.")
    subject: Kind = Field(description="What is changed: a function, a record ...")
    symbol: str = Field(description="The declaration, as the linker spells it (types: as the source does).")
    part: str = Field("", description="The field, enumerator or parameter.")
    old_value: str | None = Field(None, description="The value before.")
    new_value: str | None = Field(None, description="The value now.")
    covers: tuple[str, ...] | None = Field(
        None,
        description="The identities of consequences that are approved with it, as they follow from nothing else. "
        "Without it: approved before identities covered any.",
    )


class ApprovalEntry(StrictDocument):
    """One accepted break."""

    finding: str = Field(description="The identity of the finding: all of its digits.")
    library: str = Field(description="The library that has it.")
    what: WhatIsApproved | None = Field(None, description="What the finding says.")
    reason: str = Field(description="Why the break is accepted.", min_length=1)
    approver: str = Field(description="Who decided.", min_length=1)
    ticket: str = Field("", description="Where it was discussed.")
    scope: str = Field(FOREVER, description="forever, release:VERSION or branch:CHANNEL.")
    until: str = Field("", description="The last day, version or SONAME: 2026-12-31, 2.1, libfoo.so.1.")
    target: str = Field("", description="The target that it holds on: elf-x86_64-64-little. Without it: on all.")
    profile: str = Field(
        DEFAULT_PROFILE, description="The build profile that it holds in, or all. Without it: default."
    )
    stood_at: str = Field(
        "",
        description="The version that the library ended with when it was approved. It is void where the finding "
        "happened after that and was undone. Without it: that of the database when the entry comes in.",
    )


class ApprovalDocument(StrictDocument):
    """A file of accepted breaks."""

    described = "docs/approvals.md"

    project: str = Field(
        description="Whose file it is, in one word. What is gone from a project's file is withdrawn, and nothing that "
        "another project's file says.",
        min_length=1,
    )
    approvals: tuple[ApprovalEntry, ...] = Field(description="In any order.", max_length=MOST)


class ReviewedFile(NamedTuple):
    """What a file says, whose it is, and how the ledger calls it."""

    project: str
    origin: str
    approvals: tuple[Approval, ...]


def read_approvals(path: str | Path, actor: str) -> ReviewedFile:
    """What a file says is approved. Raises :class:`PolicyError` for what is not sound."""
    source = read_source(Path(path))
    found: dict[tuple[str, ...], Approval] = {}
    now = datetime.now(UTC)
    document = read_yaml(source, ApprovalDocument)
    check_project(document.project)
    origin = origin_of(source.path.name, document.project)
    for number, entry in enumerate(document.approvals):
        where = f"{source.path}: {place_of(('approvals', number))}"
        try:
            one = _approval(entry, origin, actor, now)
        except UsageError as error:
            raise PolicyError(f"{where}{error.message}", error.hint) from error
        if one.key in found:
            raise PolicyError(f"{where}{entry.finding} is approved twice for {one.scope}", "keep one of them")
        found[one.key] = one
    return ReviewedFile(document.project, origin, tuple(found[key] for key in sorted(found)))


def check_project(name: str) -> None:
    """Raise :class:`UsageError` for a project's name that is not one word."""
    if any(each.isspace() for each in name):
        raise UsageError(f"not a project's name: {name[:40]!r}", "give one word, such as libfoo")
    check_label("library", name.replace("/", "-"))


def _approval(entry: ApprovalEntry, origin: str, actor: str, now: datetime) -> Approval:
    check_label("library", entry.library)
    for what in ("reason", "approver", "ticket", "target", "profile"):
        check_note(what, getattr(entry, what))
    check_note("origin", origin)
    for name in sorted(entry.model_fields_set):
        check_not_blank(name, getattr(entry, name))
    facts = ApprovedFacts(**entry.what.model_dump()) if entry.what else None
    check_finding(entry.finding, facts)
    texts = (entry.reason.strip(), entry.ticket.strip(), entry.approver.strip(), actor)
    scope, until = scope_of(entry.scope), until_of(entry.until)
    if entry.stood_at:
        check_label("version", entry.stood_at)
    target = "" if entry.target == EVERY_TARGET else entry.target
    said = (entry.library, entry.finding, facts, scope, until, *texts, now, origin)
    return Approval(*said, target=target, stood_at=entry.stood_at, profile=entry.profile.strip() or DEFAULT_PROFILE)


def written(approvals: Iterable[Approval], project: str, form: Literal["yaml", "json"] = "yaml") -> str:
    """Approvals as a file that :func:`read_approvals` reads."""
    entries = [_entry(one) for one in approvals]
    if form == "json":
        return json_text(json.dumps({"project": project, "approvals": entries}, indent=2, ensure_ascii=False))
    lines = [HEAD.rstrip(), f"project: {json.dumps(project)}", "approvals:" if entries else "approvals: []"]
    for entry in entries:
        words = [f"{key}: {json_text(json.dumps(value, ensure_ascii=False))}" for key, value in entry.items()]
        lines += [f"  {'- ' if number == 0 else '  '}{word}" for number, word in enumerate(words)]
    return "\n".join(lines)


def _entry(one: Approval) -> dict[str, Any]:
    facts = one.facts
    what = {name: getattr(facts, name) for name in WhatIsApproved.model_fields} if facts else None
    told = {
        "finding": one.identity,
        "library": one.library,
        "what": {name: value for name, value in what.items() if value not in (None, "", ())} if what else None,
        "reason": one.reason,
        "approver": one.approver,
        "ticket": one.ticket,
        "scope": one.scope,
        "until": one.until,
        "target": one.target,
        "profile": one.profile if one.profile != DEFAULT_PROFILE else "",
        "stood_at": one.stood_at,
    }
    return {name: value for name, value in told.items() if value}
