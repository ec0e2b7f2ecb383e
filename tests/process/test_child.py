"""Processes that work for this one: asked, killed, and ended with it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from abistore.process import Answered, Child, Ended

SERVING = """
from abistore.process import Answered, answer_requests

def serve(descriptor):
    answer_requests(descriptor, lambda request, file, say: Answered(request))
"""


@pytest.mark.parametrize("module", ["json", "sys", "abistore", "socket", "struct"])
def test_no_module_of_the_current_folder_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    (checkout := tmp_path / "checkout").mkdir()
    (checkout / f"{module}.py").write_text("open('run', 'w')")
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "echoing.py").write_text(SERVING)
    monkeypatch.chdir(checkout)
    monkeypatch.syspath_prepend(tmp_path / "modules")
    child = Child("echoing")
    try:
        assert child.ask(b"heard") == Answered(b"heard")
    finally:
        child.kill()
    assert not (checkout / "run").exists()


@pytest.mark.parametrize("waiting", ["time.sleep(60)", "pass", "__import__('ctypes').CDLL(None).sleep(60)"])
@pytest.mark.parametrize("copied", [True, False])
def test_a_process_that_works_ends_with_its_user_however_that_ends(tmp_path: Path, waiting: str, copied: bool) -> None:
    begun = tmp_path / "begun"
    (tmp_path / "working.py").write_text(
        f"""
import os, time
from abistore.process import answer_requests

def work(*asked):
    with open({str(begun)!r}, "w") as file:
        file.write(str(os.getpid()))
    while True:
        {waiting}

def serve(descriptor):
    answer_requests(descriptor, work)
"""
    )
    asking = "Copy(work).answer()" if copied else "Child('working').ask(b'')"
    user = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"from working import work; from abistore.process import Child, Copy; {asking}",
        ],
        cwd=tmp_path,
    )
    try:
        process = int(eventually(lambda: begun.exists() and begun.read_text()))
    finally:
        user.kill()
        user.wait()
    assert eventually(lambda: not Path(f"/proc/{process}").exists() or "Z" in state(process))


def test_a_process_that_crashes_is_told_and_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "crashing.py").write_text(
        """
import os, sys
from abistore.process import Answered, answer_requests

def answer(request, file, say):
    if request == b"crash":
        sys.stderr.write("ouch")
        sys.stderr.flush()
        os.abort()
    return Answered(request)

def serve(descriptor):
    answer_requests(descriptor, answer)
"""
    )
    monkeypatch.syspath_prepend(tmp_path)
    child = Child("crashing", keeps_errors=True)
    try:
        with pytest.raises(Ended) as ended:
            child.ask(b"crash")
        assert (ended.value.how, ended.value.said) == ("SIGABRT", b"ouch")
        assert child.pid is None
        assert child.ask(b"again") == Answered(b"again")
    finally:
        child.kill()


def state(process: int) -> str:
    """The letter of a process's state (proc(5)); empty where there is none."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def eventually(told: Callable[[], object]) -> Any:
    """What ``told`` gives as soon as that is true; within 20 seconds."""
    end = time.monotonic() + 20
    while not (found := told()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def test_a_process_that_was_closed_is_not_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "waiting.py").write_text(SERVING)
    monkeypatch.syspath_prepend(tmp_path)
    child = Child("waiting")
    child.close()
    with pytest.raises(Ended):
        child.ask(b"late")
    assert child.pid is None
