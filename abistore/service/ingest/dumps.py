"""Importing dumps: of files and folders, under versions from a list, the dumps or file names, oldest first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec

from abistore.errors import AbistoreError, InputError, UsageError
from abistore.extract.bounded import read_bounded
from abistore.model.history import Progress
from abistore.model.labels.versions import position
from abistore.model.recorded.unrecorded import VARIANT, unrecorded_by
from abistore.model.snapshot import ANY_MACHINE, Snapshot, Target
from abistore.service.database import Database, using
from abistore.service.ingest.ingesting import ingest
from abistore.service.ingest.results import Ingested, IngestPlan
from abistore.service.ingest.version_lists import read_versions
from abistore.service.snapshots import InputFile, is_dump, written

ENDINGS = re.compile(r"(?:\.(?:gz|xz|tar|tgz|abi|xml|dump|pl|json|symbols(?:\.[a-z0-9-]+)?))+$")
ARCHITECTURE = re.compile(r"_(?:amd64|i386|arm64|armhf|armel|ppc64el|s390x|riscv64|mips\w*|x86_64|aarch64)$")
IN_NAME = (re.compile(r"\.so\.(\d[\w.+~-]*)$"), re.compile(r"[-_]v?(\d[\w.+~]*(?:-\d[\w.+~]*)?)$"))


class DumpedRelease(NamedTuple):
    """One release of a dump, and the file that it is from. ``derived`` ones a symbols file names besides its own."""

    path: Path
    snapshot: Snapshot
    version: str
    derived: bool


def import_dumps(
    paths: Sequence[Path],
    plan: IngestPlan,
    *,
    versions: Path | None = None,
    database: Database = None,
    progress: Progress | None = None,
) -> tuple[Ingested, ...]:
    """Store each release of each dump. If a file fails, the others are stored.

    Raises :class:`UsageError` where a folder holds no dump, or ``versions`` names a file that is not imported.
    """
    files = list(_files(paths))
    listed = read_versions(versions) if versions else {}
    if unknown := sorted(listed.keys() - {path.name for path in files}):
        raise UsageError(f"{versions}: {unknown[0]} is not among the files to import", "give the folder that holds it")
    failed: list[Ingested] = []
    with TemporaryDirectory(prefix="abistore-") as folder:
        found = list(_settled(_read(files, listed, plan, failed), plan, database, failed))
        stored = [
            result
            for number, release in enumerate(found)
            if (result := _stored(Path(folder) / f"{number}.json", release, plan, database)) is not None
        ]
        if progress:
            progress("import", 1.0)
    return (*failed, *stored)


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        within = sorted(each for each in path.iterdir() if each.is_file() and not each.name.startswith("."))
        dumps = [each for each in within if _is_dump(each)]
        if not dumps:
            raise UsageError(
                f"{path}: holds no dump", "import knows JSON snapshots, ABIXML, ABICC dumps, symbols files"
            )
        yield from dumps


def _is_dump(path: Path) -> bool:
    try:
        with InputFile(path) as file:
            return is_dump(file)
    except InputError:
        return False


def _read(
    files: Sequence[Path], listed: Mapping[str, str], plan: IngestPlan, failed: list[Ingested]
) -> list[DumpedRelease]:
    """The releases of all files, each written down; a file that cannot be read is told in ``failed``."""
    found: list[DumpedRelease] = []
    for path in files:
        version = listed.get(path.name) or plan.version
        try:
            with InputFile(path) as file:
                if not is_dump(file):
                    raise InputError(f"{path}: not a JSON snapshot, nor a dump", "`abistore ingest` stores libraries")
                found += _releases(file, version, plan)
        except AbistoreError as error:
            failed.append(_failure(path, error))
    return found


def _releases(file: InputFile, version: str | None, plan: IngestPlan) -> Iterator[DumpedRelease]:
    named = version_in(file.path.name)
    options = msgspec.structs.replace(plan.options, version=None, platform=plan.target, every_release=True)
    snapshots = read_bounded(file, options)
    symbols = len(snapshots) > 1 or any(each.provenance.reader.startswith("symbols file") for each in snapshots)
    if symbols and (version or named):
        snapshots = read_bounded(file, msgspec.structs.replace(options, version=version or named))
    for snapshot in snapshots:
        own = snapshot.version if symbols else version or snapshot.version or named
        if not own:
            raise UsageError(f"{file.path}: no version given", "pass --version or --versions, or name the file by it")
        yield DumpedRelease(file.path, snapshot, own, snapshot.evidence_of("symbol").reason == "minimal-versions")


def version_in(name: str) -> str | None:
    """The version in the name of a dump: ``1.2.3`` of ``libfoo-1.2.3.abi`` and of ``libfoo1_1.2.3-4_amd64.symbols``."""
    stem = ARCHITECTURE.sub("", ENDINGS.sub("", name))
    return next((match[1] for pattern in IN_NAME if (match := pattern.search(stem))), None)


def _settled(
    found: Sequence[DumpedRelease], plan: IngestPlan, database: Database, failed: list[Ingested]
) -> Iterator[DumpedRelease]:
    """One dump of each release, the one that says most, each with its platform; oldest first."""
    placed = list(_placed(found, database, failed))
    best: dict[tuple[str, str, str], DumpedRelease] = {}
    for release in placed:
        key = (plan.library or release.snapshot.library, str(release.snapshot.target), release.version)
        if key not in best or _weight(release.snapshot) > _weight(best[key].snapshot):
            best[key] = release
    order = sorted(enumerate(best.values()), key=lambda numbered: position(numbered[1].version, numbered[0]))
    return (release for _, release in order)


def _weight(snapshot: Snapshot) -> tuple[int, int]:
    """How much a snapshot tells: by the facets that it has, then by the facts that it lacks."""
    lacking = sum(len(unrecorded_by(each)) for each in snapshot.evidence)
    full = sum(each.state == "full" for each in snapshot.evidence)
    return len(snapshot.entries) + full, -lacking


def _placed(found: Sequence[DumpedRelease], database: Database, failed: list[Ingested]) -> Iterator[DumpedRelease]:
    """The releases with the platform of the library's others, where an input does not tell its own."""
    known: dict[str, set[Target]] = {}
    for release in found:
        if _tells_target(release.snapshot):
            known.setdefault(release.snapshot.library, set()).add(release.snapshot.target)
    told: set[Path] = set()
    for release in found:
        snapshot = release.snapshot
        if _tells_target(snapshot):
            yield release
            continue
        others = known.get(snapshot.library) or _stored_targets(snapshot.library, database)
        targets = {each for each in others if snapshot.target.fits(each, variants=False)}
        if snapshot.target.machine != ANY_MACHINE and (len(targets) != 1 or snapshot.target in others):
            yield release
        elif len(targets) == 1:
            yield release._replace(snapshot=msgspec.structs.replace(snapshot, target=next(iter(targets))))
        elif release.path not in told:
            told.add(release.path)
            error = UsageError(
                f"{release.path}: does not tell for which platform it is", "pass --target, such as --target x86_64"
            )
            failed.append(_failure(release.path, error))


def _tells_target(snapshot: Snapshot) -> bool:
    """Whether an input says for which platform it is, and which ABI of its machine."""
    return snapshot.target.machine != ANY_MACHINE and VARIANT not in unrecorded_by(snapshot.evidence_of("symbol"))


def _stored_targets(library: str, database: Database) -> set[Target]:
    from abistore.extract.foreign.targets import target_called

    with using(database, write=True, create=True) as store:
        spelled = {key.target for key in store.lines() if key.library == library}
    return {target for each in spelled if (target := target_called(each)) is not None}


def _stored(path: Path, release: DumpedRelease, plan: IngestPlan, database: Database) -> Ingested | None:
    """What became of one release; ``None`` for one that only a symbols file names, where another is stored already."""
    path.write_bytes(written(msgspec.structs.replace(release.snapshot, version=release.version)))
    one = msgspec.structs.replace(
        plan, version=release.version, version_from=None, target=None, options=msgspec.structs.replace(plan.options)
    )
    (result,) = ingest([path], one, database=database)
    path.unlink()
    if result.code == "version-taken" and release.derived:
        return None
    return msgspec.structs.replace(
        result, path=str(release.path), error=result.error.replace(str(path), str(release.path))
    )


def _failure(path: Path, error: AbistoreError) -> Ingested:
    return Ingested(str(path), "failed", error.exit_code, code=error.code, error=error.message, hint=error.hint)
