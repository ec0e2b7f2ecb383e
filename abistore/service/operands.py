"""Operands: a file or a stored release, as a user names one side of a comparison."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

import msgspec

from abistore.confinement import exists
from abistore.errors import InputError, SnapshotNotFound
from abistore.model.history import Release
from abistore.model.snapshot import Snapshot
from abistore.service.database import Database, line_target, using
from abistore.service.snapshots import PLAIN, ExtractOptions, capture, one_of

if TYPE_CHECKING:
    from abistore.store.store import Store

DIGEST_PREFIX = re.compile(r"[0-9a-fA-F]{6,32}")


class Operand(msgspec.Struct, frozen=True):
    """One side: its snapshot, and its release if it is stored."""

    snapshot: Snapshot
    release: Release | None = None


class Selection(msgspec.Struct, frozen=True):
    """How to read operands: the line, if a library has several, and how to extract files."""

    target: str | None = None
    profile: str | None = None
    options: ExtractOptions = PLAIN


def is_reference(text: str | Path) -> TypeGuard[str]:
    """Whether an operand names a stored release. A file of that name wins. A path, or a ``/``, always means a file."""
    if isinstance(text, Path) or os_path_exists(text) or "/" in text or text.startswith("."):
        return False
    return "@" in text or DIGEST_PREFIX.fullmatch(text) is not None


def os_path_exists(text: str | Path) -> bool:
    """Whether there is a file of this name."""
    return exists(Path(text))


class Operands:
    """Reads operands. The database is opened when the first of them is a reference."""

    def __init__(self, stack: ExitStack, database: Database, selection: Selection) -> None:
        self._stack = stack
        self._database = database
        self._selection = selection
        self._store: Store | None = None

    @property
    def store(self) -> Store:
        """The store, opened for reading."""
        if self._store is None:
            self._store = self._stack.enter_context(using(self._database))
        return self._store

    def read(self, text: str | Path) -> Operand:
        """The operand called ``text``. Raises :class:`InputError` or :class:`SnapshotNotFound`."""
        if is_reference(text):
            release = self.release(text)
            return Operand(self.store.load(release), release)
        return Operand(self._captured(text))

    def pair(self, old: str | Path, new: str | Path) -> tuple[Operand, Operand]:
        """Both sides. If a stored side is ambiguous, the target of a file on the other side chooses the line."""
        if is_reference(old) and is_reference(new):
            releases = self.release(old), self.release(new)
            before, after = self.store.load_many(releases)
            return Operand(before, releases[0]), Operand(after, releases[1])
        if is_reference(old):
            second = Operand(self._captured(new, beside=old))
            return self._beside(old, second), second
        if is_reference(new):
            first = Operand(self._captured(old, beside=new))
            return first, self._beside(new, first)
        return Operand(self._captured(old, 0, 2)), Operand(self._captured(new, 1, 2))

    def release(self, text: str, target: str | None = None) -> Release:
        """The stored release that ``text`` names."""
        wanted = line_target(self.store, target or self._selection.target)
        return self.store.resolve(text, target=wanted, profile=self._selection.profile)

    def _beside(self, text: str, other: Operand) -> Operand:
        try:
            release = self.release(text, self._selection.target or str(other.snapshot.target))
        except SnapshotNotFound:
            release = self.release(text)
        return Operand(self.store.load(release), release)

    def _captured(self, text: str | Path, number: int = 0, count: int = 1, *, beside: str = "") -> Snapshot:
        """The snapshot of a file, one of ``count`` to read; ``beside`` is the reference on the other side."""
        if isinstance(text, str) and not os_path_exists(text) and "/" not in text:
            raise InputError(f"{text}: no such file, and not a reference", self._meant(text, beside))
        options = one_of(self._selection.options, number, count)
        return capture(Path(text), options=options, target=self._selection.target)

    def _meant(self, text: str, beside: str) -> str:
        """The hint for an operand that names nothing; it may be a version of the library on the other side."""
        library, at, _ = beside.partition("@")
        if at:
            try:
                self.release(f"{library}@{text}")
                return f"did you mean {library}@{text}?"
            except SnapshotNotFound:
                pass
        release = f"LIBRARY@{text}" if text[:1].isdigit() else f"{text}@latest"
        return f"name a file, a stored release ({release}) or six digits of a digest; see `abistore list`"


@contextmanager
def operands(database: Database = None, selection: Selection | None = None) -> Iterator[Operands]:
    """A reader of operands that closes the database it opened."""
    with ExitStack() as stack:
        yield Operands(stack, database, selection or Selection())
