"""Notices what other processes write to the store, as long as anybody subscribes."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Coroutine, Iterable
from pathlib import Path
from typing import Any, TypeAlias

import anyio

from abistore.mcp.refusals import Refusal
from abistore.mcp.serving.subscribers import Subscribers
from abistore.mcp.watching import Look

Ask: TypeAlias = Callable[[str, Collection[str]], Coroutine[Any, Any, Look]]

OF_FILE, OF_SERVER, AFTER_FAILURE = 0.25, 1.0, 2.0
"""The seconds between two looks: at the files of an SQLite store, at a database server, and after one that failed."""

SHARE = 4
"""A look that took a second is followed by this many of rest."""

COARSE = 2_000_000_000
"""Nanoseconds within which a file may be written twice and tell one time."""


class Watcher:
    """Tells subscribers of addresses that say something else than when it last looked.

    No connection stays open between two looks: it would keep the log of an SQLite file alive beside another file that
    takes its place, and whoever opens that would read both.
    """

    def __init__(self, subscribers: Subscribers, ask: Ask, say: Callable[[str], None]) -> None:
        self._subscribers = subscribers
        self._ask = ask
        self._say = say
        self._one = anyio.Lock()
        self._looking = anyio.Lock()
        self._forget()

    def _forget(self) -> None:
        self._mark = self._libraries = self._trouble = ""
        self._file: str | None = None
        self._stamp: object = None
        self._texts: dict[str, str | None] = {}

    async def begin(self, addresses: Iterable[str]) -> None:
        """Note what ``addresses`` say before their subscriber hears that it is one: nothing is missed from then on."""
        async with self._looking:
            new = [address for address in addresses if address not in self._texts]
            try:
                seen = await self._ask("", new)
            except Refusal as refusal:
                self._complain(refusal)
                self._texts |= dict.fromkeys(new)
                return
            self._texts |= {address: seen.texts.get(address) for address in new}
            if not self._mark:
                self._mark, self._libraries, self._file = seen.mark, seen.libraries, seen.file

    async def run(self) -> None:
        """Look until cancelled; where a server lives several times over, one of its lives looks for all."""
        async with self._one:
            while True:
                while not len(self._subscribers):
                    self._forget()
                    self._subscribers.changed = anyio.Event()
                    await self._subscribers.changed.wait()
                await anyio.sleep(await self._look())

    async def _look(self) -> float:
        """Tell what changed; the seconds after which to look again."""
        stamp = _stamp(self._file)
        if stamp is not None and stamp == self._stamp:
            return OF_FILE
        async with self._looking:
            began = time.monotonic()
            self._texts = {uri: self._texts[uri] for uri in self._subscribers.addresses if uri in self._texts}
            try:
                seen = await self._ask(self._mark, self._texts)
            except Refusal as refusal:
                self._complain(refusal)
                return AFTER_FAILURE
            told, lists = self._changed(seen)
        await self._subscribers.tell(told, lists=lists)
        if None in seen.texts.values():
            return AFTER_FAILURE
        self._stamp = stamp
        return max(OF_SERVER if seen.file is None else OF_FILE, SHARE * (time.monotonic() - began))

    def _changed(self, seen: Look) -> tuple[list[str], bool]:
        """The addresses that say something else, and whether libraries came or went."""
        self._recover()
        self._file = seen.file
        if seen.mark == self._mark:
            return [], False
        known, self._libraries = self._libraries, seen.libraries
        changed = [uri for uri, text in seen.texts.items() if text is not None and text != self._texts[uri]]
        self._texts |= {uri: seen.texts[uri] for uri in changed}
        if None not in seen.texts.values():  # one that cannot be read now is asked for again
            self._mark = seen.mark
        return changed, bool(known) and known != seen.libraries

    def _complain(self, refusal: Refusal) -> None:
        trouble = f"{refusal.code} {refusal.message}"
        if trouble != self._trouble:
            self._say(f"subscribers are not told what changes: {refusal.message}; trying again")
        self._trouble = trouble

    def _recover(self) -> None:
        if self._trouble:
            self._say("subscribers are told again what changes")
        self._trouble = ""


def _stamp(file: str | None) -> object:
    """What the files of an SQLite store tell of their last write; nothing for a database server.

    A write may leave a file that was written just before with the same time: such a stamp changes once more by itself.
    """
    if file is None:
        return None
    found = [_of(file), _of(f"{file}-wal")]
    last = max((each[2] for each in found if each), default=0)
    return (*found, time.time_ns() - last < COARSE)


def _of(file: str) -> tuple[int, int, int] | None:
    try:
        status = Path(file).stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
