"""A process is copied only while it has one thread."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from tests.sparing import ASLEEP, may_fork

HERE = "from abistore.limits import may_fork; print(may_fork())"
ONE_MORE = "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()"
NONE_OF_PYTHON = """
import ctypes
libc, thread = ctypes.CDLL(None), ctypes.c_ulong()
assert not libc.pthread_create(ctypes.byref(thread), None, libc.sleep, ctypes.c_void_p(60))
"""


@pytest.mark.parametrize(("before", "said"), [("", "True"), (ONE_MORE, "False"), (NONE_OF_PYTHON, "False")])
def test_threads_forbid_it(before: str, said: str) -> None:
    program = f"{before}\n{HERE}\nimport os, sys; sys.stdout.flush(); os._exit(0)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == said, done.stderr


def test_tests_copy_a_process_that_has_no_thread_but_that_of_xdist() -> None:
    ended = threading.Event()
    more = [threading.Thread(target=ended.wait) for _ in range(1 + ASLEEP)]
    for thread in more:
        thread.start()
    try:
        assert not may_fork()
    finally:
        ended.set()
        for thread in more:
            thread.join()
