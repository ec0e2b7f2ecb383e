"""Witnesses of what a comparison found: a program for each break, compiled with both sides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import msgspec

from abistore.errors import SnapshotNotFound, UsageError
from abistore.extract.reader import HeaderOptions
from abistore.model.findings import Side
from abistore.model.snapshot import Snapshot
from abistore.model.witness import Witness
from abistore.report.model import Report, ReportedFinding
from abistore.service.database import Database
from abistore.service.judging import judge
from abistore.service.snapshots import OperandPair, Selection, is_reference, operands
from abistore.witness.making import Maker
from abistore.witness.query import ReleaseSources

if TYPE_CHECKING:
    from abistore.service.ruling import Ruling

HEADERS: Final = (".h", ".hh", ".hpp", ".hxx", ".h++", ".H")

BREAKS: Final = ("breaking", "api_break")
"""The impacts of findings that get a witness."""

MOST: Final = 50
"""So many findings get a witness where nobody asks for single ones."""


class Witnesses(msgspec.Struct, frozen=True):
    """The witnesses of a comparison, in the order of its findings; ``left_out`` counts breaks beyond the limit."""

    old: Side
    new: Side
    verdict: str
    witnesses: tuple[Witness, ...]
    left_out: int = 0

    def count(self, state: str) -> int:
        """How many witnesses have a state."""
        return sum(each.state == state for each in self.witnesses)


def witnesses(
    old: str | Path,
    new: str | Path,
    *,
    findings: Sequence[str] = (),
    database: Database = None,
    selection: Selection | None = None,
    by: Ruling | None = None,
    most: int = MOST,
) -> Witnesses:
    """A witness for each breaking and source-breaking finding between two operands.

    ``findings`` names single ones, by identity, its first digits, or kind. Declarations come from the headers that the
    selection has of files, else from what the snapshots tell. Nothing of the libraries is started.

    Raises :class:`UsageError` for packages with several libraries, and :class:`SnapshotNotFound` for a finding that the
    comparison does not have.
    """
    asked = selection or Selection()
    with operands(database, asked) as reader:
        pair = reader.pair(old, new)
    if not isinstance(pair, OperandPair):
        raise UsageError("a witness is about one library, and these are several", "choose one with --only or --target")
    report = judge(pair.old.snapshot, pair.new.snapshot, by)
    chosen = list(_chosen(report, findings))
    with TemporaryDirectory(prefix="abistore-witness-") as folder:
        first = _release(pair.old.snapshot, old, asked, asked.old_headers)
        second = _release(pair.new.snapshot, new, asked, asked.new_headers)
        maker = Maker(first, second, Path(folder))
        made = tuple(map(maker.witness, chosen[:most]))
    return Witnesses(report.old, report.new, report.verdict, made, max(0, len(chosen) - most))


def _chosen(report: Report, wanted: Sequence[str]) -> Iterator[ReportedFinding]:
    if not wanted:
        yield from (each for each in report.changes if each.impact in BREAKS)
        return
    for word in wanted:
        found = [each for each in report.changes if each.id.startswith(word) or word in (each.kind, each.symbol)]
        if not found:
            raise SnapshotNotFound(f"this comparison has no finding {word}", "see `abistore compare`, or `verdict -v`")
        yield from found


def _release(
    snapshot: Snapshot, operand: str | Path, selection: Selection, own: HeaderOptions | None
) -> ReleaseSources:
    if is_reference(operand):
        return ReleaseSources(snapshot)
    options = own or selection.options.headers
    path = Path(operand)
    file = path if path.is_file() and is_elf(path) else None
    found, flags = headers_of(options) if options else ({}, ())
    return ReleaseSources(snapshot, file, found, flags)


def is_elf(path: Path) -> bool:
    """Whether a file is one that programs are linked with."""
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def headers_of(options: HeaderOptions) -> tuple[dict[str, str], tuple[str, ...]]:
    """The text of each public header by the name that programs include it by, and the compiler's flags."""
    texts: dict[str, str] = {}
    folders: list[Path] = []
    for path in options.headers:
        root = path if path.is_dir() else path.parent
        folders.append(root)
        for file in sorted(_files(path)):
            name = file.relative_to(root).as_posix()
            if not any(fnmatch(name, each) for each in options.private):
                texts[name] = file.read_text(errors="replace")
    flags = [f"-I{each.absolute()}" for each in dict.fromkeys((*folders, *options.include_dirs))]
    flags += [f"-idirafter{each.absolute()}" for each in options.named_dirs]
    flags += [f"-D{each}" for each in options.defines]
    flags += [f"-std={options.standard}"] if options.standard else []
    return texts, tuple(flags)


def _files(path: Path) -> Iterable[Path]:
    return (each for each in path.rglob("*") if each.suffix in HEADERS) if path.is_dir() else (path,)
