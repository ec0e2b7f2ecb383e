"""The benchmarks' own arithmetic: what a cost is, when a rival is left out, when a target is met."""

from __future__ import annotations

import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import pytest

from abistore.interface import capture
from abistore.mcp.tools.all import TOOLS
from abistore.service.snapshots import written
from benchmarks.against_peers import Results, table
from benchmarks.corpus import Pair
from benchmarks.mcp import Library, calls
from benchmarks.measure import Cost, Series, interleaved, measure
from benchmarks.processes import family, seconds
from benchmarks.store import release
from benchmarks.thirty import continued
from tests.build import build_library

pytestmark = pytest.mark.full

PYTHON = sys.executable
SPIN = "t=__import__('time');e=t.process_time()+0.2\nwhile t.process_time()<e: pass"


def series(*seconds: float, peak: int = 1, status: int = 0) -> Series:
    return Series(tuple(Cost(value, peak, status) for value in seconds))


def pair(megabytes: float, language: str = "C++") -> Pair:
    return Pair("libcase", language, Path("old"), Path("new"), int(megabytes * 1e6), releases=True)


def dump_runs(own: float, abidw: float) -> dict[str, Series]:
    return {
        "abistore": series(own),
        "abidw": series(abidw, peak=2),
        "abi-dumper": series(100),
        "abicheck": series(100),
    }


def test_a_childs_processor_time_counts() -> None:
    inner = f"import subprocess,sys; subprocess.run([sys.executable,'-c',{SPIN!r}])"
    assert measure([PYTHON, "-c", inner], 60).seconds >= 0.2


def test_a_command_over_its_limit_is_stopped_and_says_so() -> None:
    assert measure([PYTHON, "-c", "while True: pass"], 1).exceeded


def test_a_failing_command_runs_once_and_is_marked() -> None:
    runs = interleaved({"good": [PYTHON, "-c", ""], "bad": [PYTHON, "-c", "raise SystemExit(3)"]}, 3, 60)
    assert len(runs["good"].costs) == 3
    assert not runs["good"].failed
    assert len(runs["bad"].costs) == 1
    assert runs["bad"].failed


def test_every_tool_that_reads_is_measured() -> None:
    assert calls(Library("libfoo", "1.0", "2.0", "norm", Path("libfoo.json")), "1f3c9a02", "abc").keys() == TOOLS.keys()


def test_a_library_goes_on_as_snapshots_that_can_be_read(tmp_path: Path) -> None:
    source = "int one(int a) { return a; } int two(int a) { return a; }"
    first = capture(build_library(source))
    names = []
    for snapshot in islice(continued([first]), 4):
        (tmp_path / "snapshot.json").write_bytes(written(snapshot))
        read = capture(tmp_path / "snapshot.json")
        names.append(sorted(name.spelling for name in read.entries["symbol"] if name.kind == "function"))
    assert names == [["one", "two"], ["one"], ["two"], ["one"]]


def test_a_process_is_told_with_its_children_and_their_seconds() -> None:
    spinning = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {(SPIN + chr(10) + 'input()')!r}])"
    with subprocess.Popen([PYTHON, "-c", spinning], stdin=subprocess.PIPE) as process:
        while seconds(family(process.pid)) < 0.2:
            assert process.poll() is None
            time.sleep(0.05)
        assert len(list(family(process.pid))) == 2
        process.communicate(b"\n")


def test_ratios_are_medians_of_paired_runs_not_ratios_of_medians() -> None:
    assert series(10, 20, 90).times_slower(series(1, 10, 10)) == 9


def test_a_missed_target_is_named_in_the_table() -> None:
    text = table("dump", [(pair(5), dump_runs(1, 9))])
    assert "misses 10x abidw (C++ ≥ 4 MB)" in text


def test_a_kept_promise_is_counted() -> None:
    text = table("dump", [(pair(5), dump_runs(1, 11))])
    assert "meets 6 of 6" in text


def test_a_failed_rival_is_shown_and_sets_no_target() -> None:
    runs = {**dump_runs(1, 11), "abicheck": series(1, status=1)}
    text = table("dump", [(pair(5), runs)])
    assert "failed (1)" in text
    assert "meets 5 of 5" in text


def test_our_own_failure_meets_nothing() -> None:
    runs = {**dump_runs(1, 11), "abistore": series(1, status=70)}
    assert "meets" not in table("dump", [(pair(5), runs)])


def test_a_rival_that_was_left_out_is_shown_as_not_run() -> None:
    runs = {tool: found for tool, found in dump_runs(1, 11).items() if tool != "abicheck"}
    text = table("dump", [(pair(5), dump_runs(1, 11)), (pair(6), runs)])
    assert "not run" in text.splitlines()[-1]
    assert "meets 5 of 5" in text.splitlines()[-1]


def test_results_are_kept_between_runs(tmp_path: Path) -> None:
    Results(tmp_path / "kept.json").keep(pair(5), "dump", dump_runs(1, 11))
    [(_, found)] = Results(tmp_path / "kept.json").of("dump", [pair(5)])
    assert {tool: runs.costs for tool, runs in found.items()} == {
        tool: runs.costs for tool, runs in dump_runs(1, 11).items()
    }


def test_the_growing_library_changes_one_declaration_in_a_hundred(tmp_path: Path) -> None:
    old, new = (release(tmp_path, number, 400).with_name("growing.c").read_text().split("\n") for number in (1, 2))
    changed = set(old) - set(new)
    assert len(changed) == 4
