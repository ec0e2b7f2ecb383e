"""What it costs to judge a release when it is stored, beside storing it: against the first of its SONAME and channels.

``python -m benchmarks.ledger [--releases N] [--joined]`` prints CPU seconds in one process. Needs nothing but abistore.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from abistore.model.history import IngestRequest, Release
from abistore.service.verdicts import ConsecutiveJudge
from abistore.store.store import Store
from benchmarks.history import ingested
from benchmarks.releases import made


def judged(store: Store, new: Release, against: tuple[Release, ...]) -> float:
    """The seconds that the verdicts about a release against these take, by what is stored."""
    judge = ConsecutiveJudge(store, None)
    return timed(lambda: [judge.against(old, new) for old in against])


def timed(work: Callable[[], object]) -> float:
    """The CPU seconds of some work."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def main() -> None:
    """Store a line, one more release, and judge that."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", type=int, default=100)
    parser.add_argument("--declarations", type=int, default=5000)
    parser.add_argument("--joined", action="store_true", help="declarations that have to do with each other")
    asked = parser.parse_args()
    count = asked.releases
    with TemporaryDirectory() as folder:
        database = Path(folder, "line.db")
        ingested(database, count, asked.declarations, asked.joined)
        new = made(count + 1, asked.declarations, joined=asked.joined)
        with Store.open(database, write=True) as store:
            print(f"storing it: {timed(lambda: store.ingest(new, IngestRequest(f'1.{count + 1}'))):.2f} s")
            releases = {each.version: each for each in store.releases("growing")}
            latest, first = releases[f"1.{count + 1}"], releases["1.1"]
            print(f"against the first: {judged(store, latest, (first,)):.2f} s")
            channel = releases[f"1.{count // 2}"]
            print(f"against the first and one channel: {judged(store, latest, (first, channel)):.2f} s")


if __name__ == "__main__":
    main()
