"""Tags: words that people put on stored releases, such as ``lts``."""

from __future__ import annotations

import re

from abistore.errors import UsageError
from abistore.model.history import TaggedRelease
from abistore.model.labels.blanks import Given
from abistore.model.snapshot import ReleaseTag
from abistore.service.administration.baselines import check_digest
from abistore.service.database import Database, line_target, user, using
from abistore.service.labels import check_note

TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+~-]{0,63}")


class TagPlan(Given, frozen=True):
    """What becomes of a tag: it is put on with a note, or with ``remove`` taken away; by whom.

    ``digest`` is the beginning of the digest that the release must have.
    """

    note: str = ""
    remove: bool = False
    actor: str = ""
    digest: str | None = None
    target: str | None = None
    profile: str | None = None


ADD = TagPlan()


def release_tag(reference: str, tag: str, plan: TagPlan = ADD, *, database: Database = None) -> TaggedRelease:
    """Put a tag on a stored release, or take it away. A tag that is there stays as it is, with its note.

    Raises :class:`SnapshotNotFound`, :class:`UsageError`, :class:`StaleBaseline`.
    """
    if plan.remove and plan.note:
        raise UsageError("--remove and --note contradict each other", "pass one of them")
    found = tag_of(tag, plan.note)
    with using(database, write=True) as store:
        release = store.resolve(reference, target=line_target(store, plan.target), profile=plan.profile)
        check_digest(release, plan.digest)
        actor = plan.actor or user()
        return store.untag(release, tag, actor) if plan.remove else store.tag(release, [found], actor)


def tag_of(name: str, note: str = "") -> ReleaseTag:
    """A tag. Raises :class:`UsageError` for what cannot be one."""
    if not TAG.fullmatch(name):
        raise UsageError(f"not a tag: {name[:80]!r}", "give a word such as lts, of letters, digits and ._+~-")
    check_note("note", note)
    return ReleaseTag(name, note)
