"""A store that is opened once and serves many calls."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, ParamSpec, TypeVar, overload

from abistore.service.administration import baseline_history, baselines, clear_baseline, set_baseline
from abistore.service.bisect import first_broken
from abistore.service.blame import blame
from abistore.service.comparing import compare
from abistore.service.database import Connections, busy_seconds, locate
from abistore.service.declarations import card, declarations
from abistore.service.history import history
from abistore.service.imports import export, import_
from abistore.service.ingest import ingest
from abistore.service.inventory import exports, provides, types, who_uses
from abistore.service.ledger import evaluate, ledger, lines_of_release
from abistore.service.listing import lines, releases
from abistore.service.log import deprecations, findings, log
from abistore.service.matrix import compatible_range, matrix
from abistore.service.statements import statement
from abistore.service.verdicts import verdict
from abistore.service.whatif import whatif

P = ParamSpec("P")
R = TypeVar("R")


class _Verb(Generic[P, R]):
    """A verb as a method: the function itself, with the open store as its ``database``."""

    def __init__(self, function: Callable[P, R]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, store: None, owner: type[OpenStore]) -> _Verb[P, R]: ...

    @overload
    def __get__(self, store: OpenStore, owner: type[OpenStore]) -> Callable[P, R]: ...

    def __get__(self, store: OpenStore | None, owner: type[OpenStore]) -> _Verb[P, R] | Callable[P, R]:
        if store is None:
            return self
        function: Callable[..., R] = self._function

        @wraps(function)
        def call(*positional: Any, **named: Any) -> R:
            return function(*positional, **named, database=store)

        return call


class OpenStore(Connections):
    """A store that is open until :meth:`close`, or the end of a ``with`` block. Use it in one thread.

    Its methods are the functions of the same names, without ``database``. Any other function that takes a
    ``database`` takes the open store as well.
    """

    ingest = _Verb(ingest)
    import_ = _Verb(import_)
    export = _Verb(export)
    compare = _Verb(compare)
    verdict = _Verb(verdict)
    history = _Verb(history)
    log = _Verb(log)
    matrix = _Verb(matrix)
    ledger = _Verb(ledger)
    lines_of_release = _Verb(lines_of_release)
    evaluate = _Verb(evaluate)
    statement = _Verb(statement)
    blame = _Verb(blame)
    deprecations = _Verb(deprecations)
    first_broken = _Verb(first_broken)
    compatible_range = _Verb(compatible_range)
    exports = _Verb(exports)
    types = _Verb(types)
    who_uses = _Verb(who_uses)
    provides = _Verb(provides)
    findings = _Verb(findings)
    lines = _Verb(lines)
    releases = _Verb(releases)
    card = _Verb(card)
    declarations = _Verb(declarations)
    baselines = _Verb(baselines)
    baseline_history = _Verb(baseline_history)
    set_baseline = _Verb(set_baseline)
    clear_baseline = _Verb(clear_baseline)
    whatif = _Verb(whatif)

    def __enter__(self) -> OpenStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_store(database: str | Path | None = None, *, create: bool = False, read_only: bool = False) -> OpenStore:
    """Open the store at a path or URL, for many calls: ``with abistore.open_store("abi.db") as store: ...``.

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
