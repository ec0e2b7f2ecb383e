"""Many writers at once, and writers killed at any moment."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from abistore.store.store import Store
from tests.store import torture
from tests.store.builders import large

pytestmark = pytest.mark.full

ROOT = Path(__file__).parent.parent.parent


def torture_of(kind: str, address: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.store.torture", kind, address]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer | {"errors": done.stderr}


def test_eight_writers_at_once_all_succeed_and_lose_nothing(empty_address: str) -> None:
    assert torture_of("writers", empty_address) == {"failed": 0, "errors": ""}
    labels = {f"{writer}.{number}" for writer in range(torture.WRITERS) for number in range(torture.RELEASES)}
    with Store.open(empty_address, write=False) as store:
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


def test_writers_beside_one_that_prunes_all_succeed_and_lose_no_release(address: str) -> None:
    with Store.open(address, write=True):
        pass
    assert torture_of("prune", address) == {"failed": 0, "errors": ""}
    built = {torture.build_label(writer, number): (writer, number) for writer in range(4) for number in range(12)}
    with Store.open(address, write=True) as store:
        store.prune("liblarge", keep_last=1, before=None, actor="", reason="")
        assert store.check() == ()
        kept = store.releases("liblarge")
        assert {label for label in built if "-g" not in label} <= {release.version for release in kept}
        # builds that stay: the newest, and the two in which the newest finding was found
        assert len(kept) <= sum("-g" not in label for label in built) + 3
        for release in kept:
            writer, number = built[release.version]
            content = large(3, names=60, step=writer * torture.BUILDS + number)
            assert store.load(release) == msgspec.structs.replace(content, version=release.version)


def test_a_pruning_killed_at_any_moment_leaves_a_sound_store(path: Path) -> None:
    answer = torture_of("kill-pruning", str(path))
    assert answer["errors"] == ""
    assert torture.KILLS // 5 < answer["interrupted"] < torture.KILLS, answer
