"""The members of a package, and the paths that they may have."""

from __future__ import annotations

import posixpath
from typing import BinaryIO, Protocol

import msgspec

from abistore.errors import ExtractError


class PackageMember(msgspec.Struct, frozen=True):
    """One member: a file whose ``content`` can be read until the next member is asked for, or a link to another one.

    ``path`` and ``link`` are relative to the package. A ``link`` is empty where it leads out of the package.
    """

    path: str
    size: int = 0
    content: BinaryIO | None = None
    link: str | None = None


class Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int = -1, /) -> bytes:
        """At most ``size`` bytes; none at the end."""


def inner_path(name: str, package: str) -> str:
    """The path of a member. Raises :class:`ExtractError` for one that leads out of the package."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or "\0" in name:
        raise ExtractError(
            f"{package}: has a member outside of itself: {name[:200]!r}",
            "no well-made package has one: do not unpack it; build or download it again",
        )
    return "/".join(parts)


def link_target(path: str, target: str) -> str:
    """Where a symbolic link leads within the package, whose root ``/`` is; empty where it leads out of it."""
    joined = target if target.startswith("/") else posixpath.join("/", posixpath.dirname(path), target)
    depth = 0
    for part in joined.split("/"):
        depth += 0 if part in ("", ".") else -1 if part == ".." else 1
        if depth < 0:
            return ""
    return posixpath.normpath(joined).lstrip("/")


def exactly(stream: Readable, size: int, package: str) -> bytes:
    """The next ``size`` bytes. Raises :class:`ExtractError` where there are fewer."""
    pieces, missing = [], size
    while missing:
        piece = stream.read(min(missing, 1 << 20))
        if not piece:
            raise ExtractError(f"{package}: truncated: {missing:,} bytes are missing", "copy or download it again")
        pieces.append(piece)
        missing -= len(piece)
    return b"".join(pieces)
