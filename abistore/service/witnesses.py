"""Witnesses of what a comparison found: a program for each break, compiled with both sides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from abistore.errors import SnapshotNotFound, UsageError
from abistore.extract.elf.container import MAGIC
from abistore.extract.files import InputFile, open_input
from abistore.extract.headers.given import find_headers
from abistore.extract.headers.invocation import common_flags
from abistore.extract.reader import HeaderOptions
from abistore.model.findings import Side
from abistore.model.labels import check_not_blank
from abistore.model.snapshot import Snapshot
from abistore.model.words import counted
from abistore.report.model import Report, ReportedFinding, Witness
from abistore.service.binding import ruling_of_line
from abistore.service.database import Database
from abistore.service.judging import judge
from abistore.service.snapshots import OperandPair, Operands, Selection, is_reference, operands
from abistore.witness.making import Maker
from abistore.witness.query import ReleaseSources
from abistore.witness.running import Runner

if TYPE_CHECKING:
    from abistore.service.ruling import Ruling

MOST_SOURCE: Final = 16 << 20
"""Bytes of one header or source."""

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


class WitnessPlan(msgspec.Struct, frozen=True):
    """How programs are made. With ``run``, they are started, and so are the constructors of both libraries.

    ``snippet`` is the source of a program of the user's own, which is started with both releases. At most ``most``
    findings get a program where single ones are not named.
    """

    run: bool = False
    snippet: Path | None = None
    most: int = MOST


def witnesses(
    old: str | Path,
    new: str | Path,
    *,
    findings: Sequence[str] = (),
    database: Database = None,
    selection: Selection | None = None,
    by: Ruling | None = None,
    plan: WitnessPlan | None = None,
) -> Witnesses:
    """A witness for each breaking and source-breaking finding between two operands.

    ``findings`` names single ones, by identity, its first digits, or kind. Declarations come from the headers that the
    selection has of files, else from what the snapshots tell. Nothing of the libraries is started, unless the plan says
    so.

    Raises :class:`UsageError` for packages with several libraries, and for a snippet that is not to be started, and
    :class:`SnapshotNotFound` for a finding that the comparison does not have.
    """
    asked, planned = selection or Selection(), plan or WitnessPlan()
    if planned.snippet is not None and not planned.run:
        raise UsageError("a program of your own is started with both releases", "say so with --run")
    with operands(database, asked) as reader:
        pair = reader.pair(old, new)
        if not isinstance(pair, OperandPair):
            raise several()
        by = _ruling(reader, pair, by)
    report = judge(pair.old.snapshot, pair.new.snapshot, by)
    chosen = list(_chosen(report, findings))
    sides = both_sources(pair, (old, new), asked)
    shown = chosen if findings else chosen[: planned.most]
    made = tuple(_made(shown, sides, planned))
    return Witnesses(report.old, report.new, report.verdict, made, len(chosen) - len(shown))


def _ruling(reader: Operands, pair: OperandPair, by: Ruling | None) -> Ruling | None:
    """What a comparison is judged by: what is bound to the library of a stored side, else ``by``."""
    release = pair.old.release or pair.new.release
    return ruling_of_line(reader.store, release.line, (release,), by) if release else by


def several() -> UsageError:
    """The error of operands with more than one library."""
    return UsageError("a witness is about one library, and these are several", "choose one with --only or --target")


def with_stored_witnesses(report: Report, old: Snapshot, new: Snapshot) -> Report:
    """The report of two stored releases with a witness beside each of its breaks."""
    return with_witnesses(report, (ReleaseSources(old), ReleaseSources(new)))


def with_witnesses(report: Report, sides: tuple[ReleaseSources, ReleaseSources]) -> Report:
    """The report with a witness beside each of its breaks; a note says of how many breaks it has none."""
    chosen = list(_chosen(report, ()))
    made = {each.finding: each for each in _made(chosen[:MOST], sides, WitnessPlan())}
    changes = tuple(replace(each, witness=made[each.id]) if each.id in made else each for each in report.changes)
    left_out = len(chosen) - len(made)
    notes = (f"{counted(left_out, 'more break')} without a program: `abistore witness` shows single ones",)
    return replace(report, changes=changes, notes=(*report.notes, *(notes if left_out else ())))


def _made(
    findings: Iterable[ReportedFinding], sides: tuple[ReleaseSources, ReleaseSources], plan: WitnessPlan
) -> Iterator[Witness]:
    with TemporaryDirectory(prefix="abistore-witness-") as folder:
        maker, runner = Maker(*sides, Path(folder)), Runner(*sides, Path(folder))
        for each in findings:
            made = maker.witness(each)
            yield _run(runner, each, made) if plan.run else made
        if plan.snippet is not None:
            yield runner.snippet(plan.snippet.name, text_of(plan.snippet))


def _run(runner: Runner, finding: ReportedFinding, made: Witness) -> Witness:
    return runner.called(finding) or runner.started(made)


def _chosen(report: Report, wanted: Sequence[str]) -> Iterator[ReportedFinding]:
    if not wanted:
        yield from (each for each in report.changes if each.impact in BREAKS)
        return
    for word in wanted:
        check_not_blank("the finding", word)
        found = [each for each in report.changes if each.id.startswith(word) or word in (each.kind, each.symbol)]
        if not found:
            raise SnapshotNotFound(f"this comparison has no finding {word}", "see `abistore compare`, or `verdict -v`")
        yield from found


def both_sources(
    pair: OperandPair, named: tuple[str | Path, str | Path], selection: Selection
) -> tuple[ReleaseSources, ReleaseSources]:
    """What programs are made from on each side: the snapshot, and the file and its headers where they are at hand."""
    old, new = named
    return (
        _release(pair.old.snapshot, old, selection.old_headers or selection.options.headers),
        _release(pair.new.snapshot, new, selection.new_headers or selection.options.headers),
    )


def _release(snapshot: Snapshot, operand: str | Path, options: HeaderOptions | None) -> ReleaseSources:
    if is_reference(operand):
        return ReleaseSources(snapshot)
    path = Path(operand)
    file = path if path.is_file() and is_elf(path) else None
    found, flags = headers_of(options) if options else ({}, ())
    return ReleaseSources(snapshot, file, found, flags)


def is_elf(path: Path) -> bool:
    """Whether a file is one that programs are linked with."""
    with open_input(path) as file:
        return isinstance(file, InputFile) and file.head.startswith(MAGIC)


def headers_of(options: HeaderOptions) -> tuple[dict[str, str], tuple[str, ...]]:
    """The text of each public header by the name that programs include it by, and the compiler's flags."""
    given = find_headers(options)
    common = common_flags(options, given)
    texts = {each.name: text_of(each.path) for each in given.headers}
    folders = dict.fromkeys((*(each.path for each in given.folders), *options.include_dirs))
    flags = [*(f"-I{each.absolute()}" for each in folders), *common.folders, *common.macros]
    flags += [f"-idirafter{each.absolute()}" for each in options.named_dirs]
    flags += [f"-D{each}" for each in options.defines]
    flags += [f"-std={options.standard}"] if options.standard else []
    return texts, tuple(flags)


def text_of(path: Path) -> str:
    """The text of a source. Raises :class:`InputError`."""
    with InputFile(path) as file:
        file.check_size(MOST_SOURCE)
        return file.read_at(0, file.size).decode(errors="replace")
