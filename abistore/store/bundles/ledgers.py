"""Reviews and approvals of another store: what was said last, by its time, holds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from datetime import datetime
from typing import TypeVar

import msgspec

from abistore.model.history import FindingReview
from abistore.model.judging.approvals import Approval
from abistore.store.database.database import Database
from abistore.store.history import approvals, reviews

Said = TypeVar("Said", FindingReview, Approval)


def bring_reviews(database: Database, told: Sequence[FindingReview]) -> int:
    """Write the reviews that are not here; how many these are."""
    here = reviews.every(database)
    new = _new(here, told)
    for one in _joined(here, new, _reviewed, _reviewed, lambda said: said.reviewed):
        reviews.append(database, one)
    return len(new)


def bring_approvals(database: Database, told: Sequence[Approval]) -> int:
    """Write what was approved and withdrawn and is not here; how much that is."""
    here = approvals.every(database)
    new = _new(here, told)
    for one in _joined(here, new, lambda said: said.about, lambda said: said.key, lambda said: said.approved):
        approvals.append(database, one)
    return len(new)


def _reviewed(said: FindingReview) -> tuple[str, str]:
    return said.library, said.identity


def _new(here: Sequence[Said], told: Sequence[Said]) -> list[Said]:
    known = set(map(_text, here))
    return [one for one in told if _text(one) not in known]


def _text(said: FindingReview | Approval) -> bytes:
    return msgspec.json.encode(said)


def _joined(
    here: Sequence[Said],
    new: Sequence[Said],
    about: Callable[[Said], Hashable],
    key: Callable[[Said], Hashable],
    moment: Callable[[Said], datetime],
) -> list[Said]:
    """What to append to ``here``: new entries, then again what was said here last, of the same and later.

    ``about`` is what is spoken about, and ``key`` by whom, where several may speak.
    """
    newest = {about(one): one for one in sorted(new, key=moment)}
    last = {key(one): one for one in here}
    again = [one for one in last.values() if (told := newest.get(about(one))) and moment(one) > moment(told)]
    return sorted(new, key=moment) + sorted(again, key=moment)
