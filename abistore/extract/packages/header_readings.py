"""What the headers of development packages declare, read once for all libraries that they are for."""

from __future__ import annotations

from collections.abc import Sequence

from abistore.errors import HeaderError, LimitExceeded
from abistore.extract.facets import FacetReading, with_headers
from abistore.extract.headers.options import HeaderOptions
from abistore.extract.packages.development import DevelopmentFiles, LibraryPackage, headers_for, is_for_several
from abistore.extract.packages.others_headers import without_others
from abistore.extract.packages.own_headers import words_of
from abistore.extract.reader import ExtractOptions
from abistore.model.names import EXPORTS, Name
from abistore.model.snapshot import HEADERS_FAILED, NO_EXPORT_DECLARED, Evidence, Snapshot, Target
from abistore.model.words.counting import counted

ALONE = LibraryPackage()
"""A library that is given without a package."""


class HeaderReadings:
    """Adds headers to the snapshots of one package."""

    def __init__(
        self, packages: Sequence[DevelopmentFiles], options: ExtractOptions, beside: LibraryPackage = ALONE
    ) -> None:
        self._packages, self._options, self._beside = packages, options, beside
        self._read: dict[tuple[HeaderOptions, Target, bool], FacetReading] = {}

    def added(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot with the headers that are for its library, or the reason why it has none of them."""
        if not self._packages:
            return snapshot
        headers = headers_for(snapshot, self._packages, self._beside)
        if isinstance(headers, Evidence):
            return with_headers(snapshot, FacetReading(headers))
        reading = _only_own(self._reading(snapshot, headers), snapshot)
        if is_for_several(snapshot.library, self._packages, self._beside):
            reading = without_others(reading, _exports(snapshot), words_of(snapshot))
        return with_headers(snapshot, reading)

    def doubts(self, snapshots: Sequence[Snapshot]) -> tuple[str, ...]:
        """What is to be said of headers that are not of the same version as the libraries' package."""
        read = [each.library for each in snapshots if "source" in each.entries]
        package = self._beside.identity
        return tuple(
            f"headers of {each.identity.name} {each.identity.version}, beside {package.name} {package.version}"
            for each in self._packages
            if not all(each.is_of(library, package.version) for library in read)
        )

    def _reading(self, snapshot: Snapshot, headers: HeaderOptions) -> FacetReading:
        from abistore.extract.capture import headers_of, is_cpp  # reads packages through the registry

        key = (headers, snapshot.target, any(map(is_cpp, snapshot.entries.get("symbol", ()))))
        if key not in self._read:
            if self._options.progress:
                self._options.progress(f"headers of {snapshot.library}", 0.95)
            try:
                self._read[key] = headers_of(snapshot, headers)
            except (HeaderError, LimitExceeded) as error:
                self._read[key] = FacetReading(Evidence("source", "missing", HEADERS_FAILED, error.message, error.hint))
        return self._read[key]


def _only_own(reading: FacetReading, snapshot: Snapshot) -> FacetReading:
    """The reading, unless it declares nothing of a library's exports: then it is of others in the package.

    What it could not read may have declared them, and is reported.
    """
    exports = _exports(snapshot)
    if reading.evidence.state == "missing" or any(name in reading.entries for name in exports):
        return reading
    unread = f", and {reading.evidence.detail}" if reading.evidence.detail else ""
    detail = f"the headers of its development package declare none of {counted(len(exports), 'export')}{unread}"
    hint = reading.evidence.hint or "give the package that has the library's headers with --devel-package"
    return FacetReading(Evidence("source", "missing", NO_EXPORT_DECLARED, detail, hint))


def _exports(snapshot: Snapshot) -> frozenset[Name]:
    return frozenset(name for name in snapshot.entries.get("symbol", {}) if name.kind in EXPORTS)
