"""The log of an archive run: a JSON line for each item, what is done of a run that was interrupted, and the summary."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Final

import msgspec

from abistore.archive.items import Item, ItemKey
from abistore.errors import InputError, OutputError
from abistore.service.ingest_gates import Ingested, Status

FINAL: Final[frozenset[str]] = frozenset({"stored", "replaced", "known", "candidate", "refused", "written"})
"""What an item became that is not read again with ``--resume``: all but a failure."""


class LoggedItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of the log: an item, and what became of it.

    ``status`` is that of :class:`Ingested`, or ``written`` for a snapshot that was written to a folder. ``releases``
    are the references of what is stored of it, ``digests`` those of their snapshots. ``code``, ``error`` and ``hint``
    say why an item failed. ``seconds`` is how long reading and storing it took, ``at`` when it was done.
    """

    path: str
    status: str
    exit_code: int
    at: datetime
    version: str | None = None
    library: str | None = None
    profile: str | None = None
    releases: tuple[str, ...] = ()
    digests: tuple[str, ...] = ()
    verdict: str | None = None
    outcome: str | None = None
    code: str = ""
    error: str = ""
    hint: str = ""
    seconds: float = 0.0

    @property
    def key(self) -> ItemKey:
        """What identifies the item."""
        return ItemKey(self.path, self.version, self.library, self.profile)

    @property
    def is_final(self) -> bool:
        """Whether the item need not be read again."""
        return self.status in FINAL


def logged(item: Item, result: Ingested, seconds: float) -> LoggedItem:
    """The line about an item that was stored, or failed."""
    parts = result.members or (result,)
    releases = [each.release for each in parts if each.release is not None]
    return LoggedItem(
        path=item.key.path,
        version=item.version,
        library=item.library,
        profile=item.profile,
        status=result.status,
        exit_code=result.exit_code,
        at=datetime.now(UTC),
        releases=tuple(each.reference for each in releases),
        digests=tuple(each.digest for each in releases),
        verdict=result.verdict.verdict if result.verdict is not None else None,
        outcome=result.decision.outcome if result.decision is not None else None,
        code=result.code,
        error=result.error,
        hint=result.hint,
        seconds=round(seconds, 4),
    )


class RunLog:
    """Appends lines to a file: each batch as a whole, once its transaction has ended. Raises :class:`OutputError`."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file: IO[bytes] | None = None
        if path is None:
            return
        try:
            self._file = path.open("ab")
            if self._is_torn(path):
                self._file.write(b"\n")
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error.strerror}") from error

    @staticmethod
    def _is_torn(path: Path) -> bool:
        """Whether the last line was being written when its process was killed."""
        with path.open("rb") as file:
            if not file.seek(0, os.SEEK_END):
                return False
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"

    def write(self, lines: Iterable[LoggedItem]) -> None:
        """Append lines, and have the system hold them."""
        if self._file is None:
            return
        try:
            self._file.write(b"".join(msgspec.json.encode(each) + b"\n" for each in lines))
            self._file.flush()
        except OSError as error:
            raise OutputError(f"{self._path}: cannot be written: {error.strerror}", "make room, then resume") from error

    def __enter__(self) -> RunLog:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()


def read_log(path: Path) -> Mapping[ItemKey, LoggedItem]:
    """The last line about each item. A line that a kill cut off is left out. Raises :class:`InputError`."""
    try:
        with path.open("rb") as file:
            return {each.key: each for line in file if (each := _line(line)) is not None}
    except FileNotFoundError:
        raise InputError(f"{path}: no such log", "pass the file that --log wrote") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error


def _line(line: bytes) -> LoggedItem | None:
    try:
        return msgspec.json.decode(line, type=LoggedItem)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


class FailureCount(msgspec.Struct, frozen=True):
    """How many items failed with one error code, and the first of them."""

    code: str
    exit_code: int
    count: int
    path: str
    error: str
    hint: str


class ArchiveRun(msgspec.Struct, frozen=True):
    """What became of all items of an archive run.

    ``counts`` has the number of items by status. ``resumed`` is how many of them were done by an earlier run already,
    whose log was resumed. ``red`` is how many failed their gate, whether they were kept or not. ``failures`` are
    grouped by error code, the most frequent first. ``exit_code`` is the highest of all items.
    """

    items: int
    exit_code: int
    seconds: float
    counts: dict[str, int]
    resumed: int = 0
    red: int = 0
    failures: tuple[FailureCount, ...] = ()
    notes: tuple[str, ...] = ()


class ArchiveTally:
    """Counts items as they are done."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.red = self.exit_code = 0
        self._failures: dict[str, FailureCount] = {}

    @property
    def done(self) -> int:
        """How many items are counted."""
        return self.counts.total()

    @property
    def failed(self) -> int:
        """How many items could not be read or stored."""
        return self.counts["failed"]

    def add(self, lines: Iterable[LoggedItem]) -> None:
        """Count items."""
        for each in lines:
            self.counts[each.status] += 1
            self.exit_code = max(self.exit_code, each.exit_code)
            self.red += each.status in {"refused", "candidate"}
            if each.code:
                before = self._failures.get(each.code)
                first = before or FailureCount(each.code, each.exit_code, 0, each.path, each.error, each.hint)
                count = msgspec.structs.replace(first, count=first.count + 1)
                self._failures[each.code] = count

    def failures(self) -> Iterator[FailureCount]:
        """The errors, the most frequent first."""
        yield from sorted(self._failures.values(), key=lambda each: (-each.count, each.code))


STATUSES: Final[tuple[Status | str, ...]] = (
    "stored",
    "written",
    "known",
    "replaced",
    "candidate",
    "refused",
    "failed",
)
"""The order in which a summary lists them."""
