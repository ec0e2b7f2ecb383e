"""The section ``.gnu_debuglink``, by which a stripped file names the one with its debug information."""

from __future__ import annotations

import struct

from abistore.extract.string_table import text_at


def debug_link(section: bytes, order: str) -> tuple[str, int] | None:
    """The name of the debug file and its CRC-32; ``None`` where the section is absent or too short.

    The checksum stands behind the name's zero, at the next multiple of four bytes (GDB manual, "Separate Debug Files").
    ``order`` is that of its bytes, as :mod:`struct` spells it.
    """
    end = section.find(b"\0")
    start = (end + 4) & ~3
    if end < 1 or start + 4 > len(section):
        return None
    return text_at(section, 0), int(struct.unpack_from(order + "I", section, start)[0])
