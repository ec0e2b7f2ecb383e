"""Writers that run at once, beside one that prunes, and writers that are killed.

``python -m tests.store.torture writers|prune|kill|kill-pruning ADDRESS``

A process of one thread, so that it may fork; it prints what happened as JSON.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from abistore.errors import SnapshotNotFound
from abistore.model.history import IngestRequest
from abistore.service.verdicts import judged
from abistore.store.store import Store
from tests.store.builders import large

WRITERS = 8
RELEASES = 4
KILLS = 50


def forked(work: Callable[[], None]) -> int:
    """The process id of a child that does ``work``; its exit status tells whether it could."""
    child = os.fork()
    if child:
        return child
    try:
        work()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def write_beside_others(address: str, writer: int) -> None:
    """Ingest releases of the writer's own library, and of one that all writers share."""
    for number in range(RELEASES):
        for library in (f"lib{writer}", "libshared"):
            content = large(3, names=60, library=library, step=writer * RELEASES + number)
            with Store.open(address, write=True) as store:
                store.ingest(content, IngestRequest(f"{writer}.{number}"))


def writers(address: str) -> dict[str, object]:
    """Let all writers begin at one moment, with no database there yet."""
    begin, gate = os.pipe()

    def work(writer: int) -> Callable[[], None]:
        def wait_and_write() -> None:
            os.close(gate)
            os.read(begin, 1)
            write_beside_others(address, writer)

        return wait_and_write

    children = [forked(work(writer)) for writer in range(WRITERS)]
    os.close(gate)
    return {"failed": sum(os.waitpid(child, 0)[1] != 0 for child in children)}


BUILDS = 12
"""How many builds each writer beside a pruning stores; every fourth is a release."""


def build_label(writer: int, number: int) -> str:
    return f"{writer}.{number // 4}.0" + (f"-{number % 4}-gabc{number:04x}" if number % 4 else "")


def write_beside_pruning(address: str, writer: int) -> None:
    """Ingest builds into a line that all writers share, judge each, and read them again, over one open store."""
    with Store.open(address, write=True) as store:
        for number in range(BUILDS):
            content = large(3, names=60, step=writer * BUILDS + number)
            done = store.ingest(content, IngestRequest(build_label(writer, number)))
            with suppress(SnapshotNotFound):  # a build may be gone before it is read again
                if (before := store.previous(done.release)) is not None:
                    store.save_verdicts([judged(store, before, done.release).given])
                assert store.load(done.release).entries == content.entries


def prune_again_and_again(address: str, until: int) -> None:
    """Prune until nobody holds the other end of the pipe ``until``."""
    with Store.open(address, write=True) as store:
        while select.select([until], [], [], 0.01)[0] == []:
            store.prune(None, keep_last=1, before=None, actor="pruner", reason="torture")


def prune(address: str) -> dict[str, object]:
    """Let four writers and one that prunes work at once, on a store that is there."""
    until, held = os.pipe()

    def pruning() -> None:
        os.close(held)
        prune_again_and_again(address, until)

    pruner = forked(pruning)
    children = [forked(lambda writer=writer: write_beside_pruning(address, writer)) for writer in range(4)]
    failed = sum(os.waitpid(child, 0)[1] != 0 for child in children)
    os.close(held)
    return {"failed": failed + (os.waitpid(pruner, 0)[1] != 0)}


def kill_pruning(address: str) -> dict[str, object]:
    """Kill one that prunes at a random moment, again and again; what it was at is whole afterwards, or not begun."""
    dice = random.Random(20260601)
    interrupted, taken = 0, 0.02
    for round_ in range(KILLS):
        with Store.open(address, write=True) as store:
            for number in range(6):
                step = round_ * 6 + number
                store.ingest(large(3, names=60, step=step), IngestRequest(f"1.0.0-{step + 1}-gabc{step:04x}"))
            before = len(store.releases("liblarge"))
        ended = _kill_pruning(address, dice.random() * taken)
        after = len(_stored(address))
        assert after in (1, before), f"round {round_}: {after} of {before} stayed"
        assert after == 1 or not ended
        interrupted += after == before
        taken *= 0.8 if ended else 1.25  # as long as it takes on this machine
    return {"interrupted": interrupted}


def _kill_pruning(address: str, seconds: float) -> bool:
    """Kill one that prunes, so many seconds after it opened the store; whether it had ended before."""
    begun, told = os.pipe()

    def pruning() -> None:
        with Store.open(address, write=True) as store:
            os.write(told, b"!")
            store.prune(None, keep_last=1, before=None, actor="pruner", reason="torture")

    child = forked(pruning)
    os.read(begun, 1)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(begun)
    os.close(told)
    return not os.WIFSIGNALED(status)


def kill(address: str) -> dict[str, object]:
    """Kill a writer at a random moment, again and again, and look at the store each time."""
    dice = random.Random(20260501)
    answered: list[str] = []
    interrupted = 0
    for round_ in range(KILLS):
        if round_ % 10 == 0:
            answered = []
            for file in Path(address).parent.glob(Path(address).name + "*"):
                file.unlink()
        new, pending = _kill_one(address, round_, dice)
        answered += new
        stored = _stored(address)
        unanswered = [version for version in stored if version not in answered]
        missing = [version for version in answered if version not in stored]
        assert not missing, f"round {round_}: lost {missing}"
        assert unanswered in ([], [pending]), f"round {round_}: {unanswered} beside {pending}"
        answered += unanswered
        interrupted += not unanswered
    return {"interrupted": interrupted, "stored": len(answered)}


def _kill_one(address: str, round_: int, dice: random.Random) -> tuple[list[str], str]:
    """The versions that a writer had answered when it was killed, and the one that it was at.

    It is killed some time after a few answers, whatever the machine's speed; the time of its last one says how much.
    """
    reading, writing = os.pipe()

    def work() -> None:
        os.write(writing, b"ready\n")
        for number in range(1000):
            with Store.open(address, write=True) as store:
                version = f"{round_}.{number}"
                store.ingest(large(30, step=round_ * 1000 + number), IngestRequest(version))
            os.write(writing, f"{version}\n".encode())

    child = forked(work)
    os.close(writing)
    with os.fdopen(reading) as answers:
        answers.readline()
        begun = time.monotonic()
        new = [answers.readline().strip() for _ in range(dice.randrange(3))]
        taken = (time.monotonic() - begun) / len(new) if new else 0.03
        time.sleep(dice.random() * taken)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        new += answers.read().split()
    return new, f"{round_}.{len(new)}"


def _stored(address: str) -> list[str]:
    """The releases of a sound store, each as complete as it was built."""
    with Store.open(address, write=True) as store:
        problems = store.check()
        assert not problems, problems
        return [release.version for release in store.releases("liblarge")]


if __name__ == "__main__":
    print(
        json.dumps(
            {"writers": writers, "kill": kill, "prune": prune, "kill-pruning": kill_pruning}[sys.argv[1]](sys.argv[2])
        )
    )
