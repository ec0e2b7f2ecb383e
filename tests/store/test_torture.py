"""Many writers at once, and writers killed at any moment."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

from abistore.store.store import Store
from tests.store import torture
from tests.store.builders import large

ROOT = Path(__file__).parent.parent.parent


def torture_of(kind: str, address: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.store.torture", kind, address]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer | {"errors": done.stderr}


def test_eight_writers_at_once_all_succeed_and_lose_nothing(address: str) -> None:
    assert torture_of("writers", address) == {"failed": 0, "errors": ""}
    labels = {f"{writer}.{number}" for writer in range(torture.WRITERS) for number in range(torture.RELEASES)}
    with Store.open(address, write=False) as store:
        assert {release.version for release in store.releases("libshared")} == labels
        assert sorted(release.sequence for release in store.releases("libshared")) == list(range(1, len(labels) + 1))
        for writer in range(torture.WRITERS):
            for number, release in enumerate(store.releases(f"lib{writer}")):
                built = large(3, names=60, library=f"lib{writer}", step=writer * torture.RELEASES + number)
                assert store.load(release) == msgspec.structs.replace(built, version=f"{writer}.{number}")
        assert store.check() == ()


def test_a_writer_killed_at_any_moment_leaves_what_it_had_answered(path: Path) -> None:
    answer = torture_of("kill", str(path))
    assert answer["errors"] == ""
    assert answer["interrupted"] > torture.KILLS // 4
    assert answer["stored"] >= 5
