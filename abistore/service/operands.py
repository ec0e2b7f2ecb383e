"""Operands: a file or a stored release, as a user names one side of a comparison."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeGuard

import msgspec

from abistore.confinement import exists
from abistore.errors import Incomparable, InputError, SnapshotNotFound, UsageError
from abistore.extract.worker.beside import BESIDE_A_STORE, read_beside
from abistore.model.labels.blanks import Given
from abistore.model.snapshot import Snapshot
from abistore.patterns import pattern
from abistore.service.database import Database, line_target, using
from abistore.service.snapshots import (
    PLAIN,
    ExtractOptions,
    HeaderOptions,
    InputFile,
    ReadRelease,
    captured,
    captured_all,
    captured_beside,
    is_json,
    is_package,
    one_of,
    open_input,
)

if TYPE_CHECKING:
    from abistore.model.history import Release
    from abistore.store.store import Store

CompareSide: TypeAlias = Literal["old", "new", "both"]
"""A side of a comparison; ``both`` for what is no comparison."""

DIGEST_PREFIX = pattern(r"[0-9a-fA-F]{6,32}")


class Operand(msgspec.Struct, frozen=True):
    """One side: its snapshot, and its release if it is stored."""

    snapshot: Snapshot
    release: Release | None = None


class Selection(Given, frozen=True):
    """How to read operands: the line, if a library has several, and how to extract files.

    ``options.headers`` are those of every library that is read from a file; ``old_headers`` and ``new_headers`` win
    over them on their side, and ``old_devel_packages`` and ``new_devel_packages`` over those of both sides. A stored
    release, or a JSON snapshot, has the headers that it was made with.
    """

    target: str | None = None
    profile: str | None = None
    options: ExtractOptions = PLAIN
    old_headers: HeaderOptions | None = None
    new_headers: HeaderOptions | None = None
    old_devel_packages: tuple[Path, ...] = ()
    new_devel_packages: tuple[Path, ...] = ()

    def own_headers(self, side: CompareSide) -> HeaderOptions | None:
        """The headers of one side alone."""
        return {"old": self.old_headers, "new": self.new_headers, "both": None}[side]

    def own_devel_packages(self, side: CompareSide) -> tuple[Path, ...]:
        """The development packages of one side alone."""
        return {"old": self.old_devel_packages, "new": self.new_devel_packages, "both": ()}[side]


def is_reference(text: str | Path) -> TypeGuard[str]:
    """Whether an operand names a stored release. A path, or a ``/``, always means a file.

    Raises :class:`UsageError` for ``libfoo@baseline`` beside a file of that name, which nobody may put in its place.
    A file whose name looks like a digest wins.
    """
    if isinstance(text, Path) or "/" in text.partition("@baseline:")[0] or text.startswith("."):
        return False
    if os_path_exists(text):
        if "@" in text:
            raise UsageError(
                f"{text}: reads as a stored release, and a file of that name is here", f"name the file as ./{text}"
            )
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
        self._used_headers = False
        self._opened: dict[CompareSide, InputFile] = {}

    @property
    def store(self) -> Store:
        """The store, opened for reading."""
        return self._open()

    def _open(self) -> Store:
        if self._store is None:
            self._store = self._stack.enter_context(using(self._database))
        return self._store

    def read(self, text: str | Path) -> Operand:
        """The operand called ``text``. Raises :class:`InputError` or :class:`SnapshotNotFound`."""
        if is_reference(text):
            self._check_headers(text)
            release = self.release(text)
            return Operand(self.store.load(release), release)
        return Operand(self._captured(text))

    def pair(self, old: str | Path, new: str | Path) -> tuple[Operand, Operand]:
        """Both sides. If a stored side is ambiguous, the target of a file on the other side chooses the line."""
        self._check_pair(old, new)
        found = self._pair(old, new)
        headers = self._selection.options.headers
        if headers is not None and not headers.configured and not self._used_headers:
            raise UsageError(
                "headers are given, and neither side is the file of a library",
                "a JSON snapshot and a stored release have the headers that they were made with",
            )
        return found

    def _pair(self, old: str | Path, new: str | Path) -> tuple[Operand, Operand]:
        if is_reference(old) and is_reference(new):
            releases = self.release(old), self.release(new)
            before, after = self.store.load_many(releases)
            return Operand(before, releases[0]), Operand(after, releases[1])
        if is_reference(old):
            second = Operand(self._captured_meanwhile(new, "new", beside=old))
            return self._beside(old, second), second
        if is_reference(new):
            first = Operand(self._captured_meanwhile(old, "old", beside=new))
            return first, self._beside(new, first)
        if "old" in self._opened and is_package(self._opened["old"]):
            second = Operand(self._captured(new, "new", (0, 2)))
            return Operand(self._captured(old, "old", (1, 2), beside=second.snapshot.library)), second
        return self._both(old, new)

    def _both(self, old: str | Path, new: str | Path) -> tuple[Operand, Operand]:
        """Both sides of two files: the new one is read beside the old one."""
        target = self._selection.target
        with (
            self._file(old, "old") as before,
            self._file(new, "new") as after,
            captured_beside(after, options=one_of(self._options(after, "new"), 1, 2), target=target) as second,
        ):
            first = captured(before, options=one_of(self._options(before, "old"), 0, 2), target=target)
            return Operand(first), Operand(second(first.library))

    def packages(self, old: str | Path, new: str | Path) -> tuple[ReadRelease, ReadRelease] | None:
        """Both sides as releases of several libraries, if both are packages or folders."""
        sides: tuple[tuple[CompareSide, str | Path], ...] = (("old", old), ("new", new))
        if any(map(is_reference, (old, new))) or not all(map(os_path_exists, (old, new))):
            return None
        for side, text in sides:  # each file is opened once, whatever it turns out to be
            self._opened[side] = open_input(Path(text))
            self._stack.callback(self._opened[side].close)
        if not all(map(is_package, self._opened.values())):
            return None
        before, after = self._opened["old"], self._opened["new"]
        with read_beside(after, one_of(self._options(after, "new"), 1, 2)) as second:
            first = captured_all(before, options=one_of(self._options(before, "old"), 0, 2))
            return self._fitting(Path(old), first), self._fitting(Path(new), second())

    def _fitting(self, path: Path, libraries: tuple[Snapshot, ...]) -> ReadRelease:
        wanted = self._selection.target
        fitting = tuple(each for each in libraries if wanted in (None, str(each.target), each.target.machine))
        if not fitting:
            raise Incomparable(f"{path}: holds no library for {wanted}", "leave --target out, or name another package")
        return ReadRelease(path, fitting)

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

    def _check_pair(self, old: str | Path, new: str | Path) -> None:
        """Raise :class:`UsageError` for headers of a side that is stored, and for headers of no side."""
        for side, text in (("old", old), ("new", new)):
            own = self._selection.old_headers if side == "old" else self._selection.new_headers
            if own is not None and not own.configured and is_reference(text):
                raise _stored_with_its_own(text)
        if is_reference(old) and is_reference(new):
            self._check_headers(old)

    def _check_headers(self, text: str) -> None:
        headers = self._selection.options.headers
        if headers is not None and not headers.configured:
            raise _stored_with_its_own(text)

    def _captured(
        self, text: str | Path, side: CompareSide = "both", part: tuple[int, int] = (0, 1), *, beside: str = ""
    ) -> Snapshot:
        """The snapshot of a file, a ``part`` of all to read; ``beside`` is the reference on the other side.

        Of a package it is the library of that name.
        """
        like, target = beside.partition("@")[0], self._selection.target
        with self._file(text, side, beside) as file:
            return captured(file, options=one_of(self._options(file, side), *part), target=target, like=like)

    def _captured_meanwhile(self, text: str | Path, side: CompareSide, beside: str) -> Snapshot:
        """The snapshot of a file, which is read while the database of the other side is opened."""
        target = self._selection.target
        with (
            self._file(text, side, beside) as file,
            captured_beside(file, options=self._options(file, side), target=target, worth=BESIDE_A_STORE) as found,
        ):
            self._open()
            return found(beside.partition("@")[0])

    def _file(self, text: str | Path, side: CompareSide, beside: str = "") -> InputFile:
        """The file of one side, which may be open already."""
        if isinstance(text, str) and not os_path_exists(text) and "/" not in text:
            raise InputError(f"{text}: no such file, and not a reference", self._meant(text, beside))
        return self._opened.pop(side, None) or open_input(Path(text))

    def _options(self, file: InputFile, side: CompareSide) -> ExtractOptions:
        """How to read a file. Headers of both sides are for the one that is a library, if the other is JSON."""
        options, own = self._selection.options, self._selection.own_headers(side)
        if packages := self._selection.own_devel_packages(side):
            options = msgspec.structs.replace(options, devel_packages=packages)
        if own is not None:
            self._used_headers = True
            return msgspec.structs.replace(options, headers=own)
        if side != "both" and options.headers is not None and is_json(file):
            return msgspec.structs.replace(options, headers=None)
        self._used_headers = True
        return options

    def _meant(self, text: str, beside: str) -> str:
        """The hint for an operand that names nothing; it may be a version of the library on the other side."""
        library, at, _ = beside.partition("@")
        if at and self._is_stored(f"{library}@{text}"):
            return f"did you mean {library}@{text}?"
        release = f"LIBRARY@{text}" if text[:1].isdigit() else f"{text}@latest"
        return f"name a file, a stored release ({release}) or six digits of a digest; see `abistore list`"

    def _is_stored(self, text: str) -> bool:
        try:
            self.release(text)
        except SnapshotNotFound:
            return False
        return True


def _stored_with_its_own(text: str | Path) -> UsageError:
    return UsageError(
        f"headers are given for {text}, which is stored with the headers that it was ingested with",
        "leave them out, or name the library's file",
    )


@contextmanager
def operands(database: Database = None, selection: Selection | None = None) -> Iterator[Operands]:
    """A reader of operands that closes the database it opened."""
    with ExitStack() as stack:
        yield Operands(stack, database, selection or Selection())
