"""What decides which releases may break, with the known programs that another SONAME makes build again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abistore.model.history import Release
from abistore.model.judging.bump import AllowPlan, AllowRule, OldAndNew
from abistore.model.snapshot import Provenance, distributed, loaded_as
from abistore.service.consumers.keeping import users_of

if TYPE_CHECKING:
    from abistore.store.store import Store


def allow_plan(
    store: Store, old: Release, soname: str | None, new: Provenance, rule: AllowRule = "scheme"
) -> AllowPlan:
    """The plan for a build with ``soname`` beside a stored release. Consumers are read where the name is another.

    ``new`` tells which package the build is from, and which names programs load it by.
    """
    library = old.line.library
    users = users_of(store, library) if soname and old.soname and soname != old.soname else ()
    return AllowPlan(
        rule,
        store.scheme(library),
        tuple(sorted({each.details.name for each in users})),
        loaded_as=loaded_as(new),
        packages=OldAndNew(distributed(old.provenance), distributed(new)),
    )
