"""The comparisons that a server keeps, so that their findings can be asked for after the files have changed."""

from __future__ import annotations

import re
from collections import OrderedDict

from abistore.mcp.refusals import Refusal

_DIGITS = re.compile(r"[0-9a-fA-F]{6,32}")

MOST_BYTES = 64 << 20
"""What all reports together may take; the oldest goes first."""


class Kept:
    """At most ``most`` encoded things by what names them, the latest last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[str, bytes] = OrderedDict()

    def keep(self, identity: str, thing: bytes) -> None:
        """Keeps a thing, and lets the oldest go."""
        self._kept[identity] = thing
        self._kept.move_to_end(identity)
        while len(self._kept) > 1 and (len(self._kept) > self._most or self._size() > MOST_BYTES):
            self._kept.popitem(last=False)

    def get(self, identity: str) -> bytes | None:
        """The thing of this very name."""
        return self._kept.get(identity)

    def _size(self) -> int:
        return sum(map(len, self._kept.values()))


class Comparisons(Kept):
    """Encoded reports by the ids of comparisons."""

    def find(self, digits: str) -> bytes | None:
        """The report whose id begins with ``digits``. Raises :class:`Refusal` where several do."""
        if not _DIGITS.fullmatch(digits):
            raise Refusal(
                "INVALID_ARGUMENT", "comparison_id is not 6 or more hexadecimal digits", "take it from an answer"
            )
        found = [identity for identity in self._kept if identity.startswith(digits.lower())]
        if len(found) > 1:
            raise Refusal("AMBIGUOUS_REF", f"comparison_id {digits}: {', '.join(sorted(found))}", "give more digits")
        return self._kept[found[0]] if found else None
