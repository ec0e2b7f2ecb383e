"""The process of a worker: reads one file after the other, each within limits, until its user is gone."""

from __future__ import annotations

import os
import pickle
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import msgspec
from msgspec.structs import replace

from abistore.confinement import confined
from abistore.errors import AbistoreError
from abistore.extract.capture import read_all
from abistore.extract.input_file import InputFile, open_input
from abistore.extract.reader import ExtractOptions
from abistore.limits import limits, limits_for
from abistore.model.snapshot import Snapshot
from abistore.process import serving
from abistore.process.protocol import Answered, Failed, Progress, Say, resident

_LONG, _MUCH = 1e8, 1 << 50
"""Seconds and bytes that no file takes."""


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """Asks for the snapshots of the file whose descriptor comes with the message.

    ``folder`` is what paths are relative to. ``options`` are without their ``progress``, which is told where
    ``tells_progress``. ``seconds`` and ``memory`` bound the reading where they are given, and
    ``roots`` the folders that other files are read from. It is pickled: it comes from this program.
    """

    path: Path
    folder: Path
    options: ExtractOptions
    tells_progress: bool
    seconds: float | None
    memory: int | None
    roots: tuple[str, ...] | None


def serve(descriptor: int) -> None:
    """Read the files that come over the socket ``descriptor``."""
    import_module("abistore.extract.dwarf.layout")  # while nobody waits
    serving.serve(descriptor, _answer)


def _answer(data: bytes, descriptor: int | None, say: Say) -> Answered | Failed:
    request: ReadRequest = pickle.loads(data)
    with suppress(OSError):  # without it, absolute paths can still be read
        os.chdir(request.folder)
    options = request.options
    if request.tells_progress:
        options = replace(options, progress=lambda what, done: say(Progress(what, done)))
    try:
        with confined(request.roots), open_input(request.path, descriptor) as file, _limits(request, file):
            snapshots = list(map(_written, read_all(file, options)))
    except AbistoreError as error:
        return Failed(type(error).__name__, error.message, error.hint, resident())
    return Answered(msgspec.msgpack.encode(snapshots), resident())


def _limits(request: ReadRequest, file: InputFile) -> AbstractContextManager[None]:
    """The limits that were asked for; those by the file's size hold within them."""
    if request.seconds is None and request.memory is None:
        return nullcontext()
    return limits(request.seconds or _LONG, request.memory or _MUCH, f"reading {file.path.name}")


def _written(snapshot: Snapshot) -> bytes:
    from abistore.model.snapshot_file.codec import to_json

    with limits_for(snapshot.weight, f"writing {snapshot.label}"):
        return to_json(snapshot)
