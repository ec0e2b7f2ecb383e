"""What an archive run costs beside one ``ingest`` of the same files, and whether kills at random lose anything.

    python -m benchmarks.archive --files 300 [--runs 3] [--dask]   processor seconds, medians of paired runs
    python -m benchmarks.archive --kills 50                        kills of processes at random, with a Dask cluster

The files are stripped libraries below 3 MB of this system, one of each name.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import measure
from benchmarks.processes import family, seconds
from tests.archive.cluster import Cluster, archive_command, disagreements, lines_of, logged

FOLDERS = (Path("/usr/lib"), Path("/lib"))
LARGEST = 3_000_000
LIMIT = 600
"""Processor seconds of one run."""

PATIENCE = 300.0


def libraries() -> Iterator[Path]:
    """Stripped libraries, one of each name, in the order of their paths."""
    seen = set[str]()
    for path in sorted(each for folder in FOLDERS for each in folder.rglob("*.so.*")):
        name = re.sub(r"\.so\..*", "", path.name)
        if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST or name in seen:
            continue
        data = path.read_bytes()
        if data.startswith(b"\x7fELF") and b".debug_info" not in data:
            seen.add(name)
            yield path


def manifest(folder: Path, count: int) -> tuple[Path, list[Path]]:
    files = list(islice(libraries(), count))
    path = folder / "list"
    path.write_text("".join(f"{each} 1 library=l{number}\n" for number, each in enumerate(files)))
    return path, files


# --- cost ---------------------------------------------------------------------------------------------------------


def show_costs(count: int, runs: int, with_dask: bool) -> None:
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        listed, files = manifest(folder, count)
        cluster = Cluster(folder / "dask", stack) if with_dask else None
        one = [sys.executable, "-m", "abistore", "ingest", *map(str, files), "--version", "1"]
        ways = {
            "one `ingest`": one,
            "`archive ingest`": archive_command(listed),
            "`archive ingest --jobs 2`": archive_command(listed, "--jobs", "2"),
        }
        if cluster is not None:
            ways["`archive ingest --scheduler`"] = archive_command(listed, "--scheduler", cluster.address)
        taken: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
        for run in range(runs):
            for number, (way, command) in enumerate(ways.items()):
                at_work = cluster if "--scheduler" in way else None
                taken[way].append(_cost([*command, "--db", str(folder / f"{run}-{number}.db")], at_work))
        print(f"{len(files)} stripped libraries, medians of {runs} paired runs\n")
        print("| way | CPU ms a library | CPU, of one `ingest` | elapsed, of one `ingest` |\n|---|--:|--:|--:|")
        for way, costs in taken.items():
            pairs = list(zip(costs, taken["one `ingest`"], strict=True))
            cpu = statistics.median(each[0] for each in costs) / len(files) * 1000
            ratios = (statistics.median(mine[at] / other[at] for mine, other in pairs) for at in (0, 1))
            print(f"| {way} | {cpu:.1f} | {' | '.join(f'{ratio:.2f}' for ratio in ratios)} |")


def _cost(command: list[str], cluster: Cluster | None) -> tuple[float, float]:
    """Processor seconds of a run with those of the cluster meanwhile, and elapsed seconds."""
    before = _of_cluster(cluster)
    cost = measure(command, LIMIT)
    if cost.status not in {0, 68}:  # without labels of their own, two files may be one library
        raise SystemExit(f"exit code {cost.status}: {' '.join(command[:6])}")
    return cost.seconds + _of_cluster(cluster) - before, cost.elapsed


def _of_cluster(cluster: Cluster | None) -> float:
    return sum(seconds(family(pid)) for pid in cluster.pids) if cluster is not None else 0.0


# --- kills --------------------------------------------------------------------------------------------------------


def show_kills(count: int, files: int, seed: int) -> bool:
    """Kill a process at random in each run, resume until a run finishes, and compare log and store."""
    chosen, bad, killed = random.Random(seed), 0, Counter[str]()
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        listed, found = manifest(folder, files)
        cluster = Cluster(folder / "dask", stack)
        for number in range(count):
            database, log = folder / f"{number}.db", folder / f"{number}.jsonl"
            way = chosen.choice(("--jobs=1", "--jobs=2", f"--scheduler={cluster.address}"))
            for attempt in range(6):
                cluster.mend()
                words = [listed, way, "--resume" if log.exists() else "--log", log, "--db", database]
                killed[_run_with_kill(archive_command(*words), way, log, cluster, chosen if attempt < 2 else None)] += 1
                if _is_finished(log, len(found)):
                    break
            problems = disagreements(database, log, {f"l{each}" for each in range(len(found))})
            bad += bool(problems)
            print(
                f"{number + 1:3} {way.split('=')[0]:12} {attempt + 1} runs  {'; '.join(problems) or 'agree'}",
                flush=True,
            )
            database.unlink(missing_ok=True)
    print(f"{count} archives of {files} files; killed: {dict(killed)}; {bad} differ")
    return bad == 0


def _run_with_kill(command: list[str], way: str, log: Path, cluster: Cluster, chosen: random.Random | None) -> str:
    """What was killed during a run, or ``nothing``."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    begun, end = lines_of(log), time.monotonic() + PATIENCE
    what = "nothing"
    try:
        if chosen is not None:
            until = begun + chosen.choice((0, 1, 30))
            while process.poll() is None and lines_of(log) < until and time.monotonic() < end:
                time.sleep(0.005)
            time.sleep(chosen.uniform(0, 1.5))
            if process.poll() is None:
                what = _kill_one(process, way, cluster, chosen)
        process.wait(max(1.0, end - time.monotonic()))
    finally:
        process.kill()
        process.wait()
    return what


def _kill_one(process: subprocess.Popen[bytes], way: str, cluster: Cluster, chosen: random.Random) -> str:
    workers = [each for each in family(process.pid) if each != process.pid]
    victims = {"the run": [process.pid], "a process that reads": workers}
    if way.startswith("--scheduler"):
        victims |= {"the scheduler": [cluster.scheduler.pid], "a Dask worker": [each.pid for each in cluster.workers]}
    what = chosen.choice([name for name, found in victims.items() if found])
    with suppress(ProcessLookupError):
        os.kill(chosen.choice(victims[what]), signal.SIGKILL)
    return what


def _is_finished(log: Path, count: int) -> bool:
    last = {each["path"]: each["status"] for each in logged(log, torn=True)} if log.exists() else {}
    return len(last) == count and "failed" not in last.values()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=300)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--dask", action="store_true")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.kills:
        sys.exit(not show_kills(given.kills, min(given.files, 60), given.seed))
    show_costs(given.files, given.runs, given.dask)
