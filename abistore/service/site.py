"""The site: the whole store as pages in a folder, of which a second build writes only what changed."""

from __future__ import annotations

import os
import pickle
import signal
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import cache, partial
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from abistore import __version__
from abistore.errors import AbistoreError, UsageError, named_error
from abistore.model.findings import ENGINE
from abistore.model.history import DEFAULT_CHANNEL, LineKey, Progress, Release
from abistore.model.labels import Given
from abistore.model.snapshot import Snapshot
from abistore.model.structure import with_cycle_collection
from abistore.process import Answered, Child, Ended, Failed, Say, answer_requests
from abistore.report import site
from abistore.report.history import History, HistoryRow
from abistore.report.model import Report
from abistore.report.since import Commit
from abistore.report.site import library_folder, release_file
from abistore.service.binding import ruling_of_line
from abistore.service.commits import Commits, CommitSource
from abistore.service.database import Database, OpenStore, locate, using
from abistore.service.declarations import with_deprecation_dates
from abistore.service.history import UNJUDGED, history
from abistore.service.inventory import declared
from abistore.service.judging import concluded, report
from abistore.service.kinds import by_kind, case, changes
from abistore.service.listing import channels_of
from abistore.service.matrix import ReleaseRange, matrix
from abistore.service.site_folder import SiteFolder, Tally, open_site
from abistore.service.verdicts import key_of

if TYPE_CHECKING:
    from abistore.service.ruling import Ruling
    from abistore.store.store import Store


class SitePlan(Given, frozen=True):
    """How a site is made: its title, and the baseline that releases are judged against beside the one before.

    With ``judge=False`` nothing is judged: a missing verdict is "not judged yet". ``site_url`` is where the site
    will be published, so that feeds have whole addresses; ``project_url`` is the page of the project, ``commit_url``
    that of a commit, with ``{revision}`` in its place; author and subject of a commit are looked up in ``repository``,
    a git checkout. ``built`` is told on the pages, which say how old they are.
    """

    title: str = "ABI history"
    channel: str = DEFAULT_CHANNEL
    judge: bool = True
    site_url: str = ""
    project_url: str = ""
    commit_url: str = ""
    repository: Path | None = None
    built: datetime | None = None

    @property
    def frame(self) -> site.Frame:
        """What stands around every page."""
        return site.Frame(self.title, self.site_url, self.project_url, self.commit_url)

    def check(self) -> None:
        """Raise :class:`UsageError` for an address that no page can lead to."""
        for name, said in (
            ("site-url", self.site_url),
            ("project-url", self.project_url),
            ("commit-url", self.commit_url),
        ):
            if said and not said.lower().startswith(("https://", "http://")):
                raise UsageError(f"--{name} {said}: not a web address", "begin it with https://")
        if self.commit_url and "{revision}" not in self.commit_url:
            raise UsageError(
                f"--commit-url {self.commit_url}: has no {{revision}}", "put it where the commit's hash is"
            )


USUAL = SitePlan()


class SiteSource(NamedTuple):
    """What the pages of all libraries are made from."""

    plan: SitePlan
    database: Database
    by: Ruling | None


def key(*facts: object) -> str:
    """The digest of the facts that a page shows, and of what renders them."""
    said = repr((*facts, renderer())).encode("utf-8", "surrogatepass")
    return blake2b(said, digest_size=12).hexdigest()


@cache
def renderer() -> str:
    """The digest of what renders pages: another one means that all pages are made anew."""
    digest = blake2b(f"{__version__} {ENGINE}".encode(), digest_size=12)
    for name, text in sorted(_sources(files("abistore.report"), "")):
        digest.update(name.encode() + b"\0" + text)
    digest.update(files("abistore.service").joinpath("kinds.json").read_bytes())
    return digest.hexdigest()


def _sources(folder: Traversable, where: str) -> Iterator[tuple[str, bytes]]:
    for each in folder.iterdir():
        if each.is_dir():
            yield from _sources(each, f"{where}{each.name}/")
        elif each.name.endswith((".py", ".html", ".css", ".js", ".xml", ".svg")):
            yield f"{where}{each.name}", each.read_bytes()


def cursors(store: Store, source: SiteSource) -> dict[str, str]:
    """What the pages of each library are made of, as a digest: rows of the store are summed up, and none is judged."""
    plan, _, by = source
    given_by = (by.key, by.policy.file, by.suppressions.files) if by else ()
    facts: dict[str, list[object]] = defaultdict(list)
    with store.reading():
        lines = store.line_states()
        given = {} if plan.judge else store.verdict_states()  # what is missing will be judged, with the same result
        for line in lines:
            facts[line.key.library].append((line, given.get(line.key)))
        for approval in store.approvals():
            facts[approval.library].append(approval)
            if approval.until.startswith("date:"):
                facts[approval.library].append(datetime.now(UTC).date())
        for review in store.reviews():
            facts[review.library].append(review)
        common = (plan, given_by, store.consumers_state(), store.rules())
    shown = {line.key.library for line in lines if line.releases}
    return {library: key(common, told) for library, told in facts.items() if library in shown}


class Reports:
    """Reports of stored verdicts; what could not be stored is judged again."""

    def __init__(self, store: Store, by: Ruling | None) -> None:
        self._store = store
        self._by = by
        self._walk = store.walk()
        self._last: tuple[Release, Snapshot] | None = None

    def key(self, previous: Release | None, row: HistoryRow) -> object:
        """The ruling as a key: what a report depends on beside the releases and the engine."""
        return key_of(self._by, previous, row.release) if previous else None

    def of(self, previous: Release, row: HistoryRow) -> Report:
        """The report about a release and the one before it."""
        before, after = self._at(previous), self._at(row.release)
        given = self._store.find_verdict(previous, row.release, key_of(self._by, previous, row.release), str(ENGINE))
        found = concluded(before, after, self._by) if given is None else (given.comparison, given.churn)
        return with_deprecation_dates(self._store, report(*found, (before, after)), previous)

    def _at(self, release: Release) -> Snapshot:
        """A release's snapshot; the one asked for last is at hand."""
        if self._last is None or self._last[0] != release:
            self._last = release, self._walk.step(release).snapshot
        return self._last[1]


LIBRARIES = "libraries"
PAIRED = 12
"""So many of the latest releases of a line are told which can replace which: all their pairs are judged."""


class Made(NamedTuple):
    """A library of the site, and what search finds of it."""

    card: site.LibraryCard
    found: tuple[site.Searched, ...]
    entries: tuple[site.FeedEntry, ...]


class LibraryPages:
    """Writes the pages of libraries, one library after the other."""

    def __init__(self, store: Store, source: SiteSource) -> None:
        self._store = store
        self._plan, self._database, self._by = source

    def write(self, name: str, folder: SiteFolder, cursor: str = "") -> Made:
        """Write the pages of one library, of which ``cursor`` is the digest of what they are made of."""
        histories = history(
            name, channel=self._plan.channel, database=self._database, by=self._by, judge=self._plan.judge
        )
        commits = self._commits(histories)
        channels = {str(one.line): _standing(channels_of(self._store, one.line)) for one in histories}
        files = [release_file(row.release.line, row.release.version) for one in histories for row in one.rows]
        several = [one for one in histories if len(one.rows) > 1]
        badges = site.badges(histories)
        folder.plan(("index.html", "names.js", "feed.xml", *badges, *(["matrix.html"] if several else []), *files))
        lines = [(one, channels[str(one.line)]) for one in histories]
        names = [found for each in lines for found in self._line(*each, commits, folder)]
        whole = key(self._plan, histories, channels)
        folder.put("index.html", whole, lambda: site.library(self._plan.frame, histories, channels))
        folder.put("names.js", key(names, histories), lambda: self._names(names, histories))
        where = f"{LIBRARIES}/{folder.path.name}/"
        feed = site.feed(self._plan.frame, f"{name}: ABI", where, site.feed_entries(histories))
        for file, text in {"feed.xml": feed, **badges}.items():
            folder.write(file, "", text)
        if several:
            ends = [(one.line, [row.release for row in one.rows[-PAIRED:]], len(one.rows)) for one in histories]
            decided = [(row.decision, row.baseline_decision) for one in histories for row in one.rows]
            whole = key(self._plan.frame, ends, self._ruling(ends), decided)
            folder.put("matrix.html", whole, lambda: self._matrix(name, histories))
        made = _made(histories, folder.path.name)
        folder.finish(cursor if _is_settled(histories, commits) else "", msgspec.json.encode(made))
        return made

    def _names(self, changed: Sequence[site.Searched], histories: Sequence[History]) -> str:
        """What search finds of a library: every name that its latest releases declare, and what releases changed."""
        found: dict[tuple[str, str], site.Searched] = {}
        for one in histories:
            ordered = [row.release for row in one.rows]
            for item in declared(self._store, ordered) if ordered else ():
                page = next(release_file(each.line, each.version) for each in ordered if each.version == item.since)
                about = f"{one.line.library}, {item.name.kind} since {item.since}"
                found.setdefault((item.display, item.name.kind), site.Searched(item.display, about, page))
        return site.search_index([*found.values(), *changed])

    def _matrix(self, name: str, histories: Sequence[History]) -> str:
        found = matrix(
            name, within=ReleaseRange(last=PAIRED), database=self._database, by=self._by, histories=histories
        )
        stored = len(self._store.releases(name))
        return site.replacements(self._plan.frame, found, stored - sum(len(one.releases) for one in found))

    def _ruling(self, ends: Sequence[tuple[LineKey, Sequence[Release], int]]) -> list[object]:
        """What pairs are judged by; suppressions may hold for some releases only."""
        return [
            key_of(by, old, new)
            for line, shown, _ in ends
            for by in (self._ruling_of(line, shown),)
            for new in shown
            for old in shown
        ]

    def _ruling_of(self, line: LineKey, releases: Sequence[Release]) -> Ruling | None:
        """What a line is judged by: the policy that the store binds to it, where it does."""
        return ruling_of_line(self._store, line, releases, self._by)

    def _commits(self, histories: Sequence[History]) -> Mapping[str, Commit | None]:
        """What is known of the commits of a library's releases, looked up for the newest first."""
        if self._plan.repository is None:
            return {}
        commits = Commits(CommitSource(self._plan.repository))
        built = [each for one in histories for row in reversed(one.rows) if (each := row.release.revision)]
        return {revision: commits.commit(revision) for revision in built}

    def _line(
        self,
        line: History,
        channels: Mapping[str, Sequence[str]],
        commits: Mapping[str, Commit | None],
        folder: SiteFolder,
    ) -> Iterator[site.Searched]:
        """Write the pages of the releases of a line; what search finds in each."""
        neighbours = [row.release for row in line.rows]
        reports = Reports(self._store, self._ruling_of(line.line, neighbours))
        remarks = _remarks(self._store, line.line)
        for number, row in enumerate(line.rows):
            release, around = row.release, neighbours[max(number - 1, 0) : number + 2]
            standing = channels.get(release.version, ())
            previous = next((one for one in neighbours[:number] if one.version == row.previous), None)
            judged_by = reports.key(previous, row)
            commit = commits.get(release.revision or "")
            shown = key(self._plan, row, around, line.baseline, line.policy, judged_by, remarks, standing, commit)
            name = release_file(release.line, release.version)
            kept = folder.kept(name, shown)
            if kept is None:
                report = reports.of(previous, row) if previous and row.verdict is not None else None
                found = site.names_in(report, name) if report else ()
                page = site.ReleasePage(line, number, report, remarks, standing, commit)
                folder.write(name, shown, site.release(self._plan.frame, page), found)
                yield from found
            else:
                yield from (site.Searched(*each) for each in kept.kept)


def _is_settled(histories: Sequence[History], commits: Mapping[str, Commit | None]) -> bool:
    """Whether another build can tell no more of the same rows: nothing is left to be judged, or to be looked up."""
    rows = [row for one in histories for row in one.rows]
    unjudged = any(row.unjudged not in {"", UNJUDGED} or row.unjudged_baseline not in {"", UNJUDGED} for row in rows)
    return not (
        unjudged or any(one.damaged for one in histories) or not all(one and one.subject for one in commits.values())
    )


def _made(histories: Sequence[History], folder: str) -> Made:
    shown = (one for one in histories if one.rows)
    latest = max(shown, key=lambda one: one.rows[-1].release.ingested, default=histories[0])
    latest = msgspec.structs.replace(latest, rows=latest.rows[-site.RECENT :], remarks=(), candidates=())
    card = site.LibraryCard(
        latest.line.library, folder, latest, len(histories), sum(len(one.rows) for one in histories)
    )
    here = f"{LIBRARIES}/{folder}/"
    found = [site.Searched(card.library, "library", f"{here}index.html")]
    found += [
        site.Searched(
            f"{card.library} {row.release.version}",
            f"release, {one.line.target}",
            f"{here}{release_file(one.line, row.release.version)}",
        )
        for one in histories
        for row in reversed(one.rows)
    ]
    return Made(card, tuple(found), site.feed_entries(histories, here))


def _standing(channels: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    return {
        version: tuple(sorted(name for name, at in channels.items() if at == version))
        for version in set(channels.values())
    }


def _remarks(store: Store, line: LineKey) -> dict[str, tuple[str, ...]]:
    said = {one.identity: one for one in store.reviews() if one.library == line.library}
    return {
        identity: (f"Marked {one.state}{f' by {one.actor}' if one.actor else ''}{f': {one.note}' if one.note else ''}",)
        for identity, one in sorted(said.items())
        if one.state != "open"
    }


WORTH_A_PROCESS = 8
"""A process of its own takes as long to start as this many libraries take to be found unchanged."""

MOST = 8
"""So many processes at most: each holds one library in memory."""


class ChangedLibrary(NamedTuple):
    """A library whose pages may be other ones now: its folder, and the digest of what they are made of."""

    folder: str
    cursor: str


def made_of(
    changed: Mapping[str, ChangedLibrary], libraries: SiteFolder, store: Store, source: SiteSource
) -> Iterator[Made]:
    """Write the pages of each library to its folder below ``libraries``, in the order given."""
    jobs = min(os.cpu_count() or 1, len(changed) // WORTH_A_PROCESS, MOST)
    if jobs < 2 or isinstance(source.database, OpenStore):  # an open store stays with whoever opened it
        writing = LibraryPages(store, source)
        for name, (folder, cursor) in changed.items():
            yield writing.write(name, libraries.inside(folder), cursor)
        return
    for made, tally in _by_processes(changed, libraries.path, source, jobs):
        libraries.tally.add(tally)
        yield made


class _Shared(NamedTuple):
    """What a process writes all its libraries with."""

    libraries: Path
    source: SiteSource


def _by_processes(
    changed: Mapping[str, ChangedLibrary], libraries: Path, source: SiteSource, jobs: int
) -> Iterator[tuple[Made, Tally]]:
    """Libraries and what was done to their files, in order; each process takes the next one when it is free."""
    children = [Child("abistore.service.site") for _ in range(jobs)]
    free: SimpleQueue[Child] = SimpleQueue()
    for child in children:
        free.put(child)
    shared = _Shared(libraries, source._replace(database=locate(source.database)))

    def ask(name: str, one: ChangedLibrary) -> tuple[Made, Tally]:
        child = free.get()
        try:
            return _answer(child, pickle.dumps((shared, name, one)), name)
        finally:
            free.put(child)

    with ThreadPoolExecutor(jobs) as threads:
        try:
            yield from threads.map(ask, changed.keys(), changed.values())
        finally:
            for child in children:
                child.kill()


def _answer(child: Child, request: bytes, library: str) -> tuple[Made, Tally]:
    try:
        answer = child.ask(request)
    except Ended as ended:
        raise AbistoreError(
            f"the process that writes the pages of {library} ended: {ended.how}", "build the site again"
        ) from ended
    if isinstance(answer, Failed):
        raise named_error(answer.kind, answer.message, answer.hint, AbistoreError)
    made: tuple[Made, Tally] = pickle.loads(answer.data)
    return made


# --- the other side --------------------------------------------------------------------------------------------------


def serve(descriptor: int) -> None:
    """Write the pages of the libraries that are asked for, until nobody is left to ask."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asked decides when to stop
    with ExitStack() as opened:
        answer_requests(descriptor, _Writer(opened).answer)


class _Writer:
    """Writes pages; the store is opened with the first library."""

    def __init__(self, opened: ExitStack) -> None:
        self._opened = opened
        self._writing: LibraryPages | None = None

    def answer(self, request: bytes, _descriptor: int | None, _say: Say) -> Answered | Failed:
        """Write the pages of a library, and answer what was made."""
        shared: _Shared
        shared, name, (folder, cursor) = pickle.loads(request)
        tally = Tally()
        try:
            if self._writing is None:
                store = self._opened.enter_context(using(shared.source.database))
                self._writing = LibraryPages(store, shared.source)
            made = self._writing.write(name, SiteFolder(shared.libraries, tally).inside(folder), cursor)
        except AbistoreError as error:
            return Failed(type(error).__name__, error.message, error.hint)
        return Answered(pickle.dumps((made, tally)))


SHARED = ("libraries.js", "search.js", "feed.xml", "built.js", *site.ASSETS)
KINDS, NAMES = "kinds", "names"


class SiteBuilt(msgspec.Struct, frozen=True):
    """What a build did: the first page, what it shows, and how many files were written, left alone and removed."""

    index: Path
    libraries: int
    releases: int
    written: int
    unchanged: int
    removed: int


def build_site(
    out: str | Path,
    plan: SitePlan = USUAL,
    *,
    database: Database = None,
    progress: Progress | None = None,
    by: Ruling | None = None,
) -> SiteBuilt:
    """Write the whole store as static HTML pages to a folder that is empty, new, or of an earlier build.

    Verdicts that are missing are given now and stored. What changed since the last build is written, what is over is
    removed, and files of others are left alone. Raises :class:`OutputError`.
    """
    plan.check()
    dated, plan, tally = plan.built, msgspec.structs.replace(plan, built=None), Tally()
    top = open_site(Path(out), tally)
    source = SiteSource(plan, database, by)
    with using(database) as store, with_cycle_collection():
        now = cursors(store, source)
        found = _Libraries(top.inside(LIBRARIES), {name: library_folder(name) for name in sorted(now)}, now)
        kinds = _Kinds(top.inside(KINDS), plan.frame)
        whole = key(sorted(now.items()), plan, kinds.key)
        names = top.inside(NAMES)
        if found.changed or not (top.stands(whole) and names.stands(whole) and kinds.folder.stands(kinds.key)):
            top.plan((*site.overview_files(now), *SHARED), (LIBRARIES, KINDS, NAMES))
            made = found.write(store, source, progress)
            kinds.write()
            shards = _names(names, found.below.path, made, whole)
            _top(top, plan, made, shards)
        else:
            for folder in (kinds.folder, names, *found.standing.values()):
                folder.leave()
            top.leave("built.js")
            found.releases = top.kept_as(int)
    top.write("built.js", "", f'abistore_built("{dated.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}");\n' if dated else "")
    top.finish(whole, msgspec.json.encode(found.releases))
    return SiteBuilt(top.path / "index.html", len(now), found.releases, tally.written, tally.unchanged, tally.removed)


class _Libraries:
    """The folders of all libraries, and which of them a build has to write."""

    def __init__(self, below: SiteFolder, folders: Mapping[str, str], now: Mapping[str, str]) -> None:
        self.below, self._folders = below, folders
        within = {name: below.inside(folder) for name, folder in folders.items()}
        self.standing = {name: folder for name, folder in within.items() if folder.stands(now[name])}
        self.changed = {name: ChangedLibrary(folders[name], now[name]) for name in folders if name not in self.standing}
        self.releases = 0

    def write(self, store: Store, source: SiteSource, progress: Progress | None) -> list[Made]:
        """Write what changed; all libraries as other pages tell of them, by their names."""
        self.below.plan((), self._folders.values())
        made = {name: folder.kept_as(Made) for name, folder in self.standing.items()}
        for folder in self.standing.values():
            folder.leave()
        for each in made_of(self.changed, self.below, store, source):
            made[each.card.library] = each
            if progress:
                progress(each.card.library, len(made) / len(self._folders))
        _remove_former(self.below, set(self._folders.values()))
        self.releases = sum(one.card.releases for one in made.values())
        return [made[name] for name in self._folders]


def _top(top: SiteFolder, plan: SitePlan, made: Sequence[Made], shards: Sequence[str]) -> None:
    cards = tuple(one.card for one in made)
    kinds = (site.Searched(one, "kind of change", f"{KINDS}/{one}.html") for one in by_kind(changes()))
    found = [*(each for one in made for each in one.found), *kinds]
    for name, text in site.overview(plan.frame, cards):
        top.write(name, "", text)
    entries = site.newest_entries(each for one in made for each in one.entries)
    top.write("feed.xml", "", site.feed(plan.frame, plan.title, "", entries))
    top.write("libraries.js", "", site.overview_index(cards))
    top.write("search.js", "", site.search_index(found, shards))
    for name in site.ASSETS:
        top.write(name, "", site.asset(name))


def _names(folder: SiteFolder, libraries: Path, made: Sequence[Made], whole: str) -> tuple[str, ...]:
    """Write the names of all libraries as few scripts, or as many as their words begin differently."""
    found = []
    for one in made:
        script = (libraries / one.card.folder / "names.js").read_text(encoding="utf-8")
        here = f"../{LIBRARIES}/{one.card.folder}/"
        found += [each._replace(address=f"{here}{each.address}") for each in site.read_index(script)]
    shards = site.sharded(found)
    folder.plan(f"{name}.js" for name in shards)
    for name, each in shards.items():
        folder.write(f"{name}.js", "", site.search_index(each))
    folder.finish(whole)
    return tuple(shards)


class _Kinds:
    """The reference of kinds, to which ``helpUri`` of SARIF can point."""

    def __init__(self, folder: SiteFolder, frame: site.Frame) -> None:
        self.folder, self._frame = folder, frame
        self._every = by_kind(changes())
        self._shown = {
            kind: [site.ShownVariant(card, *case(card.kind)) for card in cards] for kind, cards in self._every.items()
        }
        self.key = key(frame, self._shown)

    def write(self) -> None:
        """Write the list of kinds, and a page for each, unless they stand."""
        if self.folder.stands(self.key):
            self.folder.leave()
            return
        self.folder.plan(("index.html", *(f"{kind}.html" for kind in self._every)))
        self.folder.put("index.html", key(self._frame), lambda: site.kinds(self._frame, self._every))
        for kind, shown in self._shown.items():
            self.folder.put(f"{kind}.html", key(self._frame, shown), partial(site.kind, self._frame, kind, shown))
        self.folder.finish(self.key)


def _remove_former(libraries: SiteFolder, now: set[str]) -> None:
    for name in sorted(set(libraries.former) - now):
        libraries.inside(name).clear()
    libraries.finish()
