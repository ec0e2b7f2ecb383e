"""What of a store goes into a bundle."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from abistore.model.history import LineKey, Release


@dataclass(frozen=True, slots=True)
class BundleSelection:
    """Whole libraries, and releases of others. Both empty: everything."""

    libraries: Collection[str] = ()
    releases: Collection[Release] = ()

    @property
    def whole(self) -> bool:
        """Whether everything is meant."""
        return not self.libraries and not self.releases

    def names(self, library: str) -> bool:
        """Whether something of a library is meant."""
        return self.whole or library in self.libraries or any(one.line.library == library for one in self.releases)

    def meant(self, key: LineKey) -> frozenset[int] | None:
        """The sequence numbers that are meant of a line; ``None`` for all."""
        if self.whole or key.library in self.libraries:
            return None
        return frozenset(one.sequence for one in self.releases if one.line == key)


EVERYTHING = BundleSelection()
