"""Several pipelines at one gate: what one stores while another is judged is judged too."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from abistore.diffing.judge.judged import Ruling
from abistore.model.findings import Churn, Comparison
from abistore.model.history import Release
from abistore.model.snapshot import Snapshot
from abistore.service import admission
from abistore.service.administration import set_baseline
from abistore.service.ingest import ingest
from abistore.service.ingest_gates import Gate, Ingested, IngestPlan
from abistore.service.judging import AS_MUCH
from abistore.store import store as resolve
from abistore.store.store import Store
from tests.build import build_library

pytestmark = pytest.mark.full

OLD = "int norm(int a) { return a; }\n"
PIPELINES = 6


def built(*functions: str) -> Path:
    """A library with ``norm`` and further functions."""
    return build_library(OLD + "".join(f"int {name}(int a) {{ return a; }}\n" for name in functions))


def ingested(address: str, path: Path, version: str, **words: Any) -> Ingested:
    gate = Gate(**{"against": "baseline", "require": AS_MUCH, **words})
    (result,) = ingest([path], IngestPlan(version=version, gate=gate), database=address)
    return result


@pytest.fixture
def based(address: str) -> str:
    """A store whose one release is the baseline."""
    plan = IngestPlan(version="1.0", gate=Gate(channel="release"))
    assert ingest([built()], plan, database=address)[0].status == "stored"
    return address


Meanwhile = Callable[..., list[tuple[str, str]]]


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Meanwhile:
    """Lets others act while a snapshot is judged: each of ``acts`` once, in their order. Tells what was judged."""

    def arrange(*acts: Callable[[], object]) -> list[tuple[str, str]]:
        waiting, judged, judge = list(acts), [], admission.concluded

        def watched(old: Snapshot, new: Snapshot, by: Ruling | None) -> tuple[Comparison, Churn]:
            comparison, churned = judge(old, new, by)
            if new.version != "other":
                judged.append((comparison.old.version or "", comparison.verdict.name))
                if waiting:
                    waiting.pop(0)()
            return comparison, churned

        monkeypatch.setattr(admission, "concluded", watched)
        return judged

    return arrange


def test_a_baseline_that_moved_meanwhile_is_judged_against(based: str, meanwhile: Meanwhile) -> None:
    judged = meanwhile(lambda: ingested(based, built("fresh"), "other", channel="release"))
    result = ingested(based, built("mine"), "2.0", channel="release")
    assert judged == [("1.0", "COMPATIBLE"), ("other", "BREAKING")]
    assert (result.status, result.exit_code) == ("refused", 4)
    with Store.open(based, write=False) as store:
        assert store.resolve("libcase@baseline").version == "other"
        assert [release.version for release in store.releases("libcase")] == ["1.0", "other"]


def test_a_baseline_that_moved_meanwhile_moves_on_where_that_passes_too(based: str, meanwhile: Meanwhile) -> None:
    judged = meanwhile(lambda: ingested(based, built("fresh"), "other", channel="release"))
    result = ingested(based, built("fresh", "mine"), "2.0", channel="release")
    assert judged == [("1.0", "COMPATIBLE"), ("other", "COMPATIBLE")]
    assert (result.status, result.baseline) == ("stored", "release")
    assert result.verdict is not None and result.verdict.old.version == "other"


def test_a_release_that_came_between_is_judged_against(based: str, meanwhile: Meanwhile) -> None:
    def between() -> None:
        (result,) = ingest([built("fresh")], IngestPlan(version="1.5"), database=based)
        assert result.status == "stored"

    judged = meanwhile(between)
    result = ingested(based, built("mine"), "2.0", against="prev")
    assert judged == [("1.0", "COMPATIBLE"), ("1.5", "BREAKING")]
    assert result.status == "refused"


def test_a_label_that_was_taken_meanwhile_is_taken(based: str, meanwhile: Meanwhile) -> None:
    meanwhile(lambda: ingest([built("fresh")], IngestPlan(version="2.0"), database=based))
    result = ingested(based, built("mine"), "2.0")
    assert (result.status, result.code) == ("failed", "version-taken")


def test_what_is_to_be_replaced_and_was_replaced_meanwhile_is_judged_against(based: str, meanwhile: Meanwhile) -> None:
    plan = IngestPlan(version="1.1", replace=True)
    ingest([built("first")], plan, database=based)
    judged = meanwhile(lambda: ingest([built("first", "second")], plan, database=based))
    gated = replace(plan, gate=Gate(against="1.0"))
    (result,) = ingest([built("first", "mine")], gated, database=based)
    assert judged == [("1.0", "COMPATIBLE"), ("1.1", "COMPATIBLE"), ("1.1", "BREAKING")]
    assert (result.status, result.exit_code) == ("refused", 4)


def test_a_known_file_becomes_no_baseline_by_what_no_longer_holds(based: str, meanwhile: Meanwhile) -> None:
    ingest([built("mine")], IngestPlan(version="2.0"), database=based)
    meanwhile(lambda: ingested(based, built("fresh"), "other", channel="release"))
    ingested(based, built("mine", "more"), "3.0")  # lets the other one in
    result = ingested(based, built("mine"), "2.0", channel="release")
    assert (result.status, result.exit_code, result.baseline) == ("known", 4, None)


def test_where_others_move_on_and_on_they_wait_at_last(based: str, meanwhile: Meanwhile) -> None:
    names = [f"step{number}" for number in range(admission.ATTEMPTS)]

    def step(number: int) -> Callable[[], object]:
        def move_on() -> None:
            (done,) = ingest([built(*names[: number + 1])], IngestPlan(version=f"1.{number + 1}"), database=based)
            assert done.release
            set_baseline(done.release.reference, database=based)

        return move_on

    judged = meanwhile(*(step(number) for number in range(admission.ATTEMPTS)))
    result = ingested(based, built(*names, "mine"), "2.0", channel="release")
    assert [old for old, _ in judged] == ["1.0", "1.1", "1.2", "1.3"]
    assert (result.status, result.baseline) == ("stored", "release")


def test_of_many_pipelines_that_add_each_its_own_one_passes(based: str) -> None:
    """Each is compatible with the first baseline, and with no other's."""
    words = ["--against", "baseline", "--set-baseline", "--db", based]
    paths = [built(f"own{number}") for number in range(PIPELINES)]
    calls = [
        subprocess.Popen(
            [sys.executable, "-m", "abistore", "ingest", str(path), "--version", f"2.{number}", *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=dict(os.environ),
        )
        for number, path in enumerate(paths)
    ]
    errors = [call.communicate(timeout=300)[1] for call in calls]
    assert sorted(call.returncode for call in calls) == [0] + [4] * (PIPELINES - 1), errors
    with Store.open(based, write=False) as store:
        assert len(store.releases("libcase")) == 2
        assert store.resolve("libcase@baseline") == store.resolve("libcase@latest")
        assert store.check() == ()


def test_a_reference_is_looked_up_in_one_moment(based: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read = resolve.ordered_releases

    def while_the_baseline_moves(*words: Any) -> tuple[Release, ...]:
        found = read(*words)
        monkeypatch.setattr(resolve, "ordered_releases", read)
        assert ingested(based, built("fresh"), "1.1", channel="release").baseline == "release"
        return found

    with Store.open(based, write=False) as store:
        monkeypatch.setattr(resolve, "ordered_releases", while_the_baseline_moves)
        assert store.resolve("libcase@baseline").version == "1.0"
        assert store.resolve("libcase@baseline").version == "1.1"
