"""How a site is made, and of what."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from abistore.model.history import DEFAULT_CHANNEL
from abistore.model.labels.blanks import Given
from abistore.service.database import Database

if TYPE_CHECKING:
    from abistore.service.judging.ruling import Ruling


class SitePlan(Given, frozen=True):
    """How a site is made: its title, and the baseline that releases are judged against beside the one before.

    With ``judge=False`` nothing is judged: a missing verdict is "not judged yet".
    """

    title: str = "ABI history"
    channel: str = DEFAULT_CHANNEL
    judge: bool = True


USUAL = SitePlan()


class SiteSource(NamedTuple):
    """What the pages of all libraries are made from."""

    plan: SitePlan
    database: Database
    by: Ruling | None
