"""Several threads obtain one release at a time, and none disturbs another."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from examples.obtain import once

pytestmark = pytest.mark.fast


def test_a_release_that_two_threads_obtain_at_once_is_there_whole_for_both(tmp_path: Path) -> None:
    both_work = Barrier(2, timeout=10)

    def unpacked(work: Path) -> Path:
        (work / "unpacked").mkdir()
        (work / "unpacked" / "lib.c").write_text("int f(void) { return 0; }")
        both_work.wait()
        return work / "unpacked"

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda _: once(tmp_path / "lib-1", unpacked), range(2)))
    assert found == [tmp_path / "lib-1"] * 2
    assert [path.name for path in tmp_path.rglob("*")] == ["lib-1", "lib.c"]


def test_a_release_that_cannot_be_obtained_leaves_nothing_behind(tmp_path: Path) -> None:
    def nothing(work: Path) -> Path:
        (work / "half").touch()
        return work / "absent"

    with pytest.raises(FileNotFoundError):
        once(tmp_path / "lib-1", nothing)
    assert not list(tmp_path.iterdir())
