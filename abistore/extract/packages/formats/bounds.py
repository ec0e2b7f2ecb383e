"""What unpacking a package may take: members, bytes, and bytes for each byte of the package."""

from __future__ import annotations

from abistore.errors import LimitExceeded

MEMBERS = 200_000
"""The most members of a package; the largest real ones have some 100,000."""

RATIO = 100
"""The most bytes that a byte of a package may become: real ones stay below 20, bombs begin at 1,000."""

FREE = 256 << 20
"""Bytes that any package may become, however small it is."""


class UnpackBounds:
    """Counts what is unpacked of one package, and ends it at the first bound."""

    def __init__(self, name: str, packed: int, most: int) -> None:
        self.name = name
        self._packed = packed
        self._most = min(most, FREE + RATIO * packed)
        self._bytes = self._members = 0

    def take(self, count: int) -> None:
        """Count further bytes. Raises :class:`LimitExceeded`."""
        self._bytes += count
        if self._bytes > self._most:
            raise LimitExceeded(
                f"{self.name}: its {self._packed:,} bytes unpack to more than {self._most:,}",
                "a package that grows like this is damaged or hostile; unpack it yourself and name the folder",
            )

    def take_member(self) -> None:
        """Count a further member. Raises :class:`LimitExceeded`."""
        self._members += 1
        if self._members > MEMBERS:
            raise LimitExceeded(f"{self.name}: has more than {MEMBERS:,} members")
