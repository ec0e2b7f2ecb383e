"""The exports that the maintainer of a Debian package marks optional, in the symbols file among its control files."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from abistore.errors import ExtractError, LimitExceeded
from abistore.extract.foreign.symbols.lines import read_lines
from abistore.extract.foreign.symbols.releases import optional
from abistore.model.recorded.common_ground import SomeExports
from abistore.model.snapshot import PackageRead, Snapshot


def read_optional(text: str) -> Mapping[str, SomeExports]:
    """What a symbols file marks optional, by SONAME; nothing where it is damaged, or includes what is not there."""
    if "optional" not in text:
        return {}
    try:
        return {each.soname: SomeExports(optional(each.symbols)) for each in read_lines(text, "symbols", _nothing)}
    except (ExtractError, LimitExceeded):
        return {}


def _nothing(name: str) -> str:
    raise ExtractError(f"symbols: includes {name}, which no package holds")


def with_optional(snapshot: Snapshot, symbols: Mapping[str, SomeExports]) -> Snapshot:
    """The snapshot with the exports that the symbols file of its package marks optional."""
    package, marked = snapshot.provenance.package, symbols.get((snapshot.facts and snapshot.facts.name) or "")
    if not isinstance(package, PackageRead) or marked is None:
        return snapshot
    exports = snapshot.entries.get("symbol", {}).items()
    names = tuple(sorted(name.spelling for name, shapes in exports if marked.mean(name, shapes)))
    package = msgspec.structs.replace(package, optional=names)
    provenance = msgspec.structs.replace(snapshot.provenance, package=package)
    return msgspec.structs.replace(snapshot, provenance=provenance)
