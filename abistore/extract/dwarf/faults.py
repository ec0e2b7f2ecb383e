"""What is raised when debug information breaks its format, and where that becomes an error for the user."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from abistore.errors import ExtractError


class Malformed(ValueError):
    """The debug information contradicts its format."""


MALFORMED: Final = (IndexError, ValueError, OverflowError, RecursionError, struct.error)
"""What reading malformed bytes raises: positions past the end, offsets without a terminator, and :class:`Malformed`."""


@contextmanager
def malformed_is_an_error(subject: str) -> Iterator[None]:
    """Turns whatever malformed bytes raise in this block into an :class:`ExtractError` about ``subject``."""
    try:
        yield
    except MALFORMED as fault:
        raise ExtractError(
            f"{subject}: corrupt debug information: {describe(fault)}", "rebuild the file, or its debug file"
        ) from fault


def describe(fault: BaseException) -> str:
    """One phrase about a fault, for people."""
    return str(fault) if isinstance(fault, Malformed) else "it refers past its end"
