"""Suppressions from YAML files."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from abistore.compare.policies.formats.documents import Day, SourceFile, StrictDocument, Words, read_yaml
from abistore.compare.policies.formats.selecting import Selecting, conditions_of
from abistore.compare.policies.ranges import VersionRange, parse_range
from abistore.compare.policies.suppression import Suppression
from abistore.urls import masked


class SuppressionEntry(Selecting):
    """One suppression."""

    source_location: Words = Field(
        (), description="Globs of the files that declare it; one without a slash means any folder."
    )
    label: str = Field("", description="A name for this entry.")
    reason: str = Field("", description="Why the change is accepted. An entry without it is refused.")
    expires: Day | None = Field(None, description="The last day on which it holds, as 2027-01-31.")
    old_versions: str = Field("", description="Only against old releases in this range: '>=1.2, <2.0'.")
    new_versions: str = Field("", description="Only for new releases in this range.")


class SuppressionDocument(StrictDocument):
    """A file of suppressions."""

    suppressions: tuple[SuppressionEntry, ...] = Field(
        description="In order: the first that matches a finding takes it."
    )


def read_suppressions(source: SourceFile, scheme: str) -> Iterator[Suppression]:
    """The entries of a YAML file; ``scheme`` orders the versions of their ranges. Raises :class:`PolicyError`."""
    path = source.path
    for number, entry in enumerate(read_yaml(source, SuppressionDocument).suppressions, 1):
        where = f"{path}: suppressions, entry {number}"
        yield Suppression(
            where=f"{path.name}, entry {number}",
            conditions=conditions_of(entry, where, entry.source_location),
            label=masked(entry.label.strip()),
            reason=masked(entry.reason.strip()),
            expires=entry.expires,
            old_versions=_range(entry.old_versions, scheme, f"{where}, old_versions"),
            new_versions=_range(entry.new_versions, scheme, f"{where}, new_versions"),
        )


def _range(text: str, scheme: str, where: str) -> VersionRange | None:
    return parse_range(text, scheme, where) if text else None
