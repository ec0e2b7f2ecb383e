"""What decides which releases may break, with the known programs that another SONAME makes build again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abistore.model.history import Release
from abistore.model.judging.bump import AllowPlan, AllowRule
from abistore.service.consumers.keeping import users_of

if TYPE_CHECKING:
    from abistore.store.store import Store


def allow_plan(
    store: Store, old: Release, soname: str | None, rule: AllowRule = "scheme", names: tuple[str, ...] = ()
) -> AllowPlan:
    """The plan for a build with ``soname`` beside a stored release. Consumers are read where the name is another.

    ``names`` are others by which programs load the build.
    """
    library = old.line.library
    users = users_of(store, library) if soname and old.soname and soname != old.soname else ()
    return AllowPlan(rule, store.scheme(library), tuple(sorted({each.details.name for each in users})), loaded_as=names)
