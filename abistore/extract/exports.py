"""The addresses of exported symbols, which join a binary's tables with its debug information."""

from __future__ import annotations

import msgspec

from abistore.model.names import Kind


class Exports(msgspec.Struct):
    """Where the exported symbols lie, to join them with what the debug information says.

    Addresses are link-time virtual addresses, with the ARM Thumb bit cleared, of code and not of its descriptors; TLS
    offsets count from the start of the TLS segment. Names at one address are sorted. An IFUNC is in ``kinds`` alone:
    its address is its resolver's.
    """

    by_address: dict[int, tuple[str, ...]] = {}
    tls_by_offset: dict[int, tuple[str, ...]] = {}
    kinds: dict[str, Kind] = {}
