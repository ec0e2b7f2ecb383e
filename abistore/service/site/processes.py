"""The libraries of a site by several processes: each library is made by itself, and rendering is what takes time."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from abistore.errors import AbistoreError, named_error
from abistore.process import serving
from abistore.process.child import Child, Ended
from abistore.process.protocol import Answered, Failed, Say
from abistore.service.database import Connections, locate, using
from abistore.service.site.folder import SiteFolder, Tally
from abistore.service.site.library import LibraryPages, Made
from abistore.service.site.plan import SiteSource

if TYPE_CHECKING:
    from abistore.store.store import Store

WORTH_A_PROCESS = 8
"""A process of its own takes as long to start as this many libraries take to be found unchanged."""

MOST = 8
"""So many processes at most: each holds one library in memory."""


def made_of(folders: Mapping[str, str], libraries: SiteFolder, store: Store, source: SiteSource) -> Iterator[Made]:
    """Write the pages of each library to its folder below ``libraries``, in the order given."""
    jobs = min(os.cpu_count() or 1, len(folders) // WORTH_A_PROCESS, MOST)
    if jobs < 2 or isinstance(source.database, Connections):  # an open store stays with whoever opened it
        writing = LibraryPages(store, source)
        for name, folder in folders.items():
            yield writing.write(name, libraries.inside(folder))
        return
    for made, tally in _by_processes(folders, libraries.path, source, jobs):
        libraries.tally.add(tally)
        yield made


class _Shared(NamedTuple):
    """What a process writes all its libraries with."""

    libraries: Path
    source: SiteSource


def _by_processes(
    folders: Mapping[str, str], libraries: Path, source: SiteSource, jobs: int
) -> Iterator[tuple[Made, Tally]]:
    """Libraries and what was done to their files, in order; each process takes the next one when it is free."""
    children = [Child("abistore.service.site.processes") for _ in range(jobs)]
    free: SimpleQueue[Child] = SimpleQueue()
    for child in children:
        free.put(child)
    shared = _Shared(libraries, source._replace(database=locate(source.database)))

    def ask(name: str, folder: str) -> tuple[Made, Tally]:
        child = free.get()
        try:
            return _answer(child, pickle.dumps((shared, name, folder)), name)
        finally:
            free.put(child)

    with ThreadPoolExecutor(jobs) as threads:
        try:
            yield from threads.map(ask, folders.keys(), folders.values())
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
        serving.serve(descriptor, _Writer(opened).answer)


class _Writer:
    """Writes pages; the store is opened with the first library."""

    def __init__(self, opened: ExitStack) -> None:
        self._opened = opened
        self._writing: LibraryPages | None = None

    def answer(self, request: bytes, _descriptor: int | None, _say: Say) -> Answered | Failed:
        """Write the pages of a library, and answer what was made."""
        shared: _Shared
        shared, name, folder = pickle.loads(request)
        tally = Tally()
        try:
            if self._writing is None:
                store = self._opened.enter_context(using(shared.source.database))
                self._writing = LibraryPages(store, shared.source)
            made = self._writing.write(name, SiteFolder(shared.libraries, tally).inside(folder))
        except AbistoreError as error:
            return Failed(type(error).__name__, error.message, error.hint)
        return Answered(pickle.dumps((made, tally)))
