"""What the headers of development packages declare, read once for all libraries that they are for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from abistore.errors import HeaderError, LimitExceeded
from abistore.extract.facets import FacetReading, with_headers
from abistore.extract.headers.options import HeaderOptions
from abistore.extract.packages.development import MOST_NAMED, LibraryPackage, headers_for, is_for_several
from abistore.extract.packages.given import GivenPackages
from abistore.extract.packages.others_headers import without_others
from abistore.extract.packages.own_headers import words_of
from abistore.extract.packages.package_index import packages_with
from abistore.extract.reader import ExtractOptions
from abistore.model.names import EXPORTS, Name
from abistore.model.snapshot import HEADERS_FAILED, NO_EXPORT_DECLARED, Evidence, Snapshot, Target
from abistore.model.words.counting import counted

MOST_READINGS = 4
"""How often headers are read, each time with packages that have what the last time was not found."""

MOST_OWNERS = 3
"""How many packages are named that have a header."""

ALONE = LibraryPackage()
"""A library that is given without a package."""


class HeaderReadings:
    """Adds headers to the snapshots of one package."""

    def __init__(self, given: GivenPackages | None, options: ExtractOptions, beside: LibraryPackage = ALONE) -> None:
        self._given, self._options, self._beside = given, options, beside
        self._owners: dict[tuple[str, ...], Mapping[str, tuple[str, ...]]] = {}
        self._read: dict[tuple[HeaderOptions, Target, bool], FacetReading] = {}

    def added(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot with the headers that are for its library, or the reason why it has none of them."""
        if self._given is None:
            return snapshot
        for _ in range(MOST_READINGS):
            headers = headers_for(snapshot, self._given.files, self._beside)
            if isinstance(headers, Evidence):
                return with_headers(snapshot, FacetReading(headers))
            reading = self._reading(snapshot, headers)
            if not reading.evidence.lacks or not self._given.find(reading.evidence.lacks):
                break
        reading = _only_own(self._told(reading), snapshot)
        if is_for_several(snapshot.library, self._given.files, self._beside):
            reading = without_others(reading, _exports(snapshot), words_of(snapshot))
        return with_headers(snapshot, reading)

    def _told(self, reading: FacetReading) -> FacetReading:
        """The reading, with a hint that names the packages which have what it lacks."""
        if self._given is None or not reading.evidence.lacks:
            return reading
        if reading.evidence.lacks not in self._owners:
            indexes = (*self._options.package_indexes, *self._given.indexes)
            self._owners[reading.evidence.lacks] = packages_with(reading.evidence.lacks, indexes)
        hint = _hint(self._owners[reading.evidence.lacks])
        return replace(reading, evidence=replace(reading.evidence, hint=hint)) if hint else reading

    def doubts(self, snapshots: Sequence[Snapshot]) -> tuple[str, ...]:
        """What is to be said of headers that are not of the same version as the libraries' package."""
        read = [each.library for each in snapshots if "source" in each.entries]
        package = self._beside.identity
        return tuple(
            f"headers of {each.identity.name} {each.identity.version}, beside {package.name} {package.version}"
            for each in (self._given.files if self._given else ())
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
                evidence = Evidence("source", "missing", HEADERS_FAILED, error.message, error.hint)
                lacks = (isinstance(error, HeaderError) and error.lacks) or UNSET
                self._read[key] = FacetReading(replace(evidence, lacks=lacks))
        return self._read[key]


def _hint(owners: Mapping[str, tuple[str, ...]]) -> str:
    """Which packages to give, each with what it has; empty where no package is known to have any of it."""
    had: dict[str, list[str]] = {}
    for name, packages in owners.items():
        had.setdefault(" or ".join(packages[:MOST_OWNERS]), []).append(name)
    unknown = had.pop("", [])
    if not had:
        return ""
    told = ", ".join(f"{packages} ({_first(names)})" for packages, names in had.items())
    rest = f"; no package is known that has {_first(unknown)}" if unknown else ""
    return f"give what is missing with --devel-package: {told}{rest}"


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"


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
    evidence = Evidence("source", "missing", NO_EXPORT_DECLARED, detail, hint)
    return FacetReading(replace(evidence, lacks=reading.evidence.lacks))


def _exports(snapshot: Snapshot) -> frozenset[Name]:
    return frozenset(name for name in snapshot.entries.get("symbol", {}) if name.kind in EXPORTS)
