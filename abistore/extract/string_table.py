"""Zero-terminated texts in the tables of object files."""

from __future__ import annotations


def text_at(strings: bytes, offset: int) -> str:
    """The zero-terminated text at ``offset`` of a string table; empty where there is none.

    Bytes that are not UTF-8 are spelled ``\\xNN``, so that any name can be stored and printed.
    """
    end = strings.find(b"\0", offset)
    return strings[offset : end if end >= 0 else len(strings)].decode("utf-8", "backslashreplace")
