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
    for one in _joined(here, new, lambda said: (said.library, said.identity), lambda said: said.reviewed):
        reviews.append(database, one)
    return len(new)


def bring_approvals(database: Database, told: Sequence[Approval]) -> int:
    """Write what was approved and withdrawn and is not here; how much that is."""
    here = approvals.every(database)
    new = _new(here, told)
    for one in _joined(here, new, lambda said: said.key, lambda said: said.approved):
        approvals.append(database, one)
    return len(new)


def _new(here: Sequence[Said], told: Sequence[Said]) -> list[Said]:
    known = set(map(_text, here))
    return [one for one in told if _text(one) not in known]


def _text(said: FindingReview | Approval) -> bytes:
    return msgspec.json.encode(said)


def _joined(
    here: Sequence[Said], new: Sequence[Said], key: Callable[[Said], Hashable], moment: Callable[[Said], datetime]
) -> list[Said]:
    """What to append to ``here``: new entries, then again the entry that holds here if it is the later one."""
    last = {key(one): one for one in here}
    newest = {key(one): one for one in sorted(new, key=moment)}
    again: list[Said] = [
        last[each] for each, one in newest.items() if each in last and moment(last[each]) > moment(one)
    ]
    return sorted(new, key=moment) + again
