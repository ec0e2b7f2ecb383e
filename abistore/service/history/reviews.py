"""Reviews: what people say of findings. They have no effect on any verdict."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import get_args

import msgspec

from abistore.errors import UsageError
from abistore.model.history import FindingReview, ReviewState
from abistore.model.labels.blanks import Given, check_not_blank
from abistore.service.database import Database, user, using
from abistore.service.history.findings import meant
from abistore.service.labels import check_note

STATES: tuple[ReviewState, ...] = get_args(ReviewState)


class ReviewPlan(Given, frozen=True):
    """A review of a finding, and its author. Without ``library`` it is taken from a stored verdict."""

    state: ReviewState = "seen"
    note: str = ""
    actor: str = ""
    library: str | None = None


class Reviewed(msgspec.Struct, frozen=True):
    """What holds of a finding now; ``changed`` where something else did before."""

    review: FindingReview
    changed: bool


def review(identity: str, plan: ReviewPlan, *, database: Database = None) -> Reviewed:
    """Say something of a finding, wherever it is found in a library. What was said before stays in its history.

    A short identity is that of a finding in a stored verdict. Raises :class:`SnapshotNotFound`, :class:`UsageError`.
    """
    check_note("note", plan.note)
    if plan.state not in STATES:
        raise UsageError(f"no state of a review is called {plan.state}", f"one of: {', '.join(STATES)}")
    with using(database, write=True) as store:
        library, whole, _ = meant(store, identity.lower(), plan.library)
        said = FindingReview(library, whole, plan.state, plan.note, plan.actor or user(), datetime.now(UTC))
        return Reviewed(said, store.review(said))


def reviews(library: str | None = None, *, past: bool = False, database: Database = None) -> tuple[FindingReview, ...]:
    """What holds of each finding that was reviewed; with ``past`` all that was ever said, oldest first."""
    with using(database) as store:
        check_not_blank("the library", library)
        said = [one for one in store.reviews() if library in {None, one.library}]
    if past:
        return tuple(said)
    last = {(one.library, one.identity): one for one in said}
    return tuple(last[key] for key in sorted(last) if last[key].state != "open")
