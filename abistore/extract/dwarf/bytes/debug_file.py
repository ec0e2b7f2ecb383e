"""A file with DWARF debug information, whatever its binary format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol


class DebugFile(Protocol):
    """What reading DWARF asks of a file. A binary format with DWARF in it supplies one.

    Sections are named as in ELF: ``.debug_info``, where Mach-O writes ``__debug_info``.
    """

    @property
    def path(self) -> Path:
        """Where the file is: split DWARF is searched beside it."""

    @property
    def little(self) -> bool:
        """Whether numbers are little-endian."""

    @property
    def tls_addresses(self) -> range:
        """The link-time addresses of the TLS segment; empty where there is none."""

    @property
    def alternate_link(self) -> tuple[str, str] | None:
        """The name and identity of the file that ``dwz`` moved common entries to."""

    def has(self, name: str) -> bool:
        """Whether the file holds the contents of section ``name``."""

    def section(self, name: str) -> bytes:
        """The decompressed contents of section ``name``; empty where it is absent."""

    def sections_named(self, name: str) -> Iterator[bytes]:
        """The contents of every section ``name``: a ``.dwo`` file has several of one name."""

    def check_unchanged(self) -> None:
        """Raises :class:`abistore.errors.ExtractError` where the file was written to since it was opened."""

    def another(self, path: Path) -> DebugFile:
        """A further file of the same format, such as a ``.dwo`` file. Raises :class:`abistore.errors.InputError`."""
