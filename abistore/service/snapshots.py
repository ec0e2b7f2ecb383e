"""From a file to a snapshot: a library of any known format, or a JSON snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from abistore.errors import Incomparable, UsageError
from abistore.extract.bounded import BESIDE_A_FILE, read_beside, read_bounded
from abistore.extract.capture import accepts as accepts_json
from abistore.extract.capture import only
from abistore.extract.files import InputFile, open_input
from abistore.extract.header_options import HeaderOptions
from abistore.extract.reader import ExtractOptions, is_package
from abistore.limits import limits_for
from abistore.model.snapshot import PackageRead, Snapshot, Target

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


__all__ = [
    "Dump",
    "ExtractOptions",
    "HeaderOptions",
    "InputFile",
    "ReadRelease",
    "capture",
    "captured",
    "captured_all",
    "captured_beside",
    "check_target",
    "dump",
    "has_architectures",
    "is_dump",
    "is_json",
    "is_package",
    "on_platform",
    "one_of",
    "only",
    "open_input",
]


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
    file: InputFile, *, options: ExtractOptions = PLAIN, target: str | None = None, like: str | None = None
) -> Snapshot:
    """:func:`capture` of a file that is open. Of several libraries, the one that is called ``like`` is meant."""
    return _one_like(captured_all(file, options=on_platform(options, target)), file, target, like)


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


def captured_all(file: InputFile, *, options: ExtractOptions = PLAIN) -> tuple[Snapshot, ...]:
    """The snapshots of all libraries of a package or folder that is open."""
    check_label("library", options.library)
    check_label("version", options.version)
    return read_bounded(file, options)


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
