"""The protocol of readers, one for each binary format, and the registry that picks one for a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Protocol

import msgspec

from abistore.errors import UnknownFormat
from abistore.extract.headers.options import HeaderOptions
from abistore.extract.input_file import InputFile, InputFolder
from abistore.model.labels.blanks import Given
from abistore.model.snapshot import Snapshot


class ExtractOptions(Given, frozen=True):
    """What a caller may ask of an extraction.

    ``debug_dirs`` are searched for separate debug files like ``/usr/lib/debug``, and may name a PDB file itself;
    ``debuginfod`` allows asking the servers of ``DEBUGINFOD_URLS``; ``layout=False`` reads the binary's tables only.
    ``max_bytes`` bounds every file read and every section after decompression. ``headers`` are the public ones,
    ``None`` where none are given.
    Of packages and folders, ``only`` are patterns of the libraries to read. ``debug_packages`` have their debug
    information, which is in ``debug_files`` once it is unpacked, and ``devel_packages`` their headers.
    ``package_indexes`` tell which packages have headers that are missing. ``suite`` is the part of a distribution that
    packages are from.
    ``platform`` is that of an input that does not tell its own, and with ``every_release`` an input that tells of
    several releases gives a snapshot of each. ``programs`` takes executables without exports, for what they import.
    Without ``identify`` the digest of the file is left out, by which a store knows it again: to work it out every byte
    is read.
    ``progress`` is called with what is being read and how far that is, from 0 to 1.
    """

    library: str | None = None
    version: str | None = None
    debug_dirs: tuple[Path, ...] = ()
    debuginfod: bool = False
    layout: bool = True
    max_bytes: int = 4 << 30
    headers: HeaderOptions | None = None
    only: tuple[str, ...] = ()
    debug_packages: tuple[Path, ...] = ()
    debug_files: tuple[InputFile, ...] = ()
    devel_packages: tuple[Path, ...] = ()
    package_indexes: tuple[Path, ...] = ()
    suite: str = ""
    platform: str | None = None
    every_release: bool = False
    programs: bool = False
    identify: bool = True
    progress: Callable[[str, float], None] | None = None


def identified(snapshot: Snapshot, file: InputFile, options: ExtractOptions) -> Snapshot:
    """The snapshot with the SHA-256 of ``file``, if that is wanted. Raises :class:`ExtractError` for a changed file.

    Readers ask last: OpenSSL is loaded into memory that the debug information needs before.
    """
    if not options.identify:
        file.check_unchanged()
        return snapshot
    return msgspec.structs.replace(
        snapshot, provenance=msgspec.structs.replace(snapshot.provenance, sha256=file.sha256())
    )


class Reader(Protocol):
    """Reads one binary format. A reader is a module with these two functions."""

    def accepts(self, head: bytes) -> bool:
        """Whether a file that begins with ``head`` (its first 4,096 bytes) is of this format."""

    def read(self, file: InputFile, options: ExtractOptions) -> Iterable[Snapshot]:
        """The snapshots of the libraries in the file: several for a universal file or a package.

        Limits of time and memory hold around the call; what it reads beside ``file`` it tells
        :func:`abistore.limits.allow_more`. Raises :class:`abistore.errors.InputError`, of the kind that tells what is
        wrong.
        """


PACKAGES = "abistore.extract.packages.reader"

READERS: tuple[str, ...] = (
    "abistore.extract.json.reader",
    "abistore.extract.elf.reader",
    "abistore.extract.macho.reader",
    "abistore.extract.macho.stubs.reader",
    "abistore.extract.foreign.abicc.reader",
    "abistore.extract.foreign.abixml.reader",
    "abistore.extract.pe.reader",
    "abistore.extract.foreign.symbols.reader",
    PACKAGES,
)
"""The modules of all readers, asked in this order. A new format is a module here and nothing else."""


def reader_of(file: InputFile, options: ExtractOptions) -> Reader:
    """The reader of a file or a folder. Raises :class:`UnknownFormat`.

    That of packages reads a library that has packages beside it, too.
    """
    beside = options.debug_packages or options.devel_packages
    if isinstance(file, InputFolder) or (beside and not file.head.lstrip().startswith(b"{")):
        packages: Reader = import_module(PACKAGES)
        return packages
    return reader_for(file.head, file.path)


def is_package(file: InputFile) -> bool:
    """Whether a file is a package, or a folder; anything that no reader knows is none."""
    if isinstance(file, InputFolder):
        return True
    try:
        return file.size > 0 and reader_for(file.head, file.path) is sys.modules.get(PACKAGES)
    except UnknownFormat:
        return False


def reader_for(head: bytes, path: Path) -> Reader:
    """The first reader that accepts ``head``. Raises :class:`UnknownFormat`."""
    for module in READERS:
        reader: Reader = import_module(module)
        if reader.accepts(head):
            return reader
    raise UnknownFormat(f"{path}: not a library of a known format")
