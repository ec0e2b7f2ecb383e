"""Snapshots of what a user names: a file of any known format, or a stored release."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypeGuard

import msgspec

from abistore.errors import Incomparable, InputError, SnapshotNotFound, UsageError
from abistore.extract.bounded import BESIDE_A_FILE, BESIDE_A_STORE, read_beside, read_bounded
from abistore.extract.capture import accepts as accepts_json
from abistore.extract.capture import only
from abistore.extract.files import InputFile, open_input
from abistore.extract.reader import ExtractOptions as ExtractOptions
from abistore.extract.reader import HeaderOptions as HeaderOptions
from abistore.extract.reader import is_package
from abistore.files import exists
from abistore.limits import limits_for
from abistore.model.labels import Given
from abistore.model.snapshot import PackageRead, Snapshot, Target
from abistore.patterns import pattern

if TYPE_CHECKING:
    from abistore.model.history import Release
    from abistore.service.database import Database
    from abistore.store.store import Store

LONGEST_NOTE = 2000


def check_note(what: str, text: str) -> None:
    """Raise :class:`UsageError` for a text that is no line of printable characters."""
    if not text.isprintable() or len(text) > LONGEST_NOTE:
        hint = f"use at most {LONGEST_NOTE:,} printable characters in one line"
        raise UsageError(f"not a {what}: {text[:40]!r}", hint)


def check_label(what: str, text: str | None) -> None:
    """Raise :class:`UsageError` if ``text`` cannot be the ``what`` (library, version, revision, ...) of a release."""
    if text is None:
        return
    from abistore.model.versions import NAMED, check_name  # few commands are given names

    for named in NAMED:
        if what == named:
            check_name(named, text)
            return
    if not text.isprintable() or text != text.strip():
        raise UsageError(f"not a {what}: {text!r}", "use printable characters, without blanks around them")


class ReadRelease(msgspec.Struct, frozen=True):
    """What was read of a package or folder: ``path`` is its own, ``libraries`` are the snapshots of all libraries."""

    path: Path
    libraries: tuple[Snapshot, ...]

    @property
    def name(self) -> str:
        """The package's name, else that of the file or folder."""
        return (self._package.name if self._package else "") or self.path.resolve().name

    @property
    def version(self) -> str | None:
        """The version that its libraries share."""
        versions = {each.version for each in self.libraries}
        return versions.pop() if len(versions) == 1 else None

    @property
    def _package(self) -> PackageRead | None:
        found = self.libraries[0].provenance.package
        return found if isinstance(found, PackageRead) else None


Reading: TypeAlias = Callable[[InputFile, ExtractOptions], tuple[Snapshot, ...]]
"""What gives the snapshots of all libraries in a file: it reads them, or knows what another process has read."""

PLAIN = ExtractOptions()
"""Extraction with default options."""


class Dump(msgspec.Struct, frozen=True):
    """A library's snapshot, and the bytes of the JSON file that holds it."""

    snapshot: Snapshot
    json: bytes


def dump(path: str | Path, *, options: ExtractOptions = PLAIN, target: str | None = None) -> Dump:
    """The snapshot of a library, written as JSON: the same library gives the same bytes.

    Raises what :func:`capture` does, and :class:`Incomparable` if the file is for another platform than ``target``.
    """
    snapshot = capture(path, options=options, target=target)
    check_target(snapshot.target, Path(path), target)
    return Dump(snapshot, written(snapshot))


def capture(path: str | Path, *, options: ExtractOptions = PLAIN, target: str | None = None) -> Snapshot:
    """The snapshot of a library, or the one in a JSON file.

    ``options.library`` and ``options.version`` win over what the file says. Time and memory are limited by the file's
    size. ``target`` chooses one library of a file that holds several. Raises :class:`InputError`.
    """
    with open_input(Path(path)) as file:
        return captured(file, options=options, target=target)


def captured(
    file: InputFile,
    *,
    options: ExtractOptions = PLAIN,
    target: str | None = None,
    like: str | None = None,
    read: Reading = read_bounded,
) -> Snapshot:
    """:func:`capture` of a file that is open. Of several libraries, the one that is called ``like`` is meant."""
    return _one_like(captured_all(file, options=on_platform(options, target), read=read), file, target, like)


@contextmanager
def captured_beside(
    file: InputFile, *, options: ExtractOptions = PLAIN, target: str | None = None, worth: int = BESIDE_A_FILE
) -> Iterator[Callable[[str], Snapshot]]:
    """Begins to read a file beside what the body does. Yields :func:`captured` of it, which is told ``like`` late."""
    with read_beside(file, on_platform(options, target), worth) as found:
        yield lambda like: _one_like(found(), file, target, like)


def on_platform(options: ExtractOptions, target: str | None) -> ExtractOptions:
    """The options for an input that does not tell its own platform, and is for ``target``."""
    return msgspec.structs.replace(options, platform=target) if target and options.platform is None else options


def _one_like(found: Sequence[Snapshot], file: InputFile, target: str | None, like: str | None) -> Snapshot:
    return only([each for each in found if each.library == like] or found, file.path, target)


def captured_all(
    file: InputFile, *, options: ExtractOptions = PLAIN, read: Reading = read_bounded
) -> tuple[Snapshot, ...]:
    """The snapshots of all libraries of a package or folder that is open."""
    check_label("library", options.library)
    check_label("version", options.version)
    return read(file, options)


def check_target(found: Target, path: Path, wanted: str | None) -> None:
    """Raises :class:`Incomparable` if a file is for another platform than ``wanted``: ``x86_64``, or in full."""
    if wanted and not found.is_called(wanted):
        raise Incomparable(f"{path}: built for {found}, not for {wanted}", "name the binary of that platform")


def written(snapshot: Snapshot) -> bytes:
    """The snapshot as JSON, within limits. Raises :class:`SnapshotError` if it cannot be written."""
    from abistore.model.snapshot_files import to_json

    with limits_for(snapshot.weight, f"writing {snapshot.label}"):
        return to_json(snapshot)


def one_of(options: ExtractOptions, number: int, count: int) -> ExtractOptions:
    """The options for reading one of ``count`` files, so that its progress is a part of the whole."""
    progress = options.progress
    if progress is None:
        return options
    return msgspec.structs.replace(options, progress=lambda what, done: progress(what, (number + done) / count))


def shipped_suppressions(path: str) -> tuple[tuple[str, bytes], ...] | None:
    """The suppressions for libabigail that a package or a folder ships; ``None`` for what is none of these."""
    place = Path(path)
    if not is_path(path) or not (place.is_file() or place.is_dir()):
        return None
    with open_input(place) as file:
        if not is_package(file):
            return None
    from abistore.extract.packages.libraries import suppression_files  # few name a package here

    with limits_for(0, f"reading the suppressions in {path}"):
        return suppression_files(place)


def is_json(file: InputFile) -> bool:
    """Whether a file is a JSON snapshot, as its first bytes tell."""
    return accepts_json(file.head)


def is_dump(file: InputFile) -> bool:
    """Whether a file is a JSON snapshot or another tool's dump, as its first bytes tell."""
    from abistore.extract.dumps.reader import accepts

    return is_json(file) or accepts(file.head)


def has_architectures(file: InputFile) -> bool:
    """Whether a file holds a dylib for each of some architectures, as its first bytes tell; for one, too."""
    from abistore.extract.macho import container

    return not is_json(file) and container.is_macho(file.head)


CompareSide: TypeAlias = Literal["old", "new", "both"]
"""A side of a comparison; ``both`` for what is no comparison."""

Libraries: TypeAlias = tuple[Snapshot, ...]

DIGEST_PREFIX = pattern(r"[0-9a-fA-F]{6,32}")


class Operand(msgspec.Struct, frozen=True):
    """One side: its snapshot, and its release if it is stored."""

    snapshot: Snapshot
    release: Release | None = None


class OperandPair(NamedTuple):
    """Both sides, each of which is one library."""

    old: Operand
    new: Operand


class ReleasePair(NamedTuple):
    """Both sides of which one is several libraries: packages, folders, and files with one for each architecture."""

    old: ReadRelease
    new: ReadRelease


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
                f"{text}: could be a stored release or a file in this folder", f"name the file as ./{text}"
            )
        return False
    return "@" in text or DIGEST_PREFIX.fullmatch(text) is not None


def is_path(text: str | Path) -> bool:
    """Whether an operand that is no reference can only be a file: it has a folder, or is there."""
    return isinstance(text, Path) or "/" in text or text.startswith(".") or os_path_exists(text)


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

    @property
    def store(self) -> Store:
        """The store, opened for reading."""
        return self._open()

    def _open(self) -> Store:
        if self._store is None:
            from abistore.service.database import using  # not needed for files

            self._store = self._stack.enter_context(using(self._database))
        return self._store

    def read(self, text: str | Path) -> Operand:
        """The operand called ``text``. Raises :class:`InputError` or :class:`SnapshotNotFound`."""
        if is_reference(text):
            self._check_headers(text)
            release = self.release(text)
            return Operand(self.store.load(release), release)
        return Operand(self._captured(text))

    def several(self, texts: Sequence[str | Path]) -> tuple[Operand, ...]:
        """Some releases and files. Headers are those of the files, of which there must be one."""
        found = []
        for text in texts:
            release = self.release(text) if is_reference(text) else None
            snapshot = self._captured(text) if release is None else self.store.load(release)
            found.append(Operand(snapshot, release))
        self._check_used("no release is a library file")
        return tuple(found)

    def pair(self, old: str | Path, new: str | Path) -> OperandPair | ReleasePair:
        """Both sides. If a stored side is ambiguous, the target of a file on the other side chooses the line."""
        self._check_pair(old, new)
        found = self._pair(old, new)
        self._check_used("neither side is a library file")
        return found

    def _check_used(self, reason: str) -> None:
        options = self._selection.options
        is_given = options.headers is not None and not options.headers.configured
        if not self._used_headers and (is_given or options.devel_packages):
            raise UsageError(
                f"headers were given, but {reason}",
                "a JSON snapshot or a stored release has the headers of its creation",
            )

    def _pair(self, old: str | Path, new: str | Path) -> OperandPair | ReleasePair:
        if is_reference(old) and is_reference(new):
            releases = self.release(old), self.release(new)
            before, after = self.store.load_many(releases)
            return OperandPair(Operand(before, releases[0]), Operand(after, releases[1]))
        if is_reference(old):
            second = Operand(self._captured_meanwhile(new, "new", beside=old))
            return OperandPair(self._beside(old, second), second)
        if is_reference(new):
            first = Operand(self._captured_meanwhile(old, "old", beside=new))
            return OperandPair(first, self._beside(new, first))
        with self._file(old) as first_file, self._file(new) as second_file:
            return self._of_files(first_file, second_file)

    def _of_files(self, old: InputFile, new: InputFile) -> OperandPair | ReleasePair:
        """Both sides of two files: the new one is read beside the old one."""
        wanted = self._selection.target
        with read_beside(new, on_platform(one_of(self._options(new, "new"), 1, 2), wanted)) as second:
            before = captured_all(old, options=on_platform(one_of(self._options(old, "old"), 0, 2), wanted))
            after = second()
        packages = is_package(old), is_package(new)
        if all(packages):
            return ReleasePair(_fitting(old.path, before, wanted), _fitting(new.path, after, wanted))
        before, after = _beside_of(old, before, new, after), _beside_of(new, after, old, before)
        are_several = len(before) > 1 or len(after) > 1
        if wanted is None and are_several and (_of_one_name(before, after) or not any(packages)):
            return ReleasePair(ReadRelease(old.path, _called_alike(before, after)), ReadRelease(new.path, after))
        return OperandPair(Operand(only(before, old.path, wanted)), Operand(only(after, new.path, wanted)))

    def release(self, text: str, target: str | None = None) -> Release:
        """The stored release that ``text`` names."""
        from abistore.service.database import line_target  # not needed for files

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
        sides: tuple[tuple[CompareSide, str | Path], ...] = (("old", old), ("new", new))
        for side, text in sides:
            own, packages = self._selection.own_headers(side), self._selection.own_devel_packages(side)
            if is_reference(text) and (packages or (own is not None and not own.configured)):
                raise _stored_with_its_own(text)
        if is_reference(old) and is_reference(new):
            self._check_headers(old)

    def _check_headers(self, text: str) -> None:
        options = self._selection.options
        if options.devel_packages or (options.headers is not None and not options.headers.configured):
            raise _stored_with_its_own(text)

    def _captured(self, text: str | Path) -> Snapshot:
        with self._file(text) as file:
            return captured(file, options=self._options(file, "both"), target=self._selection.target)

    def _captured_meanwhile(self, text: str | Path, side: CompareSide, beside: str) -> Snapshot:
        """The snapshot of a file, which is read while the database of the other side is opened."""
        target = self._selection.target
        with (
            self._file(text, beside) as file,
            captured_beside(file, options=self._options(file, side), target=target, worth=BESIDE_A_STORE) as found,
        ):
            self._open()
            return found(beside.partition("@")[0])

    def _file(self, text: str | Path, beside: str = "") -> InputFile:
        """The file that an operand names; ``beside`` is the reference on the other side."""
        if isinstance(text, str) and not os_path_exists(text) and "/" not in text:
            raise InputError(f"{text}: neither a file nor a reference", self._meant(text, beside))
        return open_input(Path(text))

    def _options(self, file: InputFile, side: CompareSide) -> ExtractOptions:
        """How to read a file. Headers of both sides are for the one that is a library, if the other is JSON."""
        options, own = self._selection.options, self._selection.own_headers(side)
        if packages := self._selection.own_devel_packages(side):
            if is_json(file):
                raise _stored_with_its_own(file.path)
            options = msgspec.structs.replace(options, devel_packages=packages)
        if own is not None:
            self._used_headers = True
            return msgspec.structs.replace(options, headers=own)
        if side != "both" and is_json(file):
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


def _fitting(path: Path, libraries: Libraries, wanted: str | None) -> ReadRelease:
    fitting = tuple(each for each in libraries if wanted is None or each.target.is_called(wanted))
    if not fitting:
        raise Incomparable(f"{path}: contains no library for {wanted}", "omit --target, or name another package")
    return ReadRelease(path, fitting)


def _beside_of(file: InputFile, found: Libraries, other: InputFile, others: Libraries) -> Libraries:
    """Those of a file's libraries that the other side may mean: of a package those of its name, and beside the dump of
    one library, which says nothing about further architectures, those for its target."""
    if is_package(file):
        found = tuple(each for each in found if each.library in {one.library for one in others}) or found
    if len(found) > 1 and len(others) == 1 and is_dump(other):
        return tuple(each for each in found if str(each.target) == str(others[0].target)) or found
    return found


def _of_one_name(*sides: Libraries) -> bool:
    return all(len({each.library for each in side}) == 1 for side in sides)


def _called_alike(old: Libraries, new: Libraries) -> Libraries:
    """The old libraries under the name of the new ones, where each side has one: who names two files compares them."""
    if not _of_one_name(old, new):
        return old
    return tuple(msgspec.structs.replace(each, library=new[0].library) for each in old)


def _stored_with_its_own(text: str | Path) -> UsageError:
    return UsageError(
        f"headers were given for {text}, which is stored with its own headers",
        "omit them, or name the library's file",
    )


@contextmanager
def operands(database: Database = None, selection: Selection | None = None) -> Iterator[Operands]:
    """A reader of operands that closes the database it opened."""
    with ExitStack() as stack:
        yield Operands(stack, database, selection or Selection())
