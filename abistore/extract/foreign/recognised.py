"""Which files are dumps of other tools."""

from __future__ import annotations

from abistore.extract.foreign.abicc import reader as abicc
from abistore.extract.foreign.abixml import reader as abixml
from abistore.extract.foreign.symbols import reader as symbols


def is_foreign_dump(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is another tool's dump."""
    return any(reader.accepts(head) for reader in (abicc, abixml, symbols))
