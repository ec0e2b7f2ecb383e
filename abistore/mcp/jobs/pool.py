"""The processes of a server: as many as calls are worked on at once, kept warm, and killed with their call."""

from __future__ import annotations

import math
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import anyio
import msgspec
from anyio import from_thread, to_thread

from abistore.mcp.jobs.messages import Done, Request, decode_done, encode
from abistore.mcp.refusals import Code, Refusal
from abistore.process.child import Child, Ended
from abistore.process.protocol import Answered, Failed, Progress

KEEP = 512 << 20
"""A process with more bytes of memory after a call works on no further one."""

Advance = Callable[[str, float], Coroutine[Any, Any, None]]


class Jobs:
    """At most ``most`` processes; a call that comes while all of them work waits for one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._free: anyio.Semaphore | None = None
        self._idle: list[Child] = []
        self._all: set[Child] = set()

    @property
    def running(self) -> tuple[int, ...]:
        """The processes that there are."""
        return tuple(child.pid for child in self._all if child.pid is not None)

    async def run(self, request: Request, advance: Advance | None = None) -> Done:
        """The answer to a request. Raises :class:`Refusal`; what takes longer than the timeout is ended.

        So is the work of a call that is cancelled.
        """
        if self._free is None:
            self._free = anyio.Semaphore(self._most)
        async with self._free:
            child = self._taken()
            with anyio.move_on_after(request.settings.timeout):
                return self._kept(child, await self._asked(child, request, advance))
            raise Refusal(
                "TIMEOUT",
                f"{request.tool} timed out after {request.settings.timeout:g}s",
                "ask for less, or start the server with a higher --timeout",
            )

    def warm(self) -> None:
        """Starts the first process, which gets ready while the client says who it is."""
        child = self._taken()
        child.start()
        self._idle.append(child)

    def _taken(self) -> Child:
        if self._idle:
            return self._idle.pop()
        child = Child("abistore.mcp.jobs.process")
        self._all.add(child)
        return child

    async def _asked(self, child: Child, request: Request, advance: Advance | None) -> Answered | Failed:
        try:
            ask = partial(child.ask, encode(request), progress=advancing(advance) if advance else None)
            return await to_thread.run_sync(ask, abandon_on_cancel=True)
        except Ended as ended:
            self._all.discard(child)
            message = f"{request.tool}: the process that worked on it ended ({ended.how})"
            code: Code = "LIMIT" if ended.how == "killed" else "INTERNAL"
            raise Refusal(code, message, "call again, or ask for less") from None
        except BaseException:  # a call that is cancelled too ends its process
            child.close()
            self._all.discard(child)
            raise

    def _kept(self, child: Child, reply: Answered | Failed) -> Done:
        if reply.resident > KEEP:
            child.kill()
            self._all.discard(child)
        else:
            self._idle.append(child)
        if isinstance(reply, Failed):
            raise Refusal(msgspec.convert(reply.kind, Code), reply.message, reply.hint)
        return decode_done(reply.data)

    def close(self) -> None:
        """Ends all processes; those that work are killed."""
        for child in self._all:
            child.close()
        self._all.clear()
        self._idle.clear()


def advancing(advance: Advance) -> Callable[[Progress], None]:
    """In a thread: tells the event loop of progress, which never goes back."""
    told = -math.inf

    def tell(progress: Progress) -> None:
        nonlocal told
        if progress.done > told:
            told = progress.done
            from_thread.run(advance, progress.what, progress.done)

    return tell
