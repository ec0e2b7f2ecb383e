"""Standard input and output: one client, until it closes them or a signal comes."""

from __future__ import annotations

import os
from functools import partial
from signal import SIGINT, SIGTERM
from typing import Any

import anyio
from mcp.server.stdio import stdio_server

from abistore.mcp.jobs.pool import Jobs
from abistore.mcp.server import build_server
from abistore.mcp.serving.calls import Server
from abistore.mcp.settings import Settings
from abistore.mcp.transports.recording import RecordedStream, Recording

INTERRUPTED = 130


def serve_stdio(settings: Settings, recording: Recording | None) -> int:
    """Serve until the client closes standard input, or reads no more; the exit code."""
    try:
        anyio.run(partial(_serve, build_server(settings), recording))
    except* BrokenPipeError:
        os._exit(0)  # standard output cannot be written to, not even at the end
    return 0


async def _serve(server: Server, recording: Recording | None) -> None:
    async with anyio.create_task_group() as group:
        await group.start(_end_at_signals, server.jobs)
        server.jobs.warm()
        try:
            await _talk(server, recording)
        finally:
            server.jobs.close()
        group.cancel_scope.cancel()


async def _talk(server: Server, recording: Recording | None) -> None:
    inner = server._lowlevel_server  # the SDK's own way of running has no place for a recording
    async with stdio_server() as (incoming, outgoing):
        read: Any = RecordedStream(incoming, recording) if recording else incoming
        write: Any = RecordedStream(outgoing, recording) if recording else outgoing
        await inner.run(read, write, inner.create_initialization_options())


async def _end_at_signals(jobs: Jobs, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    """The thread that waits for a line cannot be ended, so the process is; nothing of it is left to be written."""
    with anyio.open_signal_receiver(SIGINT, SIGTERM) as signals:
        task_status.started()
        async for signal in signals:
            jobs.close()
            os._exit(INTERRUPTED if signal == SIGINT else 0)
