"""Reviews and approvals that travel with a snapshot from one store into another."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from abistore.errors import InputError, UsageError
from abistore.model.history import DEFAULT_PROFILE, FindingReview, ReviewState
from abistore.model.judging.approvals import Approval, ApprovedFacts, in_force
from abistore.model.judging.identity import is_whole
from abistore.model.snapshot import Exported, ExportedApproval, ExportedReview
from abistore.model.words.characters import in_line
from abistore.model.words.counting import counted
from abistore.service.approvals.gate import of_library
from abistore.service.approvals.terms import check_finding, scope_of, until_of
from abistore.service.labels import check_note

if TYPE_CHECKING:
    from abistore.store.store import Store

MOST = 5_000
"""How many reviews, or approvals, a snapshot may carry."""

LEFT_OUT = "left out (import --approvals takes them over)"
NAME_SHOWN = 120


def exported_said(store: Store, library: str) -> tuple[tuple[ExportedReview, ...], tuple[ExportedApproval, ...]]:
    """The reviews and approvals of a library that hold."""
    last = {one.identity: one for one in of_library(store.reviews(), library)}
    reviews = (
        ExportedReview(one.identity, one.state, one.actor, one.reviewed, one.note)
        for _, one in sorted(last.items())
        if one.state != "open"
    )
    return tuple(reviews), tuple(map(_exported, in_force(of_library(store.approvals(), library))))


def _exported(one: Approval) -> ExportedApproval:
    terms = (one.identity, one.scope, one.reason, one.approver, one.approved, one.until, one.ticket)
    facts = msgspec.structs.asdict(one.facts) if one.facts else {}
    return ExportedApproval(*terms, **facts, target=one.target, stood_at=one.stood_at, profile=one.profile)


def check_said(path: Path, said: Exported) -> None:
    """Raise :class:`InputError` for reviews or approvals that are not sound, before anything is stored."""
    try:
        if max(len(said.reviews), len(said.approvals)) > MOST:
            raise UsageError(f"more than {MOST:,} reviews or approvals", "export it again")
        for review in said.reviews:
            _review(review, "x", "x")
        for approval in said.approvals:
            _approval(approval, "x", "x", "x")
    except UsageError as error:
        raise InputError(f"{path}: {error.message}", error.hint) from error


def take_over(store: Store, library: str, said: Exported, origin: tuple[Path, str], approvals: bool) -> tuple[str, ...]:
    """Store the reviews and approvals of a snapshot; remarks about it. What was said here of the same finding stays.

    ``origin`` is the file, and who imports it. Approvals open gates: they are left out unless ``approvals`` asks for
    them, and one that was withdrawn here stays withdrawn.
    """
    path, actor = origin
    return (
        *_reviews(store, library, said.reviews, actor),
        *_approvals(store, library, said.approvals, (in_line(path.name, NAME_SHOWN), actor), approvals),
    )


def _reviews(store: Store, library: str, said: tuple[ExportedReview, ...], actor: str) -> Iterator[str]:
    known = {one.identity for one in of_library(store.reviews(), library)}
    new = [_review(one, library, actor) for one in said if one.identity not in known]
    if new:
        store.review_all(new)
        yield f"{counted(len(new), 'review')} taken over"


def _approvals(
    store: Store, library: str, said: tuple[ExportedApproval, ...], origin: tuple[str, str], wanted: bool
) -> Iterator[str]:
    known = {one.about for one in of_library(store.approvals(), library)}
    name, actor = origin
    new = [_approval(one, library, f"import of {name}", actor) for one in said]
    new = [one for one in new if one.about not in known]
    if new and wanted:
        store.approve(new)
        approvers = ", ".join(sorted({one.approver for one in new}))
        yield f"{counted(len(new), 'approval')} taken over, by {in_line(approvers, NAME_SHOWN)}"
    elif new:
        yield f"{counted(len(new), 'approval')} {LEFT_OUT}"


def _review(one: ExportedReview, library: str, actor: str) -> FindingReview:
    states: tuple[ReviewState, ...] = get_args(ReviewState)
    state = next((each for each in states if each == one.state), None)
    if state is None or not is_whole(one.identity):
        raise UsageError(f"not a review: {one.state[:40]!r} of {one.identity[:40]!r}", "export it again")
    for what in ("note", "actor"):
        check_note(what, getattr(one, what))
    said = f"{one.actor}, imported by {actor}"
    return FindingReview(library, one.identity, state, one.note, said, _no_later(one.reviewed))


def _approval(one: ExportedApproval, library: str, origin: str, actor: str) -> Approval:
    for what in ("reason", "ticket", "approver", "target", "stood_at", "profile"):
        check_note(what, getattr(one, what))
    if not one.reason.strip() or not one.approver.strip():
        raise UsageError("an approval without a reason or an approver", "export it again")
    facts = _facts(one)
    check_finding(one.identity, facts)
    terms = (scope_of(one.scope), until_of(one.until), one.reason, one.ticket, one.approver)
    when = _no_later(one.approved)
    said = (library, one.identity, facts, *terms, actor, when, origin)
    return Approval(*said, target=one.target, stood_at=one.stood_at, profile=one.profile or DEFAULT_PROFILE)


def _facts(one: ExportedApproval) -> ApprovedFacts | None:
    told: dict[str, Any] = {name: getattr(one, name) for name in ApprovedFacts.__struct_fields__}
    try:
        return msgspec.convert(told, ApprovedFacts) if one.kind else None
    except msgspec.ValidationError as error:
        raise UsageError(f"an approval of {one.subject[:40]!r}, which is no declaration", "export it again") from error


def _no_later(moment: datetime) -> datetime:
    """A moment that another store tells, which is not to come."""
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    return min(aware, datetime.now(UTC))
