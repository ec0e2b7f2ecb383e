"""Correcting the facts recorded about a stored release."""

from __future__ import annotations

from abistore.errors import UsageError
from abistore.model.history import Amendment, ReleaseFacts
from abistore.model.labels.blanks import Given
from abistore.service.database import Database, line_target, user, using
from abistore.service.labels import check_label


class EditPlan(Given, frozen=True):
    """A correction of a release: the new values, the facts to ``clear``, the reason and the actor."""

    said: ReleaseFacts
    clear: tuple[str, ...] = ()
    reason: str = ""
    actor: str = ""
    target: str | None = None
    profile: str | None = None


def release_edit(reference: str, plan: EditPlan, *, database: Database = None) -> Amendment:
    """Correct the facts of a stored release. Raises :class:`SnapshotNotFound`, :class:`UsageError`."""
    said = {"released": plan.said.released, "revision": plan.said.revision, "url": plan.said.url}
    given = [fact for fact, value in said.items() if value is not None]
    if not given and not plan.clear:
        raise UsageError(f"{reference}: nothing to change", "pass --released, --revision, --url or --clear")
    for fact in given:
        if fact in plan.clear:
            raise UsageError(f"--{fact} and --clear {fact} contradict each other", "pass one of them")
        if said[fact] == "":
            raise UsageError(f"the {fact} is empty", f"is a variable of the script unset? --clear {fact} takes it away")
    for what, text in (("revision", plan.said.revision), ("url", plan.said.url), ("actor", plan.actor)):
        check_label(what, text)
    with using(database, write=True) as store:
        release = store.resolve(reference, target=line_target(store, plan.target), profile=plan.profile)
        return store.amend(release, plan.said, clear=plan.clear, actor=plan.actor or user(), reason=plan.reason)
