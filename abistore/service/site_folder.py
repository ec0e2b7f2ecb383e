"""The folder of a site: what a build wrote there, what is as it was, and what belongs to others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec

from abistore.errors import OutputError
from abistore.files import write_whole
from abistore.report.site import OURS

MANIFEST = "abistore-site.json"
FORMAT = 1


class Written(msgspec.Struct, frozen=True, array_like=True):
    """A file of ours: what it was made of, how many bytes it has, and what is remembered with it.

    Without a ``key`` it was planned: a build that was interrupted may have written it or not.
    """

    key: str = ""
    size: int = 0
    kept: tuple[tuple[str, str, str], ...] = ()


NOTHING = msgspec.Raw(b"null")


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The files and folders in a folder that a site's build wrote.

    ``key`` is the digest of all that the folder was made of, empty where a build is not done with it. ``kept`` is what
    other pages tell of it.
    """

    site: int = FORMAT
    files: Mapping[str, Written] = {}
    folders: tuple[str, ...] = ()
    key: str = ""
    kept: msgspec.Raw = NOTHING


Kept = TypeVar("Kept")


class Tally:
    """How many files are new or other than before, as they were, and gone."""

    def __init__(self) -> None:
        self.written = self.unchanged = self.removed = 0

    def add(self, other: Tally) -> None:
        """Count what another process did."""
        self.written += other.written
        self.unchanged += other.unchanged
        self.removed += other.removed


class SiteFolder:
    """One folder of a site. What the manifest does not name is another's, and is left alone.

    The manifest is written before the first file that it lacks, and after the last: so an interrupted build can be
    taken up again. Raises :class:`OutputError`.
    """

    def __init__(self, path: Path, tally: Tally) -> None:
        self.path = path
        self.tally = tally
        self._before = _read(path)
        self._now: dict[str, Written] = {}
        self._folders: set[str] = set()

    @property
    def former(self) -> tuple[str, ...]:
        """The folders that the last build wrote here."""
        return self._before.folders if self._before else ()

    def stands(self, key: str) -> bool:
        """Whether all was made of what ``key`` says, and every file has the length that it was written with."""
        known = self._before
        if known is None or not key or known.key != key:
            return False
        return all(_size(self.path / name) == one.size for name, one in known.files.items())

    @property
    def files(self) -> int:
        """How many files the last build wrote here."""
        return len(self._before.files) if self._before else 0

    def kept_as(self, form: type[Kept]) -> Kept:
        """What the last build kept of this folder for other pages. Raises :class:`OutputError`."""
        try:
            return msgspec.json.decode(self._before.kept if self._before else NOTHING, type=form)
        except msgspec.MsgspecError as error:
            raise _unreadable(self.path) from error

    def leave(self, *but: str) -> None:
        """Leave all files as they are, ``but`` some that will be written."""
        known = self._before or Manifest()
        self._folders = set(known.folders)
        self._now = {name: one for name, one in known.files.items() if name not in but}
        self.tally.unchanged += len(self._now)

    def inside(self, name: str) -> SiteFolder:
        """A folder in this one. Nothing is written through a link to another place."""
        path = self.path / name
        if path.is_symlink():
            raise OutputError(f"{path}: is a link", "move it out of the way")
        return SiteFolder(path, self.tally)

    def plan(self, files: Iterable[str], folders: Iterable[str] = ()) -> None:
        """Say which files and folders will be written, before the first one is."""
        before = self._before or Manifest()
        self._folders = set(folders)
        new = {name: Written() for name in files if name not in before.files}
        for name in (*new, *(self._folders - set(before.folders))):
            if (self.path / name).exists() or (self.path / name).is_symlink():
                raise OutputError(f"{self.path / name}: was not written by a build of a site", "move it out of the way")
        if new or self._folders - set(before.folders) or before.key or self._before is None:
            self._save(Manifest(FORMAT, {**before.files, **new}, tuple(sorted({*before.folders, *self._folders}))))

    def kept(self, name: str, key: str) -> Written | None:
        """What is remembered of a file that is as ``key`` says; it stays."""
        known = self._before.files.get(name) if self._before else None
        if not known or known.key != key or _size(self.path / name) != known.size:
            return None
        self._now[name] = known
        self.tally.unchanged += 1
        return known

    def write(self, name: str, key: str, text: str, kept: tuple[tuple[str, str, str], ...] = ()) -> None:
        """Write a file, completely or not at all; not if it has these bytes."""
        data = text.encode(errors="backslashreplace")
        if _same(self.path / name, data):
            self.tally.unchanged += 1
        else:
            _write(self.path / name, data)
            self.tally.written += 1
        self._now[name] = Written(key, len(data), kept)

    def put(self, name: str, key: str, made: Callable[[], str]) -> None:
        """Write a file if it is not as ``key`` says."""
        if self.kept(name, key) is None:
            self.write(name, key, made())

    def finish(self, key: str = "", kept: bytes = b"null") -> None:
        """Remove what the last build wrote and this one did not, and say what is here, and what it was made of."""
        for name in sorted((self._before.files.keys() if self._before else set()) - self._now.keys()):
            _remove(self.path / name, self.tally)
        files, folders = dict(sorted(self._now.items())), tuple(sorted(self._folders))
        self._save(Manifest(FORMAT, files, folders, key, msgspec.Raw(kept)))

    def clear(self) -> None:
        """Remove all that was written here, and the folder if nobody else has a file in it."""
        for name in sorted(self._before.files if self._before else ()):
            _remove(self.path / name, self.tally)
        if self._before is not None:
            (self.path / MANIFEST).unlink(missing_ok=True)
        if self.path.is_dir() and not any(self.path.iterdir()):
            self.path.rmdir()

    def _save(self, manifest: Manifest) -> None:
        data = msgspec.json.encode(manifest)
        if self._before is None or data != msgspec.json.encode(self._before):
            _write(self.path / MANIFEST, data)
            self._before = manifest


def open_site(out: Path, tally: Tally) -> SiteFolder:
    """The folder of a site: a new or empty one, or one that a build wrote. Raises :class:`OutputError`."""
    with _told(out):
        if out.exists() and not out.is_dir():
            raise OutputError(f"{out}: is a file", "name a folder for the site")
        if out.is_dir() and not (out / MANIFEST).exists() and any(out.iterdir()):
            raise OutputError(
                f"{out}: is not empty, and no build of a site wrote it", "name a new folder, or empty this one"
            )
    return SiteFolder(out, tally)


def _read(path: Path) -> Manifest | None:
    """What was written to a folder; ``None`` for a new one."""
    try:
        found = msgspec.json.decode((path / MANIFEST).read_bytes(), type=Manifest)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise _unreadable(path) from error
    if found.site != FORMAT or not all(OURS.fullmatch(name) for name in (*found.files, *found.folders)):
        raise _unreadable(path)
    return found


def _unreadable(path: Path) -> OutputError:
    return OutputError(f"{path / MANIFEST}: is not what a build of a site wrote", "build the site in a new folder")


def _size(path: Path) -> int:
    try:
        return -1 if path.is_symlink() else path.stat().st_size
    except OSError:
        return -1


def _same(path: Path, data: bytes) -> bool:
    return _size(path) == len(data) and path.read_bytes() == data


def _write(path: Path, data: bytes) -> None:
    with _told(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, (data,))


def _remove(path: Path, tally: Tally) -> None:
    with _told(path):
        if path.exists() or path.is_symlink():
            path.unlink()
            tally.removed += 1


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}", "name another folder") from error
