"""Which exports no public header declares, and which public declarations the library does not export."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from abistore.model.declared import Declared
from abistore.model.names import Name
from abistore.model.snapshot import Snapshot

if TYPE_CHECKING:
    from abistore.compare.side import SideFacts


class DeclaredExports(msgspec.Struct, frozen=True):
    """Where public headers and the export table of a library differ, by linker names, sorted.

    Sources cannot use what is ``undeclared``; what uses something ``unexported`` compiles and does not link.
    Where a header did not parse, exports that may stand there are in neither.
    """

    undeclared: tuple[str, ...]
    unexported: tuple[str, ...]


def declared_exports(snapshot: Snapshot) -> DeclaredExports | None:
    """The differences; ``None`` where no headers were read."""
    if snapshot.evidence_of("source").state == "missing":
        return None
    from abistore.compare.rules.headers_declarations import is_unexported  # not needed without headers
    from abistore.compare.side import SideFacts

    side = SideFacts(snapshot)
    exports = (name for name in snapshot.entries.get("symbol", {}) if name.kind in ("function", "variable"))
    unexported = (
        name
        for name, shapes in snapshot.entries.get("source", {}).items()
        if any(is_unexported(side, name, shape) for shape in shapes if isinstance(shape, Declared))
    )
    return DeclaredExports(
        tuple(sorted({name.spelling for name in exports if _is_undeclared(side, name)})),
        tuple(sorted({name.spelling for name in unexported})),
    )


def _is_undeclared(side: SideFacts, export: Name) -> bool:
    consumers = side.consumers
    return not consumers.can_name(export) and consumers.concealment(export) == "undeclared"
