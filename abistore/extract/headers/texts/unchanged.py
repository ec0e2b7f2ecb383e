"""What was read of headers, byte by byte: no file may say two things meanwhile, nor another one in the end."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from abistore.confinement import READ, open_file
from abistore.errors import HeaderError, PathDenied
from abistore.extract.headers.given import GivenHeaders
from abistore.extract.headers.standard.record import StandardRecord

MOST_TEXT: Final = 1 << 20
"""How much of a header is looked at to tell its language."""

CLOCK: Final = 20_000_000
"""Nanoseconds by which the times of files may stand behind the clock: kernels stamp them by ticks."""

HINT: Final = "read them again once their build or installation has ended"


class ReadTexts:
    """The texts of headers, by path. Headers are read several times; :meth:`check` tells whether that was all one."""

    def __init__(self) -> None:
        self.standard: StandardRecord | None = None
        """Headers of the C++ library that were parsed before, and gone on from."""
        self._texts: dict[str, bytes] = {}
        self._differing: dict[str, None] = {}
        self._began = time.time_ns() - CLOCK

    def beginning(self, path: Path) -> str:
        """The beginning of a header. Raises :class:`HeaderError`."""
        try:
            with os.fdopen(open_file(path), "rb") as file:
                text = file.read(MOST_TEXT)
        except OSError as error:
            raise HeaderError(f"{path}: cannot be read: {error.strerror}", "check its permissions") from None
        self.note(str(path), text)
        return text.decode(errors="replace")

    def beginning_if_readable(self, path: Path) -> str:
        """That of a header that another includes: libclang says what is wrong with one that cannot be read."""
        try:
            return self.beginning(path)
        except (HeaderError, PathDenied):
            return ""

    def note(self, path: str, text: bytes) -> None:
        """Remember what a reading of a file, or of its beginning, had."""
        known = self._texts.get(path)
        if known is None or _agree(known, text):
            self._texts[path] = text if known is None or len(text) > len(known) else known
        else:
            self._differing[path] = None

    def check(self, folders: Iterable[Path]) -> None:
        """Raise :class:`HeaderError` where a file had two texts, or has another one now, or one came in its place.

        ``folders`` are searched for headers, in this order. Messages name a file from the one that it is below.
        """
        folders = tuple(folders)
        changed = next(iter(self._differing), None) or next(
            (path for path, text in self._texts.items() if not _agree(text, _now(path, len(text)))), None
        )
        if changed is not None:
            raise HeaderError(f"{_called(changed, folders)}: was changed while the headers were read", HINT)
        if came := self._came(folders):
            raise HeaderError(f"{_called(came, folders)}: came while the headers were read", HINT)
        if self.standard is not None and not self.standard.is_current():
            raise HeaderError("the headers of the C++ library were changed while the headers were read", HINT)

    def _came(self, folders: Sequence[Path]) -> str | None:
        """A file that came since, and that an earlier folder would have given in place of one that was read."""
        searched = [os.path.realpath(folder).rstrip("/") + "/" for folder in folders]
        for real in map(os.path.realpath, self._texts if len(searched) > 1 else ()):
            for number, folder in enumerate(searched):
                name = real.removeprefix(folder)
                for other in (before + name for before in searched[:number] if name != real):
                    if other not in self._texts and _changed(other) >= self._began:
                        return other
        return None


def check_listed(before: GivenHeaders, after: GivenHeaders) -> None:
    """Raise :class:`HeaderError` where the given paths lead to other headers than they did."""
    was, now = ({each.name: each.path for each in given.headers} for given in (before, after))
    for name in sorted(was.keys() | now.keys()):
        if was.get(name) != now.get(name):
            what = "came" if name not in was else "went" if name not in now else "got another path"
            raise HeaderError(f"{name}: {what} while the headers were read", HINT)


def _agree(one: bytes, other: bytes | None) -> bool:
    """Whether two readings are of the same text: one of them may be its beginning."""
    if other is None:
        return False
    short, long = sorted((one, other), key=len)
    return long.startswith(short) if len(short) == MOST_TEXT else short == long


def _now(path: str, expected: int) -> bytes | None:
    """What a file holds, as far as it matters beside ``expected`` bytes; ``None`` where it is none any more."""
    with suppress(OSError, ValueError):
        descriptor = os.open(path, READ)
        with os.fdopen(descriptor, "rb") as file:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                return file.read(max(expected, MOST_TEXT) + 1)
    return None


def _changed(path: str) -> int:
    """When a file came or was changed, in nanoseconds; 0 where there is none."""
    try:
        return Path(path).stat().st_ctime_ns
    except (OSError, ValueError):
        return 0


def _called(path: str, folders: Iterable[Path]) -> str:
    real = Path(os.path.realpath(path))
    for folder in map(Path, map(os.path.realpath, folders)):
        if real.is_relative_to(folder) and real != folder:
            return real.relative_to(folder).as_posix()
    return Path(path).name
