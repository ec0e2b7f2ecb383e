"""Threads that obtain one release at a time do not disturb each other; an sdist need not be able to say its name."""

from __future__ import annotations

import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from examples.obtain import Missing, once, source

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


def _offline(folder: Path, monkeypatch: pytest.MonkeyPatch, **files: str) -> None:
    """A package lib 1.0 with ``files``, the only one that pip finds."""
    content = folder / "lib-1.0"
    content.mkdir()
    for name, text in {"PKG-INFO": "Metadata-Version: 2.1\nName: lib\nVersion: 1.0\n", **files}.items():
        (content / name).write_text(text)
    with tarfile.open(folder / "lib-1.0.tar.gz", "w:gz") as archive:
        archive.add(content, "lib-1.0")
    monkeypatch.setattr("examples.obtain.CACHE", folder / "cache")
    monkeypatch.setattr("examples.obtain._pip_environment", lambda _: Path(sys.executable))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))


def test_a_package_that_cannot_say_its_name_is_taken_as_pip_unpacked_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"setup.py": "raise SystemExit('no metadata from me')", "lib.c": "int f(void) { return 0; }"}
    _offline(tmp_path, monkeypatch, **files)
    assert (source("pypi", "lib", "1.0") / "lib.c").read_text() == files["lib.c"]


def test_a_version_that_is_not_released_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _offline(tmp_path, monkeypatch)
    with pytest.raises(Missing, match=r"lib==2\.0"):
        source("pypi", "lib", "2.0")
