"""Releases of several libraries in both databases: all of their libraries are stored, or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.errors import StoreError
from abistore.interface import Gate, Ingested, IngestPlan, ingest
from abistore.service import admission as release_admission
from abistore.store.store import Store
from tests.cli.test_packages import SUM, case, release, user

pytestmark = pytest.mark.full


def stored(address: str) -> list[tuple[str, str]]:
    with Store.open(address, write=False) as store:
        libraries = sorted({key.library for key in store.lines()})
        return [(each.line.library, each.version) for library in libraries for each in store.releases(library)]


def judged(address: str, package: Path) -> Ingested:
    (done,) = ingest(package, IngestPlan(gate=Gate(against="prev")), database=address)
    return done


def test_a_package_is_stored_whole_and_a_failing_one_not_at_all(address: str, tmp_path: Path) -> None:
    old, new = case(), case(SUM)
    (done,) = ingest(release(tmp_path, "1.0", old, user(old)), database=address)
    assert (done.status, [each.status for each in done.members]) == ("stored", ["stored", "stored"])
    refused = judged(address, release(tmp_path, "2.0", new, user(old)))
    assert (refused.status, refused.exit_code) == ("refused", 4)
    assert refused.verdict is not None
    assert [one.name for one in refused.verdict.libraries] == ["libcase", "libuser"]
    assert stored(address) == [("libcase", "1.0"), ("libuser", "1.0")]


@pytest.mark.parametrize("gate", [Gate(), Gate(against="prev")], ids=["open", "judged"])
def test_a_failure_at_the_second_library_takes_the_first_one_back(
    gate: Gate, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = case()
    ingest(release(tmp_path, "1.0", old, user(old)), database=address)
    real = Store.ingest

    def failing(store: Store, snapshot: object, request: object) -> object:
        if getattr(snapshot, "library", "") == "libuser":
            raise StoreError("the disk is full")
        return real(store, snapshot, request)  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "ingest", failing)
    (done,) = ingest(release(tmp_path, "1.1", old, user(old)), IngestPlan(gate=gate, library=None), database=address)
    assert (done.status, done.error) == ("failed", "the disk is full")
    assert stored(address) == [("libcase", "1.0"), ("libuser", "1.0")]


def test_a_release_that_changes_while_another_is_judged_is_judged_again(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = case(), case("int case_add(int a, int b) { return a; } int case_more(void) { return 1; }")
    ingest(release(tmp_path, "1.0", old, user(old)), database=address)
    hold, calls = release_admission._ReleaseAdmission.hold, []

    def late(admission: object) -> None:
        calls.append(admission)
        if len(calls) == 1:
            rest = release(tmp_path, "1.5", new)
            raise_ = ingest(rest, database=address) if "://" in address else ()
            assert not raise_ or raise_[0].status == "stored"
        hold(admission)  # type: ignore[arg-type]

    monkeypatch.setattr(release_admission._ReleaseAdmission, "hold", late)
    done = judged(address, release(tmp_path, "2.0", new, user(old)))
    assert done.exit_code == 0
    assert len(calls) == (2 if "://" in address else 1)
