"""The texts of resources: the JSON of the command line, in pages where a client could not take it at once."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from itertools import pairwise
from typing import Any

import msgspec

from abistore.mcp.answers.units import as_text
from abistore.mcp.refusals import Refusal
from abistore.report.plain import plain

MOST_BYTES = 1 << 20
"""The longest text that is sent at once, and the length of a page of a longer one."""

PART = "part"
"""What a request to read calls the page that it asks for."""

DIGITS = 12
INDEX = '{"status":"index",'
"""How the list of pages begins: no other text does."""


class Part(msgspec.Struct, frozen=True):
    """Which part of the text at ``uri`` is asked for; ``digest`` is the beginning of that of the text it belongs to."""

    uri: str
    offset: int | None = None
    digest: str = ""


def document(value: Mapping[str, Any]) -> str:
    """What the command prints with ``--json``, in one line."""
    return as_text({"status": "ok", **plain(value)})


def paged(text: str, part: Part) -> str:
    """A text; of a long one the list of its pages, or one of them. Raises :class:`Refusal`.

    The pages together are the text, byte for byte.
    """
    data = text.encode()
    if part.offset is None and len(data) <= MOST_BYTES:
        return text
    digest = sha256(data).hexdigest()
    offsets = _offsets(data)
    if part.offset is None:
        return _index(part.uri, data, digest, offsets)
    if not digest.startswith(part.digest):
        raise Refusal("NOT_FOUND", "the resource has changed since its pages were listed", f"read {part.uri} again")
    if part.offset not in offsets[:-1]:
        raise Refusal("NOT_FOUND", f"no page begins at {part.offset}", f"read {part.uri}: it lists its pages")
    return data[part.offset : offsets[offsets.index(part.offset) + 1]].decode()


def _offsets(data: bytes) -> list[int]:
    """Where pages begin, and where the last one ends. No page begins within a letter."""
    found = [0]
    while found[-1] < len(data):
        end = min(found[-1] + MOST_BYTES, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        found.append(end)
    return found


def _index(uri: str, data: bytes, digest: str, offsets: list[int]) -> str:
    pages = [
        {"uri": f"{uri}?offset={begin}&digest={digest[:DIGITS]}", "bytes": end - begin}
        for begin, end in pairwise(offsets)
    ]
    told = {
        "status": "index",
        "headline": f"{len(data):,} bytes in {len(pages)} pages: read them in order, and join their texts",
        "bytes": len(data),
        "sha256": digest,
        "pages": pages,
    }
    return as_text(told)
