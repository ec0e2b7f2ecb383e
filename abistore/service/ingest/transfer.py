"""Exporting stored snapshots as JSON, and importing JSON snapshots."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from abistore.errors import InputError, UsageError
from abistore.model.history import DEFAULT_PROFILE, Progress, Release
from abistore.model.snapshot import Exported
from abistore.service.database import Database, line_target, using
from abistore.service.ingest.ingesting import files_of, ingest
from abistore.service.ingest.results import AS_IT_SAYS, Ingested, IngestPlan
from abistore.service.ingest.said import exported_said
from abistore.service.snapshots import InputFile, is_dump, is_json, written

if TYPE_CHECKING:
    from abistore.store.store import Store

STANDARD_INPUT = Path("-")


class ExportedRelease(msgspec.Struct, frozen=True):
    """A stored release, and the bytes of the JSON file that holds its snapshot."""

    release: Release
    json: bytes


def export(
    reference: str,
    *,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
) -> ExportedRelease:
    """A stored release as a JSON snapshot, with the facts recorded about it. Raises :class:`SnapshotNotFound`."""
    with using(database) as store:
        release = store.resolve(reference, target=line_target(store, target), profile=profile)
        snapshot = msgspec.structs.replace(store.load(release), exported=_exported(store, release))
        return ExportedRelease(release, written(snapshot))


def _exported(store: Store, release: Release) -> Exported | None:
    """The facts recorded about a release; ``None`` if there are none, so that the export equals what `dump` writes."""
    profile = release.line.profile if release.line.profile != DEFAULT_PROFILE else None
    of_findings = exported_said(store, release.line.library)
    said = Exported(profile, release.released, release.revision, release.url, release.tags, *of_findings)
    return said if said != Exported() else None


def import_(
    paths: str | Path | Sequence[str | Path],
    plan: IngestPlan = AS_IT_SAYS,
    *,
    versions: Path | None = None,
    database: Database = None,
    progress: Progress | None = None,
) -> tuple[Ingested, ...]:
    """Store JSON snapshots as releases, under the version that each carries unless ``plan`` gives one.

    ``-`` stands for standard input. Dumps of other tools, and folders of dumps, are stored under the versions that the
    list ``versions`` gives, or the dumps, or their names; oldest first.
    """
    paths = files_of(paths)
    if versions is not None or any(map(_holds_dumps, paths)):
        from abistore.service.ingest.dumps import import_dumps  # few calls need it

        if STANDARD_INPUT in paths:
            raise UsageError("- cannot be imported beside dumps", "import it by itself")
        return import_dumps(paths, plan, versions=versions, database=database, progress=progress)
    with _files(paths, plan.options.max_bytes) as files:
        results = _import(tuple(files), plan, database, progress)
    return tuple(
        msgspec.structs.replace(one, path=str(path), error=one.error.replace(str(file), str(path)))
        for path, file, one in zip(paths, files, results, strict=True)
    )


def _holds_dumps(path: Path) -> bool:
    """Whether a path is a folder, or another tool's dump."""
    if path.is_dir():
        return True
    try:
        with InputFile(path) as file:
            return is_dump(file) and not is_json(file)
    except InputError:
        return False


@contextmanager
def _files(paths: Sequence[Path], most: int) -> Iterator[list[Path]]:
    """The files to read; for ``-`` a temporary copy of standard input, which is read once, up to ``most`` bytes."""
    if STANDARD_INPUT not in paths:
        yield list(paths)
        return
    with tempfile.TemporaryDirectory(prefix="abistore-") as folder:
        copy = Path(folder) / "standard-input.json"
        with copy.open("wb") as file:
            left = most + 1  # with one byte more it is refused, as any file that is too large
            while left and (piece := sys.stdin.buffer.read(min(left, 1 << 20))):
                left -= file.write(piece)
        yield [copy if path == STANDARD_INPUT else path for path in paths]


def _import(
    paths: Sequence[Path], plan: IngestPlan, database: Database, progress: Progress | None
) -> tuple[Ingested, ...]:
    refused = tuple(refusal for path in paths if (refusal := _refusal(path)))
    accepted = [path for path in paths if str(path) not in {refusal.path for refusal in refused}]
    stored = ingest(accepted, msgspec.structs.replace(plan, version_from=None), database=database, progress=progress)
    by_path = {result.path: result for result in (*refused, *stored)}
    return tuple(by_path[str(path)] for path in paths)


def _refusal(path: Path) -> Ingested | None:
    try:
        with InputFile(path) as file:
            if is_json(file):
                return None
        error = InputError(f"{path}: not a JSON snapshot", "`abistore ingest` stores libraries")
    except InputError as failure:
        error = failure
    return Ingested(str(path), "failed", error.exit_code, code=error.code, error=error.message, hint=error.hint)
