"""Whether the server could answer: its settings are sound, and its database can be read."""

from __future__ import annotations

import msgspec

from abistore import __version__
from abistore.interface import db_stats, open_store
from abistore.mcp.settings import Settings
from abistore.model.words.counting import counted


class Readiness(msgspec.Struct, frozen=True):
    """What a server would serve."""

    version: str
    revision: str
    releases: int
    libraries: int

    @property
    def line(self) -> str:
        """The same for people."""
        stored = f"{counted(self.releases, 'release')} of {counted(self.libraries, 'library', 'libraries')}"
        return f"abistore mcp {self.version}: ready, {stored}, schema {self.revision}"


def readiness(settings: Settings) -> Readiness:
    """What a server of these settings would serve. Raises :class:`StoreError`."""
    with open_store(settings.database, read_only=True) as store:
        stats = db_stats(database=store)
    return Readiness(__version__, stats.revision, stats.releases, stats.libraries)
