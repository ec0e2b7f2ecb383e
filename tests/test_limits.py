"""The time and memory limits, and what they leave behind."""

from __future__ import annotations

import resource
import signal
import sys
import threading

import pytest

from abistore.errors import LimitExceeded
from abistore.limits import limits, limits_for


def test_a_loop_ends_at_its_processor_time() -> None:
    with pytest.raises(LimitExceeded, match="seconds"), limits(0.05, 1 << 30):
        while True:
            pass


def test_a_loop_that_survives_errors_ends_all_the_same() -> None:
    with pytest.raises(LimitExceeded), limits(0.05, 1 << 30):
        while True:
            try:
                raise ValueError
            except Exception:
                continue


class _Finalised:
    def __del__(self) -> None:
        while signal.getitimer(signal.ITIMER_PROF)[1] == 1.0:  # the product's own period
            pass


def test_a_time_that_ends_in_a_finaliser_ends_the_body_after_it() -> None:
    # The interpreter swallows what a finaliser raises, and tells sys.unraisablehook, which pytest makes an error.
    before = sys.unraisablehook
    finished = False
    with pytest.raises(LimitExceeded), limits(0.05, 1 << 30):
        _Finalised()
        finished = True
        while True:
            pass
    assert finished
    assert sys.unraisablehook is before


def test_an_allocation_ends_at_its_memory() -> None:
    with pytest.raises(LimitExceeded, match="32 MiB"), limits(60, 32 << 20):
        bytearray(256 << 20)
    assert len(bytearray(256 << 20)) == 256 << 20


def test_what_was_set_before_is_set_again() -> None:
    before = signal.getsignal(signal.SIGPROF), resource.getrlimit(resource.RLIMIT_AS)
    with limits(60, 1 << 30):
        assert resource.getrlimit(resource.RLIMIT_AS) != before[1]
    with pytest.raises(KeyError), limits(60, 1 << 30):
        raise KeyError
    assert (signal.getsignal(signal.SIGPROF), resource.getrlimit(resource.RLIMIT_AS)) == before
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_a_lower_limit_of_the_process_stays() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, hard))
    try:
        with limits(60, 1 << 40):
            assert resource.getrlimit(resource.RLIMIT_AS)[0] == 8 << 30
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def test_another_thread_runs_without_limits() -> None:
    results: list[int] = []

    def work() -> None:
        with limits(0.001, 1 << 20):
            results.append(len(bytearray(64 << 20)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert results == [64 << 20]


def test_a_large_file_is_given_more() -> None:
    with limits_for(1000):
        small = resource.getrlimit(resource.RLIMIT_AS)[0], signal.getitimer(signal.ITIMER_PROF)[0]
    with limits_for(400 << 20):
        large = resource.getrlimit(resource.RLIMIT_AS)[0], signal.getitimer(signal.ITIMER_PROF)[0]
    assert large[0] > small[0] + (1 << 30)
    assert large[1] > small[1] + 60


def test_an_inner_limit_ends_its_own_body_only() -> None:
    with limits(60, 1 << 30, "the whole"):
        with pytest.raises(LimitExceeded, match=r"^a part took more"), limits(0.05, 1 << 30, "a part"):
            while True:
                pass
        left = signal.getitimer(signal.ITIMER_PROF)[0]
    assert 50 < left < 60  # what the part took is taken from the whole


def test_an_outer_limit_ends_what_an_inner_one_would_let_run() -> None:
    with (
        pytest.raises(LimitExceeded, match=r"^the whole took more than"),
        limits(0.05, 1 << 30, "the whole"),
        limits(60, 1 << 30, "a part"),
    ):
        while True:
            pass
    with (
        pytest.raises(LimitExceeded, match="a part took more than 6"),
        limits(60, 64 << 20, "the whole"),
        limits(60, 1 << 30, "a part"),
    ):
        bytearray(256 << 20)


def test_what_calls_itself_too_deeply_ends_like_what_takes_too_much() -> None:
    def descend(depth: int) -> int:
        return descend(depth + 1) + 1

    with pytest.raises(LimitExceeded, match="nested too deeply"), limits(60, 1 << 30, "spelling a type"):
        descend(0)
