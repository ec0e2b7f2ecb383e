"""What is in a package or a folder, each file with its first bytes, and kept only where it is wanted."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

from abistore.errors import InputError
from abistore.extract.input_file import HEAD_BYTES, InputFile, InputFolder
from abistore.extract.packages.formats import archives, debs, rpms, zips
from abistore.extract.packages.formats.bounds import UnpackBounds
from abistore.extract.packages.formats.identity import PackageIdentity
from abistore.extract.packages.formats.members import PackageMember, link_target


class PackageFormat(Protocol):
    """One format of packages: a module with these three functions."""

    def accepts(self, head: bytes) -> bool:
        """Whether a file that begins with ``head`` is of this format."""

    def identity(self, file: InputFile, bounds: UnpackBounds) -> PackageIdentity:
        """What the package says of itself."""

    def members(self, file: InputFile, bounds: UnpackBounds) -> Iterator[PackageMember]:
        """Its files and links."""


FORMATS: tuple[PackageFormat, ...] = (debs, rpms, zips, archives)
"""Asked in this order."""


class Entry(NamedTuple):
    """A file with its first bytes and what opens it, or a link to another entry.

    ``keep`` is called before the next entry is asked for. What it gives stays after the package is closed, and goes
    with this process, however that ends.
    """

    path: str
    head: bytes = b""
    keep: Callable[[], InputFile] | None = None
    link: str | None = None


def format_of(head: bytes) -> PackageFormat | None:
    """The format of a package that begins with ``head``."""
    return next((each for each in FORMATS if each.accepts(head)), None)


def entries(file: InputFile, bounds: UnpackBounds) -> Iterator[Entry]:
    """The files and links of a package or a folder."""
    if isinstance(file, InputFolder):
        yield from _in_folder(file, bounds)
    elif (format := format_of(file.head)) is not None:
        for member in format.members(file, bounds):
            yield _entry(file.path, member)
    else:
        hint = "name a .deb, .rpm, .whl, .conda, .zip or tar archive, or a folder"
        raise InputError(f"{file.path}: is no package", hint)


def _entry(package: Path, member: PackageMember) -> Entry:
    content = member.content
    if content is None:
        return Entry(member.path, link=member.link)
    head = _head(content)
    return Entry(member.path, head, lambda: _kept(package / member.path, head, content))


def _head(content: BinaryIO) -> bytes:
    head = b""
    while len(head) < HEAD_BYTES and (piece := content.read(HEAD_BYTES - len(head))):
        head += piece
    return head


def _kept(path: Path, head: bytes, content: BinaryIO) -> InputFile:
    """The member in a file without a name, which the system removes with the process that has it open."""
    with tempfile.TemporaryFile() as file:
        file.write(head)
        shutil.copyfileobj(content, file, 1 << 20)
        file.flush()
        return InputFile(path, os.dup(file.fileno()))


def _in_folder(folder: InputFolder, bounds: UnpackBounds) -> Iterator[Entry]:
    """Regular files and links below ``folder``. Links to folders are not followed."""
    for place, below, names in os.walk(folder.path):
        below.sort()
        for name in sorted(names):
            bounds.take_member()
            path = Path(place, name)
            inner = path.relative_to(folder.path).as_posix()
            if path.is_symlink():
                target = str(path.readlink())
                yield Entry(inner, link="" if target.startswith("/") else link_target(inner, target))
            elif path.is_file() and path.stat().st_size:
                with InputFile(path) as file:
                    head = file.head
                yield Entry(inner, head, lambda path=path: folder.taken(path))  # type: ignore[misc]
