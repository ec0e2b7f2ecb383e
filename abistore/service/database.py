"""Finding the database, and opening it when it is needed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TypeAlias

from abistore.errors import StoreError, UsageError
from abistore.model.labels import check_not_blank
from abistore.model.snapshot import usual_machine

if TYPE_CHECKING:
    from abistore.store.store import Store

BUSY_SECONDS = 60.0
"""How long to wait for a locked database, unless ``ABISTORE_BUSY_SECONDS`` says otherwise."""


def locate(database: Database = None) -> str:
    """The database's path or URL: what is given, else ``ABISTORE_DB``, else a file in the user's data folder.

    Raises :class:`UsageError` for an empty one: a pipeline would go on with the user's own file.
    """
    if isinstance(database, OpenStore):
        return database.where
    if database is not None:
        check_not_blank("the database", str(database))
        return str(database)
    if (configured := os.environ.get("ABISTORE_DB")) is not None:
        check_not_blank("ABISTORE_DB", configured)
        return configured
    from platformdirs import user_data_path

    return str(user_data_path("abistore", appauthor=False) / "abistore.db")


class OpenStore:
    """A store that is open until :meth:`close`, or the end of a ``with`` block: the ``database`` of many calls.

    It has one connection for reading and one for writing, each opened when it is first needed. A ``read_only`` one
    refuses to write, whatever the database allows. Use it in one thread.
    """

    def __init__(self, where: str, *, read_only: bool = False) -> None:
        self.where = where
        self.read_only = read_only
        self._stack = ExitStack()
        self._reading: Store | None = None
        self._writing: Store | None = None

    @contextmanager
    def lent(self, *, write: bool, create: bool = False) -> Iterator[Store]:
        """The store, which stays open after the ``with`` block. Raises :class:`StoreError`."""
        if write:
            if self.read_only:
                raise StoreError(f"{self.where}: opened for reading only", "open it without read_only")
            if self._writing is None:
                self._writing = self._stack.enter_context(using(self.where, write=True, create=create, upgrade=False))
            yield self._writing
            return
        if self._reading is None:
            self._reading = self._stack.enter_context(using(self.where))
        yield self._reading

    def close(self) -> None:
        """Close the connections. The next use opens new ones."""
        self._reading = self._writing = None
        self._stack.close()

    def __enter__(self) -> OpenStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


Database: TypeAlias = str | Path | OpenStore | None
"""A store: its path or URL, or an open one; ``None`` for the one that :func:`locate` finds."""


def using(
    database: Database = None, *, write: bool = False, create: bool = False, upgrade: bool = True
) -> AbstractContextManager[Store]:
    """The store, as a context manager. It is created only with ``create``. Raises :class:`StoreError`.

    Who writes to a file of an older schema upgrades it, unless ``upgrade`` says that it is not worth that.
    """
    if isinstance(database, OpenStore):
        return database.lent(write=write, create=create)
    from abistore.store.store import Store

    where = locate(database)
    return Store.open(where, write=write, create=create, busy_seconds=busy_seconds(), upgrade=upgrade)


def busy_seconds() -> float:
    """How long to wait for a locked database. Raises :class:`UsageError` if the variable is no number."""
    text = os.environ.get("ABISTORE_BUSY_SECONDS")
    try:
        return max(0.0, float(text)) if text else BUSY_SECONDS
    except ValueError as error:
        raise UsageError(f"ABISTORE_BUSY_SECONDS is not a number: {text}", "give seconds, e.g. 60") from error


def open_store(database: str | Path | None = None, *, create: bool = False, read_only: bool = False) -> OpenStore:
    """Open the store at a path or URL, the ``database`` of many calls: ``with open_store("abi.db") as store: ...``.

    The default is the store that ``ABISTORE_DB`` names, else a file in the user's data folder. ``create`` makes a store
    if there is none. Nothing is written to a ``read_only`` store, so its verdicts are not remembered. Raises
    :class:`StoreError` if there is no store, :class:`SchemaMismatch` if it has another schema.
    """
    where = locate(database)
    if create:
        from abistore.store.opening import initialise

        initialise(where, busy_seconds())
    store = OpenStore(where, read_only=read_only)
    with store.lent(write=False):
        return store


def line_target(store: Store, target: str | None) -> str | None:
    """The full name of a platform, of which ``target`` may be just the machine (``x86_64``).

    Raises :class:`UsageError` for an empty one.
    """
    check_not_blank("the target", target)
    known = sorted({key.target for key in store.lines()}) if target else []
    machine = [name for name in known if target and usual_machine(target) == usual_machine(name.split("-")[1])]
    if len(machine) > 1:  # Linux, unless FreeBSD is named
        machine = [name for name in machine if name.endswith(("-little", "-big"))]
    return machine[0] if len(machine) == 1 else target


def user() -> str:
    """Who runs this process, for the audit."""
    try:
        import getpass  # with termios

        return getpass.getuser()
    except (KeyError, OSError):
        return ""
