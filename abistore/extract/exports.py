"""The addresses of exported symbols, which join a binary's tables with its debug information."""

from __future__ import annotations

import msgspec

from abistore.model.names import Kind


class Exports(msgspec.Struct):
    """Where the exported symbols lie, to join them with what the debug information says.

    Addresses are link-time virtual addresses, with the ARM Thumb bit cleared, of code and not of its descriptors; TLS
    offsets count from the start of the TLS segment. Names at one address are sorted. An IFUNC is in ``kinds`` alone:
    its address is its resolver's. Of a symbol with several versions, a default keeps the name, and every other version
    is called as its declaration is (``open@FOO_1``): ``versions`` has the symbols of these names.
    """

    by_address: dict[int, tuple[str, ...]] = {}
    tls_by_offset: dict[int, tuple[str, ...]] = {}
    kinds: dict[str, Kind] = {}
    versions: dict[str, str] = {}

    @property
    def symbols(self) -> int:
        """How many symbols there are, whatever versions they have."""
        return len(self.kinds) - len(self.versions)
