"""The process of a worker: reads one file after the other, each within limits, until its user is gone."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from importlib import import_module

from msgspec.structs import replace

from abistore.child import resident
from abistore.confinement import confined
from abistore.errors import AbistoreError
from abistore.extract.capture import read_all
from abistore.extract.input_file import InputFile, open_input
from abistore.extract.worker.messages import (
    Answer,
    ReadFailure,
    ReadProgress,
    ReadRequest,
    ReadResult,
    receive_request,
    send_answer,
)
from abistore.limits import limits, limits_for
from abistore.model.snapshot import Snapshot

_LONG, _MUCH = 1e8, 1 << 50
"""Seconds and bytes that no file takes."""


def serve(descriptor: int) -> None:
    """Answers the requests that come over the socket ``descriptor``."""
    import_module("abistore.extract.dwarf.layout")  # while nobody waits
    with socket.socket(fileno=descriptor) as channel:
        while (received := receive_request(channel)) is not None:
            request, file = received
            send_answer(channel, _answer(request, file, lambda answer: send_answer(channel, answer)))


def _answer(request: ReadRequest, descriptor: int, say: Callable[[Answer], None]) -> Answer:
    with suppress(OSError):  # without it, absolute paths can still be read
        os.chdir(request.folder)
    options = request.options
    if request.tells_progress:
        options = replace(options, progress=lambda what, done: say(ReadProgress(what, done)))
    try:
        with confined(request.roots), open_input(request.path, descriptor) as file, _limits(request, file):
            snapshots = tuple(map(_written, read_all(file, options)))
    except AbistoreError as error:
        return ReadFailure(type(error).__name__, error.message, error.hint, resident())
    return ReadResult(snapshots, resident())


def _limits(request: ReadRequest, file: InputFile) -> AbstractContextManager[None]:
    """The limits that were asked for; those by the file's size hold within them."""
    if request.seconds is None and request.memory is None:
        return nullcontext()
    return limits(request.seconds or _LONG, request.memory or _MUCH, f"reading {file.path.name}")


def _written(snapshot: Snapshot) -> bytes:
    from abistore.model.snapshot_file.codec import to_json

    with limits_for(snapshot.weight, f"writing {snapshot.label}"):
        return to_json(snapshot)
