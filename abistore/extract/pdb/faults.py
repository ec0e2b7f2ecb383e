"""What a damaged PDB file does to its reader, as one error."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager

from abistore.errors import ExtractError


class MalformedPdb(ExtractError):
    """A PDB file contradicts itself."""


@contextmanager
def malformed_is_an_error(name: str) -> Iterator[None]:
    """Turns what decoding damaged bytes raises into :class:`MalformedPdb`."""
    try:
        yield
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise MalformedPdb(
            f"{name}: the PDB file is corrupt: {error}", "rebuild the library and its PDB file"
        ) from error
