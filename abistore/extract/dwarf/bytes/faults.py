"""Errors in debug information: what decoding raises, and how it becomes an error for the user."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from abistore.errors import ExtractError
from abistore.model.snapshot import Evidence

CORRUPT: Final = "corrupt-debug-info"
"""The reason that evidence gives for what could not be read."""

NEXT_STEP: Final = "rebuild the library or its debug file, or read its symbol tables alone with --symbols-only"


class MalformedDwarf(ValueError):
    """The debug information contradicts its format."""


MALFORMED: Final = (IndexError, ValueError, OverflowError, RecursionError, struct.error)
"""What reading malformed bytes raises: positions past the end, missing terminators, and :class:`MalformedDwarf`."""


@contextmanager
def malformed_is_an_error(subject: str) -> Iterator[None]:
    """Turns whatever malformed bytes raise in this block into an :class:`ExtractError` about ``subject``."""
    try:
        yield
    except MALFORMED as fault:
        raise ExtractError(f"{subject}: corrupt debug information: {describe(fault)}", NEXT_STEP) from fault


def refuse_useless(subject: str, evidence: Evidence) -> None:
    """Raises :class:`ExtractError` where the debug information is so corrupt that it describes no export at all.

    Where it describes some, the snapshot tells which are missing and why: one bad unit does not hide the others.
    """
    if evidence.state == "missing" and evidence.reason == CORRUPT:
        raise ExtractError(f"{subject}: corrupt debug information: {evidence.detail}", NEXT_STEP)


def describe(fault: BaseException) -> str:
    """One phrase about a fault, for people."""
    return str(fault) if isinstance(fault, MalformedDwarf) else "it refers past its end"
