"""What the headers of development packages declare, read once for all libraries that they are for."""

from __future__ import annotations

from collections.abc import Sequence

from abistore.extract.facets import FacetReading, with_headers
from abistore.extract.headers.options import HeaderOptions
from abistore.extract.packages.development import DevelopmentFiles, headers_for
from abistore.extract.packages.formats.identity import PackageIdentity
from abistore.extract.reader import ExtractOptions
from abistore.model.names import Name
from abistore.model.snapshot import Snapshot, Target


class HeaderReadings:
    """Adds headers to the snapshots of one package."""

    def __init__(self, packages: Sequence[DevelopmentFiles], options: ExtractOptions) -> None:
        self._packages, self._options = packages, options
        self._read: dict[tuple[HeaderOptions, Target, bool], FacetReading] = {}

    def added(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot with the headers that are for its library; one that exports nothing of them is as it was."""
        headers = headers_for(snapshot, self._packages)
        if headers is None:
            return snapshot
        reading = self._reading(snapshot, headers)
        is_told = reading.evidence.state == "missing" or _declares(reading, snapshot)
        return with_headers(snapshot, reading) if is_told else snapshot

    def doubts(self, snapshots: Sequence[Snapshot], package: PackageIdentity) -> tuple[str, ...]:
        """What is to be said of headers that are not of the same version as the libraries' ``package``."""
        read = [each.library for each in snapshots if "source" in each.entries]
        return tuple(
            f"headers of {each.name} {each.version}, beside {package.name} {package.version}"
            for each in self._packages
            if not all(each.is_of(library, package.version) for library in read)
        )

    def _reading(self, snapshot: Snapshot, headers: HeaderOptions) -> FacetReading:
        from abistore.extract.capture import headers_of, is_cpp  # reads packages through the registry

        key = (headers, snapshot.target, any(map(is_cpp, snapshot.entries.get("symbol", ()))))
        if key not in self._read:
            if self._options.progress:
                self._options.progress(f"headers of {snapshot.library}", 0.95)
            self._read[key] = headers_of(snapshot, headers)
        return self._read[key]


def _declares(reading: FacetReading, snapshot: Snapshot) -> bool:
    exports = snapshot.entries.get("symbol", {})
    return any(_is_export(name) and name in reading.entries for name in exports)


def _is_export(name: Name) -> bool:
    return name.kind in ("function", "variable")
