"""Importing and exporting: dumps, JSON snapshots, bundles, and other stores."""

from __future__ import annotations

import csv
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from abistore.errors import AbistoreError, BundleError, InputError, SnapshotNotFound, UsageError
from abistore.extract.bounded import read_bounded
from abistore.extract.files import InputFile
from abistore.limits import limits_for
from abistore.model.format_gaps import VARIANT, unrecorded_by
from abistore.model.history import DEFAULT_PROFILE, Merged, Progress, Release, Side
from abistore.model.labels import Given, check_not_blank
from abistore.model.snapshot import ANY_MACHINE, Exported, Snapshot, Target
from abistore.model.structure import without_cycle_collection
from abistore.model.versions import check_name, position
from abistore.service.database import Database, OpenStore, line_target, locate, user, using
from abistore.service.ingest import files_of, ingest
from abistore.service.ingest_gates import AS_IT_SAYS, Ingested, IngestPlan
from abistore.service.package_ingest import exported_said
from abistore.service.snapshots import captured, is_dump, is_json, written
from abistore.urls import masked

if TYPE_CHECKING:
    from abistore.store.merging import MergeWish
    from abistore.store.store import Store

MOST_BYTES = 16 << 20
HEADER = ["file", "version"]


def read_versions(path: Path) -> dict[str, str]:
    """The version of each file by its name.

    CSV has a row for each: ``libfoo-old.abi,1.2``, below an optional ``file,version``. TOML has a key for each:
    ``"libfoo-old.abi" = "1.2"``, at the top or in ``[versions]``. Raises :class:`UsageError`, :class:`InputError`.
    """
    with InputFile(path) as file:
        file.check_size(MOST_BYTES)
        text = file.read_at(0, file.size).decode("utf-8-sig", "replace")
    found = _toml(path, text) if path.suffix == ".toml" else _csv(path, text)
    return {Path(name).name: version for name, version in found.items()}


def _toml(path: Path, text: str) -> dict[str, str]:
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: not TOML: {error}", 'write "FILE" = "VERSION" in each line') from error
    table = document.get("versions", document)
    if not isinstance(table, dict) or not all(isinstance(version, str) for version in table.values()):
        raise UsageError(f"{path}: a version is not text", 'write "FILE" = "VERSION" in each line')
    return table


def _csv(path: Path, text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    try:
        for number, row in enumerate(csv.reader(text.splitlines()), 1):
            cells = [cell.strip() for cell in row]
            if not any(cells) or cells[0].startswith("#") or (number == 1 and cells == HEADER):
                continue
            if len(cells) != 2 or not all(cells):
                raise UsageError(f"{path}: line {number} is not FILE,VERSION", "write a file and its version in each")
            found[cells[0]] = cells[1]
    except csv.Error as error:
        raise UsageError(f"{path}: not CSV: {error}", "write FILE,VERSION in each line") from error
    return found


ENDINGS = re.compile(r"(?:\.(?:gz|xz|tar|tgz|abi|xml|dump|pl|json|symbols(?:\.[a-z0-9-]+)?))+$")
ARCHITECTURE = re.compile(r"_(?:amd64|i386|arm64|armhf|armel|ppc64el|s390x|riscv64|mips\w*|x86_64|aarch64)$")
IN_NAME = (re.compile(r"\.so\.(\d[\w.+~-]*)$"), re.compile(r"[-_]v?(\d[\w.+~]*(?:-\d[\w.+~]*)?)$"))


class DumpedRelease(NamedTuple):
    """One release of a dump: the file that it is from, and the JSON snapshot to store, on disk so that memory is free.

    ``derived`` ones a symbols file names besides its own. ``tells_target``: the dump says for which platform it is.
    """

    path: Path
    kept: Path
    library: str
    target: Target
    version: str
    derived: bool
    weight: tuple[int, int]
    tells_target: bool


def import_dumps(
    paths: Sequence[Path],
    plan: IngestPlan,
    *,
    versions: Path | None = None,
    database: Database = None,
    progress: Progress | None = None,
) -> tuple[Ingested, ...]:
    """Store each release of each dump, one in memory at a time. If a file fails, the others are stored.

    Raises :class:`UsageError` where a folder holds no dump, or ``versions`` names a file that is not imported.
    """
    files = list(_files(paths))
    listed = read_versions(versions) if versions else {}
    if unknown := sorted(listed.keys() - {path.name for path in files}):
        raise UsageError(f"{versions}: {unknown[0]} is not among the files to import", "give the folder that holds it")
    failed: list[Ingested] = []
    with TemporaryDirectory(prefix="abistore-") as folder, _opened(database) as store:
        read = _read(files, listed, _Spool(Path(folder)), plan, failed)
        found = list(_settled(read, plan, store, failed))
        stored = []
        for number, release in enumerate(found):
            if progress:
                progress("import", number / len(found))
            stored.append(_stored(release, plan, store))
    return (*failed, *(result for result in stored if result is not None))


@contextmanager
def _opened(database: Database) -> Iterator[Database]:
    """The store, opened once for all releases; an old one is upgraded, as for any writer."""
    if isinstance(database, OpenStore):
        yield database
        return
    with using(database, write=True, create=True):
        pass
    with OpenStore(locate(database)) as opened:
        yield opened


class _Spool:
    """Snapshots on disk until all dumps are read: only then is it known which are stored, and in which order."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._written = folder, 0

    def keep(self, snapshot: Snapshot) -> Path:
        """Write a snapshot; its file."""
        self._written += 1
        path = self._folder / f"{self._written}.json"
        path.write_bytes(written(snapshot))
        return path


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
    files: Sequence[Path], listed: Mapping[str, str], spool: _Spool, plan: IngestPlan, failed: list[Ingested]
) -> list[DumpedRelease]:
    """The releases of all files; a file that cannot be read is told in ``failed``."""
    found: list[DumpedRelease] = []
    for path in files:
        version = listed.get(path.name) or plan.version
        try:
            with without_cycle_collection(), InputFile(path) as file:
                if not is_dump(file):
                    raise InputError(f"{path}: not a JSON snapshot, nor a dump", "`abistore ingest` stores libraries")
                found += _releases(file, version, spool, plan)
        except AbistoreError as error:
            failed.append(_failure(path, error))
    return found


def _releases(file: InputFile, version: str | None, spool: _Spool, plan: IngestPlan) -> Iterator[DumpedRelease]:
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
        tells, named_so = _tells_target(snapshot), msgspec.structs.replace(snapshot, version=own)
        yield DumpedRelease(
            path=file.path,
            kept=file.path if is_json(file) and tells else spool.keep(named_so),
            library=snapshot.library,
            target=snapshot.target,
            version=own,
            derived=snapshot.evidence_of("symbol").reason == "minimal-versions",
            weight=_weight(snapshot),
            tells_target=tells,
        )


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
        key = (plan.library or release.library, str(release.target), release.version)
        if key not in best or release.weight > best[key].weight:
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
        if release.tells_target:
            known.setdefault(release.library, set()).add(release.target)
    told: set[Path] = set()
    for release in found:
        if release.tells_target:
            yield release
            continue
        others = known.get(release.library) or _stored_targets(release.library, database)
        targets = {each for each in others if release.target.fits(each, variants=False)}
        if release.target.machine != ANY_MACHINE and (len(targets) != 1 or release.target in others):
            yield release
        elif len(targets) == 1:
            yield release._replace(target=next(iter(targets)))
        elif release.path not in told:
            told.add(release.path)
            error = UsageError(
                f"{release.path}: does not record its platform", "pass --target, such as --target x86_64"
            )
            failed.append(_failure(release.path, error))


def _tells_target(snapshot: Snapshot) -> bool:
    """Whether an input says for which platform it is, and which ABI of its machine."""
    return snapshot.target.machine != ANY_MACHINE and VARIANT not in unrecorded_by(snapshot.evidence_of("symbol"))


def _stored_targets(library: str, database: Database) -> set[Target]:
    from abistore.extract.dumps.gathering import target_called

    with using(database, write=True, create=True) as store:
        spelled = {key.target for key in store.lines() if key.library == library}
    return {target for each in spelled if (target := target_called(each)) is not None}


def _stored(release: DumpedRelease, plan: IngestPlan, database: Database) -> Ingested | None:
    """What became of one release; ``None`` for one that only a symbols file names, where another is stored already."""
    if release.kept != release.path:
        _put_target(release.kept, release.target)
    one = msgspec.structs.replace(
        plan, version=release.version, version_from=None, target=None, options=msgspec.structs.replace(plan.options)
    )
    (result,) = ingest([release.kept], one, database=database)
    if release.kept != release.path:
        release.kept.unlink()
    if result.code == "version-taken" and release.derived:
        return None
    error = result.error.replace(str(release.kept), str(release.path))
    return msgspec.structs.replace(result, path=str(release.path), error=error)


def _put_target(path: Path, target: Target) -> None:
    """Say in a snapshot that was kept for which platform it is, where others of its library told that."""
    with InputFile(path) as file:
        snapshot = captured(file)
    if snapshot.target != target:
        path.write_bytes(written(msgspec.structs.replace(snapshot, target=target)))


def _failure(path: Path, error: AbistoreError) -> Ingested:
    return Ingested(str(path), "failed", error.exit_code, code=error.code, error=error.message, hint=error.hint)


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
        if STANDARD_INPUT in paths:
            raise UsageError("- cannot be imported beside dumps", "import it by itself")
        return import_dumps(paths, plan, versions=versions, database=database, progress=progress)
    with _snapshot_files(paths, plan.options.max_bytes) as files:
        results = _import(tuple(files), plan, database, progress)
    return tuple(
        msgspec.structs.replace(one, path=str(path), error=one.error.replace(str(file), str(path)))
        for path, file, one in zip(paths, files, results, strict=True)
    )


def _holds_dumps(path: Path) -> bool:
    if path.is_dir():
        return True
    try:
        with InputFile(path) as file:
            return is_dump(file) and not is_json(file)
    except InputError:
        return False


@contextmanager
def _snapshot_files(paths: Sequence[Path], most: int) -> Iterator[list[Path]]:
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


UNPACKED = 16
"""How many times its size a bundle unpacks to, as far as limits of time and memory know; real ones ten times."""


class Bundle(msgspec.Struct, frozen=True):
    """A bundle: its bytes, and what of the store is in it: all, or these libraries and releases."""

    data: bytes
    whole: bool
    libraries: tuple[str, ...] = ()
    releases: tuple[Release, ...] = ()


class MergePlan(Given, frozen=True, kw_only=True):
    """How to bring one store into another: which side wins where both say something else, or only tell what came."""

    prefer: Side | None = None
    dry_run: bool = False
    actor: str = ""


def export_bundle(
    what: Sequence[str] = (),
    *,
    channel: str | None = None,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
) -> Bundle:
    """The store as one file, or of it the libraries and releases ``what``, with all that was said and judged of them.

    ``channel`` adds the releases at which this baseline stands, of every line. Raises :class:`SnapshotNotFound`.
    """
    from abistore.store.gathering import BundleSelection

    check_not_blank("the profile", profile)
    with using(database) as store, store.reading():
        known = {line.library for line in store.lines()}
        libraries = tuple(sorted({word for word in what if word in known}))
        own = line_target(store, target)
        named = [store.resolve(word, target=own, profile=profile) for word in what if word not in known]
        standing = _standing(store, channel) if channel is not None else []
        releases = tuple(sorted({one.digest + str(one.line): one for one in (*named, *standing)}.items()))
        chosen = tuple(release for _, release in releases)
        data = store.bundle(BundleSelection(libraries, chosen))
    return Bundle(data, not libraries and not chosen, libraries, chosen)


def _standing(store: Store, channel: str) -> list[Release]:
    check_name("channel", channel)
    moves = [move for move in store.baselines() if move.channel == channel]
    if not moves:
        raise SnapshotNotFound(f"no baseline is called {channel}", "`abistore db baseline list` shows what there is")
    return [
        store.resolve(f"{move.line.library}@baseline:{channel}", target=move.line.target, profile=move.line.profile)
        for move in moves
    ]


def db_merge(other: str | Path, plan: MergePlan | None = None, *, database: Database = None) -> Merged:
    """Bring what a bundle, or another store, holds into this one, which is created where there is none.

    Raises :class:`VersionTaken` where both sides say something else and the plan prefers none, :class:`BundleError`
    where a bundle is damaged. The store then stays as it was.
    """
    from abistore.store.merging import MergeWish

    plan = plan or MergePlan()
    wish = MergeWish(masked(str(other)), plan.prefer, plan.dry_run, plan.actor or user())
    if is_bundle(other):
        return _merge_file(Path(other), wish, database)
    if str(other) == locate(database):
        raise UsageError(f"{masked(str(other))}: a store cannot be merged into itself", "name another store")
    with using(other) as source, using(database, write=True, create=True) as store:
        return store.merge_store(source, wish)


def is_bundle(path: str | Path) -> bool:
    """Whether a path is that of a bundle; one that cannot be read is none."""
    from abistore.store import bundle_files

    try:
        if not Path(path).is_file():
            return False
        with Path(path).open("rb") as opened:
            return bundle_files.is_bundle(opened.read(256))
    except (OSError, ValueError):
        return False


def import_bundles(paths: Sequence[Path], plan: MergePlan, *, database: Database = None) -> tuple[Merged, ...]:
    """Bring bundles into the store, one by one. Raises :class:`UsageError` where another file is among them."""
    for path in paths:
        if not is_bundle(path):
            raise UsageError(
                f"{path}: not a bundle, and bundles are imported by themselves", "import it in another call"
            )
    return tuple(db_merge(path, plan, database=database) for path in paths)


def _merge_file(path: Path, wish: MergeWish, database: Database) -> Merged:
    from abistore.store import bundle_files

    try:
        limits = limits_for(UNPACKED * path.stat().st_size, f"importing {path}")
        with path.open("rb") as opened, limits:
            bundle_files.check(opened, str(path))
            with using(database, write=True, create=True) as store:
                return store.merge(bundle_files.read(opened, str(path)), wish)
    except OSError as error:
        raise BundleError(f"{path}: cannot be read ({error.strerror})", "name a file that can be read") from error
