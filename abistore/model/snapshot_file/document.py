"""A snapshot file as a whole: what its JSON consists of."""

from __future__ import annotations

from typing import Final

import msgspec

from abistore.model.digest import encode
from abistore.model.names import Facet, Name
from abistore.model.snapshot import Evidence, Exported, Location, Provenance, Target, Variants

FORMAT_NAME: Final = "abistore-snapshot"
FORMAT_VERSION: Final = 2


class Header(msgspec.Struct):
    """The fields that mark a file as a snapshot. They are read first."""

    format: str = ""
    version: int = 0


class Seen(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What was seen of one name: its shapes in each facet, and where it is declared."""

    symbol: Variants = ()
    layout: Variants = ()
    source: Variants = ()
    at: Location | None = None

    def of(self, facet: Facet) -> Variants:
        """The shapes that ``facet`` saw."""
        return self.symbol if facet == "symbol" else self.layout if facet == "layout" else self.source


class File(msgspec.Struct, forbid_unknown_fields=True):
    """A snapshot as it is written: one object, in which each name comes once.

    ``release`` is the version label of the library. ``exported`` is what a store said about the release. ``facets`` are
    those that were observed, whatever they saw. ``digest`` is of all the rest: 16 bytes of BLAKE2b in hexadecimal.
    """

    format: str
    version: int
    library: str
    release: str | None
    target: Target
    evidence: tuple[Evidence, ...]
    provenance: Provenance
    facets: tuple[Facet, ...]
    names: list[tuple[Name, Seen]]
    exported: Exported | None = None
    digest: str | None = None

    def said(self) -> bytes:
        """What the digest is of, however the file is laid out."""
        exported = [self.exported] if self.exported else []
        before = (self.library, self.release, self.target, self.evidence, self.provenance, *exported)
        return b"".join(map(encode, (*before, self.facets, self.names)))
