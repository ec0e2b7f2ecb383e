"""What headers were not asked for by the version of abistore that read them."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.model.findings import NOT_RECORDED, NotChecked
from abistore.model.snapshot import MACROS, HeadersRead


def macros_unread(context: Context) -> Iterator[NotChecked]:
    """That macros without a value are not compared, where a former version read one side's headers alone."""
    unread = [_passes_over(side) for side in (context.old, context.new)]
    if unread[0] != unread[1]:
        what = "its headers were read by a version that passed over macros with parameters and without a value"
        hint = "store the release anew, with its headers, to have these compared"
        yield NotChecked("source", "old" if unread[0] else "new", NOT_RECORDED, what, hint)


def _passes_over(side: SideFacts) -> bool:
    read = side.snapshot.provenance.headers
    return isinstance(read, HeadersRead) and bool(read.files) and MACROS not in read.facts
